/* SPDX-License-Identifier: Apache-2.0 */
/* core_blocks.c - overlap by elements: calls on interleaved blocks are accepted or refused as a map
 * of bytes predicts. The check is exact for two matrices, whatever their leading dimensions, and
 * for batches with shared strides. With many different strides a call may be refused needlessly,
 * but an overlap is never accepted. */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static unit_session s;
static iso_stream here; /* inline: thousands of small calls */

static int setup(void **state)
{
    (void)state;
    unit_open(&s, "openmp");
    works(iso_stream_create(s.device, ISO_STREAM_INLINE, &here));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_close(&s);
    return 0;
}

static uint64_t seed = 1;

static int64_t random_up_to(int64_t most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)(most + 1));
}

/* ---- the map --------------------------------------------------------------------------------- */

enum { MAP_BYTES = 8192 };

/* The bytes of an operand. */
typedef struct block {
    int64_t at, rows, cols, ld, batch, stride, element; /* at in bytes, the others in elements */
} block;

/* Marks the bytes of one matrix; returns whether one was already marked. */
static bool mark(const block *b, int64_t member, unsigned char *map)
{
    bool met = false;

    for (int64_t i = 0; i < b->rows; i++) {
        int64_t first = b->at + (member * b->stride + i * b->ld) * b->element;

        for (int64_t at = first; at < first + b->cols * b->element; at++) {
            assert_in_range(at, 0, MAP_BYTES - 1);
            met |= map[at];
            map[at] = 1;
        }
    }
    return met;
}

static bool meets_itself(const block *b)
{
    static unsigned char map[MAP_BYTES];
    bool met = false;

    memset(map, 0, sizeof map);
    for (int64_t i = 0; i < b->batch; i++) {
        met |= mark(b, i, map);
    }
    return met;
}

static bool meet(const block *a, const block *b)
{
    static unsigned char map_a[MAP_BYTES], map_b[MAP_BYTES];

    memset(map_a, 0, sizeof map_a);
    memset(map_b, 0, sizeof map_b);
    for (int64_t i = 0; i < a->batch; i++) {
        mark(a, i, map_a);
    }
    for (int64_t i = 0; i < b->batch; i++) {
        mark(b, i, map_b);
    }
    for (int i = 0; i < MAP_BYTES; i++) {
        if (map_a[i] && map_b[i]) {
            return true;
        }
    }
    return false;
}

static void describe(const char *name, const block *b, char *text, size_t room)
{
    snprintf(text, room, "%s at %lld: %lld x %lld, ld %lld, batch %lld, stride %lld, %lld bytes; ",
             name, (long long)b->at, (long long)b->rows, (long long)b->cols, (long long)b->ld,
             (long long)b->batch, (long long)b->stride, (long long)b->element);
}

/* How often each outcome occurred: if one never occurs, the test shows nothing. */
typedef struct tally {
    long accepted, refused, needless;
} tally;

/* `exactly`: refusing operands that do not overlap is also a fault. */
static void judge(iso_status status, bool overlap, bool exactly, const block *blocks, int count,
                  tally *t)
{
    char text[1024] = "";

    if (status == ISO_INVALID && (overlap || !exactly) && strstr(iso_last_error(), "overlap")) {
        t->refused += overlap;
        t->needless += !overlap;
        return;
    }
    if (status == ISO_OK && !overlap) {
        t->accepted++;
        return;
    }
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);

        describe(i == count - 1 ? "written" : "read", &blocks[i], text + used, sizeof text - used);
    }
    fail_msg("%s %s: %s%s", overlap ? "an overlap is" : "disjoint blocks are",
             iso_status_name(status), text, status ? iso_last_error() : "");
}

static void check(const tally *t, long least)
{
    printf("%ld accepted, %ld refused, %ld needlessly\n", t->accepted, t->refused, t->needless);
    assert_true(t->accepted >= least && t->refused >= least);
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void copy_once(const block *to, const block *from, tally *t)
{
    block both[] = {*from, *to};
    iso_status status =
        iso_copy_2d(here, (iso_operand){s.buffer, to->at}, to->ld,
                    (iso_operand){s.buffer, from->at}, from->ld, to->cols, to->rows);

    judge(status, meet(from, to), true, both, 2, t);
}

/* Every copy of up to 3 rows of up to 4 bytes: misaligned, wrapped around the end of a row, with
 * different pitches. */
static void test_copies(void **state)
{
    enum { TO = 20 };
    tally t = {0};

    (void)state;
    for (int64_t height = 1; height <= 3; height++) {
        for (int64_t width = 1; width <= 4; width++) {
            for (int64_t to_pitch = width; to_pitch <= 7; to_pitch++) {
                for (int64_t from_pitch = width; from_pitch <= 7; from_pitch++) {
                    for (int64_t from = 0; from < 2 * TO; from++) {
                        block a = {TO, height, width, to_pitch, 1, 0, 1};
                        block b = {from, height, width, from_pitch, 1, 0, 1};

                        copy_once(&a, &b, &t);
                    }
                }
            }
        }
    }
    for (int i = 0; i < 20000; i++) {
        int64_t height = 1 + random_up_to(20), width = 1 + random_up_to(20);
        block a = {random_up_to(900), height, width, width + random_up_to(60), 1, 0, 1};
        block b = {random_up_to(900), height, width, width + random_up_to(60), 1, 0, 1};

        if (i % 2) {
            b.ld = a.ld;
        }
        copy_once(&a, &b, &t);
    }
    works(iso_stream_sync(here));
    assert_int_equal(t.needless, 0);
    check(&t, 2000);
}

/* ---- products -------------------------------------------------------------------------------- */

/* A product whose operands are in one buffer. */
typedef struct product {
    iso_gemm_args args;
    block blocks[3]; /* A, B, C */
} product;

static void spread(block *b, iso_operand *operand, int64_t *ld, int64_t *stride, int64_t element)
{
    b->at = operand->offset;
    b->ld = *ld ? *ld : b->cols;
    b->stride = *stride;
    b->element = element;
    operand->buffer = s.buffer;
}

static void complete(product *p)
{
    iso_gemm_args *g = &p->args;
    int64_t element = iso_dtype_size(g->dtype), batch = g->batch ? g->batch : 1;
    bool ta = g->trans_a == ISO_TRANS, tb = g->trans_b == ISO_TRANS;

    p->blocks[0] = (block){.rows = ta ? g->k : g->m, .cols = ta ? g->m : g->k, .batch = batch};
    p->blocks[1] = (block){.rows = tb ? g->n : g->k, .cols = tb ? g->k : g->n, .batch = batch};
    p->blocks[2] = (block){.rows = g->m, .cols = g->n, .batch = batch};
    spread(&p->blocks[0], &g->a, &g->lda, &g->stride_a, element);
    spread(&p->blocks[1], &g->b, &g->ldb, &g->stride_b, element);
    spread(&p->blocks[2], &g->c, &g->ldc, &g->stride_c, element);
}

/* Computes the memory after the product; small whole numbers are exact in f64. */
static void model(const product *p, double *memory)
{
    const iso_gemm_args *g = &p->args;
    const block *a = &p->blocks[0], *b = &p->blocks[1], *c = &p->blocks[2];

    for (int64_t l = 0; l < c->batch; l++) {
        for (int64_t i = 0; i < g->m; i++) {
            for (int64_t j = 0; j < g->n; j++) {
                double *to = memory + c->at / 8 + l * c->stride + i * c->ld + j, sum = 0;

                for (int64_t k = 0; k < g->k; k++) {
                    int64_t x = g->trans_a == ISO_TRANS ? k * a->ld + i : i * a->ld + k;
                    int64_t y = g->trans_b == ISO_TRANS ? j * b->ld + k : k * b->ld + j;

                    sum += memory[a->at / 8 + l * a->stride + x] *
                           memory[b->at / 8 + l * b->stride + y];
                }
                *to = g->alpha * sum + g->beta * *to;
            }
        }
    }
}

/* Runs it; if it is accepted in f64, compares all of the memory with the model. */
static void multiply_once(product *p, bool exactly, tally *t)
{
    static double before[MAP_BYTES / 8], after[MAP_BYTES / 8];
    bool compare = p->args.dtype == ISO_F64;
    iso_status status;

    complete(p);
    if (compare) {
        for (int i = 0; i < MAP_BYTES / 8; i++) {
            before[i] = i % 7 - 3;
        }
        works(iso_write(here, (iso_operand){s.buffer, 0}, before, sizeof before));
    }
    status = iso_gemm(here, &p->args);
    judge(status,
          meets_itself(&p->blocks[2]) || meet(&p->blocks[0], &p->blocks[2]) ||
              meet(&p->blocks[1], &p->blocks[2]),
          exactly, p->blocks, 3, t);
    if (compare && !status) {
        model(p, before);
        works(iso_read(here, after, (iso_operand){s.buffer, 0}, sizeof after));
        for (int i = 0; i < MAP_BYTES / 8; i++) {
            if (before[i] != after[i]) { /* another test covers the sign of a zero */
                fail_msg("element %d is %g, not %g", i, after[i], before[i]);
            }
        }
    }
}

static product random_product(int64_t side, int64_t gap, int64_t places)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_AUTO};
    product p = {.args = ISO_GEMM_ARGS_INIT};
    iso_gemm_args *g = &p.args;
    int64_t element;

    g->dtype = (iso_dtype)(ISO_F16 + random_up_to(3));
    g->variant = variants[random_up_to(2)];
    g->trans_a = (iso_trans)random_up_to(1);
    g->trans_b = (iso_trans)random_up_to(1);
    g->m = 1 + random_up_to(side);
    g->n = 1 + random_up_to(side);
    g->k = 1 + random_up_to(side);
    g->alpha = (double)random_up_to(2) - 3;
    g->beta = (double)random_up_to(2) - 1;
    g->lda = (g->trans_a == ISO_TRANS ? g->m : g->k) + random_up_to(gap);
    g->ldb = (g->trans_b == ISO_TRANS ? g->k : g->n) + random_up_to(gap);
    g->ldc = g->n + random_up_to(gap);
    element = iso_dtype_size(g->dtype);
    g->a.offset = random_up_to(places) * element;
    g->b.offset = random_up_to(places) * element;
    g->c.offset = random_up_to(places) * element;
    return p;
}

static void test_products(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        product p = random_product(3, 20, 80);

        if (i % 2) {
            p.args.lda = p.args.ldb = p.args.ldc = 4 + random_up_to(20);
        }
        multiply_once(&p, true, &t);
    }
    check(&t, 1000);
}

/* Every case of up to four matrices, any strides: few enough for an exact check. */
static void test_batches(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 30000; i++) {
        product p = random_product(2, 12, 80);
        iso_gemm_args *g = &p.args;

        g->batch = 1 + random_up_to(3);
        g->stride_a = random_up_to(30);
        g->stride_b = random_up_to(30);
        g->stride_c = random_up_to(30);
        if (i % 3) {
            g->lda = g->ldb = g->ldc = 3 + random_up_to(12);
        }
        if (i % 3 == 2) {
            g->stride_a = g->stride_b = g->stride_c;
        }
        multiply_once(&p, true, &t);
    }
    check(&t, 1000);
}

/* Many matrices: exact if the leading dimension and the stride are shared, or the batch shares an
 * operand. */
static void test_large_batches(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 8000; i++) {
        product p = random_product(2, 0, 60);
        iso_gemm_args *g = &p.args;

        g->dtype = i % 4 ? ISO_F16 : ISO_F64;
        g->a.offset = g->a.offset / 8 * 8;
        g->b.offset = g->b.offset / 8 * 8;
        g->c.offset = g->c.offset / 8 * 8;
        g->lda = g->ldb = g->ldc = 3 + random_up_to(12);
        g->batch = 20 + random_up_to(60);
        g->stride_c = 2 + random_up_to(8);
        g->stride_a = g->stride_c;
        g->stride_b = i % 3 ? g->stride_c : 0;
        multiply_once(&p, true, &t);
    }
    check(&t, 500);
}

/* Four different strides, many rows and many matrices: everything that is accepted is disjoint. */
static void test_unlike_batches(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 6000; i++) {
        product p = random_product(1, 40, 600);
        iso_gemm_args *g = &p.args;

        g->dtype = ISO_F16;
        g->trans_a = g->trans_b = ISO_NO_TRANS;
        g->m = 9 + random_up_to(4);
        g->a.offset = g->a.offset / 8 * 2;
        g->b.offset = 2 * 4090;
        g->c.offset = g->c.offset / 8 * 2;
        g->lda += 2;
        g->ldc += random_up_to(4) ? 2 : 100;
        g->ldb = 0;
        g->k = 1;
        g->batch = 9 + random_up_to(4);
        g->stride_a = random_up_to(150);
        g->stride_b = 0;
        g->stride_c = random_up_to(150);
        multiply_once(&p, false, &t);
    }
    check(&t, 20);
}

/* Disjoint, but too costly to prove: refused, and the message says so. */
static void test_too_many(void **state)
{
    enum { ROWS = 40, BATCH = 70 };
    const int64_t ld = 100003, stride_a = 7919, stride_c = 15101, offset = 2 * 50021;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    (void)state;
    for (int64_t i = 1 - ROWS; i < ROWS; i++) {
        for (int64_t j = 0; j < BATCH; j++) {
            for (int64_t k = 0; k < BATCH; k++) {
                assert_true(i * ld + j * stride_c - k * stride_a != offset / 2);
            }
        }
    }
    works(iso_buffer_create(s.device, INT64_C(1) << 24, &args.c.buffer));
    args.dtype = ISO_F16;
    args.m = ROWS;
    args.n = args.k = 1;
    args.batch = BATCH;
    args.a = args.b = args.c;
    args.a.offset = offset;
    args.b.offset = (INT64_C(1) << 24) - 2;
    args.lda = args.ldc = ld;
    args.stride_a = stride_a;
    args.stride_c = stride_c;
    fails(iso_gemm(here, &args), ISO_INVALID, "c (offset 0", "may overlap a",
          "the same leading dimension and stride");
    args.batch = 64; /* few enough to enumerate */
    works(iso_gemm(here, &args));
    args.batch = BATCH; /* C only at multiples of 100, A never: no enumeration needed */
    args.lda = args.ldc = 200;
    args.stride_a = 300;
    args.stride_c = 8300;
    args.a.offset = 2 * 50;
    works(iso_gemm(here, &args));
    args.a.offset = 0;
    fails(iso_gemm(here, &args), ISO_INVALID, "c (offset 0", "a (offset 0");
    works(iso_buffer_destroy(args.c.buffer));
}

/* ---- reductions and transposes --------------------------------------------------------------- */

/* Results in the gaps between rows, with elements of another size. */
static void test_reductions(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
        bool index = random_up_to(1);
        block x, result, both[2];

        args.op = index ? ISO_ARGMAX : ISO_MAX;
        args.dtype = (iso_dtype)(ISO_F16 + random_up_to(ISO_I64 - ISO_F16));
        args.axis = random_up_to(1) ? ISO_AXIS_0 : ISO_AXIS_1;
        args.rows = 1 + random_up_to(4);
        args.cols = 1 + random_up_to(4);
        args.ld_x = args.cols + random_up_to(20);
        x = (block){0, args.rows, args.cols, args.ld_x, 1, 0, iso_dtype_size(args.dtype)};
        x.at = random_up_to(40) * x.element;
        result = (block){
            0, 1, args.axis == ISO_AXIS_0 ? args.cols : args.rows, 1, 1, 0, index ? 8 : x.element};
        result.at = random_up_to(80) * result.element;
        args.x = (iso_operand){s.buffer, x.at};
        args.result = (iso_operand){s.buffer, result.at};
        both[0] = x;
        both[1] = result;
        judge(iso_reduce(here, &args), meet(&x, &result), true, both, 2, &t);
    }
    check(&t, 1000);
}

static void test_transposes(void **state)
{
    tally t = {0};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
        block from, to, both[2];

        args.element_bytes = INT64_C(1) << random_up_to(4);
        args.rows = 1 + random_up_to(4);
        args.cols = 1 + random_up_to(4);
        args.ld_from = args.cols + random_up_to(8);
        args.ld_to = i % 2 ? args.rows + random_up_to(8) : args.ld_from;
        if (args.ld_to < args.rows) {
            args.ld_to = args.rows;
        }
        from = (block){0, args.rows, args.cols, args.ld_from, 1, 0, args.element_bytes};
        to = (block){0, args.cols, args.rows, args.ld_to, 1, 0, args.element_bytes};
        from.at = random_up_to(40) * args.element_bytes;
        to.at = random_up_to(40) * args.element_bytes;
        if (from.at == to.at && args.rows == args.cols && args.ld_from == args.ld_to) {
            continue; /* in place */
        }
        args.from = (iso_operand){s.buffer, from.at};
        args.to = (iso_operand){s.buffer, to.at};
        both[0] = from;
        both[1] = to;
        judge(iso_transpose(here, &args), meet(&from, &to), true, both, 2, &t);
    }
    check(&t, 1000);
}

/* ---- sizes too large for a map --------------------------------------------------------------- */

/* C against itself, for sizes that end near 64 bits; the check must be fast. */
static void test_huge_batches(void **state)
{
    const int64_t million = INT64_C(1) << 20, far = INT64_C(1) << 55;
    const struct {
        int64_t m, n, ldc, batch, stride;
        bool meets;
    } rows[] = {
        {million, 3, 3 * million, million, 3, false},     /* side by side */
        {million, 3, 3 * million - 1, million, 3, true},  /* the last reaches into the next row */
        {million, 4, 3 * million, million, 3, true},      /* ... and each reaches into the next */
        {million, 3, 3 * million, million, 2, true},      /*  */
        {million, 1, 7, million, 7 * million, false},     /* one below the other */
        {million, 1, 7, million, 7 * million - 7, true},  /* one row less */
        {million, 1, 7, million, 7 * million - 6, false}, /* ... in the next column */
        {2, 1, far, 3, far, true},                        /* row 1 of one is row 0 of the next */
        {2, 1, far, 3, far + 1, false},                   /* beside it */
        {2, 1, far + 1, 3, far, false},                   /*  */
        {3, 2, far, 3, far / 2, true},                    /* two steps on, they share a row */
        {3, 2, far, 3, far / 2 + 1, false},               /* ... and two more elements */
        {3, 3, far, 3, far / 2 + 1, true},                /* ... of three */
        {1, 5, INT64_MAX, million, 5, false}, /* one row: its leading dimension does not matter */
        {1, 5, INT64_MAX, million, 4, true},  /*  */
        {million, 2, 8 * million + 3, 1677723, 5, true},  /* the last is one short of a row */
        {million, 2, 8 * million + 3, 1677722, 5, false}, /* one less */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        iso_gemm_args args = ISO_GEMM_ARGS_INIT;
        iso_cost_info cost = ISO_COST_INFO_INIT;

        args.dtype = ISO_F16;
        args.m = rows[i].m;
        args.n = rows[i].n;
        args.ldc = rows[i].ldc;
        args.batch = rows[i].batch;
        args.stride_c = rows[i].stride;
        if (rows[i].meets) {
            fails(iso_cost(ISO_OP_GEMM, &args, &cost), ISO_INVALID, "stride_c is", "overlap");
        } else {
            works(iso_cost(ISO_OP_GEMM, &args, &cost));
        }
    }
}

/* Rows half of the address space apart. */
static void test_huge_pitches(void **state)
{
    const int64_t bytes = INT64_C(1) << 44, pitch = bytes / 2 - 64;
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    iso_operand to = {{0}, 0}, from = {{0}, 0};
    char *at = memory;

    (void)state;
    if (memory == MAP_FAILED) {
        skip(); /* there is a limit on address space */
    }
    works(iso_buffer_import(s.device, memory, bytes, 0, NULL, NULL, &to.buffer));
    from = to;
    from.offset = 8;
    memcpy(at + 8, "abcdefgh", 8);
    memcpy(at + 8 + pitch, "ijklmnop", 8);
    works(iso_copy_2d(here, to, pitch, from, pitch, 8, 2));
    assert_memory_equal(at, "abcdefgh", 8);
    assert_memory_equal(at + pitch, "ijklmnop", 8);
    fails(iso_copy_2d(here, to, pitch, from, pitch, 9, 2), ISO_INVALID, "overlaps");
    works(iso_copy_2d(here, to, pitch, from, pitch + 1, 8, 2));
    fails(iso_copy_2d(here, to, pitch, from, pitch - 1, 8, 2), ISO_INVALID, "overlaps");
    fails(iso_copy_2d(here, to, 2 * pitch, from, pitch, 9, 2), ISO_INVALID, "overlaps");
    from.offset = pitch - 8;
    works(iso_copy_2d(here, to, pitch, from, pitch, 8, 2)); /* in the gap before the second row */
    from.offset = pitch - 7;
    fails(iso_copy_2d(here, to, pitch, from, pitch, 8, 2), ISO_INVALID, "overlaps");
    works(iso_stream_sync(here));
    works(iso_buffer_destroy(to.buffer));
    munmap(memory, (size_t)bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),         cmocka_unit_test(test_products),
        cmocka_unit_test(test_batches),        cmocka_unit_test(test_large_batches),
        cmocka_unit_test(test_unlike_batches), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_reductions),     cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_huge_batches),   cmocka_unit_test(test_huge_pitches),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
