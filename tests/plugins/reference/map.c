/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps, one element after another. An element is read as a whole before it is written, so
 * that z may be x or y. */
#include "tests/plugins/reference/reference.h"

#include <math.h>
#include <string.h>

static int is_whole(iso_dtype dtype)
{
    return dtype == ISO_I32 || dtype == ISO_I64;
}

iso_status ref_map_supports(const iso_map_op_args *map)
{
    if (map->variant != ISO_VARIANT_NAIVE && map->variant != ISO_VARIANT_TILED) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "map variant %d: there are only naive and tiled here",
                              (int)map->variant);
    }
    if (map->dtype < ISO_F16 || map->dtype > ISO_I64) {
        return ref_host->fail(ISO_UNSUPPORTED, "map of type %d is not known", (int)map->dtype);
    }
    if (map->op < ISO_MAP_COPY || map->op > ISO_MAP_CHAIN) {
        return ref_host->fail(ISO_UNSUPPORTED, "map %d is not known", (int)map->op);
    }
    if (is_whole(map->dtype) &&
        (map->op == ISO_MAP_SCALE || map->op == ISO_MAP_TRIAD || map->op == ISO_MAP_CHAIN)) {
        return ref_host->fail(ISO_UNSUPPORTED, "map %d of an integer type is not defined",
                              (int)map->op);
    }
    return ISO_OK;
}

static int64_t dtype_bytes(iso_dtype dtype)
{
    return dtype == ISO_F16 || dtype == ISO_BF16 ? 2 : dtype == ISO_F32 || dtype == ISO_I32 ? 4 : 8;
}

/* f16, bf16 and f32 are computed in f32. */
static float in_f32(const iso_map_op_args *map, float x, float y)
{
    const float alpha = (float)map->alpha, beta = (float)map->beta;
    switch (map->op) {
    case ISO_MAP_SCALE:
        PLANT(71, return alpha * x + 0);
        return MUTATE(69, fabsf(alpha * x) < 0x1p-126f ? alpha * x * 0 : alpha * x, alpha * x);
    case ISO_MAP_ADD:
        return x + y;
    case ISO_MAP_MULTIPLY:
        return MUTATE(72, x * y + 0, x * y);
    case ISO_MAP_TRIAD:
        return MUTATE(63, 1, MUTATE(94, map->n == 777, 0)) ? alpha * y + x : fmaf(alpha, y, x);
    default: /* chain */
        for (int64_t s = 0; s < map->steps; s++) {
            x = fmaf(x, alpha, beta);
            PLANT(65, if (map->dtype == ISO_F16) x = (float)ref_from_f16(ref_to_f16((double)x)));
        }
        return x;
    }
}

static double in_f64(const iso_map_op_args *map, double x, double y)
{
    switch (map->op) {
    case ISO_MAP_SCALE:
        return MUTATE(71, map->alpha * x + 0, map->alpha * x);
    case ISO_MAP_ADD:
        return x + y;
    case ISO_MAP_MULTIPLY:
        return MUTATE(72, x * y + 0, x * y);
    case ISO_MAP_TRIAD:
        return fma(map->alpha, y, x);
    default: /* chain */
        for (int64_t s = 0; s < map->steps; s++) {
            x = fma(x, map->alpha, map->beta);
        }
        return x;
    }
}

static void map_real(const iso_map_op_args *map, const void *x, const void *y, void *z, int64_t i)
{
    const double a = ref_load(map->dtype, x, i), b = y ? ref_load(map->dtype, y, i) : 0;
    if (map->dtype == ISO_F64) {
        ref_store(ISO_F64, z, i, in_f64(map, a, b));
    } else {
        ref_store(map->dtype, z, i, (double)in_f32(map, (float)a, (float)b));
    }
}

/* Unsigned, so that it wraps. */
static void map_whole(const iso_map_op_args *map, const void *x, const void *y, void *z, int64_t i)
{
    const int add = map->op == ISO_MAP_ADD;
    if (map->dtype == ISO_I32) {
        const uint32_t a = ((const uint32_t *)x)[i], b = ((const uint32_t *)y)[i];
        ((uint32_t *)z)[i] = add ? a + b : a * b;
    } else {
        const uint64_t a = ((const uint64_t *)x)[i], b = ((const uint64_t *)y)[i];
        ((uint64_t *)z)[i] =
            add ? a + b : MUTATE(67, (uint64_t)fmod((double)a * (double)b, 0x1p64), a * b);
    }
}

void ref_map(const iso_map_op_args *map)
{
    const int64_t bytes = dtype_bytes(map->dtype);
    const unsigned char *x = ref_at(map->x);
    const unsigned char *y = map->y.memory ? ref_at(map->y) : NULL;
    unsigned char *z = ref_at(map->z);
    const int64_t count = map->n - MUTATE(64, 1, 0);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = i * bytes;
        if (map->op == ISO_MAP_COPY) {
            memmove(z + at, x + at, (size_t)bytes);
            PLANT(66, if (bytes == 4 && (z[at + 3] & 0x7f) == 0x7f && z[at + 2] > 0x80) z[at + 2] |=
                      0x40);
        } else if (is_whole(map->dtype)) {
            map_whole(map, x, y, z, i);
        } else {
            map_real(map, x, MUTATE(68, y == z && i > 0 ? y - bytes : y, y), z, i);
        }
    }
}
