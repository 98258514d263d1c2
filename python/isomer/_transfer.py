# SPDX-License-Identifier: Apache-2.0
"""_transfer.py - copies between arrays, this computer's memory and other libraries."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from . import _dtypes, _foreign
from ._abi import S, new
from ._array import Array, blocks, new_array
from ._dtypes import DType
from ._errors import Invalid
from ._foreign import Foreign, packed
from ._library import api, check

if TYPE_CHECKING:
    from ._device import Device
    from ._stream import Stream


class Host:
    """Elements in this computer's memory, row by row without gaps."""

    __slots__ = ("pointer", "shape", "dtype", "owner")

    def __init__(self, pointer: int, shape: Tuple[int, ...], dtype: DType, owner: Any) -> None:
        self.pointer, self.shape, self.dtype, self.owner = pointer, shape, dtype, owner


def _of_lists(value: Any, dtype: Optional[DType]) -> Host:
    shape: List[int] = []
    first = value
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        if not first:
            break
        first = first[0]
    values: List[Any] = []

    def walk(part: Any, depth: int) -> None:
        if depth == len(shape):
            values.append(part)
            return
        if not isinstance(part, (list, tuple)) or len(part) != shape[depth]:
            raise Invalid("array: the lists have not all the same length")
        for one in part:
            walk(one, depth + 1)

    walk(value, 0)
    if dtype is None:
        whole = all(isinstance(one, int) and not isinstance(one, bool) for one in values)
        complex_ = any(isinstance(one, complex) for one in values)
        dtype = _dtypes.get("c128" if complex_ else "i64" if values and whole else "f64")
    data = b"".join(map(dtype.pack, values))
    kept = ctypes.create_string_buffer(data, max(len(data), 1))
    return Host(ctypes.addressof(kept), tuple(shape), dtype, kept)


def to_host(value: Any, dtype: object = None) -> Host:
    """Elements of NumPy, of an object with a buffer, of lists or a number."""
    kind = None if dtype is None else _dtypes.get(dtype)
    if isinstance(value, (list, tuple)) and not any(hasattr(one, "shape") for one in value) or \
            type(value) in (int, float, complex, bool):
        return _of_lists(value, kind)
    found = _foreign.look(value)
    if found is not None and found.backend == "openmp":
        if found.strides == packed(found.shape) and kind in (None, found.dtype):
            return Host(found.pointer, found.shape, found.dtype, found)
    elif found is not None:
        raise Invalid("an array of %s in the memory of %s:%d cannot be read from here: copy it with "
                      "a device of that backend" % (found.library, found.backend, found.index))
    numpy = _dtypes.need_numpy("array: a " + type(value).__name__,  # it converts what is not plain
                               "without NumPy give numbers or (nested) lists, or ")
    made = numpy.ascontiguousarray(value, None if kind is None else kind.numpy())
    if made.ndim == 1 and getattr(value, "ndim", 1) == 0:
        made = made.reshape(())
    again = _foreign.look(made)
    assert again is not None
    return Host(again.pointer, again.shape, again.dtype, made)


def _same(what: str, a: Any, b: Any) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise Invalid("%s: the shapes %r and %r differ" % (what, tuple(a.shape), tuple(b.shape)))
    if a.dtype is not b.dtype:
        raise Invalid("%s: the types %s and %s differ" % (what, a.dtype.name, b.dtype.name))


def _write(target: Array, source: Host, stream: "Stream", wait: bool) -> None:
    _same("copy_from", target, source)
    if not target.contiguous:
        rows = list(blocks(target))
        if len(rows) > 1 or target.T.contiguous and target.ndim > 1:  # order it on the device
            made = new_array(target.device, target.shape, target.dtype)
            _write(made, source, stream, True)
            _on_device(target, made, stream)
            return
    place = source.pointer
    for part in blocks(target):
        stream.use(part, writes=True)
        check(api().iso_write_2d(stream.handle, part.operand(), part.pitch, place, part.width,
                                 part.width, part.height))
        place += part.width * part.height
    stream.finish(source, wait)


def _transposed(target: Array, source: Array, stream: "Stream") -> bool:
    """Whether it was done by a transpose: one of the two is stored column by column."""
    if target.ndim != 2 or target.itemsize not in (1, 2, 4, 8, 16):
        return False
    for from_, to in ((source.T, target), (source, target.T)):
        if from_.steps[1] == 1 and to.steps[1] == 1 and from_.steps[0] >= from_.shape[1] and \
                to.steps[0] >= to.shape[1]:
            target.device.transpose(from_, out=to, stream=stream)
            return True
    return False


def _on_device(target: Array, source: Array, stream: "Stream") -> None:
    parts = list(zip(blocks(target), blocks(source)))
    if source.ndim == 2 and min(source.shape) > 1 and \
            (source.steps[1] == 1) != (target.steps[1] == 1) and \
            _transposed(target, source, stream):
        return
    alike = all(a.width == b.width and a.height == b.height for a, b in parts) and \
        len(list(blocks(target))) == len(list(blocks(source))) and \
        [s > 0 for s in target.steps] == [s > 0 for s in source.steps] and \
        _order(target) == _order(source)
    if not alike and target.ndim > 0:  # row after row
        if target.ndim == 1:  # one of them has gaps: rows of one element
            _elements(target, source, stream)
            return
        for i in range(target.shape[0]):
            _on_device(target[i], source[i], stream)
        return
    for to, part in parts:
        stream.use(part, writes=False)
        stream.use(to, writes=True)
        check(api().iso_copy_2d(stream.handle, to.operand(), to.pitch, part.operand(), part.pitch,
                                to.width, to.height))


def _order(array: Array) -> List[int]:
    """The dimensions with more than one element, by their strides."""
    return sorted((i for i in range(array.ndim) if array.shape[i] != 1),
                  key=lambda i: -array.steps[i])


def _elements(target: Array, source: Array, stream: "Stream") -> None:
    size = target.itemsize
    stream.use(source, writes=False)
    stream.use(target, writes=True)
    check(api().iso_copy_2d(stream.handle, target.operand(), max(target.steps[0], 1) * size,
                            source.operand(), max(source.steps[0], 1) * size, size,
                            target.shape[0]))


def copy_into(target: Array, source: Any, stream: "Stream", wait: bool) -> None:
    """target = source."""
    if target.read_only:
        raise Invalid("copy_from: the array may only be read")
    if not isinstance(source, Array):
        found = _foreign.look(source, stream.native)
        if found is not None and found.backend == target.device.backend != "openmp":
            borrowed = target.device.borrow([(source, False)], stream)
            _same("copy_from", target, borrowed.arrays[0])
            borrowed.before(stream)
            _on_device(target, borrowed.arrays[0], stream)
            borrowed.after(stream)
            return
        _write(target, to_host(source, target.dtype if found is None else None), stream, wait)
        return
    _same("copy_from", target, source)
    if source.device is target.device:
        if target.size:
            _on_device(target, source, stream)
        return
    if not source.contiguous:
        source = source.copy()
    if not target.contiguous:
        made = new_array(target.device, target.shape, target.dtype)
        copy_into(made, source, stream, wait)
        _on_device(target, made, stream)
        return
    from_stream = source.device.stream_for(None)
    from_stream.use(source, writes=False)
    stream.use(target, writes=True)
    check(api().iso_copy_between(stream.handle, target.operand(), from_stream.handle,
                                 source.operand(), target.nbytes, None))
    stream.finish(source, True)


def read_bytes(source: Array) -> bytes:
    """All elements, row by row."""
    made = ctypes.create_string_buffer(max(source.nbytes, 1))
    host = Host(ctypes.addressof(made), source.shape, source.dtype, made)
    _read(source, host, source.device.stream_for(None), True)
    return made.raw[:source.nbytes]


def _read(source: Array, target: Host, stream: "Stream", wait: bool) -> None:
    if not source.contiguous:
        parts = list(blocks(source))
        if len(parts) > 1 or _order(source) != sorted(_order(source)):
            source = source.copy(stream=stream)
    place = target.pointer
    for part in blocks(source):
        stream.use(part, writes=False)
        check(api().iso_read_2d(stream.handle, place, part.width, part.operand(), part.pitch,
                                part.width, part.height))
        place += part.width * part.height
    stream.finish((target, source), wait)


def copy_out(source: Array, target: Any, stream: "Stream", wait: bool) -> None:
    """target = source."""
    if isinstance(target, Array):
        copy_into(target, source, target.device.stream_for(None), wait)
        return
    found = _foreign.look(target, stream.native)
    if found is None:
        raise TypeError("copy_to: a %s has no memory that isomer knows" % type(target).__name__)
    if found.read_only:
        raise Invalid("copy_to: the array may only be read")
    _same("copy_to", source, found)
    if found.backend == "openmp":
        if found.strides != packed(found.shape) and source.size:
            numpy = _dtypes.need_numpy("copy_to: an array with gaps")
            made = numpy.empty(found.shape, source.dtype.numpy())
            copy_out(source, made, stream, True)
            numpy.copyto(target if isinstance(target, numpy.ndarray) else
                         numpy.from_dlpack(target), made)
            return
        _read(source, Host(found.pointer, found.shape, found.dtype, found), stream, wait)
        return
    borrowed = source.device.borrow([(target, True)], stream)
    borrowed.before(stream)
    _on_device(borrowed.arrays[0], source, stream)
    borrowed.after(stream)


def export(array: Array, consumer: Any) -> int:
    """An iso_dlpack_managed_versioned over the array, ready for the consumer's native stream."""
    if array.memory is None:
        raise BufferError("a template has no memory to lend")
    if array.dtype.number == 0:
        raise BufferError("isomer lends no arrays of %s: view(dtype) gives the bits another type"
                          % array.dtype.name)
    tensor, out, other = new("iso_tensor"), ctypes.c_void_p(), S.iso_stream()
    tensor.dtype, tensor.buffer, tensor.offset = array.dtype.number, array.memory.handle, array.offset
    tensor.ndim, tensor.flags = array.ndim, 1 if array.read_only else 0
    for i in range(array.ndim):
        tensor.shape[i], tensor.strides[i] = array.shape[i], array.steps[i]
    stream = array.memory.writer or array.device.stream_for(None)
    if stream.closed:
        stream = array.device.stream_for(None)
    if array.device.backend != "openmp" and consumer not in (None, -1):
        other = array.device.adopt_stream(consumer).handle
    check(api().iso_dlpack_export(stream.handle, other, ctypes.byref(tensor), ctypes.byref(out)))
    assert out.value is not None
    return out.value


def wrap(device: "Device", found: Foreign) -> Array:
    """An Array over another library's memory, which it keeps alive."""
    from ._device import import_range
    low, high = found.range()
    memory = import_range(device, low, high, found.read_only, found.owner)
    return Array(device, memory, found.pointer - low, found.shape, found.strides, found.dtype,
                 found.read_only)
