# SPDX-License-Identifier: Apache-2.0
"""inputs.py - the numbers of the labs, the same bit for bit as those that C makes.

Every number comes from a seed and an index alone: bits(seed, i) is a 64-bit hash, uniform one number in
[-1, 1) that f32 holds exactly, normal has mean 3 and deviation 1, sparse is a matrix in CSR. The host makes
them in chunks with NumPy; DEVICE_CODE is the same for a GPU, where big arrays are made.
"""
import numpy

ALL_BITS = (1 << 64) - 1
SEED_STEP = 0xD1342543DE82EF95
INDEX_STEP = 0x9E3779B97F4A7C15
CHUNK = 1 << 20  # small enough for the caches

# The seeds of the labs' inputs.
A, B = 1, 2
X, Y = 1, 2
SPARSE = 3  # its values: 4
RIGHT = 5


def bits(seed, index):
    """The hash of each index, an array of uint64."""
    z = index * numpy.uint64(INDEX_STEP) + numpy.uint64(seed * SEED_STEP & ALL_BITS)
    z ^= z >> numpy.uint64(30)
    z *= numpy.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> numpy.uint64(27)
    z *= numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    return z


def uniform_at(seed, index):
    """Numbers of [-1, 1) at any indices, in f64."""
    index = numpy.asarray(index, dtype=numpy.uint64)
    return (bits(seed, index) >> numpy.uint64(40)) * 2.0**-23 - 1


def uniform(seed, shape, dtype):
    """A row-major array of numbers of [-1, 1)."""
    out = numpy.empty(shape, dtype)
    flat = out.reshape(-1)
    for first in range(0, flat.size, CHUNK):
        index = numpy.arange(first, min(first + CHUNK, flat.size), dtype=numpy.uint64)
        flat[first:first + CHUNK] = uniform_at(seed, index)
    return out


def uniform_rows(seed, rows, cols):
    """The given rows of a matrix with `cols` columns, in f64."""
    index = numpy.asarray(rows, dtype=numpy.uint64)[:, None] * numpy.uint64(cols)
    return uniform_at(seed, index + numpy.arange(cols, dtype=numpy.uint64))


def uniform_columns(seed, rows, cols, columns):
    """The given columns of a rows x cols matrix, in f64."""
    index = numpy.arange(rows, dtype=numpy.uint64)[:, None] * numpy.uint64(cols)
    return uniform_at(seed, index + numpy.asarray(columns, dtype=numpy.uint64))


def normal(seed, count):
    """Mean 3, deviation 1: sums of twelve numbers, exact in f64."""
    index = numpy.arange(12 * count, dtype=numpy.uint64).reshape(count, 12)
    return 3 + ((bits(seed, index) >> numpy.uint64(40)) * 2.0**-24).sum(axis=1) - 6


def sparse(seed, rows, cols, density):
    """CSR: values f32, columns int32 (ascending), starts int32."""
    values, columns, counts = [], [], []
    for row in range(rows):
        index = numpy.arange(row * cols, (row + 1) * cols, dtype=numpy.uint64)
        present = numpy.flatnonzero((bits(seed, index) >> numpy.uint64(11)) * 2.0**-53 < density)
        columns.append(present.astype(numpy.int32))
        values.append(uniform_at(seed + 1, index[present]).astype(numpy.float32))
        counts.append(present.size)
    starts = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int32)
    return numpy.concatenate(values), numpy.concatenate(columns), starts


DEVICE_CODE = r"""
typedef unsigned long long u64;

__device__ static u64 lab_bits(u64 seed, u64 i)
{
    u64 z = seed * 0xD1342543DE82EF95ull + i * 0x9E3779B97F4A7C15ull;
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9ull;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

__device__ static double lab_uniform(u64 seed, u64 i)
{
    return (double)(lab_bits(seed, i) >> 40) * 0x1p-23 - 1;
}

__device__ static bool lab_present(u64 seed, u64 i, double density)
{
    return (double)(lab_bits(seed, i) >> 11) * 0x1p-53 < density;
}

extern "C" __global__ void uniform_f32(u64 seed, u64 count, float *out)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        out[i] = (float)lab_uniform(seed, i);
    }
}

extern "C" __global__ void uniform_f64(u64 seed, u64 count, double *out)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        out[i] = lab_uniform(seed, i);
    }
}

/* The sparse matrix, a thread a row: first how many elements each row has, then the elements. */
extern "C" __global__ void sparse_count(u64 seed, u64 rows, u64 cols, double density, int *counts)
{
    u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    int count = 0;
    for (u64 i = row * cols; i < (row + 1) * cols; i++) {
        count += lab_present(seed, i, density);
    }
    counts[row] = count;
}

extern "C" __global__ void sparse_fill(u64 seed, u64 rows, u64 cols, double density,
                                       const int *starts, float *values, int *columns)
{
    u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    int at = starts[row];
    for (u64 j = 0; j < cols; j++) {
        u64 i = row * cols + j;
        if (lab_present(seed, i, density)) {
            values[at] = (float)lab_uniform(seed + 1, i);
            columns[at++] = (int)j;
        }
    }
}
"""
