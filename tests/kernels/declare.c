/* SPDX-License-Identifier: Apache-2.0 */
/* declare.c - the declarations of a text of kernels: what is read and refused. */
#include "tests/kernels/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    texts_accepted(accepted);
    texts_refused(refused);
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
    works(texts_read(good, &file));
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
    texts_accepted(accepted);
    texts_refused(refused);
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
    texts_accepted(accepted);
    texts_refused(refused);
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
    texts_accepted(accepted);
    texts_refused(refused);
}

/* The value of the count of ISO_SHARED after these definitions. */
static int64_t count_of(const char *definitions, const char *count)
{
    char text[4096];
    kernel_file file;
    int64_t value;

    snprintf(text, sizeof text, "%s\nISO_KERNEL(k, 1, 1, 1)(ISO_SHARED(i8, %s) s) { }", definitions,
             count);
    works(texts_read(text, &file));
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
    texts_refused(refused);
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
    texts_refused((const refusal[]){{chain, 18, "16 deep", "M0"}, {0}});
    chain[0] = 0;
    for (int i = 0; i < 15; i++) {
        char line[128];

        snprintf(line, sizeof line, "#define W%d W%d+W%d+W%d+W%d+W%d+W%d\n", i, i + 1, i + 1, i + 1,
                 i + 1, i + 1, i + 1);
        strcat(chain, line);
    }
    strcat(chain, "#define W15 1\n" SHARED("W0"));
    texts_refused((const refusal[]){{chain, 17, "65536 tokens", NULL}, {0}});
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
            fails(texts_read(text, &file), ISO_INVALID, "call: t:1: ", "100 deep");
        } else { /* a long chain is not deep */
            snprintf(text + at, 200000 - at, "; }");
            works(texts_read(text, &file));
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
        texts_reallocs_left = failed++;
        status = texts_read(good, &file);
        texts_reallocs_left = -1;
        if (status) {
            assert_int_equal(status, ISO_NO_MEMORY);
            assert_non_null(strstr(iso_last_error(), "call: no host memory"));
            assert_null(file.kernels);
        }
    }
    works(status);
    kernel_file_free(&file);
    assert_true(failed >= 3);
    texts_reallocs_left = 0;
    fails(kernel_evaluate("call", "t", "1", 0, 1, texts_macros, TEXTS_MACROS, NULL, 0, &out),
          ISO_NO_MEMORY, "call");
    texts_reallocs_left = -1;
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
    status = texts_read(copy, &file);
    assert_true(status == ISO_OK || status == ISO_INVALID);
    for (int i = 0; i < file.count; i++) {
        for (int j = 0; j < file.kernels[i].param_count; j++) {
            const kernel_param *p = &file.kernels[i].params[j];
            const kernel_value n = {"n", 10};
            int64_t out;

            if (p->extent_length) {
                kernel_evaluate("call", "t", copy, p->extent_at, p->extent_length, texts_macros,
                                TEXTS_MACROS, &n, 1, &out);
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
        cmocka_unit_test(test_good),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_kernels),     cmocka_unit_test(test_params),
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_macros),
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
