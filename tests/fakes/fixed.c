/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed.c - fixed products over a stand-in, bit for bit equal to the CPU's: layouts, batches, sizes
 * that are not multiples of anything, and more steps of k than sums of 32 bits hold. Prints the
 * kernel of each.
 *
 *   fixed BACKEND all|few|deep
 */
#include "tests/fakes/product.h"

enum { FEW = 2 };
static const product shapes[] = {
    {ISO_F32, 70, 66, 100, 1, 1.0, 0.0, 1, 0, 0},  {ISO_F32, 65, 130, 64, 0, -0.5, 2.0, 3, 1, 0},
    {ISO_F64, 67, 65, 130, 3, 1.0, 0.0, 1, 0, 0},  {ISO_F64, 1, 80, 4000, 0, 2.0, 1.0, 2, 0, 0},
    {ISO_BF16, 90, 70, 50, 1, 1.0, -1.0, 2, 0, 0}, {ISO_F32, 5, 6, 7, 0, 1.0, 0.0, 2, 0, 0},
    {ISO_F32, 21, 4300, 70, 0, 1.0, 0.0, 1, 0, 0}, {ISO_F32, 4300, 21, 70, 0, 1.0, 0.0, 1, 0, 0},
    {ISO_F32, 300, 310, 60, 0, 1.0, 0.0, 1, 0, 0},
};
static const product deep = {ISO_F32, 3, 40, 140000, 0, 1.0, 0.0, 1, 0, 0};

/* Numbers of any bits whose exponents are near 0. If they are `equal`, each is 0x800080 / 2^24, a
 * residue of -128 modulo 256: their products are the greatest that there are. */
static void put(iso_dtype dtype, void *to, int64_t at, uint64_t random, bool equal)
{
    const double fraction = (double)(random >> 11) / 0x1p53 - 0.5;
    const double d = random % 32 == 0 ? 0 : random % 32 < 4 ? fraction * 0x1p-20 : fraction;
    const float f = equal ? 0x1.0001p-1f : (float)d;
    uint32_t upper;
    memcpy(&upper, &f, sizeof upper);
    if (dtype == ISO_F64) {
        ((double *)to)[at] = d;
    } else if (dtype == ISO_F32) {
        ((float *)to)[at] = f;
    } else {
        ((uint16_t *)to)[at] = (uint16_t)(upper >> 16);
    }
}

static int run(const char *backend, const product *p, int layout, bool equal)
{
    const product_results results = product_run(backend, ISO_VARIANT_FIXED, p, layout, put, equal);
    const int other = memcmp(results.own, results.cpu, (size_t)results.bytes) != 0;
    (void)printf("%s: %s %lld x %lld x %lld, batch %lld, layout %d: %s\n", results.kernel,
                 iso_dtype_name(p->dtype), (long long)p->m, (long long)p->n, (long long)p->k,
                 (long long)p->batch, layout, other ? "OTHER BITS" : "equal");
    free(results.own);
    free(results.cpu);
    return other;
}

int main(int count, char **words)
{
    const int all = (int)(sizeof shapes / sizeof shapes[0]);
    int other = 0;
    if (count != 3) {
        return 2;
    }
    if (strcmp(words[2], "deep") == 0) {
        return run(words[1], &deep, 2, true);
    }
    for (int i = 0; i < (strcmp(words[2], "few") == 0 ? FEW : all); i++) {
        for (int layout = i % 2; layout < 4; layout += i < FEW ? 1 : 2) {
            other |= run(words[1], &shapes[i], layout, false);
        }
    }
    return other;
}
