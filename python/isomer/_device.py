# SPDX-License-Identifier: Apache-2.0
"""_device.py - Device, and the memory and streams of other libraries on it."""
from __future__ import annotations

import contextlib
import ctypes
import math as mathematics
import mmap
import os
import threading
from collections import OrderedDict
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _foreign
from ._abi import ENUMS, E, REASON_MAX, S, new, plain
from ._array import Array, Memory, Shape, new_array
from ._errors import Error, Invalid, Mismatch
from ._foreign import Foreign
from ._info import Info
from ._library import api, check
from ._operations import Operations
from ._sparse import CSR
from ._stream import Event, Stream

IMPORTS_MOST, ADOPTED_MOST = 256, 64


def import_range(device: "Device", low: int, high: int, read_only: bool, owner: Any) -> Memory:
    """A buffer over the program's memory from `low` up to `high`."""
    handle = S.iso_buffer()
    check(api().iso_buffer_import(device.handle, low or None, high - low,
                                  E.IMPORT_READ_ONLY if read_only else 0, None, None,
                                  ctypes.byref(handle)))
    return Memory(device, handle, owner)


class Borrowed:
    """Operands of an operation; those of other libraries as Arrays over their memory."""

    def __init__(self, arrays: List[Array], foreign: List[Foreign], writes: bool) -> None:
        self.arrays, self.foreign, self.writes = arrays, foreign, writes

    def _streams(self, device: "Device") -> List[Stream]:
        made = []
        for found in self.foreign:
            native = found.stream()
            if native is not None:
                stream = device.adopt_stream(native[0], owner=native[1])
                if stream not in made:
                    made.append(stream)
        return made

    def before(self, stream: Stream) -> None:
        """The stream waits for what their libraries do with the memory."""
        if self.foreign and stream.recording is None and stream.device.backend != "openmp":
            for other in self._streams(stream.device):
                stream.wait(other)

    def after(self, stream: Stream) -> None:
        """Their libraries wait for the stream."""
        if not self.foreign:
            return
        if stream.recording is not None:
            stream.recording.keep(self.foreign)
        elif stream.device.backend == "openmp":
            if not stream.inline:
                stream.synchronize()
        else:
            for other in self._streams(stream.device):
                other.wait(stream)
            if any(found.stream() is None for found in self.foreign):
                stream.finish(self.foreign, self.writes)


class Device(Operations):
    """A device. isomer.open makes one; closing it, as the end of a with block does, frees
    everything that belongs to it.

    >>> import isomer
    >>> with isomer.open("openmp") as dev:
    ...     c = dev.matmul(dev.array([[1.0, 2.0]]), dev.array([[3.0], [4.0]]))
    ...     c.tolist()
    [[11.0]]
    """

    def __init__(self, handle: Any) -> None:
        self.handle, self.closed = handle, False
        self._close = api().iso_device_close
        self._pid = os.getpid()
        info = self.info
        self.backend: str = info.backend
        self.index: int = info.index
        self.spec: str = info.spec
        self.name: str = info.name
        self._default: Optional[Stream] = None
        self._local = threading.local()
        self._lock = threading.Lock()
        self._imports: "OrderedDict[Tuple[int, int, bool], Memory]" = OrderedDict()
        self._adopted: "OrderedDict[int, Stream]" = OrderedDict()

    # ---- what it is

    @property
    def device(self) -> "Device":
        return self

    @property
    def info(self) -> Info:
        """iso_device_info: name, vendor, uuid, architecture, driver, memory_total, memory_free,
        units, threads and more; `features` is a set of names."""
        out = new("iso_device_info")
        check(api().iso_device_get_info(self.handle, ctypes.byref(out)))
        return info_of(out)

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return bool(self.info.type == "gpu")

    @property
    def choice(self) -> str:
        """How it was chosen, and why not what came before it in a list or in `auto`."""
        text = ctypes.create_string_buffer(REASON_MAX)
        check(api().iso_device_get_choice(self.handle, text, REASON_MAX))
        return text.value.decode("utf-8", "replace")

    def properties(self) -> Dict[str, str]:
        """More about it, by name: its BLAS library, its OpenMP runtime and so on."""
        made: Dict[str, str] = {}
        out = new("iso_property")
        while True:
            status = api().iso_device_get_property(self.handle, len(made), ctypes.byref(out))
            if status == E.NOT_READY:
                return made
            check(status)
            one = plain(out)
            made[one["name"]] = one["value"]

    def telemetry(self) -> Info:
        """Readings of its sensors now: clocks, power, temperature, energy."""
        out = new("iso_telemetry")
        check(api().iso_device_get_telemetry(self.handle, ctypes.byref(out)))
        return Info(**plain(out))

    def memory_use(self) -> Info:
        """Bytes that this process uses of its memory: `used`, `peak`, `limit`."""
        out = new("iso_memory_use")
        check(api().iso_device_get_memory_use(self.handle, ctypes.byref(out)))
        return Info(**plain(out))

    def __repr__(self) -> str:
        return "<isomer.Device %s: %s%s>" % (self.spec, self.name,
                                             ", closed" if self.closed else "")

    # ---- arrays

    def empty(self, shape: Shape, dtype: object = "f64") -> Array:
        """An array with undefined contents, of f64 if no type is given."""
        return new_array(self, shape, dtype)

    def zeros(self, shape: Shape, dtype: object = "f64", *, stream: Any = None) -> Array:
        """An array of zeros, of f64 if no type is given."""
        return self.empty(shape, dtype).fill(0, stream=stream)

    def full(self, shape: Shape, value: Any, dtype: object = "f64", *, stream: Any = None) -> Array:
        """An array whose elements are all `value`, of f64 if no type is given: also where `value` is
        an integer."""
        return self.empty(shape, dtype).fill(value, stream=stream)

    def empty_like(self, other: Any) -> Array:
        """An array with the shape and type of another, with undefined contents."""
        return self.empty(tuple(other.shape), other.dtype)

    def array(self, value: Any, dtype: object = None, *, stream: Any = None) -> Array:
        """A copy on this device of an array of isomer, NumPy or another library, of lists or of a
        number.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     dev.array([[1, 2], [3, 4]], "f32")
        isomer.Array([[1.0, 2.0], [3.0, 4.0]], f32, openmp:0)
        """
        from ._transfer import to_host
        found = None if isinstance(value, Array) else _foreign.look(value)
        if isinstance(value, Array) or found is not None and found.backend != "openmp":
            source: Any = value if isinstance(value, Array) else found
            if dtype is not None and source.dtype != dtype:
                raise Invalid("array: the array is %s on its device and not converted: give no "
                              "dtype, or convert it before" % source.dtype.name)
            return self.empty(source.shape, source.dtype).copy_from(value, stream=stream)
        host = to_host(value, dtype)
        return self.empty(host.shape, host.dtype).copy_from(_AsHost(host), stream=stream)

    def asarray(self, value: Any) -> Array:
        """An Array over the memory of another library's array, where it lies; without a copy. It
        keeps that array alive. Also over an array of another isomer.Device of this device."""
        from ._transfer import wrap
        if isinstance(value, Array):
            if value.device is self:
                return value
            if value.device.spec != self.spec or self.backend not in ("cuda", "hip", "openmp"):
                raise Mismatch("asarray: the array is on %s, and the device is %s: copy it with "
                               "device.array(...)" % (value.device.spec, self.spec))
            if value.memory is not None and value.memory.writer is not None:
                value.memory.writer.synchronize()
            return wrap(self, Foreign(value.pointer, value.shape, value.steps, value.dtype,
                                      value.read_only, self.backend, self.index, "isomer", value))
        stream = self.stream_for(None)
        found = self.look(value, stream)
        made = wrap(self, found)
        Borrowed([made], [found], False).before(stream)
        return made

    from_dlpack = asarray

    def pinned(self, shape: Shape, dtype: object = "f64") -> Any:
        """An array of NumPy in memory that this device copies fast."""
        from . import _dtypes
        from ._array import shape_of
        numpy = _dtypes.need_numpy("pinned")
        kind, made = _dtypes.get(dtype).numpy(), shape_of(shape)
        count = mathematics.prod(made)
        return numpy.frombuffer(_pinned(self, max(count * kind.itemsize, 1)), kind,
                                count).reshape(made)

    def csr(self, matrix: Any, shape: Optional[Tuple[int, int]] = None, *, dtype: object = None,
            transpose: bool = True) -> CSR:
        """A sparse matrix from a scipy.sparse.csr_matrix, or from (data, indices, indptr) and a
        shape. With transpose=False it takes half the memory and has no A.T."""
        return CSR(self, matrix, shape, dtype=dtype, transpose=transpose)

    # ---- streams and events

    def stream(self, *, inline: bool = False) -> Stream:
        """A new stream. With inline=True a CPU works in the calling thread, before each call
        returns."""
        handle = S.iso_stream()
        check(api().iso_stream_create(self.handle, E.STREAM_INLINE if inline else 0,
                                      ctypes.byref(handle)))
        return Stream(self, handle, inline=inline)

    @property
    def default_stream(self) -> Stream:
        """The stream of operations that name none, outside of with blocks. On the CPU backend it is
        inline: results are there when a call returns."""
        if self._default is None:
            with self._lock:
                if self._default is None:
                    self._default = self.stream(inline=self.backend == "openmp")
        return self._default

    def adopt_stream(self, stream: Any, owner: Any = None) -> Stream:
        """A stream of CuPy, PyTorch or the vendor (a number): work of isomer on it is in order with
        theirs. 0, 1 or a null stream is the default stream."""
        if isinstance(stream, Stream):
            return stream
        native, owner = _native_of(stream), stream if owner is None else owner
        with self._lock:
            if native in self._adopted:
                self._adopted.move_to_end(native)
                return self._adopted[native]
            handle = S.iso_stream()
            check(api().iso_stream_adopt(self.handle, native or None, ctypes.byref(handle)))
            made = Stream(self, handle, native=native, owner=owner)
            self._adopted[native] = made
            if len(self._adopted) > ADOPTED_MOST:
                self._adopted.popitem(last=False)
            return made

    def event(self) -> Event:
        """A new event, which Event.record puts into a stream."""
        return Event(self)

    def synchronize(self) -> None:
        """Waits for the current stream."""
        self.stream_for(None).synchronize()

    def _stack(self) -> List[Stream]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: List[Stream] = self._local.stack
        return stack

    def push(self, stream: Stream) -> None:
        """Makes it this thread's current stream."""
        self._stack().append(stream)

    def pop(self, stream: Stream) -> None:
        """The current stream is again what it was before."""
        if self._stack() and self._stack()[-1] is stream:
            self._stack().pop()

    @contextlib.contextmanager
    def current(self, stream: Stream) -> Iterator[Stream]:
        """In the block, operations that name no stream run on this one."""
        self.push(stream)
        try:
            yield stream
        finally:
            self.pop(stream)

    def stream_for(self, stream: Any) -> Stream:
        """The stream that an argument means; None is the current one."""
        if stream is not None:
            made = self.adopt_stream(stream)
            if made.device is not self:
                raise Mismatch("the stream belongs to %r, not to %r" % (made.device, self))
            return made
        stack = self._stack()
        return stack[-1] if stack else self.default_stream

    def pick(self, native: Optional[Tuple[int, Any]]) -> Stream:
        """The current stream; if there is none, that of the library whose arrays are used."""
        if native is not None and not self._stack():
            return self.adopt_stream(native[0], owner=native[1])
        return self.stream_for(None)

    # ---- arrays of other libraries

    def look(self, value: Any, stream: Optional[Stream] = None, what: str = "the array") -> Foreign:
        """Where another library's array is; it must be in this device's memory."""
        found = _foreign.look(value, stream.native if stream else None)
        if found is None:
            raise TypeError("%s is a %s: arrays of isomer, NumPy, CuPy, PyTorch, JAX and others with "
                            "DLPack are taken" % (what, type(value).__name__))
        if found.backend != self.backend or found.backend != "openmp" and found.index != self.index:
            there = "this computer's memory" if found.backend == "openmp" else \
                "the memory of %s:%d" % (found.backend, found.index)
            raise Mismatch("%s is an array of %s in %s, and the device is %s: copy it with "
                           "device.array(...)" % (what, found.library, there, self.spec))
        return found

    def borrow(self, operands: Sequence[Tuple[Any, bool]], stream: Optional[Stream] = None,
               names: Sequence[str] = ()) -> Borrowed:
        """Operands, each with whether it is written, as Arrays of this device. Memory that two
        operands share becomes one buffer, so that the library sees where they overlap."""
        arrays: List[Any] = []
        places: List[Tuple[int, int, int, Foreign, bool]] = []  # low, high, operand
        for i, (value, writes) in enumerate(operands):
            if isinstance(value, Array):
                if value.device is not self and value.memory is not None:
                    how = "asarray" if value.device.spec == self.spec else "array"
                    raise Mismatch("%s belongs to another isomer.Device, %s: give device.%s(...), or "
                                   "use that one" % (_word(names, i), value.device.spec, how))
                arrays.append(value)
                continue
            found = self.look(value, stream, _word(names, i))
            if writes and found.read_only:
                raise Invalid("%s: this array of %s may only be read" % (_word(names, i),
                                                                         found.library))
            arrays.append(None)
            places.append((*found.range(), i, found, writes))
        if len(places) > 1:
            places.sort(key=lambda place: place[:2])
        groups: List[List[Any]] = []  # low, high, written, members
        for low, high, i, found, writes in places:
            if groups and low < groups[-1][1]:
                groups[-1][1] = max(groups[-1][1], high)
                groups[-1][2] = groups[-1][2] or writes
                groups[-1][3].append((i, found))
            else:
                groups.append([low, high, writes, [(i, found)]])
        for low, high, writes, members in groups:
            read_only = not writes and all(found.read_only for _, found in members)
            memory = self._import(low, high, read_only)
            for i, found in members:
                arrays[i] = Array(self, memory, found.pointer - low, found.shape, found.strides,
                                  found.dtype, found.read_only)
        return Borrowed(arrays, [place[3] for place in places],
                        any(place[4] for place in places))

    def _import(self, low: int, high: int, read_only: bool) -> Memory:
        key = (low, high, read_only)
        with self._lock:
            memory = self._imports.get(key)
            if memory is None:
                memory = self._imports[key] = import_range(self, low, high, read_only, None)
                if len(self._imports) > IMPORTS_MOST:
                    self._imports.popitem(last=False)
            else:
                self._imports.move_to_end(key)
            return memory

    # ---- life

    def close(self) -> None:
        """Waits for all work and frees everything that belongs to the device. Raises the first late
        error that was not reported."""
        if self.closed:
            return
        self.closed = True
        status = self._close(self.handle)
        self._imports.clear()
        self._adopted.clear()
        if os.getpid() == self._pid:
            check(status)

    def __del__(self) -> None:
        if not getattr(self, "closed", True):
            self.closed = True
            self._close(self.handle)

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            with contextlib.suppress(Error):
                self.close()


def _word(names: Sequence[str], i: int) -> str:
    return names[i] if i < len(names) else "operand %d" % (i + 1)


class _AsHost:
    """Elements that were converted already."""

    def __init__(self, host: Any) -> None:
        self.__array_interface__ = {"data": (host.pointer, True), "shape": host.shape,
                                    "typestr": host.dtype.typestr, "version": 3}
        self.dtype, self.owner = host.dtype, host


class _Pinned(mmap.mmap):
    """Memory that a device copies fast. It is this process's own: closing the device leaves it."""

    registered: Any = None

    def __del__(self) -> None:
        if self.registered is not None:
            unregister, device, pointer = self.registered
            unregister(device.handle, pointer)


def _pinned(device: Device, count: int) -> Any:
    made = _Pinned(-1, count)
    pointer = ctypes.addressof(ctypes.c_char.from_buffer(made))
    check(api().iso_host_register(device.handle, pointer, count, None))
    made.registered = (api().iso_host_unregister, device, pointer)
    return made


def _native_of(stream: Any) -> int:
    """The number of a stream: of CuPy (ptr), PyTorch (cuda_stream), or any with __cuda_stream__."""
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    for attribute in ("cuda_stream", "ptr", "handle", "value"):
        if hasattr(stream, attribute):
            stream = getattr(stream, attribute)
            break
    if hasattr(stream, "value"):
        stream = stream.value
    native = int(stream or 0)
    return 0 if native == 1 else native


def info_of(struct: Any) -> Info:
    made = plain(struct)
    made["features"] = {name[len("FEATURE_"):].lower() for name, bit in ENUMS["feature?"].items()
                        if struct.features & bit}
    return Info(**made)
