# SPDX-License-Identifier: Apache-2.0
"""_products.py - how arrays become the descriptors of products and of triangular solves."""
from __future__ import annotations

import ctypes
import math as mathematics
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _dtypes
from ._abi import E, S, arguments
from ._adjoint import Adjoint, read, turned
from ._array import Array
from ._errors import Invalid, Unsupported
from ._library import api, check
from ._planner import (Operation, Planner, batch_stride, choices, common_batch, dense, increment,
                       is_zero, matrix, set_factor)
from ._reductions import reduction

if TYPE_CHECKING:
    from ._device import Device


def _build_matmul(c: Planner, a: Any, b: Any, out: Any = None, *, alpha: Any = 1.0,
                  beta: Any = 0.0, dtype: Any = None, continues: bool = False,
                  variant: Any = "auto", math: Any = "default", keep: Any = "default",
                  library: int = 0) -> Operation:
    (a, conj_a), (b, conj_b) = read(a), read(b)
    a, b, out, alpha, beta = c.operands(a=a, b=b, c_out=out, alpha=alpha, beta=beta)
    options = {"variant": variant, "math": math, "keep": keep, "library": library}
    c.same_type(a, b)
    kind = _result_type(c, a.dtype, out, dtype)
    if not a.ndim or not b.ndim:
        raise c.wrong("a number is no matrix: use scale")
    if a.ndim == 1 and b.ndim == 1 and (isinstance(alpha, Array) or isinstance(beta, Array) or
                                        (alpha, beta) != (1.0, 0.0)):
        raise c.wrong("the product of two vectors has no alpha and beta")
    if out is None and (continues or not is_zero(beta)):
        raise c.wrong("beta and continues need out, whose elements are added to")
    conjugates = (conj_a and a.dtype.is_complex, conj_b and b.dtype.is_complex)
    plain = kind is a.dtype and a.dtype.is_float and not c.only_gemm
    if plain and a.ndim == 1 and b.ndim == 1:
        return reduction(c, "dot", a, b, out, None, False, variant, keep)
    if plain and (a.ndim == 1 or b.ndim == 1) and not continues:
        del options["math"]
        return _product_vector(c, a, b, out, alpha, beta, options)
    shape = _shape(c, a, b)
    if out is None:
        out = c.make(shape, kind)
    elif out.shape != shape:
        raise c.wrong("out is %r, and the product is %r", out.shape, shape)
    whole = out  # vectors are matrices of one row or one column
    if b.ndim == 1:
        b, whole = b[:, None], whole[..., None]
    if a.ndim == 1:
        a, whole = a[None, :], whole[..., None, :]
    made = _product(c, a, b, whole, conjugates, alpha, beta, options)
    made.args.continues, made.result = int(continues), out
    return made


def _result_type(c: Planner, of: _dtypes.DType, out: Optional[Array], dtype: Any) -> _dtypes.DType:
    """The type of the product of two arrays of that type."""
    wanted = _dtypes.OWN["i32"] if of.name == "i8" else of
    if dtype is not None:
        wanted = _dtypes.get(dtype)
        if out is not None and out.dtype is not wanted:
            raise c.wrong("dtype is %s, and out is of %s", wanted.name, out.dtype.name)
    elif out is not None:
        wanted = out.dtype
    allowed = {"i8": ["i32"], "f16": ["f16", "f32"], "bf16": ["bf16", "f32"]}.get(of.name, [of.name])
    if wanted.name not in allowed:
        raise c.wrong("the types %s and %s differ: the product of arrays of %s is of %s",
                      of.name, wanted.name, of.name, " or ".join(allowed))
    return wanted


def _shape(c: Planner, a: Array, b: Array) -> Tuple[int, ...]:
    rows, cols = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise c.wrong("a is %s and b is %s: a's columns are not b's rows",
                      " x ".join(map(str, a.shape[-2:])), " x ".join(map(str, b.shape[-2:])))
    return common_batch(c, a.shape[:-2], b.shape[:-2]) + rows + cols


def _product(c: Planner, a: Array, b: Array, out: Array, conj: Tuple[bool, bool], alpha: Any,
             beta: Any, options: Dict[str, Any]) -> Operation:
    """The product of matrices, or batches of them."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    batch, kind = out.shape[:-2], a.dtype
    if matrix(c, "out", out)[1]:  # its transpose is stored row by row
        a, b, out = b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2)
        m, n, conj = n, m, conj[::-1]
    args, reads = arguments("gemm"), [a, b]
    args.dtype, args.dtype_c, args.m, args.n, args.k = kind.number, out.dtype.number, m, n, k
    set_factor(c, args, reads, "alpha", alpha, kind)
    set_factor(c, args, reads, "beta", beta, kind)
    args.a, args.b, args.c = a.operand(), b.operand(), out.operand()
    args.lda, args.trans_a = matrix(c, "a", a, conj[0])
    args.ldb, args.trans_b = matrix(c, "b", b, conj[1])
    args.ldc = matrix(c, "out", out)[0]
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.m = 1, 0  # nothing to do
    elif args.batch > 1:
        args.stride_a, args.stride_b = batch_stride(c, "a", a, 2, batch), \
            batch_stride(c, "b", b, 2, batch)
        args.stride_c = batch_stride(c, "out", out, 2, batch)
    choices(args, options)
    return c.done("gemm", args, reads, [out])


def _product_vector(c: Planner, a: Array, b: Array, out: Optional[Array], alpha: Any, beta: Any,
                    options: Dict[str, Any]) -> Operation:
    """A matrix times a vector, or a vector times a matrix, which is its transpose times it."""
    whole, vector = (a, b) if b.ndim == 1 else (b.swapaxes(-1, -2), a)
    m, k = whole.shape[-2:]
    if vector.shape[0] != k:
        raise c.wrong("the matrix is %d x %d, and the vector has %d elements", *(
            (m, k) if b.ndim == 1 else (k, m)), vector.shape[0])
    batch = whole.shape[:-2]
    if out is None:
        out = c.make(batch + (m,), a.dtype)
    elif out.shape != batch + (m,):
        raise c.wrong("out is %r, and the product is %r", out.shape, batch + (m,))
    args, reads = arguments("gemv"), [whole, vector]
    args.dtype, args.m, args.k = c.same_type(a, b, out), m, k
    set_factor(c, args, reads, "alpha", alpha, a.dtype)
    set_factor(c, args, reads, "beta", beta, a.dtype)
    args.a, args.x, args.y = whole.operand(), vector.operand(), out.operand()
    args.lda, args.trans = matrix(c, "the matrix", whole)
    args.inc_x = increment(c, "the vector", k, vector.steps[0])
    args.inc_y = increment(c, "out", m, out.steps[-1])
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.m = 1, 0
    elif args.batch > 1:
        args.stride_a, args.stride_y = batch_stride(c, "the matrix", whole, 2, batch), \
            batch_stride(c, "out", out, 1, batch)
    choices(args, options)
    return c.done("gemv", args, reads, [out])


def _flag(c: Planner, name: str, value: Any) -> str:
    """"n", "t" or "c" of a flag: False, True, or the letter."""
    made = {False: "n", True: "t"}.get(value) if isinstance(value, bool) else str(value).lower()
    if made not in ("n", "t", "c"):
        raise c.wrong("%s is %r: it is True, False, \"n\", \"t\" or \"c\" (conjugated)", name, value)
    return made


def _build_gemm(c: Planner, a: Any, b: Any, out: Any = None, *, trans_a: Any = False,
                trans_b: Any = False, **options: Any) -> Operation:
    views = []
    for name, x, trans in (("trans_a", a, trans_a), ("trans_b", b, trans_b)):
        flag = _flag(c, name, trans)
        if flag != "n" and isinstance(x, Adjoint):
            raise c.wrong("%s is %r, and the array is a conjugate transpose (.H) already: "
                          "leave one out", name, trans)
        views.append(x if flag == "n" else turned(x) if flag == "t" else Adjoint(x))
    return _build_matmul(c, views[0], views[1], out, **options)


# ---- symmetric products and triangular solves


def _square_batch(c: Planner, x: Array, name: str) -> None:
    if x.ndim < 2:
        raise c.wrong("%s has %d dimensions: it must be a matrix, or a batch of them", name, x.ndim)


def _build_syrk(c: Planner, a: Any, out: Any = None, *, lower: bool = True, trans: Any = False,
                alpha: Any = 1.0, beta: Any = 0.0, variant: Any = "auto", keep: Any = "default",
                library: int = 0) -> Operation:
    a, out, alpha, beta = c.operands(a=a, c_out=out, alpha=alpha, beta=beta)
    _square_batch(c, a, "a")
    flag = _flag(c, "trans", trans)
    if flag == "c":
        raise c.wrong("the product is symmetric and not conjugated: use matmul(a, a.H)")
    if flag == "t":
        a = a.swapaxes(-1, -2)
    (n, k), batch, new = a.shape[-2:], a.shape[:-2], out is None
    shape = batch + (n, n)
    if out is None:
        if not is_zero(beta):
            raise c.wrong("beta needs out, whose elements are added to")
        out = c.make(shape, a.dtype)
    elif out.shape != shape:
        raise c.wrong("out is %r, and the product is %r", out.shape, shape)
    args, reads = arguments("syrk"), [a]
    args.dtype, args.n, args.k = c.same_type(a, out), n, k
    set_factor(c, args, reads, "alpha", alpha, a.dtype)
    set_factor(c, args, reads, "beta", beta, a.dtype)
    args.a, args.c = a.operand(), out.operand()
    args.lda, args.trans = matrix(c, "a", a)
    args.ldc, turned_out = matrix(c, "out", out)
    # The lower triangle of a matrix that is stored by columns is the upper one of its rows.
    args.triangle = E.LOWER if bool(lower) != bool(turned_out) else E.UPPER
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.n = 1, 0
    elif args.batch > 1:
        args.stride_a, args.stride_c = batch_stride(c, "a", a, 2, batch), \
            batch_stride(c, "out", out, 2, batch)
    choices(args, {"variant": variant, "keep": keep, "library": library})
    made = c.done("syrk", args, reads, [out])
    if new:
        made.before = lambda stream: out.fill(0, stream=stream)
    return made


def _solve_out(c: Planner, b: Array, out: Optional[Array]) -> Array:
    if out is None:
        out = c.make(b.shape, b.dtype)
        if dense(b) and not b.contiguous:
            out.steps = b.steps
    elif out.shape != b.shape:
        raise c.wrong("out is %r, and b is %r", out.shape, b.shape)
    return out


def _build_trsm(c: Planner, a: Any, b: Any, out: Any = None, *, side: str = "left",
                lower: bool = True, trans: Any = False, unit_diagonal: bool = False,
                alpha: Any = 1.0, variant: Any = "auto", keep: Any = "default",
                library: int = 0) -> Operation:
    if side not in ("left", "right"):
        raise c.wrong("side is %r: it is \"left\" (a x = b) or \"right\" (x a = b)", side)
    flag, in_place = _flag(c, "trans", trans), b is out
    a, b, out, alpha = c.operands(a=a, b=b, x_out=out, alpha=alpha)
    _square_batch(c, a, "a")
    vector = b.ndim == 1 and side == "left"
    out = _solve_out(c, b, out)
    result, source = out, b
    x = out[:, None] if vector else out
    _square_batch(c, x, "b")
    (m, n), batch = x.shape[-2:], x.shape[:-2]
    size = m if side == "left" else n
    if a.shape[-2:] != (size, size):
        raise c.wrong("a is %d x %d, and b is %d x %d: on the %s it must be %d x %d", *a.shape[-2:],
                      m, n, side, size, size)
    args, reads = arguments("trsm"), [a]
    args.dtype, args.m, args.n = c.same_type(a, b, out), m, n
    args.side, args.unit_diagonal = E.LEFT if side == "left" else E.RIGHT, int(unit_diagonal)
    set_factor(c, args, reads, "alpha", alpha, a.dtype)
    args.a, args.b = a.operand(), x.operand()
    args.ldb, by_columns = matrix(c, "out", x)
    args.order = E.COLUMN_MAJOR if by_columns else E.ROW_MAJOR
    args.lda, across = matrix(c, "a", a)
    across = bool(across) != bool(by_columns) and size > 1  # stored in the other order than out
    if flag == "c" and (across or not a.dtype.is_complex):
        if a.dtype.is_complex:
            raise c.wrong("a is stored in another order than out, and its conjugate is meant: use "
                          "a.copy()")
        flag = "t"
    if across:  # what is read is its transpose
        flag, lower = "n" if flag == "t" else "t", not lower
    args.trans = {"n": E.NO_TRANS, "t": E.TRANS, "c": E.CONJ_TRANS}[flag]
    args.triangle = E.LOWER if lower else E.UPPER
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.m = 1, 0
    elif args.batch > 1:
        args.stride_a, args.stride_b = batch_stride(c, "a", a, 2, batch), \
            batch_stride(c, "out", x, 2, batch)
    choices(args, {"variant": variant, "keep": keep, "library": library})
    made = c.done("trsm", args, reads if in_place else reads + [source], [out], result)
    if not in_place and source.memory is not None:
        made.before = lambda stream: result.copy_from(source, stream=stream)
    return made


# ---- groups


def group(device: "Device", target: Any, products: Sequence[Any], stream: Any,
          options: Dict[str, Any]) -> List[Array]:
    """Runs products of unlike sizes by one call."""
    members: List[Operation] = []
    for number, one in enumerate(products):
        if not isinstance(one, (tuple, list)) or not 2 <= len(one) <= 3:
            raise Invalid("matmul_group: product %d is %r: give (a, b) or (a, b, out)"
                          % (number, type(one).__name__))
        c = Planner("matmul_group: product %d" % number, device, target, stream, False)
        c.only_gemm = True
        members.append(_build_matmul(c, *one, **options))
    if not members:
        return []
    on = members[0].stream
    assert on is not None
    for made in members:
        if made.stream is not on:
            raise Unsupported("matmul_group: the arrays belong to libraries with different streams: "
                              "name one with stream=")
        made.enter(on)
    args = (S.iso_gemm_args * len(members))(*(made.args for made in members))
    check(api().iso_gemm_group(on.handle, ctypes.byref(args), len(members)))
    for made in members:
        made.leave(on)
    return [made.result for made in members]


BUILDERS: Dict[str, Callable[..., Operation]] = {
    "matmul": _build_matmul, "gemm": _build_gemm, "gemv": _build_matmul, "syrk": _build_syrk,
    "trsm": _build_trsm,
}
