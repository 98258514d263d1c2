/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_level1.c - transposes by cuBLAS's geam, and reductions of whole arrays by its dot and asum.
 * cuBLAS has no sum: it is computed as the dot with a 1 of stride 0. Its amax compares magnitudes
 * and is not argmax. Results stay on the device.
 */
#include "backends/cuda/blas.h"
#include "common/dtype.h"

#include <limits.h>
#include <string.h>

/* ---- transposes ------------------------------------------------------------------------------ */

static iso_status transpose_supports(simt_device *device, const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    (void)device;
    return simt_transpose_supports(cuda_host, op, cuda_blas_label(), false);
}

static int64_t transpose_workspace(const iso_op *op)
{
    return simt_transpose_tile(op->transpose, BLAS_TILE);
}

static const char *transpose_name(const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    return op->element_bytes == 4   ? "cublasSgeam"
           : op->element_bytes == 8 ? "cublasDgeam"
                                    : "cublasZgeam";
}

/* `to` (cols x rows) = the transpose of `from` (rows x cols), which do not overlap. */
static cublas_code turn(cublas_handle handle, int64_t element, int64_t rows, int64_t cols,
                        cuda_address from, int64_t ld_from, cuda_address to, int64_t ld_to)
{
    static const float one_4 = 1;
    static const float zero_4 = 0;
    static const double one_8 = 1;
    static const double zero_8 = 0;
    static const _Alignas(16) double one_16[2] = {1, 0};
    static const _Alignas(16) double zero_16[2] = {0, 0};
    const int m = (int)rows;
    const int n = (int)cols;
    const int lda = (int)ld_from;
    const int ldc = (int)ld_to;
    void *c = cuda_pointer(to);
    const void *a = cuda_pointer(from);
    switch (element) {
    case 4:
        return cuda_blas.cublasSgeam(handle, CUBLAS_TRANS, CUBLAS_NO_TRANS, m, n, &one_4, a, lda,
                                     &zero_4, c, ldc, c, ldc);
    case 8:
        return cuda_blas.cublasDgeam(handle, CUBLAS_TRANS, CUBLAS_NO_TRANS, m, n, &one_8, a, lda,
                                     &zero_8, c, ldc, c, ldc);
    default:
        return cuda_blas.cublasZgeam(handle, CUBLAS_TRANS, CUBLAS_NO_TRANS, m, n,
                                     (const struct double2 *)(const void *)one_16, a, lda,
                                     (const struct double2 *)(const void *)zero_16, c, ldc, c, ldc);
    }
}

/* Copies a packed tile at `tile` to its place. */
static iso_status put_tile(cuda_queue *queue, const iso_transpose_op *op, cuda_address tile,
                           cuda_address to, int64_t rows, int64_t cols)
{
    const cuda_copy_2d copy = {
        .from_type = CUDA_MEMORY_DEVICE,
        .from_device = tile,
        .from_pitch = (size_t)(cols * op->element_bytes),
        .to_type = CUDA_MEMORY_DEVICE,
        .to_device = to,
        .to_pitch = (size_t)(op->ld_to * op->element_bytes),
        .width = (size_t)(cols * op->element_bytes),
        .height = (size_t)rows,
    };
    return cuda_check(
        queue->device,
        cu.cuMemcpy2DAsync_v2((const struct CUDA_MEMCPY2D_st *)(const void *)&copy, queue->stream),
        "cuMemcpy2DAsync of a tile of %lld x %lld", (long long)rows, (long long)cols);
}

/* Swaps tile (i, j) and its mirror: one is transposed into scratch memory, the other into the
 * first's place, and the first is then copied to the other's place. geam itself cannot work in
 * place. */
static iso_status turn_in_place(cuda_queue *queue, cublas_handle handle, const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    const int64_t element = t->element_bytes;
    const int64_t n = t->rows;
    const cuda_address base = cuda_place(t->to);
    const cuda_address tile = cuda_place(op->workspace);
    for (int64_t i = 0; i < n; i += BLAS_TILE) {
        const int64_t height = n - i < BLAS_TILE ? n - i : BLAS_TILE;
        for (int64_t j = i; j < n; j += BLAS_TILE) {
            const int64_t width = n - j < BLAS_TILE ? n - j : BLAS_TILE;
            const cuda_address here = base + (cuda_address)((i * t->ld_to + j) * element);
            const cuda_address mirror = base + (cuda_address)((j * t->ld_to + i) * element);
            cublas_code code = turn(handle, element, height, width, here, t->ld_to, tile, height);
            if (code == CUBLAS_DONE && i != j) {
                code = turn(handle, element, width, height, mirror, t->ld_to, here, t->ld_to);
            }
            iso_status status = cuda_blas_check(queue, code, transpose_name(op));
            if (!status) {
                status = put_tile(queue, t, tile, mirror, width, height);
            }
            if (status) {
                return status;
            }
        }
    }
    return ISO_OK;
}

/* geam needs no workspace of the library. */
static iso_status transpose_execute(simt_stream *stream, const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    cuda_queue *queue = blas_queue(stream);
    iso_op plain = *op;
    cublas_handle handle = NULL;
    plain.workspace.memory = NULL;
    iso_status status = cuda_blas_handle(stream, &plain, CUBLAS_POINTERS_HOST, &handle);
    if (status) {
        return status;
    }
    if (cuda_place(t->from) == cuda_place(t->to) && t->rows == t->cols && t->ld_from == t->ld_to) {
        return turn_in_place(queue, handle, op);
    }
    return cuda_blas_check(queue,
                           turn(handle, t->element_bytes, t->rows, t->cols, cuda_place(t->from),
                                t->ld_from, cuda_place(t->to), t->ld_to),
                           transpose_name(op));
}

const simt_vendor_operation cuda_blas_transpose = {
    .supports = transpose_supports,
    .workspace = transpose_workspace,
    .execute = transpose_execute,
    .name = transpose_name,
};

/* ---- reductions ------------------------------------------------------------------------------ */

static bool is_half(iso_dtype dtype)
{
    return dtype_get(dtype)->floating && dtype_get(dtype)->bytes == 2;
}

static bool has_64(const iso_reduce_op_args *op)
{
    const bool wide = op->dtype == ISO_F64;
    switch (op->op) {
    case ISO_ASUM:
        return wide ? cuda_blas.cublasDasum_v2_64 != NULL : cuda_blas.cublasSasum_v2_64 != NULL;
    default:
        return is_half(op->dtype) ? cuda_blas.cublasDotEx_64 != NULL
               : wide             ? cuda_blas.cublasDdot_v2_64 != NULL
                                  : cuda_blas.cublasSdot_v2_64 != NULL;
    }
}

static iso_status reduce_supports(simt_device *device, const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    static const simt_reductions has = {
        .library = "cuBLAS",
        .norm2_problem = "loses subnormal elements (seen with 13.1)",
        .half = true,
    };
    const iso_status status = simt_reduce_supports(cuda_host, &has, op);
    (void)device;
    return status || op->cols <= INT_MAX || has_64(op)
               ? status
               : simt_too_large(cuda_host, "reduce", (simt_size){"cols", op->cols},
                                cuda_blas_label());
}

static const char *reduce_name(const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    const bool wide = op->dtype == ISO_F64;
    switch (op->op) {
    case ISO_ASUM:
        return wide ? "cublasDasum" : "cublasSasum";
    case ISO_DOT:
        return is_half(op->dtype) ? "cublasDotEx" : wide ? "cublasDdot" : "cublasSdot";
    default:
        return is_half(op->dtype) ? "cublasDotEx with a one of stride 0"
               : wide             ? "cublasDdot with a one of stride 0"
                                  : "cublasSdot with a one of stride 0";
    }
}

/* Writes a 1 of the type at the start of the workspace, as 32-bit words. */
static cuda_code put_one(cuda_queue *queue, iso_dtype dtype, cuda_address at)
{
    const dtype_row *type = dtype_get(dtype);
    const cuda_code code = cu.cuMemsetD32Async(at, (uint32_t)type->one, 1, queue->stream);
    if (code != CUDA_DONE || type->bytes <= 4) {
        return code;
    }
    return cu.cuMemsetD32Async(at + 4, (uint32_t)(type->one >> 32), 1, queue->stream);
}

static cublas_code dot(cublas_handle handle, iso_dtype dtype, int64_t n, const void *x,
                       const void *y, int64_t y_step, void *result)
{
    const int n_32 = (int)n;
    const int step_32 = (int)y_step;
    const bool large = n > INT_MAX;
    const cublas_enum type = cuda_blas_types[dtype];
    if (dtype == ISO_F32) {
        return large ? cuda_blas.cublasSdot_v2_64(handle, n, x, 1, y, y_step, result)
                     : cuda_blas.cublasSdot_v2(handle, n_32, x, 1, y, step_32, result);
    }
    if (dtype == ISO_F64) {
        return large ? cuda_blas.cublasDdot_v2_64(handle, n, x, 1, y, y_step, result)
                     : cuda_blas.cublasDdot_v2(handle, n_32, x, 1, y, step_32, result);
    }
    return large ? cuda_blas.cublasDotEx_64(handle, n, x, type, 1, y, type, y_step, result, type,
                                            CUBLAS_TYPE_F32)
                 : cuda_blas.cublasDotEx(handle, n_32, x, type, 1, y, type, step_32, result, type,
                                         CUBLAS_TYPE_F32);
}

static cublas_code asum(cublas_handle handle, const iso_reduce_op_args *op, const void *x,
                        void *result)
{
    const int64_t n = op->cols;
    const int n_32 = (int)n;
    const bool large = n > INT_MAX;
    if (op->dtype == ISO_F32) {
        return large ? cuda_blas.cublasSasum_v2_64(handle, n, x, 1, result)
                     : cuda_blas.cublasSasum_v2(handle, n_32, x, 1, result);
    }
    return large ? cuda_blas.cublasDasum_v2_64(handle, n, x, 1, result)
                 : cuda_blas.cublasDasum_v2(handle, n_32, x, 1, result);
}

static iso_status reduce_execute(simt_stream *stream, const iso_op *op)
{
    const iso_reduce_op_args *reduce = op->reduce;
    cuda_queue *queue = blas_queue(stream);
    cublas_handle handle = NULL;
    iso_status status = cuda_blas_handle(stream, op, CUBLAS_POINTERS_DEVICE, &handle);
    const void *x = cuda_pointer(cuda_place(reduce->x));
    void *result = cuda_pointer(cuda_place(reduce->result));
    cublas_code code = CUBLAS_DONE;
    if (!status && reduce->op == ISO_SUM) {
        const cuda_address one = blas_constant(op);
        status = cuda_check(queue->device, put_one(queue, reduce->dtype, one), "cuMemsetD32Async");
        if (!status) {
            code = dot(handle, reduce->dtype, reduce->cols, x, cuda_pointer(one), 0, result);
        }
    } else if (!status && reduce->op == ISO_DOT) {
        code = dot(handle, reduce->dtype, reduce->cols, x, cuda_pointer(cuda_place(reduce->y)), 1,
                   result);
    } else if (!status) {
        code = asum(handle, reduce, x, result);
    }
    return status ? status : cuda_blas_check(queue, code, reduce_name(op));
}

const simt_vendor_operation cuda_blas_reduce = {
    .supports = reduce_supports,
    .execute = reduce_execute,
    .name = reduce_name,
};
