# SPDX-License-Identifier: Apache-2.0
"""_planner.py - what builders of operations share. Running, supports, describe, cost, prepare and
workspace are the same for all; layouts of arrays become leading dimensions, strides and flags."""
from __future__ import annotations

import ctypes
import math as mathematics
import numbers
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _dtypes, _foreign
from ._abi import ENUMS, E, KINDS, new, plain
from ._array import Array, new_array, template
from ._errors import Invalid, Unsupported
from ._info import Info
from ._library import api, check

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
                 "_borrowed", "_templates", "before")

    def __init__(self, name: str, device: "Device", stream: Optional["Stream"], kind: str,
                 args: Any, reads: Sequence[Any], writes: Sequence[Array], result: Any,
                 borrowed: "Borrowed") -> None:
        self.name, self.device, self.stream = name, device, stream
        self.kind, self.args, self.result = KINDS[kind][0], args, result
        self._templates = any(one.memory is None for one in (*reads, *writes))
        self._reads, self._writes, self._borrowed = reads, writes, borrowed
        self.before: Optional[Callable[["Stream"], Any]] = None  # what each run does first

    def run(self) -> Any:
        """Submits it, and returns its result."""
        stream = self.stream
        assert stream is not None
        self.enter(stream)
        check(api().iso_execute(stream.handle, self.kind, ctypes.byref(self.args)))
        self.leave(stream)
        return self.result

    def enter(self, stream: "Stream") -> None:
        """What is done before it is submitted: the stream waits for users of its arrays."""
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
        if self.before is not None:
            self.before(stream)

    def leave(self, stream: "Stream") -> None:
        """What is done after it was submitted."""
        self._borrowed.after(stream)

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
        self.only_gemm = False  # products of vectors are described as those of matrices too
        self._target, self._named = target, stream
        self.stream: Optional["Stream"] = None
        self.borrowed: Any = None

    def operands(self, **values: Any) -> List[Any]:
        """Arrays for operands; the name of one that is written ends in "_out", and it may be
        None. Numbers stay numbers."""
        plain_numbers = {name: value for name, value in values.items()
                         if isinstance(value, numbers.Number)}
        every, values = values, {name: value for name, value in values.items()
                                 if name not in plain_numbers}
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
        made.update(plain_numbers)
        return [made.get(name) for name in every]

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


def is_zero(factor: Any) -> bool:
    """Whether a factor is 0 as far as the host knows."""
    return not isinstance(factor, Array) and factor == 0


def set_factor(c: Planner, args: Any, reads: List[Any], name: str, value: Any,
               dtype: _dtypes.DType) -> None:
    """alpha or beta: a number, or an array of one element, which is read on the device."""
    if isinstance(value, Array):
        real = {"c64": "f32", "c128": "f64"}.get(value.dtype.name, value.dtype.name)
        if value.size != 1 or value.dtype.is_complex != dtype.is_complex or \
                not _dtypes.OWN[real].is_float:
            raise c.wrong("%s is an array of %d elements of %s: it must be one element, %s", name,
                          value.size, value.dtype.name,
                          "complex" if dtype.is_complex else "of a floating-point type")
        number = _dtypes.OWN[real].number
        if args.factor_dtype not in (0, number):
            raise c.wrong("alpha and beta are arrays of different types")
        args.factor_dtype = number
        setattr(args, name + "_at", value.operand())
        reads.append(value)
        return
    if not isinstance(value, numbers.Number):
        raise TypeError("%s: %s is a %s: give a number or an array of one element"
                        % (c.name, name, type(value).__name__))
    whole = complex(value)  # type: ignore[call-overload]
    if whole.imag and not dtype.is_complex:
        raise c.wrong("%s is %r, and the elements are real (%s)", name, value, dtype.name)
    if dtype.is_complex:
        setattr(args, name + "_imag", whole.imag)
    setattr(args, name, whole.real)


def row_major(shape: Sequence[int], step: Sequence[int]) -> Optional[int]:
    """The leading dimension, if a matrix is stored row by row."""
    rows, cols = shape
    if (step[1] == 1 or cols <= 1) and (rows <= 1 or step[0] >= max(cols, 1)):
        return max(step[0], cols, 1) if rows > 1 else max(cols, 1)
    return None


def matrix(c: Planner, name: str, x: Array, conj: bool = False) -> Tuple[int, int]:
    """The leading dimension of the last two dimensions, and whether they are transposed. With
    conj the conjugate is meant, which the library has of transposed ones."""
    rows, cols = x.shape[-2:]
    if conj:
        ld = row_major((cols, rows), x.steps[:-3:-1])
        if ld is None:
            raise c.wrong("%s is a conjugate of a matrix that is stored by columns here: .copy() "
                          "the array first and take its .H, or give an out that is stored by rows",
                          name)
        return ld, E.CONJ_TRANS
    ld = row_major((rows, cols), x.steps[-2:])
    if ld is not None:
        return ld, E.NO_TRANS
    ld = row_major((cols, rows), x.steps[:-3:-1])
    if ld is not None:
        return ld, E.TRANS
    raise c.wrong("%s has the strides %r, which are neither those of rows that follow each other "
                  "nor of columns: use %s.copy()", name, x.strides, name)


def increment(c: Planner, name: str, shape: int, step: int) -> int:
    if shape > 1 and step < 1:
        raise c.wrong("%s has the stride %d: use %s.copy()", name, step, name)
    return step if shape > 1 else 1


def batch_stride(c: Planner, name: str, x: Array, keep: int, batch: Tuple[int, ...]) -> int:
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


def common_batch(c: Planner, a: Tuple[int, ...], b: Tuple[int, ...]) -> Tuple[int, ...]:
    if mathematics.prod(a) == 1 and len(a) <= len(b):
        return b
    if mathematics.prod(b) == 1 and len(b) <= len(a) or a == b:
        return a
    raise c.wrong("the batches %r and %r differ", a, b)


def even_step(x: Array) -> Optional[int]:
    """The distance of its elements, if that is the same for all in their order."""
    joined: Optional[int] = None
    extent = 1
    for size, step in reversed(tuple(zip(x.shape, x.steps))):
        if size == 1:
            continue
        if joined is None:
            joined = step
        elif step != joined * extent:
            return None
        extent *= size
    return 1 if joined is None else joined if joined > 0 else None


def dense(x: Array) -> bool:
    """Whether its elements lie without a gap, in whatever order of dimensions."""
    wanted = 1
    for extent, step in sorted(zip(x.shape, x.steps), key=lambda dim: (dim[1], dim[0])):
        if extent != 1:
            if step != wanted:
                return x.size == 0
            wanted *= extent
    return True


def choices(args: Any, options: Dict[str, Any]) -> None:
    for name in ("variant", "math", "keep"):
        if name in options:
            setattr(args, name, enumerator(name, options[name]))
    if "library" in options:
        args.library = options["library"]


