/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - builds and launches texts of the kernel language through the CPU backend's entries. The
 * generated part of each text is written here by hand. */
#include <isomer/isomer.h>

#include <isomer/backend.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern const iso_host core_host;
const iso_backend *isomer_builtin_openmp_query(uint32_t host_abi, const iso_host *host);

enum { GROUPS = 1000, ITEMS = 96, WIDE = 1024, WIDE_SCRATCH = 4096 * 8 + WIDE * 8, OFFSET = 5 };

static const iso_backend *backend;
static char folder[] = "/tmp/isomer-test-XXXXXX", counter[64], calls[64];

/* What core/kernel/generate.c writes. */
#define BEGIN(name, items)                                                                         \
    " enum { iso_size_x_ = " #items ", iso_size_y_ = 1, iso_size_z_ = 1, iso_items_ = " #items     \
    " }; const i64 iso_at_x_ = iso_at_.x; (void)iso_at_x_;"
#define ENTRY(name, call)                                                                          \
    "void iso_kernel_" #name "(const void *const *iso_args_, i64 iso_first_, i64 iso_end_, char "  \
    "*iso_scratch_)\n{\n    const i64 iso_groups_x_ = *(const i64 *)iso_args_[0];\n"               \
    "    const i64 iso_groups_y_ = *(const i64 *)iso_args_[1];\n"                                  \
    "    const i64 iso_groups_z_ = *(const i64 *)iso_args_[2];\n"                                  \
    "    for (i64 iso_group_ = iso_first_; iso_group_ < iso_end_; iso_group_++) {\n"               \
    "        const iso_here_ iso_at_ = {iso_group_ % iso_groups_x_, iso_group_ / iso_groups_x_ % " \
    "iso_groups_y_, iso_group_ / iso_groups_x_ / iso_groups_y_, iso_groups_x_, iso_groups_y_, "    \
    "iso_groups_z_};\n        " #name "(iso_at_, " call ");\n    }\n    (void)iso_scratch_;\n}\n"

static const char sums[] =
    "#line 1 \"sums\"\n"
    "ISO_KERNEL(sums, 96, 1, 1)(const iso_here_ iso_at_, f32 factor, ISO_IN(f32) x, ISO_OUT(f32) y,"
    " i64 n, ISO_SHARED(f32, 96) part, ISO_OWN(f32) sum)\n"
    "{" BEGIN(
        sums,
        96) "\n"
            "    ISO_REGION(i)\n    {\n"
            "        const i64 at = iso_x(i);\n"
            "        iso_mine(sum) = 0;\n"
            "        if (at >= n) {\n            continue;\n        }\n"
            "        iso_mine(sum) = iso_fma_f32(factor, x[at], BIAS);\n"
            "    }\n"
            "    ISO_GROUP_SUM(part, sum);\n"
            "    ISO_REGION(i)\n    {\n"
            "        if (i == 0) {\n            y[iso_group_x()] = part[0];\n        }\n"
            "    }\n}\n"
            "ISO_KERNEL(wide, 1024, 1, 1)(const iso_here_ iso_at_, ISO_INOUT(f64) y, "
            "ISO_SHARED(f64, 4096)"
            " part, ISO_OWN(f64) own)\n"
            "{" BEGIN(
                wide,
                1024) "\n"
                      "    ISO_REGION(i)\n    {\n"
                      "        iso_mine(own) = (f64)(iso_x(i) % 7);\n"
                      "        part[3072 + i] = 1;\n"
                      "    }\n"
                      "    ISO_GROUP_SUM(part, own);\n"
                      "    ISO_REGION(i)\n    {\n"
                      "        if (i == 1023) {\n            y[iso_group_x()] += part[0] + "
                      "part[4095];\n        }\n"
                      "    }\n}\n"
                      "\n#line 1 \"entries of sums\"\n" ENTRY(
                          sums,
                          "*(const f32 *)iso_args_[5], *(f32 *const *)iso_args_[6] + *(const i64 "
                          "*)iso_args_[7], *(f32 *const *)iso_args_[8] + *(const i64 "
                          "*)iso_args_[9], *(const "
                          "i64 *)iso_args_[10], (f32 *)(iso_scratch_ + 0), (f32 *)(iso_scratch_ + "
                          "384)") ENTRY(wide, "*(f64 *const *)iso_args_[5] + *(const i64 "
                                              "*)iso_args_[6], (f64 *)(iso_scratch_ + "
                                              "0), (f64 *)(iso_scratch_ + 32768)");
static const iso_program_entry entries[] = {
    {.name = "iso_kernel_sums", .items = ITEMS, .scratch_bytes = 768},
    {.name = "iso_kernel_wide", .items = WIDE, .scratch_bytes = WIDE_SCRATCH},
};

/* The language's header and the text. The caller frees it. */
static char *complete(const char *text, const char *bias)
{
    char path[1024];
    struct stat about;

    snprintf(path, sizeof path, "%s/include/isomer/kernel.h", getenv("ISOMER_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &about), 0);
    const size_t room = strlen(text) + strlen(bias) + 32;
    char *made = malloc((size_t)about.st_size + room);
    assert_non_null(made);
    assert_int_equal(fread(made, 1, (size_t)about.st_size, file), about.st_size);
    (void)snprintf(made + about.st_size, room, "#define BIAS %s\n%s", bias, text);
    fclose(file);
    return made;
}

static iso_status build(void *device, const char *text, int32_t entry_count, const char *bias,
                        void **program)
{
    const iso_program_source source = {.size = (uint32_t)sizeof source,
                                       .entry_count = entry_count,
                                       .name = "sums",
                                       .entries = entries};
    iso_program_source given = source;
    char *made = complete(text, bias);

    given.text = made;
    iso_clear_error();
    const iso_status status = backend->program_build(device, &given, program);
    free(made);
    return status;
}

static void *open_device(const char *threads)
{
    void *device = NULL;

    setenv("ISOMER_NUM_THREADS", threads, 1);
    assert_int_equal(backend->device_open(0, &device), ISO_OK);
    return device;
}

static float model(const float *x, float factor, float bias, int64_t group, int64_t n)
{
    float part[ITEMS];

    for (int i = 0; i < ITEMS; i++) {
        const int64_t at = group * ITEMS + i;
        part[i] = at < n ? factor * x[at] + bias : 0; /* exact: few bits */
    }
    for (int left = ITEMS; left > 1; left = (left + 1) / 2) {
        for (int i = 0; i < left / 2; i++) {
            part[i] += part[(left + 1) / 2 + i];
        }
    }
    return part[0];
}

static iso_status launch(void *stream, void *program, int32_t entry, int64_t groups,
                         const iso_program_arg *own, int32_t count)
{
    iso_program_arg args[16];
    iso_program_launch what = {.size = (uint32_t)sizeof what,
                               .entry = entry,
                               .program = program,
                               .place.groups = {groups, 1, 1},
                               .args = args,
                               .arg_count = count};

    memcpy(args, own, (size_t)count * sizeof *own);
    const iso_status status = backend->program_launch(stream, &what);
    memset(args, 0xff, sizeof args); /* the backend has its own copy */
    return status;
}

static void check_sums(void *device, void *stream, void *program, float bias)
{
    const int64_t n = (int64_t)GROUPS * ITEMS - 7, offset = OFFSET;
    const float factor = 1.5f;
    float *x = NULL, *y = NULL;

    assert_int_equal(backend->memory_alloc(device, (n + offset) * 4, (void **)&x), ISO_OK);
    assert_int_equal(backend->memory_alloc(device, GROUPS * 4, (void **)&y), ISO_OK);
    for (int64_t i = 0; i < n + offset; i++) {
        x[i] = (float)(i * 7919 % 8191) / 64;
    }
    const iso_program_arg args[] = {{.value = &factor, .bytes = 4},
                                    {.memory = x, .bytes = offset * 4, .first = offset},
                                    {.memory = y},
                                    {.value = &n, .bytes = 8}};
    assert_int_equal(launch(stream, program, 0, GROUPS, args, 4), ISO_OK);
    assert_int_equal(backend->stream_sync(stream), ISO_OK);
    for (int64_t group = 0; group < GROUPS; group++) {
        const float right = model(x + offset, factor, bias, group, n);
        assert_memory_equal(&y[group], &right, sizeof right);
    }
    backend->memory_free(device, x);
    backend->memory_free(device, y);
}

/* Two streams run the kernel with scratch memory of the program's own at once. */
static void check_wide(void *device, void *program)
{
    enum { STREAMS = 2, TIMES = 20, WIDE_GROUPS = 30 };
    double *y[STREAMS];
    void *streams[STREAMS];

    for (int s = 0; s < STREAMS; s++) {
        assert_int_equal(backend->stream_create(device, 0, &streams[s]), ISO_OK);
        assert_int_equal(backend->memory_alloc(device, WIDE_GROUPS * 8, (void **)&y[s]), ISO_OK);
        memset(y[s], 0, WIDE_GROUPS * 8);
    }
    for (int i = 0; i < STREAMS * TIMES; i++) {
        const iso_program_arg args[] = {{.memory = y[i % STREAMS]}};
        assert_int_equal(launch(streams[i % STREAMS], program, 1, WIDE_GROUPS, args, 1), ISO_OK);
    }
    for (int s = 0; s < STREAMS; s++) {
        assert_int_equal(backend->stream_sync(streams[s]), ISO_OK);
        for (int group = 0; group < WIDE_GROUPS; group++) {
            double right = 1;
            for (int i = 0; i < WIDE; i++) {
                right += (group * WIDE + i) % 7;
            }
            assert_true(y[s][group] == right * TIMES);
        }
        backend->stream_destroy(streams[s]);
        backend->memory_free(device, y[s]);
    }
}

/* Calls of the counting compiler, other than for its version. */
static int compiled(void)
{
    char line[8192];
    int count = 0;
    FILE *file = fopen(calls, "r");

    while (file && fgets(line, sizeof line, file)) {
        count += !strstr(line, "--version");
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static void test_results(void **state)
{
    static const char *const teams[] = {"1", "2"};

    (void)state;
    for (int t = 0; t < 2; t++) {
        void *device = open_device(teams[t]), *half = NULL, *two = NULL, *stream = NULL;
        assert_int_equal(build(device, sums, 2, "0.5f", &half), ISO_OK);
        assert_int_equal(build(device, sums, 2, "2", &two), ISO_OK);
        for (uint32_t flags = 0; flags < 2; flags++) {
            assert_int_equal(backend->stream_create(device, flags ? ISO_STREAM_INLINE : 0, &stream),
                             ISO_OK);
            check_sums(device, stream, half, 0.5f);
            check_sums(device, stream, two, 2);
            backend->stream_destroy(stream);
        }
        check_wide(device, two);
        backend->program_release(device, half);
        backend->program_release(device, two);
        assert_int_equal(compiled(), 2); /* the second device has both from the cache */
        backend->device_close(device);
    }
}

static void test_cache_off(void **state)
{
    void *device = open_device("1"), *program = NULL;
    const int before = compiled();

    (void)state;
    setenv("ISOMER_CACHE_DIR", "off", 1);
    assert_int_equal(build(device, sums, 2, "0.5f", &program), ISO_OK);
    assert_int_equal(compiled(), before + 1);
    backend->program_release(device, program);
    backend->device_close(device);
}

static void refused(iso_status status, iso_status expected, const char *part)
{
    assert_int_equal(status, expected);
    if (!strstr(iso_last_error(), part)) {
        fail_msg("\"%s\" is not in: %s", part, iso_last_error());
    }
}

static void test_errors(void **state)
{
    void *device = open_device("1"), *program = NULL;

    (void)state;
    refused(build(device, "#line 1 \"broken\"\n\n\nstatic int f(void) { return none; }\n", 0, "1",
                  &program),
            ISO_COMPILE, "broken:3:");
    refused(build(device, "#line 1 \"apart\"\nint g(int);\nint f(void) { return g(1); }\n", 0, "1",
                  &program),
            ISO_COMPILE, "undefined reference to `g'");
    refused(build(device, "#line 1 \"other\"\nint iso_kernel_other;\n", 1, "1", &program),
            ISO_COMPILE, "has no iso_kernel_sums");
    assert_null(program);
    backend->device_close(device);
}

/* Ways to leave a region that the compiler refuses. */
static void test_leaving(void **state)
{
    static const char *const leaving[] = {"return;", "goto out;"};
    void *device = open_device("1");

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[512];
        void *program = NULL;
        snprintf(text, sizeof text,
                 "#line 1 \"leave\"\nvoid f(i32 *p);\nvoid f(i32 *p) { enum { iso_items_ = 8 };\n"
                 "ISO_REGION(i) { if (p[i]) { %s } p[i] = 1; }\n%s }\n",
                 leaving[i], i == 1 ? "out: p[0] = 1;" : "");
        const iso_status status = build(device, text, 0, "1", &program);
        assert_int_equal(status, ISO_COMPILE);
    }
    backend->device_close(device);
}

static void test_compiler(void **state)
{
    void *device = open_device("1"), *program = NULL;

    (void)state;
    unsetenv("ISOMER_CC");
    refused(build(device, sums, 2, "1", &program), ISO_UNSUPPORTED,
            "sums: a text given at run time needs a C compiler on the CPU: set ISOMER_CC to "
            "its absolute path");
    setenv("ISOMER_CC", "bin/cc", 1);
    refused(build(device, sums, 2, "1", &program), ISO_UNSUPPORTED,
            "\"bin/cc\" is not an absolute path");
    setenv("ISOMER_CC", "/none/cc", 1);
    refused(build(device, sums, 2, "1", &program), ISO_UNSUPPORTED,
            "ISOMER_CC is \"/none/cc\", which cannot be used: ");
    setenv("ISOMER_CC", "/bin/false", 1);
    refused(build(device, sums, 2, "1", &program), ISO_UNSUPPORTED, "--version fails");
    assert_int_equal(chmod(counter, 0777), 0);
    setenv("ISOMER_CC", counter, 1);
    refused(build(device, sums, 2, "1", &program), ISO_UNSUPPORTED, "can be written to by others");
    assert_int_equal(chmod(counter, 0700), 0);
    backend->device_close(device);
}

static int begin(void **state)
{
    char cache[64];

    (void)state;
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(counter, sizeof counter, "%s/cc", folder);
    snprintf(calls, sizeof calls, "%s/calls", folder);
    FILE *file = fopen(counter, "w");
    if (!file) {
        return 1;
    }
    fprintf(file, "#!/bin/sh\necho \"$*\" >>%s\nexec \"%s\" \"$@\"\n", calls,
            getenv("ISOMER_TEST_CC"));
    fclose(file);
    setenv("ISOMER_CACHE_DIR", cache, 1);
    setenv("ISOMER_CC", counter, 1);
    backend = isomer_builtin_openmp_query(ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &core_host);
    return chmod(counter, 0700) || !backend;
}

/* Nothing of a build is left behind. */
static int end(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void test_tidy(void **state)
{
    char own[64], command[160];

    (void)state;
    snprintf(own, sizeof own, "%s/tmp", folder);
    assert_int_equal(mkdir(own, 0700), 0);
    setenv("TMPDIR", own, 1);
    test_errors(state);
    test_cache_off(state);
    snprintf(command, sizeof command, "[ -z \"$(ls -A %s)\" ]", own);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_leaving), cmocka_unit_test(test_cache_off),
        cmocka_unit_test(test_tidy),    cmocka_unit_test(test_compiler),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
