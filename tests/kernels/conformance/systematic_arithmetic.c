/* SPDX-License-Identifier: Apache-2.0 */
/* systematic_arithmetic.c - operators, conversions, functions of floats and atomics. */
#include "tests/kernels/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>

static const int64_t three_groups[] = {3, 1, 1};

/* ---- integers -------------------------------------------------------------------------------- */

static const char integers[] =
    "ISO_KERNEL(integers_$T, 64, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), ISO_OUT(u64) y\n"
    "        ISO_EXTENT(40 * n), i64 n)\n"
    "{\n"
    "    ISO_REGION(g) {\n"
    "        const i64 at = iso_x(g);\n"
    "        if (at >= n) { continue; }\n"
    "        const $T a = x[at], b = x[(at * 7 + 3) % n], p = ($T)(a % $K), q = ($T)(b % $K);\n"
    "        const $T d = ($T)(q == 0 ? 3 : q);\n"
    "        const i64 to = at * 40;\n"
    "        y[to] = p + q; y[to + 1] = (i64)p - q; y[to + 2] = p * q; y[to + 3] = p / d;\n"
    "        y[to + 4] = p % d; y[to + 5] = a & b; y[to + 6] = a | b; y[to + 7] = a ^ b;\n"
    "        y[to + 8] = ~a; y[to + 9] = -p; y[to + 10] = !a; y[to + 11] = a >> (b & 7);\n"
    "        y[to + 12] = (p & 63) << (b & 3); y[to + 13] = a < b; y[to + 14] = a > b;\n"
    "        y[to + 15] = a <= b; y[to + 16] = a >= b; y[to + 17] = a == b; y[to + 18] = a != b;\n"
    "        y[to + 19] = a && q; y[to + 20] = p || q; y[to + 21] = a > b ? a : b;\n"
    "        y[to + 22] = p + q * 2 - p * 3 / d % 5; y[to + 23] = p < q == q > p;\n"
    "        y[to + 24] = (p | q & 12) ^ 5; y[to + 25] = 3 - -p; y[to + 26] = !p + !!q;\n"
    "        $T c = p;\n"
    "        c += q; y[to + 27] = c; c -= 3; y[to + 28] = c; c *= 2; y[to + 29] = c;\n"
    "        c /= d; y[to + 30] = c; c %= 7; y[to + 31] = c; c ^= q; y[to + 32] = c;\n"
    "        c |= 1; y[to + 33] = c; c &= 63; y[to + 34] = c; c <<= 1; y[to + 35] = c;\n"
    "        c >>= 2; y[to + 36] = c; y[to + 37] = c++; y[to + 38] = ++c * 2;\n"
    "        c--; y[to + 39] = --c;\n"
    "    }\n"
    "}\n";

/* Wrapping of unsigned types. */
static const char wraps[] =
    "ISO_KERNEL(wraps_$T, 64, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y\n"
    "        ISO_EXTENT(10 * n), i64 n)\n"
    "{\n"
    "    ISO_REGION(g) {\n"
    "        const i64 at = iso_x(g), to = at * 10;\n"
    "        if (at >= n) { continue; }\n"
    "        const $T a = x[at], b = x[(at * 5 + 1) % n];\n"
    "        y[to] = ($T)(($W)a + b); y[to + 1] = ($T)(($W)a - b); y[to + 2] = ($T)(($W)a * b);\n"
    "        y[to + 3] = ($T)(-($W)a); y[to + 4] = ($T)(($W)a << (b & $M));\n"
    "        y[to + 5] = ($T)(a >> (b & $M)); y[to + 6] = ($T)(a / (b | 1)); y[to + 7] = ($T)(a % "
    "(b | 1));\n"
    "        y[to + 8] = ($T)(~($W)a); y[to + 9] = ($T)(($W)a * a - ($W)b * b);\n"
    "    }\n"
    "}\n";

static const char mixed[] =
    "ISO_KERNEL(mixed_types, 64, 1, 1)(ISO_IN(i8) s ISO_EXTENT(n), ISO_IN(u16) t ISO_EXTENT(n),\n"
    "        ISO_IN(i32) x ISO_EXTENT(n), ISO_IN(u32) u ISO_EXTENT(n), ISO_IN(i64) v "
    "ISO_EXTENT(n),\n"
    "        ISO_IN(u64) w ISO_EXTENT(n), ISO_OUT(u64) y ISO_EXTENT(16 * n),\n"
    "        ISO_OUT(f64) z ISO_EXTENT(8 * n), i64 n)\n"
    "{\n"
    "    ISO_REGION(g) {\n"
    "        const i64 at = iso_x(g), to = at * 16;\n"
    "        if (at >= n) { continue; }\n"
    "        const i32 a = x[at]; const u32 b = u[at]; const i64 c = v[at] % 1000000007;\n"
    "        const u64 d = w[at]; const i8 e = s[at]; const u16 f = t[at];\n"
    "        y[to] = a + b; y[to + 1] = a < b; y[to + 2] = c + b; y[to + 3] = d - c;\n"
    "        y[to + 4] = e * f; y[to + 5] = e + b; y[to + 6] = e < f; y[to + 7] = c < d;\n"
    "        y[to + 8] = a > e ? b : c; y[to + 9] = b * d; y[to + 10] = e & b; y[to + 11] = f - "
    "70000;\n"
    "        y[to + 12] = e < b; y[to + 13] = d >> (e & 31); y[to + 14] = b + 0xffffffff;\n"
    "        y[to + 15] = (u64)(a / 3 + 0x7fffffffffff);\n"
    "        z[at * 8] = a + 0.5f; z[at * 8 + 1] = b * 0.25; z[at * 8 + 2] = c + 0.5;\n"
    "        z[at * 8 + 3] = f * 3.0f; z[at * 8 + 4] = d + 1.0; z[at * 8 + 5] = e - 1.5f;\n"
    "        z[at * 8 + 6] = a < 3.5f ? 1.0f : e; z[at * 8 + 7] = (f32)c * (f32)d;\n"
    "    }\n"
    "}\n";

static void add_integers(conf_suite *suite)
{
    static const char *const reduced[MODEL_SCALARS] = {
        [MODEL_I8] = "10",          [MODEL_U8] = "10",         [MODEL_I16] = "100",
        [MODEL_U16] = "100",        [MODEL_I32] = "30000",     [MODEL_U32] = "30000",
        [MODEL_I64] = "2000000000", [MODEL_U64] = "2000000000"};
    static const char *const masks[MODEL_SCALARS] = {
        [MODEL_U8] = "7", [MODEL_U16] = "15", [MODEL_U32] = "31", [MODEL_U64] = "63"};
    for (int scalar = MODEL_I8; scalar <= MODEL_U64; scalar++) {
        const char *name = model_scalars[scalar].name;
        conf_text text = {0};
        conf_fill(&text, integers, (const char *const[]){"T", name, "K", reduced[scalar], NULL});
        conf_add_case(suite, "integers", &text, three_groups, "n=150");
        if (masks[scalar]) {
            conf_fill(&text, wraps,
                      (const char *const[]){"T", name, "M", masks[scalar], "W",
                                            scalar == MODEL_U64 ? "u64" : "u32", NULL});
            conf_add_case(suite, "integers", &text, three_groups, "n=150");
        }
    }
    conf_text text = {0};
    conf_add(&text, "%s", mixed);
    conf_add_case(suite, "integers", &text, three_groups, "n=170");
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* x as a value that the type has. */
static void convert(conf_text *to, model_scalar from, model_scalar into)
{
    static const char *const limits[MODEL_SCALARS] = {"128",
                                                      "256",
                                                      "32768",
                                                      "65536",
                                                      "2147483648",
                                                      "4294967296",
                                                      "9223372036854775808",
                                                      "18446744073709551616"};
    static const char *const reduced[MODEL_SCALARS] = {[MODEL_I8] = "128",
                                                       [MODEL_I16] = "32768",
                                                       [MODEL_I32] = "2147483647",
                                                       [MODEL_I64] = "0x7fffffffffffffff"};
    const char *name = model_scalars[into].name;
    if (model_scalars[into].is_float) {
        conf_add(to, "(%s)x", name);
    } else if (model_scalars[from].is_float) {
        const char *end = from == MODEL_F32 ? ".0f" : ".0";
        conf_add(to, "(%s)(x %s%s%s && x < %s%s ? x : 0.75f)", name,
                 model_scalars[into].is_signed ? ">= -" : "> -",
                 model_scalars[into].is_signed ? limits[into] : "0.9",
                 model_scalars[into].is_signed ? end
                 : from == MODEL_F32           ? "f"
                                               : "",
                 limits[into], end);
    } else if (reduced[into] && from != into) {
        conf_add(to, "(%s)(x %% %s)", name, reduced[into]);
    } else {
        conf_add(to, "(%s)x", name);
    }
}

static void add_conversions(conf_suite *suite)
{
    for (int from = 0; from < MODEL_SCALARS; from++) {
        conf_text text = {0};
        conf_add(&text, "ISO_KERNEL(convert_%s, 64, 1, 1)(ISO_IN(%s) from ISO_EXTENT(n), i64 n",
                 model_scalars[from].name, model_scalars[from].name);
        for (int to = 0; to < MODEL_SCALARS; to++) {
            conf_add(&text, ",\n        ISO_OUT(%s) to_%s ISO_EXTENT(n)", model_scalars[to].name,
                     model_scalars[to].name);
        }
        conf_add(&text,
                 ")\n{\n    ISO_REGION(i) {\n        const i64 at = iso_x(i);\n"
                 "        if (at < n) {\n            const %s x = from[at];\n",
                 model_scalars[from].name);
        for (int to = 0; to < MODEL_SCALARS; to++) {
            conf_add(&text, "            to_%s[at] = ", model_scalars[to].name);
            convert(&text, (model_scalar)from, (model_scalar)to);
            conf_add(&text, ";\n");
        }
        conf_add(&text, "        }\n    }\n}\n");
        conf_add_case(suite, "conversions", &text, three_groups, "n=190");
    }
}

/* ---- floats ---------------------------------------------------------------------------------- */

static const char operators[] =
    "ISO_KERNEL(operators_$T, 64, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y\n"
    "        ISO_EXTENT(9 * n), ISO_OUT(u8) z ISO_EXTENT(10 * n), i64 n)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        for (i64 at = iso_x(i); at < n; at += 64 * iso_groups_x()) {\n"
    "            const $T a = x[at], b = x[(at * 7 + 3) % n], c = x[(at * 13 + 1) % n];\n"
    "            y[at * 9] = a + b; y[at * 9 + 1] = a - b; y[at * 9 + 2] = a * b;\n"
    "            y[at * 9 + 3] = a * b + c; y[at * 9 + 4] = -a; y[at * 9 + 5] = a < b ? a : b;\n"
    "            y[at * 9 + 6] = a * b - c * a; y[at * 9 + 7] = (a + b) * (a - b) + c * c;\n"
    "            $T d = a; d += b; d *= c; d -= a; y[at * 9 + 8] = d;\n"
    "            z[at * 10] = a < b; z[at * 10 + 1] = a > b; z[at * 10 + 2] = a <= b;\n"
    "            z[at * 10 + 3] = a >= b; z[at * 10 + 4] = a == b; z[at * 10 + 5] = a != b;\n"
    "            z[at * 10 + 6] = !a; z[at * 10 + 7] = a && b; z[at * 10 + 8] = a || b;\n"
    "            z[at * 10 + 9] = a != a ? 7 : b != 0 ? 8 : 9;\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char functions[] =
    "ISO_KERNEL(math_$F_$T, 64, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y ISO_EXTENT(n),\n"
    "        i64 n)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        for (i64 at = iso_x(i); at < n; at += 64 * iso_groups_x()) {\n"
    "            const $T a = x[at], b = x[(at * 7 + 3) % n], c = x[(at * 13 + 1) % n];\n"
    "            y[at] = $E;\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char patterns[] =
    "ISO_KERNEL(bits_$T, 64, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($U) y ISO_EXTENT(n),\n"
    "        ISO_OUT($T) z ISO_EXTENT(n), ISO_IN($U) w ISO_EXTENT(n), i64 n)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        for (i64 at = iso_x(i); at < n; at += 64 * iso_groups_x()) {\n"
    "            const $T a = x[at] == x[at] ? x[at] : ($T)0.25f;\n"
    "            y[at] = iso_bits_$T(a) ^ iso_bits_$T(($T)1.0f);\n"
    "            z[at] = iso_from_bits_$T(w[at]);\n"
    "            if (at % 3 == 0) { z[at] = iso_from_bits_$T(iso_bits_$T(a) & w[at]); }\n"
    "        }\n"
    "    }\n"
    "}\n";

static void add_floats(conf_suite *suite)
{
    static const char *const rows[][2] = {
        {"fma", "iso_fma_$T(a, b, c)"},
        {"div", "iso_div_$T(a, b)"},
        {"sqrt", "iso_sqrt_$T(a)"},
        {"exp", "iso_exp_$T(a)"},
        {"fma_same", "iso_fma_$T(a, a, -b)"},
        {"div_by", "iso_div_$T(($T)1.0f, a)"},
        {"nested", "iso_sqrt_$T(iso_fma_$T(a, a, iso_div_$T(b, c + ($T)1.0f)))"},
        {"exp_of", "iso_exp_$T(iso_div_$T(a, ($T)16.0f)) - ($T)1.0f"}};
    for (int scalar = MODEL_F32; scalar <= MODEL_F64; scalar++) {
        const char *name = model_scalars[scalar].name;
        conf_text text = {0};
        conf_fill(&text, operators, (const char *const[]){"T", name, NULL});
        conf_add_case(suite, "floats", &text, three_groups, "n=1500");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            conf_text expression = {0};
            conf_fill(&expression, rows[i][1], (const char *const[]){"T", name, NULL});
            const char *const keys[] = {"F", rows[i][0], "T", name, "E", expression.at, NULL};
            conf_fill(&text, functions, keys);
            conf_add_case(suite, "floats", &text, three_groups, "n=3000");
            free(expression.at);
        }
        const char *const keys[] = {"T", name, "U", scalar == MODEL_F32 ? "u32" : "u64", NULL};
        conf_fill(&text, patterns, keys);
        conf_add_case(suite, "floats", &text, three_groups, "n=500");
    }
}

/* ---- atomics --------------------------------------------------------------------------------- */

static const char on_buffers[] =
    "ISO_KERNEL(atomic_buffer_$O_$T, 96, 1, 1)(ISO_INOUT($T) low_y ISO_EXTENT(11), ISO_IN($T) "
    "low_x\n"
    "        ISO_EXTENT(n), i64 n, ISO_INOUT($T) low_z ISO_EXTENT(n), ISO_OUT($T) old "
    "ISO_EXTENT(n))\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            iso_atomic_$O_$T(&low_y[at % 11], low_x[at]);\n"
    "            old[at] = iso_atomic_$O_$T(&low_z[n - 1 - at], low_x[at]);\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char on_shared[] =
    "ISO_KERNEL(atomic_shared_$O_$T, 96, 1, 1)(ISO_INOUT($T) low_y ISO_EXTENT(21), ISO_IN($T) "
    "low_x\n"
    "        ISO_EXTENT(n), i64 n, ISO_SHARED($T, 7) part)\n"
    "{\n"
    "    ISO_REGION(i) { if (i < 7) { part[i] = low_y[7 * iso_group_x() + i]; } }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) { iso_atomic_$O_$T(&part[(i * 3 + 1) % 7], low_x[at]); }\n"
    "    }\n"
    "    ISO_REGION(i) { if (i < 7) { low_y[7 * iso_group_x() + i] = part[i]; } }\n"
    "}\n";

/* Each item gets another old value; which one is open. */
static const char on_counters[] =
    "ISO_KERNEL(atomic_count_$T, 96, 1, 1)(ISO_INOUT($T) low_y ISO_EXTENT(1), ISO_OUT($T) set_old\n"
    "        ISO_EXTENT(n), i64 n, ISO_SHARED($T, 1) next, ISO_OUT($T) set_place ISO_EXTENT(n))\n"
    "{\n"
    "    ISO_REGION(i) { if (i == 0) { next[0] = ($T)iso_group_x() * 1000; } }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            set_old[at] = iso_atomic_add_$T(&low_y[0], 3);\n"
    "            set_place[at] = iso_atomic_add_$T(&next[0], 1);\n"
    "        }\n"
    "    }\n"
    "}\n";

static void add_atomics(conf_suite *suite)
{
    static const char *const names[] = {"add", "min", "max"};
    for (int scalar = MODEL_I32; scalar <= MODEL_U64; scalar++) {
        const char *type = model_scalars[scalar].name;
        conf_text text = {0};
        for (int i = 0; i < 3; i++) {
            const char *const keys[] = {"O", names[i], "T", type, NULL};
            conf_fill(&text, on_buffers, keys);
            conf_add_case(suite, "atomics", &text, three_groups, "n=250");
            conf_fill(&text, on_shared, keys);
            conf_add_case(suite, "atomics", &text, three_groups, "n=250");
        }
        conf_fill(&text, on_counters, (const char *const[]){"T", type, NULL});
        conf_add_case(suite, "atomics", &text, three_groups, "n=250");
    }
    /* Of floats the sums are exact, or their order would show. */
    for (int scalar = MODEL_F32; scalar <= MODEL_F64; scalar++) {
        const char *const keys[] = {"O", "add", "T", model_scalars[scalar].name, NULL};
        conf_text text = {0};
        conf_fill(&text, on_buffers, keys);
        conf_add_case(suite, "atomics", &text, three_groups, "n=250");
        conf_fill(&text, on_shared, keys);
        conf_add_case(suite, "atomics", &text, three_groups, "n=250");
    }
}

void conf_add_arithmetic(conf_suite *suite)
{
    add_integers(suite);
    add_conversions(suite);
    add_floats(suite);
    add_atomics(suite);
}
