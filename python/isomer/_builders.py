# SPDX-License-Identifier: Apache-2.0
"""_builders.py - how arrays become the descriptors of the C calls.

A builder, `_build_NAME`, turns arrays into a descriptor; BUILDERS lists them. Running, supports,
describe, cost, prepare and workspace are the same for all.
"""
from __future__ import annotations

import ctypes
import math as mathematics
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _dtypes, _foreign
from ._abi import ENUMS, E, KINDS, arguments, new, plain
from ._array import Array, new_array, template
from ._errors import Invalid, Unsupported
from ._info import Info
from ._library import api, check
from ._sparse import CSR

if TYPE_CHECKING:
    from ._device import Borrowed, Device
    from ._stream import Stream


def enumerator(enum: str, name: Any) -> int:
    """The value of "tiled", "bits" and so on; None is 0."""
    if name is None:
        return 0
    values = ENUMS["iso_" + enum]
    prefix = "" if enum == "reduce_op" else enum.replace("map_op", "map").upper() + "_"
    found = values.get(prefix + str(name).upper())
    if found is None:
        raise Invalid("%s %r: it is one of %s" % (
            enum, name, ", ".join(key[len(prefix):].lower() for key in values)))
    return found


class Operation:
    """An operation with its arrays, ready to run as often as the program likes: op.run(), or op().

    Device.plan makes it. A loop that runs one saves what checking arrays takes in Python.

    >>> import isomer
    >>> with isomer.open("openmp") as dev:
    ...     x = dev.array([1.0, 2.0])
    ...     double = dev.plan("add", x, x, out=x)
    ...     for _ in range(3):
    ...         _ = double()
    ...     x.tolist(), double.describe().library.split()[0], double.cost().flops
    ([8.0, 16.0], 'isomer', 2.0)
    """

    __slots__ = ("name", "device", "stream", "kind", "args", "result", "_reads", "_writes",
                 "_borrowed", "_templates")

    def __init__(self, name: str, device: "Device", stream: Optional["Stream"], kind: str,
                 args: Any, reads: Sequence[Any], writes: Sequence[Array], result: Any,
                 borrowed: "Borrowed") -> None:
        self.name, self.device, self.stream = name, device, stream
        self.kind, self.args, self.result = KINDS[kind][0], args, result
        self._templates = any(one.memory is None for one in (*reads, *writes))
        self._reads, self._writes, self._borrowed = reads, writes, borrowed

    def run(self) -> Any:
        """Submits it, and returns its result."""
        stream = self.stream
        assert stream is not None
        if self._templates:
            raise Invalid("%s: a template has no memory: it is for supports, describe and cost"
                          % self.name)
        self._borrowed.before(stream)
        for one in self._reads:
            stream.use(one, False)
        for one in self._writes:
            if one.read_only:
                raise Invalid("%s: the result may only be read" % self.name)
            stream.use(one, True)
        check(api().iso_execute(stream.handle, self.kind, ctypes.byref(self.args)))
        self._borrowed.after(stream)
        return self.result

    __call__ = run

    def why_not(self) -> str:
        """Why the device does not have it; "" if it has."""
        status = api().iso_supports(self.device.handle, self.kind, ctypes.byref(self.args))
        if status == E.UNSUPPORTED:
            text: bytes = api().iso_last_error()
            return text.decode("utf-8", "replace")
        check(status)
        return ""

    def supports(self) -> bool:
        """Whether the device has it."""
        return not self.why_not()

    def describe(self) -> Info:
        """How it would run: `variant`, `math`, `library`, `kernel`, `math_reason`."""
        out = new("iso_op_info")
        check(api().iso_describe(self.device.handle, self.kind, ctypes.byref(self.args),
                                 ctypes.byref(out)))
        return Info(**plain(out))

    def cost(self) -> Info:
        """Its work by definition: `flops`, `bytes_read`, `bytes_written`."""
        out = new("iso_cost_info")
        check(api().iso_cost(self.kind, ctypes.byref(self.args), ctypes.byref(out)))
        return Info(**plain(out))

    def workspace(self) -> int:
        """Bytes of scratch memory that it uses on its stream."""
        out = ctypes.c_int64()
        check(api().iso_workspace(self.device.handle, self.kind, ctypes.byref(self.args),
                                  ctypes.byref(out)))
        return out.value

    def prepare(self) -> "Operation":
        """Does the one-time work: opens libraries, builds kernels, allocates scratch memory."""
        assert self.stream is not None
        check(api().iso_prepare(self.stream.handle, self.kind, ctypes.byref(self.args)))
        return self


class Planner:
    """What builders work with: a device and a stream, or only sizes (`dry`)."""

    def __init__(self, name: str, device: Optional["Device"], target: Any, stream: Any,
                 dry: bool) -> None:
        self.name, self.device, self.dry = name, device, dry
        self._target, self._named = target, stream
        self.stream: Optional["Stream"] = None
        self.borrowed: Any = None

    def operands(self, **values: Any) -> List[Any]:
        """Arrays for operands; the name of one that is written ends in "_out", and it may be
        None."""
        for name, value in values.items():
            if value is None and not name.endswith("_out"):
                raise TypeError("%s: %s is None and no array" % (self.name, name))
        names = [name for name, value in values.items() if value is not None]
        given = [(values[name], name.endswith("_out")) for name in names]
        shown = ["%s: %s" % (self.name, "out" if name.endswith("_out") else name)
                 for name in names]
        if self.device is None:
            from ._device import Borrowed
            for (value, _), what in zip(given, shown):
                if not isinstance(value, Array):
                    raise TypeError("%s: give an array of isomer or a template" % what)
            self.borrowed = Borrowed([value for value, _ in given], [], False)
        else:
            self._choose_stream([value for value, _ in given])
            self.borrowed = self.device.borrow(given, self.stream, shown)
        made = dict(zip(names, self.borrowed.arrays))
        return [made.get(name) for name in values]

    def _choose_stream(self, values: Sequence[Any]) -> None:
        if self._named is not None:
            self.stream = self._target.stream_for(self._named)
            return
        native = None
        if self.device is not None and self.device.backend != "openmp":
            for value in values:
                if not isinstance(value, Array) and native is None:
                    found = _foreign.look(value)
                    native = found.stream() if found is not None else None
        self.stream = self._target.pick(native)

    def make(self, shape: Tuple[int, ...], dtype: _dtypes.DType) -> Array:
        """An array for the result."""
        if self.dry or self.device is None:
            return template(shape, dtype, self.device)
        return new_array(self.device, shape, dtype)

    def same_type(self, *arrays: Optional[Array]) -> int:
        """The iso_dtype of all."""
        first = arrays[0]
        assert first is not None
        for other in arrays[1:]:
            if other is not None and other.dtype is not first.dtype:
                raise Invalid("%s: the types %s and %s differ" % (self.name, first.dtype.name,
                                                                  other.dtype.name))
        if not first.dtype.number:
            raise Unsupported("%s: isomer does not compute with %s" % (self.name, first.dtype.name))
        return first.dtype.number

    def done(self, kind: str, args: Any, reads: Sequence[Any], writes: Sequence[Array],
             result: Any = None) -> Operation:
        """The operation."""
        device: Any = self.device
        return Operation(self.name, device, self.stream, kind, args, reads, writes,
                         writes[0] if result is None else result, self.borrowed)

    def wrong(self, text: str, *values: Any) -> Invalid:
        """An exception that begins with the operation's name."""
        return Invalid("%s: %s" % (self.name, text % values if values else text))


# ---- layouts


def _row_major(shape: Sequence[int], step: Sequence[int]) -> Optional[int]:
    """The leading dimension, if a matrix is stored row by row."""
    rows, cols = shape
    if (step[1] == 1 or cols <= 1) and (rows <= 1 or step[0] >= max(cols, 1)):
        return max(step[0], cols, 1) if rows > 1 else max(cols, 1)
    return None


def _matrix(c: Planner, name: str, x: Array) -> Tuple[int, int]:
    """The leading dimension of the last two dimensions, and whether they are transposed."""
    rows, cols = x.shape[-2:]
    ld = _row_major((rows, cols), x.steps[-2:])
    if ld is not None:
        return ld, E.NO_TRANS
    ld = _row_major((cols, rows), x.steps[:-3:-1])
    if ld is not None:
        return ld, E.TRANS
    raise c.wrong("%s has the strides %r, which are neither those of rows that follow each other "
                  "nor of columns: use %s.copy()", name, x.strides, name)


def _increment(c: Planner, name: str, shape: int, step: int) -> int:
    if shape > 1 and step < 1:
        raise c.wrong("%s has the stride %d: use %s.copy()", name, step, name)
    return step if shape > 1 else 1


def _batch(c: Planner, name: str, x: Array, keep: int, batch: Tuple[int, ...]) -> int:
    """The stride of a batch; 0 where all of it shares one matrix."""
    shape, steps = x.shape[:x.ndim - keep], x.steps[:x.ndim - keep]
    if all(extent == 1 for extent in shape):
        return 0
    if shape != batch:
        raise c.wrong("%s has the batch %r, and the result %r: either all or one", name, shape, batch)
    joined: Optional[Tuple[int, int]] = None
    for extent, step in zip(shape, steps):
        if extent == 1:
            continue
        if joined is not None and joined[1] != extent * step:
            raise c.wrong("%s: the matrices of the batch are not evenly spaced: use %s.copy()",
                          name, name)
        joined = (extent, step)
    return joined[1] if joined else 0


def _common_batch(c: Planner, a: Tuple[int, ...], b: Tuple[int, ...]) -> Tuple[int, ...]:
    if mathematics.prod(a) == 1 and len(a) <= len(b):
        return b
    if mathematics.prod(b) == 1 and len(b) <= len(a) or a == b:
        return a
    raise c.wrong("the batches %r and %r differ", a, b)


def _dense(x: Array) -> bool:
    """Whether its elements lie without a gap, in whatever order of dimensions."""
    wanted = 1
    for extent, step in sorted(zip(x.shape, x.steps), key=lambda dim: (dim[1], dim[0])):
        if extent != 1:
            if step != wanted:
                return x.size == 0
            wanted *= extent
    return True


def _choices(args: Any, options: Dict[str, Any]) -> None:
    for name in ("variant", "math", "keep"):
        if name in options:
            setattr(args, name, enumerator(name, options[name]))
    if "library" in options:
        args.library = options["library"]


# ---- builders


def _build_matmul(c: Planner, a: Any, b: Any, out: Any = None, *, alpha: float = 1.0,
                  beta: float = 0.0, continues: bool = False, variant: Any = "auto",
                  math: Any = "default", keep: Any = "default", library: int = 0) -> Operation:
    a, b, out = c.operands(a=a, b=b, c_out=out)
    options = {"variant": variant, "math": math, "keep": keep, "library": library}
    if a.ndim == 1 and b.ndim == 1:
        if (alpha, beta) != (1.0, 0.0):
            raise c.wrong("the product of two vectors has no alpha and beta")
        return _reduction(c, "dot", a, b, out, None, False, variant, keep)
    if b.ndim == 1 or a.ndim == 1:
        del options["math"]
        return _product_vector(c, a, b, out, alpha, beta, options)
    if a.ndim < 2 or b.ndim < 2:
        raise c.wrong("a number is no matrix: use scale")
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    if b.shape[-2] != k:
        raise c.wrong("a is %d x %d and b is %d x %d: a's columns are not b's rows", m, k,
                      b.shape[-2], n)
    batch = _common_batch(c, a.shape[:-2], b.shape[:-2])
    c.same_type(a, b, out)
    if out is None:
        if beta or continues:
            raise c.wrong("beta and continues need out, whose elements are added to")
        out = c.make(batch + (m, n), a.dtype)
    elif out.shape != batch + (m, n):
        raise c.wrong("out is %r, and the product is %r", out.shape, batch + (m, n))
    result = out
    if _matrix(c, "out", out)[1]:  # its transpose is stored row by row
        a, b, out = b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2)
        m, n = n, m
    args = arguments("gemm")
    args.dtype, args.m, args.n, args.k = c.same_type(a, b, out), m, n, k
    args.alpha, args.beta, args.continues = alpha, beta, int(continues)
    args.a, args.b, args.c = a.operand(), b.operand(), out.operand()
    args.lda, args.trans_a = _matrix(c, "a", a)
    args.ldb, args.trans_b = _matrix(c, "b", b)
    args.ldc = _matrix(c, "out", out)[0]
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.m = 1, 0  # nothing to do
    elif args.batch > 1:
        args.stride_a, args.stride_b = _batch(c, "a", a, 2, batch), _batch(c, "b", b, 2, batch)
        args.stride_c = _batch(c, "out", out, 2, batch)
    _choices(args, options)
    return c.done("gemm", args, [a, b], [out], result)


def _product_vector(c: Planner, a: Array, b: Array, out: Optional[Array], alpha: float, beta: float,
                    options: Dict[str, Any]) -> Operation:
    """A matrix times a vector, or a vector times a matrix, which is its transpose times it."""
    matrix, vector = (a, b) if b.ndim == 1 else (b.swapaxes(-1, -2), a)
    m, k = matrix.shape[-2:]
    if vector.shape[0] != k:
        raise c.wrong("the matrix is %d x %d, and the vector has %d elements", *(
            (m, k) if b.ndim == 1 else (k, m)), vector.shape[0])
    batch = matrix.shape[:-2]
    if out is None:
        if beta:
            raise c.wrong("beta needs out, whose elements are added to")
        out = c.make(batch + (m,), a.dtype)
    elif out.shape != batch + (m,):
        raise c.wrong("out is %r, and the product is %r", out.shape, batch + (m,))
    args = arguments("gemv")
    args.dtype, args.m, args.k = c.same_type(a, b, out), m, k
    args.alpha, args.beta = alpha, beta
    args.a, args.x, args.y = matrix.operand(), vector.operand(), out.operand()
    args.lda, args.trans = _matrix(c, "the matrix", matrix)
    args.inc_x = _increment(c, "the vector", k, vector.steps[0])
    args.inc_y = _increment(c, "out", m, out.steps[-1])
    args.batch = mathematics.prod(batch)
    if batch and args.batch == 0:
        args.batch, args.m = 1, 0
    elif args.batch > 1:
        args.stride_a, args.stride_y = _batch(c, "the matrix", matrix, 2, batch), \
            _batch(c, "out", out, 1, batch)
    _choices(args, options)
    return c.done("gemv", args, [matrix, vector], [out])


def _build_gemm(c: Planner, a: Any, b: Any, out: Any = None, *, trans_a: bool = False,
                trans_b: bool = False, **options: Any) -> Operation:
    def turned(x: Any, trans: bool) -> Any:
        if not trans:
            return x
        return x.swapaxes(-1, -2) if hasattr(x, "swapaxes") else x.mT
    return _build_matmul(c, turned(a, trans_a), turned(b, trans_b), out, **options)


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
        ld = _row_major(one.shape, one.steps)
        if ld is None:
            raise c.wrong("%s is not stored row by row: copy() of a transposed view needs no "
                          "transpose", "x" if one is x else "out")
        setattr(args, "ld_" + name, ld)
    _choices(args, {"variant": variant})
    return c.done("transpose", args, [x], [out])


def _reduced_shape(shape: Tuple[int, ...], axis: Optional[int], keepdims: bool) -> Tuple[int, ...]:
    if axis is None:
        return (1,) * len(shape) if keepdims else ()
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1:]


def _layout(c: Planner, x: Array, axis: Optional[int], ordered: bool) -> Tuple[int, int, int, int]:
    """iso_axis, rows, cols and the leading dimension."""
    if axis is None:
        if x.contiguous or _dense(x) and not ordered:
            return E.AXIS_ALL, 1, x.size, 0
        if x.ndim != 1:
            raise c.wrong("the array has gaps between its rows or is transposed: use .copy()")
        axis = 0
    if x.ndim == 1:
        if x.contiguous:
            return E.AXIS_ALL, 1, x.size, 0
        return E.AXIS_0, x.shape[0], 1, _increment(c, "the array", x.shape[0], x.steps[0])
    if x.ndim == 2:
        ld = _row_major(x.shape, x.steps)
        if ld is not None:
            return E.AXIS_0 if axis == 0 else E.AXIS_1, *x.shape, ld
        ld = _row_major(x.shape[::-1], x.steps[::-1])
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


def _reduction(c: Planner, op: str, x: Array, y: Optional[Array], out: Optional[Array],
               axis: Optional[int], keepdims: bool, variant: Any, keep: Any) -> Operation:
    if axis is not None:
        if not -x.ndim <= axis < x.ndim:
            raise c.wrong("axis %d of %d dimensions", axis, x.ndim)
        axis %= x.ndim
    if y is not None and y.shape != x.shape:
        raise c.wrong("the shapes %r and %r differ", x.shape, y.shape)
    args = arguments("reduce")
    args.op, args.dtype = enumerator("reduce_op", op), c.same_type(x, y)
    args.axis, args.rows, args.cols, args.ld_x = _layout(c, x, axis, op in ("argmin", "argmax"))
    args.x = x.operand()
    if y is not None:
        other = _layout(c, y, axis, op in ("argmin", "argmax"))
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
    elif out.shape != shape or out.dtype is not dtype or not out.contiguous:
        raise c.wrong("out must be %r of %s without gaps, and is %r of %s", shape, dtype.name,
                      out.shape, out.dtype.name)
    args.result = out.operand()
    _choices(args, {"variant": variant, "keep": keep})
    return c.done("reduce", args, [x] if y is None else [x, y], [out])


def _build_reduce(op: str) -> Callable[..., Operation]:
    def build(c: Planner, x: Any, axis: Optional[int] = None, out: Any = None, *,
              keepdims: bool = False, variant: Any = "auto", keep: Any = "default") -> Operation:
        x, out = c.operands(x=x, out_out=out)
        return _reduction(c, op, x, None, out, axis, keepdims, variant, keep)
    return build


def _build_dot(c: Planner, x: Any, y: Any, axis: Optional[int] = None, out: Any = None, *,
               keepdims: bool = False, variant: Any = "auto", keep: Any = "default") -> Operation:
    x, y, out = c.operands(x=x, y=y, out_out=out)
    return _reduction(c, "dot", x, y, out, axis, keepdims, variant, keep)


def _map(c: Planner, op: str, x: Any, y: Any, out: Any, variant: Any, alpha: float = 1.0,
         beta: float = 0.0, steps: int = 0) -> Operation:
    if op in ("copy", "scale", "chain"):
        x, out = c.operands(x=x, out_out=out)
    else:
        x, y, out = c.operands(x=x, y=y, out_out=out)
    args = arguments("map")
    args.op, args.dtype, args.n, args.steps = enumerator("map_op", op), c.same_type(x, y, out), \
        x.size, steps
    args.alpha, args.beta = alpha, beta
    if out is None:
        out = c.make(x.shape, x.dtype)
        if not x.contiguous and _dense(x):
            out.steps = x.steps
    for name, one in (("x", x), ("y", y), ("z", out)):
        if one is None:
            continue
        if one.shape != x.shape:
            raise c.wrong("the shapes %r and %r differ", x.shape, one.shape)
        if not _dense(one) or one.steps != x.steps and not (one.contiguous and x.contiguous):
            raise c.wrong("%s has gaps, or is stored in another order than x: use .copy()",
                          "out" if name == "z" else name)
        setattr(args, name, one.operand())
    _choices(args, {"variant": variant})
    return c.done("map", args, [x] if y is None else [x, y], [out])


def _build_copy(c: Planner, x: Any, out: Any = None, *, variant: Any = "auto") -> Operation:
    return _map(c, "copy", x, None, out, variant)


def _build_scale(c: Planner, x: Any, alpha: float, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "scale", x, None, out, variant, alpha)


def _build_add(c: Planner, x: Any, y: Any, out: Any = None, *, variant: Any = "auto") -> Operation:
    return _map(c, "add", x, y, out, variant)


def _build_multiply(c: Planner, x: Any, y: Any, out: Any = None, *,
                    variant: Any = "auto") -> Operation:
    return _map(c, "multiply", x, y, out, variant)


def _build_triad(c: Planner, x: Any, y: Any, alpha: float, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "triad", x, y, out, variant, alpha)


def _build_chain(c: Planner, x: Any, alpha: float, beta: float, steps: int, out: Any = None, *,
                 variant: Any = "auto") -> Operation:
    return _map(c, "chain", x, None, out, variant, alpha, beta, steps)


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
    _choices(args, {"variant": variant, "keep": keep, "library": library})
    return c.done("spmv", args, [x], [out])


# The operations by name: a new one is a builder and its row here, and a method below.
BUILDERS: Dict[str, Callable[..., Operation]] = {
    "matmul": _build_matmul, "gemm": _build_gemm, "gemv": _build_matmul,
    "transpose": _build_transpose,
    "sum": _build_reduce("sum"), "prod": _build_reduce("product"), "min": _build_reduce("min"),
    "max": _build_reduce("max"), "mean": _build_reduce("mean"), "asum": _build_reduce("asum"),
    "norm2": _build_reduce("norm2"), "argmin": _build_reduce("argmin"),
    "argmax": _build_reduce("argmax"), "xor": _build_reduce("xor"), "dot": _build_dot,
    "copy": _build_copy, "scale": _build_scale, "add": _build_add, "multiply": _build_multiply,
    "triad": _build_triad, "chain": _build_chain,
    "spmv": _build_spmv,
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
