/* SPDX-License-Identifier: Apache-2.0 */
/* declare.c - the declarations of a text of kernels: what is read and refused. */
#include "core/kernel/declare.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The core's files call this one: see CMakeLists.txt. */
#undef realloc
void *realloc(void *block, size_t bytes);
void *kernels_realloc(void *block, size_t bytes);

static int reallocs_left = -1; /* until one fails; -1: none */

void *kernels_realloc(void *block, size_t bytes)
{
    if (reallocs_left == 0) {
        return NULL;
    }
    reallocs_left -= reallocs_left > 0;
    return realloc(block, bytes);
}

/* What a table's row is read with. */
static const kernel_macro given[] = {{"GIVEN", "32"}, {"TWICE", "2 * GIVEN"}};

static iso_status read_text(const char *text, kernel_file *file)
{
    return kernel_read("call", "t", text, given, 2, file);
}

typedef struct refusal {
    const char *text;
    int line;
    const char *word, *more; /* in the message */
} refusal;

static void check_accepted(const char *const *texts)
{
    for (; *texts; texts++) {
        kernel_file file;
        iso_status status = read_text(*texts, &file);

        if (status) {
            fail_msg("%s\n%s", *texts, iso_last_error());
        }
        assert_true(file.count > 0);
        kernel_file_free(&file);
    }
}

static void check_refused(const refusal *rows)
{
    for (; rows->text; rows++) {
        kernel_file file;
        iso_status status = read_text(rows->text, &file);
        char place[32];

        snprintf(place, sizeof place, "call: t:%d: ", rows->line);
        if (status != ISO_INVALID || strncmp(iso_last_error(), place, strlen(place)) != 0 ||
            !strstr(iso_last_error(), rows->word) ||
            (rows->more && !strstr(iso_last_error(), rows->more))) {
            fail_msg("%s\nexpected %s... %s ... %s, status %d: %s", rows->text, place, rows->word,
                     rows->more ? rows->more : "", (int)status, iso_last_error());
        }
        assert_null(file.kernels);
        assert_int_equal(file.count, 0);
    }
}

#define KERNEL(sizes)      "ISO_KERNEL(k, " sizes ")(i64 n) { }"
#define PARAMS(text)       "ISO_KERNEL(k, 8, 1, 1)(\n" text ") { }"
#define BODY(text)         "ISO_KERNEL(k, 8, 1, 1)(i64 n)\n{\n" text "\n}\n"
#define SIZED(sizes, text) "ISO_KERNEL(k, " sizes ")(i64 n)\n{\n" text "\n}\n"
#define SHARED(count)      "ISO_KERNEL(k, 8, 1, 1)(ISO_SHARED(f32, " count ") s) { }"

#define SIXTEEN(m)                                                                                 \
    m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
#define LETTERS_16 "abcdefghijklmnop"
#define LETTERS_63 LETTERS_16 LETTERS_16 LETTERS_16 "abcdefghijklmno"

static const char good[] =
    "#define TILE 16 /* of a group */\n"
    "#ifndef GUARD\n"
    "#define GUARD\n"
    "#endif\n"
    "static f32 twice(f32 x) { return x + x; } // ISO_KERNEL(no, 0)\n"
    "ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y\n"
    "    ISO_EXTENT( (n + 1) * 2 /* more */ ), i64 n, ISO_SHARED(f32, TILE * (TILE + 1)) part,\n"
    "    ISO_OWN(f32x2) sum, ISO_OUT(u8) out)\n"
    "{\n"
    "    ISO_REGION(i) { if (i > n) continue; y[i] = twice(x[i]) + '}' + \"{\\\"\"[0]; }\n"
    "    for (i32 s = 8; s > 0; s /= 2) { ISO_REGION(i) { while (1) { break; } } }\n"
    "}\n"
    "ISO_KERNEL(second, TILE, TILE / 2, 2)() { ISO_REGION_3(i, j, k) { } }\n";

/* A word of one compiler's language is no name in any text. */
static void test_words(void **state)
{
    static const char *const accepted[] = {
        PARAMS("f32 min, f32 max, u32 uint, i32 main, i32 halfway, i32 class_of"),
        BODY("i64 const a = n; ISO_REGION(any) { f32 exp = 1.0f, event = exp; i32 image; }"),
        "ISO_FUNCTION f32 smaller(f32 min) { return min; }" KERNEL("8, 1, 1"), NULL};
    static const refusal refused[] = {
        {PARAMS("f32 half"), 2, "half of a parameter is a word of OpenCL C", "another"},
        {PARAMS("ISO_IN(f32) global"), 2, "global of a parameter", "OpenCL"},
        {PARAMS("f32 class"), 2, "class", "C++"},
        {PARAMS("f32 register"), 2, "register", "word of C:"},
        {PARAMS("f32 blockIdx"), 2, "blockIdx", "CUDA and HIP"},
        {PARAMS("f32 new"), 2, "new", "C++"},
        {PARAMS("f32 INFINITY"), 2, "INFINITY", "OpenCL"},
        {"ISO_KERNEL(kernel, 1, 1, 1)() {}", 1, "kernel of a kernel", "OpenCL"},
        {"ISO_KERNEL(main, 1, 1, 1)() {}", 1, "main", "headers"},
        {"ISO_KERNEL(uint, 1, 1, 1)() {}", 1, "uint", "OpenCL"},
        {"ISO_STRUCT(exp) { f32 a; };\n" KERNEL("8, 1, 1"), 1, "exp of a struct", "mathematical"},
        {"ISO_STRUCT(s) {\nf32 local; };\n" KERNEL("8, 1, 1"), 2, "local of a member", "OpenCL"},
        {"\nISO_FUNCTION f32 min(f32 a) { return a; }\n" KERNEL("8, 1, 1"), 2, "min of a function",
         "mathematical"},
        {BODY("ISO_REGION(this) { }"), 3, "this of a region's index", "C++"},
        {BODY("ISO_REGION(i) {\nf32 a = 1.0f, half = a; }"), 4, "half of a variable", "OpenCL"},
        {BODY("i32 virtual = 1;"), 3, "virtual of a variable", "C++"},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

static void test_good(void **state)
{
    kernel_file file = {0};
    const kernel_decl *k;
    const kernel_param *p;
    int64_t value = 0;
    const kernel_value n = {"n", 10};

    (void)state;
    kernel_file_free(&file);
    works(read_text(good, &file));
    assert_int_equal(file.count, 2);
    k = file.kernels;
    p = k->params;
    assert_string_equal(k->name, "axpy");
    assert_int_equal(k->line, 6);
    assert_int_equal(k->size[0], 256);
    assert_int_equal(k->size[2], 1);
    assert_memory_equal(good + k->params_at - 1, "(f32 a", 6);
    assert_memory_equal(good + k->body_at - 1, "{\n    ISO_REGION(i)", 19);
    assert_int_equal(k->param_count, 7);
    assert_string_equal(p[0].name, "a");
    assert_int_equal(p[0].role, KERNEL_VALUE);
    assert_int_equal(p[1].role, KERNEL_IN);
    assert_memory_equal(good + p[1].extent_at, "n)", 2);
    assert_int_equal(p[1].extent_length, 1);
    assert_int_equal(p[2].role, KERNEL_INOUT);
    assert_int_equal(p[2].extent_length, 11);
    assert_memory_equal(good + p[2].extent_at, "(n + 1) * 2", 11);
    assert_int_equal(p[3].role, KERNEL_VALUE);
    assert_int_equal(p[3].extent_length, 0);
    assert_string_equal(p[3].type.name, "i64");
    assert_int_equal(p[4].role, KERNEL_SHARED);
    assert_int_equal(p[4].count, 272);
    assert_int_equal(p[5].role, KERNEL_OWN);
    assert_string_equal(p[5].type.name, "f32x2");
    assert_int_equal(p[5].type.scalar, 'f');
    assert_int_equal(p[5].type.bytes, 8);
    assert_int_equal(p[5].type.lanes, 2);
    assert_int_equal(p[6].role, KERNEL_OUT);
    assert_int_equal(p[6].type.bytes, 1);
    assert_int_equal(k[1].size[1], 8);
    assert_int_equal(k[1].param_count, 0);
    assert_int_equal(k[1].line, 13);
    works(kernel_evaluate("call", "t", good, p[2].extent_at, p[2].extent_length, NULL, 0, &n, 1,
                          &value));
    assert_int_equal(value, 22);
    kernel_file_free(&file);
    kernel_file_free(&file);
}

static void test_kernels(void **state)
{
    static const char *const accepted[] = {
        KERNEL("1, 1, 1"),
        KERNEL("1024, 1, 1"),
        KERNEL("GIVEN, TWICE/2, 1"),
        KERNEL("0x10 << 1, 64 >> 2, 7 % 4 - 1ull"),
        KERNEL("(-3 + 5) * 4, 2, 1"),
        "ISO_KERNEL(" LETTERS_63 ", 1, 1, 1)() {}",
        "ISO_KERNEL(iso, 1, 1, 1)() {}",
        "ISO_KERNEL(a, 1, 1, 1)() {} ISO_KERNEL(b, 1, 1, 1)() {}",
        "extern int x[2]; void f(int a) { g({1}); }\n ISO_KERNEL(a, 1, 1, 1)() {}",
        NULL};
    static const refusal refused[] = {
        {"", 1, "no kernel", "ISO_KERNEL("},
        {"\n\nint x;", 3, "no kernel", NULL},
        {"\nISO_KERNEL(9k, 1, 1, 1)() {}", 2, "\"9k\"", "letters"},
        {"ISO_KERNEL(\xc3\xa4, 1, 1, 1)() {}", 1, "letters", NULL},
        {"ISO_KERNEL(a$, 1, 1, 1)() {}", 1, "letters", NULL},
        {"ISO_KERNEL(iso_k, 1, 1, 1)() {}", 1, "iso_k", "another"},
        {"ISO_KERNEL(ISO_k, 1, 1, 1)() {}", 1, "ISO_k", "another"},
        {"ISO_KERNEL(" LETTERS_63 "x, 1, 1, 1)() {}", 1, "64", "63"},
        {"ISO_KERNEL(a, 1, 1, 1)() {}\nISO_KERNEL(a, 1, 1, 1)() {}", 2, "kernel a", "line 1"},
        {KERNEL("0, 1, 1"), 1, "along x of kernel k is 0", "1 to 1024"},
        {KERNEL("1, -1, 1"), 1, "along y of kernel k is -1", "1 to 1024"},
        {KERNEL("1, 1, 1025"), 1, "along z of kernel k is 1025", "1 to 1024"},
        {KERNEL("32, 32, 2"), 1, "2048 items", "1024"},
        {KERNEL("1, 1"), 1, "a size of ISO_KERNEL", "needs ,"},
        {KERNEL("1, 1, 1, 1"), 1, "third size", "needs )"},
        {KERNEL("1,\n n, 1"), 2, "uses n", "#define"},
        {KERNEL(", 1, 1"), 1, "along x", "empty"},
        {"ISO_KERNEL(k, (1, 1, 1)() {}", 1, "along x", "not closed"},
        {"ISO_KERNEL", 1, "needs (", NULL},
        {"ISO_KERNEL(k, 1, 1, 1) {}", 1, "needs (", NULL},
        {"ISO_KERNEL(k, 1, 1, 1)()\n;", 2, "kernel k", "body"},
        {"ISO_KERNEL(k, 1, 1, 1)() {\n(\n}", 3, "( of line 2", "add the )"},
        {"ISO_KERNEL(k, 1, 1, 1)() {\n)\n}", 2, "{ of line 1", NULL},
        {"ISO_KERNEL(k, 1, 1, 1)()\n{ ", 2, "never closed", "}"},
        {"ISO_KERNEL(k, 1, 1, 1)() {}\n}", 2, "closes nothing", NULL},
        {"void f() {\nISO_KERNEL(k, 1, 1, 1)() {} }", 2, "ISO_KERNEL", "braces"},
        {BODY("ISO_KERNEL(l, 1, 1, 1)() {}"), 3, "ISO_KERNEL", "braces"},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

static void test_params(void **state)
{
#define ONE(i)   "i32 p" #i ", "
#define OTHER(i) "i32 q" #i ", "
#define MORE(i)  ", i32 r" #i
#define FIFTEEN                                                                                    \
    ", i8 b, i8 c, i8 d, i8 e, i8 f, i8 g, i8 h, i8 i, i8 j, i8 k, i8 l, i8 m, i8 n, i8 o, i8 p"
    static const char *const accepted[] = {
        PARAMS(""),
        PARAMS("i8 a, u8 b, i16 c, u16 d, i32 e, u32 f, i64 g, u64 h, f32 i, f64 j"),
        PARAMS("i32x2 a, u32x4 b, i64x2 c, u64x4 d, ISO_IN(f32x4) e, ISO_OUT(f64x2) f"),
        PARAMS(SIXTEEN(ONE) "ISO_SHARED(u8, 65536) s"),
        PARAMS("i8 a" SIXTEEN(MORE) FIFTEEN),
        PARAMS("i32 " LETTERS_63),
        PARAMS("ISO_SHARED(f32, 1) s, ISO_OWN(i8) o"),
        PARAMS("ISO_IN(i8) a ISO_EXTENT(f(a, b)[2])"),
        NULL};
    static const refusal refused[] = {
        {PARAMS("float a"), 2, "\"float\"", "f32x4"},
        {PARAMS("int a"), 2, "\"int\"", "i64"},
        {PARAMS("bool a"), 2, "\"bool\"", "i64"},
        {PARAMS("size_t a"), 2, "\"size_t\"", "i64"},
        {PARAMS("f32x3 a"), 2, "\"f32x3\"", "x2 or x4"},
        {PARAMS("i8x2 a"), 2, "\"i8x2\"", "x2 or x4"},
        {PARAMS("f32 *a"), 2, "\"*\"", "parameter"},
        {PARAMS("struct s a"), 2, "\"struct\"", "types are"},
        {PARAMS("ISO_IN(void) a"), 2, "\"void\"", "types are"},
        {PARAMS("f32 a,\ni32 a"), 3, "name a", "rename"},
        {PARAMS("f32 iso_a"), 2, "iso_a", "another"},
        {PARAMS("f32 2"), 2, "\"2\"", "letters"},
        {PARAMS("f32"), 2, "\")\"", "letters"},
        {PARAMS("f32 " LETTERS_63 "x"), 2, "64", "63"},
        {PARAMS("f32 a,"), 2, "\")\"", "types are"},
        {PARAMS("f32 a b"), 2, "\"b\"", "needs ,"},
        {PARAMS(SIXTEEN(ONE) SIXTEEN(OTHER) "i8 last"), 2, "32", "fewer"},
        {PARAMS("ISO_IN f32 a"), 2, "ISO_IN", "needs ("},
        {PARAMS("ISO_IN(f32 a"), 2, "\"a\"", "needs )"},
        {PARAMS("ISO_OWN(f32, 2) a"), 2, "\",\"", "needs )"},
        {PARAMS("ISO_SHARED(f32) a"), 2, "ISO_SHARED", "needs ,"},
        {PARAMS("ISO_SHARED(f32, ) a"), 2, "ISO_SHARED", "empty"},
        {PARAMS("ISO_SHARED(f32, 0) a"), 2, "is 0", "65536"},
        {PARAMS("ISO_SHARED(f32,\n 65537) a"), 3, "is 65537", "65536"},
        {PARAMS("f32 a ISO_EXTENT(n)"), 2, "a has ISO_EXTENT", "ISO_INOUT"},
        {PARAMS("ISO_SHARED(i8, 1) a ISO_EXTENT(n)"), 2, "a has ISO_EXTENT", "drop"},
        {PARAMS("ISO_IN(i8) a ISO_EXTENT()"), 2, "ISO_EXTENT", "empty"},
        {PARAMS("ISO_IN(i8) a ISO_EXTENT"), 2, "ISO_EXTENT", "needs ("},
        {PARAMS("ISO_IN(i8) a ISO_EXTENT((n)"), 2, "parameter a", "needs , or )"},
        {PARAMS("ISO_IN(i8) a ISO_EXTENT(n]"), 2, "ISO_EXTENT", ")"},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

static void test_regions(void **state)
{
    static const char *const accepted[] = {
        BODY("ISO_REGION(i) { } ISO_REGION_2(i, j) { } ISO_REGION_3(i, j, k) { }"),
        BODY("for (;;) { ISO_REGION(i) { continue; } break; } for (;;) ISO_REGION(i) { }"),
        BODY("ISO_REGION(i) { for (;;) break; while (1) if (i) break; else break; }"),
        BODY("ISO_REGION(i) { for (;;) for (;;) { } do { break; } while (0); do break; while (0); "
             "}"),
        BODY("ISO_REGION(i) { switch (i) { case 1: break; case 2 ? 3 : 4: { break; } default: "
             "break; } }"),
        BODY("ISO_REGION(i) { for (;;) { if (i) { f32 a[2] = {1, 2}; } else if (n) { break; } } }"),
        BODY("ISO_REGION(i) { for (;;) UNROLL if (i) break; a = b ? c : d; }"),
        BODY("if (n) { ISO_REGION(i) { } } else { ISO_REGION(i) { } } {ISO_REGION(i) {}}"),
        BODY("/* return */ // goto\n f(\"asm return\"); x.returns = gotos; '\\''; #"),
        BODY("#define RETURN return\n#if 1\n#endif\nISO_REGION(i) { } f(\"a\\\nreturn\");"),
        SIZED("8, 2, 1", "ISO_REGION_2(i, j) { }"),
        SIZED("8, 2, 1", "ISO_REGION_3(i, j, k) { }"),
        SIZED("1, 1, 2", "ISO_REGION_3(i, j, k) { }"),
        NULL};
    static const refusal refused[] = {
        {BODY("return;"), 3, "kernel k has return", "continue"},
        {BODY("ISO_REGION(i) {\n if (i) return; }"), 4, "return", NULL},
        {BODY("goto x;"), 3, "goto", NULL},
        {BODY("f(\nasm(1));"), 4, "asm", NULL},
        {BODY("__asm__(1);"), 3, "__asm__", NULL},
        {BODY("ISO_REGION(i) {\nbreak; }"), 4, "break", "continue"},
        {BODY("for (;;) { ISO_REGION(i) {\nbreak; } }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { for (;;) { }\n if (i) { break; } }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { for (;;) if (i) { } else { }\n break; }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { for (;;) x = 1;\n break; }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { do { } while (0);\n break; }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { switch (i) { case 1: ; }\n break; }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) { x:\n break; }"), 4, "break", "loop"},
        {BODY("ISO_REGION(i) {\nISO_REGION(j) { } }"), 4, "inside of a region", "close"},
        {BODY("ISO_REGION(i) { for (;;) {\nISO_REGION(j) { } } }"), 4, "inside of a region", NULL},
        {BODY("ISO_REGION(i)\n;"), 4, "ISO_REGION", "{ }"},
        {BODY("ISO_REGION(i)\nfor (;;) { }"), 4, "ISO_REGION", "{ }"},
        {BODY("ISO_REGION { }"), 3, "ISO_REGION", "needs ("},
        {BODY("ISO_REGION() { }"), 3, "\")\"", "index"},
        {BODY("ISO_REGION(iso_i) { }"), 3, "iso_i", "another"},
        {BODY("ISO_REGION(i, j) { }"), 3, "\",\"", "names of 1"},
        {BODY("ISO_REGION_2(i) { }"), 3, "\")\"", "names of 2"},
        {BODY("f(ISO_REGION(i) { });"), 3, "ISO_REGION", "begin a statement"},
        {SIZED("8, 2, 1", "ISO_REGION(i) { }"), 3, "8 x 2 x 1", "ISO_REGION_2"},
        {SIZED("8, 2, 2", "\nISO_REGION_2(i, j) { }"), 4, "8 x 2 x 2", "ISO_REGION_3"},
        {SIZED("8, 1, 2", "ISO_REGION(i) { }"), 3, "8 x 1 x 2", "ISO_REGION_3"},
        {BODY("do ;"), 3, "do", "while"},
        {BODY("for ;"), 3, "for", "("},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

#define NAMED(body)                                                                                \
    "ISO_STRUCT(pair) { i32 a, b[2]; };\nISO_KERNEL(k, 8, 1, 1)(pair p, i32 n, ISO_IN(f32) x, "    \
    "ISO_OUT(f32) y, ISO_SHARED(f32, 8) part, ISO_OWN(f32) sum)\n{\n" body "\n}"

/* Which variables a region, and what lies between regions, may write. */
static void test_names(void **state)
{
    static const char *const accepted[] = {
        NAMED("i32 t = n, u; ISO_REGION(i) { i32 v = t; v = 1; v++; y[i] = u == t; }"),
        NAMED("i32 t = n; t = 2; n--; p.a = 1; ISO_REGION(i) { i32 t = 1; t = 2; }"),
        NAMED("i32 t; ISO_REGION(i) { for (i32 t = 0; t < 3; t++) { t += 1; } }"),
        NAMED("i32 t; ISO_REGION(i) { { i32 t; t = 0; } if (t <= n && t >= n && t != n) { } }"),
        NAMED("for (i32 s = 4; s > 0; s /= 2) { ISO_REGION(i) { part[i] = part[i + s]; } }"),
        NAMED("i32 t; ISO_REGION(i) { iso_mine(sum) += (f32)(t & n) + (f32)(n & t); }"),
        NAMED("i32 t; ISO_REGION(i) { pair q = {1, {2, 3}}; q.a = t; q.b[1] = n; q.n = 3; }"),
        NAMED("ISO_GROUP_SUM(part, sum); ISO_REGION(i) { iso_atomic_add_i32(&y[i], n); }"),
        NAMED("i32 t = (i32)x[0], u = part[1] == 0.0f; if (t) { ISO_REGION(t) { t = 1; } }"),
        NAMED("#define T f32\n#define SET(n) n = 1\nT t; ISO_REGION(i) { T t; SET(t); t = 1; }"),
        NAMED("const f32x4 t = iso_f32x4(1, 2, 3, 4); ISO_REGION(i) { f32 w[4]; w[i] = t.x; }"),
        NAMED("ISO_REGION_3(i, j, k) { iso_x( i ) + iso_y(j) + iso_z(k); }"),
        NAMED("ISO_REGION(i) { i32 t = 0; } i32 t = 1; ISO_REGION(i) { y[t] = 1; y[n]++; }"),
        NULL};
    static const refusal refused[] = {
        {NAMED("i32 t = 0;\nISO_REGION(i) {\nt = 1; }"), 6, "writes t in a region", "ISO_OWN"},
        {NAMED("i32 t = 0, u;\nISO_REGION(i) {\nu += 1; }"), 6, "writes u in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\nt++; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\n--t; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\nt <<= 1; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\nt >>= 1; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\nt ^= 1; }"), 5, "writes t in", NULL},
        {NAMED("i32 t[4]; ISO_REGION(i) {\nt[i] = 1; }"), 5, "writes t in", NULL},
        {NAMED("f32x2 t; ISO_REGION(i) {\nt.x = 1; }"), 5, "writes t in", NULL},
        {NAMED("pair q; ISO_REGION(i) {\nq.b[i - (1)] = 1; }"), 5, "writes q in", NULL},
        {NAMED("unsigned int t; ISO_REGION(i) {\nt = 1; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) {\niso_atomic_add_i32(&t, 1); }"), 5, "writes t in", NULL},
        {NAMED("#define T f32\nT t; ISO_REGION(i) {\nt = 1; }"), 6, "writes t in", NULL},
        {NAMED("#define SET t = 1\ni32 t; ISO_REGION(i) {\nSET; }"), 6, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) { { i32 t; }\nt = 1; }"), 5, "writes t in", NULL},
        {NAMED("i32 t; ISO_REGION(i) { for (i32 t = 0; t; ) { }\nt = 1; }"), 5, "writes t", NULL},
        {NAMED("for (i32 s = 0; s < 3; s++) { ISO_REGION(i) {\ns = 3; } }"), 5, "writes s", NULL},
        {NAMED("ISO_REGION(i) {\nn = 1; }"), 5, "writes n in a region", NULL},
        {NAMED("ISO_REGION(i) {\np.b[0] = 1; }"), 5, "writes p in a region", NULL},
        {NAMED("\npart[0] = 1;"), 5, "writes part outside of regions", "if (i == 0)"},
        {NAMED("if (n) {\ny[0] += 1; }"), 5, "writes y outside of regions", NULL},
        {NAMED("ISO_REGION(i) {\ny = x; }"), 5, "changes y itself", "elements"},
        {NAMED("x += 4;"), 4, "changes x itself", NULL},
        {NAMED("ISO_REGION(i) {\nsum = 1; }"), 5, "without iso_mine", "iso_mine(sum)"},
        {NAMED("ISO_REGION(i) {\nsum[i] = 1; }"), 5, "without iso_mine", NULL},
        {NAMED("if (\niso_mine(sum) > 0) { ISO_REGION(i) { } }"), 5, "iso_mine outside", "same"},
        {NAMED("#define M iso_mine(sum)\nif (M > 0) { ISO_REGION(i) { } }"), 5, "outside", NULL},
        {NAMED("ISO_REGION(i) {\niso_x(i + 1); }"), 5, "uses iso_x(i + 1)", "iso_x(i)"},
        {NAMED("ISO_REGION(i) {\niso_x((i)); }"), 5, "uses iso_x((i))", "iso_x(i)"},
        {NAMED("ISO_REGION(i) {\niso_x(); }"), 5, "uses iso_x()", "iso_x(i)"},
        {NAMED("ISO_REGION(i) {\niso_x(n); }"), 5, "uses iso_x(n)", "iso_x(i)"},
        {NAMED("ISO_REGION_2(i, j) {\niso_x(j); }"), 5, "uses iso_x(j)", "iso_x(i)"},
        {NAMED("ISO_REGION_2(i, j) {\niso_y(i); }"), 5, "uses iso_y(i)", "iso_y(j)"},
        {NAMED("ISO_REGION_2(i, j) { } ISO_REGION(k) {\niso_y(j); }"), 5, "along y",
         "ISO_REGION_2"},
        {NAMED("if (iso_x(i) > 3) { ISO_REGION(i) { } }"), 4, "iso_x outside of regions", NULL},
        {NAMED("if (iso_atomic_add_u32(y, 1u)) { ISO_REGION(i) { } }"), 4, "iso_atomic_add_u32",
         "outside"},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

/* Indices outside of their regions, sums inside, pointers, and words of one compiler. */
static void test_foreign(void **state)
{
    static const char *const accepted[] = {
        NAMED("ISO_REGION(i) { } for (i32 i = 0; i < n; i++) { ISO_REGION(k) { } }"),
        NAMED("#define LOOP(v) for (i32 v = 0; v < 3; v++)\nLOOP(i) { if (i) { ISO_REGION(i) { } } "
              "}"),
        NAMED("#define abs(a) ((a) < 0 ? -(a) : (a))\nISO_REGION(i) { y[i] = abs(x[i]); }"),
        NAMED("ISO_REGION(i) { f32 t = x[i]*y[i]; y[i] = t * x[i] + (f32)(i & 3) - (f32)(i&n); }"),
        NAMED("ISO_REGION(i) { if (n && i) { iso_atomic_max_i32( &part[i], n); } }"),
        NAMED("#define ADD(p) iso_atomic_add_i32((p), 1)\nISO_REGION(i) { ADD(&part[i]); }"),
        NAMED("#define iso_wide(a) (a)\nISO_REGION(i) { y[i] = iso_wide(x[i]); }"),
        NAMED("if (n) ISO_GROUP_SUM(part, sum); else ISO_GROUP_MAX(part, sum);"),
        NAMED("ISO_REGION(i) {\n#if defined(__CUDACC__)\ny[i] = __ldg(x + i);\n#else\n"
              "y[i] = x[i];\n#endif\n}"),
        NAMED("ISO_REGION(i) { f32 max = x[i], clamp = 1; y[i] = max * clamp; y[i] *= i * 2; }"),
        NAMED("ISO_REGION(i) { i32 t = (i32)sizeof(f32) * i; y[i] = (f32)(t) * x[i]; }"),
        "ISO_STRUCT(range) { f32 min, max; };\nISO_FUNCTION f32 wide(range r, f32 floor)\n"
        "{ f32 log = floor; return (r.max - r.min) * (log); }\n" KERNEL("1, 1, 1"),
        NULL};
    static const refusal refused[] = {
        {NAMED("if (\ni > 3) {\nISO_REGION(i) { } }"), 5, "uses i outside of regions", "line 6"},
        {NAMED("ISO_REGION_2(i, j) { }\ni32 t = j;"), 5, "uses j outside of regions", "line 4"},
        {NAMED("ISO_REGION(i) {\nISO_GROUP_SUM(part, sum); }"), 5, "ISO_GROUP_SUM inside",
         "close the region"},
        {NAMED("ISO_REGION(i) { if (i == 0) {\nISO_TEAM_MAX(part, sum, 32); } }"), 5,
         "ISO_TEAM_MAX inside", "all items"},
        {NAMED("#define ADD ISO_GROUP_SUM(part, sum)\nISO_REGION(i) {\nADD; }"), 6,
         "ADD, a macro with a sum", NULL},
        {NAMED("#define ADD(p) ISO_GROUP_MIN(p, sum)\nISO_REGION(i) {\nADD(part); }"), 6,
         "ADD, a macro with a sum", NULL},
        {NAMED("ISO_REGION(i) {\nconst f32 *p = 0; }"), 5, "a pointer, f32 *", "index"},
        {NAMED("ISO_REGION(i) {\ni32 const *const p = 0; }"), 5, "a pointer, i32 *", NULL},
        {NAMED("ISO_REGION(i) {\ny[0] = *(pair *)&p; }"), 5, "by a pointer", NULL},
        {NAMED("#define T f32\nISO_REGION(i) {\nT *p = 0; }"), 6, "a pointer, T *", NULL},
        {NAMED("ISO_REGION(i) {\ny[0] = sqrtf(2.0f); }"), 5, "uses sqrtf", "iso_sqrt_f32"},
        {NAMED("#define ROOT sqrtf\nISO_REGION(i) {\ny[0] = ROOT(2.0f); }"), 6, "uses sqrtf",
         "iso_sqrt_f32"},
        {NAMED("ISO_REGION(i) {\ny[threadIdx.x] = 1; }"), 5, "uses threadIdx", "ISO_REGION"},
        {NAMED("ISO_REGION(i) { }\n__syncthreads();"), 5, "uses __syncthreads", "end of a region"},
        {NAMED("ISO_REGION(i) {\natomicAdd(&y[0], 1); }"), 5, "uses atomicAdd", "iso_atomic_add"},
        {NAMED("ISO_REGION(i) {\ny[i] = iso_fma(x[i], 2, 1); }"), 5, "uses iso_fma",
         "did you mean iso_fma_f32"},
        {NAMED("ISO_REGIONS(i) {\ny[0] = 1; }"), 4, "uses ISO_REGIONS", "did you mean ISO_REGION?"},
        {NAMED("ISO_GROUP_PRODUCT(part, sum);"), 4, "ISO_GROUP_PRODUCT", "did you mean ISO_GROUP_"},
        {NAMED("ISO_REGION(i) {\niso_atomic_cas_u32(&part[0], 1u); }"), 5, "iso_atomic_cas_u32",
         "did you mean iso_atomic_"},
        {NAMED("ISO_REGION(i) {\ny[i] = __builtin_clz(3u); }"), 5, "__builtin_clz", "under #if"},
        {NAMED("ISO_REGION(i) {\ny[i] = lroundf(x[i]); }"), 5, "uses lroundf", "(i64)"},
        {NAMED("ISO_REGION(i) {\ny[i] = *(x + i); }"), 5, "by a pointer", "x[index]"},
        {NAMED("ISO_REGION(i) {\ny[i] = 2 * *x; }"), 5, "by a pointer", NULL},
        {NAMED("ISO_REGION(i) {\ny[i] = foo(&x[i]); }"), 5, "takes an address", "atomics"},
        {NAMED("f32 t =\nISO_GROUP_SUM(part, sum);"), 5, "inside of an expression", "statement"},
        {"ISO_KERNEL(k, 8, 2, 1)(ISO_SHARED(f32, 15) part, ISO_OWN(f32) v)\n{\n"
         "ISO_GROUP_SUM(part, v); }",
         3, "part has 15 elements", "16 items"},
        {"ISO_KERNEL(k, 8, 1, 1)(ISO_SHARED(f64, 8) part, ISO_OWN(f32) v)\n{\n"
         "ISO_TEAM_MIN(part, v, 4); }",
         3, "type f32 (v) in an array of f64 (part)", "one type"},
        {"ISO_FUNCTION void f(f32 *x) { }\n" KERNEL("1, 1, 1"), 1, "a function has a pointer",
         NULL},
        {"ISO_FUNCTION f32 f(f32 x) { return\niso_sqrt(x); }\n" KERNEL("1, 1, 1"), 2,
         "uses iso_sqrt", "did you mean iso_sqrt_f32"},
        {"ISO_FUNCTION f32 f(f32 x) {\nreturn sinf(x); }\n" KERNEL("1, 1, 1"), 2, "calls sinf",
         "iso_fma"},
        {"ISO_FUNCTION f32 f(i32 n,\nconst f32 *x) { return x[n]; }\n" KERNEL("1, 1, 1"), 2,
         "a function has a pointer", "values"},
        {"ISO_FUNCTION i64 clamp(i64 x) { return x; }\n" KERNEL("1, 1, 1"), 1, "clamp", "OpenCL C"},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

static void test_tokens(void **state)
{
    static const char *const accepted[] = {
        "/* a\n*\\\n/ ISO_KERNEL(a, 1, 1, 1)() {}",
        "// a \\\n }\nISO_KERNEL(a, 1, 1, 1)() {}",
        "#error don't { \\\n }}}\nISO_KERNEL(a, 1, 1, 1)() {}",
        "#define A /* x\n } */ 3 \\\n + 1 // }\nISO_KERNEL(a, A, 1, 1)() {}",
        "ISO_KERNEL \\\n (a, 1, 1, 1)() {}\r\n",
        "#pragma {\n # include \"}\"\n" KERNEL("1, 1, 1"),
        BODY("f('\"', '\\'', \"\\\\\", \"/*\", L\"x\", \"'\", \"\\\\\\\n\\\"\");"),
        NULL};
    static const refusal refused[] = {
        {"\n/* a\n\n", 2, "comment", "*/"},
        {KERNEL("1, 1, 1") "\n#define A /*\n", 2, "comment", "*/"},
        {BODY("\"abc\n"), 3, "string", "\""},
        {BODY("\"abc \\\n def\n"), 3, "string", "\""},
        {BODY("'a"), 3, "character", "'"},
        {BODY("ret\\\nurn;"), 3, "continuation", "\"ret\""},
        {BODY("/\\\n/"), 3, "continuation", "\"/\""},
        {BODY("<% %>"), 3, "digraph <%", "{"},
        {BODY("R\"(x)\""), 3, "raw string", NULL},
        {BODY("\r\n\r\n\\\r\nreturn;"), 6, "return", NULL},
        {"/* \n\n */ #define A 1\n// \\\n\n" SHARED("0"), 6, "is 0", NULL},
        {0}};

    (void)state;
    check_accepted(accepted);
    check_refused(refused);
}

/* The value of the count of ISO_SHARED after these definitions. */
static int64_t count_of(const char *definitions, const char *count)
{
    char text[4096];
    kernel_file file;
    int64_t value;

    snprintf(text, sizeof text, "%s\nISO_KERNEL(k, 1, 1, 1)(ISO_SHARED(i8, %s) s) { }", definitions,
             count);
    works(read_text(text, &file));
    value = file.kernels[0].params[0].count;
    kernel_file_free(&file);
    return value;
}

static void define_chain(char *text, size_t room, int count)
{
    size_t at = (size_t)snprintf(text, room, "#define M0 7\n");

    for (int i = 1; i < count; i++) {
        at += (size_t)snprintf(text + at, room - at, "#define M%d M%d\n", i, i - 1);
    }
}

static void test_macros(void **state)
{
    static const refusal refused[] = {
        {SHARED("A"), 1, "uses A", "#define"},
        {"#define A 1\n#undef A\n" SHARED("A"), 3, "uses A", "no value"},
        {SHARED("A") "\n#define A 1\n", 1, "uses A", "no value"},
        {"#define A(x) 1\n" SHARED("A"), 2, "with arguments", "give it as a macro"},
        {"#define A\\\n(x) 1\n" SHARED("A"), 3, "uses A", "with arguments"},
        {"#if X\n#define A 1\n#else\n#define A 2\n#endif\n" SHARED("A"), 6, "uses A",
         "define it once, or give it as a macro"},
        {"int x; #define A 1\n" SHARED("A"), 2, "uses A", "no value"},
        {"#define A A\n" SHARED("A"), 2, "16 deep", "A"},
        {"#define A B\n#define B A\n" SHARED("A"), 3, "16 deep", NULL},
        {"#define A\n" SHARED("A"), 2, "the end", "number"},
        {0}};
    char chain[2048];

    (void)state;
    check_refused(refused);
    assert_int_equal(count_of("#define A 1 + 2", "A * 2"), 5); /* as C does it */
    assert_int_equal(count_of("#define A (1 + 2)", "A * 2"), 6);
    assert_int_equal(count_of("#define A 1\n#define A 2", "A"), 2);
    assert_int_equal(count_of("#define A B\n#define B 4", "A"), 4);
    assert_int_equal(count_of("#define A (1)", "A"), 1);
    assert_int_equal(count_of("#define A", "A 3"), 3);
    assert_int_equal(count_of("#ifndef A\n#define A 6\n#endif", "A"), 6);
    assert_int_equal(count_of("#if X\n#define A 6\n#else\n#define A 6\n#endif", "A"), 6);
    assert_int_equal(count_of("#if X\n#endif\n#define A 1\n#define A 2", "A"), 2);
    assert_int_equal(count_of(" /* x */ # define A 3", "A"), 3);
    assert_int_equal(count_of("", "GIVEN"), 32);
    assert_int_equal(count_of("", "TWICE + 1"), 65);
    assert_int_equal(count_of("#define GIVEN 3", "TWICE"), 6);
    assert_int_equal(count_of("#ifndef GIVEN\n#define GIVEN 3\n#endif", "GIVEN"), 32);
    assert_int_equal(count_of("#define f(x) x\n#define A 2", "A"), 2);
    define_chain(chain, sizeof chain, 16);
    assert_int_equal(count_of(chain, "M15"), 7);
    define_chain(chain, sizeof chain, 17);
    strcat(chain, SHARED("M16"));
    check_refused((const refusal[]){{chain, 18, "16 deep", "M0"}, {0}});
    chain[0] = 0;
    for (int i = 0; i < 15; i++) {
        char line[128];

        snprintf(line, sizeof line, "#define W%d W%d+W%d+W%d+W%d+W%d+W%d\n", i, i + 1, i + 1, i + 1,
                 i + 1, i + 1, i + 1);
        strcat(chain, line);
    }
    strcat(chain, "#define W15 1\n" SHARED("W0"));
    check_refused((const refusal[]){{chain, 17, "65536 tokens", NULL}, {0}});
}

typedef struct sum {
    const char *text;
    int64_t value;
    const char *word; /* refused with it */
} sum;

static const sum sums[] = {{"1", 1, NULL},
                           {"0", 0, NULL},
                           {"0x1F", 31, NULL},
                           {"0XfFu", 255, NULL},
                           {"1u + 1l + 1UL + 1ll + 1LLU", 5, NULL},
                           {"7 - 2 - 1", 4, NULL},
                           {"2 + 3 * 4", 14, NULL},
                           {"(2 + 3) * 4", 20, NULL},
                           {"-7 / 2", -3, NULL},
                           {"-7 % 4", -3, NULL},
                           {"- - 3", 3, NULL},
                           {"1 << 2 + 1", 8, NULL},
                           {"256 >> 1 << 2", 512, NULL},
                           {"-1 << 63", INT64_MIN, NULL},
                           {"-8 >> 1", -4, NULL},
                           {"n * (m - 1)", 30, NULL},
                           {"9223372036854775807", INT64_MAX, NULL},
                           {"-9223372036854775807 - 1", INT64_MIN, NULL},
                           {"n /* x */ + \\\n 1 // y\n", 11, NULL},
                           {"1 << 62", (int64_t)1 << 62, NULL},
                           {"0 << 63", 0, NULL},
                           {"9223372036854775808", 0, "64 bits"},
                           {"0x8000000000000000", 0, "64 bits"},
                           {"9223372036854775807 + 1", 0, "overflows"},
                           {"-2 - 9223372036854775807", 0, "overflows"},
                           {"4294967296 * 4294967296", 0, "overflows"},
                           {"1 << 63", 0, "overflows"},
                           {"1 << 64", 0, "overflows"},
                           {"1 << -1", 0, "overflows"},
                           {"1 >> 64", 0, "overflows"},
                           {"-(-9223372036854775807 - 1)", 0, "overflows"},
                           {"(-9223372036854775807 - 1) / -1", 0, "overflows"},
                           {"(-9223372036854775807 - 1) % -1", 0, "overflows"},
                           {"n / 0", 0, "divides 10 by zero"},
                           {"n % (n - n)", 0, "zero"},
                           {"x", 0, "uses x"},
                           {"n + ", 0, "the end"},
                           {"* 2", 0, "\"*\""},
                           {"(1", 0, "where a ) is missing"},
                           {"1)", 0, "\")\" after its end"},
                           {"1 2", 0, "\"2\""},
                           {"1 < 2", 0, "\"<\""},
                           {"1.5", 0, "integer"},
                           {"1e3", 0, "integer"},
                           {"010", 0, "integer"},
                           {"0x", 0, "integer"},
                           {"0b1", 0, "integer"},
                           {"1lul", 0, "integer"},
                           {"1f", 0, "integer"},
                           {"0xE+1", 0, "integer"},
                           {"'a'", 0, "number must stand"},
                           {"n, 1", 0, "\",\""},
                           {"--n", 0, "\"--\""},
                           {"\"", 0, "string"},
                           {"/*", 0, "comment"},
                           {" ", 0, "the end"}};

static void test_expressions(void **state)
{
    const kernel_value values[] = {{"n", 10}, {"m", 4}};
    const char *text = "#define A n + 1\n#define n 5\n  A * 2";
    char deep[1024];
    int64_t out = 77;

    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const sum *row = &sums[i];
        int64_t length = (int64_t)strlen(row->text);

        out = 77;
        if (row->word) {
            fails(kernel_evaluate("call", "t", row->text, 0, length, NULL, 0, values, 2, &out),
                  ISO_INVALID, "call: t:1: ", row->word);
            assert_int_equal(out, 77);
        } else {
            works(kernel_evaluate("call", "t", row->text, 0, length, NULL, 0, values, 2, &out));
            assert_int_equal(out, row->value);
        }
    }
    works(kernel_evaluate("call", "t", text, 30, 5, NULL, 0, values, 2, &out));
    assert_int_equal(out, 7); /* a macro goes before a value */
    works(kernel_evaluate("call", "t", "G * n", 0, 5, (kernel_macro[]){{"G", "3"}}, 1, values, 2,
                          &out));
    assert_int_equal(out, 30);
    fails(kernel_evaluate("call", "t", "\n\n  x", 4, 1, NULL, 0, values, 2, &out), ISO_INVALID,
          "call: t:3: ", "uses x", "parameter");
    fails(kernel_evaluate("call", "t", "1", 0, 2, NULL, 0, NULL, 0, &out), ISO_INVALID, "not in");
    fails(kernel_evaluate("call", "t", "1", -1, 1, NULL, 0, NULL, 0, &out), ISO_INVALID, "not in");
    fails(kernel_evaluate("call", "t", "1", 0, 0, NULL, 0, NULL, 0, &out), ISO_INVALID, "not in");
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    fails(kernel_evaluate("call", "t", deep, 0, 1023, NULL, 0, NULL, 0, &out), ISO_INVALID, "deep");
}

static void test_depth(void **state)
{
    static const char *const parts[] = {
        "(", "{", "[", "for (;;) ", "x: ", "else ", "do ", "if (1) ", "({", "if (1) ; else "};

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        kernel_file file;
        char *text = malloc(200000);
        size_t at = (size_t)snprintf(text, 200000, "ISO_KERNEL(k, 1, 1, 1)() { ");

        for (int j = 0; j < 10000; j++) {
            at += (size_t)snprintf(text + at, 200000 - at, "%s", parts[i]);
        }
        if (i + 1 < sizeof parts / sizeof *parts) {
            fails(read_text(text, &file), ISO_INVALID, "call: t:1: ", "100 deep");
        } else { /* a long chain is not deep */
            snprintf(text + at, 200000 - at, "; }");
            works(read_text(text, &file));
            kernel_file_free(&file);
        }
        free(text);
    }
}

static void test_memory(void **state)
{
    kernel_file file;
    iso_status status = ISO_NO_MEMORY;
    int failed = 0;
    int64_t out;

    (void)state;
    while (status == ISO_NO_MEMORY) {
        reallocs_left = failed++;
        status = read_text(good, &file);
        reallocs_left = -1;
        if (status) {
            assert_int_equal(status, ISO_NO_MEMORY);
            assert_non_null(strstr(iso_last_error(), "call: no host memory"));
            assert_null(file.kernels);
        }
    }
    works(status);
    kernel_file_free(&file);
    assert_true(failed >= 3);
    reallocs_left = 0;
    fails(kernel_evaluate("call", "t", "1", 0, 1, given, 2, NULL, 0, &out), ISO_NO_MEMORY, "call");
    reallocs_left = -1;
}

/* Reads a text in a block of its exact size, so that a sanitizer sees a read past its end. */
static void read_any(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    kernel_file file;
    iso_status status;

    assert_non_null(copy);
    memcpy(copy, text, length);
    copy[length] = 0;
    status = read_text(copy, &file);
    assert_true(status == ISO_OK || status == ISO_INVALID);
    for (int i = 0; i < file.count; i++) {
        for (int j = 0; j < file.kernels[i].param_count; j++) {
            const kernel_param *p = &file.kernels[i].params[j];
            const kernel_value n = {"n", 10};
            int64_t out;

            if (p->extent_length) {
                kernel_evaluate("call", "t", copy, p->extent_at, p->extent_length, given, 2, &n, 1,
                                &out);
            }
        }
    }
    kernel_file_free(&file);
    free(copy);
}

static void test_damaged(void **state)
{
    uint64_t random = 12345;

    (void)state;
    for (size_t length = 0; length < sizeof good; length++) {
        read_any(good, length);
    }
    for (int i = 0; i < 20000; i++) {
        static const char likely[] = "(){}[]<>#\\\n\"'/*:;?,0";
        char text[sizeof good];
        int flips;

        memcpy(text, good, sizeof good);
        random = random * 6364136223846793005u + 1442695040888963407u;
        flips = 1 + (int)(random >> 62);
        for (int j = 0; j < flips; j++) {
            size_t at;

            random = random * 6364136223846793005u + 1442695040888963407u;
            at = (size_t)(random >> 33) % (sizeof good - 1);
            text[at] = (char)(random & 0x10000000 ? likely[(random >> 20) % (sizeof likely - 1)]
                                                  : (char)(random >> 40));
        }
        read_any(text, strlen(text) < sizeof good ? strlen(text) : sizeof good - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_params),
        cmocka_unit_test(test_regions), cmocka_unit_test(test_names),
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_macros),  cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
