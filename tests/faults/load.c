/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - plug-ins that cannot be loaded, and unusual ones that can: how they are reported, by
 * name and in the list of all, and that the library continues to work. */
#include "tests/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct refused {
    const char *name;
    iso_state state;
    const char *words[4]; /* besides the file's path */
} refused;

static const refused all_refused[] = {
    {"wrong-major", ISO_STATE_ABI_MISMATCH, {"2.13", "1.13", "major"}},
    {"query-null", ISO_STATE_LOAD_FAILED, {"isomer_backend_query"}},
    {"no-symbol", ISO_STATE_LOAD_FAILED, {"isomer_backend_query"}},
    {"no-execute", ISO_STATE_LOAD_FAILED, {"execute", "NULL"}},
    {"no-graph-launch", ISO_STATE_LOAD_FAILED, {"graph_open", "graph_launch"}},
    {"wrong-name", ISO_STATE_LOAD_FAILED, {"\"another\"", "wrong-name"}},
    {"no-name", ISO_STATE_LOAD_FAILED, {"name", "NULL"}},
    {"tiny", ISO_STATE_LOAD_FAILED, {"size", "16"}},
    {"not-elf", ISO_STATE_LOAD_FAILED, {"could not be opened"}},
    {"empty-file", ISO_STATE_LOAD_FAILED, {"could not be opened"}},
    {"folder", ISO_STATE_LOAD_FAILED, {"directory"}},
};

static const char *const all_accepted[] = {"newer-minor", "older-minor", "shorter",
                                           "longer",      "fault",       "reference"};

enum {
    REFUSED_COUNT = sizeof(all_refused) / sizeof(all_refused[0]),
    ACCEPTED_COUNT = sizeof(all_accepted) / sizeof(all_accepted[0])
};

/* The end of the path of its file. */
static void file_of(const char *name, char *text, size_t room)
{
    snprintf(text, room, "/isomer-%s.so", name);
}

static void test_refused_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < REFUSED_COUNT; i++) {
        const refused *r = &all_refused[i];
        char file[128];
        file_of(r->name, file, sizeof(file));
        for (int again = 0; again < 2; again++) {
            iso_device device = {1};
            iso_clear_error();
            assert_int_equal(iso_device_open(r->name, &device), ISO_UNAVAILABLE);
            assert_int_equal(device.id, 0);
            faults_expect_error(ISO_UNAVAILABLE, (const char *const[]){file, NULL});
            faults_expect_error(ISO_UNAVAILABLE, r->words);
        }
        faults_computes("reference");
    }
    faults_computes("openmp");
}

static iso_entry *list_all(int32_t *count)
{
    faults_works(iso_enumerate(NULL, 0, count));
    iso_entry *entries = calloc((size_t)*count, sizeof(*entries));
    assert_non_null(entries);
    entries[0].size = (uint32_t)sizeof(*entries);
    faults_works(iso_enumerate(entries, *count, count));
    return entries;
}

static const iso_entry *entry_of(const iso_entry *entries, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(entries[i].backend, name) == 0) {
            return &entries[i];
        }
    }
    fail_msg("iso_enumerate does not list %s", name);
    return NULL;
}

static void test_refused_in_the_list(void **state)
{
    (void)state;
    int32_t count = 0;
    iso_entry *entries = list_all(&count);
    for (int i = 0; i < REFUSED_COUNT; i++) {
        const refused *r = &all_refused[i];
        const iso_entry *entry = entry_of(entries, count, r->name);
        char file[128];
        file_of(r->name, file, sizeof(file));
        assert_int_equal(entry->state, r->state);
        assert_int_equal(entry->is_plugin, 1);
        assert_non_null(strstr(entry->origin, file));
        assert_non_null(strstr(entry->reason, file));
        for (int w = 0; r->words[w]; w++) {
            if (!strstr(entry->reason, r->words[w])) {
                fail_msg("\"%s\" is not in: %s", r->words[w], entry->reason);
            }
        }
    }
    for (int i = 0; i < ACCEPTED_COUNT; i++) {
        const iso_entry *entry = entry_of(entries, count, all_accepted[i]);
        if (entry->state != ISO_STATE_OK) {
            fail_msg("%s: %s", all_accepted[i], entry->reason);
        }
        assert_string_equal(entry->device.backend, all_accepted[i]);
    }
    free(entries);
}

/* In a list of specs the next one is used, and the choice says why. */
static void test_refused_in_a_choice(void **state)
{
    (void)state;
    iso_device device;
    char choice[ISO_REASON_MAX];
    faults_works(iso_device_open("wrong-major,folder,reference", &device));
    faults_works(iso_device_get_choice(device, choice, sizeof(choice)));
    assert_non_null(strstr(choice, "reference"));
    assert_non_null(strstr(choice, "/isomer-wrong-major.so"));
    assert_non_null(strstr(choice, "/isomer-folder.so"));
    faults_works(iso_device_close(device));
}

static void test_accepted(void **state)
{
    (void)state;
    for (int i = 0; i < ACCEPTED_COUNT; i++) {
        faults_computes(all_accepted[i]);
    }
}

/* Without prepare, describe and copy_peer the core provides what it can without them. */
static void test_shorter_table_lacks_nothing(void **state)
{
    (void)state;
    faults_session one, two;
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_path path = (iso_path)0;
    static const char from[8] = "abcdefg";
    char to[8] = {0};

    faults_open(&one, "shorter");
    faults_open(&two, "shorter");
    const iso_gemm_args gemm = faults_gemm(one.buffer);
    faults_works(iso_prepare(one.stream, ISO_OP_GEMM, &gemm));
    faults_works(iso_describe(one.device, ISO_OP_GEMM, &gemm, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    assert_true(info.library[0] != 0);
    faults_works(iso_write(one.stream, (iso_operand){one.buffer, 0}, from, sizeof(from)));
    faults_works(iso_copy_between(two.stream, (iso_operand){two.buffer, 8}, one.stream,
                                  (iso_operand){one.buffer, 0}, sizeof(from), &path));
    assert_true(path == ISO_PATH_SAME || path == ISO_PATH_STAGED);
    faults_works(iso_read(two.stream, to, (iso_operand){two.buffer, 8}, sizeof(to)));
    faults_works(iso_stream_sync(two.stream));
    assert_string_equal(to, from);
    faults_close(&one);
    faults_close(&two);
}

/* A backend from before maps and xor existed never gets one. */
static void test_older_lacks_newer(void **state)
{
    (void)state;
    faults_session s;
    iso_map_args copy = ISO_MAP_ARGS_INIT;
    iso_reduce_args reduce = ISO_REDUCE_ARGS_INIT;
    iso_gemm_args gemm = ISO_GEMM_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;

    faults_open(&s, "older-minor");
    copy.op = ISO_MAP_COPY;
    copy.dtype = ISO_F32;
    copy.n = 4;
    copy.x = (iso_operand){s.buffer, 0};
    copy.z = (iso_operand){s.buffer, 16};
    for (int i = ISO_VARIANT_AUTO; i <= ISO_VARIANT_TILED; i++) {
        copy.variant = (iso_variant)i;
        faults_expect(iso_supports(s.device, ISO_OP_MAP, &copy), ISO_UNSUPPORTED, "older-minor");
        faults_expect(iso_describe(s.device, ISO_OP_MAP, &copy, &info), ISO_UNSUPPORTED, "maps");
        faults_expect(iso_prepare(s.stream, ISO_OP_MAP, &copy), ISO_UNSUPPORTED, "maps");
        faults_expect(iso_map(s.stream, &copy), ISO_UNSUPPORTED, "1.1");
    }
    reduce.dtype = ISO_I32;
    reduce.cols = 4;
    reduce.x = copy.x;
    reduce.result = copy.z;
    reduce.op = ISO_XOR;
    faults_expect(iso_reduce(s.stream, &reduce), ISO_UNSUPPORTED, "reduction xor");
    reduce.dtype = ISO_F32;
    reduce.op = ISO_AMAX;
    faults_expect(iso_reduce(s.stream, &reduce), ISO_UNSUPPORTED, "reductions amax");
    reduce.dtype = ISO_I32;
    reduce.op = ISO_SUM;
    faults_works(iso_reduce(s.stream, &reduce));
    gemm.dtype = ISO_F32;
    gemm.m = gemm.n = gemm.k = 1;
    gemm.a = gemm.b = copy.x;
    gemm.c = copy.z;
    gemm.variant = ISO_VARIANT_FIXED;
    faults_expect(iso_gemm(s.stream, &gemm), ISO_UNSUPPORTED, "no variant fixed: rebuild it");
    gemm.variant = ISO_VARIANT_TILED;
    faults_works(iso_gemm(s.stream, &gemm));
    faults_close(&s);
    faults_open(&s, "newer-minor");
    copy.x.buffer = copy.z.buffer = s.buffer;
    faults_works(iso_map(s.stream, &copy));
    faults_close(&s);
}

/* A name without a file is a wrong name, not an unavailable backend. */
static void test_unknown_name(void **state)
{
    (void)state;
    iso_device device;
    faults_expect(iso_device_open("referense", &device), ISO_INVALID, "reference");
    faults_expect(iso_device_open("../reference", &device), ISO_INVALID, "../reference");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_by_name),
        cmocka_unit_test(test_refused_in_the_list),
        cmocka_unit_test(test_refused_in_a_choice),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_shorter_table_lacks_nothing),
        cmocka_unit_test(test_older_lacks_newer),
        cmocka_unit_test(test_unknown_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
