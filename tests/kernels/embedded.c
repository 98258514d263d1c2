/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c - tables of embedded kernels: which set a CPU device takes, that GPUs take the text,
 * and tables that must be refused. The functions are written here, so each can tell that it ran. */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "ISO_KERNEL(mark, 8, 1, 1)(ISO_OUT(i32) to)\n"
                           "{\n"
                           "    ISO_REGION(i)\n"
                           "    {\n"
                           "        to[i] = MARK;\n"
                           "    }\n"
                           "}\n";

/* What the functions write; MARK is what the text writes. */
enum { MARK = 7, GENERIC = 100, AVX2 = 102, AVX512 = 103, NEON = 104, SVE = 105 };

static void mark(const void *const *args, int value)
{
    int32_t *to;
    int64_t offset;
    memcpy(&to, args[5], sizeof to);
    memcpy(&offset, args[6], sizeof offset);
    to[offset] = value;
}

#define ENTRY(name, value)                                                                         \
    static void name(const void *const *args, int64_t first, int64_t end, char *scratch)           \
    {                                                                                              \
        (void)scratch;                                                                             \
        mark(args, first == 0 && end == 1 ? (value) : -1);                                         \
    }
ENTRY(generic_entry, GENERIC)
ENTRY(avx2_entry, AVX2)
ENTRY(avx512_entry, AVX512)
ENTRY(neon_entry, NEON)
ENTRY(sve_entry, SVE)

static const iso_embedded_entry generic_entries[] = {generic_entry}, avx2_entries[] = {avx2_entry},
                                avx512_entries[] = {avx512_entry}, neon_entries[] = {neon_entry},
                                sve_entries[] = {sve_entry};
static const iso_embedded_set sets[] = {
    {"avx512", avx512_entries}, {"generic", generic_entries}, {"unheard_of", avx512_entries},
    {"sve256", sve_entries},    {"avx2", avx2_entries},       {"neon", neon_entries}};
enum { SETS = sizeof sets / sizeof sets[0] };
static const iso_macro macros[] = {{"MARK", "7"}};

static iso_embedded table_of(const iso_embedded_set *from, int32_t count)
{
    return (iso_embedded){.size = (uint32_t)sizeof(iso_embedded),
                          .layout = ISO_EMBEDDED_LAYOUT,
                          .name = "mark.isk",
                          .text = text,
                          .macros = macros,
                          .sets = from,
                          .macro_count = 1,
                          .set_count = count,
                          .entry_count = 1};
}

static iso_device device;
static iso_stream stream;
static iso_buffer buffer;

static iso_status open_with(const char *spec, const char *isa)
{
    if (isa) {
        setenv("ISOMER_CPU_ISA", isa, 1);
    }
    iso_status status = iso_device_open(spec, &device);
    unsetenv("ISOMER_CPU_ISA");
    if (!status) {
        works(iso_stream_create(device, 0, &stream));
        works(iso_buffer_create(device, 64, &buffer));
    }
    return status;
}

/* What the kernel of a table writes. */
static int32_t written(const iso_embedded *table)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    iso_kernel kernel;
    int32_t got = -2;
    const iso_argument to = iso_arg_buffer((iso_operand){buffer, 8});
    args.embedded = table;
    works(iso_program_create(device, &args, &program));
    works(iso_kernel_get(program, "mark", &kernel));
    works(iso_launch(stream, kernel, (iso_groups){1, 1, 1}, &to, 1));
    works(iso_read(stream, &got, (iso_operand){buffer, 8}, sizeof got));
    works(iso_stream_sync(stream));
    works(iso_program_destroy(program));
    return got;
}

static void test_sets(void **state)
{
    static const struct {
        const char *isa;
        int32_t all, few; /* of all sets; of avx2 and generic */
    } rows[] = {{"generic", GENERIC, GENERIC}, {"avx2", AVX2, AVX2},    {"avx512", AVX512, AVX2},
                {"avx512vnni", AVX512, AVX2},  {"neon", NEON, GENERIC}, {"sve256", SVE, GENERIC}};
    const iso_embedded_set some[] = {{"avx2", avx2_entries}, {"generic", generic_entries}};
    const iso_embedded all = table_of(sets, SETS), few = table_of(some, 2);
    int ran = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (open_with("openmp", rows[i].isa) != ISO_OK) {
            print_message("%s: %s\n", rows[i].isa, iso_last_error());
            continue;
        }
        ran++;
        assert_int_equal(written(&all), rows[i].all);
        assert_int_equal(written(&few), rows[i].few);
        works(iso_device_close(device));
    }
    assert_true(ran > 0);
}

/* A set that is better than the device's is never taken. */
static void test_no_set(void **state)
{
    const iso_embedded_set better[] = {{"avx512", avx512_entries}, {"sve512", sve_entries}};
    const iso_embedded table = table_of(better, 2);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    (void)state;
    if (open_with("openmp", "generic") != ISO_OK) {
        skip();
    }
    args.embedded = &table;
    fails(iso_program_create(device, &args, &program), ISO_UNSUPPORTED, "mark.isk", "generic");
    works(iso_device_close(device));
}

/* GPUs compile the text, with the table's macros. */
static void test_gpu(void **state)
{
    const iso_embedded table = table_of(sets, SETS);
    (void)state;
    works(open_with("cuda", NULL));
    assert_int_equal(written(&table), MARK);
    works(iso_device_close(device));
}

static void refuses(const iso_embedded *table, const char *word, const char *more)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    int64_t bytes;
    args.embedded = table;
    fails(iso_program_create(device, &args, &program), ISO_INVALID, word, more);
    assert_int_equal(program.id, 0);
    if (!strstr(iso_last_error(), "entry")) { /* which the text does not need */
        fails(iso_program_text(&args, NULL, 0, &bytes), ISO_INVALID, word, more);
    }
}

static void test_refused(void **state)
{
    const iso_embedded good = table_of(sets, SETS);
    iso_embedded bad = good;
    const iso_embedded_set hollow[] = {{"generic", NULL}};
    (void)state;
    works(open_with("openmp", NULL));
    bad.layout = ISO_EMBEDDED_LAYOUT + 1;
    refuses(&bad, "layout 2", "build them again");
    bad.size = 8; /* of another layout, so nothing else is read */
    refuses(&bad, "layout 2", "isomer kernel embed");
    bad = good;
    bad.size = 4;
    refuses(&bad, "args->embedded->size is 4", "");
    bad = good;
    bad.size = 40;
    refuses(&bad, "args->embedded->size is 40", "");
    bad = good;
    bad.name = NULL;
    refuses(&bad, "name is NULL", "as it is");
    bad = good;
    bad.text = NULL;
    refuses(&bad, "text is NULL", "as it is");
    bad = good;
    bad.macros = NULL;
    refuses(&bad, "macros is NULL", "as it is");
    bad = good;
    bad.macro_count = -1;
    refuses(&bad, "macro_count is -1", "");
    bad = good;
    bad.sets = NULL;
    refuses(&bad, "sets is NULL", "as it is");
    bad = good;
    bad.set_count = 0;
    refuses(&bad, "set_count", "as it is");
    bad = good;
    bad.sets = hollow;
    bad.set_count = 1;
    refuses(&bad, "a set without", "as it is");
    bad = good;
    bad.macro_count = 0;
    bad.entry_count = 2;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    args.embedded = &bad;
    fails(iso_program_create(device, &args, &program), ISO_INVALID, "2 functions", "1 kernels",
          "build it again");
    works(iso_device_close(device));
}

/* The build gave the text and its macros. Arguments of an older program have no table. */
static void test_arguments(void **state)
{
    const iso_embedded table = table_of(sets, SETS);
    const iso_macro other = {"MARK", "8"};
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    (void)state;
    works(open_with("openmp", NULL));
    args.embedded = &table;
    args.text = text;
    fails(iso_program_create(device, &args, &program), ISO_INVALID, "text is not NULL",
          "args->embedded");
    args.text = NULL;
    args.macros = &other;
    args.macro_count = 1;
    fails(iso_program_create(device, &args, &program), ISO_INVALID, "macro_count is not 0");
    args.macro_count = 0;
    args.macros = NULL;
    args.name = "other.isk";
    works(iso_program_create(device, &args, &program));
    iso_kernel kernel;
    fails(iso_kernel_get(program, "none", &kernel), ISO_INVALID, "other.isk has no kernel");
    works(iso_program_destroy(program));
    args.size = (uint32_t)offsetof(iso_program_args, embedded);
    fails(iso_program_create(device, &args, &program), ISO_INVALID, "text is NULL");
    works(iso_device_close(device));
}

/* ---- layout 1 -------------------------------------------------------------------------------- */

static const char all_text[] =
    "ISO_KERNEL(whole, 8, 4, 1)(f32 a, ISO_IN(f32) x, ISO_INOUT(i32) y, ISO_SHARED(f32, 32) part,\n"
    "                         ISO_SHARED(u8, ISO_AT_LAUNCH) more, ISO_OWN(f64) sum, i64 n) { }\n";

static void take(const void *const *args, int at, void *to, size_t bytes)
{
    memcpy(to, args[at], bytes);
}

/* A function as the language's generator writes it for layout 1: 5 values of the launch, then each
 * argument, a buffer as its memory and an offset in elements; shared arrays and own values at
 * multiples of 64 bytes, those that the launch sizes at the end. */
static void all_entry(const void *const *args, int64_t first, int64_t end, char *scratch)
{
    int64_t groups[3], count, n, x_at, y_at;
    const float *x;
    int32_t *y;
    float a;
    for (int i = 0; i < 3; i++) {
        take(args, i, &groups[i], sizeof groups[i]);
    }
    take(args, 5, &a, sizeof a);
    take(args, 6, &x, sizeof x);
    take(args, 7, &x_at, sizeof x_at);
    take(args, 8, &y, sizeof y);
    take(args, 9, &y_at, sizeof y_at);
    take(args, 10, &count, sizeof count);
    take(args, 11, &n, sizeof n);
    const bool right = groups[0] == 3 && groups[1] == 2 && groups[2] == 1 && a == 2.5f &&
                       x[x_at] == 0.75f && count == 100 && n == -9 &&
                       ((uintptr_t)scratch & 63) == 0;
    memset(scratch, 1, 128 + 256 + 128); /* part, sum, more */
    for (int64_t group = first; group < end; group++) {
        y[y_at + group] = right ? 1 : -1;
    }
}

/* If this fails because functions are called in another way, or expect other scratch memory, raise
 * ISO_EMBEDDED_LAYOUT and make this the new way: kernels that were built before must be refused. */
static void test_layout(void **state)
{
    const iso_embedded_entry entries[] = {all_entry};
    const iso_embedded_set set = {"generic", entries};
    iso_embedded table = table_of(&set, 1);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program;
    iso_kernel kernel;
    int32_t got[6];
    const float x = 0.75f;
    (void)state;
    assert_int_equal(ISO_EMBEDDED_LAYOUT, 1);
    if (open_with("openmp", "generic") != ISO_OK) {
        skip();
    }
    table.text = all_text;
    args.embedded = &table;
    const iso_operand from = {buffer, 4};
    works(iso_write(stream, from, &x, sizeof x));
    works(iso_program_create(device, &args, &program));
    works(iso_kernel_get(program, "whole", &kernel));
    iso_buffer other;
    works(iso_buffer_create(device, 64, &other));
    const iso_operand y = {other, 16};
    const iso_argument given[] = {iso_arg_float(2.5), iso_arg_buffer(from), iso_arg_buffer(y),
                                  iso_arg_integer(100), iso_arg_integer(-9)};
    works(iso_launch(stream, kernel, (iso_groups){3, 2, 1}, given, 5));
    works(iso_read(stream, got, y, sizeof got));
    works(iso_stream_sync(stream));
    for (int i = 0; i < 6; i++) {
        assert_int_equal(got[i], 1);
    }
    works(iso_device_close(device));
}

/* What a build compiles. */
static void test_table_text(void **state)
{
    const char *const names[] = {"generic", "avx2"}, *const bad[] = {"avx 2"};
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    int64_t bytes;
    char made[16384];
    (void)state;
    args.name = "a.isk";
    args.text = "/* \"q\" \\ ?\?/ \xc3\xa9 */\nISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) y) { }\n";
    args.macros = macros;
    args.macro_count = 1;
    works(iso_embedded_text(&args, "a_isk", names, 2, NULL, 0, &bytes));
    assert_in_range(bytes, 100, sizeof made);
    works(iso_embedded_text(&args, "a_isk", names, 2, made, bytes, &bytes));
    assert_int_equal(bytes, strlen(made) + 1);
    assert_non_null(strstr(made, "\"/* \\\"q\\\" \\\\ \\?\\?/ \\303\\251 */\\n\"\n"));
    assert_non_null(strstr(made, "a_isk_avx2[1]"));
    assert_non_null(strstr(made, "{\"MARK\", \"7\"}"));
    assert_non_null(strstr(made, "\nconst iso_embedded a_isk = {"));
    fails(iso_embedded_text(&args, "a.isk", names, 2, NULL, 0, &bytes), ISO_INVALID, "\"a.isk\"",
          "identifier");
    fails(iso_embedded_text(&args, "1a", names, 2, NULL, 0, &bytes), ISO_INVALID, "\"1a\"");
    fails(iso_embedded_text(&args, NULL, names, 2, NULL, 0, &bytes), ISO_INVALID, "NULL");
    fails(iso_embedded_text(&args, "a", names, 0, NULL, 0, &bytes), ISO_INVALID, "set_count is 0");
    fails(iso_embedded_text(&args, "a", NULL, 1, NULL, 0, &bytes), ISO_INVALID, "sets is NULL");
    fails(iso_embedded_text(&args, "a", bad, 1, NULL, 0, &bytes), ISO_INVALID, "sets[0]", "avx 2");
    fails(iso_embedded_text(&args, "a", names, 2, made, 3, &bytes), ISO_INVALID, "capacity is 3");
    args.text = "ISO_KERNEL(k, 0, 1, 1)() { }";
    fails(iso_embedded_text(&args, "a", names, 2, NULL, 0, &bytes), ISO_INVALID, "a.isk:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),       cmocka_unit_test(test_no_set),
        cmocka_unit_test(test_gpu),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_arguments),  cmocka_unit_test(test_layout),
        cmocka_unit_test(test_table_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
