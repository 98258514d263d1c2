# SPDX-License-Identifier: Apache-2.0
"""isomer: the same operation on different silicon, from Python.

    import isomer

    with isomer.open("cuda") as dev:           # or hip, opencl, openmp; None: ISOMER_BACKEND
        a = dev.array(numpy_a)
        b = dev.array(numpy_b)
        c = a @ b                              # dev.matmul(a, b, keep="bits") and more
        print(c.numpy())

Arrays of CuPy, PyTorch and JAX are used where they lie: isomer.matmul(a, b, out=c).
docs/python.md is the guide; the headers in include/isomer are the reference of what each call does.
"""
from __future__ import annotations

import functools as _functools
from typing import Any as _Any
from typing import Callable as _Callable

from ._adjoint import Adjoint
from ._array import Array, template
from ._bench import bench
from ._builders import BUILDERS as _BUILDERS
from ._builders import cost
from ._device import Device
from ._dtypes import DType
from ._dtypes import ALL as _ALL
from ._errors import (BackendFailed, CompileFailed, DeviceLost, Error, Internal, Invalid, Mismatch,
                      NoMemory, NotReady, Timeout, Unavailable, Unsupported)
from ._info import Info
from ._kernel import Kernel, Program, kernel
from ._library import path as library_path
from ._library import version
from ._open import asarray, backends, device_of, devices, open, settings
from ._operations import Operations
from ._planner import Operation
from ._sparse import CSR
from ._stream import Event, Graph, Stream

from_dlpack = asarray


def _forward(name: str) -> _Callable[..., Array]:
    @_functools.wraps(getattr(Operations, name))
    def call(*args: _Any, **options: _Any) -> Array:
        device = device_of([*args, *options.values()])
        made: Array = getattr(device, name)(*args, **options)
        return made
    return call


# The types of elements, f32 and float32 and so on, and each operation on the device of its arrays.
f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool_, c64, c128 = _ALL
matmul, gemm, gemv, syrk, trsm, spmv = map(
    _forward, ("matmul", "gemm", "gemv", "syrk", "trsm", "spmv"))
transpose, copy, scale, add, subtract, multiply, divide = map(
    _forward, ("transpose", "copy", "scale", "add", "subtract", "multiply", "divide"))
minimum, maximum, abs, negate, triad, axpby, fma, chain = map(
    _forward, ("minimum", "maximum", "abs", "negate", "triad", "axpby", "fma", "chain"))
relu, exp, tanh, convert = map(_forward, ("relu", "exp", "tanh", "convert"))
sum, prod, min, max, mean, dot = map(_forward, ("sum", "prod", "min", "max", "mean", "dot"))
asum, norm2, argmin, argmax, amax, argamax, xor = map(
    _forward, ("asum", "norm2", "argmin", "argmax", "amax", "argamax", "xor"))


@_functools.wraps(Operations.matmul_group)
def matmul_group(products: _Any, **options: _Any) -> _Any:
    device = device_of([x for one in products for x in one])
    return device.matmul_group(products, **options)


__all__ = [
    "Adjoint", "Array", "BackendFailed", "CSR", "CompileFailed", "DType", "Device", "DeviceLost", "Error",
    "Event", "Graph", "Info", "Internal", "Invalid", "Kernel", "Mismatch", "NoMemory", "NotReady",
    "Operation", "Program", "Stream", "Timeout", "Unavailable", "Unsupported", "asarray",
    "backends", "bench", "cost", "devices", "from_dlpack", "kernel", "library_path", "settings",
    "template", "version",
]
assert set(_BUILDERS) <= set(globals())
