/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the kernels of examples/kernels and some of the test's own, on one backend, against
 * models; and calls that must fail. The device's spec is the first argument. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 100003, ROWS = 301, COLS = 331, GROUP = 256, GROUPS = (N + GROUP - 1) / GROUP };

static const char *spec;

/* A device, a stream, two buffers of N f32, and the values in them. */
typedef struct scene {
    iso_device device;
    iso_stream stream;
    iso_program program;
    iso_buffer x_buffer, y_buffer;
    iso_operand x, y;
    float *a, *b, *got;
} scene;

static char *read_file(const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", KERNELS_FOLDER, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

static void create(scene *s, const char *name, const char *text)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = name;
    args.text = text;
    works(iso_program_create(s->device, &args, &s->program));
}

static int open_scene(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    works(iso_device_open(spec, &s->device));
    works(iso_stream_create(s->device, 0, &s->stream));
    works(iso_buffer_create(s->device, N * 4, &s->x_buffer));
    works(iso_buffer_create(s->device, N * 4, &s->y_buffer));
    s->x.buffer = s->x_buffer;
    s->y.buffer = s->y_buffer;
    s->a = malloc(N * 4);
    s->b = malloc(N * 4);
    s->got = malloc(N * 4);
    assert_true(s->a && s->b && s->got);
    for (int i = 0; i < N; i++) {
        s->a[i] = (float)(i * 7919 % 1000) / 37.0f;
        s->b[i] = (float)i / 3.0f - 1000.0f;
    }
    works(iso_write(s->stream, s->x, s->a, N * 4));
    works(iso_write(s->stream, s->y, s->b, N * 4));
    char *text = read_file("first.isk");
    create(s, "first.isk", text);
    free(text);
    *state = s;
    return 0;
}

static int close_scene(void **state)
{
    scene *s = *state;
    works(iso_device_close(s->device));
    free(s->a);
    free(s->b);
    free(s->got);
    free(s);
    return 0;
}

static iso_status launch(scene *s, const char *name, iso_groups groups, const iso_argument *args,
                         int count)
{
    iso_kernel kernel;
    works(iso_kernel_get(s->program, name, &kernel));
    return iso_launch(s->stream, kernel, groups, args, count);
}

static void read_y(scene *s, int64_t bytes)
{
    works(iso_read(s->stream, s->got, s->y, bytes));
    works(iso_stream_sync(s->stream));
}

/* ---- the examples ---------------------------------------------------------------------------- */

static void test_axpy(void **state)
{
    scene *s = *state;
    const iso_argument args[] = {iso_arg_float(2.5), iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                                 iso_arg_integer(N)};
    works(launch(s, "axpy", (iso_groups){GROUPS, 1, 1}, args, 4));
    read_y(s, N * 4);
    for (int i = 0; i < N; i++) {
        assert_true(s->got[i] == fmaf(2.5f, s->a[i], s->b[i]));
    }
}

static float at_or_0(const float *x, int row, int col)
{
    return row < 0 || row >= ROWS || col < 0 || col >= COLS ? 0.0f : x[row * COLS + col];
}

static void test_stencil(void **state)
{
    scene *s = *state;
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y), iso_arg_integer(ROWS),
                                 iso_arg_integer(COLS)};
    works(launch(s, "stencil", (iso_groups){(COLS + 31) / 32, (ROWS + 7) / 8, 1}, args, 4));
    read_y(s, ROWS * COLS * 4);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            const float across = at_or_0(s->a, i, j - 1) + at_or_0(s->a, i, j + 1);
            const float along = at_or_0(s->a, i - 1, j) + at_or_0(s->a, i + 1, j);
            assert_true(s->got[i * COLS + j] == 0.2f * (s->a[i * COLS + j] + (across + along)));
        }
    }
}

static void test_histogram(void **state)
{
    scene *s = *state;
    uint32_t expected[256] = {0}, counts[256] = {0};
    const unsigned char *bytes = (const unsigned char *)s->a;
    for (int i = 0; i < N * 4; i++) {
        expected[bytes[i]]++;
    }
    works(iso_write(s->stream, s->y, counts, sizeof counts));
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_integer(N * 4),
                                 iso_arg_buffer(s->y)};
    works(launch(s, "histogram", (iso_groups){40, 1, 1}, args, 3));
    works(iso_read(s->stream, counts, s->y, sizeof counts));
    works(iso_stream_sync(s->stream));
    assert_memory_equal(counts, expected, sizeof counts);
}

/* The tree of ISO_GROUP_SUM. */
static float tree(float *values, int n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++) {
            values[i] = values[i] + values[(n + 1) / 2 + i];
        }
    }
    return values[0];
}

static void test_block_sum(void **state)
{
    scene *s = *state;
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_integer(N), iso_arg_buffer(s->y)};
    works(launch(s, "block_sum", (iso_groups){GROUPS, 1, 1}, args, 3));
    read_y(s, GROUPS * 4);
    for (int g = 0; g < GROUPS; g++) {
        float values[GROUP];
        for (int i = 0; i < GROUP; i++) {
            values[i] = g * GROUP + i < N ? s->a[g * GROUP + i] : 0.0f;
        }
        assert_true(s->got[g] == tree(values, GROUP));
    }
}

static void test_transpose(void **state)
{
    scene *s = *state;
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y), iso_arg_integer(ROWS),
                                 iso_arg_integer(COLS)};
    works(launch(s, "transpose", (iso_groups){(COLS + 31) / 32, (ROWS + 31) / 32, 1}, args, 4));
    read_y(s, ROWS * COLS * 4);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            assert_true(s->got[j * ROWS + i] == s->a[i * COLS + j]);
        }
    }
}

/* ---- words that the examples do not use ------------------------------------------------------ */

static const char words[] =
    "ISO_KERNEL(cube, 4, 3, 5)(ISO_OUT(i64) to, i32 step, ISO_SHARED(i64, 60) part,\n"
    "                          ISO_OWN(i64) own)\n"
    "{\n"
    "    ISO_REGION_3(i, j, k)\n"
    "    {\n"
    "        iso_mine(own) = (iso_x(i) + 100 * iso_y(j) + 10000 * iso_z(k)) * step;\n"
    "    }\n"
    "    const i64 group = iso_group_x() + iso_groups_x() * (iso_group_y() + iso_groups_y() *\n"
    "                                                        iso_group_z());\n"
    "    ISO_GROUP_MAX(part, own);\n"
    "    ISO_REGION_3(i, j, k)\n"
    "    {\n"
    "        if (i + j + k == 0) {\n"
    "            to[group * 3] = part[0];\n"
    "        }\n"
    "    }\n"
    "    ISO_GROUP_MIN(part, own);\n"
    "    ISO_REGION_3(i, j, k)\n"
    "    {\n"
    "        if (i + j + k == 0) {\n"
    "            to[group * 3 + 1] = part[0];\n"
    "        }\n"
    "    }\n"
    "    ISO_GROUP_SUM(part, own);\n"
    "    ISO_REGION_3(i, j, k)\n"
    "    {\n"
    "        if (i + j + k == 0) {\n"
    "            to[group * 3 + 2] = part[0];\n"
    "        }\n"
    "    }\n"
    "}\n"
    "ISO_KERNEL(pairs, LANES, 1, 1)(ISO_IN(f32x2) from, ISO_OUT(f32x4) to, f32x2 add, u8 twice)\n"
    "{\n"
    "    ISO_REGION(i)\n"
    "    {\n"
    "        const f32x2 a = from[i];\n"
    "        to[i] = iso_f32x4(a.x + add.x, a.y + add.y, a.x * (f32)twice, iso_sqrt_f32(4.0f));\n"
    "    }\n"
    "}\n"
    "ISO_KERNEL(best, 33, 1, 1)(ISO_INOUT(i32) to)\n"
    "{\n"
    "    for (i32 r = 0; r < 3; r++) {\n"
    "        ISO_REGION(i)\n"
    "        {\n"
    "            iso_atomic_max_i32(&to[0], i * 7 % 33 + r);\n"
    "            iso_atomic_min_i32(&to[1], -(i * 7 % 33) - r);\n"
    "            iso_atomic_add_i32(&to[2], i);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "ISO_KERNEL(perhaps, 64, 1, 1)(ISO_IN(f32) from ISO_EXTENT(n), ISO_OUT(f32) to, i32 n)\n"
    "{\n"
    "    ISO_REGION(i)\n"
    "    {\n"
    "        to[i] = n > 0 ? from[i % n] : 2.0f;\n"
    "    }\n"
    "}\n";

static void create_words(scene *s)
{
    const iso_macro lanes = {"LANES", "64"};
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.text = words;
    args.macros = &lanes;
    args.macro_count = 1;
    works(iso_program_destroy(s->program));
    works(iso_program_create(s->device, &args, &s->program));
}

/* Three axes of items and of groups. */
static void test_cube(void **state)
{
    enum { X = 3, Y = 2, Z = 4 };
    scene *s = *state;
    int64_t got[X * Y * Z * 3];
    create_words(s);
    const iso_argument args[] = {iso_arg_buffer(s->y), iso_arg_integer(-2)};
    works(launch(s, "cube", (iso_groups){X, Y, Z}, args, 2));
    works(iso_read(s->stream, got, s->y, sizeof got));
    works(iso_stream_sync(s->stream));
    for (int g = 0; g < X * Y * Z; g++) {
        const int64_t x = g % X * 4, y = g / X % Y * 3, z = g / X / Y * 5;
        int64_t sum = 0;
        for (int i = 0; i < 60; i++) {
            sum += (x + i % 4 + 100 * (y + i / 4 % 3) + 10000 * (z + i / 12)) * -2;
        }
        assert_int_equal(got[g * 3], (x + 100 * y + 10000 * z) * -2);
        assert_int_equal(got[g * 3 + 1], (x + 3 + 100 * (y + 2) + 10000 * (z + 4)) * -2);
        assert_int_equal(got[g * 3 + 2], sum);
    }
}

/* More groups along y and z than a driver launches at once. */
static void test_parts(void **state)
{
    static const iso_groups all[] = {{3, 65535, 1}, {2, 65537, 1}, {1, 2, 131071}, {1, 1, 65536}};
    static const char sums[] =
        "ISO_KERNEL(sums, 1, 1, 1)(ISO_INOUT(u32) sum)\n{\n    ISO_REGION(i)\n    {\n"
        "        const u32 x = (u32)iso_group_x(), y = (u32)iso_group_y(), z = "
        "(u32)iso_group_z();\n"
        "        iso_atomic_add_u32(sum, x + y * 31u + z * 1009u + 1u);\n"
        "        iso_atomic_max_u32(&sum[1], (u32)(iso_groups_x() + iso_groups_y() * "
        "iso_groups_z()));\n    }\n}\n";
    scene *s = *state;
    works(iso_program_destroy(s->program));
    create(s, "sums.isk", sums);
    for (int i = 0; i < 4; i++) {
        const iso_groups groups = all[i];
        uint32_t got[2] = {0, 0}, sum = 0;
        const iso_argument args[] = {iso_arg_buffer(s->y)};
        for (int64_t g = 0; g < groups.x * groups.y * groups.z; g++) {
            sum += (uint32_t)(g % groups.x + g / groups.x % groups.y * 31 +
                              g / groups.x / groups.y * 1009 + 1);
        }
        works(iso_write(s->stream, s->y, got, sizeof got));
        works(launch(s, "sums", groups, args, 1));
        works(iso_read(s->stream, got, s->y, sizeof got));
        works(iso_stream_sync(s->stream));
        assert_int_equal(got[0], sum);
        assert_int_equal(got[1], groups.x + groups.y * groups.z);
    }
}

static void test_pairs(void **state)
{
    scene *s = *state;
    const float add[2] = {0.5f, -3.0f};
    create_words(s);
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                                 iso_arg_bytes(add, sizeof add), iso_arg_integer(255)};
    works(launch(s, "pairs", (iso_groups){1, 1, 1}, args, 4));
    read_y(s, 64 * 16);
    for (int i = 0; i < 64; i++) {
        const float *a = s->a + 2 * (ptrdiff_t)i;
        assert_true(s->got[i * 4] == a[0] + 0.5f && s->got[i * 4 + 1] == a[1] - 3.0f);
        assert_true(s->got[i * 4 + 2] == a[0] * 255.0f && s->got[i * 4 + 3] == 2.0f);
    }
}

static void test_best(void **state)
{
    scene *s = *state;
    int32_t got[3] = {0, 0, 0};
    create_words(s);
    works(iso_write(s->stream, s->y, got, sizeof got));
    const iso_argument args[] = {iso_arg_buffer(s->y)};
    works(launch(s, "best", (iso_groups){5, 1, 1}, args, 1));
    works(iso_read(s->stream, got, s->y, sizeof got));
    works(iso_stream_sync(s->stream));
    assert_int_equal(got[0], 34);
    assert_int_equal(got[1], -34);
    assert_int_equal(got[2], 33 * 32 / 2 * 3 * 5);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

/* Creating the program fails, with the text's line; NVRTC writes it in brackets. */
static void refuses(scene *s, const char *text, iso_status status, int line, const char *word)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program made;
    char place[32], other[32];
    args.name = "bad.isk";
    args.text = text;
    fails(iso_program_create(s->device, &args, &made), status, "bad.isk", word);
    assert_int_equal(made.id, 0);
    (void)snprintf(place, sizeof place, "bad.isk:%d", line);
    (void)snprintf(other, sizeof other, "bad.isk(%d)", line);
    if (!strstr(iso_last_error(), place) && !strstr(iso_last_error(), other)) {
        fail_msg("%s is not in: %s", place, iso_last_error());
    }
}

static void test_bad_texts(void **state)
{
    scene *s = *state;
    refuses(s, "\nISO_KERNEL(k, 0, 1, 1)(i32 a) { }", ISO_INVALID, 2, "0");
    refuses(s, "ISO_KERNEL(k, 8, 1, 1)(float a) { }", ISO_INVALID, 1, "float");
    refuses(s, "ISO_KERNEL(k, 8, 1, 1)(i32 a)\n{ ISO_REGION(i) { return; } }", ISO_INVALID, 2,
            "return");
    refuses(s, "ISO_KERNEL(k, 8, 1, 1)(i32 a)\n{\nISO_REGION(i)\n{\nbreak; } }", ISO_INVALID, 5,
            "break");
    /* What only a compiler sees. */
    refuses(s,
            "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to)\n{\n    ISO_REGION(i)\n    {\n"
            "        to[i] = nothing;\n    }\n}\n",
            ISO_COMPILE, 5, "nothing");
    refuses(s,
            "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to)\n{\n    ISO_REGION(i)\n    {\n"
            "    }\n    if (to[i]) { ISO_REGION(j) { } }\n}\n",
            ISO_INVALID, 6, "index in the region of line 3");
    refuses(s,
            "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to)\n{\n    ISO_REGION(i)\n    {\n"
            "    }\n    to[0] = 1;\n}\n",
            ISO_INVALID, 6, "outside of regions");
}

static void test_bad_arguments(void **state)
{
    scene *s = *state;
    const iso_groups one = {1, 1, 1};
    const iso_argument good[] = {iso_arg_float(2.5), iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                                 iso_arg_integer(N)};
    iso_argument args[4];
    memcpy(args, good, sizeof args);
    works(launch(s, "axpy", (iso_groups){0, 1, 1}, good, 4));
    fails(launch(s, "axpy", (iso_groups){-1, 1, 1}, good, 4), ISO_INVALID, "-1");
    fails(launch(s, "axpy", (iso_groups){1 << 16, 1 << 15, 1}, good, 4), ISO_INVALID, "2^31");
    fails(launch(s, "axpy", one, good, 3), ISO_INVALID, "axpy takes 4", "3");
    fails(launch(s, "axpy", one, NULL, 4), ISO_INVALID, "NULL");
    args[0] = iso_arg_integer(2);
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "argument a", "f32");
    args[0] = good[1];
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "argument a", "a buffer");
    args[0] = good[0];
    args[1] = iso_arg_float(1);
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "argument x", "buffer of f32");
    args[1] = iso_arg_buffer((iso_operand){s->x_buffer, 2});
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "x begins", "f32");
    args[1] = iso_arg_buffer((iso_operand){s->x_buffer, 4});
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "x must have 100003", "100002");
    args[1] = iso_arg_buffer((iso_operand){s->x_buffer, N * 4 + 4});
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "x");
    args[1] = iso_arg_buffer((iso_operand){{0}, 0});
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "x.buffer");
    args[1] = good[2];
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "writes y", "x");
    args[1] = good[1];
    args[3].kind = 9;
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "argument n", "kind 9");
    args[3] = iso_arg_bytes(&args, 4);
    fails(launch(s, "axpy", one, args, 4), ISO_INVALID, "argument n", "4 bytes", "i64 has 8");
    iso_kernel kernel;
    fails(iso_kernel_get(s->program, "best", &kernel), ISO_INVALID, "best", "axpy, stencil");
}

static void test_bad_values(void **state)
{
    scene *s = *state;
    const float add[2] = {0, 0};
    create_words(s);
    iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                           iso_arg_bytes(add, sizeof add), iso_arg_integer(256)};
    fails(launch(s, "pairs", (iso_groups){1, 1, 1}, args, 4), ISO_INVALID, "twice is 256", "u8",
          "255");
    args[3] = iso_arg_integer(-1);
    fails(launch(s, "pairs", (iso_groups){1, 1, 1}, args, 4), ISO_INVALID, "twice is -1");
    args[3] = iso_arg_integer(1);
    args[2] = iso_arg_float(1);
    fails(launch(s, "pairs", (iso_groups){1, 1, 1}, args, 4), ISO_INVALID, "add", "f32x2");
}

/* ---- extents --------------------------------------------------------------------------------- */

/* A text with one kernel, whose x has that extent. */
static void create_extent(scene *s, const char *extent, size_t comment)
{
    static const char form[] =
        "#include <isomer/kernel.h>\n"
        "#define TWO 2\n#define SUM 1 + TWO\n"
        "//%*s\n"
        "ISO_KERNEL(k, 1, 1, 1)(ISO_IN(f32) x ISO_EXTENT(%s), ISO_OUT(f32) y,\n"
        "#undef TWO\n"
        "#define TWO 20\n"
        "#define THREE 3\n"
        "    i64 n, i32 m)\n"
        "{\n"
        "    ISO_REGION(i)\n"
        "    {\n"
        "        y[i] = x[0] + (f32)(n + m);\n"
        "    }\n"
        "}\n";
    const size_t room = sizeof form + comment + strlen(extent);
    char *text = malloc(room);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    assert_non_null(text);
    (void)snprintf(text, room, form, (int)comment, "", extent);
    args.text = text;
    works(iso_program_destroy(s->program));
    works(iso_program_create(s->device, &args, &s->program));
    free(text);
}

static iso_status launch_extent(scene *s, int64_t n, int64_t m)
{
    const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y), iso_arg_integer(n),
                                 iso_arg_integer(m)};
    return launch(s, "k", (iso_groups){1, 1, 1}, args, 4);
}

static void test_extents(void **state)
{
    scene *s = *state;
    const struct {
        const char *extent;
        int64_t n, m, elements;
    } exact[] = {
        {"1", 5, 0, 1},
        {"n * TWO", N / 2, 0, N - 1},
        {"(n + m - 1) / m * TWO", 99997, 4, 50000},
        {"n - -m", N - 7, 7, N},
        {"n % 1000 << m", 40003, 3, 24},
        {"n >> 1 + 1", 400000, 0, 100000},
        {"n - SUM * SUM", 1000, 0, 1003}, /* - 1 + 2 * 1 + 2 */
        {"0x10 * 0x10", 0, 0, 256},
        {"n + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1", 90, 0, 100}, /* too long for steps */
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        const int64_t elements = exact[i].elements;
        iso_kernel kernel;
        int64_t found;
        create_extent(s, exact[i].extent, 0);
        works(iso_kernel_get(s->program, "k", &kernel));
        const iso_argument args[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                                     iso_arg_integer(exact[i].n), iso_arg_integer(exact[i].m)};
        works(iso_kernel_get_extent(kernel, 0, args, 4, &found));
        assert_int_equal(found, elements);
        s->x = (iso_operand){s->x_buffer, (N - elements) * 4}; /* just enough */
        works(launch_extent(s, exact[i].n, exact[i].m));
        if (elements > 1) {
            s->x = (iso_operand){s->x_buffer, (N - elements + 1) * 4};
            fails(launch_extent(s, exact[i].n, exact[i].m), ISO_INVALID, "x must have",
                  exact[i].extent);
        }
        s->x = (iso_operand){s->x_buffer, 0};
    }
    create_extent(s, "n / m", 0);
    fails(launch_extent(s, 4, 0), ISO_INVALID, "divides 4 by zero");
    create_extent(s, "n * n * TWO", 0);
    fails(launch_extent(s, INT64_C(1) << 31, 0), ISO_INVALID, "overflows 64 bits");
    /* The definitions before an extent count, not those behind it. */
    create_extent(s, "m * SUM", 0);
    s->x = (iso_operand){s->x_buffer, (N - 7) * 4};
    works(launch_extent(s, 0, 5)); /* 5 * 1 + 2 */
    fails(launch_extent(s, 0, 6), ISO_INVALID, "x must have 8");
    s->x = (iso_operand){s->x_buffer, 0};
    create_extent(s, "n * THREE", 0);
    fails(launch_extent(s, 1, 0), ISO_INVALID, "THREE");
}

/* A launch does not read the text: a long comment before the kernel costs nothing. */
static void test_long_text(void **state)
{
    enum { LAUNCHES = 300, COMMENT = 500000 };
    scene *s = *state;
    double seconds[2] = {0, 1};
    /* Another process can hold one try up. */
    for (int try = 0; try < 10 && seconds[1] > 10 * seconds[0] + 0.05; try++) {
        for (int way = 0; way < 2; way++) {
            struct timespec begin, end;
            create_extent(s, "(n + TWO) / 4", way == 0 ? 0 : COMMENT);
            works(launch_extent(s, 2, 2));
            works(iso_stream_sync(s->stream));
            (void)clock_gettime(CLOCK_MONOTONIC, &begin);
            for (int i = 0; i < LAUNCHES; i++) {
                works(launch_extent(s, 2, 2));
            }
            (void)clock_gettime(CLOCK_MONOTONIC, &end);
            works(iso_stream_sync(s->stream));
            seconds[way] =
                (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        }
    }
    assert_true(seconds[1] <= 10 * seconds[0] + 0.05); /* reading it takes 0.5 ms each time */
}

/* No elements share no bytes, wherever they lie. */
static void test_no_elements(void **state)
{
    scene *s = *state;
    create_words(s);
    iso_argument args[] = {iso_arg_buffer((iso_operand){s->y_buffer, 64}), iso_arg_buffer(s->y),
                           iso_arg_integer(0)};
    works(launch(s, "perhaps", (iso_groups){1, 1, 1}, args, 3));
    read_y(s, 64 * 4);
    assert_true(s->got[0] == 2.0f && s->got[63] == 2.0f);
    args[2] = iso_arg_integer(1);
    fails(launch(s, "perhaps", (iso_groups){1, 1, 1}, args, 3), ISO_INVALID, "writes to",
          "from (64 to 68)");
}

/* What compilers get, without a device. */
static void test_text(void **state)
{
    const iso_macro lanes = {"LANES", "64"};
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    int64_t bytes = 7, again = 0;
    (void)state;
    args.text = words;
    args.macros = &lanes;
    args.macro_count = 1;
    works(iso_program_text(&args, NULL, 0, &bytes));
    char *text = malloc((size_t)bytes);
    assert_non_null(text);
    works(iso_program_text(&args, text, bytes, &again));
    assert_true(again == bytes && strlen(text) == (size_t)bytes - 1);
    assert_non_null(strstr(text, "#define LANES 64\n#line 1 \"program\"\nISO_KERNEL(cube, 4"));
    assert_non_null(strstr(text, "iso_kernel_best("));
    fails(iso_program_text(&args, text, bytes - 1, &again), ISO_INVALID, "capacity", "bytes");
    assert_true(again == bytes);
    free(text);
    fails(iso_program_text(&args, NULL, 1, &again), ISO_INVALID, "out");
    fails(iso_program_text(&args, NULL, -1, &again), ISO_INVALID, "capacity");
    fails(iso_program_text(&args, NULL, 0, NULL), ISO_INVALID, "bytes");
    fails(iso_program_text(NULL, NULL, 0, &again), ISO_INVALID, "args");
    args.text = "ISO_KERNEL(k, 0, 1, 1)() { }";
    fails(iso_program_text(&args, NULL, 0, &again), ISO_INVALID, "program:1", "0");
    assert_int_equal(again, 0);
}

static void test_bad_handles(void **state)
{
    scene *s = *state;
    iso_kernel kernel;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program made;
    const iso_argument none = iso_arg_integer(0);
    fails(iso_program_create(s->device, NULL, &made), ISO_INVALID, "args");
    fails(iso_program_create(s->device, &args, &made), ISO_INVALID, "text is NULL");
    fails(iso_program_create(s->device, &args, NULL), ISO_INVALID, "out");
    args.text = "";
    args.macro_count = 1;
    fails(iso_program_create(s->device, &args, &made), ISO_INVALID, "macro_count is 1");
    const iso_macro macro = {"A", NULL};
    args.macros = &macro;
    fails(iso_program_create(s->device, &args, &made), ISO_INVALID, "macros[0].value");
    fails(iso_kernel_get(s->program, NULL, &kernel), ISO_INVALID, "name");
    fails(iso_kernel_get(s->program, "axpy", NULL), ISO_INVALID, "out");
    works(iso_kernel_get(s->program, "axpy", &kernel));
    kernel.index = 5;
    fails(iso_launch(s->stream, kernel, (iso_groups){1, 1, 1}, &none, 1), ISO_INVALID,
          "index is 5");
    kernel.index = 0;
    works(iso_program_destroy(s->program));
    fails(iso_launch(s->stream, kernel, (iso_groups){1, 1, 1}, &none, 1), ISO_INVALID, "program");
    fails(iso_program_destroy(s->program), ISO_INVALID, "program");
}

/* A program is destroyed while its launches may still run, and a device with programs closed. */
static void test_ends(void **state)
{
    scene *s = *state;
    const iso_argument args[] = {iso_arg_float(1), iso_arg_buffer(s->x), iso_arg_buffer(s->y),
                                 iso_arg_integer(N)};
    for (int i = 0; i < 20; i++) {
        works(launch(s, "axpy", (iso_groups){GROUPS, 1, 1}, args, 4));
    }
    works(iso_program_destroy(s->program));
    read_y(s, N * 4);
    float expected = s->b[77];
    for (int i = 0; i < 20; i++) {
        expected = fmaf(1.0f, s->a[77], expected);
    }
    assert_true(s->got[77] == expected);
    create(s, "words",
           "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to)\n"
           "{\n    ISO_REGION(i)\n    {\n        to[i] = i;\n    }\n}\n");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_axpy),        SCENE(test_stencil),    SCENE(test_histogram),
        SCENE(test_block_sum),   SCENE(test_transpose),  SCENE(test_cube),
        SCENE(test_parts),       SCENE(test_pairs),      SCENE(test_best),
        SCENE(test_bad_texts),   SCENE(test_bad_values), SCENE(test_bad_arguments),
        SCENE(test_no_elements), SCENE(test_extents),    SCENE(test_long_text),
        SCENE(test_bad_handles), SCENE(test_ends),       cmocka_unit_test(test_text),
    };
    iso_device device;
    spec = argc > 1 ? argv[1] : "openmp";
    if (iso_device_open(spec, &device)) {
        (void)printf("skipped: %s: %s\n", spec, iso_last_error());
        return 77;
    }
    (void)iso_device_close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
