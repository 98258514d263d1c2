/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - products, transposes and reductions by CLBlast. CLBlast compiles a routine's kernels at
 * the first call of the routine, and some drivers finish compiling only when a kernel first runs.
 * To prepare an operation, the routine is therefore run once on temporary buffers.
 */
#include "backends/opencl/blas.h"

#include "backends/loader/files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Held during every call of CLBlast, because CLBlast's caches of programs and routines are not
 * thread-safe while they are empty. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* The classes of operations that have been prepared on a device: one bit for each class. */
enum { PREPARED_WORDS = OCL_BLAS_CLASSES / 64 };
typedef struct prepared {
    uint64_t bits[PREPARED_WORDS];
} prepared;

/* ---- the library ----------------------------------------------------------------------------- */

clblast_table ocl_clblast;

/* Takes the version from the file's name, because the library does not report it. */
static bool open_library(simt_library *self)
{
    char real[256];
    if (!loader_open(&self->loader)) {
        return false;
    }
    files_real_name(self->loader.path, real, sizeof real);
    const char *at = strstr(real, ".so.");
    (void)snprintf(self->label, sizeof self->label, "CLBlast%s%s", at ? " " : "", at ? at + 4 : "");
    return true;
}

/* CLBlast returns codes of OpenCL, and codes that only CLBlast has. */
static const char *clblast_code_name(clblast_code code)
{
    static const char *const blas[] = {"CLBlastNotImplemented",      "",
                                       "CLBlastInvalidMatrixA",      "CLBlastInvalidMatrixB",
                                       "CLBlastInvalidMatrixC",      "CLBlastInvalidVectorX",
                                       "CLBlastInvalidVectorY",      "CLBlastInvalidDimension",
                                       "CLBlastInvalidLeadDimA",     "CLBlastInvalidLeadDimB",
                                       "CLBlastInvalidLeadDimC",     "CLBlastInvalidIncrementX",
                                       "CLBlastInvalidIncrementY",   "CLBlastInsufficientMemoryA",
                                       "CLBlastInsufficientMemoryB", "CLBlastInsufficientMemoryC",
                                       "CLBlastInsufficientMemoryX", "CLBlastInsufficientMemoryY"};
    static const char *const own[] = {"CLBlastInsufficientMemoryTemp",
                                      "CLBlastInvalidBatchCount",
                                      "CLBlastInvalidOverrideKernel",
                                      "CLBlastMissingOverrideParameter",
                                      "CLBlastInvalidLocalMemUsage",
                                      "CLBlastNoHalfPrecision",
                                      "CLBlastNoDoublePrecision",
                                      "CLBlastInvalidVectorScalar",
                                      "CLBlastInsufficientMemoryScalar",
                                      "CLBlastDatabaseError",
                                      "CLBlastUnknownError",
                                      "CLBlastUnexpectedError"};
    const int in_blas = code + 1024;
    const int in_own = code + 2050;
    if (in_blas >= 0 && in_blas < (int)(sizeof blas / sizeof blas[0])) {
        return blas[in_blas];
    }
    if (in_own >= 0 && in_own < (int)(sizeof own / sizeof own[0])) {
        return own[in_own];
    }
    return ocl_code_name(code);
}

/* ---- what is supported ----------------------------------------------------------------------- */

int ocl_blas_type(iso_dtype dtype)
{
    return dtype == ISO_C128 ? 3 : dtype == ISO_C64 ? 2 : dtype == ISO_F64;
}

unsigned ocl_blas_trans(iso_trans trans)
{
    return trans == ISO_CONJ_TRANS ? CLBLAST_CONJ_TRANS
           : trans == ISO_TRANS    ? CLBLAST_TRANS
                                   : CLBLAST_NO_TRANS;
}

clblast_narrow_pair ocl_narrow_pair(double real, double imaginary)
{
    return (clblast_narrow_pair){{(float)real, (float)imaginary}};
}

clblast_pair ocl_pair(double real, double imaginary)
{
    return (clblast_pair){{real, imaginary}};
}

/* For f32, f64, c64 and c128: the routines of one product and of a batch. */
static const struct {
    void *routines[2];
    const char *names[2];
} products[] = {
    {{(void *)&ocl_clblast.CLBlastSgemm, (void *)&ocl_clblast.CLBlastSgemmStridedBatched},
     {"CLBlastSgemm", "CLBlastSgemmStridedBatched"}},
    {{(void *)&ocl_clblast.CLBlastDgemm, (void *)&ocl_clblast.CLBlastDgemmStridedBatched},
     {"CLBlastDgemm", "CLBlastDgemmStridedBatched"}},
    {{(void *)&ocl_clblast.CLBlastCgemm, (void *)&ocl_clblast.CLBlastCgemmStridedBatched},
     {"CLBlastCgemm", "CLBlastCgemmStridedBatched"}},
    {{(void *)&ocl_clblast.CLBlastZgemm, (void *)&ocl_clblast.CLBlastZgemmStridedBatched},
     {"CLBlastZgemm", "CLBlastZgemmStridedBatched"}},
};

static const char *product_name(const simt_device *device, const iso_op *of)
{
    (void)device;
    return products[ocl_blas_type(of->gemm->dtype)].names[of->gemm->batch > 1];
}

static const char *transpose_name(const simt_device *device, const iso_op *of)
{
    (void)device;
    const iso_transpose_op *op = of->transpose;
    return op->element_bytes == 4   ? "CLBlastSomatcopy"
           : op->element_bytes == 8 ? "CLBlastDomatcopy"
                                    : "CLBlastZomatcopy";
}

static const char *reduce_name(const simt_device *device, const iso_op *of)
{
    (void)device;
    const iso_reduce_op_args *op = of->reduce;
    const bool wide = op->dtype == ISO_F64;
    switch (op->op) {
    case ISO_SUM:
        return wide ? "CLBlastDsum" : "CLBlastSsum";
    case ISO_DOT:
        return wide ? "CLBlastDdot" : "CLBlastSdot";
    case ISO_ASUM:
        return wide ? "CLBlastDasum" : "CLBlastSasum";
    default:
        return NULL;
    }
}

iso_status ocl_blas_check_f64(const simt_device *device, const char *what)
{
    return device->limits.f64
               ? ISO_OK
               : ocl_host->fail(ISO_UNSUPPORTED, "%s computes in f64, but the device does not: %s",
                                what, device->limits.f64_problem);
}

bool ocl_blas_has_type(iso_dtype dtype)
{
    return dtype == ISO_F32 || dtype == ISO_F64 || dtype == ISO_C64 || dtype == ISO_C128;
}

iso_status ocl_blas_check_f64_of(const simt_device *device, const char *what, iso_dtype dtype)
{
    return dtype == ISO_F64 || dtype == ISO_C128 ? ocl_blas_check_f64(device, what) : ISO_OK;
}

/* Refuses matrices that are too large for CLBlast, whose kernels count elements in 32 bits. */
iso_status ocl_blas_check_span(const char *name, int64_t rows, int64_t ld, int64_t batch,
                               int64_t stride)
{
    int64_t last = 0;
    int64_t members = 0;
    if (__builtin_mul_overflow(rows, ld, &last) ||
        __builtin_mul_overflow(batch - 1, stride, &members) ||
        __builtin_add_overflow(last, members, &last) || last > INT_MAX) {
        return ocl_host->fail(ISO_UNSUPPORTED,
                              "variant vendor: %s spans %" PRId64 " rows of %" PRId64
                              " elements in %" PRId64 " members, but CLBlast counts elements in "
                              "32 bits: at most %d; use tiled",
                              name, rows, ld, batch, INT_MAX);
    }
    return ISO_OK;
}

static iso_status product_supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const iso_dtype dtype_c = simt_gemm_dtype_c(op);
    if (op->dtype == ISO_F16 && dtype_c == ISO_F16) {
        return ocl_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: CLBlast's half-precision product adds in half "
                              "precision, not in f32: use tiled");
    }
    if (!ocl_blas_has_type(op->dtype) || dtype_c != op->dtype) {
        return ocl_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: CLBlast has no product of %s with results of "
                              "%s: use tiled",
                              iso_dtype_name(op->dtype), iso_dtype_name(dtype_c));
    }
    if (op->math == ISO_MATH_TF32) {
        return ocl_host->fail(ISO_UNSUPPORTED, "gemm: math tf32: CLBlast has no TF32");
    }
    if (!*(void *const *)products[ocl_blas_type(op->dtype)].routines[op->batch > 1]) {
        return ocl_host->fail(ISO_UNSUPPORTED, "gemm: variant vendor: this CLBlast has no %s",
                              product_name(device, of));
    }
    iso_status status = ocl_blas_check_f64_of(device, "gemm: variant vendor", op->dtype);
    if (status == ISO_OK) {
        status = ocl_blas_check_span("a", op->trans_a != ISO_NO_TRANS ? op->k : op->m, op->lda,
                                     op->batch, op->stride_a);
    }
    if (status == ISO_OK) {
        status = ocl_blas_check_span("b", op->trans_b != ISO_NO_TRANS ? op->n : op->k, op->ldb,
                                     op->batch, op->stride_b);
    }
    return status == ISO_OK ? ocl_blas_check_span("c", op->m, op->ldc, op->batch, op->stride_c)
                            : status;
}

static iso_status transpose_supports(simt_device *device, const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    iso_status status = simt_transpose_supports(ocl_host, op, "CLBlast", true, NULL);
    if (!status && op->element_bytes > 4) {
        status = ocl_blas_check_f64(device, "transpose: variant vendor");
    }
    if (!status) {
        status = ocl_blas_check_span("from", op->rows, op->ld_from, 1, 0);
    }
    return status ? status : ocl_blas_check_span("to", op->cols, op->ld_to, 1, 0);
}

static iso_status reduce_supports(simt_device *device, const iso_op *of)
{
    const iso_reduce_op_args *op = of->reduce;
    static const simt_reductions has = {
        .library = "CLBlast",
        .norm2_problem =
            "squares elements without scaling them, so that large ones overflow and small "
            "ones vanish",
    };
    iso_status status = simt_reduce_supports(ocl_host, &has, op);
    if (!status && op->dtype == ISO_F64) {
        status = ocl_blas_check_f64(device, "reduce: variant vendor");
    }
    return status ? status : ocl_blas_check_span("x", 1, op->cols, 1, 0);
}

/* The workspace for a transpose that may be in place. CLBlast cannot transpose in place, so such a
 * transpose goes through the workspace. CLBlast's routines allocate all other memory themselves. */
static int64_t transpose_workspace(simt_device *device, const iso_op *of)
{
    const iso_transpose_op *op = of->transpose;
    (void)device;
    const bool in_place = op->rows == op->cols && op->ld_from == op->ld_to;
    return in_place ? op->rows * op->cols * op->element_bytes : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static clblast_code product(ocl_stream *stream, const void *args)
{
    const iso_gemm_op *op = args;
    const unsigned ta = ocl_blas_trans(op->trans_a), tb = ocl_blas_trans(op->trans_b);
    const int64_t cell = iso_dtype_size(op->dtype);
    const size_t a = (size_t)(op->a.offset / cell);
    const size_t b = (size_t)(op->b.offset / cell);
    const size_t c = (size_t)(op->c.offset / cell);
    const size_t m = (size_t)op->m, n = (size_t)op->n, k = (size_t)op->k;
    const size_t lda = (size_t)op->lda, ldb = (size_t)op->ldb, ldc = (size_t)op->ldc;
    const size_t next_a = (size_t)op->stride_a, next_b = (size_t)op->stride_b;
    const size_t next_c = (size_t)op->stride_c, batch = (size_t)op->batch;
    ocl_memory in_a = op->a.memory, in_b = op->b.memory, in_c = op->c.memory;
#define GEMM(letter, alpha, beta)                                                                  \
    (op->batch == 1 ? ocl_clblast.CLBlast##letter##gemm(CLBLAST_ROWS, ta, tb, m, n, k, alpha,      \
                                                        in_a, a, lda, in_b, b, ldb, beta, in_c, c, \
                                                        ldc, &stream->queue, NULL)                 \
                    : ocl_clblast.CLBlast##letter##gemmStridedBatched(                             \
                          CLBLAST_ROWS, ta, tb, m, n, k, alpha, in_a, a, lda, next_a, in_b, b,     \
                          ldb, next_b, beta, in_c, c, ldc, next_c, batch, &stream->queue, NULL))
    switch (op->dtype) {
    case ISO_F32:
        return GEMM(S, (float)op->alpha, (float)op->beta);
    case ISO_F64:
        return GEMM(D, op->alpha, op->beta);
    case ISO_C64:
        return GEMM(C, ocl_narrow_pair(op->alpha, op->alpha_imag),
                    ocl_narrow_pair(op->beta, op->beta_imag));
    default:
        return GEMM(Z, ocl_pair(op->alpha, op->alpha_imag), ocl_pair(op->beta, op->beta_imag));
    }
#undef GEMM
}

/* A copy of rows x cols elements, transposed or not. */
typedef struct turn {
    int64_t element_bytes;
    unsigned trans;
    int64_t rows, cols;
    iso_ref from, to;
    int64_t ld_from, ld_to;
} turn;

static clblast_code turn_over(ocl_stream *stream, const void *args)
{
    const turn *t = args;
    const clblast_pair one = {{1.0, 0.0}};
    const size_t rows = (size_t)t->rows, cols = (size_t)t->cols;
    const size_t from = (size_t)(t->from.offset / t->element_bytes);
    const size_t to = (size_t)(t->to.offset / t->element_bytes);
    const size_t ld_from = (size_t)t->ld_from, ld_to = (size_t)t->ld_to;
    ocl_memory in = t->from.memory, out = t->to.memory;
    switch (t->element_bytes) {
    case 4:
        return ocl_clblast.CLBlastSomatcopy(CLBLAST_ROWS, t->trans, rows, cols, 1.0F, in, from,
                                            ld_from, out, to, ld_to, &stream->queue, NULL);
    case 8:
        return ocl_clblast.CLBlastDomatcopy(CLBLAST_ROWS, t->trans, rows, cols, 1.0, in, from,
                                            ld_from, out, to, ld_to, &stream->queue, NULL);
    default:
        return ocl_clblast.CLBlastZomatcopy(CLBLAST_ROWS, t->trans, rows, cols, one, in, from,
                                            ld_from, out, to, ld_to, &stream->queue, NULL);
    }
}

static clblast_code fold(ocl_stream *stream, const void *args)
{
    const iso_reduce_op_args *op = args;
    const bool wide = op->dtype == ISO_F64;
    const int64_t cell = iso_dtype_size(op->dtype);
    const size_t n = (size_t)op->cols;
    const size_t x = (size_t)(op->x.offset / cell);
    const size_t result = (size_t)(op->result.offset / cell);
    if (op->op == ISO_DOT) {
        const size_t y = (size_t)(op->y.offset / cell);
        return (wide ? ocl_clblast.CLBlastDdot
                     : ocl_clblast.CLBlastSdot)(n, op->result.memory, result, op->x.memory, x, 1,
                                                op->y.memory, y, 1, &stream->queue, NULL);
    }
    clblast_code (*const call)(size_t, ocl_memory, size_t, ocl_memory, size_t, size_t, ocl_queue *,
                               ocl_event *) =
        op->op == ISO_SUM ? wide ? ocl_clblast.CLBlastDsum : ocl_clblast.CLBlastSsum
        : wide            ? ocl_clblast.CLBlastDasum
                          : ocl_clblast.CLBlastSasum;
    return call(n, op->result.memory, result, op->x.memory, x, 1, &stream->queue, NULL);
}

/* Submits a routine, which consists of several commands that get no events. */
iso_status ocl_blas_submit(ocl_stream *stream, clblast_code (*routine)(ocl_stream *, const void *),
                           const void *args, const char *name)
{
    const iso_status status = ocl_routine_begins(stream);
    if (status) {
        return status;
    }
    (void)pthread_mutex_lock(&library_lock);
    const clblast_code code = routine(stream, args);
    (void)pthread_mutex_unlock(&library_lock);
    return code == CLBLAST_DONE ? ocl_unwatched(stream, name)
                                : ocl_host->fail(ocl_status(code), "%s gives %s (%d)", name,
                                                 clblast_code_name(code), code);
}

static iso_status transpose(simt_stream *stream, const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    const char *name = transpose_name(stream->device, op);
    const bool in_place = t->from.memory == t->to.memory && t->from.offset == t->to.offset &&
                          t->rows == t->cols && t->ld_from == t->ld_to;
    turn over = {.element_bytes = t->element_bytes,
                 .trans = CLBLAST_TRANS,
                 .rows = t->rows,
                 .cols = t->cols,
                 .from = t->from,
                 .to = in_place ? op->workspace : t->to,
                 .ld_from = t->ld_from,
                 .ld_to = in_place ? t->rows : t->ld_to};
    const iso_status status = ocl_blas_submit(stream->native, turn_over, &over, name);
    if (status != ISO_OK || !in_place) {
        return status;
    }
    turn back = {.element_bytes = t->element_bytes,
                 .trans = CLBLAST_NO_TRANS,
                 .rows = t->cols,
                 .cols = t->rows,
                 .from = op->workspace,
                 .to = t->to,
                 .ld_from = t->rows,
                 .ld_to = t->ld_to};
    return ocl_blas_submit(stream->native, turn_over, &back, name);
}

static iso_status multiply(simt_stream *stream, const iso_op *op)
{
    return ocl_blas_submit(stream->native, product, op->gemm, product_name(stream->device, op));
}

static iso_status reduce(simt_stream *stream, const iso_op *op)
{
    return ocl_blas_submit(stream->native, fold, op->reduce, reduce_name(stream->device, op));
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* When preparing, larger sizes are cut to these: a routine uses the same kernels for them. */
enum { PREPARE_ELEMENTS = 1 << 18 };

iso_status ocl_blas_take(ocl_rehearsal *self, int64_t bytes, iso_ref *ref)
{
    ocl_code code = OCL_DONE;
    ocl_memory made =
        cl.clCreateBuffer(self->device->context, OCL_READ_WRITE, (size_t)bytes, NULL, &code);
    if (!made) {
        return ocl_fail(code, "clCreateBuffer(%" PRId64 " bytes to prepare CLBlast with)", bytes);
    }
    self->memory[self->count++] = made;
    *ref = (iso_ref){.memory = made, .offset = 0};
    return ISO_OK;
}

static iso_status rehearse_product(ocl_rehearsal *self, simt_stream *stream, const iso_op *given)
{
    const iso_gemm_op *from = given->gemm;
    const int64_t cell = iso_dtype_size(from->dtype);
    iso_gemm_op op = *from;
    op.m = simt_least(op.m, OCL_PREPARE_SIDE);
    op.n = simt_least(op.n, OCL_PREPARE_SIDE);
    op.k = simt_least(op.k, OCL_PREPARE_SIDE);
    op.batch = simt_least(op.batch, 2);
    op.lda = op.trans_a != ISO_NO_TRANS ? op.m : op.k;
    op.ldb = op.trans_b != ISO_NO_TRANS ? op.k : op.n;
    op.ldc = op.n;
    op.stride_a = op.m * op.k;
    op.stride_b = op.k * op.n;
    op.stride_c = op.m * op.n;
    iso_status status = ocl_blas_take(self, op.stride_a * op.batch * cell, &op.a);
    status = status == ISO_OK ? ocl_blas_take(self, op.stride_b * op.batch * cell, &op.b) : status;
    status = status == ISO_OK ? ocl_blas_take(self, op.stride_c * op.batch * cell, &op.c) : status;
    const iso_op whole = {.size = (uint32_t)sizeof whole, .kind = ISO_OP_GEMM, .gemm = &op};
    return status == ISO_OK ? multiply(stream, &whole) : status;
}

static iso_status rehearse_transpose(ocl_rehearsal *self, simt_stream *stream, const iso_op *given)
{
    const iso_transpose_op *from = given->transpose;
    iso_transpose_op op = *from;
    op.rows = simt_least(op.rows, OCL_PREPARE_SIDE);
    op.cols = simt_least(op.cols, OCL_PREPARE_SIDE);
    op.ld_from = op.cols;
    op.ld_to = op.rows;
    const int64_t bytes = op.rows * op.cols * op.element_bytes;
    iso_op whole = {.size = (uint32_t)sizeof whole, .kind = ISO_OP_TRANSPOSE, .transpose = &op};
    iso_status status = ocl_blas_take(self, bytes, &op.from);
    status = status == ISO_OK ? ocl_blas_take(self, bytes, &op.to) : status;
    status = status == ISO_OK ? transpose(stream, &whole) : status;
    if (status == ISO_OK && op.rows == op.cols) {
        op.to = op.from;
        status = ocl_blas_take(self, bytes, &whole.workspace);
        status = status == ISO_OK ? transpose(stream, &whole) : status;
    }
    return status;
}

static iso_status rehearse_reduce(ocl_rehearsal *self, simt_stream *stream, const iso_op *given)
{
    const iso_reduce_op_args *from = given->reduce;
    const int64_t cell = iso_dtype_size(from->dtype);
    iso_reduce_op_args op = *from;
    op.cols = simt_least(op.cols, PREPARE_ELEMENTS);
    const iso_op whole = {.size = (uint32_t)sizeof whole, .kind = ISO_OP_REDUCE, .reduce = &op};
    iso_status status = ocl_blas_take(self, op.cols * cell, &op.x);
    status = status == ISO_OK ? ocl_blas_take(self, op.cols * cell, &op.y) : status;
    status = status == ISO_OK ? ocl_blas_take(self, cell, &op.result) : status;
    return status == ISO_OK ? reduce(stream, &whole) : status;
}

uint32_t ocl_blas_size_class(int64_t m, int64_t n, int64_t k)
{
    const double volume = (double)m * (double)n * (double)k;
    const uint32_t large = volume < 64.0 * 64 * 64      ? 0
                           : volume < 256.0 * 256 * 256 ? 1
                           : volume < 512.0 * 512 * 512 ? 2
                                                        : 3;
    return large | (uint32_t)(m % 64 == 0 && n % 64 == 0 && k % 64 == 0) << 2;
}

/* Operations of one class use the same kernels. The class of a product depends on the type, the
 * transpositions, whether there is a batch, the magnitude of the sizes, and whether the tiles
 * divide them. */
static uint32_t product_class(const iso_op *op)
{
    const iso_gemm_op *g = op->gemm;
    return ocl_blas_size_class(g->m, g->n, g->k) | (uint32_t)ocl_blas_type(g->dtype) << 3 |
           (uint32_t)g->trans_a << 5 | (uint32_t)g->trans_b << 7 | (uint32_t)(g->batch > 1) << 9;
}

static uint32_t transpose_class(const iso_op *op)
{
    const iso_transpose_op *t = op->transpose;
    return OCL_CLASSES_OF_TRANSPOSES + ((uint32_t)t->element_bytes / 8 |
                                        (uint32_t)(t->rows % 64 == 0) << 2 |
                                        (uint32_t)(t->cols % 64 == 0) << 3);
}

static uint32_t reduce_class(const iso_op *op)
{
    return OCL_CLASSES_OF_REDUCTIONS + (uint32_t)op->reduce->op * 2 +
           (op->reduce->dtype == ISO_F64);
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Runs the routine once on temporary buffers, unless an operation of its class was prepared
 * before. */
iso_status ocl_blas_prepare(simt_stream *stream, const iso_op *op, uint32_t bit,
                            iso_status (*run)(ocl_rehearsal *, simt_stream *, const iso_op *))
{
    simt_device *device = stream->device;
    iso_status status = ISO_OK;
    (void)pthread_mutex_lock(&device->vendor_lock);
    prepared *known = device->vendor;
    if (!known) {
        known = ocl_host->alloc((int64_t)sizeof *known);
        if (known) {
            memset(known, 0, sizeof *known);
        }
        device->vendor = known;
    }
    if (!known) {
        status = ISO_NO_MEMORY;
    } else if (!(known->bits[bit / 64] >> (bit % 64) & 1)) {
        ocl_rehearsal self = {.device = ((ocl_stream *)stream->native)->device};
        status = run(&self, stream, op);
        status = status ? status : ocl_stream_sync(stream);
        for (int32_t i = 0; i < self.count; i++) {
            (void)cl.clReleaseMemObject(self.memory[i]);
        }
        known->bits[bit / 64] |= status == ISO_OK ? UINT64_C(1) << (bit % 64) : 0;
    }
    (void)pthread_mutex_unlock(&device->vendor_lock);
    return status;
}

static iso_status prepare_product(simt_stream *stream, const iso_op *op)
{
    return ocl_blas_prepare(stream, op, product_class(op), rehearse_product);
}

static iso_status prepare_transpose(simt_stream *stream, const iso_op *op)
{
    return ocl_blas_prepare(stream, op, transpose_class(op), rehearse_transpose);
}

static iso_status prepare_reduce(simt_stream *stream, const iso_op *op)
{
    return ocl_blas_prepare(stream, op, reduce_class(op), rehearse_reduce);
}

static const simt_vendor_operation gemm_row = {.supports = product_supports,
                                               .execute = multiply,
                                               .prepare = prepare_product,
                                               .name = product_name};
static const simt_vendor_operation transpose_row = {.supports = transpose_supports,
                                                    .workspace = transpose_workspace,
                                                    .execute = transpose,
                                                    .prepare = prepare_transpose,
                                                    .name = transpose_name};
static const simt_vendor_operation reduce_row = {
    .supports = reduce_supports, .execute = reduce, .prepare = prepare_reduce, .name = reduce_name};

static const loader_where where = {.host = &ocl_host, .advice = ""};
static simt_library library = {
    .loader = {.title = "CLBlast",
               .where = &where,
               .names = {"libclblast.so.1"},
               LOADER_FUNCTIONS(ocl_clblast, CLBLAST_SYMBOLS)},
    .open = open_library,
    .needs_terms = true,
    .operations = {[ISO_OP_GEMM] = &gemm_row,
                   [ISO_OP_TRANSPOSE] = &transpose_row,
                   [ISO_OP_REDUCE] = &reduce_row,
                   [ISO_OP_SYRK] = &ocl_blas_syrk,
                   [ISO_OP_TRSM] = &ocl_blas_trsm},
};
static simt_library *const libraries[] = {&library, NULL};

const simt_vendor ocl_vendor = {.libraries = libraries};
