# SPDX-License-Identifier: Apache-2.0
"""_adjoint.py - Adjoint: a complex matrix that products and solves read transposed and conjugated."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

from ._errors import Invalid

if TYPE_CHECKING:
    from ._array import Array
    from ._device import Device


class Adjoint:
    """The conjugate transpose of a complex array, x.H. Nothing is moved; matmul, gemm, gemv and @
    read it, no other operation does.

    >>> import isomer
    >>> with isomer.open("openmp") as dev:
    ...     x = dev.array([[1j, 2.0]], "complex64")
    ...     (x @ x.H).tolist()
    [[(5+0j)]]
    """

    __slots__ = ("of",)
    __array_priority__ = 100
    __array_ufunc__ = None

    def __init__(self, of: Any) -> None:
        self.of = of

    @property
    def shape(self) -> Tuple[int, ...]:
        """Rows and columns, after the batch."""
        made: Tuple[int, ...] = tuple(self.of.shape)
        return made[:-2] + made[:-3:-1]

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.of.shape)

    @property
    def device(self) -> "Device":
        """The device of the array."""
        made: "Device" = self.of.device
        return made

    @property
    def H(self) -> Any:
        """The array itself."""
        return self.of

    def __matmul__(self, other: Any) -> "Array":
        return self.device.matmul(self, other)

    def __rmatmul__(self, other: Any) -> "Array":
        return self.device.matmul(other, self)

    def __repr__(self) -> str:
        return "%r.H" % (self.of,)


def turned(x: Any) -> Any:
    """The transposed view of the last two dimensions."""
    if len(getattr(x, "shape", ())) < 2:
        raise Invalid("the (conjugate) transpose is of matrices, and the array has the shape %r"
                      % (tuple(getattr(x, "shape", ())),))
    return x.swapaxes(-1, -2) if hasattr(x, "swapaxes") else x.mT


def read(x: Any) -> Tuple[Any, bool]:
    """The view of an operand, and whether its conjugate is meant."""
    return (turned(x.of), True) if isinstance(x, Adjoint) else (x, False)
