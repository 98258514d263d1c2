/* SPDX-License-Identifier: Apache-2.0 */
/* check_moved.c - transfers and transposes: every byte. */
#include "bench/workload/internal.h"

#include <stdatomic.h>
#include <string.h>

static const unsigned char *input_of(const work_case *item, const work_inputs *inputs)
{
    work_needs needs;
    int64_t there;
    work_case_needs(item, &needs);
    return work_inputs_block(inputs, needs.type, &there) + needs.at[0];
}

bool work_check_transfer(const work_case *item, work_inputs *inputs, const void *data,
                         work_result *result)
{
    const unsigned char *got = data, *want = input_of(item, inputs);
    int64_t first;
    result->method = "exact";
    if (work_same(got, want, item->bytes, &first)) {
        return true;
    }
    return work_fail(result, "byte %lld is 0x%02x, expected 0x%02x", (long long)first, got[first],
                     want[first]);
}

typedef struct turning {
    const unsigned char *from, *to;
    int64_t rows, cols, element; /* of `from` */
    _Atomic int64_t wrong;       /* the first element of `to` that differs */
} turning;

enum { SIDE = 64 };

#define TURN(T)                                                                                    \
    do {                                                                                           \
        T element;                                                                                 \
        for (int64_t i = 0; i < high; i++)                                                         \
            for (int64_t j = 0; j < wide; j++) {                                                   \
                memcpy(&element, from + (i * t->cols + j) * (int64_t)sizeof element,               \
                       sizeof element);                                                            \
                memcpy(tile + (j * SIDE + i) * (int64_t)sizeof element, &element, sizeof element); \
            }                                                                                      \
    } while (0)

typedef struct pair {
    uint64_t half[2];
} pair;

/* A square of `from`, turned, so that both matrices are read along their rows. */
static void turn(const turning *t, int64_t row, int64_t high, int64_t col, int64_t wide,
                 unsigned char *tile)
{
    const unsigned char *from = t->from + (row * t->cols + col) * t->element;
    switch (t->element) {
    case 1:
        TURN(uint8_t);
        break;
    case 2:
        TURN(uint16_t);
        break;
    case 4:
        TURN(uint32_t);
        break;
    case 8:
        TURN(uint64_t);
        break;
    default:
        TURN(pair);
    }
}

/* Rows of the result, SIDE at a time. */
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
            work_note_first(&t->wrong, j * t->rows + row + byte / t->element);
        }
    }
}

static void hexadecimal(char *text, const unsigned char *element, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++) {
        snprintf(text + 2 * i, 3, "%02x", element[bytes - 1 - i]);
    }
}

bool work_check_transpose(const work_case *item, work_inputs *inputs, const void *data,
                          work_result *result)
{
    const unsigned char *got = data, *from = input_of(item, inputs);
    turning t = {.from = from,
                 .to = got,
                 .rows = item->rows,
                 .cols = item->cols,
                 .element = item->element,
                 .wrong = INT64_MAX};
    result->method = "exact";
    work_parallel(t.cols, SIDE, compare_rows, &t);
    int64_t at = atomic_load(&t.wrong);
    if (at == INT64_MAX) {
        return true;
    }
    char is[40], was[40];
    int64_t j = at / t.rows, i = at % t.rows;
    hexadecimal(is, got + at * t.element, t.element);
    hexadecimal(was, from + (i * t.cols + j) * t.element, t.element);
    return work_fail(result, "element [%lld, %lld] is 0x%s, expected 0x%s", (long long)j,
                     (long long)i, is, was);
}
