# SPDX-License-Identifier: Apache-2.0
"""_maps.py - how arrays become the descriptors of maps: shapes are spread as NumPy broadcasts them,
and what is left are rows of elements with a distance."""
from __future__ import annotations

import numbers
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _dtypes
from ._abi import E, arguments
from ._array import Array
from ._planner import Operation, Planner, choices, dense, enumerator, set_factor


def _broadcast(c: Planner, shapes: Sequence[Tuple[int, ...]]) -> Tuple[int, ...]:
    """The shape of the result, by NumPy's rule."""
    made: List[int] = []
    for place in range(1, max(map(len, shapes)) + 1):
        extents = {shape[-place] for shape in shapes if len(shape) >= place} - {1}
        if len(extents) > 1:
            raise c.wrong("the shapes %s differ, and none is spread over the other",
                          " and ".join(map(repr, shapes)))
        made.append(extents.pop() if extents else 1)
    return tuple(reversed(made))


def _steps(x: Array, shape: Tuple[int, ...]) -> List[int]:
    """The distance of its elements along each dimension of the result; 0 where it is spread."""
    missing = len(shape) - x.ndim
    return [0] * missing + [0 if extent == 1 and wanted != 1 else step
                            for extent, step, wanted in zip(x.shape, x.steps, shape[missing:])]


def _joined(c: Planner, shape: Tuple[int, ...],
            steps: Dict[str, List[int]]) -> Tuple[List[int], Dict[str, List[int]]]:
    """At most two dimensions with the same elements: dimensions without a gap between them are one.
    The result's order is what counts."""
    order = sorted((i for i, extent in enumerate(shape) if extent != 1),
                   key=lambda i: -steps["z"][i])
    extents: List[int] = []
    made: Dict[str, List[int]] = {name: [] for name in steps}
    for i in order:
        if extents and all(made[name][-1] == shape[i] * steps[name][i] for name in steps):
            extents[-1] *= shape[i]
            for name in steps:
                made[name][-1] = steps[name][i]
            continue
        extents.append(shape[i])
        for name in steps:
            made[name].append(steps[name][i])
    if len(extents) > 2:
        raise c.wrong("the arrays have %d dimensions with gaps or spreading between them, and two "
                      "are possible: .copy() one, or work on a slice at a time", len(extents))
    while len(extents) < 2:
        extents.insert(0, 1)
        for one in made.values():
            one.insert(0, 0)
    return extents, made


def _place(c: Planner, args: Any, name: str, x: Array, steps: List[int], rows: int,
           cols: int) -> None:
    """Sets an operand, its distances and how it is spread."""
    if any(step < 0 for step in steps):
        raise c.wrong("%s has the strides %r: negative ones are not possible: .copy() it", name,
                      x.strides)
    setattr(args, name, x.operand())
    down, along = steps
    spread_down, spread_along = rows > 1 and down == 0, cols > 1 and along == 0
    if name == "z":
        if spread_down or spread_along:
            raise c.wrong("out has elements that share their memory (strides %r)", x.strides)
    elif (rows == 1 or spread_down) and spread_along:
        setattr(args, "spread_" + name, E.SPREAD_ONE)
        return
    elif spread_along:
        setattr(args, "spread_" + name, E.SPREAD_COLUMN)
        setattr(args, "inc_" + name, down)
        return
    elif spread_down:
        setattr(args, "spread_" + name, E.SPREAD_ONE if cols == 1 else E.SPREAD_ROW)
    setattr(args, "inc_" + name, along if cols > 1 else 1)
    if rows > 1 and not spread_down:
        setattr(args, "ld_" + name, down)


def _numbers(c: Planner, read: Dict[str, Any]) -> Dict[str, Array]:
    """The operands; a number becomes an array of one element of the others' type."""
    arrays = [x for x in read.values() if isinstance(x, Array)]
    if not arrays:
        raise TypeError("%s: no operand is an array" % c.name)
    dtype = arrays[0].dtype
    for name, value in read.items():
        if isinstance(value, Array):
            continue
        if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real) and \
                not dtype.is_complex:
            raise c.wrong("%s is %r, and the elements are real (%s)", name, value, dtype.name)
        if not dtype.is_float and not dtype.is_complex and int(value) != value:
            raise c.wrong("%s is %r, and the elements are whole numbers (%s)", name, value,
                          dtype.name)
        one = c.make((), dtype)
        read[name] = one if one.memory is None else one.fill(value, stream=c.stream)
    return read


def _map(c: Planner, op: str, read: Dict[str, Any], out: Any, variant: Any, alpha: Any = 1.0,
         beta: Any = 0.0, steps: int = 0, dtype: Any = None) -> Operation:
    names = list(read)
    *given, out, alpha, beta = c.operands(**read, z_out=out, alpha=alpha, beta=beta)
    arrays = _numbers(c, dict(zip(names, given)))
    x = arrays["x"]
    kind = x.dtype if dtype is None else _dtypes.get(dtype)
    if op == "convert" and out is not None and dtype is None:
        kind = out.dtype
    shape = _broadcast(c, [one.shape for one in arrays.values()])
    if out is not None and out.shape != shape:
        if _broadcast(c, [shape, out.shape]) != out.shape:
            raise c.wrong("out is %r, and the shape of the result is %r", out.shape, shape)
        shape = out.shape
    if out is None:
        out = c.make(shape, kind)
        like = next((one for one in arrays.values() if one.shape == shape), None)
        if like is not None and not like.contiguous and dense(like):
            out.steps = like.steps
    args, reads = arguments("map"), list(arrays.values())
    args.op = enumerator("map_op", op)
    args.dtype = c.same_type(*arrays.values(), *([] if op == "convert" else [out]))
    if op == "convert":
        c.same_type(out)
        args.dtype_z = out.dtype.number
        if kind is not out.dtype:
            raise c.wrong("dtype is %s, and out is of %s", kind.name, out.dtype.name)
    args.steps = steps
    set_factor(c, args, reads, "alpha", alpha, x.dtype)
    set_factor(c, args, reads, "beta", beta, x.dtype)
    every = {**arrays, "z": out}
    if out.size == 0:
        args.n = 0
    else:
        (args.rows, args.n), distances = _joined(
            c, shape, {name: _steps(one, shape) for name, one in every.items()})
        for name, one in every.items():
            _place(c, args, name, one, distances[name], args.rows, args.n)
    choices(args, {"variant": variant})
    return c.done("map", args, reads, [out])


def _unary(op: str) -> Callable[..., Operation]:
    def build(c: Planner, x: Any, out: Any = None, *, variant: Any = "auto") -> Operation:
        return _map(c, op, {"x": x}, out, variant)
    return build


def _binary(op: str) -> Callable[..., Operation]:
    def build(c: Planner, x: Any, y: Any, out: Any = None, *, variant: Any = "auto") -> Operation:
        return _map(c, op, {"x": x, "y": y}, out, variant)
    return build


def _build_scale(c: Planner, x: Any, alpha: Any, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "scale", {"x": x}, out, variant, alpha)


def _build_triad(c: Planner, x: Any, y: Any, alpha: Any, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "triad", {"x": x, "y": y}, out, variant, alpha)


def _build_axpby(c: Planner, x: Any, y: Any, alpha: Any, beta: Any, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "axpby", {"x": x, "y": y}, out, variant, alpha, beta)


def _build_fma(c: Planner, x: Any, y: Any, w: Any, out: Any = None, *,
               variant: Any = "auto") -> Operation:
    return _map(c, "fma", {"x": x, "y": y, "w": w}, out, variant)


def _build_chain(c: Planner, x: Any, alpha: Any, beta: Any, steps: int, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "chain", {"x": x}, out, variant, alpha, beta, steps)


def _build_convert(c: Planner, x: Any, dtype: Optional[object] = None, out: Any = None, *,
                   variant: Any = "auto") -> Operation:
    if dtype is None and out is None:
        raise c.wrong("give dtype, or out")
    return _map(c, "convert", {"x": x}, out, variant, dtype=dtype)


BUILDERS: Dict[str, Callable[..., Operation]] = {
    "scale": _build_scale, "triad": _build_triad, "axpby": _build_axpby, "fma": _build_fma,
    "chain": _build_chain, "convert": _build_convert, "minimum": _binary("min"),
    "maximum": _binary("max"),
    **{name: _unary(name) for name in ("copy", "abs", "negate", "relu", "exp", "tanh")},
    **{name: _binary(name) for name in ("add", "subtract", "multiply", "divide")},
}
