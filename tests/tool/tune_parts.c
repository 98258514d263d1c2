/* SPDX-License-Identifier: Apache-2.0 */
/* tune_parts.c - parts of `isomer tune`: which rows made-up results give, how tables are searched,
 * and that a watch for signals that began inside another one does not end that. */
#include "bench/measure/measure.h"
#include "bench/tune/tune.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- judging --------------------------------------------------------------------------------- */

static const tuned_shape shape = {ISO_OP_GEMM, ISO_F32, 0, {2048, 2048, 128, 1}};
static const char *library = "unit 1"; /* of results */
static char ways[TUNE_WAYS][TUNED_WAY] = {"small", "rows"};

typedef struct given {
    tune_pair pair;
    const char *status, *digest;
    int rounds;
    double time;
} given;

static json_t *result_of(const given *from)
{
    json_t *samples = json_array();
    for (int i = 0; i < from->rounds; i++) {
        json_array_append_new(samples, json_array());
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:f, s:o}}", "status", from->status, "reason",
                     "no reason", "library", library, "verified", "digest", from->digest, "times",
                     "median", from->time, "samples", samples);
}

/* Judges the results of the shape, which has a table with this many rows already. */
static tune_run judged(const given *list, int count, int32_t rows)
{
    static tune_device device = {.path = "PATH"};
    tune_pair pairs[8];
    json_t *results = json_array();
    tune_run run = {.device = &device};
    run.table = calloc(1, sizeof *run.table + ((size_t)rows + 1) * sizeof run.table->rows[0]);
    assert_non_null(run.table);
    strcpy(run.table->library, "unit 1");
    for (run.table->count = 0; run.table->count < rows; run.table->count++) {
        tuned_row *row = &run.table->rows[run.table->count];
        *row = (tuned_row){.shape = {ISO_OP_GEMM, ISO_F32, 0, {1, run.table->count + 1, 1, 1}},
                           .times = {9, 5, 6, 0}};
    }
    for (int i = 0; i < count; i++) {
        pairs[i] = list[i].pair;
        json_array_append_new(results, result_of(&list[i]));
    }
    tune_judge(&run, &shape, 1, pairs, ways, results);
    json_decref(results);
    return run;
}

/* An interruption cut the last round before the row of tiled by itself: no way is wrong. */
static void test_cut(void **state)
{
    given list[] = {{{0, TUNED_VENDOR, -1}, "ok", "", 6, 900},
                    {{0, TUNED_TILED, -1}, "ok", "aaaa", 5, 800},
                    {{0, TUNED_TILED, 0}, "ok", "aaaa", 6, 700}};
    tune_run run = judged(list, 3, 0);
    (void)state;
    assert_int_equal(run.wrong, 0);
    assert_int_equal(run.measured + run.failed + run.impossible, 0);
    free(run.table);
    list[1].status = "error"; /* the device was lost before its first sample */
    list[1].rounds = 0;
    run = judged(list, 3, 0);
    assert_int_equal(run.wrong, 0);
    assert_int_equal(run.failed, 1);
    free(run.table);
    list[1] = (given){{0, TUNED_TILED, -1}, "ok", "aaaa", 5, 800};
    list[2].digest = "bbbb"; /* what was cut still says which bits are right */
    run = judged(list, 3, 0);
    assert_int_equal(run.wrong, 1);
    assert_int_equal(run.measured, 0);
    free(run.table);
}

/* Without bits to compare with nothing is called wrong, and nothing is stored. */
static void test_reference(void **state)
{
    const given list[] = {{{0, TUNED_VENDOR, -1}, "ok", "", 6, 900},
                          {{0, TUNED_TILED, -1}, "unsupported", "", 0, 0},
                          {{0, TUNED_TILED, 0}, "ok", "aaaa", 6, 700}};
    tune_run run = judged(list, 3, 0);
    (void)state;
    assert_int_equal(run.wrong, 0);
    assert_int_equal(run.measured, 0);
    assert_int_equal(run.failed, 1);
    free(run.table);
    run = judged(list, 2, 0); /* the vendor's product needs none */
    assert_int_equal(run.measured, 1);
    free(run.table);
}

/* What is wrong is marked, and the fastest right way of tiled counts. */
static void test_marks(void **state)
{
    const given list[] = {
        {{0, TUNED_VENDOR, -1}, "failed", "", 6, 100}, {{0, TUNED_TILED, -1}, "ok", "aaaa", 6, 800},
        {{0, TUNED_TILED, 0}, "ok", "aaaa", 6, 700},   {{0, TUNED_TILED, 1}, "ok", "bbbb", 6, 600},
        {{0, TUNED_FIXED, -1}, "failed", "", 6, 500},
    };
    tune_run run = judged(list, 5, 0);
    const tuned_row *row = run.table->rows;
    (void)state;
    assert_int_equal(run.wrong, 3);
    assert_int_equal(run.measured, 1);
    assert_int_equal(row->times[TUNED_VENDOR], TUNED_WRONG);
    assert_int_equal(row->times[TUNED_TILED], 700);
    assert_int_equal(row->times[TUNED_NAIVE], 0);
    assert_int_equal(row->times[TUNED_FIXED], TUNED_WRONG);
    assert_string_equal(row->way, "small");
    free(run.table);
    run = judged(list, 1, 0); /* nothing is right: no row, but it does run */
    assert_int_equal(run.table->count, 0);
    assert_int_equal(run.failed, 1);
    assert_int_equal(run.impossible, 0);
    free(run.table);
}

/* Neither a time nor a mark of another library than the table's counts. */
static void test_library(void **state)
{
    static const char *const states[] = {"ok", "failed"};
    given list[] = {{{0, TUNED_VENDOR, -1}, "ok", "", 6, 100},
                    {{0, TUNED_TILED, -1}, "ok", "aaaa", 6, 800}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        list[0].status = states[i];
        for (int other = 0; other < 2; other++) {
            library = other ? "unit 2" : "unit 1";
            tune_run run = judged(list, 2, 0);
            assert_int_equal(run.table->rows[0].times[TUNED_VENDOR], other ? 0
                                                                     : i   ? TUNED_WRONG
                                                                           : 100);
            assert_string_equal(run.table->library, "unit 1");
            free(run.table);
        }
    }
    library = "unit 1";
}

/* A table has a most number of rows. A row of the same shape is replaced all the same. */
static void test_full(void **state)
{
    const given list[] = {{{0, TUNED_TILED, -1}, "ok", "aaaa", 6, 800}};
    tune_run run = judged(list, 1, TUNED_ROWS - 1);
    (void)state;
    assert_false(run.full);
    assert_int_equal(run.table->count, TUNED_ROWS);
    free(run.table);
    run = judged(list, 1, TUNED_ROWS);
    assert_true(run.full);
    assert_int_equal(run.table->count, TUNED_ROWS);
    assert_int_equal(run.measured, 0);
    free(run.table);
}

/* ---- searching ------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static int64_t next(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

static tuned_shape draw(void)
{
    const int64_t n = 1 + next(60);
    return (tuned_shape){next(2) ? ISO_OP_GEMM : ISO_OP_GEMV,
                         next(2) ? ISO_F32 : ISO_F64,
                         next(2) ? 0 : 2,
                         {1 + next(next(2) ? 40 : 4000), n, 1 + next(60), 1 + next(2)}};
}

static bool whole(const tuned_shape *of, int size)
{
    return of->sizes[size] * (of->dtype == ISO_F64 ? 8 : 4) % 16 == 0;
}

static bool has_whole_rows(const tuned_shape *of)
{
    const bool a = whole(of, of->layout == 2 ? 0 : 2);
    return of->op == ISO_OP_GEMV ? a : a && whole(of, 1);
}

/* The same as tuned_find, by looking at every row. */
static const tuned_row *look(const tuned_table *table, const tuned_shape *of)
{
    const tuned_row *best = NULL;
    int32_t least = INT32_MAX;
    for (const tuned_row *at = table->rows; at < table->rows + table->count; at++) {
        bool near = at->shape.op == of->op && at->shape.dtype == of->dtype &&
                    at->shape.layout == of->layout;
        int32_t sum = has_whole_rows(of) == has_whole_rows(&at->shape) ? 0 : 1 << 20;
        for (int i = 0; i < TUNED_SIZES; i++) {
            const int32_t apart = abs(tuned_log(at->shape.sizes[i]) - tuned_log(of->sizes[i]));
            near = near && apart < TUNED_OCTAVE;
            sum += apart;
        }
        if (near && sum < least) {
            least = sum;
            best = at;
        }
    }
    return best;
}

static void test_find(void **state)
{
    enum { ROWS = 300 };
    tuned_table *table = calloc(1, sizeof *table + ROWS * sizeof table->rows[0]);
    int found = 0;
    (void)state;
    assert_non_null(table);
    for (; table->count < ROWS; table->count++) {
        tuned_row *row = &table->rows[table->count];
        row->shape = draw();
        for (int i = 0; i < TUNED_SIZES; i++) {
            row->logs[i] = tuned_log(row->shape.sizes[i]);
        }
    }
    qsort(table->rows, ROWS, sizeof table->rows[0], tuned_compare);
    for (int i = 0; i < 3000; i++) {
        const tuned_shape of = draw();
        const tuned_row *row = tuned_find(table, &of);
        assert_ptr_equal(row, look(table, &of));
        found += row != NULL;
    }
    assert_true(found > 300 && found < 2900);
    free(table);
}

/* ---- tables of the package ------------------------------------------------------------------- */

/* What a table of the package may differ in. */
static void test_elsewhere(void **state)
{
    static const struct {
        const char *a, *b;
        bool kernels, major;
    } pairs[] = {
        {"driver 1, kernels 5", "driver 2, kernels 5", true, false},
        {"driver 1, kernels 5", "driver 1, kernels 55", false, true},
        {"driver 1, kernels 5", "driver 1, kernels 6", false, false},
        {"a, kernels 5", "b, kernels 5; more", false, false},
        {"b, kernels 5, kernels 6", "b, kernels 6", true, false},
        {"kernels 5", "kernels 5", false, true},
        {"a, kernels ", "a, kernels ", false, true},
        {"", "", false, true},
        {"cuBLAS 13.1.0", "cuBLAS 13.4.12", false, true},
        {"cuBLAS 13.1.0", "cuBLAS 13", false, true},
        {"cuBLAS 13.1.0", "cuBLAS 12.1.0", false, false},
        {"cuBLAS 1.1.0", "cuBLAS 13.1.0", false, false},
        {"cuBLAS 13.1.0", "rocBLAS 13.1.0", false, false},
        {"cuBLAS 13.1.0", "cuBLAS", false, false},
        {"cuBLAS 13.1.0", "", false, false},
        {"OpenBLAS 0.3.21 (Zen)", "OpenBLAS 0.3.29 (Zen)", false, true},
        {"OpenBLAS 0.3.21 (Zen)", "OpenBLAS 0.3.21 (Haswell)", false, false},
        {"OpenBLAS 0.3.21 (Zen)", "OpenBLAS 0.30.1 (Zen)", false, false},
        {"OpenBLAS 0.3.21", "OpenBLAS 0.2.21", false, false},
        {"a library 2 1", "a library 2 2", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *a = pairs[i].a, *b = pairs[i].b;

        if (tuned_same_kernels(a, b) != pairs[i].kernels ||
            tuned_same_kernels(b, a) != pairs[i].kernels ||
            (!strstr(a, "kernels") && (tuned_same_major(a, b) != pairs[i].major ||
                                       tuned_same_major(b, a) != pairs[i].major))) {
            fail_msg("\"%s\" and \"%s\"", a, b);
        }
    }
}

static void test_told(void **state)
{
    int rows = 0;

    (void)state;
    assert_int_equal(tuned_told("/a: b/c: 12 rows; refused: /d: 3 rows", &rows), 7);
    assert_int_equal(rows, 12);
    assert_int_equal(tuned_told("/a: 1 row", &rows), 2);
    assert_int_equal(rows, 1);
    assert_int_equal(tuned_told("refused: /a: 3 rows", &rows), 0);
    assert_int_equal(tuned_told("none: there is no /a", &rows), 0);
    assert_int_equal(tuned_told("", &rows), 0);
}

/* ---- signals --------------------------------------------------------------------------------- */

/* A run inside the watch of a longer one, and a signal after it. */
static void test_watch(void **state)
{
    (void)state;
    tool_stop_watch(true);
    tool_stop_watch(true);
    tool_stop_watch(false);
    assert_false(tool_stop_asked());
    assert_int_equal(raise(SIGTERM), 0);
    assert_true(tool_stop_asked());
    tool_stop_watch(true); /* the next part knows it, too */
    assert_true(tool_stop_asked());
    assert_true(tool_interrupted());
    tool_stop_watch(false);
    tool_stop_watch(false);
    tool_stop_watch(true);
    assert_false(tool_stop_asked());
    tool_stop_watch(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_reference),
        cmocka_unit_test(test_marks), cmocka_unit_test(test_library),
        cmocka_unit_test(test_full),  cmocka_unit_test(test_find),
        cmocka_unit_test(test_watch), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
