/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - gemm, syrk and trsm of BLAS through isomer, as a library that Netlib's testers link
 * instead of libblas.so.3. Matrices go to the device as they are, gaps included, and all of them
 * come back, so the tester sees every byte that the library changes. A call that fails ends the
 * process.
 *
 * The device is ISOMER_BACKEND's, the variant is NETLIB_VARIANT's. NETLIB_FAULT plants one fault:
 * "conj" (conjugate transposes are plain ones), "triangle" (the other one), "unit" (diagonals are
 * read), "beta" (is 0) or "info" (wrong arguments are not reported).
 */
#include <isomer/isomer.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Defined by the tester; Fortran passes the length of the name last. */
void xerbla_(const char *name, const int *argument, size_t length);

static iso_device device;
static iso_stream stream;
static iso_variant variant;
static long long calls; /* with right arguments */

static void check(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "netlib: %s: %s\n", what, iso_last_error());
        _Exit(3);
    }
}

static void finish(void)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;

    check(iso_device_get_info(device, &info), "device");
    check(iso_device_close(device), "close");
    fprintf(stderr, "netlib: %lld calls, %s, %s\n", calls, info.spec, iso_variant_name(variant));
}

static void start(void)
{
    const char *name = getenv("NETLIB_VARIANT");

    if (!device.id) {
        check(name ? iso_variant_parse(name, &variant) : ISO_OK, "NETLIB_VARIANT");
        check(iso_device_open(NULL, &device), "device");
        check(iso_stream_create(device, 0, &stream), "stream");
        atexit(finish);
    }
    calls++;
}

static int fault(const char *name)
{
    const char *planted = getenv("NETLIB_FAULT");

    return planted && !strcmp(planted, name);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Whether the text's first letter is `letter`, in either case. */
static int is(const char *text, char letter)
{
    return (*text & ~0x20) == letter;
}

static int one_of(const char *text, const char *letters)
{
    return *text && strchr(letters, *text & ~0x20) != NULL;
}

static int at_least(int value, int rows)
{
    return value >= (rows > 1 ? rows : 1);
}

/* Reports the first argument that is wrong, if there is one. */
static int wrong(const char *routine, int argument)
{
    if (argument && !fault("info")) {
        xerbla_(routine, &argument, strlen(routine));
    }
    return argument;
}

static int is_complex(iso_dtype dtype)
{
    return dtype == ISO_C64 || dtype == ISO_C128;
}

static iso_trans trans_of(iso_dtype dtype, const char *text)
{
    if (is(text, 'N')) {
        return ISO_NO_TRANS;
    }
    return is(text, 'C') && is_complex(dtype) && !fault("conj") ? ISO_CONJ_TRANS : ISO_TRANS;
}

static iso_triangle triangle_of(const char *text)
{
    return is(text, 'U') != fault("triangle") ? ISO_UPPER : ISO_LOWER;
}

static double real_part(iso_dtype dtype, const void *number)
{
    return dtype == ISO_F32 || dtype == ISO_C64 ? *(const float *)number : *(const double *)number;
}

static double imaginary_part(iso_dtype dtype, const void *number)
{
    if (!is_complex(dtype)) {
        return 0;
    }
    return dtype == ISO_C64 ? ((const float *)number)[1] : ((const double *)number)[1];
}

/* ---- matrices -------------------------------------------------------------------------------- */

typedef struct matrix {
    void *host;
    int64_t bytes;
    iso_operand place;
} matrix;

/* A column-major matrix, sent to the device. */
static matrix send(iso_dtype dtype, const void *host, int rows, int columns, int ld)
{
    matrix sent = {.host = (void *)(uintptr_t)host};

    if (rows > 0 && columns > 0) {
        sent.bytes = ((int64_t)(columns - 1) * ld + rows) * iso_dtype_size(dtype);
    }
    check(iso_buffer_create(device, sent.bytes, &sent.place.buffer), "buffer");
    check(iso_write(stream, sent.place, host, sent.bytes), "write");
    return sent;
}

static void fetch(matrix sent)
{
    check(iso_read(stream, sent.host, sent.place, sent.bytes), "read");
    check(iso_stream_sync(stream), "sync");
    check(iso_buffer_destroy(sent.place.buffer), "destroy");
}

/* ---- the routines ---------------------------------------------------------------------------- */

static void gemm(const char *name, iso_dtype dtype, const char *trans_a, const char *trans_b,
                 const int *m, const int *n, const int *k, const void *alpha, const void *a,
                 const int *lda, const void *b, const int *ldb, const void *beta, void *c,
                 const int *ldc)
{
    const int turn_a = !is(trans_a, 'N'), turn_b = !is(trans_b, 'N');
    const int rows_a = turn_a ? *k : *m, rows_b = turn_b ? *n : *k;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    if (wrong(name, !one_of(trans_a, "NTC")   ? 1
                    : !one_of(trans_b, "NTC") ? 2
                    : *m < 0                  ? 3
                    : *n < 0                  ? 4
                    : *k < 0                  ? 5
                    : !at_least(*lda, rows_a) ? 8
                    : !at_least(*ldb, rows_b) ? 10
                    : !at_least(*ldc, *m)     ? 13
                                              : 0)) {
        return;
    }
    start();
    const matrix in_a = send(dtype, a, rows_a, turn_a ? *m : *k, *lda);
    const matrix in_b = send(dtype, b, rows_b, turn_b ? *k : *n, *ldb);
    const matrix out = send(dtype, c, *m, *n, *ldc);
    args.dtype = dtype, args.variant = variant, args.order = ISO_COLUMN_MAJOR;
    args.trans_a = trans_of(dtype, trans_a), args.trans_b = trans_of(dtype, trans_b);
    args.m = *m, args.n = *n, args.k = *k;
    args.alpha = real_part(dtype, alpha), args.alpha_imag = imaginary_part(dtype, alpha);
    if (!fault("beta")) {
        args.beta = real_part(dtype, beta), args.beta_imag = imaginary_part(dtype, beta);
    }
    args.a = in_a.place, args.b = in_b.place, args.c = out.place;
    args.lda = *lda, args.ldb = *ldb, args.ldc = *ldc;
    check(iso_gemm(stream, &args), name);
    fetch(in_a), fetch(in_b), fetch(out);
}

static void syrk(const char *name, iso_dtype dtype, const char *uplo, const char *trans,
                 const int *n, const int *k, const void *alpha, const void *a, const int *lda,
                 const void *beta, void *c, const int *ldc)
{
    const int turn = !is(trans, 'N'), rows = turn ? *k : *n;
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;

    if (wrong(name, !one_of(uplo, "UL")                                ? 1
                    : !one_of(trans, is_complex(dtype) ? "NT" : "NTC") ? 2
                    : *n < 0                                           ? 3
                    : *k < 0                                           ? 4
                    : !at_least(*lda, rows)                            ? 7
                    : !at_least(*ldc, *n)                              ? 10
                                                                       : 0)) {
        return;
    }
    start();
    const matrix in = send(dtype, a, rows, turn ? *n : *k, *lda);
    const matrix out = send(dtype, c, *n, *n, *ldc);
    args.dtype = dtype, args.variant = variant, args.order = ISO_COLUMN_MAJOR;
    args.triangle = triangle_of(uplo), args.trans = trans_of(dtype, trans);
    args.n = *n, args.k = *k;
    args.alpha = real_part(dtype, alpha), args.alpha_imag = imaginary_part(dtype, alpha);
    if (!fault("beta")) {
        args.beta = real_part(dtype, beta), args.beta_imag = imaginary_part(dtype, beta);
    }
    args.a = in.place, args.c = out.place;
    args.lda = *lda, args.ldc = *ldc;
    check(iso_syrk(stream, &args), name);
    fetch(in), fetch(out);
}

static void trsm(const char *name, iso_dtype dtype, const char *side, const char *uplo,
                 const char *trans, const char *diag, const int *m, const int *n, const void *alpha,
                 const void *a, const int *lda, void *b, const int *ldb)
{
    const int order = is(side, 'L') ? *m : *n;
    iso_trsm_args args = ISO_TRSM_ARGS_INIT;

    if (wrong(name, !one_of(side, "LR")      ? 1
                    : !one_of(uplo, "UL")    ? 2
                    : !one_of(trans, "NTC")  ? 3
                    : !one_of(diag, "UN")    ? 4
                    : *m < 0                 ? 5
                    : *n < 0                 ? 6
                    : !at_least(*lda, order) ? 9
                    : !at_least(*ldb, *m)    ? 11
                                             : 0)) {
        return;
    }
    start();
    const matrix in = send(dtype, a, order, order, *lda);
    const matrix out = send(dtype, b, *m, *n, *ldb);
    args.dtype = dtype, args.variant = variant, args.order = ISO_COLUMN_MAJOR;
    args.side = is(side, 'L') ? ISO_LEFT : ISO_RIGHT;
    args.triangle = triangle_of(uplo), args.trans = trans_of(dtype, trans);
    args.unit_diagonal = is(diag, 'U') && !fault("unit");
    args.m = *m, args.n = *n;
    args.alpha = real_part(dtype, alpha), args.alpha_imag = imaginary_part(dtype, alpha);
    args.a = in.place, args.b = out.place;
    args.lda = *lda, args.ldb = *ldb;
    check(iso_trsm(stream, &args), name);
    fetch(in), fetch(out);
}

/* The Fortran names of one type. */
#define ROUTINES(letter, LETTER, dtype)                                                            \
    EXPORT void letter##gemm_(const char *trans_a, const char *trans_b, const int *m,              \
                              const int *n, const int *k, const void *alpha, const void *a,        \
                              const int *lda, const void *b, const int *ldb, const void *beta,     \
                              void *c, const int *ldc);                                            \
    EXPORT void letter##syrk_(const char *uplo, const char *trans, const int *n, const int *k,     \
                              const void *alpha, const void *a, const int *lda, const void *beta,  \
                              void *c, const int *ldc);                                            \
    EXPORT void letter##trsm_(const char *side, const char *uplo, const char *trans,               \
                              const char *diag, const int *m, const int *n, const void *alpha,     \
                              const void *a, const int *lda, void *b, const int *ldb);             \
    void letter##gemm_(const char *trans_a, const char *trans_b, const int *m, const int *n,       \
                       const int *k, const void *alpha, const void *a, const int *lda,             \
                       const void *b, const int *ldb, const void *beta, void *c, const int *ldc)   \
    {                                                                                              \
        gemm(#LETTER "GEMM ", dtype, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,    \
             ldc);                                                                                 \
    }                                                                                              \
    void letter##syrk_(const char *uplo, const char *trans, const int *n, const int *k,            \
                       const void *alpha, const void *a, const int *lda, const void *beta,         \
                       void *c, const int *ldc)                                                    \
    {                                                                                              \
        syrk(#LETTER "SYRK ", dtype, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);              \
    }                                                                                              \
    void letter##trsm_(const char *side, const char *uplo, const char *trans, const char *diag,    \
                       const int *m, const int *n, const void *alpha, const void *a,               \
                       const int *lda, void *b, const int *ldb)                                    \
    {                                                                                              \
        trsm(#LETTER "TRSM ", dtype, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);        \
    }
ROUTINES(s, S, ISO_F32)
ROUTINES(d, D, ISO_F64)
ROUTINES(c, C, ISO_C64)
ROUTINES(z, Z, ISO_C128)

/* What the testers link too, and are told not to call. */
#define ABSENT(name)                                                                               \
    EXPORT void name##_(void);                                                                     \
    void name##_(void)                                                                             \
    {                                                                                              \
        fprintf(stderr, "netlib: " #name " was called, which isomer does not have\n");             \
        _Exit(3);                                                                                  \
    }
#define ABSENT_OF_ALL(name) ABSENT(s##name) ABSENT(d##name) ABSENT(c##name) ABSENT(z##name)
ABSENT_OF_ALL(gemmtr)
ABSENT_OF_ALL(skewsymm)
ABSENT_OF_ALL(skewsyr2k)
ABSENT_OF_ALL(symm)
ABSENT_OF_ALL(syr2k)
ABSENT_OF_ALL(trmm)
ABSENT(chemm)
ABSENT(cher2k)
ABSENT(cherk)
ABSENT(zhemm)
ABSENT(zher2k)
ABSENT(zherk)
