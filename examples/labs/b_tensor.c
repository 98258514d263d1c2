/* SPDX-License-Identifier: Apache-2.0 */
/* b_tensor.c - lab B: matrix units. Ten products in f32, strict and with TF32, which cuts the
 * inputs to 10 bits behind the point: what is gained, and what is lost. */
#include "lab.h"

enum { TEN = 10, EDGE = 16 };

static float *cut_all(const float *from, int64_t count)
{
    float *to = lab_alloc(4 * count);
    for (int64_t i = 0; i < count; i++) {
        to[i] = lab_tf32(from[i]);
    }
    return to;
}

/* Ten products; returns the seconds of all on the device. C is read to the host. */
static double ten(const lab *l, iso_gemm_args *args, const float *a, const float *b, float *c)
{
    const int64_t bytes = 4 * args->n * args->n;
    OK(iso_write(l->stream, args->a, a, bytes));
    OK(iso_write(l->stream, args->b, b, bytes));
    OK(iso_gemm(l->stream, args)); /* loads and builds what it needs */
    lab_begin(l);
    for (int i = 0; i < TEN; i++) {
        OK(iso_gemm(l->stream, args));
    }
    const double seconds = lab_end(l);
    lab_download(l, c, args->c, bytes);
    return seconds;
}

/* The largest |c - right| over the mean |right|. */
static double worst(const lab_rows *r, const float *c)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < r->count * r->n; i++) {
        const double right = r->right[i];
        const double off = fabs(c[lab_row(r, i / r->n) * r->n + i % r->n] - right);
        most = off > most ? off : most;
        size += fabs(right);
    }
    return most * (double)(r->count * r->n) / size;
}

static void line(const char *name, double seconds, double flops, double error, double most)
{
    printf("%-22s%11s%15s%14.2g%14.2g\n", name, seconds > 0 ? lab_seconds(seconds).text : "-",
           seconds > 0 ? lab_rate(flops, seconds, "FLOP/s").text : "-", error, most);
}

/* B1, B2. Returns whether the device used TF32. */
static bool large(const lab *l)
{
    const int64_t n = lab_size(l, 96, 1024, 15000), bytes = 4 * n * n;
    const double flops = 2.0 * TEN * (double)(n * n) * (double)n;
    float *a = lab_random(ISO_F32, LAB_SEED_A, n * n), *b = lab_random(ISO_F32, LAB_SEED_B, n * n);
    float *c = lab_alloc(bytes), *short_a = cut_all(a, n * n), *short_b = cut_all(b, n * n);
    const lab_rows right = lab_product(a, b, ISO_F32, n, n, n);
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    args.dtype = ISO_F32, args.m = args.n = args.k = n;
    args.a = lab_buffer(l, bytes), args.b = lab_buffer(l, bytes), args.c = lab_buffer(l, bytes);
    args.variant = lab_vendor(l) ? ISO_VARIANT_AUTO : ISO_VARIANT_TILED;
    printf("\nB1. Ten products of N x N in f32, N is %lld. Errors against f64, relative\n",
           (long long)n);
    printf("%-22s%11s%15s%14s%14s\n", "", "ten take", "rate", "error, mean", "error, most");
    args.math = ISO_MATH_STRICT;
    const double strict = ten(l, &args, a, b, c), strict_error = lab_error(&right, c, ISO_F32);
    lab_check(strict_error < 1e-5, "the strict product is off by %g", strict_error);
    line("strict", strict, flops, strict_error, worst(&right, c));
    args.math = ISO_MATH_TF32;
    OK(iso_describe(l->device, ISO_OP_GEMM, &args, &info));
    const bool has = info.math == ISO_MATH_TF32;
    const double allowed = ten(l, &args, a, b, c), error = lab_error(&right, c, ISO_F32);
    line("TF32 allowed", allowed, flops, error, worst(&right, c));
    lab_check(error < (has ? 1e-2 : 1e-5), "the product with TF32 allowed is off by %g", error);
    args.math = ISO_MATH_STRICT;
    (void)ten(l, &args, short_a, short_b, c);
    const double lost = lab_error(&right, c, ISO_F32);
    line("TF32 emulated", 0, flops, lost, worst(&right, c));
    printf("What ran where TF32 was allowed: %s, %s%s%s\n", iso_math_name(info.math), info.library,
           has ? "" : ". Why not TF32: ", info.math_reason);
    printf("Emulated: the inputs were cut on the host and multiplied strictly.\n");
    if (has) {
        printf("TF32 is %.2f times as fast, and its error %.0f times as large.\n", strict / allowed,
               error / strict_error);
    } else {
        printf("So the same ran twice, and the times differ by chance. TF32's error would be %.0f "
               "times as large.\n",
               lost / strict_error);
    }
    lab_free(args.a), lab_free(args.b), lab_free(args.c);
    free(a), free(b), free(c), free(short_a), free(short_b), free(right.right);
    return has;
}

static void show(const char *name, const double *matrix)
{
    for (int i = 0; i < 3; i++) {
        printf("%-24s%14.8f%14.8f%14.8f\n", i == 0 ? name : "", matrix[3 * i], matrix[3 * i + 1],
               matrix[3 * i + 2]);
    }
}

/* A product of 3 x 3 on the device, as the corner of 16 x 16 with zeros: matrix units work on whole
 * tiles. */
static void small(const lab *l, const float *a, const float *b, iso_math math, double *c)
{
    float wide[3][EDGE * EDGE] = {{0}};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    for (int i = 0; i < 9; i++) {
        wide[0][i / 3 * EDGE + i % 3] = a[i];
        wide[1][i / 3 * EDGE + i % 3] = b[i];
    }
    args.dtype = ISO_F32, args.m = args.n = args.k = EDGE, args.math = math;
    args.variant = lab_vendor(l) ? ISO_VARIANT_AUTO : ISO_VARIANT_TILED;
    args.a = lab_upload(l, wide[0], sizeof wide[0]);
    args.b = lab_upload(l, wide[1], sizeof wide[1]);
    args.c = lab_buffer(l, sizeof wide[2]);
    OK(iso_gemm(l->stream, &args));
    lab_download(l, wide[2], args.c, sizeof wide[2]);
    for (int i = 0; i < 9; i++) {
        c[i] = (double)wide[2][i / 3 * EDGE + i % 3];
    }
    lab_free(args.a), lab_free(args.b), lab_free(args.c);
}

/* Numbers whose eleventh and later bits matter. */
static void example(const lab *l, bool has)
{
    const float a[9] = {1.0001f, 2.0003f, 3.0007f, 1.0009f, 1.0011f,
                        0.9993f, 2.0017f, 1.0013f, 1.5019f};
    const float b[9] = {1.0002f, 0.5001f, 1.0023f, 2.0029f, 1.0031f,
                        0.7503f, 1.0037f, 3.0041f, 1.2503f};
    double shown[4][9], exact[9] = {0}, strict[9], cut_product[9], off[2] = {0}, size = 0;
    float *short_a = cut_all(a, 9), *short_b = cut_all(b, 9);
    for (int i = 0; i < 9; i++) {
        shown[0][i] = (double)a[i], shown[1][i] = (double)b[i];
        shown[2][i] = (double)short_a[i], shown[3][i] = (double)short_b[i];
        for (int k = 0; k < 3; k++) {
            exact[i] += (double)a[i / 3 * 3 + k] * (double)b[k * 3 + i % 3];
        }
    }
    small(l, a, b, ISO_MATH_STRICT, strict);
    if (has) {
        small(l, a, b, ISO_MATH_TF32, cut_product);
    } else {
        small(l, short_a, short_b, ISO_MATH_STRICT, cut_product);
    }
    printf("\nB1. The same with 3 x 3\n");
    show("A", shown[0]);
    show("A as TF32 has it", shown[2]);
    show("B", shown[1]);
    show("B as TF32 has it", shown[3]);
    show("A B in f64", exact);
    show("A B in f32, strict", strict);
    show(has ? "A B with TF32" : "A B with TF32 emulated", cut_product);
    for (int i = 0; i < 9; i++) {
        off[0] += fabs(strict[i] - exact[i]);
        off[1] += fabs(cut_product[i] - exact[i]);
        size += fabs(exact[i]);
    }
    lab_check(off[0] < 1e-6 * size, "the strict product of 3 x 3 is off by %g", off[0] / size);
    printf("Error, mean: strict %.2g, TF32%s %.2g\n", off[0] / size, has ? "" : " emulated",
           off[1] / size);
    printf("Look at: the third digit behind the point. ISOMER_MATH=tf32 allows TF32 in any "
           "program.\n");
    free(short_a), free(short_b);
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, NULL);
    example(&l, large(&l));
    lab_close(&l);
    return 0;
}
