# SPDX-License-Identifier: Apache-2.0
"""_operations.py - every operation, as a method of devices and streams."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

from ._array import Array
from ._builders import build
from ._info import Info
from ._planner import Operation
from ._products import group
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

    def matmul(self, a: Any, b: Any, out: Any = None, *, alpha: Any = 1.0, beta: Any = 0.0,
               dtype: Any = None, continues: bool = False, variant: str = "auto",
               math: str = "default", keep: str = "default", library: int = 0,
               stream: Any = None) -> Array:
        """alpha * a @ b + beta * out. Of two matrices, of batches of them (as numpy.matmul has
        them), of a matrix and a vector, or of two vectors. Transposed views and arrays that are
        stored by columns are read as they are, and x.H conjugated. dtype="f32" is for results of
        f16 and bf16; of int8 the result is int32. alpha and beta are numbers, or arrays of one
        element, which are read on the device.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     a, b = dev.full((2, 3), 1, "f32"), dev.full((3, 2), 2, "f32")
        ...     dev.matmul(a, b, keep="bits").tolist()
        [[6.0, 6.0], [6.0, 6.0]]
        """
        return self._do("matmul", a, b, out, alpha=alpha, beta=beta, dtype=dtype,
                        continues=continues, variant=variant, math=math, keep=keep,
                        library=library, stream=stream)

    def gemm(self, a: Any, b: Any, out: Any = None, *, trans_a: Any = False,
             trans_b: Any = False, **options: Any) -> Array:
        """matmul with flags that read a or b transposed, as BLAS has it: True, or "c" for the
        conjugate transpose."""
        return self._do("gemm", a, b, out, trans_a=trans_a, trans_b=trans_b, **options)

    def matmul_group(self, products: Sequence[Any], *, stream: Any = None,
                     **options: Any) -> List[Array]:
        """Products of unlike sizes by one call: a list of (a, b) or (a, b, out), and the options of
        matmul for all. Neighbours that are alike run as one batch. A list of results.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     a, b = dev.full((2, 3), 1.0), dev.full((3, 1), 2.0)
        ...     [c.tolist() for c in dev.matmul_group([(a, b), (b, b.T)])]
        [[[6.0], [6.0]], [[4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0]]]
        """
        return group(self.device, self, products, stream, options)

    def gemv(self, a: Any, x: Any, out: Any = None, **options: Any) -> Array:
        """alpha * a @ x + beta * out, of a matrix and a vector."""
        return self._do("gemv", a, x, out, **options)

    def syrk(self, a: Any, out: Any = None, *, lower: bool = True, trans: bool = False,
             **options: Any) -> Array:
        """alpha * a @ a.T + beta * out, the lower or the upper triangle; with trans a.T @ a. The
        other triangle of out stays, and is 0 in a new array."""
        return self._do("syrk", a, out, lower=lower, trans=trans, **options)

    def trsm(self, a: Any, b: Any, out: Any = None, *, side: str = "left", lower: bool = True,
             trans: Any = False, unit_diagonal: bool = False, **options: Any) -> Array:
        """The x of a @ x = alpha * b, or with side="right" of x @ a = alpha * b, where a is
        triangular: only its lower (or upper) triangle is read. trans is True for a.T and "c" for
        a.H. With out=b, x takes the place of b.

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     a, b = dev.array([[2.0, 0.0], [1.0, 4.0]]), dev.array([[2.0], [9.0]])
        ...     dev.trsm(a, b).tolist()
        [[1.0], [2.0]]
        """
        return self._do("trsm", a, b, out, side=side, lower=lower, trans=trans,
                        unit_diagonal=unit_diagonal, **options)

    def spmv(self, matrix: CSR, x: Any, out: Any = None, *, alpha: float = 1.0, beta: float = 0.0,
             **options: Any) -> Array:
        """alpha * matrix @ x + beta * out, of a sparse matrix (Device.csr) or its .T."""
        return self._do("spmv", matrix, x, out, alpha=alpha, beta=beta, **options)

    # ---- elements

    def transpose(self, x: Any, out: Any = None, *, variant: str = "auto",
                  stream: Any = None) -> Array:
        """The transpose of a matrix, moved. (x.T is a view.)"""
        return self._do("transpose", x, out, variant=variant, stream=stream)

    # Shapes are spread as NumPy broadcasts them: a row, a column, one element or a number.

    def copy(self, x: Any, out: Any = None, **options: Any) -> Array:
        """out = x, by a map, which spreads x over out. Array.copy takes more layouts."""
        return self._do("copy", x, out, **options)

    def scale(self, x: Any, alpha: Any, out: Any = None, **options: Any) -> Array:
        """alpha * x"""
        return self._do("scale", x, alpha, out, **options)

    def add(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x + y

        >>> import isomer
        >>> with isomer.open("openmp") as dev:
        ...     x, bias = dev.array([[1.0, 2.0], [3.0, 4.0]]), dev.array([10.0, 20.0])
        ...     dev.add(x, bias).tolist(), dev.add(x, bias[:, None]).tolist()
        ([[11.0, 22.0], [13.0, 24.0]], [[11.0, 12.0], [23.0, 24.0]])
        """
        return self._do("add", x, y, out, **options)

    def subtract(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x - y"""
        return self._do("subtract", x, y, out, **options)

    def multiply(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x * y, element by element"""
        return self._do("multiply", x, y, out, **options)

    def divide(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """x / y, of floating-point types"""
        return self._do("divide", x, y, out, **options)

    def minimum(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """The lesser of x and y; a NaN gives a NaN."""
        return self._do("minimum", x, y, out, **options)

    def maximum(self, x: Any, y: Any, out: Any = None, **options: Any) -> Array:
        """The greater of x and y; a NaN gives a NaN."""
        return self._do("maximum", x, y, out, **options)

    def abs(self, x: Any, out: Any = None, **options: Any) -> Array:
        """The magnitude of x."""
        return self._do("abs", x, out, **options)

    def negate(self, x: Any, out: Any = None, **options: Any) -> Array:
        """-x"""
        return self._do("negate", x, out, **options)

    def triad(self, x: Any, y: Any, alpha: Any, out: Any = None, **options: Any) -> Array:
        """x + alpha * y, rounded once"""
        return self._do("triad", x, y, alpha, out, **options)

    def axpby(self, x: Any, y: Any, alpha: Any, beta: Any, out: Any = None,
              **options: Any) -> Array:
        """alpha * x + beta * y: beta * y is rounded, then the sum"""
        return self._do("axpby", x, y, alpha, beta, out, **options)

    def fma(self, x: Any, y: Any, w: Any, out: Any = None, **options: Any) -> Array:
        """x * y + w, rounded once"""
        return self._do("fma", x, y, w, out, **options)

    def relu(self, x: Any, out: Any = None, **options: Any) -> Array:
        """x where it is above 0, else 0"""
        return self._do("relu", x, out, **options)

    def exp(self, x: Any, out: Any = None, **options: Any) -> Array:
        """The exponential; its bits are the same on every device."""
        return self._do("exp", x, out, **options)

    def tanh(self, x: Any, out: Any = None, **options: Any) -> Array:
        """The hyperbolic tangent; its bits are the same on every device."""
        return self._do("tanh", x, out, **options)

    def convert(self, x: Any, dtype: Any = None, out: Any = None, **options: Any) -> Array:
        """x in another type, or in that of out."""
        return self._do("convert", x, dtype, out, **options)

    def chain(self, x: Any, alpha: Any, beta: Any, steps: int, out: Any = None,
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

    def amax(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The largest magnitude, of floating-point types."""
        return self._do("amax", x, axis, out, **options)

    def argamax(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The place of the largest magnitude, i64."""
        return self._do("argamax", x, axis, out, **options)

    def xor(self, x: Any, axis: Optional[int] = None, out: Any = None, **options: Any) -> Array:
        """The exclusive or of the bits of integers: a checksum."""
        return self._do("xor", x, axis, out, **options)

    def dot(self, x: Any, y: Any, axis: Optional[int] = None, out: Any = None,
            **options: Any) -> Array:
        """The sum of x[i] * y[i]: of all elements, or along an axis."""
        return self._do("dot", x, y, axis, out, **options)

