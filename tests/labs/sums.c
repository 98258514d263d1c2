/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - lab D's sums of a product's columns, in every way and with and without words of 16
 * bytes, where sizes are 0, where rows have no whole words, and where sums take several groups. The
 * device is the first argument, or the CPU. */
#include "examples/labs/arrays.h"
#include "examples/labs/lab.h"

#include "d_arrays.isk.h"

/* The greatest error, relative to the greatest sum. */
static double error_of(const array_sums *s, const void *a, const void *b, const void *y)
{
    double worst = 0, most = 1e-30;
    for (int64_t j = 0; j < s->n; j++) {
        double want = 0;
        for (int64_t i = 0; i < s->m; i++) {
            for (int64_t p = 0; p < s->k; p++) {
                want += lab_get(a, s->dtype, i * s->k + p) * lab_get(b, s->dtype, p * s->n + j);
            }
        }
        const double off = fabs(lab_get(y, s->dtype, j) - want);
        worst = off > worst || isnan(off) ? off : worst;
        most = fabs(want) > most ? fabs(want) : most;
    }
    return s->m * s->k > 0 ? worst / most : worst;
}

static void run(const lab *l, iso_dtype dtype, int64_t m, int64_t k, int64_t n)
{
    const int64_t each = iso_dtype_size(dtype);
    array_sums s = {.dtype = dtype, .m = m, .k = k, .n = n};
    void *a = lab_random(dtype, LAB_SEED_A, m * k), *b = lab_random(dtype, LAB_SEED_B, k * n);
    void *y = lab_alloc(n * each);
    const float dirt = 7;
    s.a = lab_upload(l, a, m * k * each);
    s.b = lab_upload(l, b, k * n * each);
    s.c = lab_buffer(l, m * n * each);
    s.y = lab_buffer(l, n * each);
    s.work = lab_buffer(l, array_sums_work(&s));
    for (int words = 0; words < 2; words++) {
        for (array_way way = ARRAY_PRODUCT; way <= ARRAY_FUSED_SUMS; way++) {
            s.words = words;
            OK(iso_fill(l->stream, s.y, &dirt, sizeof dirt, n * each));
            OK(array_sums_run(l->stream, l->program, &s, way));
            lab_download(l, y, s.y, n * each);
            const double error = error_of(&s, a, b, y), most = dtype == ISO_F64 ? 1e-12 : 1e-4;
            lab_check(error <= most, "%s, %s, %lld x %lld x %lld, words %d: the error is %g",
                      array_way_name(way), iso_dtype_name(dtype), (long long)m, (long long)k,
                      (long long)n, words, error);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        lab_free((const iso_operand[]){s.a, s.b, s.c, s.y, s.work}[i]);
        free((void *[]){a, b, y, NULL, NULL}[i]);
    }
}

int main(int count, char **words)
{
    static const int64_t sizes[][3] = {{1, 1, 1},   {0, 8, 8},    {8, 0, 8},    {0, 0, 4},
                                       {70, 36, 8}, {600, 20, 3}, {5, 600, 12}, {300, 7, 260}};
    lab l = lab_open_device(count > 1 ? words[1] : "openmp", &d_arrays_isk);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run(&l, ISO_F32, sizes[i][0], sizes[i][1], sizes[i][2]);
        run(&l, ISO_F64, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
    lab_close(&l);
    return 0;
}
