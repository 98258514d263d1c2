/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - products on the matrix units of a stand-in, bit for bit equal to the CPU's: each tile,
 * in every layout, with sizes that are not multiples of anything, tails in k, several segments, a
 * batch, factors and totals that are continued. Prints the kernel of each. The variant fixed has
 * its own sizes, for int8 units.
 */
#include "tests/fakes/product.h"

#include <math.h>

typedef struct shape {
    const char *units; /* multiprocessors that the stand-in has: they decide the tile */
    int64_t m, n, k;
    int64_t gap; /* of the lines in memory; odd ones are not aligned */
    double alpha, beta;
    int64_t batch;
} shape;

static const shape shapes[] = {
    {"8", 37, 21, 45, 1, 1.0, 0.0, 1},      {"8", 64, 40, 33, 0, -0.5, 2.0, 3},
    {"64", 50, 70, 2500, 0, 1.0, 1.0, 1},   {"1", 192, 250, 90, 0, 3.0, 0.0, 1},
    {"1", 250, 191, 75, 1, 1.0, -1.0, 1},   {"1", 256, 254, 350, 0, 1.0, 0.0, 1},
    {"1", 249, 250, 1027, 0, 0.25, 0.5, 1}, {"1", 130, 129, 8, 0, 1.0, 0.0, 1},
    {"1", 256, 256, 2053, 0, 1.0, 0.0, 1},  {"1", 192, 190, 2049, 0, 1.0, -2.0, 1},
    {"1", 256, 250, 3077, 0, 1.0, 1.0, 1},  {"3", 250, 256, 5003, 0, 0.5, 1.0, 1},
    {"3", 128, 250, 5130, 1, 1.0, 0.0, 2},
};

/* These continue totals; halves have none. */
static const shape continued[] = {
    {"64", 50, 70, 2500, 0, 1.0, 1.0, 1},  {"1", 249, 250, 1027, 0, 1.0, 1.0, 1},
    {"1", 192, 190, 2049, 0, 1.0, 1.0, 1}, {"1", 130, 129, 1000, 1, 1.0, 1.0, 1},
    {"3", 250, 256, 5003, 0, 1.0, 1.0, 1}, {"3", 128, 250, 5130, 1, 1.0, 1.0, 2},
};

static const shape fixed_shapes[] = {
    {"64", 70, 45, 130, 1, 1.0, 0.0, 1},
    {"1", 129, 140, 65, 0, -0.5, 2.0, 1},
    {"1", 40, 300, 200, 1, 1.0, 1.0, 2},
    {"64", 129, 130, 320, 0, 3.0, 0.0, 2},
};
/* The backend and the type: f64, f32 or f16. */
static const char *gpu;
static iso_dtype dtype;

/* Which numbers an operand has: most are ordinary, few are much smaller. */
static int exponent_of(uint64_t m, bool tiny, int low, int lowest)
{
    return tiny ? low - 20 : m % 64 == 0 ? lowest : m % 16 == 1 ? low : 0;
}

/* Numbers whose products are subnormal, underflow or are ordinary, and some zeros. If they are
 * `tiny`, all products underflow to zeros (of f16: when they are stored). */
static void put(iso_dtype type, void *to, int64_t at, uint64_t m, bool tiny)
{
    const double fraction = ((double)(m >> 11) - 0x1p52) / 0x1p52;
    if (type == ISO_F64) {
        ((double *)to)[at] = ldexp(fraction, exponent_of(m, tiny, -530, -1100));
    } else if (type == ISO_F32) {
        ((float *)to)[at] = (float)ldexp(fraction, exponent_of(m, tiny, -70, -152));
    } else { /* its exponent is 5 bits, and 0 means a subnormal number */
        const unsigned exponent = tiny ? 1 : m % 64 == 0 ? 0 : m % 16 == 1 ? 4 : 13;
        ((uint16_t *)to)[at] = (uint16_t)((m >> 48 & 0x83ff) | exponent << 10);
    }
}

/* How many elements differ; also counts those of the CPU that are -0. */
static int64_t compare(const product_results *results, int64_t *negative)
{
    static const uint8_t none[8];
    const size_t bytes = (size_t)iso_dtype_size(dtype);
    const uint8_t *a = results->own, *b = results->cpu;
    int64_t other = 0;
    for (int64_t i = 0; i < results->elements; i++, a += bytes, b += bytes) {
        const bool sign = b[bytes - 1] == 0x80; /* little-endian */
        other += memcmp(a, b, bytes) != 0;
        *negative += sign && memcmp(b, none, bytes - 1) == 0;
    }
    return other;
}

static void run(iso_variant variant, const shape *s, int layout, bool tiny, bool continues)
{
    const product p = {dtype,    s->m,    s->n,     s->k,  s->gap,
                       s->alpha, s->beta, s->batch, false, continues};
    int64_t negative = 0;
    CHECK(setenv("FAKE_UNITS", s->units, 1) == 0);
    const product_results results = product_run(gpu, variant, &p, layout, put, tiny);
    const int64_t other = compare(&results, &negative);
    (void)printf("%s: %lld x %lld x %lld, layout %d%s%s: %lld of %lld differ, %lld are -0\n",
                 results.kernel, (long long)s->m, (long long)s->n, (long long)s->k, layout,
                 tiny ? ", tiny" : "", continues ? ", continues" : "", (long long)other,
                 (long long)results.elements, (long long)negative);
    CHECK(other == 0);
    CHECK(!tiny || negative > 0);
    free(results.own);
    free(results.cpu);
}

static void run_all(iso_variant variant, const shape *from, int count, bool continues)
{
    for (int i = 0; i < count; i++) {
        for (int layout = 0; layout < 4; layout++) {
            run(variant, &from[i], layout, false, continues);
        }
    }
}

/* matrix BACKEND TYPE [quick|fixed|first]: quick has the first shapes, of the smallest tile, and
 * one of a large tile; first only the first of the variant fixed. */
int main(int count, char **arguments)
{
    const char *what = count > 3 ? arguments[3] : "";
    CHECK(count > 2);
    gpu = arguments[1];
    CHECK_OK(iso_dtype_parse(arguments[2], &dtype));
    if (strcmp(what, "fixed") == 0 || strcmp(what, "first") == 0) {
        const int all = (int)(sizeof fixed_shapes / sizeof fixed_shapes[0]);
        run_all(ISO_VARIANT_FIXED, fixed_shapes, strcmp(what, "first") == 0 ? 1 : all, false);
        return 0;
    }
    static const shape large = {"1", 249, 250, 1029, 0, 0.25, 0.5, 1};
    run_all(ISO_VARIANT_TILED, shapes,
            strcmp(what, "quick") == 0 ? 2 : (int)(sizeof shapes / sizeof shapes[0]), false);
    run(ISO_VARIANT_TILED, &large, 1, false, false);
    if (dtype != ISO_F16) {
        run_all(ISO_VARIANT_TILED, continued,
                strcmp(what, "quick") == 0 ? 1 : (int)(sizeof continued / sizeof continued[0]),
                true);
    }
    /* Sums that underflow to -0 stay -0, whatever is beyond the last term. */
    static const shape small[] = {{"8", 33, 34, 5, 0, 1.0, 0.0, 1},
                                  {"1", 200, 130, 53, 0, 1.0, 0.0, 1}};
    for (int layout = 0; layout < 4; layout++) {
        run(ISO_VARIANT_TILED, &small[0], layout, true, false);
        run(ISO_VARIANT_TILED, &small[1], layout, true, false);
    }
    return 0;
}
