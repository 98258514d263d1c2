/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - structs, functions, teams, arrays that a launch sizes, rounded division and roots, and
 * the exponential, on one backend, against models. The device's spec is the first argument. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20011, GROUP = 100, GROUPS = (N + GROUP - 1) / GROUP, TEAM = 13 };

static const char *spec;

static const char text[] =
    "#include <isomer/kernel.h>\n"
    "#define T f32\n"
    "ISO_STRUCT(params) { u8 tag[3]; f64 scale; i16 shift, more; };\n"
    "ISO_FUNCTION f32 plus(f32 x, params p)\n"
    "{\n"
    "    if (p.tag[2] == 7) { return x * (f32)p.scale + (f32)p.more; }\n"
    "    return 0.0f;\n"
    "}\n"
    "ISO_KERNEL(structs, 64, 1, 1)(params p, ISO_IN(params) list ISO_EXTENT(2), ISO_IN(T) x "
    "ISO_EXTENT(n), ISO_OUT(T) y ISO_EXTENT(n), i64 n, ISO_OWN(params) mine)\n"
    "{\n"
    "    ISO_REGION(i) { iso_mine(mine) = p; iso_mine(mine).more = (i16)(p.more + list[1].shift); "
    "}\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) { y[at] = plus(x[at], iso_mine(mine)); }\n"
    "    }\n"
    "}\n"
    "ISO_KERNEL(teams, 100, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) sums ISO_EXTENT(n), "
    "ISO_OUT(f32) least ISO_EXTENT(n), i64 n, ISO_SHARED(f32, ISO_AT_LAUNCH) part, "
    "ISO_SHARED(f32, ISO_AT_LAUNCH) other, ISO_OWN(f32) v)\n"
    "{\n"
    "    ISO_REGION(i) { const i64 at = iso_x(i); iso_mine(v) = at < n ? x[at] : 0.0f; }\n"
    "    ISO_TEAM_SUM(part, v, WIDTH);\n"
    "    ISO_TEAM_MIN(other, v, WIDTH);\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) { sums[at] = part[i / WIDTH * WIDTH]; least[at] = other[i / WIDTH * "
    "WIDTH]; }\n"
    "    }\n"
    "}\n"
    "ISO_KERNEL(rounded, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(4 * n), "
    "ISO_OUT(f64) z ISO_EXTENT(3 * n), i64 n)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            const f32 a = x[at], b = x[n - 1 - at];\n"
    "            y[at] = iso_div_f32(a, b);\n"
    "            y[n + at] = iso_sqrt_f32(a);\n"
    "            y[2 * n + at] = iso_exp_f32(b);\n"
    "            y[3 * n + at] = iso_from_bits_f32(iso_bits_f32(a) ^ 1u);\n"
    "            z[at] = iso_div_f64((f64)a, (f64)b);\n"
    "            z[n + at] = iso_sqrt_f64((f64)a);\n"
    "            z[2 * n + at] = iso_exp_f64((f64)b * 8.0 + (f64)a * 1e-9);\n"
    "        }\n"
    "    }\n"
    "}\n";

typedef struct params {
    uint8_t tag[3];
    double scale;
    int16_t shift, more;
} params;

typedef struct scene {
    iso_device device;
    iso_stream stream;
    iso_program program;
    iso_buffer buffers[4];
    float *x;
} scene;

static void make_values(float *x)
{
    for (int i = 0; i < N; i++) {
        uint32_t bits = (uint32_t)i * 2654435761u;
        bits ^= bits >> 15;
        x[i] = (float)(int32_t)(bits % 2000003u - 1000001u) / 9000.0f;
    }
    const float special[] = {0.0f,    -0.0f,     INFINITY, -INFINITY, NAN,    1e-40f,
                             -3e-45f, 88.9f,     -103.9f,  3.4e38f,   88.72f, -87.4f,
                             -104.5f, 0x1p-126f, 1.0f,     88.73f};
    memcpy(x, special, sizeof special);
}

static int open_scene(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    works(iso_device_open(spec, &s->device));
    works(iso_stream_create(s->device, 0, &s->stream));
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    const iso_macro macro = {"WIDTH", "13"};
    args.name = "words.isk";
    args.text = text;
    args.macros = &macro;
    args.macro_count = 1;
    works(iso_program_create(s->device, &args, &s->program));
    const int64_t sizes[] = {N * 4, N * 16, N * 24, 2 * sizeof(params)};
    for (int i = 0; i < 4; i++) {
        works(iso_buffer_create(s->device, sizes[i], &s->buffers[i]));
    }
    s->x = malloc(N * 4);
    assert_non_null(s->x);
    make_values(s->x);
    works(iso_write(s->stream, (iso_operand){s->buffers[0], 0}, s->x, N * 4));
    *state = s;
    return 0;
}

static int close_scene(void **state)
{
    scene *s = *state;
    works(iso_device_close(s->device));
    free(s->x);
    free(s);
    return 0;
}

static iso_argument at(const scene *s, int buffer)
{
    return iso_arg_buffer((iso_operand){s->buffers[buffer], 0});
}

static iso_status launch(scene *s, const char *name, int64_t groups, const iso_argument *args,
                         int count)
{
    iso_kernel kernel;
    works(iso_kernel_get(s->program, name, &kernel));
    return iso_launch(s->stream, kernel, (iso_groups){groups, 1, 1}, args, count);
}

static void read_back(scene *s, int buffer, void *to, int64_t bytes)
{
    works(iso_read(s->stream, to, (iso_operand){s->buffers[buffer], 0}, bytes));
    works(iso_stream_sync(s->stream));
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void test_structs(void **state)
{
    scene *s = *state;
    const params p = {{1, 2, 7}, 2.5, 3, 4}, list[2] = {{{0}, 0, 0, 0}, {{0}, 0, -30, 0}};
    float *got = malloc(N * 4);
    assert_non_null(got);
    works(iso_write(s->stream, (iso_operand){s->buffers[3], 0}, list, sizeof list));
    const iso_argument args[] = {iso_arg_bytes(&p, sizeof p), at(s, 3), at(s, 0), at(s, 1),
                                 iso_arg_integer(N)};
    works(launch(s, "structs", (N + 63) / 64, args, 5));
    read_back(s, 1, got, N * 4);
    for (int i = 0; i < N; i++) {
        const float product = s->x[i] * 2.5f;
        assert_true(same(got[i], product - 26.0f));
    }
    const iso_argument whole[] = {iso_arg_integer(3), args[1], args[2], args[3], args[4]};
    fails(launch(s, "structs", 1, whole, 5), ISO_INVALID, "argument p is an integer");
    const iso_argument shorter[] = {iso_arg_bytes(&p, 23), args[1], args[2], args[3], args[4]};
    fails(launch(s, "structs", 1, shorter, 5), ISO_INVALID, "a params has 24");
    free(got);
}

static float fold(const float *x, int count, bool sum)
{
    float part[TEAM];
    memcpy(part, x, (size_t)count * sizeof *part);
    for (int n = count; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++) {
            const float other = part[(n + 1) / 2 + i];
            part[i] = sum ? part[i] + other : other < part[i] ? other : part[i];
        }
    }
    return part[0];
}

static void test_teams(void **state)
{
    scene *s = *state;
    float *got = malloc(N * 8), *x = calloc(GROUPS * GROUP, 4);
    assert_true(got && x);
    memcpy(x, s->x, N * 4);
    const iso_argument args[] = {at(s, 0),
                                 at(s, 1),
                                 at(s, 2),
                                 iso_arg_integer(N),
                                 iso_arg_integer(GROUP),
                                 iso_arg_integer(GROUP)};
    works(launch(s, "teams", GROUPS, args, 6));
    read_back(s, 1, got, N * 4);
    read_back(s, 2, got + N, N * 4);
    for (int i = 0; i < N; i++) {
        const int group = i / GROUP * GROUP, first = (i - group) / TEAM * TEAM;
        const int count = GROUP - first < TEAM ? GROUP - first : TEAM;
        assert_true(same(got[i], fold(x + group + first, count, true)));
        assert_true(same(got[N + i], fold(x + group + first, count, false)));
    }
    iso_argument wrong[6];
    memcpy(wrong, args, sizeof wrong);
    wrong[5] = iso_arg_integer(0);
    fails(launch(s, "teams", 1, wrong, 6), ISO_INVALID, "other is given 0 elements");
    wrong[5] = iso_arg_float(1);
    fails(launch(s, "teams", 1, wrong, 6), ISO_INVALID, "takes its count");
    wrong[5] = iso_arg_integer(1 << 23);
    const iso_status status = launch(s, "teams", 1, wrong, 6);
    if (strncmp(spec, "cuda", 4) == 0 || strncmp(spec, "hip", 3) == 0) {
        assert_int_equal(status, ISO_UNSUPPORTED);
        assert_non_null(strstr(iso_last_error(), "a group of this device has at most"));
    }
    free(got);
    free(x);
}

/* Units in the last place of f32 (or f64) between a result and the exact value. */
static double ulps(double got, long double exact, int digits, int least)
{
    int exponent = 0;
    (void)frexpl(exact, &exponent);
    exponent = exponent - digits < least ? least : exponent - digits;
    return (double)fabsl((got - exact) / ldexpl(1, exponent));
}

static void test_rounded(void **state)
{
    scene *s = *state;
    float *y = malloc(N * 16);
    double *z = malloc(N * 24);
    assert_true(y && z);
    const iso_argument args[] = {at(s, 0), at(s, 1), at(s, 2), iso_arg_integer(N)};
    works(launch(s, "rounded", (N + 63) / 64, args, 4));
    read_back(s, 1, y, N * 16);
    read_back(s, 2, z, N * 24);
    for (int i = 0; i < N; i++) {
        const float a = s->x[i], b = s->x[N - 1 - i];
        const double large = (double)b * 8.0 + (double)a * 1e-9;
        const long double e32 = expl(b), e64 = expl(large);
        uint32_t bits;
        memcpy(&bits, &y[3 * N + i], 4);
        bits ^= 1u;
        assert_memory_equal(&bits, &a, 4);
        assert_true(same(y[i], a / b));
        assert_true(same(y[N + i], sqrtf(a)));
        assert_true(same(z[i], (double)a / (double)b));
        assert_true(same(z[N + i], sqrt((double)a)));
        if (isnan(b) || e32 > 3.4028235e38L || e32 == 0) {
            assert_true(same(y[2 * N + i], (float)e32));
        } else {
            assert_true(ulps(y[2 * N + i], e32, 24, -149) < 1);
        }
        if (isnan(large) || e64 > 1.7976931348623157e308L || e64 == 0) {
            assert_true(same(z[2 * N + i], (double)e64));
        } else {
            assert_true(ulps(z[2 * N + i], e64, 53, -1074) < 1);
        }
    }
    free(y);
    free(z);
}

/* ---- texts that must be refused -------------------------------------------------------------- */

static void refuse(scene *s, const char *wrong, const char *message)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program made;
    args.name = "wrong.isk";
    args.text = wrong;
    fails(iso_program_create(s->device, &args, &made), ISO_INVALID, message);
}

#define KERNEL "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to)\n"

static void test_refused(void **state)
{
    scene *s = *state;
    refuse(s, "ISO_STRUCT(p) { f32x2 a; };\n" KERNEL "{}", "wrong.isk:1: struct p has a member");
    refuse(s, "ISO_STRUCT(p) { };\n" KERNEL "{}", "wrong.isk:1: struct p has no members");
    refuse(s, "ISO_STRUCT(p) { u8 a[9999]; };\n" KERNEL "{}", "9999: use 1 to 4096");
    refuse(s, "ISO_STRUCT(p) { u8 a; };\nISO_STRUCT(p) { u8 a; };\n" KERNEL "{}",
           "wrong.isk:2: struct p is declared on line 1 too");
    refuse(s, "ISO_STRUCT(p) { f64 a[200]; };\nISO_KERNEL(k, 8, 1, 1)(p v)\n{}",
           "wrong.isk:2: the values of kernel k take 1640 bytes");
    refuse(s, "ISO_KERNEL(k, 8, 1, 1)(q v)\n{}", "\"q\" is no type of a parameter");
    refuse(s, "#define R return\n" KERNEL "{\n    if (iso_group_x()) { R; }\n}",
           "wrong.isk:4: kernel k uses the macro R, which has return");
    refuse(s,
           "#define B break\n#define C B\n" KERNEL "{\n    ISO_REGION(i) {\n        C;\n    }\n}",
           "wrong.isk:6: kernel k uses the macro C, which has a break");
    refuse(s, "#define E ISO_REGION(i)\n" KERNEL "{\n    E { to[i] = i; }\n}",
           "wrong.isk:4: kernel k uses the macro E, which begins a region without");
    refuse(s, "#define E ISO_REGION(i) { }\n" KERNEL "{\n    ISO_REGION(j) { E }\n}",
           "a region inside of a region");
}

/* Macros that hide a loop or a whole region are allowed. */
static void test_macros(void **state)
{
    scene *s = *state;
    static const char good[] = "#define EACH(k) for (i32 k = 0; k < 9; k++)\n"
                               "#define SET(to) ISO_REGION(i) { to[iso_x(i)] += 5; }\n"
                               "ISO_KERNEL(k, 8, 1, 1)(ISO_OUT(i32) to ISO_EXTENT(8))\n"
                               "{\n"
                               "    ISO_REGION(i) {\n"
                               "        to[i] = 0;\n"
                               "        EACH(k) {\n"
                               "            if (k == 4) {\n"
                               "                break;\n"
                               "            }\n"
                               "            to[i] += i;\n"
                               "        }\n"
                               "    }\n"
                               "    SET(to)\n"
                               "}\n";
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program first = s->program;
    int32_t got[8];
    args.text = good;
    works(iso_program_create(s->device, &args, &s->program));
    const iso_argument to = at(s, 1);
    works(launch(s, "k", 1, &to, 1));
    read_back(s, 1, got, sizeof got);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(got[i], 4 * i + 5);
    }
    works(iso_program_destroy(s->program));
    s->program = first;
}

static void test_info(void **state)
{
    scene *s = *state;
    iso_kernel_info info = ISO_KERNEL_INFO_INIT;
    iso_parameter p = ISO_PARAMETER_INIT;
    iso_kernel kernel;
    int64_t elements = 0;
    works(iso_kernel_at(s->program, 1, &kernel));
    works(iso_kernel_get_info(kernel, &info));
    assert_string_equal(info.name, "teams");
    assert_int_equal(info.items[0], GROUP);
    assert_int_equal(info.items[2], 1);
    assert_int_equal(info.parameters, 7);
    assert_int_equal(info.line, 17);
    works(iso_kernel_get_parameter(kernel, 1, &p));
    assert_string_equal(p.name, "sums");
    assert_string_equal(p.type, "f32");
    assert_string_equal(p.extent, "n");
    assert_int_equal(p.role, ISO_PARAMETER_OUT);
    assert_int_equal(p.argument, 1);
    works(iso_kernel_get_parameter(kernel, 5, &p));
    assert_int_equal(p.role, ISO_PARAMETER_SHARED);
    assert_int_equal(p.argument, 5);
    assert_int_equal(p.count, 0);
    works(iso_kernel_get_parameter(kernel, 6, &p));
    assert_int_equal(p.role, ISO_PARAMETER_OWN);
    assert_int_equal(p.argument, -1);
    assert_int_equal(iso_kernel_get_parameter(kernel, 7, &p), ISO_NOT_READY);
    fails(iso_kernel_get_parameter(kernel, -1, &p), ISO_INVALID, "index is -1");
    works(iso_kernel_at(s->program, 2, &kernel));
    const iso_argument args[] = {at(s, 0), at(s, 1), at(s, 2), iso_arg_integer(50)};
    works(iso_kernel_get_extent(kernel, 2, args, 4, &elements));
    assert_int_equal(elements, 150);
    fails(iso_kernel_get_extent(kernel, 2, args, 3, &elements), ISO_INVALID,
          "n, which has no value");
    works(iso_kernel_get_extent(kernel, 3, args, 4, &elements));
    assert_int_equal(elements, -1);
    assert_int_equal(iso_kernel_at(s->program, 3, &kernel), ISO_NOT_READY);
    fails(iso_kernel_at(s->program, -1, &kernel), ISO_INVALID, "index is -1");
}

static void test_evaluate(void **state)
{
    const scene *s = *state;
    iso_kernel kernel;
    int64_t value = 0;
    const iso_argument args[] = {at(s, 0), at(s, 1), at(s, 2), iso_arg_integer(50)};
    works(iso_kernel_at(s->program, 2, &kernel));
    works(iso_kernel_evaluate(kernel, "(n + 3) / 4 << 1", args, 4, &value));
    assert_int_equal(value, 26);
    works(iso_kernel_evaluate(kernel, "WIDTH * n", args, 4, &value));
    assert_int_equal(value, 650);
    fails(iso_kernel_evaluate(kernel, "WIDTH * m", args, 4, &value), ISO_INVALID, "uses m");
    assert_int_equal(value, 0);
    fails(iso_kernel_evaluate(kernel, "n / (n - 50)", args, 4, &value), ISO_INVALID, "expression");
    fails(iso_kernel_evaluate(kernel, "n n", args, 4, &value), ISO_INVALID, "after its end");
    fails(iso_kernel_evaluate(kernel, "", args, 4, &value), ISO_INVALID, "iso_kernel_evaluate");
    fails(iso_kernel_evaluate(kernel, NULL, args, 4, &value), ISO_INVALID, "expression is NULL");
    fails(iso_kernel_evaluate(kernel, "n", args, -1, &value), ISO_INVALID, "count is -1");
    fails(iso_kernel_evaluate(kernel, "n", args, 4, NULL), ISO_INVALID, "value is NULL");
}

/* A program of which only the declarations are read: no compiler sees its text. */
static void test_declared(void **state)
{
    const scene *s = *state;
    iso_program program;
    iso_kernel kernel;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    int64_t value = 0;
    const iso_argument n = iso_arg_integer(7);
    args.text = "ISO_KERNEL(k, 1, 1, 1)(i32 n) { ISO_REGION(i) { no words of C } }";
    args.declared = 1;
    works(iso_program_create(s->device, &args, &program));
    works(iso_kernel_get(program, "k", &kernel));
    works(iso_kernel_evaluate(kernel, "n * n", &n, 1, &value));
    assert_int_equal(value, 49);
    fails(iso_launch(s->stream, kernel, (iso_groups){1, 1, 1}, &n, 1), ISO_NOT_READY, "kernel k");
    works(iso_program_destroy(program));
    args.text = "ISO_KERNEL(k, 1, 1, 1)(i32 n) { return; }";
    fails(iso_program_create(s->device, &args, &program), ISO_INVALID, "program:1: ");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_structs), SCENE(test_teams), SCENE(test_rounded),  SCENE(test_refused),
        SCENE(test_macros),  SCENE(test_info),  SCENE(test_evaluate), SCENE(test_declared)};
    iso_device device;
    spec = argc > 1 ? argv[1] : "openmp";
    if (iso_device_open(spec, &device)) {
        (void)printf("skipped: %s: %s\n", spec, iso_last_error());
        return 77;
    }
    (void)iso_device_close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
