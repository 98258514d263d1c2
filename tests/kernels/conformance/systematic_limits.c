/* SPDX-License-Identifier: Apache-2.0 */
/* systematic_limits.c - the most parameters, the largest structs, and names. */
#include "tests/kernels/conformance/conformance.h"

#include <string.h>

static const int64_t two_groups[] = {2, 1, 1};

/* 31 arguments: the place has five, a buffer two. */
static void add_values(conf_suite *suite)
{
    enum { VALUES = 24 };
    static const char *const types[] = {"u8", "i16", "f32", "u64", "i8", "u32x2", "i32", "f32x4"};
    conf_text text = {0};
    conf_add(&text, "ISO_KERNEL(most_values, 8, 1, 1)(ISO_OUT(f32) y");
    for (int i = 0; i < VALUES; i++) {
        conf_add(&text, ", %s v%d", types[i % 8], i);
    }
    conf_add(&text, ")\n{\n    ISO_REGION(i) {\n        f32 made = 0.0f;\n");
    for (int i = 0; i < VALUES; i++) {
        const bool vector = strchr(types[i % 8], 'x') != NULL;
        conf_add(&text, "        if (i %% 8 == %d) { made = made * 0.5f + (f32)v%d%s; }\n", i % 8,
                 i, vector ? ".y" : "");
    }
    conf_add(&text, "        y[iso_x(i)] = made;\n    }\n}\n");
    conf_add_case(suite, "limits", &text, two_groups, "");
}

static void add_buffers(conf_suite *suite)
{
    enum { BUFFERS = 13, SHARED = 10, OWN = 9 };
    conf_text text = {0};
    conf_add(&text, "ISO_KERNEL(most_parameters, 8, 1, 1)(");
    for (int i = 0; i < BUFFERS; i++) {
        conf_add(&text, "%sISO_%s(u32) b%d", i ? ", " : "", i % 2 ? "IN" : "INOUT", i);
    }
    for (int i = 0; i < SHARED; i++) {
        conf_add(&text, ", ISO_SHARED(u32, 8) s%d", i);
    }
    for (int i = 0; i < OWN; i++) {
        conf_add(&text, ", ISO_OWN(u32) o%d", i);
    }
    conf_add(&text, ")\n{\n    ISO_REGION(i) {\n        const i64 at = iso_x(i);\n");
    for (int i = 0; i < SHARED; i++) {
        conf_add(&text, "        s%d[7 - i] = b%d[at] + %d;\n", i, i, i);
    }
    for (int i = 0; i < OWN; i++) {
        conf_add(&text, "        iso_mine(o%d) = b%d[at] * %d;\n", i, i + 4, i + 2);
    }
    conf_add(&text, "    }\n    ISO_REGION(i) {\n        const i64 at = iso_x(i);\n");
    for (int i = 0; i < BUFFERS; i += 2) {
        conf_add(&text, "        b%d[at] = s%d[i] ^ iso_mine(o%d) ^ b%d[at];\n", i, i % SHARED,
                 i % OWN, i == 12 ? 11 : i + 1);
    }
    conf_add(&text, "    }\n}\n");
    conf_add_case(suite, "limits", &text, two_groups, "");
}

static const char *const rows[] = {
    "ISO_STRUCT(large_value) { u8 tag[100]; f32 list[200]; i64 last[6]; };\n"
    "ISO_KERNEL(large_by_value, 32, 1, 1)(large_value p, ISO_OUT(f32) y)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        y[at] = p.list[(at * 3) % 200] * 0.5f + (f32)p.tag[at % 100] + (f32)p.last[at % 6];\n"
    "    }\n"
    "}\n",
    "ISO_STRUCT(large_element) { i32 list[1000]; u8 tag[96]; };\n"
    "ISO_KERNEL(large_in_buffer, 4, 1, 1)(ISO_IN(large_element) x ISO_EXTENT(3),\n"
    "        ISO_INOUT(large_element) y ISO_EXTENT(8))\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        for (i32 k = 0; k < 1000; k++) { y[at].list[k] = x[at % 3].list[999 - k] ^ k; }\n"
    "        y[at].tag[i * 5] = x[(at + 1) % 3].tag[95];\n"
    "    }\n"
    "}\n",
    /* Words of some compiler that may yet name what is inside of a kernel. */
    "ISO_STRUCT(allowed_members) { f32 min, event; i32 sampler; u8 image; };\n"
    "ISO_KERNEL(allowed_names, 32, 1, 1)(ISO_IN(f32) min ISO_EXTENT(64), ISO_OUT(f32) max, f32 "
    "exp,\n"
    "        u32 uint, ISO_SHARED(i32, 32) texture, ISO_OWN(i32) index, i32 main, i32 std, f32 "
    "dot,\n"
    "        allowed_members texture2D, ISO_OUT(i32) printf, f32 y0)\n"
    "{\n"
    "    ISO_REGION(any) {\n"
    "        iso_mine(index) = any ^ main;\n"
    "        texture[31 - any] = (std & 1023) + any;\n"
    "    }\n"
    "    ISO_REGION(abs) {\n"
    "        const i64 vector = iso_x(abs);\n"
    "        const f32 step = exp + dot, log = y0, sqrt = texture2D.min * texture2D.event;\n"
    "        i32 pixel = texture[abs] ^ (i32)(uint & 255u), float2 = texture2D.image;\n"
    "        max[vector] = min[vector % 64] + step * log - sqrt;\n"
    "        printf[vector] = pixel ^ iso_mine(index) ^ float2 ^ texture2D.sampler;\n"
    "    }\n"
    "}\n",
    "ISO_KERNEL(no_parameters, 8, 1, 1)()\n{\n    ISO_REGION(i) { }\n}\n",
    "ISO_KERNEL(one_item, 1, 1, 1)(ISO_INOUT(u32) y ISO_EXTENT(1))\n"
    "{\n    ISO_REGION(i) { y[iso_x(i)] += (u32)i + 1; }\n}\n",
    "ISO_KERNEL(unused_parameters, 8, 1, 1)(ISO_IN(f32) x, u8 a, ISO_OUT(u8) y,\n"
    "        ISO_SHARED(f32x4, 3) s, ISO_SHARED(i8, ISO_AT_LAUNCH) t, ISO_OWN(f32x2) o)\n"
    "{\n    ISO_REGION(i) { y[iso_x(i)] = (u8)(i + 3); }\n}\n"};

void conf_add_limits(conf_suite *suite)
{
    add_values(suite);
    add_buffers(suite);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_text text = {0};
        const bool one = strstr(rows[i], "one_item") != NULL;
        conf_add(&text, "%s", rows[i]);
        conf_add_case(suite, "limits", &text, one ? (const int64_t[]){1, 1, 1} : two_groups, "");
    }
}
