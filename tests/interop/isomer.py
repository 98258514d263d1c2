# SPDX-License-Identifier: Apache-2.0
"""isomer.py - the part of the library that the tests need, using only ctypes, and DLPack's
capsules."""
import ctypes
import os
import sys

SKIP = 77
F32, F64 = 3, 4
VERSIONED = 1
CONTEXT, DEVICE, STREAM, EVENT, MEMORY = 1, 2, 3, 4, 5
DIMS = 8

lib = ctypes.CDLL(os.environ["ISOMER_TEST_LIBRARY"])
lib.iso_last_error.restype = ctypes.c_char_p
lib.iso_status_name.restype = ctypes.c_char_p


class Handle(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


class Operand(ctypes.Structure):
    _fields_ = [("buffer", Handle), ("offset", ctypes.c_int64)]


class Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_int), ("buffer", Handle),
                ("offset", ctypes.c_int64), ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * DIMS), ("strides", ctypes.c_int64 * DIMS)]


class Native(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("device", ctypes.c_void_p)]


class Use(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("used", ctypes.c_int64), ("peak", ctypes.c_int64), ("limit", ctypes.c_int64)]


class Gemm(ctypes.Structure):
    _fields_ = ([("size", ctypes.c_uint32)] +
                [(name, ctypes.c_int) for name in "dtype variant math trans_a trans_b".split()] +
                [(name, ctypes.c_int64) for name in "mnk"] +
                [("alpha", ctypes.c_double), ("beta", ctypes.c_double)] +
                [(name, Operand) for name in "abc"] +
                [(name, ctypes.c_int64) for name in
                 "lda ldb ldc batch stride_a stride_b stride_c".split()] +
                [("library", ctypes.c_int32), ("keep", ctypes.c_int)])


lib.iso_device_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(Handle)]
lib.iso_device_adopt.argtypes = [ctypes.c_char_p, ctypes.POINTER(Native), ctypes.c_void_p,
                                 ctypes.POINTER(Handle)]
lib.iso_device_close.argtypes = [Handle]
lib.iso_device_get_memory_use.argtypes = [Handle, ctypes.POINTER(Use)]
lib.iso_stream_create.argtypes = [Handle, ctypes.c_uint32, ctypes.POINTER(Handle)]
lib.iso_stream_adopt.argtypes = [Handle, ctypes.c_void_p, ctypes.POINTER(Handle)]
lib.iso_stream_sync.argtypes = [Handle]
lib.iso_stream_destroy.argtypes = [Handle]
lib.iso_buffer_create.argtypes = [Handle, ctypes.c_int64, ctypes.POINTER(Handle)]
lib.iso_buffer_destroy.argtypes = [Handle]
lib.iso_native_get.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)]
lib.iso_fill.argtypes = [Handle, Operand, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
lib.iso_gemm.argtypes = [Handle, ctypes.POINTER(Gemm)]
lib.iso_dlpack_import.argtypes = [Handle, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor)]
lib.iso_dlpack_export.argtypes = [Handle, Handle, ctypes.POINTER(Tensor),
                                  ctypes.POINTER(ctypes.c_void_p)]
lib.iso_tensor_matrix.argtypes = [ctypes.POINTER(Tensor), ctypes.POINTER(Operand),
                                  ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64),
                                  ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int)]


class Failed(Exception):
    """A call that did not return ISO_OK."""


def check(status):
    if status:
        raise Failed("%s: %s" % (lib.iso_status_name(status).decode(),
                                 lib.iso_last_error().decode()))


def skip(why):
    print("SKIP: " + why)
    sys.exit(SKIP)


def open_device(spec):
    device = Handle()
    check(lib.iso_device_open(spec.encode(), ctypes.byref(device)))
    return device


def adopt_device(backend, context, index):
    native, device = Native(), Handle()
    native.size = ctypes.sizeof(native)
    native.context, native.device = context, index
    check(lib.iso_device_adopt(backend.encode(), ctypes.byref(native), None, ctypes.byref(device)))
    return device


def create_stream(device):
    stream = Handle()
    check(lib.iso_stream_create(device, 0, ctypes.byref(stream)))
    return stream


def adopt_stream(device, native):
    stream = Handle()
    check(lib.iso_stream_adopt(device, native, ctypes.byref(stream)))
    return stream


def native(kind, handle):
    out = ctypes.c_void_p()
    check(lib.iso_native_get(kind, handle.id, ctypes.byref(out)))
    return out.value or 0


def memory_used(device):
    use = Use()
    use.size = ctypes.sizeof(use)
    check(lib.iso_device_get_memory_use(device, ctypes.byref(use)))
    return use.used


# ---- capsules ----

api = ctypes.pythonapi
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_New.restype = ctypes.py_object

LEGACY_NAME, VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
USED = {LEGACY_NAME: b"used_dltensor", VERSIONED_NAME: b"used_dltensor_versioned"}


def take(stream, capsule):
    """Imports a capsule, which is consumed; on failure it is unchanged."""
    name = VERSIONED_NAME if api.PyCapsule_IsValid(capsule, VERSIONED_NAME) else LEGACY_NAME
    tensor = Tensor()
    tensor.size = ctypes.sizeof(tensor)
    check(lib.iso_dlpack_import(stream, api.PyCapsule_GetPointer(capsule, name),
                                VERSIONED if name == VERSIONED_NAME else 0, ctypes.byref(tensor)))
    # The name must live as long as the capsule, as these do.
    api.PyCapsule_SetName(capsule, USED[name])
    return tensor


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned up to its deleter."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("flags", ctypes.c_uint64)]


class Exported:
    """A tensor of isomer's as a Python object with the DLPack protocol."""

    def __init__(self, stream, tensor, device):
        self.stream, self.tensor, self.device = stream, tensor, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        version = options.get("max_version")
        if not version or version[0] < 1:
            raise BufferError("isomer exports versioned tensors alone")
        out = ctypes.c_void_p()
        consumer, native_stream = Handle(), options.get("stream")
        if self.device[0] != 1 and native_stream not in (None, -1):
            # 1 is CUDA's legacy default stream, which a NULL pointer names.
            consumer = adopt_stream(self.owner, None if native_stream == 1 else native_stream)
        try:
            check(lib.iso_dlpack_export(self.stream, consumer, ctypes.byref(self.tensor),
                                        ctypes.byref(out)))
        finally:
            if consumer.id:
                check(lib.iso_stream_destroy(consumer))
        return api.PyCapsule_New(out, VERSIONED_NAME, None)


def matrix(tensor):
    operand, trans = Operand(), ctypes.c_int()
    rows, cols, ld = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
    check(lib.iso_tensor_matrix(ctypes.byref(tensor), ctypes.byref(operand), ctypes.byref(rows),
                                ctypes.byref(cols), ctypes.byref(ld), ctypes.byref(trans)))
    return operand, rows.value, cols.value, ld.value, trans.value


def multiply(stream, a, b, c):
    """C = A * B in place; C is row-major."""
    args = Gemm()
    args.size, args.dtype, args.alpha = ctypes.sizeof(args), a.dtype, 1.0
    args.a, args.m, args.k, args.lda, args.trans_a = matrix(a)
    args.b, _, args.n, args.ldb, args.trans_b = matrix(b)
    args.c, _, _, args.ldc, trans = matrix(c)
    assert trans == 0, "the result is not row-major"
    check(lib.iso_gemm(stream, ctypes.byref(args)))
