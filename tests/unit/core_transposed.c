/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_transposed.c - transposes of any shape, pitch and alignment: each element has its place, and
 * nothing around them is written.
 *
 *   isomer_unit_transposed               on the CPU
 *   isomer_unit_transposed caches        of matrices that go past its caches
 *   isomer_unit_transposed tiles DEVICE  also shapes that decide the tiles of a GPU and their order
 */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 600, ROOM = 1 << 18 /* bytes of a matrix */, CACHE_MOST = 64 << 20, GUARD = 0xa5 };
enum { SKIPPED = 77 };

static uint64_t random_state = 5;
static const char *name = "openmp"; /* of the device */

static int64_t draw(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(random_state >> 33) % below;
}

typedef struct place {
    iso_stream stream;
    iso_buffer from, to;
    unsigned char *source, *result; /* host copies of all of `from` and of `to` */
    unsigned char *wanted;          /* what `to` must hold */
    int64_t bytes;                  /* of each */
} place;

static place place_make(iso_device device, int64_t bytes)
{
    place made = {.bytes = bytes,
                  .source = malloc((size_t)bytes),
                  .result = malloc((size_t)bytes),
                  .wanted = malloc((size_t)bytes)};

    assert_non_null(made.source);
    assert_non_null(made.result);
    assert_non_null(made.wanted);
    works(iso_stream_create(device, strcmp(name, "openmp") == 0 ? ISO_STREAM_INLINE : 0,
                            &made.stream));
    works(iso_buffer_create(device, bytes, &made.from));
    works(iso_buffer_create(device, bytes, &made.to));
    for (int64_t i = 0; i < bytes; i++) {
        made.source[i] = (unsigned char)draw(256);
    }
    works(iso_write(made.stream, (iso_operand){made.from, 0}, made.source, bytes));
    return made;
}

static void place_free(place *gone)
{
    works(iso_stream_destroy(gone->stream));
    works(iso_buffer_destroy(gone->from));
    works(iso_buffer_destroy(gone->to));
    free(gone->source);
    free(gone->result);
    free(gone->wanted);
}

/* What `to` must hold: the elements, and around them what was there before. */
static void expect_all(const iso_transpose_args *args, const place *p)
{
    const int64_t size = args->element_bytes, step = args->ld_to * size;
    const int64_t pitch = args->ld_from * size;
    const unsigned char *from = p->source + args->from.offset;
    unsigned char *to = p->wanted + args->to.offset;

    memset(p->wanted, GUARD, (size_t)p->bytes);
    for (int64_t i = 0; i < args->rows; i++) {
        for (int64_t j = 0; j < args->cols; j++) {
            const unsigned char *element = from + i * pitch + j * size;
            unsigned char *cell = to + j * step + i * size;

            for (int64_t k = 0; k < size; k++) {
                cell[k] = element[k];
            }
        }
    }
}

static void check(place *p, iso_transpose_args *args)
{
    const unsigned char guard = GUARD;

    args->variant = ISO_VARIANT_TILED;
    args->from.buffer = p->from;
    args->to.buffer = p->to;
    works(iso_fill(p->stream, (iso_operand){p->to, 0}, &guard, 1, p->bytes));
    works(iso_transpose(p->stream, args));
    works(iso_read(p->stream, p->result, (iso_operand){p->to, 0}, p->bytes));
    works(iso_stream_sync(p->stream));
    expect_all(args, p);
    if (memcmp(p->result, p->wanted, (size_t)p->bytes) == 0) {
        return;
    }
    for (int64_t at = 0; at < p->bytes; at++) {
        if (p->result[at] != p->wanted[at]) {
            fail_msg("%d x %d elements of %d bytes, offsets %d and %d, pitches %d and %d: byte %d "
                     "of the result is %d instead of %d",
                     (int)args->rows, (int)args->cols, (int)args->element_bytes,
                     (int)args->from.offset, (int)args->to.offset, (int)args->ld_from,
                     (int)args->ld_to, (int)at, p->result[at], p->wanted[at]);
        }
    }
}

static void shapes(void **state)
{
    iso_device device;

    (void)state;
    works(iso_device_open(name, &device));
    place p = place_make(device, ROOM);
    for (int i = 0; i < CASES; i++) {
        iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
        const int64_t size = INT64_C(1) << draw(5), room = ROOM / size;

        args.element_bytes = size;
        args.rows = 1 + draw(draw(2) ? 40 : 900);
        args.cols = 1 + draw(draw(2) ? 40 : 900);
        args.ld_from = args.cols + draw(3);
        args.ld_to = args.rows + draw(3);
        args.from.offset = draw(9) * size;
        args.to.offset = draw(9) * size;
        if (args.rows * args.ld_from + 8 > room || args.cols * args.ld_to + 8 > room) {
            continue;
        }
        check(&p, &args);
    }
    place_free(&p);
    works(iso_device_close(device));
}

/* Results beyond the last cache are written past it, in runs that begin and end at cache lines. */
static void past_the_caches(void **state)
{
    static const struct {
        int64_t size, rows, more, offset; /* more: elements between rows of the result */
    } cases[] = {{1, 1027, 5, 3}, {2, 515, 1, 1},  {4, 1024, 0, 0}, {4, 143, 0, 0},
                 {4, 129, 0, 5},  {8, 1000, 1, 1}, {8, 64, 0, 0},   {16, 301, 1, 1}};
    iso_device_info info = {.size = sizeof info};
    iso_device device;

    (void)state;
    works(iso_device_open("openmp", &device));
    works(iso_device_get_info(device, &info));
    place p = place_make(device, info.cache_bytes + info.cache_bytes / 8 + (1 << 16));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;

        args.element_bytes = cases[i].size;
        args.rows = cases[i].rows;
        args.cols = info.cache_bytes / cases[i].size / cases[i].rows + 1;
        args.ld_from = args.cols;
        args.ld_to = args.rows + cases[i].more;
        args.to.offset = cases[i].offset * cases[i].size;
        /* It ends where its memory does, so that a sanitizer sees who reads more. */
        args.from.offset = p.bytes - args.rows * args.ld_from * args.element_bytes;
        check(&p, &args);
    }
    place_free(&p);
    works(iso_device_close(device));
}

/* Whole tiles and parts of tiles; many and few of them; bands that are not full. Pitches of 128 KiB
 * have an order of their own. */
static void tiles(void **state)
{
    static const struct {
        int64_t size, rows, cols, pitch; /* of the result, in elements */
    } cases[] = {
        {4, 256, 256, 256},   {4, 260, 132, 260},  {4, 1028, 516, 1032}, {4, 1026, 514, 1028},
        {8, 256, 256, 256},   {8, 258, 130, 258},  {8, 1030, 514, 1030}, {8, 2114, 66, 16384},
        {8, 2048, 70, 16384}, {8, 1000, 9, 16384}, {1, 1000, 700, 1000}, {16, 100, 130, 100},
    };
    iso_device device;

    (void)state;
    works(iso_device_open(name, &device));
    place p = place_make(device, 70 * 16384 * 8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;

        args.element_bytes = cases[i].size;
        args.rows = cases[i].rows;
        args.cols = cases[i].cols;
        args.ld_from = (args.cols + 3) / 4 * 4;
        args.ld_to = cases[i].pitch;
        check(&p, &args);
    }
    place_free(&p);
    works(iso_device_close(device));
}

static bool can_go_past(void)
{
    iso_device_info info = {.size = sizeof info};
    iso_device device;

    if (iso_device_open("openmp", &device)) {
        printf("SKIP: %s\n", iso_last_error());
        return false;
    }
    works(iso_device_get_info(device, &info));
    works(iso_device_close(device));
    if (info.cache_bytes > CACHE_MOST) {
        printf("SKIP: the last cache has %lld bytes\n", (long long)info.cache_bytes);
    }
    return info.cache_bytes <= CACHE_MOST;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest near[] = {cmocka_unit_test(shapes)};
    const struct CMUnitTest far[] = {cmocka_unit_test(past_the_caches)};
    const struct CMUnitTest tiled[] = {cmocka_unit_test(shapes), cmocka_unit_test(tiles)};

    if (argc == 1) {
        return cmocka_run_group_tests(near, NULL, NULL);
    }
    if (argc == 3 && strcmp(argv[1], "tiles") == 0) {
        name = argv[2];
        return cmocka_run_group_tests(tiled, NULL, NULL);
    }
    if (strcmp(argv[1], "caches") != 0) {
        return fprintf(stderr, "unknown argument %s\n", argv[1]), 1;
    }
    return can_go_past() ? cmocka_run_group_tests(far, NULL, NULL) : SKIPPED;
}
