/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - what the buffers of a kernel begin with. Each chunk has its own seed, so that threads
 * can fill chunks in any order. */
#include "bench/kernel/describe.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CHUNK = 1 << 16 }; /* numbers that are made from one seed */

typedef struct filling {
    const describe_fill *fill;
    describe_scalar scalar;
    uint64_t seed;
    int64_t first, end; /* numbers; `first` is the beginning of a chunk */
    unsigned char *to;  /* of number `first` */
} filling;

static void store(describe_scalar scalar, int64_t whole, double number, unsigned char *out)
{
    float single = (float)number;
    if (scalar == DESCRIBE_F64) {
        memcpy(out, &number, sizeof number);
    } else if (scalar == DESCRIBE_F32) {
        memcpy(out, &single, sizeof single);
    } else { /* the machine is little-endian, so the low bytes come first */
        memcpy(out, &whole, (size_t)describe_scalar_bytes(scalar));
    }
}

/* A number in the range. Products of 128 bits leave a bias below 2^-64. */
static int64_t pick(int64_t from, int64_t to, uint64_t mix)
{
    uint64_t many = (uint64_t)to - (uint64_t)from + 1; /* 0: all 2^64 */
    uint64_t at = many ? (uint64_t)(((unsigned __int128)mix * many) >> 64) : mix;
    return (int64_t)((uint64_t)from + at);
}

static int64_t extreme(describe_scalar scalar, uint64_t mix)
{
    int bits = 8 * describe_scalar_bytes(scalar);
    uint64_t top = UINT64_MAX >> (64 - bits), half = top >> 1;
    bool is_signed = describe_scalar_name(scalar)[0] == 'i';
    uint64_t low = is_signed ? half + 1 : 0, high = is_signed ? half : top;
    const uint64_t values[] = {low, low + 1, is_signed ? top : 2, 0, 1, high - 1, high};
    return (int64_t)values[(mix >> 33) % 7];
}

static int64_t whole_of(const filling *f, int64_t index, uint64_t mix)
{
    const describe_fill *fill = f->fill;
    if (fill->how == DESCRIBE_RANGE) {
        return pick(fill->from, fill->to, mix);
    }
    if (fill->how == DESCRIBE_STEPS) {
        return (int64_t)((uint64_t)fill->from + (uint64_t)index * (uint64_t)fill->step);
    }
    if (fill->word == ARITH_EXTREMES) {
        return extreme(f->scalar, mix);
    }
    if (fill->word == ARITH_INTS) {
        return (int64_t)((mix >> 33) % 7) - (describe_scalar_name(f->scalar)[0] == 'i' ? 3 : 0);
    }
    return (int64_t)mix;
}

static double number_of(const filling *f, int64_t index, uint64_t mix)
{
    const describe_fill *fill = f->fill;
    if (fill->how == DESCRIBE_STEPS) {
        return fill->float_from + (double)index * fill->float_step;
    }
    double part = (double)(mix >> 11) * 0x1p-53;
    return fill->float_from + part * (fill->float_to - fill->float_from);
}

/* The numbers of a chunk, and where they go. */
static unsigned char *part_of(const filling *f, int64_t chunk, int64_t *first, int64_t *count)
{
    *first = chunk * CHUNK;
    *count = f->end - *first < CHUNK ? f->end - *first : CHUNK;
    return f->to + (*first - f->first) * describe_scalar_bytes(f->scalar);
}

static void fill_chunk(const filling *f, int64_t chunk)
{
    int32_t size = describe_scalar_bytes(f->scalar);
    bool is_float = describe_is_float(f->scalar);
    int64_t first, count;
    uint64_t seed = arith_mix(f->seed, (uint64_t)chunk);
    unsigned char *to = part_of(f, chunk, &first, &count);
    if (f->fill->how == DESCRIBE_WORD && is_float) {
        arith_generate(f->scalar == DESCRIBE_F32 ? ISO_F32 : ISO_F64, f->fill->word, seed, count,
                       to);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t mix = arith_mix(seed, (uint64_t)i);
        store(f->scalar, is_float ? 0 : whole_of(f, first + i, mix),
              is_float ? number_of(f, first + i, mix) : 0, to + i * size);
    }
}

static void repeat_chunk(const filling *f, int64_t chunk)
{
    int64_t first, count, size = describe_scalar_bytes(f->scalar);
    unsigned char *to = part_of(f, chunk, &first, &count);
    for (int64_t i = 0; i < count * size; i++) {
        to[i] = f->fill->bytes[(first * size + i) % f->fill->length];
    }
}

static void fill_chunks(void *context, int64_t begin, int64_t end)
{
    const filling *f = context;
    for (int64_t chunk = f->first / CHUNK + begin; chunk < f->first / CHUNK + end; chunk++) {
        if (f->fill->how == DESCRIBE_REPEAT) {
            repeat_chunk(f, chunk);
        } else {
            fill_chunk(f, chunk);
        }
    }
}

/* Makes the numbers from `first`, the beginning of a chunk, up to `end`. */
static void make(const describe_parameter *parameter, uint64_t seed, int64_t round, int64_t first,
                 int64_t end, void *out)
{
    uint64_t name = XXH3_64bits(parameter->is.name, strlen(parameter->is.name));
    /* Bytes of structs are made as u8. */
    filling f = {.fill = &parameter->fill,
                 .scalar = parameter->scalar == DESCRIBE_STRUCT ? DESCRIBE_U8 : parameter->scalar,
                 .seed = arith_mix(arith_mix(seed, (uint64_t)round), name),
                 .first = first,
                 .end = end,
                 .to = out};
    arith_parallel((end - first + CHUNK - 1) / CHUNK, 1, fill_chunks, &f);
}

void describe_make(const describe_parameter *parameter, uint64_t seed, int64_t round, void *out)
{
    if (parameter->fill.how == DESCRIBE_UNWRITTEN) {
        memset(out, 0xff, (size_t)parameter->bytes);
        return;
    }
    make(parameter, seed, round, 0, parameter->elements * parameter->lanes, out);
}

int64_t describe_make_part(const describe_parameter *parameter, uint64_t seed, int64_t round,
                           int64_t most, int64_t *bytes, void *out)
{
    int64_t size = parameter->bytes / (parameter->elements * parameter->lanes);
    int64_t numbers = parameter->elements * parameter->lanes;
    int64_t part = most / size / CHUNK * CHUNK, parts = (numbers + part - 1) / part;
    int64_t first = round % parts * part;
    int64_t end = numbers - first < part ? numbers : first + part;
    make(parameter, seed, round, first, end, out);
    *bytes = (end - first) * size;
    return first * size;
}
