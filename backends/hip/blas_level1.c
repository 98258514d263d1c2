/* SPDX-License-Identifier: Apache-2.0 */
/* blas_level1.c - transposes by rocBLAS's geam, and reductions by its dot and asum. */
#include "backends/hip/blas.h"
#include "common/dtype.h"

#include <limits.h>

/* ---- transposes ------------------------------------------------------------------------------ */

static bool has_wide_geam(int64_t element)
{
    return element == 4   ? hip_blas.rocblas_sgeam_64 != NULL
           : element == 8 ? hip_blas.rocblas_dgeam_64 != NULL
                          : hip_blas.rocblas_zgeam_64 != NULL;
}

static iso_status transpose_supports(simt_device *device, const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    (void)device;
    return simt_transpose_supports(hip_host, op, hip_blas_label(),
                                   has_wide_geam(op->element_bytes));
}

static int64_t transpose_workspace(const iso_op *op)
{
    return simt_transpose_tile(op->transpose, BLAS_TILE);
}

static const char *transpose_name(const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    return op->element_bytes == 4   ? "rocblas_sgeam"
           : op->element_bytes == 8 ? "rocblas_dgeam"
                                    : "rocblas_zgeam";
}

/* The three calls, for both widths. */
#define GEAM(letter, type, one, zero)                                                              \
    (wide ? hip_blas.rocblas_##letter##geam_64(handle, ROCBLAS_TRANS, ROCBLAS_NO_TRANS, rows,      \
                                               cols, &(one), (const type *)from, ld_from, &(zero), \
                                               (const type *)to, ld_to, (type *)to, ld_to)         \
          : hip_blas.rocblas_##letter##geam(                                                       \
                handle, ROCBLAS_TRANS, ROCBLAS_NO_TRANS, (int32_t)rows, (int32_t)cols, &(one),     \
                (const type *)from, (int32_t)ld_from, &(zero), (const type *)to, (int32_t)ld_to,   \
                (type *)to, (int32_t)ld_to))

/* `to` (cols x rows) = the transpose of `from` (rows x cols), which do not overlap. */
static rocblas_code turn(rocblas_object handle, int64_t element, int64_t rows, int64_t cols,
                         const void *from, int64_t ld_from, void *to, int64_t ld_to)
{
    static const float one_4 = 1;
    static const float zero_4 = 0;
    static const double one_8 = 1;
    static const double zero_8 = 0;
    static const rocblas_f64_pair one_16 = {1, 0};
    static const rocblas_f64_pair zero_16 = {0, 0};
    const bool wide = rows > INT_MAX || cols > INT_MAX || ld_from > INT_MAX || ld_to > INT_MAX;
    switch (element) {
    case 4:
        return GEAM(s, float, one_4, zero_4);
    case 8:
        return GEAM(d, double, one_8, zero_8);
    default:
        return GEAM(z, rocblas_f64_pair, one_16, zero_16);
    }
}

/* Swaps tile (i, j) and its mirror: one is transposed into scratch memory, the other into the
 * first's place, and the first is then copied to the other's place. geam itself cannot work in
 * place. */
static iso_status turn_in_place(hip_queue *queue, rocblas_object handle, const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    const int64_t element = t->element_bytes;
    const int64_t n = t->rows;
    const size_t pitch = (size_t)(t->ld_to * element);
    char *base = blas_place(t->to);
    char *tile = blas_place(op->workspace);
    for (int64_t i = 0; i < n; i += BLAS_TILE) {
        const int64_t height = n - i < BLAS_TILE ? n - i : BLAS_TILE;
        for (int64_t j = i; j < n; j += BLAS_TILE) {
            const int64_t width = n - j < BLAS_TILE ? n - j : BLAS_TILE;
            char *here = base + (i * t->ld_to + j) * element;
            char *mirror = base + (j * t->ld_to + i) * element;
            rocblas_code code = turn(handle, element, height, width, here, t->ld_to, tile, height);
            if (code == ROCBLAS_DONE && i != j) {
                code = turn(handle, element, width, height, mirror, t->ld_to, here, t->ld_to);
            }
            iso_status status = hip_blas_check(queue, code, transpose_name(op));
            if (!status) {
                const size_t row = (size_t)(height * element);
                status =
                    hip_check(queue->device,
                              hip.hipMemcpy2DAsync(mirror, pitch, tile, row, row, (size_t)width,
                                                   HIP_ON_DEVICE, queue->stream),
                              "hipMemcpy2DAsync of a tile of %lld x %lld", (long long)width,
                              (long long)height);
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
    hip_queue *queue = blas_queue(stream);
    iso_op plain = *op;
    rocblas_object handle = NULL;
    plain.workspace.memory = NULL;
    const iso_status status = hip_blas_handle(stream, &plain, ROCBLAS_POINTERS_HOST, &handle);
    if (status) {
        return status;
    }
    if (blas_place(t->from) == blas_place(t->to) && t->rows == t->cols && t->ld_from == t->ld_to) {
        return turn_in_place(queue, handle, op);
    }
    return hip_blas_check(queue,
                          turn(handle, t->element_bytes, t->rows, t->cols, blas_place(t->from),
                               t->ld_from, blas_place(t->to), t->ld_to),
                          transpose_name(op));
}

const simt_vendor_operation hip_blas_transpose = {
    .supports = transpose_supports,
    .workspace = transpose_workspace,
    .execute = transpose_execute,
    .name = transpose_name,
};

/* ---- reductions: of an array, or of each row ------------------------------------------------- */

static bool has_wide_reduction(const iso_reduce_op_args *op)
{
    const bool f64 = op->dtype == ISO_F64;
    switch (op->op) {
    case ISO_ASUM:
        return f64 ? hip_blas.rocblas_dasum_strided_batched_64 != NULL
                   : hip_blas.rocblas_sasum_strided_batched_64 != NULL;
    default:
        return f64 ? hip_blas.rocblas_ddot_strided_batched_64 != NULL
                   : hip_blas.rocblas_sdot_strided_batched_64 != NULL;
    }
}

static iso_status reduce_supports(simt_device *device, const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    (void)device;
    static const simt_reductions has = {
        .library = "rocBLAS",
        .norm2_problem = "is not known to keep subnormal elements",
        .rows = true,
    };
    const iso_status status = simt_reduce_supports(hip_host, &has, op);
    return status || op->cols <= INT_MAX || has_wide_reduction(op)
               ? status
               : simt_too_large(hip_host, "reduce", (simt_size){"cols", op->cols},
                                hip_blas_label());
}

/* The library keeps partial results: one for every 512 elements of each row, and two more; there is
 * room for versions that keep more. Rows are done in groups that fit a fixed workspace. */
static int64_t bytes_of_row(const iso_reduce_op_args *op)
{
    return (op->cols / 512 + 4) * 16;
}

static int64_t rows_at_once(const iso_reduce_op_args *op)
{
    enum { ROWS_MAX = 32768 };
    const int64_t fit = BLAS_LIBRARY_BYTES / bytes_of_row(op);
    const int64_t most = fit < 1 ? 1 : fit < ROWS_MAX ? fit : ROWS_MAX;
    return op->rows < most ? op->rows : most;
}

static int64_t reduce_workspace(const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    enum { ROOM = 1 << 20 };
    return BLAS_CONSTANT_BYTES + ROOM + rows_at_once(op) * bytes_of_row(op);
}

static const char *reduce_name(const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    const bool f64 = op->dtype == ISO_F64;
    switch (op->op) {
    case ISO_ASUM:
        return f64 ? "rocblas_dasum_strided_batched" : "rocblas_sasum_strided_batched";
    case ISO_DOT:
        return f64 ? "rocblas_ddot_strided_batched" : "rocblas_sdot_strided_batched";
    default:
        return f64 ? "rocblas_ddot_strided_batched with a one of stride 0"
                   : "rocblas_sdot_strided_batched with a one of stride 0";
    }
}

/* Writes a 1 of the type at the start of the workspace, as 32-bit words. */
static hip_code put_one(hip_queue *queue, iso_dtype dtype, char *at)
{
    const dtype_row *type = dtype_get(dtype);
    const hip_code code = hip.hipMemsetD32Async(at, (int)type->one, 1, queue->stream);
    if (code != HIP_DONE || type->bytes <= 4) {
        return code;
    }
    return hip.hipMemsetD32Async(at + 4, (int)(type->one >> 32), 1, queue->stream);
}

/* The calls, for both widths; for a sum `y` is a 1 of stride 0. */
#define DOT(letter, type)                                                                          \
    (wide ? hip_blas.rocblas_##letter##dot_strided_batched_64(handle, op->cols, (const type *)x,   \
                                                              1, op->ld_x, (const type *)y,        \
                                                              step_y, ld_y, rows, (type *)result)  \
          : hip_blas.rocblas_##letter##dot_strided_batched(                                        \
                handle, (int32_t)op->cols, (const type *)x, 1, op->ld_x, (const type *)y, step_y,  \
                ld_y, (int32_t)rows, (type *)result))
#define NORM(letter, name, type)                                                                   \
    (wide ? hip_blas.rocblas_##letter##name##_strided_batched_64(                                  \
                handle, op->cols, (const type *)x, 1, op->ld_x, rows, (type *)result)              \
          : hip_blas.rocblas_##letter##name##_strided_batched(handle, (int32_t)op->cols,           \
                                                              (const type *)x, 1, op->ld_x,        \
                                                              (int32_t)rows, (type *)result))

static rocblas_code reduce_rows(rocblas_object handle, const iso_reduce_op_args *op, int64_t rows,
                                const char *x, const char *y, char *result)
{
    const bool wide = op->cols > INT_MAX;
    const bool f64 = op->dtype == ISO_F64;
    const int32_t step_y = op->op == ISO_DOT;
    const int64_t ld_y = op->op == ISO_DOT ? op->ld_y : 0;
    switch (op->op) {
    case ISO_ASUM:
        return f64 ? NORM(d, asum, double) : NORM(s, asum, float);
    default:
        return f64 ? DOT(d, double) : DOT(s, float);
    }
}

static iso_status reduce_execute(simt_stream *stream, const iso_op *op)
{
    const iso_reduce_op_args *reduce = op->reduce;
    hip_queue *queue = blas_queue(stream);
    const int64_t element = iso_dtype_size(reduce->dtype);
    const int64_t at_once = rows_at_once(reduce);
    char *one = blas_place(op->workspace);
    rocblas_object handle = NULL;
    iso_status status = hip_blas_handle(stream, op, ROCBLAS_POINTERS_DEVICE, &handle);
    if (!status && reduce->op == ISO_SUM) {
        status = hip_check(queue->device, put_one(queue, reduce->dtype, one), "hipMemsetD32Async");
    }
    for (int64_t row = 0; row < reduce->rows && !status; row += at_once) {
        const int64_t rows = reduce->rows - row < at_once ? reduce->rows - row : at_once;
        const char *x = blas_place(reduce->x) + row * reduce->ld_x * element;
        const char *y =
            reduce->op == ISO_DOT ? blas_place(reduce->y) + row * reduce->ld_y * element : one;
        status = hip_blas_check(
            queue,
            reduce_rows(handle, reduce, rows, x, y, blas_place(reduce->result) + row * element),
            reduce_name(op));
    }
    return status;
}

const simt_vendor_operation hip_blas_reduce = {
    .supports = reduce_supports,
    .workspace = reduce_workspace,
    .execute = reduce_execute,
    .name = reduce_name,
};
