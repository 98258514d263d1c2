# SPDX-License-Identifier: Apache-2.0
"""_sparse.py - CSR: sparse matrices in compressed rows."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional, Tuple

from ._abi import E, S, new, plain
from ._errors import Invalid
from ._info import Info
from ._library import api, check

if TYPE_CHECKING:
    from ._array import Array
    from ._device import Device


class _Matrix:
    """The handle, which a matrix and its transposed view share."""

    def __init__(self, device: "Device", handle: Any) -> None:
        self.device, self.handle, self._destroy = device, handle, api().iso_sparse_destroy

    def __del__(self) -> None:
        if self.handle.id:
            self._destroy(self.handle)


class CSR:
    """A sparse matrix on a device. Device.csr makes one; `A @ x` and `A.T @ x` multiply it.

    >>> import isomer
    >>> with isomer.open("openmp") as dev:
    ...     a = dev.csr(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 2, 3]), (3, 3))
    ...     (a @ dev.array([1.0, 1.0, 1.0])).tolist(), (a.T @ dev.array([1.0, 1.0, 1.0])).tolist()
    ([3.0, 0.0, 3.0], [1.0, 3.0, 2.0])
    """

    __array_priority__ = 100
    __array_ufunc__ = None

    def __init__(self, device: "Device", matrix: Any, shape: Optional[Tuple[int, int]] = None, *,
                 dtype: object = None, transpose: bool = True) -> None:
        from ._transfer import to_host
        if hasattr(matrix, "indptr"):
            matrix, shape = (matrix.data, matrix.indices, matrix.indptr), tuple(matrix.shape)
        if shape is None or len(matrix) != 3:
            raise Invalid("csr: give a csr_matrix, or (data, indices, indptr) and a shape")
        values = to_host(matrix[0], dtype)
        columns, offsets = to_host(matrix[1]), to_host(matrix[2])
        if columns.dtype is not offsets.dtype:
            columns, offsets = to_host(matrix[1], "i64"), to_host(matrix[2], "i64")
        if len(offsets.shape) != 1 or offsets.shape[0] != shape[0] + 1:
            raise Invalid("csr: indptr has the shape %r, and a matrix of %d rows needs %d numbers"
                          % (offsets.shape, shape[0], shape[0] + 1))
        if values.shape != columns.shape or len(values.shape) != 1:
            raise Invalid("csr: data has the shape %r and indices %r" % (values.shape,
                                                                          columns.shape))
        args, handle = new("iso_sparse_args"), S.iso_sparse()
        args.dtype, args.index = values.dtype.number, columns.dtype.number
        args.flags = 0 if transpose else E.SPARSE_NO_TRANSPOSE
        args.rows, args.cols, args.entries = shape[0], shape[1], values.shape[0]
        args.offsets, args.columns, args.values = offsets.pointer, columns.pointer, values.pointer
        check(api().iso_sparse_create(device.handle, ctypes.byref(args), ctypes.byref(handle)))
        self._matrix, self.device = _Matrix(device, handle), device
        self._rows, self._cols, self.nnz = shape[0], shape[1], values.shape[0]
        self.dtype, self.transposed = values.dtype, False

    @property
    def handle(self) -> Any:
        return self._matrix.handle

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns."""
        return (self._cols, self._rows) if self.transposed else (self._rows, self._cols)

    @property
    def T(self) -> "CSR":
        """The transposed matrix; a view."""
        made = object.__new__(CSR)
        made.__dict__.update(self.__dict__)
        made.transposed = not self.transposed
        return made

    @property
    def info(self) -> Info:
        """iso_sparse_info: longest row, empty rows, bytes of device memory and more."""
        out = new("iso_sparse_info")
        check(api().iso_sparse_get_info(self.handle, ctypes.byref(out)))
        made = plain(out)
        del made["device"]
        return Info(**made)

    def update(self, values: Any, *, stream: Any = None) -> "CSR":
        """Replaces all values, in the order in which they were given; their places stay."""
        from ._transfer import to_host
        host, on = to_host(values, self.dtype), self.device.stream_for(stream)
        check(api().iso_sparse_write(on.handle, self.handle, host.pointer,
                                     host.shape[0] * self.dtype.itemsize))
        on.finish(host, True)
        return self

    def __matmul__(self, x: Any) -> "Array":
        return self.device.spmv(self, x)

    def __repr__(self) -> str:
        return "<isomer.CSR %d x %d, %d entries, %s, %s>" % (
            *self.shape, self.nnz, self.dtype.name, self.device.spec)


