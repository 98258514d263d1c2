# SPDX-License-Identifier: Apache-2.0
"""gpu.py - multiplies memory that CuPy and PyTorch own in place, through DLPack, on their streams
and isomer's, and in their context."""
import ctypes
import gc

import isomer

try:
    import cupy
except ImportError:
    cupy = None
try:
    import torch
except ImportError:
    torch = None
if cupy is None and torch is None:
    isomer.skip("neither CuPy nor PyTorch is here")
try:
    device = isomer.open_device("cuda")
except isomer.Failed as failed:
    isomer.skip("no cuda device: %s" % failed)


class CuPy:
    """What the test needs from CuPy."""
    name = "CuPy"
    types = [cupy.float32, cupy.float64] if cupy else []

    def random(self, rows, cols, dtype):
        return cupy.random.RandomState(rows).standard_normal((rows, cols)).astype(dtype)

    def zeros(self, rows, cols, dtype):
        return cupy.full((rows, cols), 7, dtype)

    def address(self, array):
        return array.data.ptr

    def stream(self):
        return cupy.cuda.Stream(non_blocking=True)

    def pointer(self, stream):
        return stream.ptr

    def sync(self):
        cupy.cuda.Device().synchronize()

    def used(self):
        return cupy.get_default_memory_pool().used_bytes()

    def wide(self, array):
        return array.astype(cupy.float64)

    def worst(self, array):
        return float(abs(array).max())

    def epsilon(self, dtype):
        return float(cupy.finfo(dtype).eps)

    def from_dlpack(self, exported):
        return cupy.from_dlpack(exported)


class Torch:
    """The same for PyTorch."""
    name = "PyTorch"
    types = [torch.float32, torch.float64] if torch else []

    def random(self, rows, cols, dtype):
        torch.manual_seed(rows)
        return torch.randn(rows, cols, dtype=dtype, device="cuda")

    def zeros(self, rows, cols, dtype):
        return torch.full((rows, cols), 7, dtype=dtype, device="cuda")

    def address(self, array):
        return array.data_ptr()

    def stream(self):
        return torch.cuda.Stream()

    def pointer(self, stream):
        return stream.cuda_stream

    def sync(self):
        torch.cuda.synchronize()

    def used(self):
        return torch.cuda.memory_allocated()

    def wide(self, array):
        return array.double()

    def worst(self, array):
        return float(array.abs().max())

    def epsilon(self, dtype):
        return torch.finfo(dtype).eps

    def from_dlpack(self, exported):
        return torch.from_dlpack(exported)


def entered(kit, stream):
    return torch.cuda.stream(stream) if kit.name == "PyTorch" else stream


def take(kit, stream, array, native, versioned):
    """DLPack's stream argument: the consumer's stream, on which the producer makes it ready."""
    options = {"max_version": (1, 0)} if versioned else {}
    tensor = isomer.take(stream, array.__dlpack__(stream=native, **options))
    operand = isomer.native(isomer.MEMORY, tensor.buffer) + tensor.offset
    assert operand == kit.address(array), "%s: a copy was made" % kit.name
    return tensor


def multiply(kit, owner, stream, native, dtype, versioned):
    a = kit.random(300, 500, dtype)[7:260, 3:451]
    b = kit.random(333, 480, dtype)[:321, :448].T
    whole = kit.zeros(253, 400, dtype)
    c = whole[:, :321]
    used, own = kit.used(), isomer.memory_used(owner)
    tensors = [take(kit, stream, x, native, versioned) for x in (a, b, c)]
    assert kit.used() == used and isomer.memory_used(owner) == own, "memory was allocated"
    isomer.multiply(stream, *tensors)
    isomer.check(isomer.lib.iso_stream_sync(stream))
    for tensor in tensors:
        isomer.check(isomer.lib.iso_buffer_destroy(tensor.buffer))
    wide_a, wide_b = kit.wide(a), kit.wide(b)
    error = kit.worst(kit.wide(c) - wide_a @ wide_b)
    bound = 448 * kit.epsilon(dtype) * kit.worst(abs(wide_a) @ abs(wide_b))
    assert error <= bound, "%s %s: off by %g, over %g" % (kit.name, dtype, error, bound)
    assert kit.worst(whole[:, 321:] - 7) == 0, "written outside"


def export(kit, owner, stream):
    """isomer's memory as an array, filled just before on isomer's stream."""
    tensor = isomer.Tensor()
    tensor.size, tensor.dtype, tensor.ndim = ctypes.sizeof(tensor), isomer.F32, 2
    tensor.shape[0], tensor.shape[1], tensor.offset = 1000, 2000, 256
    before = isomer.memory_used(owner)
    isomer.check(isomer.lib.iso_buffer_create(owner, 256 + 8000000, ctypes.byref(tensor.buffer)))
    address = isomer.native(isomer.MEMORY, tensor.buffer)
    value = ctypes.c_float(1.5)
    isomer.check(isomer.lib.iso_fill(stream, isomer.Operand(tensor.buffer, 256),
                                     ctypes.byref(value), 4, 8000000))
    exported = isomer.Exported(stream, tensor, (2, isomer.native(isomer.DEVICE, owner)))
    exported.owner = owner
    try:
        array = kit.from_dlpack(exported)
    except BufferError as refused:
        print("%s: import of a versioned tensor not tried: %s" % (kit.name, refused))
        isomer.check(isomer.lib.iso_buffer_destroy(tensor.buffer))
        return
    assert kit.address(array) == address + 256, "a copy was made"
    assert kit.worst(array - 1.5) == 0
    kit.sync()
    isomer.check(isomer.lib.iso_buffer_destroy(tensor.buffer))
    del array
    gc.collect()
    assert isomer.memory_used(owner) == before, "the array's memory was not freed"


def current_context():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, index = ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context.value
    assert cuda.cuCtxGetDevice(ctypes.byref(index)) == 0
    return context.value, index.value


def on_device(kit, owner):
    theirs = kit.stream()
    adopted = isomer.adopt_stream(owner, kit.pointer(theirs))
    assert isomer.native(isomer.STREAM, adopted) == kit.pointer(theirs)
    own = isomer.create_stream(owner)
    for dtype in kit.types:
        # Created and multiplied on a stream of theirs that isomer has adopted.
        with entered(kit, theirs):
            multiply(kit, owner, adopted, kit.pointer(theirs), dtype, False)
        # On isomer's stream: the producer orders it behind its own.
        multiply(kit, owner, own, isomer.native(isomer.STREAM, own), dtype, True)
    export(kit, owner, own)
    kit.sync()
    isomer.check(isomer.lib.iso_stream_destroy(adopted))
    theirs.synchronize()  # they still own it


def run(kit):
    kit.zeros(2, 2, kit.types[0])  # creates their context and makes it current
    kit.sync()
    on_device(kit, device)
    context, index = current_context()
    adopted = isomer.adopt_device("cuda", context, index)
    assert isomer.native(isomer.CONTEXT, adopted) == context
    on_device(kit, adopted)
    isomer.check(isomer.lib.iso_device_close(adopted))
    primary = isomer.adopt_device("cuda", None, index)
    on_device(kit, primary)
    isomer.check(isomer.lib.iso_device_close(primary))
    assert current_context() == (context, index), "the thread's context was changed"
    kit.sync()
    print("%s: ok" % kit.name)


for module, kit_type in ((cupy, CuPy), (torch, Torch)):
    if module is None:
        print("SKIP: %s is not here" % kit_type.name)
    else:
        run(kit_type())
isomer.check(isomer.lib.iso_device_close(device))
