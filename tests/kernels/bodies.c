/* SPDX-License-Identifier: Apache-2.0 */
/* bodies.c - the bodies of kernels: what the core reads and refuses. */
#include "tests/kernels/texts.h"

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
    texts_accepted(accepted);
    texts_refused(refused);
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
    texts_accepted(accepted);
    texts_refused(refused);
}

/* Sums stand between regions, as statements, and their array fits. */
static void test_sums(void **state)
{
    static const char *const accepted[] = {
        NAMED("if (n) ISO_GROUP_SUM(part, sum); else ISO_GROUP_MAX(part, sum);"), NULL};
    static const refusal refused[] = {
        {NAMED("ISO_REGION(i) {\nISO_GROUP_SUM(part, sum); }"), 5, "ISO_GROUP_SUM inside",
         "end the region"},
        {NAMED("ISO_REGION(i) { if (i == 0) {\nISO_TEAM_MAX(part, sum, 32); } }"), 5,
         "ISO_TEAM_MAX inside", "whole group"},
        {NAMED("#define ADD ISO_GROUP_SUM(part, sum)\nISO_REGION(i) {\nADD; }"), 6,
         "ADD, a macro with a sum", NULL},
        {NAMED("#define ADD(p) ISO_GROUP_MIN(p, sum)\nISO_REGION(i) {\nADD(part); }"), 6,
         "ADD, a macro with a sum", NULL},
        {NAMED("f32 t =\nISO_GROUP_SUM(part, sum);"), 5, "inside of an expression", "statement"},
        {"ISO_KERNEL(k, 8, 2, 1)(ISO_SHARED(f32, 15) part, ISO_OWN(f32) v)\n{\n"
         "ISO_GROUP_SUM(part, v); }",
         3, "part has 15 elements", "16 items"},
        {"ISO_KERNEL(k, 8, 1, 1)(ISO_SHARED(f64, 8) part, ISO_OWN(f32) v)\n{\n"
         "ISO_TEAM_MIN(part, v, 4); }",
         3, "type f32 (v) in an array of f64 (part)", "one type"},
        {0}};

    (void)state;
    texts_accepted(accepted);
    texts_refused(refused);
}

/* Indices outside of their regions, pointers, and words of one compiler. */
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
        {NAMED("ISO_REGION(i) {\nconst f32 *p = 0; }"), 5, "a pointer, f32 *", "index"},
        {NAMED("ISO_REGION(i) {\ni32 const *const p = 0; }"), 5, "a pointer, i32 *", NULL},
        {NAMED("ISO_REGION(i) {\ny[0] = *(pair *)&p; }"), 5, "through a pointer", NULL},
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
        {NAMED("ISO_REGION(i) {\ny[i] = *(x + i); }"), 5, "through a pointer", "x[index]"},
        {NAMED("ISO_REGION(i) {\ny[i] = 2 * *x; }"), 5, "through a pointer", NULL},
        {NAMED("ISO_REGION(i) {\ny[i] = foo(&x[i]); }"), 5, "takes an address", "atomics"},
        {NAMED(
             "for (i32 a = 0; a < 1; a++) { i64 b = 1; if (b > 0 && a < n) { p.a = iso_groups_x() "
             "+ iso_group_y() + iso_groups_z(); } while (0) { } do { } while (0); switch (n) { "
             "case 1: default: { const u32 c = 1u; const f32 d = 2; } } }\n"
             "if (i > 3) { ISO_REGION(i) { } }"),
         5, "uses i outside of regions", "line 5"},
        {"ISO_FUNCTION f32 f(i32 n, const float *x) { return x[n]; }\n" KERNEL("1, 1, 1"), 1,
         "a function has a pointer", NULL},
        {"\nISO_FUNCTION f32 *f(i32 n) { return 0; }\n" KERNEL("1, 1, 1"), 2,
         "a function has a pointer", NULL},
        {"ISO_FUNCTION void f(f32 *x) { }\n" KERNEL("1, 1, 1"), 1, "a function has a pointer",
         NULL},
        {"ISO_FUNCTION f32 f(f32 x) { return\niso_sqrt(x); }\n" KERNEL("1, 1, 1"), 2,
         "uses iso_sqrt", "did you mean iso_sqrt_f32"},
        {"ISO_FUNCTION f32 f(f32 x) {\nreturn sinf(x); }\n" KERNEL("1, 1, 1"), 2,
         "a function uses sinf", "iso_fma"},
        {"ISO_FUNCTION f32 f(i32 n,\nconst f32 *x) { return x[n]; }\n" KERNEL("1, 1, 1"), 2,
         "a function has a pointer", "values"},
        {"ISO_FUNCTION i64 clamp(i64 x) { return x; }\n" KERNEL("1, 1, 1"), 1, "clamp", "OpenCL C"},
        {0}};

    (void)state;
    texts_accepted(accepted);
    texts_refused(refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regions), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_sums), cmocka_unit_test(test_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
