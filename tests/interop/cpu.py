# SPDX-License-Identifier: Apache-2.0
"""cpu.py - multiplies memory that NumPy owns in place, through DLPack."""
import ctypes
import gc
import sys

import isomer

try:
    import numpy
except ImportError:
    isomer.skip("NumPy is missing: install the package python3-numpy")

if not hasattr(numpy.ndarray, "__dlpack__"):
    isomer.skip("NumPy %s has no __dlpack__: 1.22 or newer is needed" % numpy.__version__)
VERSION = tuple(int(part) for part in numpy.__version__.split(".")[:2])
HAS_VERSIONED = VERSION >= (2, 1)

device = isomer.open_device("openmp")
stream = isomer.create_stream(device)


def take(array, versioned):
    options = {"max_version": (1, 0)} if versioned else {}
    tensor = isomer.take(stream, array.__dlpack__(**options))
    address = isomer.native(isomer.MEMORY, tensor.buffer) + tensor.offset
    assert address == array.ctypes.data, "a copy was made"
    return tensor


def destroy(*tensors):
    for tensor in tensors:
        isomer.check(isomer.lib.iso_buffer_destroy(tensor.buffer))


def multiply(dtype, versioned):
    """Views with gaps between rows, and one that is stored column by column."""
    random = numpy.random.RandomState(1)
    a = random.standard_normal((50, 90)).astype(dtype)[3:40, 5:65]
    b = random.standard_normal((45, 70)).astype(dtype)[:41, :60].T
    c = numpy.full((37, 50), 7, dtype)
    into = c[:, :41]
    before, used = [sys.getrefcount(x) for x in (a, b, into)], isomer.memory_used(device)
    tensors = [take(x, versioned) for x in (a, b, into)]
    assert isomer.memory_used(device) == used, "imported memory was counted"
    assert [sys.getrefcount(x) for x in (a, b, into)] > before, "the arrays are not held"
    isomer.multiply(stream, *tensors)
    destroy(*tensors)
    gc.collect()
    assert [sys.getrefcount(x) for x in (a, b, into)] == before, "the arrays were not let go of"
    expected = a.astype(numpy.float64) @ b.astype(numpy.float64)
    bound = 60 * numpy.finfo(dtype).eps * (numpy.abs(a).astype(float) @ numpy.abs(b).astype(float))
    assert (numpy.abs(into - expected) <= bound).all(), "wrong product"
    assert (c[:, 41:] == 7).all(), "written outside"


def refusals():
    array = numpy.zeros((2, 2), numpy.uint8)
    capsule = array.__dlpack__()
    try:
        isomer.take(stream, capsule)
        raise AssertionError("uint8 was taken")
    except isomer.Failed as failed:
        assert "uint8" in str(failed), failed
    del capsule  # NumPy still owns it: its destructor deletes the tensor
    assert sys.getrefcount(array) == 2


def read_only():
    array = numpy.zeros((4, 4), numpy.float32)
    array.flags.writeable = False
    tensor = take(array, True)
    assert tensor.flags & 1
    operand = isomer.Operand(tensor.buffer, 0)
    status = isomer.lib.iso_fill(stream, operand, b"\1", 1, 4)
    assert status and b"read-only" in isomer.lib.iso_last_error()
    destroy(tensor)


def export():
    """isomer's memory as an array, which outlives the buffer."""
    tensor = isomer.Tensor()
    tensor.size, tensor.dtype, tensor.ndim = ctypes.sizeof(tensor), isomer.F32, 2
    tensor.shape[0], tensor.shape[1], tensor.offset = 3, 5, 8
    used = isomer.memory_used(device)
    isomer.check(isomer.lib.iso_buffer_create(device, 8 + 60, ctypes.byref(tensor.buffer)))
    address = isomer.native(isomer.MEMORY, tensor.buffer)
    value = ctypes.c_float(1.5)
    isomer.check(isomer.lib.iso_fill(stream, isomer.Operand(tensor.buffer, 8),
                                     ctypes.byref(value), 4, 60))
    array = numpy.from_dlpack(isomer.Exported(stream, tensor, (1, 0)))
    destroy(tensor)
    assert array.ctypes.data == address + 8 and array.shape == (3, 5)
    assert (array == 1.5).all()
    assert isomer.memory_used(device) == used + 68
    del array
    gc.collect()
    assert isomer.memory_used(device) == used


for each in (numpy.float32, numpy.float64):
    multiply(each, False)
    if HAS_VERSIONED:
        multiply(each, True)
refusals()
if HAS_VERSIONED:
    read_only()
    export()
else:
    print("NumPy %s knows legacy capsules alone: versioned ones (2.1) not tried" %
          numpy.__version__)
isomer.check(isomer.lib.iso_device_close(device))
print("NumPy %s: ok" % numpy.__version__)
