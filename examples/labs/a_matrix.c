/* SPDX-License-Identifier: Apache-2.0 */
/* a_matrix.c - lab A: matrices. Transposes and products by own kernels, the library and the vendor;
 * what the copies to the device and back cost; and memory of another library. */
#include "a_matrix.isk.h"
#include "lab.h"

enum { EDGE = 16, REPEATS = 3 };

/* A1: every element of the transpose is compared. */
static void transpose(const lab *l, iso_dtype dtype, int64_t n)
{
    static const char *const ways[] = {"own kernel", "naive", "tiled"};
    const int64_t size = iso_dtype_size(dtype), bytes = n * n * size;
    void *from = lab_random(dtype, LAB_SEED_A, n * n), *to = lab_alloc(bytes);
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.element_bytes = size, args.rows = args.cols = n;
    args.from = lab_upload(l, from, bytes), args.to = lab_buffer(l, bytes);
    const iso_argument arguments[] = {iso_arg_buffer(args.from), iso_arg_buffer(args.to),
                                      iso_arg_integer(n), iso_arg_integer(n)};
    const lab_launch launch =
        LAB_LAUNCH(l, dtype == ISO_F64 ? "transpose_item_f64" : "transpose_item_f32",
                   lab_groups_2(n, n, EDGE), arguments);
    printf("%8lld  %s", (long long)n, iso_dtype_name(dtype));
    for (int way = 0; way < 3; way++) {
        args.variant = way == 1 ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED;
        OK(iso_fill(l->stream, args.to, "\377", 1, bytes));
        const double seconds = way == 0 ? lab_time(l, &launch, REPEATS).median
                                        : lab_time_op(l, ISO_OP_TRANSPOSE, &args, REPEATS).median;
        lab_download(l, to, args.to, bytes);
        for (int64_t i = 0; i < n * n; i++) {
            lab_check(lab_get(to, dtype, i) == lab_get(from, dtype, i % n * n + i / n),
                      "%s: element %lld of the transpose", ways[way], (long long)i);
        }
        printf("%11s%12s", lab_seconds(seconds).text,
               lab_rate(2.0 * (double)bytes, seconds, "B/s").text);
    }
    printf("\n");
    lab_free(args.from), lab_free(args.to);
    free(from), free(to);
}

static const char *const kernels[2][2] = {{"product_item_f32", "product_item_f64"},
                                          {"product_tile_f32", "product_tile_f64"}};

/* The ways of a product: two own kernels, then variants of iso_gemm. */
static const char *const ways[] = {"product_item", "product_tile", "naive", "tiled", "vendor"};
static const iso_variant variants[] = {0, 0, ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                       ISO_VARIANT_VENDOR};

typedef struct parts {
    double in, kernel, out, total; /* seconds */
} parts;

static parts product(const lab *l, int way, iso_gemm_args args, const void *a, const void *b,
                     void *c)
{
    const int64_t n = args.n, bytes = n * n * iso_dtype_size(args.dtype);
    const iso_argument arguments[] = {iso_arg_buffer(args.a), iso_arg_buffer(args.b),
                                      iso_arg_buffer(args.c), iso_arg_integer(n),
                                      iso_arg_integer(n),     iso_arg_integer(n)};
    const lab_launch launch =
        LAB_LAUNCH(l, kernels[way % 2][args.dtype == ISO_F64], lab_groups_2(n, n, EDGE), arguments);
    parts p;
    const double start = lab_now();
    OK(iso_write(l->stream, args.a, a, bytes));
    OK(iso_write(l->stream, args.b, b, bytes));
    lab_sync(l);
    p.in = lab_now() - start;
    lab_begin(l);
    if (way < 2) {
        lab_run(l, &launch);
    } else {
        OK(iso_gemm(l->stream, &args));
    }
    p.kernel = lab_end(l);
    const double computed = lab_now();
    lab_download(l, c, args.c, bytes);
    p.out = lab_now() - computed;
    p.total = lab_now() - start;
    return p;
}

/* A2, A3, A4: C = A B in one type. */
static void products(const lab *l, iso_dtype dtype, int64_t n, double *rates)
{
    const int64_t bytes = n * n * iso_dtype_size(dtype);
    void *a = lab_random(dtype, LAB_SEED_A, n * n), *b = lab_random(dtype, LAB_SEED_B, n * n);
    void *c = lab_alloc(bytes);
    const lab_rows right = lab_product(a, b, dtype, n, n, n);
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = dtype, args.m = args.n = args.k = n;
    const double cpu = lab_cpu_product(l, args, a, b);
    args.a = lab_buffer(l, bytes), args.b = lab_buffer(l, bytes), args.c = lab_buffer(l, bytes);
    for (int way = 0; way < (lab_vendor(l) ? 5 : 4); way++) {
        args.variant = variants[way];
        if (way > 1 && iso_supports(l->device, ISO_OP_GEMM, &args)) {
            printf("%6lld %4s %s: %s\n", (long long)n, iso_dtype_name(dtype), ways[way],
                   iso_last_error());
            continue;
        }
        parts best = product(l, way, args, a, b, c); /* loads and builds what it needs */
        for (int i = 0; i < REPEATS; i++) {
            const parts next = product(l, way, args, a, b, c);
            best = next.total < best.total ? next : best;
        }
        const double error = lab_error(&right, c, dtype);
        lab_check(error < (dtype == ISO_F64 ? 1e-13 : 1e-5), "%s is off by %g", ways[way], error);
        rates[way] = 2.0 * (double)(n * n) * (double)n / best.kernel;
        printf("%6lld  %s  %-13s%9s%9s%9s%9s%14s%10.1e", (long long)n, iso_dtype_name(dtype),
               ways[way], lab_seconds(best.in).text, lab_seconds(best.kernel).text,
               lab_seconds(best.out).text, lab_seconds(best.total).text,
               lab_scaled(rates[way], "FLOP/s").text, error);
        printf(cpu > 0 ? "%8.3g%8.3g\n" : "\n", cpu / best.kernel, cpu / best.total);
    }
    lab_free(args.a), lab_free(args.b), lab_free(args.c);
    free(a), free(b), free(c), free(right.right);
}

static void given_back(iso_dlpack_managed *lent)
{
    lent->deleter = NULL; /* the owner may free its memory now */
}

/* A5: a matrix of another owner is multiplied where it is. On a CPU the owner is this program; on
 * other devices a second handle to the same one. Libraries of Python do the same: wrap.py. */
static void interoperate(const lab *l, int64_t n)
{
    const int64_t bytes = 4 * n * n;
    int64_t shape[] = {n, n};
    float *a = lab_random(ISO_F32, LAB_SEED_A, n * n), *c = lab_alloc(bytes);
    iso_dlpack_managed own = {.tensor = {a, 1, 0, 2, 2, 32, 1, shape, NULL, 0},
                              .deleter = given_back};
    const bool here = strcmp(l->info.backend, "openmp") == 0;
    void *lent = &own;
    iso_tensor wrapped = ISO_TENSOR_INIT, theirs = ISO_TENSOR_INIT;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    lab owner;
    if (!here) {
        owner = lab_open_device(l->info.spec, NULL);
        theirs.dtype = ISO_F32, theirs.ndim = 2, theirs.shape[0] = theirs.shape[1] = n;
        theirs.buffer = lab_upload(&owner, a, bytes).buffer;
        OK(iso_dlpack_export(owner.stream, (iso_stream){0}, &theirs, &lent));
    }
    double start = lab_now();
    OK(iso_dlpack_import(l->stream, lent, here ? 0 : ISO_DLPACK_VERSIONED, &wrapped));
    const double wrap = lab_now() - start;
    args.dtype = ISO_F32, args.variant = ISO_VARIANT_TILED;
    OK(iso_tensor_matrix(&wrapped, &args.a, &args.m, &args.k, &args.lda, &args.trans_a));
    args.b = args.a, args.n = n, args.c = lab_buffer(l, bytes);
    OK(iso_gemm(l->stream, &args));
    lab_download(l, c, args.c, bytes);
    const lab_rows right = lab_product(a, a, ISO_F32, n, n, n);
    lab_check(lab_error(&right, c, ISO_F32) < 1e-5, "the product of wrapped memory");
    start = lab_now();
    OK(iso_copy(l->stream, args.c, args.a, bytes));
    lab_sync(l);
    const double copy = lab_now() - start;
    lab_free(args.c), lab_free(args.a); /* gives it back */
    lab_check(!here || !own.deleter, "the memory was not given back");
    printf("\nA5. Memory of %s, %s: wrapped in %s, copied in %s (%.0f times as long)\n"
           "Look at: wrapping takes the same time for any size. Try wrap.py with your arrays.\n",
           here ? "this program" : "another owner on the device", lab_bytes(bytes).text,
           lab_seconds(wrap).text, lab_seconds(copy).text, copy / wrap);
    if (!here) {
        lab_close(&owner);
    }
    free(a), free(c), free(right.right);
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, &a_matrix_isk);
    const int64_t orders[] = {2, 33, lab_size(&l, 50, 1024, 1024), lab_size(&l, 100, 4096, 10240)};
    const int64_t sizes[] = {32, lab_size(&l, 40, 200, 5120), lab_size(&l, 70, 500, 10240)};
    double rates[2][5] = {{0}}; /* of the largest products */
    printf("\nA1. Transposes of N x N, every element compared; bytes are read and written\n"
           "%8s  %3s%23s%23s%23s\n",
           "N", "", "own kernel", "naive", "tiled");
    for (int i = 0; i < 8; i++) {
        transpose(&l, i % 2 ? ISO_F64 : ISO_F32, orders[i / 2]);
    }
    printf("Look at: both read and write every element once. Why is tiled faster?\n");
    printf("\nA2, A3, A4. Products of N x N. Error: against f64\n%88s\n", "faster than the CPU");
    printf("%6s  %3s  %-13s%9s%9s%9s%9s%14s%10s%8s%8s\n", "N", "", "", "copy in", "kernel",
           "copy out", "total", "of kernel", "error", "kernel", "total");
    for (int i = 0; i < 6; i++) {
        products(&l, i % 2 ? ISO_F64 : ISO_F32, sizes[i / 2], rates[i % 2]);
    }
    printf("f32 is faster than f64:");
    for (int way = 0; way < 5; way++) {
        if (rates[1][way] > 0) {
            printf("  %s %.1f", ways[way], rates[0][way] / rates[1][way]);
        }
    }
    printf(" times\nLook at: kernel against total. For which N do the copies decide?\n");
    interoperate(&l, sizes[2]);
    lab_close(&l);
    return 0;
}
