/* SPDX-License-Identifier: Apache-2.0 */
/* moved.c - the checks of transfers and transposes: every byte. */
#include "bench/check/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct comparison {
    const unsigned char *got, *want;
    _Atomic int64_t first;
} comparison;

static void compare(void *context, int64_t begin, int64_t end)
{
    comparison *c = context;
    if (begin > atomic_load(&c->first) ||
        memcmp(c->got + begin, c->want + begin, (size_t)(end - begin)) == 0) {
        return;
    }
    while (c->got[begin] == c->want[begin]) {
        begin++;
    }
    arith_note_first(&c->first, begin);
}

bool check_transfer(const bench_case *item, const check_data *data, const void *got,
                    bench_result *result)
{
    const transfer_shape *t = &item->transfer;
    comparison c = {.got = got, .want = data->x, .first = INT64_MAX};
    result->method = "exact";
    arith_parallel(t->width * t->height, 1 << 20, compare, &c);
    int64_t first = atomic_load(&c.first);
    if (first == INT64_MAX) {
        return true;
    }
    return check_fail(result, "byte %lld of row %lld is 0x%02x, expected 0x%02x",
                      (long long)(first % t->width), (long long)(first / t->width), c.got[first],
                      c.want[first]);
}

typedef struct turning {
    const unsigned char *from, *to;
    int64_t rows, cols, element; /* the shape of `from`; `element` is in bytes */
    _Atomic int64_t wrong;       /* the first element of `to` that differs */
} turning;

enum { SIDE = 64 };

static inline __attribute__((always_inline)) void turn_by(const turning *t, size_t size,
                                                          const unsigned char *from, int64_t high,
                                                          int64_t wide, unsigned char *tile)
{
    for (int64_t i = 0; i < high; i++) {
        for (int64_t j = 0; j < wide; j++) {
            memcpy(tile + (size_t)(j * SIDE + i) * size, from + (size_t)(i * t->cols + j) * size,
                   size);
        }
    }
}

/* Transposes a square of `from` into `tile`, so that both matrices are read along their rows. The
 * common sizes get loops of their own, in which the size is a constant. */
static void turn(const turning *t, int64_t row, int64_t high, int64_t col, int64_t wide,
                 unsigned char *tile)
{
    const unsigned char *from = t->from + (row * t->cols + col) * t->element;
    if (t->element == 4) {
        turn_by(t, 4, from, high, wide, tile);
    } else if (t->element == 8) {
        turn_by(t, 8, from, high, wide, tile);
    } else {
        turn_by(t, (size_t)t->element, from, high, wide, tile);
    }
}

/* Compares up to SIDE rows of the result. */
static void compare_rows(void *context, int64_t begin, int64_t end)
{
    turning *t = context;
    unsigned char tile[SIDE * SIDE * 16];
    for (int64_t row = 0; row < t->rows; row += SIDE) {
        int64_t high = t->rows - row < SIDE ? t->rows - row : SIDE;
        turn(t, row, high, begin, end - begin, tile);
        for (int64_t j = begin; j < end; j++) {
            const unsigned char *got = t->to + (j * t->rows + row) * t->element;
            const unsigned char *want = tile + (j - begin) * SIDE * t->element;
            if (memcmp(got, want, (size_t)(high * t->element)) == 0) {
                continue;
            }
            int64_t byte = 0;
            while (got[byte] == want[byte]) {
                byte++;
            }
            arith_note_first(&t->wrong, j * t->rows + row + byte / t->element);
        }
    }
}

static void hexadecimal(char *text, const unsigned char *element, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++) {
        snprintf(text + 2 * i, 3, "%02x", element[bytes - 1 - i]);
    }
}

bool check_transpose(const bench_case *item, const check_data *data, const void *got,
                     bench_result *result)
{
    turning t = {.from = data->x,
                 .to = got,
                 .rows = item->transpose.rows,
                 .cols = item->transpose.cols,
                 .element = item->element,
                 .wrong = INT64_MAX};
    result->method = "exact";
    arith_parallel(t.cols, SIDE, compare_rows, &t);
    int64_t at = atomic_load(&t.wrong);
    if (at == INT64_MAX) {
        return true;
    }
    char is[40], was[40];
    int64_t j = at / t.rows, i = at % t.rows;
    hexadecimal(is, t.to + at * t.element, t.element);
    hexadecimal(was, t.from + (i * t.cols + j) * t.element, t.element);
    return check_fail(result, "element [%lld, %lld] is 0x%s, expected 0x%s", (long long)j,
                      (long long)i, is, was);
}
