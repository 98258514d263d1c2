# SPDX-License-Identifier: Apache-2.0
"""_array.py - Array: a view of a device's memory, with a shape, strides and a type of elements."""
from __future__ import annotations

import ctypes
import itertools
import math
import numbers
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

from . import _dtypes, _foreign
from ._abi import E, S
from ._adjoint import Adjoint
from ._arithmetic import Arithmetic
from ._dtypes import DType
from ._errors import Invalid
from ._foreign import packed
from ._library import api, check

if TYPE_CHECKING:
    from ._device import Device
    from ._stream import Stream

Shape = Union[int, Sequence[int]]
_api = ctypes.pythonapi
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# These live as long as the process: capsules keep the pointers.
_NAME, _OLD_NAME = ctypes.c_char_p(b"dltensor_versioned"), ctypes.c_char_p(b"dltensor")


class Memory:
    """A buffer. It knows which streams used it last, so that they wait for each other."""

    __slots__ = ("device", "handle", "owner", "writer", "readers", "_destroy", "__weakref__")

    def __init__(self, device: "Device", handle: Any, owner: Any = None) -> None:
        self.device, self.handle, self.owner = device, handle, owner
        self.writer: Optional["Stream"] = None
        self.readers: Set["Stream"] = set()
        self._destroy = api().iso_buffer_destroy

    def __del__(self) -> None:
        # Waits for the work that uses it. After the device was closed, or in a child of fork(), the
        # handle means nothing and this does nothing.
        handle = getattr(self, "handle", None)
        if handle is not None and handle.id:
            self._destroy(handle)

    def used_by(self, stream: "Stream", writes: bool) -> None:
        """The stream waits for what the memory was used for on others."""
        if self.writer is not None and self.writer is not stream:
            stream.wait(self.writer)
        if writes:
            for reader in self.readers:
                if reader is not stream:
                    stream.wait(reader)
            self.readers.clear()
            self.writer = stream
        else:
            self.readers.add(stream)


def shape_of(shape: Shape) -> Tuple[int, ...]:
    made = (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)
    if any(extent < 0 for extent in made):
        raise Invalid("shape %r: an extent is negative" % (made,))
    return made


class Array(Arithmetic):
    """A view of a device's memory, as NumPy and CuPy have it: `shape`, `strides` (in bytes, as
    there), `dtype`, slices, `.T`, `reshape`, and operators.

    Device.array, empty and zeros make one; operations return one. numpy() brings it to this
    computer's memory as an array of NumPy.

    >>> import isomer
    >>> with isomer.open("openmp") as dev:
    ...     a = dev.array([[1.0, 2.0], [3.0, 4.0]])
    ...     (a @ a.T).tolist(), float(a.sum()), a.T[0].tolist()
    ([[5.0, 11.0], [11.0, 25.0]], 10.0, [1.0, 3.0])
    """

    __slots__ = ("device", "memory", "offset", "shape", "steps", "dtype", "read_only",
                 "__weakref__")
    # NumPy leaves operators with an Array to it.
    __array_priority__ = 100
    __array_ufunc__ = None

    def __init__(self, device: "Device", memory: Optional[Memory], offset: int,
                 shape: Tuple[int, ...], steps: Tuple[int, ...], dtype: DType,
                 read_only: bool = False) -> None:
        self.device, self.memory, self.offset = device, memory, offset
        self.shape, self.steps, self.dtype, self.read_only = shape, steps, dtype, read_only

    # ---- what it is

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> Tuple[int, ...]:
        """Bytes from one element to the next, along each dimension."""
        return tuple(step * self.itemsize for step in self.steps)

    @property
    def contiguous(self) -> bool:
        """Whether its elements follow each other row by row without a gap."""
        wanted = 1
        for extent, step in zip(reversed(self.shape), reversed(self.steps)):
            if extent != 1 and step != wanted:
                return self.size == 0
            wanted *= extent
        return True

    @property
    def pointer(self) -> int:
        """The address of its first element, for the vendor's own calls (cuda, hip, openmp)."""
        if self.memory is None:
            raise Invalid("a template has no memory")
        out = ctypes.c_void_p()
        check(api().iso_native_get(E.NATIVE_MEMORY, self.memory.handle.id, ctypes.byref(out)))
        return (out.value or 0) + self.offset

    def operand(self) -> Any:
        """The iso_operand of its first element; that of a template is zero."""
        if self.memory is None:
            return S.iso_operand()
        return S.iso_operand(self.memory.handle, self.offset)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        if self.memory is None:
            return "isomer.template(%r, %r)" % (self.shape, self.dtype.name)
        if self.device.closed:
            text = "..., its device was closed"
        else:
            text = repr(self.tolist()) if self.size <= 64 else "shape=%r" % (self.shape,)
        return "isomer.Array(%s, %s, %s)" % (text, self.dtype.name, self.device.spec)

    # ---- views

    def _view(self, offset: int, shape: Sequence[int], steps: Sequence[int],
              dtype: Optional[DType] = None) -> "Array":
        return Array(self.device, self.memory, offset, tuple(shape), tuple(steps),
                     dtype or self.dtype, self.read_only)

    @property
    def T(self) -> "Array":
        """The transposed view. Nothing is moved: products read it where it is."""
        return self._view(self.offset, self.shape[::-1], self.steps[::-1])

    @property
    def H(self) -> Any:
        """The conjugate transpose: .T of real arrays; of complex ones what products read so."""
        return Adjoint(self) if self.dtype.is_complex else self.T

    def swapaxes(self, first: int, second: int) -> "Array":
        """A view with two dimensions exchanged."""
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self._view(self.offset, [self.shape[i] for i in order],
                          [self.steps[i] for i in order])

    def reshape(self, *shape: Any) -> "Array":
        """A view with another shape, of an array without gaps. One extent may be -1."""
        wanted = list(shape_of_any(shape))
        if wanted.count(-1) == 1:
            rest = math.prod(extent for extent in wanted if extent != -1)
            wanted[wanted.index(-1)] = self.size // rest if rest else 0
        if math.prod(wanted) != self.size or any(extent < 0 for extent in wanted):
            raise Invalid("reshape: %r has not the %d elements of %r"
                          % (tuple(wanted), self.size, self.shape))
        if not self.contiguous:
            raise Invalid("reshape: the array has gaps or is transposed: use .copy().reshape(...)")
        return self._view(self.offset, wanted, packed(tuple(wanted)))

    def ravel(self) -> "Array":
        """A view of one dimension, of an array without gaps."""
        return self.reshape(-1)

    def view(self, dtype: object) -> "Array":
        """The same bits as another type of the same size."""
        other = _dtypes.get(dtype)
        if other.itemsize != self.itemsize:
            raise Invalid("view: an element of %s has %d bytes, one of %s has %d"
                          % (self.dtype.name, self.itemsize, other.name, other.itemsize))
        return self._view(self.offset, self.shape, self.steps, other)

    def __getitem__(self, key: Any) -> "Array":
        keys = list(key) if isinstance(key, tuple) else [key]
        given = sum(1 for one in keys if one is not None and one is not Ellipsis)
        if given > self.ndim:
            raise IndexError("%d indices for %d dimensions" % (given, self.ndim))
        if not any(one is Ellipsis for one in keys):
            keys.append(Ellipsis)
        at = keys.index(Ellipsis)
        keys[at:at + 1] = [slice(None)] * (self.ndim - given)
        offset, shape, steps, axis = self.offset, [], [], 0
        for one in keys:
            if one is None:
                shape.append(1)
                steps.append(0)
                continue
            extent, step = self.shape[axis], self.steps[axis]
            if isinstance(one, slice):
                first, last, jump = one.indices(extent)
                count = len(range(first, last, jump))
                if jump < 0:
                    raise IndexError("slices of isomer's arrays have positive steps")
                shape.append(count)
                steps.append(step * jump)
                offset += first * step * self.itemsize if count else 0
            else:
                index = one.__index__()
                if not -extent <= index < extent:
                    raise IndexError("index %d of an extent of %d" % (index, extent))
                offset += index % extent * step * self.itemsize
            axis += 1
        return self._view(offset, shape, steps)

    def __setitem__(self, key: Any, value: Any) -> None:
        part = self[key]
        if isinstance(value, numbers.Number):
            part.fill(value)
        else:
            part.copy_from(value)

    def __iter__(self) -> Iterator["Array"]:
        return (self[i] for i in range(len(self)))

    # ---- moving

    def fill(self, value: Any, *, stream: Optional["Stream"] = None) -> "Array":
        """Sets every element."""
        stream = self.device.stream_for(stream)
        pattern = ctypes.create_string_buffer(self.dtype.pack(value), self.itemsize)
        for part in blocks(self):
            stream.use(part, writes=True)
            check(api().iso_fill_2d(stream.handle, part.operand(), part.pitch, pattern,
                                    self.itemsize, part.width, part.height))
        return self

    def copy(self, *, stream: Optional["Stream"] = None) -> "Array":
        """A new array with the same elements, row by row without gaps."""
        made = self.device.empty(self.shape, self.dtype)
        return made.copy_from(self, stream=stream)

    def copy_from(self, source: Any, *, stream: Optional["Stream"] = None,
                  wait: bool = True) -> "Array":
        """Takes over the elements of an array of isomer (of any device), of NumPy, or of a library
        whose memory is on this device. The shape and type must be the same.

        It returns when memory of this computer was read. With wait=False it may return before, and
        that memory must then stay as it is until the stream was waited for; this is fast from
        Device.pinned.
        """
        from ._transfer import copy_into
        copy_into(self, source, self.device.stream_for(stream), wait)
        return self

    def copy_to(self, target: Any, *, stream: Optional["Stream"] = None, wait: bool = True) -> Any:
        """Writes the elements into an array of NumPy, or another array that copy_from takes. With
        wait=False, a NumPy array has them after the stream was waited for."""
        from ._transfer import copy_out
        copy_out(self, target, self.device.stream_for(stream), wait)
        return target

    def numpy(self) -> Any:
        """A new array of NumPy with the elements. It waits for the work that makes them."""
        numpy = _dtypes.need_numpy("numpy", "take tolist() or tobytes(), or ")
        made = numpy.empty(self.shape, self.dtype.numpy())
        return self.copy_to(made)

    get = numpy  # CuPy's name

    def tobytes(self) -> bytes:
        """The elements' bytes, row by row."""
        from ._transfer import read_bytes
        return read_bytes(self)

    def tolist(self) -> Any:
        """The elements as nested lists, without NumPy."""
        data, size = self.tobytes(), self.itemsize
        values: List[Any] = [self.dtype.unpack(data[i:i + size])
                             for i in range(0, len(data), size)]
        for extent in reversed(self.shape[1:]):
            source = iter(values)
            values = [list(itertools.islice(source, extent))
                      for _ in range(len(values) // extent if extent else 0)]
        return values if self.shape else values[0]

    def item(self) -> Any:
        """The only element, as a number of Python."""
        if self.size != 1:
            raise Invalid("item: the array has %d elements, not one" % self.size)
        return self.dtype.unpack(self.tobytes())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.is_float:
            raise TypeError("an element of %s is no index" % self.dtype.name)
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError("an isomer.Array is copied here; numpy.from_dlpack(array) wraps one of "
                             "the CPU backend without a copy")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    # ---- lending it to other libraries

    def __dlpack_device__(self) -> Tuple[int, int]:
        kind = _foreign.DEVICE_TYPES.get(self.device.backend)
        if kind is None:
            raise BufferError("DLPack has no name for devices of %s" % self.device.backend)
        return kind, self.device.index if kind != 1 else 0

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        """A capsule over this memory. It lives until both the array and its user are gone."""
        if copy:
            return self.copy().__dlpack__(stream=stream, max_version=max_version)
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("the array is on %s: copy it first" % self.device.spec)
        from ._transfer import export
        managed = export(self, stream)
        if max_version is not None and max_version[0] >= 1:
            return _api.PyCapsule_New(managed, _NAME, _destructor(_versioned_destructor))
        return _old_capsule(managed)

    @property
    def __cuda_array_interface__(self) -> Any:
        if self.device.backend != "cuda" or self.memory is None:
            raise AttributeError("only arrays of CUDA devices have __cuda_array_interface__")
        writer = self.memory.writer
        made = {"shape": self.shape, "typestr": self.dtype.typestr, "version": 3,
                "strides": None if self.contiguous else self.strides,
                "data": (self.pointer, self.read_only)}
        if writer is not None:
            made["stream"] = writer.native or 1
        return made


def shape_of_any(shape: Tuple[Any, ...]) -> Tuple[int, ...]:
    """reshape(2, 3) and reshape((2, 3))."""
    if len(shape) == 1 and not isinstance(shape[0], int):
        return tuple(int(extent) for extent in shape[0])
    return tuple(int(extent) for extent in shape)


class Block:
    """Rows of bytes in an array's memory, as the transfers of two dimensions have them."""

    __slots__ = ("array", "offset", "pitch", "width", "height")

    def __init__(self, array: Array, offset: int, pitch: int, width: int, height: int) -> None:
        self.array, self.offset = array, offset
        self.pitch, self.width, self.height = pitch, width, height

    @property
    def memory(self) -> Optional[Memory]:
        return self.array.memory

    def operand(self) -> Any:
        return S.iso_operand(self.array.memory.handle if self.array.memory else S.iso_buffer(),
                             self.offset)


def blocks(array: Array) -> Iterator[Block]:
    """The blocks that an array consists of: one, unless it has more than two strides."""
    size = array.itemsize
    if array.size == 0:
        return
    if array.contiguous:
        yield Block(array, array.offset, array.nbytes, array.nbytes, 1)
        return
    dims = [(extent, step) for extent, step in zip(array.shape, array.steps) if extent != 1]
    dims.sort(key=lambda dim: -dim[1])
    if any(step <= 0 for _, step in dims):
        raise Invalid("the array has a stride of 0 or less: its elements overlap")
    joined: List[List[int]] = []
    for extent, step in dims:  # dimensions without a gap between them are one
        if joined and joined[-1][1] == extent * step:
            joined[-1] = [joined[-1][0] * extent, step]
        else:
            joined.append([extent, step])
    width = size
    if joined and joined[-1][1] == 1:
        width = joined.pop()[0] * size
    height, pitch = joined.pop() if joined else (1, width // size)
    for index in itertools.product(*(range(extent) for extent, _ in joined)):
        offset = sum(i * step for i, (_, step) in zip(index, joined))
        yield Block(array, array.offset + offset * size, pitch * size, width, height)


# ---- DLPack's capsules

_CAPSULE_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))


# Capsules may outlive this module: what their destructors need is bound here, and never freed.


def _delete(managed: int, kind: Any = S.iso_dlpack_managed_versioned, call: Any = _DELETER) -> None:
    deleter = kind.from_address(managed).deleter
    if deleter:
        call(deleter)(managed)


def _of_versioned(capsule: Optional[int], is_valid: Any = _is_valid, pointer: Any = _pointer_of,
                  delete: Any = _delete) -> None:
    if is_valid(capsule, b"dltensor_versioned"):  # nobody took it
        delete(pointer(capsule, b"dltensor_versioned"))


# Tensors for consumers that know only the struct from before version 1, by its address.
_old: Dict[int, Any] = {}


def _of_old_tensor(address: Optional[int], old: Any = _old, delete: Any = _delete) -> None:
    kept = old.pop(address or 0, None)
    if kept is not None:
        delete(kept[1])


def _of_old(capsule: Optional[int], is_valid: Any = _is_valid, pointer: Any = _pointer_of,
            delete: Any = _of_old_tensor) -> None:
    if is_valid(capsule, b"dltensor"):
        delete(pointer(capsule, b"dltensor"))


_versioned_destructor = _CAPSULE_DESTRUCTOR(_of_versioned)
_old_deleter = _DELETER(_of_old_tensor)
_old_destructor = _CAPSULE_DESTRUCTOR(_of_old)
for _kept in (_versioned_destructor, _old_deleter, _old_destructor):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


def _destructor(function: Any) -> Any:
    return ctypes.cast(function, ctypes.c_void_p)


def _old_capsule(managed: int) -> Any:
    versioned = S.iso_dlpack_managed_versioned.from_address(managed)
    made = S.iso_dlpack_managed(versioned.tensor, None, ctypes.cast(_old_deleter, ctypes.c_void_p))
    _old[ctypes.addressof(made)] = (made, managed)
    return _api.PyCapsule_New(ctypes.addressof(made), _OLD_NAME, _destructor(_old_destructor))


def template(shape: Shape, dtype: object = "f32", device: Optional["Device"] = None) -> Array:
    """An array without memory, to ask Device.supports, describe and cost about sizes.

    >>> import isomer
    >>> a = isomer.template((20000, 20000), "f32")
    >>> isomer.cost("matmul", a, a).flops
    16000000000000.0
    """
    made = shape_of(shape)
    return Array(device, None, 0, made, packed(made), _dtypes.get(dtype))  # type: ignore[arg-type]


def new_array(device: "Device", shape: Shape, dtype: object) -> Array:
    """Memory of the device with undefined contents."""
    made, kind, handle = shape_of(shape), _dtypes.get(dtype), S.iso_buffer()
    check(api().iso_buffer_create(device.handle, math.prod(made) * kind.itemsize,
                                  ctypes.byref(handle)))
    return Array(device, Memory(device, handle), 0, made, packed(made), kind)


__all__ = ["Array", "Block", "Memory", "Shape", "blocks", "new_array", "template"]
