# SPDX-License-Identifier: Apache-2.0
"""kernels.py - the kernels of the labs as a student writes them with Numba-CUDA.

make(kind) gives the kernels of a type, "f32" or "f64". Constants are of that type: an untyped 4 or 0.25
would make Numba compute f32 in f64. Only the products of guide() are of the form that Numba's documentation
and the labs have.
"""
from types import SimpleNamespace

from numba import cuda, float32, float64

from .machine import LARGEST_BLOCK, PARTIALS_BLOCK, STAGE, TILE


def make(kind):
    real = {"f32": float32, "f64": float64}[kind]
    return SimpleNamespace(**products(real), **guide(real), **sums(real), **vectors(real), **fields(real))


def products(real):
    @cuda.jit
    def transpose_item(a, out):
        col, row = cuda.grid(2)
        if row < a.shape[0] and col < a.shape[1]:
            out[col, row] = a[row, col]

    @cuda.jit
    def product_item(a, b, out):
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            total = real(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, col]
            out[row, col] = total

    @cuda.jit
    def product_tile(a, b, out):
        tile_a = cuda.shared.array((TILE, TILE), real)
        tile_b = cuda.shared.array((TILE, TILE), real)
        col, row = cuda.grid(2)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        depth = a.shape[1]
        total = real(0)
        for first in range(0, depth, TILE):
            tile_a[y, x] = real(0)
            tile_b[y, x] = real(0)
            if row < out.shape[0] and first + x < depth:
                tile_a[y, x] = a[row, first + x]
            if col < out.shape[1] and first + y < depth:
                tile_b[y, x] = b[first + y, col]
            cuda.syncthreads()
            for k in range(TILE):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = total

    @cuda.jit
    def fused_product(a, b, out):
        """Adds the column sums of a @ b to `out`. A group computes a column of tiles, none is stored."""
        tile_a = cuda.shared.array((TILE, TILE), real)
        tile_b = cuda.shared.array((TILE, TILE), real)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col = cuda.blockIdx.x * TILE + x
        depth = a.shape[1]
        total = real(0)
        for top in range(cuda.blockIdx.y * TILE, a.shape[0], cuda.gridDim.y * TILE):
            row = top + y
            element = real(0)
            for first in range(0, depth, TILE):
                tile_a[y, x] = real(0)
                tile_b[y, x] = real(0)
                if row < a.shape[0] and first + x < depth:
                    tile_a[y, x] = a[row, first + x]
                if col < b.shape[1] and first + y < depth:
                    tile_b[y, x] = b[first + y, col]
                cuda.syncthreads()
                for k in range(TILE):
                    element += tile_a[y, k] * tile_b[k, x]
                cuda.syncthreads()
            total += element
        tile_a[y, x] = total
        cuda.syncthreads()
        if y == 0 and col < b.shape[1]:
            for k in range(1, TILE):
                total += tile_a[k, x]
            cuda.atomic.add(out, col, total)

    return {"transpose_item": transpose_item, "product_item": product_item,
            "product_tile": product_tile, "fused_product": fused_product}


def guide(real):
    """Products as in Numba's guide: neighbouring threads are in neighbouring rows, so that they read A and
    write C with a stride, and a sum that begins as 0. is f64 whatever the matrices are."""
    @cuda.jit
    def guide_item(a, b, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            tmp = 0.
            for k in range(a.shape[1]):
                tmp += a[i, k] * b[k, j]
            out[i, j] = tmp

    @cuda.jit
    def guide_tile(a, b, out):
        part_a = cuda.shared.array((TILE, TILE), real)
        part_b = cuda.shared.array((TILE, TILE), real)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        depth = a.shape[1]
        tmp = 0.
        for first in range(0, depth, TILE):
            part_a[tx, ty] = 0
            part_b[tx, ty] = 0
            if x < out.shape[0] and first + ty < depth:
                part_a[tx, ty] = a[x, first + ty]
            if y < out.shape[1] and first + tx < depth:
                part_b[tx, ty] = b[first + tx, y]
            cuda.syncthreads()
            for k in range(TILE):
                tmp += part_a[tx, k] * part_b[k, ty]
            cuda.syncthreads()
        if x < out.shape[0] and y < out.shape[1]:
            out[x, y] = tmp

    return {"guide_item": guide_item, "guide_tile": guide_tile}


def sums(real):
    @cuda.jit
    def sum_block(x, out):
        """The sum of x, whose length is that of the only block: a tree for any length."""
        part = cuda.shared.array(LARGEST_BLOCK, real)
        thread = cuda.threadIdx.x
        part[thread] = x[thread]
        cuda.syncthreads()
        count = x.shape[0]
        while count > 1:
            half = (count + 1) // 2
            if thread + half < count:
                part[thread] += part[thread + half]
            cuda.syncthreads()
            count = half
        if thread == 0:
            out[0] = part[0]

    @cuda.jit(device=True)
    def block_sum(x):
        """The sum of this block's share of x, right in thread 0."""
        part = cuda.shared.array(PARTIALS_BLOCK, real)
        thread = cuda.threadIdx.x
        total = real(0)
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            total += x[i]
        part[thread] = total
        cuda.syncthreads()
        half = PARTIALS_BLOCK // 2
        while half > 0:
            if thread < half:
                part[thread] += part[thread + half]
            cuda.syncthreads()
            half //= 2
        return part[0]

    @cuda.jit
    def sum_partials(x, out):
        total = block_sum(x)
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total

    @cuda.jit
    def sum_atomic(x, out):
        total = block_sum(x)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, total)

    return {"sum_block": sum_block, "sum_partials": sum_partials, "sum_atomic": sum_atomic}


def vectors(real):
    @cuda.jit
    def multiply_stride(x, y, out):
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            out[i] = x[i] * y[i]

    @cuda.jit
    def gemv_item(alpha, a, x, beta, y):
        """An item a row; `a` may be row-major or column-major."""
        row = cuda.grid(1)
        if row < a.shape[0]:
            total = real(0)
            for k in range(a.shape[1]):
                total += a[row, k] * x[k]
            y[row] = alpha * total + beta * y[row]

    @cuda.jit
    def gemv_shared(alpha, a, x, beta, y):
        """The same, with x staged in shared memory."""
        stage = cuda.shared.array(STAGE, real)
        row = cuda.grid(1)
        thread = cuda.threadIdx.x
        depth = a.shape[1]
        total = real(0)
        for first in range(0, depth, STAGE):
            if first + thread < depth:
                stage[thread] = x[first + thread]
            cuda.syncthreads()
            if row < a.shape[0]:
                for k in range(STAGE if first + STAGE < depth else depth - first):
                    total += a[row, first + k] * stage[k]
            cuda.syncthreads()
        if row < a.shape[0]:
            y[row] = alpha * total + beta * y[row]

    return {"multiply_stride": multiply_stride, "add": add_kernel(), "gemv_item": gemv_item,
            "gemv_shared": gemv_shared}


def add_kernel():
    """A new kernel at each call, so that its first launch has to compile it."""
    @cuda.jit
    def add(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i] + y[i]

    return add


def fields(real):
    @cuda.jit(device=True)
    def spread(field, row, col):
        """What flows in from the four neighbours; one outside of the field counts as 0."""
        size = field.shape[0]
        up = down = left = right = real(0)
        if row > 0:
            up = field[row - 1, col]
        if row + 1 < size:
            down = field[row + 1, col]
        if col > 0:
            left = field[row, col - 1]
        if col + 1 < size:
            right = field[row, col + 1]
        return ((up + down) + (left + right)) - real(4) * field[row, col]

    @cuda.jit
    def diffuse(old, new):
        col, row = cuda.grid(2)
        if row < old.shape[0] and col < old.shape[1]:
            new[row, col] = old[row, col] + real(0.25) * spread(old, row, col)

    @cuda.jit
    def laplacian(field, out):
        col, row = cuda.grid(2)
        if row < field.shape[0] and col < field.shape[1]:
            out[row, col] = spread(field, row, col)

    return {"diffuse": diffuse, "laplacian": laplacian}


def tree():
    """Numba's own reduction."""
    return cuda.reduce(lambda a, b: a + b)
