# SPDX-License-Identifier: Apache-2.0
"""_foreign.py - arrays of other libraries: where their memory is, without a copy.

NumPy tells it by __array_interface__, CuPy and Numba by __cuda_array_interface__, and PyTorch, JAX
and others by DLPack. A capsule of DLPack is looked at and kept; it is never consumed, so its own
destructor gives the memory back.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Optional, Tuple

from . import _dtypes
from ._abi import S
from ._dtypes import DType

# DLPack's kinds of device, and the backend whose memory it is.
BACKENDS = {1: "openmp", 2: "cuda", 3: "openmp", 10: "hip", 11: "openmp", 13: "cuda"}
DEVICE_TYPES = {"openmp": 1, "cuda": 2, "opencl": 4, "hip": 10}
_NAMES = (b"dltensor_versioned", b"dltensor")

_api = ctypes.pythonapi
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p


class Foreign:
    """Memory of another library: `pointer` is of element (0, 0, ...), strides count elements."""

    __slots__ = ("pointer", "shape", "strides", "dtype", "read_only", "backend", "index", "library",
                 "owner")

    def __init__(self, pointer: int, shape: Tuple[int, ...], strides: Tuple[int, ...], dtype: DType,
                 read_only: bool, backend: str, index: int, library: str, owner: Any) -> None:
        self.pointer, self.shape, self.strides, self.dtype = pointer, shape, strides, dtype
        self.read_only, self.backend, self.index = read_only, backend, index
        self.library, self.owner = library, owner

    def range(self) -> Tuple[int, int]:
        """The bytes that its elements touch, as addresses."""
        if self.strides == packed(self.shape):
            count = 1
            for extent in self.shape:
                count *= extent
            return self.pointer, self.pointer + count * self.dtype.itemsize
        low = high = 0
        for extent, stride in zip(self.shape, self.strides):
            if extent == 0:
                return self.pointer, self.pointer
            low += min(0, (extent - 1) * stride)
            high += max(0, (extent - 1) * stride)
        size = self.dtype.itemsize
        return self.pointer + low * size, self.pointer + (high + 1) * size

    def stream(self) -> Optional[Tuple[int, Any]]:
        """The current stream of its library, as a number and the object that keeps it, or None."""
        if self.backend == "openmp":
            return None
        if self.library == "cupy":
            stream = sys.modules["cupy"].cuda.get_current_stream()
            return int(stream.ptr), stream
        if self.library == "torch":
            stream = sys.modules["torch"].cuda.current_stream(self.index)
            return int(stream.cuda_stream), stream
        if self.library == "numba":
            return 0, None
        return None


def packed(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """The strides of a row-major array without gaps."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _of_interface(value: Any, given: Any, backend: str, index: int, library: str) -> Foreign:
    dtype = _dtypes.find(given["typestr"])
    if dtype is None or dtype.name == "bf16":  # <V2 may be any two bytes
        dtype = _dtypes.get(getattr(value, "dtype", given["typestr"]))
    shape = tuple(given["shape"])
    steps = given.get("strides")
    if steps is None:
        strides = packed(shape)
    else:
        if any(step % dtype.itemsize for step in steps):
            raise ValueError("the strides %r are no multiples of an element's %d bytes: copy the "
                             "array first" % (steps, dtype.itemsize))
        strides = tuple(step // dtype.itemsize for step in steps)
    pointer, read_only = given["data"]
    return Foreign(pointer or 0, shape, strides, dtype, bool(read_only), backend, index, library,
                   value)


def _pointer_ordinal(pointer: int) -> int:
    """The number of the CUDA device that has this memory."""
    ordinal = ctypes.c_int(0)
    ctypes.CDLL("libcuda.so.1").cuPointerGetAttribute(ctypes.byref(ordinal), 9,
                                                      ctypes.c_uint64(pointer))
    return ordinal.value


def _capsule(value: Any, options: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before version 1
        return value.__dlpack__(**options)


def _of_dlpack(value: Any, library: str, native_stream: Optional[int]) -> Foreign:
    device = tuple(value.__dlpack_device__())
    backend = BACKENDS.get(int(device[0]))
    if backend is None:
        raise TypeError("an array of %s is on a device of DLPack's kind %d, which isomer does not "
                        "use" % (library, device[0]))
    options = {}
    if backend != "openmp":
        # -1: no order is asked for, because isomer's stream is ordered with theirs.
        options["stream"] = -1 if library in ("torch", "cupy") else native_stream
    capsule = _capsule(value, options)
    versioned = bool(_api.PyCapsule_IsValid(capsule, _NAMES[0]))
    pointer = _api.PyCapsule_GetPointer(capsule, _NAMES[0] if versioned else _NAMES[1])
    kind = S.iso_dlpack_managed_versioned if versioned else S.iso_dlpack_managed
    managed = kind.from_address(pointer)
    tensor = managed.tensor
    dtype = _dtypes.of_dlpack(tensor.code, tensor.bits, tensor.lanes)
    if dtype is None:
        raise TypeError("an array of %s has a type of elements that isomer does not have (DLPack's "
                        "code %d, %d bits, %d lanes)" % (library, tensor.code, tensor.bits,
                                                         tensor.lanes))
    numbers = ctypes.c_int64 * tensor.ndim
    shape = tuple(numbers.from_address(tensor.shape)) if tensor.ndim else ()
    strides = tuple(numbers.from_address(tensor.strides)) if tensor.ndim and tensor.strides \
        else packed(shape)
    # Arrays of JAX never change, although older versions of DLPack cannot say so.
    read_only = library in ("jax", "jaxlib") or versioned and bool(managed.flags & 1)
    return Foreign((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, read_only,
                   backend, int(device[1]) if backend != "openmp" else 0, library, (value, capsule))


def is_numpy(value: Any) -> bool:
    """Whether it is an array of NumPy."""
    return type(value).__module__ == "numpy" and hasattr(value, "flags") and \
        hasattr(value, "__array_interface__")


def look(value: Any, native_stream: Optional[int] = None) -> Optional[Foreign]:
    """The memory of an array of another library; None if the value is no such array."""
    library = type(value).__module__.split(".", 1)[0]
    if library == "numpy":
        return _of_interface(value, value.__array_interface__, "openmp", 0, library) \
            if is_numpy(value) else None
    if library in ("torch", "jax", "jaxlib"):
        return _of_dlpack(value, library, native_stream)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        if hasattr(value, "__dlpack_device__"):
            kind, index = value.__dlpack_device__()
            backend = BACKENDS.get(int(kind), "cuda")
        else:
            backend, index = "cuda", _pointer_ordinal(interface["data"][0] or 0)
        return _of_interface(value, interface, backend, int(index), library)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value, library, native_stream)
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return _of_interface(value, interface, "openmp", 0, library)
    return None
