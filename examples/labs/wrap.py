# SPDX-License-Identifier: Apache-2.0
"""wrap.py - lab A, A5: isomer multiplies matrices that NumPy, CuPy and PyTorch own, where they are.

The libraries lend their memory by DLPack; isomer is called through ctypes. NumPy's memory is that of
the CPU (the device openmp); CuPy's and PyTorch's is that of a GPU (cuda), if they are installed.

    python3 wrap.py [--small] [--json FILE]
"""
import argparse
import ctypes
import json
import platform
import sys
import time

F32, F64, STREAM, VERSIONED, TILED = 3, 4, 3, 1, 2
SHOWN = {F32: "f32", F64: "f64"}
LEGACY_NAME, VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
USED = {LEGACY_NAME: b"used_dltensor", VERSIONED_NAME: b"used_dltensor_versioned"}

lib = ctypes.CDLL("libisomer.so.0")
lib.iso_last_error.restype = ctypes.c_char_p
api = ctypes.pythonapi
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Handle(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


class Operand(ctypes.Structure):
    _fields_ = [("buffer", Handle), ("offset", ctypes.c_int64)]


class Tensor(ctypes.Structure):
    """iso_tensor"""
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_int), ("buffer", Handle),
                ("offset", ctypes.c_int64), ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]


class Gemm(ctypes.Structure):
    """iso_gemm_args"""
    _fields_ = ([("size", ctypes.c_uint32)] +
                [(name, ctypes.c_int) for name in "dtype variant math trans_a trans_b".split()] +
                [(name, ctypes.c_int64) for name in "mnk"] +
                [("alpha", ctypes.c_double), ("beta", ctypes.c_double)] +
                [(name, Operand) for name in "abc"] +
                [(name, ctypes.c_int64) for name in
                 "lda ldb ldc batch stride_a stride_b stride_c".split()] +
                [("library", ctypes.c_int32), ("keep", ctypes.c_int)])


lib.iso_device_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(Handle)]
lib.iso_device_close.argtypes = [Handle]
lib.iso_stream_create.argtypes = [Handle, ctypes.c_uint32, ctypes.POINTER(Handle)]
lib.iso_stream_sync.argtypes = [Handle]
lib.iso_buffer_create.argtypes = [Handle, ctypes.c_int64, ctypes.POINTER(Handle)]
lib.iso_buffer_destroy.argtypes = [Handle]
lib.iso_copy.argtypes = [Handle, Operand, Operand, ctypes.c_int64]
lib.iso_native_get.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)]
lib.iso_gemm.argtypes = [Handle, ctypes.POINTER(Gemm)]
lib.iso_dlpack_import.argtypes = [Handle, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor)]


def ok(status):
    if status:
        sys.exit(lib.iso_last_error().decode())


class NumPy:
    """Each library: where its memory is, and how to make and to read an array."""
    spec = "openmp:0"

    def __init__(self):
        import numpy
        self.numpy, self.by = numpy, "NumPy " + numpy.__version__

    def take(self, array):
        return array.copy()

    def host(self, array):
        return array

    def lend(self, array, stream):
        return array.__dlpack__()

    def sync(self):
        pass

    def device(self):
        return platform.processor() or platform.machine()


class CuPy(NumPy):
    spec = "cuda:0"

    def __init__(self):
        import cupy
        super().__init__()
        self.cupy, self.by = cupy, "CuPy " + cupy.__version__
        cupy.zeros(1)  # creates its context

    def take(self, array):
        return self.cupy.asarray(array)

    def host(self, array):
        return self.cupy.asnumpy(array)

    def lend(self, array, stream):
        return array.__dlpack__(stream=stream)

    def sync(self):
        self.cupy.cuda.Device().synchronize()

    def device(self):
        return self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


class Torch(NumPy):
    spec = "cuda:0"

    def __init__(self):
        import torch
        super().__init__()
        if not torch.cuda.is_available():
            raise ImportError("it sees no CUDA device")
        self.torch, self.by = torch, "PyTorch " + torch.__version__

    def take(self, array):
        return self.torch.from_numpy(array).cuda()

    def host(self, array):
        return array.cpu().numpy()

    def lend(self, array, stream):
        return array.__dlpack__(stream=stream)

    def sync(self):
        self.torch.cuda.synchronize()

    def device(self):
        return self.torch.cuda.get_device_name(0)


def wrap(stream, capsule):
    """A buffer over the memory that a capsule lends. isomer gives it back when the buffer goes."""
    name = VERSIONED_NAME if api.PyCapsule_IsValid(capsule, VERSIONED_NAME) else LEGACY_NAME
    tensor = Tensor()
    tensor.size = ctypes.sizeof(tensor)
    ok(lib.iso_dlpack_import(stream, api.PyCapsule_GetPointer(capsule, name),
                             VERSIONED if name == VERSIONED_NAME else 0, ctypes.byref(tensor)))
    api.PyCapsule_SetName(capsule, USED[name])
    return tensor


def at(tensor):
    return Operand(tensor.buffer, tensor.offset)


def spread(name, samples):
    ordered = sorted(samples)
    return {"name": name, "unit": "s", "value": ordered[len(ordered) // 2], "low": ordered[0],
            "high": ordered[-1]}


def measure(library, device, stream, dtype, n):
    """Multiplies, compares 64 rows, and times wrapping and copying."""
    numpy = library.numpy
    kind = numpy.float32 if dtype == F32 else numpy.float64
    random = numpy.random.RandomState(1)
    host = [random.uniform(-1, 1, (n, n)).astype(kind) for _ in range(2)]
    arrays = [library.take(x) for x in host + [numpy.zeros((n, n), kind)]]
    native = ctypes.c_void_p()
    if library.spec != "openmp:0":
        ok(lib.iso_native_get(STREAM, stream.id, ctypes.byref(native)))
    library.sync()
    a, b, c = (wrap(stream, library.lend(x, native.value)) for x in arrays)
    gemm = Gemm()
    gemm.size, gemm.dtype, gemm.variant, gemm.alpha = ctypes.sizeof(gemm), dtype, TILED, 1
    gemm.m = gemm.n = gemm.k = n
    gemm.a, gemm.b, gemm.c = at(a), at(b), at(c)
    ok(lib.iso_gemm(stream, ctypes.byref(gemm)))
    ok(lib.iso_stream_sync(stream))
    rows = numpy.arange(min(n, 64)) * n // min(n, 64)
    right = host[0][rows].astype(numpy.float64) @ host[1].astype(numpy.float64)
    error = float(abs(library.host(arrays[2])[rows] - right).sum() / abs(right).sum())
    if not error < (1e-5 if dtype == F32 else 1e-13):
        sys.exit("%s: the product is off by %g" % (library.by, error))
    copy, size = Handle(), n * n * numpy.dtype(kind).itemsize
    ok(lib.iso_buffer_create(device, size, ctypes.byref(copy)))
    wrapped, copied = [], []
    for _ in range(11):
        start = time.perf_counter()
        again = wrap(stream, library.lend(arrays[0], native.value))
        wrapped.append(time.perf_counter() - start)
        ok(lib.iso_stream_sync(stream))
        start = time.perf_counter()
        ok(lib.iso_copy(stream, Operand(copy, 0), at(again), size))
        ok(lib.iso_stream_sync(stream))
        copied.append(time.perf_counter() - start)
        ok(lib.iso_buffer_destroy(again.buffer))
    for tensor in (a, b, c):
        ok(lib.iso_buffer_destroy(tensor.buffer))
    ok(lib.iso_buffer_destroy(copy))
    figures = [spread("wrap", wrapped), spread("copy", copied)]
    ratio = figures[1]["value"] / figures[0]["value"]
    print("  %-16s%-10s%-5s%7d%12.1f us%12.1f us%10.1f%10.1e" % (
        library.by[:15], library.spec, SHOWN[dtype], n, 1e6 * figures[0]["value"],
        1e6 * figures[1]["value"], ratio, error))
    return {"row": "A5", "device": library.spec, "by": library.by,
            "case": {"what": "wrapped", "dtype": SHOWN[dtype], "n": n}, "status": "ok",
            "checked": "64 rows of the product against NumPy in f64",
            "figures": figures + [{"name": "ratio", "unit": "", "value": ratio},
                                  {"name": "error", "unit": "", "value": error}]}


def main():
    parser = argparse.ArgumentParser(description="isomer multiplies matrices of other libraries")
    parser.add_argument("--small", action="store_true", help="small sizes, to see whether it works")
    parser.add_argument("--json", metavar="FILE", help="write the results to this file")
    options = parser.parse_args()
    entries, name = [], ""
    print("A5. Wrapped by DLPack, multiplied, compared; against copying on the device\n"
          "  %-16s%-10s%-5s%7s%15s%15s%10s%10s" % (
              "memory of", "device", "type", "N", "to wrap", "to copy", "times", "error"))
    for kind in (NumPy, CuPy, Torch):
        try:
            library = kind()
        except ImportError as missing:
            print("  %s is left out: %s" % (kind.__name__, missing))
            continue
        device, stream = Handle(), Handle()
        ok(lib.iso_device_open(library.spec.encode(), ctypes.byref(device)))
        ok(lib.iso_stream_create(device, 0, ctypes.byref(stream)))
        for n in ([64] if options.small else [32, 1000] if kind is NumPy else [32, 5120, 10240]):
            entries += [measure(library, device, stream, dtype, n) for dtype in (F32, F64)]
        name = library.device()
        ok(lib.iso_device_close(device))
    if not entries:
        sys.exit("none of the libraries is here: pip install numpy")
    print("Look at: a copy takes longer the larger N is; wrapping does not read the matrix.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "isomer-labs-peers/1", "host": platform.node(), "device": name,
                       "labs": entries}, file, indent=1)
            file.write("\n")


main()
