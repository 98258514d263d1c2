# SPDX-License-Identifier: Apache-2.0
"""_operations.py - every operation, as a method of devices and streams."""
from __future__ import annotations

from typing import Any, Optional

from ._array import Array
from ._builders import Operation, build
from ._info import Info
from ._sparse import CSR


class Operations:
    """The operations, which devices and streams have. Arrays are of isomer, or of NumPy, CuPy,
    PyTorch, JAX and others whose memory is on the device; those are used where they lie. `out` is
    the array for the result, else a new one is made. All take stream=, and most

    variant   "auto", "naive", "tiled", "vendor", "fixed" (products), "partials" (reductions)
    keep      what auto keeps: "bits", "terms" or "scale"
    """

    device: Any

    def plan(self, name: str, *args: Any, **options: Any) -> Operation:
        """An operation that is ready to run: plan("matmul", a, b, out=c).run()."""
        return build(name, self.device, self, args, options, False)

    def _do(self, name: str, *args: Any, **options: Any) -> Array:
        made: Array = build(name, self.device, self, args, options, False).run()
        return made

    # ---- questions

    def supports(self, name: str, *args: Any, **options: Any) -> bool:
        """Whether the device has an operation: supports("matmul", a, b, variant="fixed"). The
        arrays may be templates; nothing is computed."""
        return build(name, self.device, self, args, options, True).supports()

    def describe(self, name: str, *args: Any, **options: Any) -> Info:
        """How it would run: `variant`, `math`, `library`, `kernel`."""
        return build(name, self.device, self, args, options, True).describe()

    def cost(self, name: str, *args: Any, **options: Any) -> Info:
        """Its work by definition: `flops`, `bytes_read`, `bytes_written`."""
        return build(name, self.device, self, args, options, True).cost()

    # ---- products

    def matmul(self, a: Any, b: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0,
               continues: bool = False, variant: str = "auto", math: str = "default",
               keep: str = "default", library: int = 0, stream: Any = None) -> Array:
        """alpha * a @ b + beta * out. Of two matrices, of batches of them (as numpy.matmul has
        them), of a matrix and a vector, or of two vectors. Transposed views are read as they are.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     a, b = dev.full((2, 3), 1, "f32"), dev.full((3, 2), 2, "f32")
        ...     dev.matmul(a, b, keep="bits").tolist()
        [[6.0, 6.0], [6.0, 6.0]]
        """
        options = {} if a is None or getattr(b, "ndim", 2) == 1 and getattr(a, "ndim", 2) == 1 \
            else {"continues": continues, "library": library}
        return self._do("matmul", a, b, out, alpha=alpha, beta=beta, variant=variant, math=math,
                        keep=keep, stream=stream, **options)

    def gemm(self, a: Any, b: Any, out: Any = None, *, trans_a: bool = False,
             trans_b: bool = False, **options: Any) -> Array:
        """matmul with flags that read a or b transposed, as BLAS has it."""
        return self._do("gemm", a, b, out, trans_a=trans_a, trans_b=trans_b, **options)

    def gemv(self, a: Any, x: Any, out: Any = None, **options: Any) -> Array:
        """alpha * a @ x + beta * out, of a matrix and a vector."""
        return self._do("gemv", a, x, out, **options)

    def spmv(self, matrix: CSR, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0,
             **options: Any) -> Array:
        """alpha * matrix @ x + beta * out, of a sparse matrix (Device.csr) or its .T."""
        return self._do("spmv", matrix, x, out, alpha=alpha, beta=beta, **options)

    # ---- elements

    def transpose(self, x: Any, out: Any = None, *, variant: str = "auto",
                  stream: Any = None) -> Array:
        """The transpose of a matrix, moved. (x.T is a view.)"""
        return self._do("transpose", x, out, variant=variant, stream=stream)

    def copy(self, x: Any, out: Any = None, **options: Any) -> Array:
        """out = x, by a map: arrays without gaps. Array.copy takes any."""
        return self._do("copy", x, out, **options)

    def scale(self, x: Any, alpha: float, out: Any = None, **options: Any) -> Array:
        """alpha * x"""
        return self._do("scale", x, alpha, out, **options)

    def add(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x + y"""
        return self._do("add", x, y, out, **options)

    def multiply(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x * y, element by element"""
        return self._do("multiply", x, y, out, **options)

    def triad(self, x: Any, y: Any, alpha: float, out: Any = None, **options: Any) -> Array:
        """x + alpha * y, rounded once"""
        return self._do("triad", x, y, alpha, out, **options)

    def chain(self, x: Any, alpha: float, beta: float, steps: int, out: Any = None,
              **options: Any) -> Array:
        """r = x, then `steps` times r = r * alpha + beta, each rounded once"""
        return self._do("chain", x, alpha, beta, steps, out, **options)

    # ---- reductions: of all elements, or along one axis

    def sum(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The sum of all elements, or along an axis; keepdims=True keeps that dimension.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     x = dev.array([[1.0, 2.0], [3.0, 4.0]])
        ...     float(dev.sum(x)), dev.sum(x, axis=0).tolist(), dev.norm2(x[0]).item()
        (10.0, [4.0, 6.0], 2.23606797749979)
        """
        return self._do("sum", x, axis, out, **options)

    def prod(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The product of the elements."""
        return self._do("prod", x, axis, out, **options)

    def min(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The least element."""
        return self._do("min", x, axis, out, **options)

    def max(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The largest element."""
        return self._do("max", x, axis, out, **options)

    def mean(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The mean; of integers it is f64."""
        return self._do("mean", x, axis, out, **options)

    def asum(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The sum of magnitudes."""
        return self._do("asum", x, axis, out, **options)

    def norm2(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The square root of the sum of squares."""
        return self._do("norm2", x, axis, out, **options)

    def argmin(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The place of the least element, i64."""
        return self._do("argmin", x, axis, out, **options)

    def argmax(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The place of the largest element, i64."""
        return self._do("argmax", x, axis, out, **options)

    def xor(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The exclusive or of the bits of integers: a checksum."""
        return self._do("xor", x, axis, out, **options)

    def dot(self, x: Any, y: Any, axis: Optional[int] = None, out: Any = None,
            **options: Any) -> Array:
        """The sum of x[i] * y[i]: of all elements, or along an axis."""
        return self._do("dot", x, y, axis, out, **options)

