/* SPDX-License-Identifier: Apache-2.0 */
/* solution_b.c - lab B's exercise: the precision of f32 from three products of short numbers. A
 * number is split into two that TF32 holds exactly, x = high + low, and A B is nearly
 * high high + high low + low high: what is left out is low low, which is tiny. */
#include "lab.h"

/* C = A B, or C += A B, with TF32 allowed: it loses nothing here, because the inputs are short. */
static void add_product(const lab *l, iso_gemm_args args, const float *a, const float *b,
                        double beta)
{
    const int64_t bytes = 4 * args.n * args.n;
    OK(iso_write(l->stream, args.a, a, bytes));
    OK(iso_write(l->stream, args.b, b, bytes));
    args.beta = beta;
    OK(iso_gemm(l->stream, &args));
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, NULL);
    const int64_t n = lab_size(&l, 96, 1000, 8192), bytes = 4 * n * n;
    float *matrix[2], *high[2], *low[2], *c = lab_alloc(bytes);
    double errors[3];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    for (int m = 0; m < 2; m++) {
        matrix[m] = lab_random(ISO_F32, m == 0 ? LAB_SEED_A : LAB_SEED_B, n * n);
        high[m] = lab_alloc(bytes);
        low[m] = lab_alloc(bytes);
        for (int64_t i = 0; i < n * n; i++) {
            high[m][i] = lab_tf32(matrix[m][i]);
            low[m][i] = lab_tf32(matrix[m][i] - high[m][i]);
        }
    }
    const lab_rows right = lab_product(matrix[0], matrix[1], ISO_F32, n, n, n);
    args.dtype = ISO_F32, args.math = ISO_MATH_TF32, args.m = args.n = args.k = n;
    args.variant = lab_vendor(&l) ? ISO_VARIANT_AUTO : ISO_VARIANT_TILED;
    args.a = lab_buffer(&l, bytes), args.b = lab_buffer(&l, bytes);
    args.c = lab_buffer(&l, bytes);
    OK(iso_describe(l.device, ISO_OP_GEMM, &args, &info));
    printf("Products run %s. The inputs are short, so both give the same error\n",
           info.math == ISO_MATH_TF32 ? "with TF32" : "strictly: this device has no TF32");

    add_product(&l, args, high[0], high[1], 0);
    lab_download(&l, c, args.c, bytes);
    errors[0] = lab_error(&right, c, ISO_F32);
    add_product(&l, args, low[0], high[1], 0); /* the small ones first */
    add_product(&l, args, high[0], low[1], 1);
    add_product(&l, args, high[0], high[1], 1);
    lab_download(&l, c, args.c, bytes);
    errors[1] = lab_error(&right, c, ISO_F32);
    args.math = ISO_MATH_STRICT;
    add_product(&l, args, matrix[0], matrix[1], 0);
    lab_download(&l, c, args.c, bytes);
    errors[2] = lab_error(&right, c, ISO_F32);

    printf("\nErrors against f64, N is %lld\n", (long long)n);
    printf("  one product of short numbers    %.1e\n", errors[0]);
    printf("  three products of short numbers %.1e\n", errors[1]);
    printf("  one strict product of f32       %.1e\n", errors[2]);
    lab_check(errors[1] < 8 * errors[2], "the precision did not come back");
    lab_check(errors[0] > 20 * errors[1], "one product of short numbers loses too little");
    for (int m = 0; m < 2; m++) {
        free(matrix[m]), free(high[m]), free(low[m]);
    }
    free(c), free(right.right);
    lab_close(&l);
    return 0;
}
