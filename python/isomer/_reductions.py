# SPDX-License-Identifier: Apache-2.0
"""_reductions.py - how arrays become the descriptors of reductions."""
from __future__ import annotations

import ctypes
import math as mathematics
from typing import Any, Callable, Dict, Optional, Tuple

from . import _dtypes
from ._abi import E, arguments
from ._array import Array
from ._errors import Unsupported
from ._library import api, check
from ._planner import (Operation, Planner, choices, dense, enumerator, even_step, increment,
                       row_major)

# Reductions whose results depend on the order of elements.
ORDERED = ("argmin", "argmax", "argamax")


def _reduced_shape(shape: Tuple[int, ...], axis: Optional[int], keepdims: bool) -> Tuple[int, ...]:
    if axis is None:
        return (1,) * len(shape) if keepdims else ()
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1:]


def _layout(c: Planner, x: Array, axis: Optional[int], ordered: bool) -> Tuple[int, int, int, int]:
    """iso_axis, rows, cols and the leading dimension."""
    if axis is None:
        if x.contiguous or dense(x) and not ordered:
            return E.AXIS_ALL, 1, x.size, 0
        if x.ndim != 1:
            raise c.wrong("the array has gaps between its rows or is transposed: use .copy()")
        axis = 0
    if x.ndim == 1:
        if x.contiguous:
            return E.AXIS_ALL, 1, x.size, 0
        return E.AXIS_0, x.shape[0], 1, increment(c, "the array", x.shape[0], x.steps[0])
    if x.ndim == 2:
        ld = row_major(x.shape, x.steps)
        if ld is not None:
            return E.AXIS_0 if axis == 0 else E.AXIS_1, *x.shape, ld
        ld = row_major(x.shape[::-1], x.steps[::-1])
        if ld is not None:
            return E.AXIS_1 if axis == 0 else E.AXIS_0, *x.shape[::-1], ld
    if not x.contiguous:
        raise c.wrong("the array has gaps between its rows or is transposed: use .copy()")
    if axis == 0:
        return E.AXIS_0, x.shape[0], mathematics.prod(x.shape[1:]), 0
    if axis == x.ndim - 1:
        return E.AXIS_1, mathematics.prod(x.shape[:-1]), x.shape[-1], 0
    raise Unsupported("%s: axis %d of %d dimensions: only the first and the last one are reduced"
                      % (c.name, axis, x.ndim))


def reduction(c: Planner, op: str, x: Array, y: Optional[Array], out: Optional[Array],
               axis: Optional[int], keepdims: bool, variant: Any, keep: Any) -> Operation:
    if axis is not None:
        if not -x.ndim <= axis < x.ndim:
            raise c.wrong("axis %d of %d dimensions", axis, x.ndim)
        axis %= x.ndim
    if y is not None and y.shape != x.shape:
        raise c.wrong("the shapes %r and %r differ", x.shape, y.shape)
    args = arguments("reduce")
    args.op, args.dtype = enumerator("reduce_op", op), c.same_type(x, y)
    args.axis, args.rows, args.cols, args.ld_x = _layout(c, x, axis, op in ORDERED)
    args.x = x.operand()
    if y is not None:
        other = _layout(c, y, axis, op in ORDERED)
        if other[:3] != (args.axis, args.rows, args.cols) or \
                axis is None and args.axis == E.AXIS_ALL and x.steps != y.steps and x.size > 1 and \
                not (x.contiguous and y.contiguous):
            raise c.wrong("one is stored by rows and the other by columns: use .copy()")
        args.y, args.ld_y = y.operand(), other[3]
    number = ctypes.c_int()
    check(api().iso_reduce_result(args.op, args.dtype, ctypes.byref(number)))
    dtype, shape = _dtypes.of_number(number.value), _reduced_shape(x.shape, axis, keepdims)
    if out is None:
        out = c.make(shape, dtype)
    step = even_step(out)
    if out.shape != shape or out.dtype is not dtype or step is None:
        raise c.wrong("out must be %r of %s with elements the same distance apart, and is %r of %s "
                      "with the strides %r", shape, dtype.name, out.shape, out.dtype.name,
                      out.strides)
    args.result, args.inc_result = out.operand(), step
    choices(args, {"variant": variant, "keep": keep})
    return c.done("reduce", args, [x] if y is None else [x, y], [out])


def _build_reduce(op: str) -> Callable[..., Operation]:
    def build(c: Planner, x: Any, axis: Optional[int] = None, out: Any = None, *,
              keepdims: bool = False, variant: Any = "auto", keep: Any = "default") -> Operation:
        x, out = c.operands(x=x, out_out=out)
        return reduction(c, op, x, None, out, axis, keepdims, variant, keep)
    return build


def _build_dot(c: Planner, x: Any, y: Any, axis: Optional[int] = None, out: Any = None, *,
               keepdims: bool = False, variant: Any = "auto", keep: Any = "default") -> Operation:
    x, y, out = c.operands(x=x, y=y, out_out=out)
    return reduction(c, "dot", x, y, out, axis, keepdims, variant, keep)


BUILDERS: Dict[str, Callable[..., Operation]] = {
    "sum": _build_reduce("sum"), "prod": _build_reduce("product"), "min": _build_reduce("min"),
    "max": _build_reduce("max"), "mean": _build_reduce("mean"), "asum": _build_reduce("asum"),
    "norm2": _build_reduce("norm2"), "argmin": _build_reduce("argmin"),
    "argmax": _build_reduce("argmax"), "amax": _build_reduce("amax"),
    "argamax": _build_reduce("argamax"), "xor": _build_reduce("xor"), "dot": _build_dot,
}
