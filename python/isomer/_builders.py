# SPDX-License-Identifier: Apache-2.0
"""_builders.py - how arrays become the descriptors of the C calls: transposes and sparse products;
_products.py, _reductions.py and _maps.py have the others.

A builder, `_build_NAME`, turns arrays into a descriptor; BUILDERS lists them.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Sequence

from . import _maps, _products, _reductions
from ._abi import E, arguments
from ._errors import Invalid
from ._info import Info
from ._planner import Operation, Planner, choices, row_major
from ._sparse import CSR

if TYPE_CHECKING:
    from ._device import Device


def _build_transpose(c: Planner, x: Any, out: Any = None, *, variant: Any = "auto") -> Operation:
    x, out = c.operands(x=x, out_out=out)
    if x.ndim != 2:
        raise c.wrong("the array has %d dimensions, not 2", x.ndim)
    rows, cols = x.shape
    if out is None:
        out = c.make((cols, rows), x.dtype)
    if out.shape != (cols, rows):
        raise c.wrong("out is %r, and the transpose is %r", out.shape, (cols, rows))
    if out.dtype is not x.dtype:
        raise c.wrong("the types %s and %s differ", x.dtype.name, out.dtype.name)
    args = arguments("transpose")
    args.element_bytes, args.rows, args.cols = x.itemsize, rows, cols
    setattr(args, "from", x.operand())
    args.to = out.operand()
    for name, one in (("from", x), ("to", out)):
        ld = row_major(one.shape, one.steps)
        if ld is None:
            raise c.wrong("%s is not stored row by row: copy() of a transposed view needs no "
                          "transpose", "x" if one is x else "out")
        setattr(args, "ld_" + name, ld)
    choices(args, {"variant": variant})
    return c.done("transpose", args, [x], [out])


def _build_spmv(c: Planner, matrix: CSR, x: Any, out: Any = None, *, alpha: float = 1.0,
                beta: float = 0.0, variant: Any = "auto", keep: Any = "default",
                library: int = 0) -> Operation:
    x, out = c.operands(x=x, y_out=out)
    rows, cols = matrix.shape
    if x.shape != (cols,):
        raise c.wrong("the matrix is %d x %d, and x is %r", rows, cols, x.shape)
    if out is None:
        if beta:
            raise c.wrong("beta needs out, whose elements are added to")
        out = c.make((rows,), matrix.dtype)
    elif out.shape != (rows,):
        raise c.wrong("out is %r, and the product is %r", out.shape, (rows,))
    for name, one in (("x", x), ("out", out)):
        if one.dtype is not matrix.dtype or not one.contiguous:
            raise c.wrong("%s must be of %s and without gaps", name, matrix.dtype.name)
    args = arguments("spmv")
    args.matrix, args.trans = matrix.handle, E.TRANS if matrix.transposed else E.NO_TRANS
    args.alpha, args.beta, args.x, args.y = alpha, beta, x.operand(), out.operand()
    choices(args, {"variant": variant, "keep": keep, "library": library})
    return c.done("spmv", args, [x], [out])


# The operations by name: a new one is a builder and its row here, and a method below.
BUILDERS: Dict[str, Callable[..., Operation]] = {
    **_products.BUILDERS, **_reductions.BUILDERS, **_maps.BUILDERS,
    "transpose": _build_transpose, "spmv": _build_spmv,
}


def build(name: str, device: Optional["Device"], target: Any, args: Sequence[Any],
          options: Dict[str, Any], dry: bool) -> Operation:
    """The operation of that name."""
    builder = BUILDERS.get(name)
    if builder is None:
        raise Invalid("no operation %r: %s" % (name, ", ".join(sorted(BUILDERS))))
    stream = options.pop("stream", None)
    return builder(Planner(name, device, target, stream, dry), *args, **options)


def cost(name: str, *args: Any, **options: Any) -> Info:
    """The work that an operation takes by its definition, without a device: flops, bytes_read,
    bytes_written. The arrays may be templates.

    >>> import isomer
    >>> x = isomer.template(1000)
    >>> isomer.cost("add", x, x, out=isomer.template(1000)).flops
    1000.0
    """
    return build(name, None, None, args, options, True).cost()
