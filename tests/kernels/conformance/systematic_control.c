/* SPDX-License-Identifier: Apache-2.0 */
/* systematic_control.c - loops and branches around and in regions, functions, macros and private
 * arrays. */
#include "tests/kernels/conformance/conformance.h"

#include <string.h>

/* Parameters of all: x, n, y with n elements each; a group has 24 items. */
#define HEAD(name)                                                                                 \
    "ISO_KERNEL(" name ", 24, 1, 1)(ISO_IN(i32) x ISO_EXTENT(n), i64 n,\n"                         \
    "        ISO_INOUT(u32) y ISO_EXTENT(n), u32 limit, ISO_SHARED(u32, 25) part,\n"               \
    "        ISO_OWN(u32) v)\n{\n"
#define STORE                                                                                      \
    "    ISO_REGION(i) { const i64 at = iso_x(i); if (at < n) { y[at] = iso_mine(v); } }\n"

static const char *const rows[] = {
    HEAD("loop_around") "    ISO_REGION(i) { part[i] = (u32)x[iso_x(i) % n]; }\n"
                        "    for (u32 r = 0; r < limit; r++) {\n"
                        "        ISO_REGION(i) { iso_mine(v) = part[(i + 1) % 24] * 3 + r; }\n"
                        "        ISO_REGION(i) { part[i] = iso_mine(v) ^ part[i]; }\n"
                        "    }\n" STORE "}\n",
    HEAD("branch_around") "    ISO_REGION(i) { iso_mine(v) = (u32)i; }\n"
                          "    if (iso_group_x() % 2 == 0) {\n"
                          "        ISO_REGION(i) { part[23 - i] = iso_mine(v) + 7; }\n"
                          "        ISO_REGION(i) { iso_mine(v) = part[i]; }\n"
                          "    } else if (limit > 3) {\n"
                          "        ISO_REGION(i) { iso_mine(v) += limit; }\n"
                          "    } else {\n"
                          "        ISO_REGION(i) { iso_mine(v) = 1; }\n"
                          "    }\n" STORE "}\n",
    HEAD("while_around") "    u32 left = limit;\n"
                         "    ISO_REGION(i) { iso_mine(v) = 1; part[i] = (u32)i; }\n"
                         "    while (left > 0) {\n"
                         "        ISO_REGION(i) { iso_mine(v) = iso_mine(v) * 5 + part[23 - i]; }\n"
                         "        left = left - 1;\n"
                         "        if (left == 2) { break; }\n"
                         "    }\n"
                         "    do {\n"
                         "        ISO_REGION(i) { part[i] += left; }\n"
                         "        ISO_REGION(i) { iso_mine(v) ^= part[(i * 5) % 24]; }\n"
                         "        left++;\n"
                         "    } while (left < 5);\n" STORE "}\n",
    HEAD("continues") "    ISO_REGION(i) {\n"
                      "        iso_mine(v) = 5;\n"
                      "        if (i % 3 == 0) { continue; }\n"
                      "        iso_mine(v) = 6;\n"
                      "        for (i32 k = 0; k < i; k++) {\n"
                      "            if (k == 4) { continue; }\n"
                      "            if (k == 9) { break; }\n"
                      "            iso_mine(v) += (u32)k;\n"
                      "        }\n"
                      "        if (i % 5 == 0) continue;\n"
                      "        iso_mine(v) *= 3;\n"
                      "    }\n" STORE "}\n",
    HEAD("continue_around") "    ISO_REGION(i) { iso_mine(v) = (u32)i; }\n"
                            "    for (i32 r = 0; r < 6; r++) {\n"
                            "        if (r == 2) { continue; }\n"
                            "        ISO_REGION(i) { if ((i + r) % 2) { continue; } iso_mine(v) += "
                            "10; }\n"
                            "        if (r == 4) { break; }\n"
                            "    }\n" STORE "}\n",
    HEAD("switches") "    ISO_REGION(i) {\n"
                     "        u32 sum = 0;\n"
                     "        for (i32 k = 0; k < 6; k++) {\n"
                     "            switch ((i + k) % 7) {\n"
                     "            case 0:\n"
                     "                sum += 1;\n"
                     "            case 1:\n"
                     "                sum += 10;\n"
                     "                break;\n"
                     "            case 3: {\n"
                     "                sum += 100;\n"
                     "                continue;\n"
                     "            }\n"
                     "            case 2 + 3:\n"
                     "                break;\n"
                     "            default:\n"
                     "                sum = sum * 3;\n"
                     "            }\n"
                     "            sum ^= 1;\n"
                     "        }\n"
                     "        iso_mine(v) = sum;\n"
                     "        switch (i) { case 4: continue; default: break; }\n"
                     "        iso_mine(v) += 2;\n"
                     "    }\n" STORE "}\n",
    HEAD("switch_around") "    switch (iso_group_x() % 3) {\n"
                          "    case 0:\n"
                          "        ISO_REGION(i) { iso_mine(v) = (u32)i * 2; }\n"
                          "        break;\n"
                          "    case 1:\n"
                          "        ISO_REGION(i) { iso_mine(v) = (u32)i * 3; }\n"
                          "    default:\n"
                          "        ISO_REGION(i) { part[i] = limit; }\n"
                          "        ISO_REGION(i) { iso_mine(v) = part[23 - i] + (u32)i; }\n"
                          "    }\n" STORE "}\n",
    HEAD("nested_loops") "    ISO_REGION(i) {\n"
                         "        u32 sum = 0;\n"
                         "        for (i32 a = 0; a < 5; a++) {\n"
                         "            i32 b = a;\n"
                         "            while (b < 9) {\n"
                         "                b += 2;\n"
                         "                if ((a * b + i) % 4 == 0) { continue; }\n"
                         "                if (b > i) { break; }\n"
                         "                do { sum = sum * 2 + 1; if (sum > 1000) { break; } }\n"
                         "                while (sum % 3 != 0);\n"
                         "            }\n"
                         "            sum += (u32)b;\n"
                         "        }\n"
                         "        iso_mine(v) = sum;\n"
                         "    }\n" STORE "}\n",
    HEAD("deep_around") "    ISO_REGION(i) { iso_mine(v) = 0; }\n"
                        "    for (i32 a = 0; a < 3; a++) {\n"
                        "        for (i32 b = a; b < 3; b++) {\n"
                        "            if ((a + b) % 2 == 0) {\n"
                        "                ISO_REGION(i) { part[i] = iso_mine(v) + (u32)(a * b); }\n"
                        "                ISO_REGION(i) { iso_mine(v) = part[(i + b) % 24] + 1; }\n"
                        "            } else {\n"
                        "                ISO_REGION(i) { iso_mine(v) *= 2; }\n"
                        "            }\n"
                        "        }\n"
                        "    }\n" STORE "}\n",
    HEAD("sum_in_loop") "    ISO_REGION(i) { iso_mine(v) = (u32)x[iso_x(i) % n]; }\n"
                        "    for (i32 r = 0; r < 3; r++) {\n"
                        "        ISO_GROUP_SUM(part, v);\n"
                        "        ISO_REGION(i) { iso_mine(v) ^= part[0] + (u32)i; }\n"
                        "        ISO_TEAM_MAX(part, v, 5);\n"
                        "        ISO_REGION(i) { iso_mine(v) -= part[i / 5 * 5] * 3; }\n"
                        "    }\n"
                        "    if (limit % 2) {\n"
                        "        ISO_GROUP_MIN(part, v);\n"
                        "        ISO_REGION(i) { iso_mine(v) += part[0]; }\n"
                        "    }\n" STORE "}\n",
    HEAD("group_variables") "    const i64 g = iso_group_x();\n"
                            "    u32 f = (u32)g * 3, h = limit;\n"
                            "    const i32 t[4] = {1, -2, 3, 40};\n"
                            "    ISO_REGION(i) { iso_mine(v) = f + h + (u32)t[i % 4]; }\n"
                            "    f = f * h + 1;\n"
                            "    { const u32 k = f ^ 77;\n"
                            "    ISO_REGION(i) { iso_mine(v) = iso_mine(v) * k + f; } }\n" STORE
                            "}\n",
    "ISO_FUNCTION u32 plus_fn(u32 a, u32 b) { return a + b; }\n"
    "ISO_FUNCTION u32 power_fn(u32 a, i32 n)\n"
    "{\n"
    "    u32 made = 1;\n"
    "    for (i32 k = 0; k < n; k++) {\n"
    "        if (made > 1000000) { return plus_fn(made, (u32)k); }\n"
    "        made *= a;\n"
    "    }\n"
    "    return made;\n"
    "}\n"
    "ISO_FUNCTION f32x2 turn_fn(f32x2 p) { p.x = p.x * 2.0f; return iso_f32x2(p.y, p.x); }\n" HEAD(
        "functions") "    const u32 all = plus_fn(limit, 3);\n"
                     "    ISO_REGION(i) {\n"
                     "        f32x2 p = iso_f32x2((f32)i, 0.5f);\n"
                     "        const f32x2 q = turn_fn(turn_fn(p));\n"
                     "        p = turn_fn(q);\n"
                     "        iso_mine(v) = power_fn(plus_fn((u32)i, 1), i % 9) + all +\n"
                     "            plus_fn((u32)p.x, (u32)(q.x + turn_fn(p).y));\n"
                     "    }\n" STORE "}\n",
    "#define SQUARE_M(a) ((a) * (a))\n"
    "#define EACH_M(k, n) for (i32 k = 0; k < (n); k++)\n"
    "#define TWO_M 2 /* a comment */\n"
    "#define SET_M(to) ISO_REGION(i) { iso_mine(to) += \\\n"
    "    SQUARE_M((GIVEN_TYPE)i + TWO_M); }\n" HEAD(
        "macros") "    ISO_REGION(i) {\n"
                  "        iso_mine(v) = GIVEN_WIDTH;\n"
                  "        EACH_M(k, TWO_M * 4) {\n"
                  "            if (k == 5) { break; } // of the loop\n"
                  "            iso_mine(v) = iso_mine(v) * SQUARE_M(3u) + (u32)k;\n"
                  "        }\n"
                  "    }\n"
                  "    SET_M(v)\n"
                  "#ifdef GIVEN_WIDTH\n"
                  "    SET_M(v)\n"
                  "#else\n"
                  "    none\n"
                  "#endif\n" STORE "}\n"
                  "#undef TWO_M\n",
    HEAD("empty_parts") "    ;\n"
                        "    ISO_REGION(i) { }\n"
                        "    ISO_REGION(i) { ; { } iso_mine(v) = (u32)i + limit; ; }\n"
                        "    { }\n" STORE "    ISO_REGION(q) { }\n}\n",
    HEAD("code_after") "    ISO_REGION(i) { iso_mine(v) = (u32)i; }\n" STORE
                       "    const u32 unused = limit * 2;\n"
                       "    if (unused == 1) { ISO_REGION(i) { iso_mine(v) = 0; } }\n}\n",
    HEAD("last_in_branch") "    ISO_REGION(i) { iso_mine(v) = (u32)i * limit; part[i] = 3; }\n"
                           "    if (limit < 1000000) {\n"
                           "        ISO_REGION(i) { iso_mine(v) += part[23 - i]; }\n" STORE
                           "    }\n}\n",
    HEAD("buffer_between") "    ISO_REGION(i) { const i64 at = iso_x(i); if (at < n) { y[at] ^= 9; "
                           "} }\n"
                           "    ISO_REGION(i) {\n"
                           "        const i64 first = iso_group_x() * 24, end = first + 24 < n ? "
                           "first + 24 : n;\n"
                           "        iso_mine(v) = y[first + (iso_x(i) + 5) % (end - first)];\n"
                           "    }\n" STORE "}\n",
    HEAD("index64") "    ISO_REGION(i) {\n"
                    "        const i64 far = iso_x(i) * 4294967297 + 0x100000000;\n"
                    "        const u64 farther = (u64)far * 65537u;\n"
                    "        iso_mine(v) = (u32)x[far % n] + (u32)(farther >> 40);\n"
                    "    }\n" STORE "}\n"};

/* Private arrays of each type. */
static const char arrays[] =
    "ISO_KERNEL(array_$T, 30, 1, 1)(ISO_IN($T) x ISO_EXTENT(n), i64 n, ISO_OUT($T) y "
    "ISO_EXTENT(n))\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        $T t[6], u[4] = {($T)1, ($T)2, ($T)(3 * 4)};\n"
    "        for (i32 k = 0; k < 6; k++) { t[k] = x[(at * 6 + k) % n]; }\n"
    "        for (i32 k = 5; k > 0; k--) {\n"
    "            if (t[k] < t[k - 1]) { const $T held = t[k]; t[k] = t[k - 1]; t[k - 1] = held; }\n"
    "        }\n"
    "        u[i % 4] = t[0];\n"
    "        if (at < n) { y[at] = i % 3 ? t[i % 6] : u[(i + 1) % 4]; }\n"
    "    }\n"
    "}\n";

void conf_add_control(conf_suite *suite)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_text text = {0};
        conf_add(&text, "%s", rows[i]);
        conf_add_case(suite, "control", &text, (const int64_t[]){7, 1, 1}, "n=160 limit=5");
    }
    for (int scalar = 0; scalar < MODEL_SCALARS; scalar++) {
        conf_text text = {0};
        conf_fill(&text, arrays, (const char *const[]){"T", model_scalars[scalar].name, NULL});
        conf_add_case(suite, "arrays", &text, (const int64_t[]){4, 1, 1}, "n=107");
    }
}
