/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - a plain model of maps, exactly as docs/bits.md defines them. */
#include "bench/arith/arith.h"

#include <string.h>

enum { CHUNK = 4096 };

bool arith_map_has_y(iso_map_op op)
{
    return op == ISO_MAP_ADD || op == ISO_MAP_MULTIPLY || op == ISO_MAP_TRIAD;
}

bool arith_map_has_alpha(iso_map_op op)
{
    return op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN;
}

#define MAP_BODY(T, FMA)                                                                           \
    static inline __attribute__((always_inline)) void map_body_##T(                                \
        iso_map_op op, T alpha, T beta, int64_t steps, const T *restrict x, const T *restrict y,   \
        T *restrict z, int64_t count)                                                              \
    {                                                                                              \
        switch (op) {                                                                              \
        case ISO_MAP_COPY:                                                                         \
            break;                                                                                 \
        case ISO_MAP_SCALE:                                                                        \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = alpha * x[i];                                                               \
            break;                                                                                 \
        case ISO_MAP_ADD:                                                                          \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = x[i] + y[i];                                                                \
            break;                                                                                 \
        case ISO_MAP_MULTIPLY:                                                                     \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = x[i] * y[i];                                                                \
            break;                                                                                 \
        case ISO_MAP_TRIAD:                                                                        \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = FMA(alpha, y[i], x[i]);                                                     \
            break;                                                                                 \
        case ISO_MAP_CHAIN:                                                                        \
            memcpy(z, x, (size_t)count * sizeof *z);                                               \
            for (int64_t s = 0; s < steps; s++)                                                    \
                for (int64_t i = 0; i < count; i++)                                                \
                    z[i] = FMA(z[i], alpha, beta);                                                 \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void map_plain_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x,           \
                              const T *y, T *z, int64_t count)                                     \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, z, count);                                      \
    }                                                                                              \
    ARITH_FAST static void map_fast_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x, \
                                        const T *y, T *z, int64_t count)                           \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, z, count);                                      \
    }

MAP_BODY(float, __builtin_fmaf)
MAP_BODY(double, __builtin_fma)

static void narrow(iso_dtype dtype, const void *element, float *out, int64_t count)
{
    const unsigned char *at = element;
    int64_t size = iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)arith_load(dtype, at + i * size);
    }
}

static void map_halves(const iso_map_args *a, const void *x, const void *y, void *z, int64_t count)
{
    float in[CHUNK], other[CHUNK], out[CHUNK];
    int64_t size = iso_dtype_size(a->dtype);
    narrow(a->dtype, x, in, count);
    if (arith_map_has_y(a->op)) {
        narrow(a->dtype, y, other, count);
    }
    (ARITH_HAVE_FAST() ? map_fast_float : map_plain_float)(a->op, (float)a->alpha, (float)a->beta,
                                                           a->steps, in, other, out, count);
    for (int64_t i = 0; i < count; i++) {
        arith_store(a->dtype, (unsigned char *)z + i * size, (double)out[i]);
    }
}

#define WHOLE_BODY(T)                                                                              \
    static void whole_##T(iso_map_op op, const T *x, const T *y, T *z, int64_t count)              \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            z[i] = op == ISO_MAP_ADD ? x[i] + y[i] : op == ISO_MAP_MULTIPLY ? x[i] * y[i] : x[i];  \
    }
WHOLE_BODY(uint32_t)
WHOLE_BODY(uint64_t)

static void map_chunk(const iso_map_args *a, const void *x, const void *y, void *z, int64_t count)
{
    switch (a->dtype) {
    case ISO_F16:
    case ISO_BF16:
        map_halves(a, x, y, z, count);
        break;
    case ISO_F32:
        (ARITH_HAVE_FAST() ? map_fast_float : map_plain_float)(
            a->op, (float)a->alpha, (float)a->beta, a->steps, x, y, z, count);
        break;
    case ISO_F64:
        (ARITH_HAVE_FAST() ? map_fast_double : map_plain_double)(a->op, a->alpha, a->beta, a->steps,
                                                                 x, y, z, count);
        break;
    case ISO_I32:
        whole_uint32_t(a->op, x, y, z, count);
        break;
    case ISO_I64:
        whole_uint64_t(a->op, x, y, z, count);
        break;
    }
}

void arith_map(const iso_map_args *args, const void *x, const void *y, void *z, int64_t count)
{
    int64_t size = iso_dtype_size(args->dtype);
    if (args->op == ISO_MAP_COPY) {
        memcpy(z, x, (size_t)(count * size));
        return;
    }
    const char *from = x, *other = arith_map_has_y(args->op) ? y : x;
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t left = count - first, at = first * size;
        map_chunk(args, from + at, other + at, (char *)z + at, left < CHUNK ? left : CHUNK);
    }
}
