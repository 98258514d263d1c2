# SPDX-License-Identifier: Apache-2.0
"""_arithmetic.py - operators of arrays, and the reductions that are methods of them."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _foreign

if TYPE_CHECKING:
    from ._array import Array
    from ._device import Device
    from ._dtypes import DType


def _add(x: Any, y: Any, out: Any = None) -> Any:
    return x.device.add(x, y, out=out)


def _add_number(x: Any, value: Any, out: Any = None) -> Any:
    # Of floating-point types it needs no second operand, and has the same bits.
    if x.dtype.is_float:
        return x.device.chain(x, alpha=1.0, beta=value, steps=1, out=out)
    return x.device.add(x, value, out=out)


def _times_number(x: Any, value: Any, out: Any = None) -> Any:
    if x.dtype.is_float:
        return x.device.scale(x, value, out=out)
    return x.device.multiply(x, value, out=out)


def _divide(x: Any, y: Any, out: Any = None) -> Any:
    return x.device.divide(x, y, out=out)


class Arithmetic:
    """What Array takes over: + - * / @, abs, and methods of reductions."""

    __slots__ = ()
    device: "Device"
    dtype: "DType"

    def _other(self, other: Any, with_array: Callable[[Any, Any], Any],
               with_number: Optional[Callable[[Any, Any], Any]]) -> Any:
        if isinstance(other, numbers.Number):
            return NotImplemented if with_number is None else with_number(self, other)
        if isinstance(other, Arithmetic) or _foreign.look(other) is not None:
            return with_array(self, other)
        return NotImplemented

    def __matmul__(self, other: Any) -> "Array":
        return self.device.matmul(self, other)

    def __rmatmul__(self, other: Any) -> "Array":
        return self.device.matmul(other, self)

    def __add__(self, other: Any) -> "Array":
        made: "Array" = self._other(other, _add, _add_number)
        return made

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Array":
        made: "Array" = self._other(
            other, lambda x, y: x.device.subtract(x, y),
            lambda x, value: _add_number(x, -value))
        return made

    def __rsub__(self, other: Any) -> "Array":
        made: "Array" = self._other(
            other, lambda y, x: y.device.subtract(x, y),
            lambda x, value: x.device.chain(x, alpha=-1.0, beta=value, steps=1)
            if x.dtype.is_float else x.device.subtract(value, x))
        return made

    def __mul__(self, other: Any) -> "Array":
        made: "Array" = self._other(other, lambda x, y: x.device.multiply(x, y), _times_number)
        return made

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Array":
        made: "Array" = self._other(other, _divide, _divide)
        return made

    def __rtruediv__(self, other: Any) -> "Array":
        made: "Array" = self._other(other, lambda y, x: y.device.divide(x, y),
                                    lambda y, value: y.device.divide(value, y))
        return made

    def __neg__(self) -> "Array":
        return self.device.negate(self)

    def __abs__(self) -> "Array":
        return self.device.abs(self)

    def __iadd__(self, other: Any) -> Any:
        return self._other(other, lambda x, y: _add(x, y, x),
                           lambda x, value: _add_number(x, value, x))

    def __isub__(self, other: Any) -> Any:
        return self._other(other, lambda x, y: x.device.subtract(x, y, out=x),
                           lambda x, value: _add_number(x, -value, x))

    def __imul__(self, other: Any) -> Any:
        return self._other(other, lambda x, y: x.device.multiply(x, y, out=x),
                           lambda x, value: _times_number(x, value, x))

    def __itruediv__(self, other: Any) -> Any:
        return self._other(other, lambda x, y: _divide(x, y, x),
                           lambda x, value: _divide(x, value, x))

    def astype(self, dtype: object, **options: Any) -> "Array":
        """A new array with the elements in another type; see Device.convert."""
        return self.device.convert(self, dtype, **options)

    def sum(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The sum; see Device.sum."""
        return self.device.sum(self, axis, **options)

    def prod(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The product of the elements."""
        return self.device.prod(self, axis, **options)

    def min(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The least element."""
        return self.device.min(self, axis, **options)

    def max(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The largest element."""
        return self.device.max(self, axis, **options)

    def mean(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The mean."""
        return self.device.mean(self, axis, **options)

    def argmin(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The place of the least element, i64."""
        return self.device.argmin(self, axis, **options)

    def argmax(self, axis: Optional[int] = None, **options: Any) -> "Array":
        """The place of the largest element, i64."""
        return self.device.argmax(self, axis, **options)

    def dot(self, other: Any, **options: Any) -> "Array":
        """The product of two vectors, or of matrices, as numpy.dot has it up to two dimensions."""
        return self.device.matmul(self, other, **options)
