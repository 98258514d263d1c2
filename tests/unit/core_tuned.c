/* SPDX-License-Identifier: Apache-2.0 */
/* core_tuned.c - tables of measured choices: what auto and tiled become by one, and that a table
 * which is not exactly right is not used and does no harm. The plug-in unit-tuned supports every
 * variant, and names its kernel after the way of tiled. */
#include "tests/property.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char spec[] = "unit-tuned";
static char folder[512], path[600];

/* ---- tables ---------------------------------------------------------------------------------- */

static void put(const void *text, size_t bytes)
{
    FILE *file;

    (void)unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

/* The beginning of a table of the device, with a library. */
static void head_of(const char *device, char *text, size_t room)
{
    char key[ISO_REASON_MAX], versions[ISO_REASON_MAX];
    iso_device open;

    setenv("ISOMER_TUNED", "off", 1);
    works(iso_device_open(device, &open));
    snprintf(key, sizeof key, "%s", property_of(open, "tuned for"));
    snprintf(versions, sizeof versions, "%s", property_of(open, "tuned with"));
    works(iso_device_close(open));
    snprintf(text, room, "isomer tuned 1\nkey %s\nversions %s\nlibrary unit 1\n", key, versions);
    setenv("ISOMER_TUNED", path, 1);
}

/* Opens the device with a table of these rows. */
static iso_device open_rows(const char *device, const char *rows, int count)
{
    char text[4 * 4096];
    iso_device open;

    head_of(device, text, sizeof text);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%send %d\n", rows, count);
    put(text, strlen(text));
    works(iso_device_open(device, &open));
    return open;
}

/* ---- questions ------------------------------------------------------------------------------- */

static iso_gemm_args product(iso_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = dtype;
    args.m = m;
    args.n = n;
    args.k = k;
    return args;
}

static iso_op_info ask(iso_device device, const iso_gemm_args *args)
{
    iso_op_info info = ISO_OP_INFO_INIT;

    works(iso_describe(device, ISO_OP_GEMM, args, &info));
    return info;
}

static iso_variant kept(iso_device device, iso_gemm_args args, iso_keep keep)
{
    args.keep = keep;
    return ask(device, &args).variant;
}

static iso_variant cube_is(iso_device device, int64_t side)
{
    return kept(device, product(ISO_F32, side, side, side), ISO_KEEP_TERMS);
}

/* ---- what auto becomes ----------------------------------------------------------------------- */

static const char some[] = "gemm f32 nn 64 64 64 1 900 300 200 100 large\n"
                           "gemm f32 nn 512 512 512 1 900 300 400 1000 large-apart\n"
                           "gemm f32 nn 4096 4096 4096 1 300 900 - 200 -\n"
                           "gemm f32 nt 64 64 64 1 100 300 400 - small\n"
                           "gemm f64 nn 64 64 64 1 - 300 200 - large\n"
                           "gemv f32 n 64 1 64 1 900 200 300 - -\n";

static void test_auto(void **state)
{
    const iso_gemm_args small = product(ISO_F32, 64, 64, 64),
                        middle = product(ISO_F32, 512, 512, 512),
                        large = product(ISO_F32, 4096, 4096, 4096);
    iso_device device = open_rows(spec, some, 6);
    iso_gemm_args other = small;

    (void)state;
    assert_non_null(strstr(property_of(device, "tuned table"), ": 6 rows"));
    assert_int_equal(kept(device, small, ISO_KEEP_TERMS), ISO_VARIANT_NAIVE);
    assert_int_equal(kept(device, small, ISO_KEEP_SCALE), ISO_VARIANT_FIXED);
    assert_int_equal(kept(device, small, ISO_KEEP_BITS), ISO_VARIANT_TILED);
    assert_int_equal(kept(device, middle, ISO_KEEP_TERMS), ISO_VARIANT_TILED);
    /* The backend expects fixed to be faster from k = 100. The table knows better. */
    assert_int_equal(kept(device, middle, ISO_KEEP_SCALE), ISO_VARIANT_TILED);
    assert_int_equal(kept(device, large, ISO_KEEP_TERMS), ISO_VARIANT_VENDOR);
    assert_int_equal(kept(device, large, ISO_KEEP_SCALE), ISO_VARIANT_FIXED);
    other.trans_b = ISO_TRANS;
    assert_int_equal(kept(device, other, ISO_KEEP_TERMS), ISO_VARIANT_VENDOR);
    other = small;
    other.library = 1; /* times are of the first */
    assert_int_equal(kept(device, other, ISO_KEEP_TERMS), ISO_VARIANT_VENDOR);
    other = small;
    other.math = ISO_MATH_TF32; /* times are of strict products */
    assert_int_equal(kept(device, other, ISO_KEEP_TERMS), ISO_VARIANT_VENDOR);
    other = small;
    other.alpha = 0; /* makes no difference */
    assert_int_equal(kept(device, other, ISO_KEEP_TERMS), ISO_VARIANT_NAIVE);
    other = small;
    other.alpha = other.beta = 1;
    other.continues = 1; /* fixed has no totals */
    assert_int_equal(kept(device, other, ISO_KEEP_SCALE), ISO_VARIANT_NAIVE);
    /* The vendor's was not measured, so it is not known to be slower. */
    assert_int_equal(kept(device, product(ISO_F64, 64, 64, 64), ISO_KEEP_TERMS),
                     ISO_VARIANT_VENDOR);
    setenv("ISOMER_UNIT_REFUSES", "vendor", 1);
    assert_int_equal(kept(device, product(ISO_F64, 64, 64, 64), ISO_KEEP_TERMS), ISO_VARIANT_NAIVE);
    unsetenv("ISOMER_UNIT_REFUSES");
    works(iso_device_close(device));
}

/* What gave a wrong result comes last, whatever else was measured. It is left if nothing else runs.
 */
static void test_wrong(void **state)
{
    iso_device device = open_rows(spec,
                                  "gemm f32 nn 64 64 64 1 wrong 300 - - -\n"
                                  "gemm f32 nn 512 512 512 1 900 300 wrong wrong -\n"
                                  "gemm f64 nn 64 64 64 1 wrong wrong 400 wrong -\n",
                                  3);

    (void)state;
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_TILED);
    assert_int_equal(kept(device, product(ISO_F64, 64, 64, 64), ISO_KEEP_TERMS), ISO_VARIANT_NAIVE);
    /* The backend expects fixed to be faster from k = 100. */
    assert_int_equal(kept(device, product(ISO_F32, 512, 512, 512), ISO_KEEP_SCALE),
                     ISO_VARIANT_TILED);
    assert_int_equal(kept(device, product(ISO_F32, 512, 512, 512), ISO_KEEP_BITS),
                     ISO_VARIANT_TILED);
    setenv("ISOMER_UNIT_REFUSES", "tiled", 1);
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_NAIVE); /* not measured, but not wrong */
    assert_int_equal(cube_is(device, 512), ISO_VARIANT_VENDOR);
    setenv("ISOMER_UNIT_REFUSES", "naive", 1);
    assert_int_equal(kept(device, product(ISO_F64, 64, 64, 64), ISO_KEEP_TERMS),
                     ISO_VARIANT_VENDOR);
    unsetenv("ISOMER_UNIT_REFUSES");
    works(iso_device_close(device));
    /* A mark is of one library, as times are. */
    setenv("ISOMER_UNIT_LIBRARY", "unit 2", 1);
    device = open_rows(spec, "gemm f32 nn 64 64 64 1 wrong 300 - - -\n", 1);
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
    unsetenv("ISOMER_UNIT_LIBRARY");
}

/* Properties say nothing through the thread's last error, also if what they tell is a reason. */
static void test_last_error(void **state)
{
    iso_property found = ISO_PROPERTY_INIT;
    iso_buffer none = {0};
    iso_device device;
    bool unknown = false;

    (void)state;
    setenv("ISOMER_TUNED", "off", 1);
    works(iso_device_open(spec, &device));
    unsetenv("ISOMER_UNIT_IDENTITY");
    assert_int_not_equal(iso_buffer_destroy(none), ISO_OK);
    for (int32_t i = 0; !unknown; i++) {
        char before[256];

        snprintf(before, sizeof before, "%s", iso_last_error());
        works(iso_device_get_property(device, i, &found));
        unknown = !strcmp(found.name, "tuned with");
        assert_string_equal(iso_last_error(), before);
        assert_int_not_equal(iso_last_status(), ISO_OK);
    }
    assert_non_null(strstr(found.value, "not known: "));
    assert_non_null(strstr(found.value, "this device lost its compiler"));
    setenv("ISOMER_UNIT_IDENTITY", "compiler 1", 1);
    works(iso_device_close(device));
}

/* A variant that the table names but the device refuses now is passed over. */
static void test_refused(void **state)
{
    iso_device device = open_rows(spec, some, 6);

    (void)state;
    setenv("ISOMER_UNIT_REFUSES", "naive", 1);
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_TILED);
    setenv("ISOMER_UNIT_REFUSES", "tiled", 1);
    assert_int_equal(cube_is(device, 512), ISO_VARIANT_NAIVE);
    unsetenv("ISOMER_UNIT_REFUSES");
    works(iso_device_close(device));
}

static void test_vector(void **state)
{
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_device device = open_rows(spec, some, 6);

    (void)state;
    args.dtype = ISO_F32;
    args.m = args.k = 64;
    works(iso_describe(device, ISO_OP_GEMV, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    args.trans = ISO_TRANS;
    works(iso_describe(device, ISO_OP_GEMV, &args, &info));
    assert_int_equal(info.variant, ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
}

/* Every size of a row differs by less than a factor of 2, and the nearest row wins. */
static void test_cover(void **state)
{
    iso_device device = open_rows(spec,
                                  "gemm f32 nn 100 100 100 1 9 5 6 - -\n"
                                  "gemm f32 nn 150 100 100 1 9 6 5 - -\n"
                                  "gemm f32 nn 1000 10 10 4 9 5 6 - -\n",
                                  3);

    (void)state;
    assert_int_equal(cube_is(device, 100), ISO_VARIANT_TILED);
    assert_int_equal(cube_is(device, 51), ISO_VARIANT_TILED);
    assert_int_equal(cube_is(device, 49), ISO_VARIANT_VENDOR);
    assert_int_equal(cube_is(device, 190), ISO_VARIANT_NAIVE); /* 150 is nearer */
    assert_int_equal(cube_is(device, 200), ISO_VARIANT_VENDOR);
    assert_int_equal(kept(device, product(ISO_F32, 140, 100, 100), ISO_KEEP_TERMS),
                     ISO_VARIANT_NAIVE);
    assert_int_equal(kept(device, product(ISO_F32, 110, 100, 100), ISO_KEEP_TERMS),
                     ISO_VARIANT_TILED);
    /* One size that is too far away is enough: here the batch. */
    for (int64_t batch = 2; batch <= 8; batch++) {
        iso_gemm_args args = product(ISO_F32, 1100, 11, 9);
        args.batch = batch;
        args.stride_c = 1100 * 11;
        assert_int_equal(kept(device, args, ISO_KEEP_TERMS),
                         batch > 2 && batch < 8 ? ISO_VARIANT_TILED : ISO_VARIANT_VENDOR);
    }
    assert_int_equal(kept(device, product(ISO_F32, 0, 100, 100), ISO_KEEP_TERMS),
                     ISO_VARIANT_VENDOR);
    assert_int_equal(kept(device, product(ISO_F32, INT64_MAX / 8, 1, 1), ISO_KEEP_TERMS),
                     ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
}

/* A row of whole words comes after others for a shape without them. */
static void test_cover_words(void **state)
{
    iso_device device = open_rows(spec,
                                  "gemm f32 nn 65 65 65 1 9 5 6 - -\n"
                                  "gemm f32 nn 96 96 96 1 9 6 5 - -\n"
                                  "gemm f32 nt 64 65 64 1 9 5 6 - -\n"
                                  "gemm f32 nt 64 96 64 1 9 6 5 - -\n"
                                  "gemv f32 t 64 1 65 1 9 5 - - -\n"
                                  "gemv f32 t 65 1 96 1 5 9 - - -\n",
                                  6);
    iso_gemm_args args = product(ISO_F32, 64, 95, 64);
    iso_gemv_args vector = ISO_GEMV_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;

    (void)state;
    assert_int_equal(cube_is(device, 95), ISO_VARIANT_TILED);
    assert_int_equal(cube_is(device, 68), ISO_VARIANT_NAIVE);
    assert_int_equal(cube_is(device, 191), ISO_VARIANT_NAIVE); /* 65 is too far away */
    args.trans_b = ISO_TRANS;                                  /* C has the odd rows */
    assert_int_equal(kept(device, args, ISO_KEEP_TERMS), ISO_VARIANT_TILED);
    vector.dtype = ISO_F32;
    vector.trans = ISO_TRANS; /* rows of m elements */
    vector.m = 64;
    vector.k = 95;
    works(iso_describe(device, ISO_OP_GEMV, &vector, &info));
    assert_int_equal(info.variant, ISO_VARIANT_TILED);
    works(iso_device_close(device));
}

/* Threads that look up at once, also while the library is compared for the first time. */
static void *look_up(void *data)
{
    const iso_device *device = data;
    long wrong = 0;

    for (int i = 0; i < 200; i++) {
        iso_gemm_args args = product(ISO_F32, 64, 64, 64);
        iso_op_info info = ISO_OP_INFO_INIT;
        wrong += iso_describe(*device, ISO_OP_GEMM, &args, &info) != ISO_OK ||
                 info.variant != ISO_VARIANT_NAIVE;
        args.m = args.n = args.k = 512;
        wrong += iso_describe(*device, ISO_OP_GEMM, &args, &info) != ISO_OK ||
                 strcmp(info.kernel, "way 3") != 0;
    }
    return (void *)wrong;
}

static void test_threads(void **state)
{
    enum { THREADS = 4 };
    iso_device device = open_rows(spec, some, 6);
    pthread_t threads[THREADS];
    void *wrong;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, &device), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    works(iso_device_close(device));
}

/* ---- ways ------------------------------------------------------------------------------------ */

static const char *way_is(iso_device device, iso_gemm_args args, iso_variant variant)
{
    static iso_op_info info;

    args.variant = variant;
    info = ask(device, &args);
    return info.kernel;
}

static void test_ways(void **state)
{
    iso_device device = open_rows(spec, some, 6);
    iso_gemm_args args = product(ISO_F32, 512, 512, 512);

    (void)state;
    assert_string_equal(property_of(device, "ways"),
                        "f32: small large large-apart; f64: small large");
    assert_string_equal(way_is(device, args, ISO_VARIANT_AUTO), "way 3");
    assert_string_equal(way_is(device, args, ISO_VARIANT_TILED), "way 3");
    assert_string_equal(way_is(device, args, ISO_VARIANT_NAIVE), "way 0");
    assert_string_equal(way_is(device, args, ISO_VARIANT_VENDOR), "way 0");
    assert_string_equal(way_is(device, product(ISO_F32, 64, 64, 64), ISO_VARIANT_TILED), "way 2");
    assert_string_equal(way_is(device, product(ISO_F32, 4096, 4096, 4096), ISO_VARIANT_TILED),
                        "way 0");
    assert_string_equal(way_is(device, product(ISO_F64, 64, 64, 64), ISO_VARIANT_TILED), "way 2");
    assert_string_equal(way_is(device, product(ISO_BF16, 64, 64, 64), ISO_VARIANT_TILED), "way 0");
    args.keep = ISO_KEEP_BITS;
    assert_string_equal(way_is(device, args, ISO_VARIANT_AUTO), "way 3");
    works(iso_device_close(device));
}

/* Each handle has the table of the moment when it was opened. */
static void test_handles(void **state)
{
    iso_device first = open_rows(spec, "gemm f32 nn 64 64 64 1 9 5 6 - -\n", 1);
    iso_device second = open_rows(spec, "gemm f32 nn 64 64 64 1 9 6 5 - -\n", 1);
    iso_device third;

    (void)state;
    setenv("ISOMER_TUNED", "off", 1);
    works(iso_device_open(spec, &third));
    assert_int_equal(cube_is(first, 64), ISO_VARIANT_TILED);
    assert_int_equal(cube_is(second, 64), ISO_VARIANT_NAIVE);
    assert_int_equal(cube_is(third, 64), ISO_VARIANT_VENDOR);
    assert_string_equal(property_of(third, "tuned table"), "off (ISOMER_TUNED)");
    works(iso_device_close(first));
    works(iso_device_close(second));
    works(iso_device_close(third));
}

/* A plug-in from before ways can have a table, but none that names a way. */
static void test_older(void **state)
{
    iso_device device =
        open_rows("unit-tuned-older", "gemm f32 nn 64 64 64 1 900 300 400 - -\n", 1);

    (void)state;
    assert_string_equal(property_of(device, "ways"), "");
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_TILED);
    works(iso_device_close(device));
    device = open_rows("unit-tuned-older", "gemm f32 nn 64 64 64 1 900 300 400 - small\n", 1);
    assert_non_null(strstr(property_of(device, "tuned table"), "this device has no way \"small\""));
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
}

/* ---- tables of something else ---------------------------------------------------------------- */

/* The table says nothing about another library. Its ways stay right. */
static void test_library(void **state)
{
    iso_device device;

    (void)state;
    setenv("ISOMER_UNIT_LIBRARY", "unit 2", 1);
    device = open_rows(spec, some, 6);
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_VENDOR);
    assert_int_equal(cube_is(device, 512), ISO_VARIANT_VENDOR);
    assert_string_equal(way_is(device, product(ISO_F32, 512, 512, 512), ISO_VARIANT_TILED),
                        "way 3");
    assert_non_null(strstr(property_of(device, "tuned table"), "library is another one"));
    works(iso_device_close(device));
    unsetenv("ISOMER_UNIT_LIBRARY");
}

/* Opens the device, whose table is refused with these words, and chooses as without one. */
static void is_refused(const char *device, const char *words)
{
    const char *told;
    iso_device open;

    works(iso_device_open(device, &open));
    told = property_of(open, "tuned table");
    if (strncmp(told, "refused: ", 9) || !strstr(told, words)) {
        fail_msg("the table is \"%s\", not refused with \"%s\"", told, words);
    }
    assert_int_equal(cube_is(open, 64), ISO_VARIANT_VENDOR);
    works(iso_device_close(open));
}

static void test_versions(void **state)
{
    (void)state;
    works(iso_device_close(open_rows(spec, some, 6)));
    setenv("ISOMER_UNIT_IDENTITY", "compiler 2", 1);
    is_refused(spec, "compiler 1\", now it is \"; ; compiler 2\": run isomer tune again");
    unsetenv("ISOMER_UNIT_IDENTITY");
    is_refused(spec, "the versions in use are not known: unit-tuned: this device lost its");
    setenv("ISOMER_UNIT_IDENTITY", "compiler 1", 1);
    setenv("ISOMER_TILES", "small", 1);
    is_refused(spec, "it is of another device");
    unsetenv("ISOMER_TILES");
    is_refused("openmp", "it is of another device (\"unit-tuned; ");
}

/* ---- malformed tables ------------------------------------------------------------------------ */

static const struct {
    const char *rows, *words;
} wrong[] = {
    {"end 1\n", "line 5 is \"end 1\", but there are 0 rows"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\n", "line 6 is missing: the file is cut"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\nend 1", "line 6 is cut"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\nend 1\nend 1\n", "but more follows"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\nend 01\n", "\"end 01\", but there are 1"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\r\nend 1\r\n", "line 5 has the byte 0x0d"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 -\tx\nend 1\n", "line 5 has the byte 0x09"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100\nend 1\n", "line 5 is not a row of 12 words"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 - -\nend 1\n", "not a row of 12 words"},
    {"gemm f32 nn 64 64 64 1 900  300 200 100 -\nend 1\n", "one blank between two"},
    {"gemm f32 nn 64 64 64 1 900 300 200 100 - \nend 1\n", "one blank between two"},
    {" gemm f32 nn 64 64 64 1 900 300 200 100 -\nend 1\n", "one blank between two"},
    {"\nend 0\n", "one blank between two"},
    {"spmv f32 nn 64 64 64 1 900 300 200 100 -\nend 1\n", "\"spmv f32 nn\""},
    {"gemm i32 nn 64 64 64 1 900 300 200 100 -\nend 1\n", "\"gemm i32 nn\""},
    {"gemm f32 n 64 64 64 1 900 300 200 100 -\nend 1\n", "\"gemm f32 n\""},
    {"gemv f32 nn 64 1 64 1 900 300 200 100 -\nend 1\n", "\"gemv f32 nn\""},
    {"gemv f32 n 64 2 64 1 900 300 200 100 -\nend 1\n", "has n 2"},
    {"gemm f32 nn 0 64 64 1 900 300 200 100 -\nend 1\n", "has the size \"0\""},
    {"gemm f32 nn -1 64 64 1 900 300 200 100 -\nend 1\n", "has the size \"-1\""},
    {"gemm f32 nn 064 64 64 1 900 300 200 100 -\nend 1\n", "has the size \"064\""},
    {"gemm f32 nn 64 64 1000000000001 1 9 3 2 1 -\nend 1\n", "1000000000001\": use whole"},
    {"gemm f32 nn 64 64 99999999999999999999999999 1 9 3 2 1 -\nend 1\n", "use whole"},
    {"gemm f32 nn 64 64 64 1 nan 300 200 100 -\nend 1\n", "has the time \"nan\""},
    {"gemm f32 nn 64 64 64 1 9e2 300 200 100 -\nend 1\n", "has the time \"9e2\""},
    {"gemm f32 nn 64 64 64 1 0 300 200 100 -\nend 1\n", "has the time \"0\""},
    {"gemm f32 nn 64 64 64 1 1000000000000001 3 2 1 -\nend 1\n", "000001\": use whole nano"},
    {"gemm f32 nn 64 64 64 1 -900 300 200 100 -\nend 1\n", "has the time \"-900\""},
    {"gemm f32 nn 64 64 64 1 - - - - -\nend 1\n", "line 5 has no time"},
    {"gemm f32 nn 64 64 64 1 wrong - - wrong -\nend 1\n", "line 5 has no time"},
    {"gemm f32 nn 64 64 64 1 Wrong 300 - - -\nend 1\n", "has the time \"Wrong\""},
    {"gemm f32 nn 64 64 64 1 wrongs 300 - - -\nend 1\n", "has the time \"wrongs\""},
    {"gemm f32 nn 64 64 64 1 9 wrong 2 1 large\nend 1\n", "where tiled has a time"},
    {"gemm f32 nn 64 64 64 1 9 3 2 1 Large\nend 1\n", "has the way \"Large\""},
    {"gemm f32 nn 64 64 64 1 9 3 2 1 -large\nend 1\n", "has the way \"-large\""},
    {"gemm f32 nn 64 64 64 1 9 3 2 1 a2345678901234567890123456789012\nend 1\n",
     "has the way \"a23"},
    {"gemm f32 nn 64 64 64 1 9 - 2 1 large\nend 1\n", "where tiled has a time"},
    {"gemm f32 nn 64 64 64 1 9 3 2 1 gigantic\nend 1\n", "this device has no way \"gigantic\""},
    {"gemm f64 nn 64 64 64 1 9 3 2 1 large-apart\nend 1\n", "no way \"large-apart\" for f64"},
    {"gemv f32 n 64 1 64 1 9 3 2 1 large\nend 1\n", "no way \"large\""},
    {"gemm f32 nn 64 64 64 1 9 3 2 1 -\ngemm f32 nn 8 8 8 1 9 3 2 1 -\n"
     "gemm f32 nn 64 64 64 1 8 3 2 1 -\nend 3\n",
     "two rows are of gemm f32 nn 64x64x64"},
};

static void test_malformed(void **state)
{
    char head[4096], text[2 * 4096];

    (void)state;
    head_of(spec, head, sizeof head);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s%s", head, wrong[i].rows);
        put(text, strlen(text));
        is_refused(spec, wrong[i].words);
    }
}

/* The head: cut after some bytes, and each line of it changed. Then bytes that are no text. */
static void test_head(void **state)
{
    char head[4096], text[3 * 4096];

    (void)state;
    head_of(spec, head, sizeof head);
    for (size_t length = 0; length < strlen(head); length += 7) {
        put(head, length);
        is_refused(spec, length ? "line " : "line 1 is missing");
    }
    for (char *line = strchr(head, '\n'); line; line = strchr(line + 1, '\n')) {
        snprintf(text, sizeof text, "%s%s", head, "end 0\n");
        text[line - head - 1] ^= 1;
        put(text, strlen(text));
        if (line[1]) { /* any library will do */
            is_refused(spec, line == strchr(head, '\n') ? "line 1 is not" : "\"");
        }
    }
    snprintf(text, sizeof text, "%send 0\n", head);
    text[strlen(head) - 3] = '\0';
    put(text, strlen(head) + 6);
    is_refused(spec, "line 4 has the byte 0x00");
    memset(text, 'x', sizeof text);
    put(text, sizeof text);
    is_refused(spec, "line 1 is cut");
    text[sizeof text - 1] = '\n';
    put(text, sizeof text);
    is_refused(spec, "line 1 has 12287 bytes: at most 1023");
}

static void test_too_many(void **state)
{
    enum { MOST = 8192, ROOM = 1 << 20 };
    char *text = malloc(ROOM);
    size_t used, one;

    (void)state;
    assert_non_null(text);
    head_of(spec, text, ROOM);
    used = strlen(text);
    for (int i = 1; i <= MOST + 1; i++) {
        used += (size_t)snprintf(text + used, ROOM - used, "gemm f32 nn 64 %d 64 1 9 3 - - -\n", i);
    }
    one = (size_t)snprintf(text + used, ROOM - used, "end %d\n", MOST + 1);
    put(text, used + one);
    is_refused(spec, "is row 8193: at most 8192");
    memset(text + used, 'x', ROOM - used);
    put(text, ROOM);
    assert_int_equal(truncate(path, ROOM + 1), 0);
    is_refused(spec, "it has 1048577 bytes: at most 1048576");
    free(text);
}

/* ---- files that others could have made ------------------------------------------------------- */

static void test_files(void **state)
{
    char other[700], value[700];
    iso_device device;

    (void)state;
    works(iso_device_close(open_rows(spec, some, 6)));
    assert_int_equal(chmod(path, 0666), 0);
    is_refused(spec, "can be written to by others");
    assert_int_equal(chmod(path, 0600), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 4321, (gid_t)-1), 0);
        is_refused(spec, "belongs to user 4321");
        assert_int_equal(chown(path, 0, (gid_t)-1), 0);
    }
    assert_int_equal(chmod(folder, 0777), 0);
    is_refused(spec, "can be written to by others");
    assert_int_equal(chmod(folder, 0700), 0);
    snprintf(other, sizeof other, "%s/other", folder);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    is_refused(spec, "it is a link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    is_refused(spec, "it is not a file");
    assert_int_equal(unlink(path), 0);
    /* A missing file is no table, and nothing to be refused. */
    works(iso_device_open(spec, &device));
    assert_int_equal(strncmp(property_of(device, "tuned table"), "none: there is no ", 18), 0);
    works(iso_device_close(device));
    setenv("ISOMER_TUNED", "relative", 1);
    works(iso_device_open(spec, &device));
    assert_non_null(strstr(property_of(device, "tuned table"), "not an absolute path"));
    works(iso_device_close(device));
    /* A folder: the table has the name that the device looks for. */
    setenv("ISOMER_TUNED", folder, 1);
    works(iso_device_open(spec, &device));
    snprintf(value, sizeof value, "%s", property_of(device, "tuned table") + 18);
    assert_int_equal(strncmp(value, folder, strlen(folder)), 0);
    assert_int_equal(rename(other, value), 0);
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_VENDOR); /* looked for when it was opened */
    works(iso_device_close(device));
    works(iso_device_open(spec, &device));
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_NAIVE);
    works(iso_device_close(device));
    /* Without the setting: the folder tuned in that of built kernels. */
    snprintf(other, sizeof other, "%s/tuned", folder);
    assert_int_equal(mkdir(other, 0700), 0);
    snprintf(other, sizeof other, "%s/tuned/%s", folder, strrchr(value, '/') + 1);
    assert_int_equal(rename(value, other), 0);
    unsetenv("ISOMER_TUNED");
    setenv("ISOMER_CACHE_DIR", folder, 1);
    works(iso_device_open(spec, &device));
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_NAIVE);
    works(iso_device_close(device));
    setenv("ISOMER_CACHE_DIR", "off", 1);
    works(iso_device_open(spec, &device));
    assert_int_equal(cube_is(device, 64), ISO_VARIANT_VENDOR);
    works(iso_device_close(device));
}

static int set_up(void **state)
{
    (void)state;
    unit_make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/table", folder);
    setenv("ISOMER_UNIT_IDENTITY", "compiler 1", 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),       cmocka_unit_test(test_last_error),
        cmocka_unit_test(test_auto),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_vector),      cmocka_unit_test(test_cover),
        cmocka_unit_test(test_cover_words), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_ways),        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_older),       cmocka_unit_test(test_library),
        cmocka_unit_test(test_versions),    cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_head),        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
