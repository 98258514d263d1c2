/* SPDX-License-Identifier: Apache-2.0 */
/* systematic_types.c - scalars, vectors and structs as values, in buffers, in shared arrays and as
 * own values. */
#include "tests/kernels/conformance/conformance.h"

#include <string.h>

/* A reversed copy through a shared array; values at places where i % 3 is 0. */
static const char scalars[] =
    "ISO_KERNEL(type_$T, 64, 1, 1)($T v, ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y ISO_EXTENT(n),\n"
    "        i64 n, ISO_INOUT($T) z ISO_EXTENT(n), ISO_SHARED($T, 64) part, ISO_OWN($T) kept)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        iso_mine(kept) = at < n ? x[at] : v;\n"
    "        part[63 - i] = at % 3 == 0 ? v : iso_mine(kept);\n"
    "    }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            y[at] = part[i];\n"
    "            const $T old = z[at];\n"
    "            z[at] = i % 2 ? iso_mine(kept) : old;\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char vectors2[] =
    "ISO_KERNEL(vector_$T, 48, 1, 1)($T v, ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y\n"
    "        ISO_EXTENT(n), i64 n, ISO_INOUT($T) z ISO_EXTENT(n), ISO_SHARED($T, 48) part,\n"
    "        ISO_OWN($T) kept)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        $T one = v;\n"
    "        if (at < n) { one = x[at]; }\n"
    "        iso_mine(kept) = iso_$T(one.y, v.x);\n"
    "        iso_mine(kept).y = one.x;\n"
    "        part[47 - i] = one;\n"
    "    }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            const $S low = part[i].x < v.y ? part[i].x : v.y;\n"
    "            y[at] = iso_$T(low, part[i].y);\n"
    "            z[at].y = iso_mine(kept).x;\n"
    "            if (i % 3) { z[at] = iso_mine(kept); }\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char vectors4[] =
    "ISO_FUNCTION $T turn_$T($T v, $S w) { return iso_$T(v.y, v.z, v.w, w); }\n"
    "ISO_KERNEL(vector_$T, 48, 1, 1)($T v, ISO_IN($T) x ISO_EXTENT(n), ISO_OUT($T) y\n"
    "        ISO_EXTENT(n), i64 n, ISO_INOUT($T) z ISO_EXTENT(n), ISO_SHARED($T, 48) part,\n"
    "        ISO_OWN($T) kept)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        $T one = turn_$T(v, v.x);\n"
    "        if (at < n) { one = x[at]; }\n"
    "        iso_mine(kept) = turn_$T(turn_$T(one, v.w), one.x);\n"
    "        iso_mine(kept).z = v.z;\n"
    "        part[47 - i] = one;\n"
    "    }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            y[at] = part[i];\n"
    "            z[at].w = iso_mine(kept).x;\n"
    "            if (i % 3) { z[at] = turn_$T(iso_mine(kept), part[i].y); }\n"
    "        }\n"
    "    }\n"
    "}\n";

/* A vector without the type's own name anywhere. */
static const char unnamed[] =
    "ISO_KERNEL(unnamed_$T, 32, 1, 1)(ISO_IN(f32) x ISO_EXTENT(32), ISO_OUT(i32) y)\n"
    "{\n"
    "    ISO_REGION(i) { y[iso_x(i)] = iso_$T(1, i$M).y > x[i] ? 1 + i : 0; }\n"
    "}\n";

static void add(conf_suite *suite, const char *template, const char *type, const char *scalar,
                const char *more, const char *values)
{
    conf_text text = {0};
    const char *const keys[] = {"T", type, "S", scalar, "M", more, NULL};
    conf_fill(&text, template, keys);
    conf_add_case(suite, "types", &text, (const int64_t[]){3, 1, 1}, values);
}

/* ---- structs --------------------------------------------------------------------------------- */

/* Members whose order leaves gaps. */
static const char *const members[] = {
    "i8 a; f64 b; i16 c;",
    "u8 a[3]; u32 b; i8 c[5]; i64 d;",
    "f32 a, b, c;",
    "i16 a[7]; f32 b[3]; u8 c; u64 d; u16 e;",
    "u64 a; i8 b;",
    "i8 a, b; i16 c; i32 d; i64 e; u8 f; u16 g; u32 h; u64 k; f32 l; f64 m;",
    "f64 a[2]; i32 b; f32 c[5];",
    "u16 a; u8 b[1]; i32 c[2];",
    "i8 a[33];",
    "f32 a; f64 b; f32 c; f64 d[3]; u8 e;"};

/* A reversed copy of whole structs, and of the first and the last member. */
static const char structs[] =
    "ISO_STRUCT(record$N) { $M };\n"
    "ISO_FUNCTION record$N mix$N(record$N p, record$N q) { p.$F = q.$F; return p; }\n"
    "ISO_KERNEL(struct$N, 40, 1, 1)(record$N p, ISO_IN(record$N) x ISO_EXTENT(n), i64 n,\n"
    "        ISO_OUT(record$N) y ISO_EXTENT(n), ISO_INOUT(record$N) z ISO_EXTENT(n),\n"
    "        ISO_SHARED(record$N, 40) part, ISO_OWN(record$N) kept)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        record$N one = p;\n"
    "        if (at < n) { one = mix$N(x[at], p); }\n"
    "        part[39 - i] = one;\n"
    "        iso_mine(kept) = p;\n"
    "        iso_mine(kept).$F = one.$F;\n"
    "    }\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            y[at] = part[i];\n"
    "            if (i % 2) { z[at] = iso_mine(kept); }\n"
    "            else { z[at].$L = part[i].$L; }\n"
    "        }\n"
    "    }\n"
    "}\n";

/* The name of the first or the last member, with an index if it is an array. */
static void member_of(const char *list, bool last, char name[16])
{
    const char *at = list + strlen(list) - 2;
    if (!last) {
        at = strchr(list, ' ') + 1;
        at += strcspn(at, ";,[") - 1;
    } else if (*at == ']') {
        while (*at != '[') {
            at--;
        }
        at--;
    }
    (void)snprintf(name, 16, at[1] == '[' ? "%c[0]" : "%c", *at);
}

static void add_structs(conf_suite *suite)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        conf_text text = {0};
        char number[8], first[16], last[16];
        (void)snprintf(number, sizeof number, "%d", (int)i);
        member_of(members[i], false, first);
        member_of(members[i], true, last);
        const char *const keys[] = {"N", number, "M", members[i], "F", first, "L", last, NULL};
        conf_fill(&text, structs, keys);
        conf_add_case(suite, "structs", &text, (const int64_t[]){4, 1, 1}, "n=157");
    }
}

void conf_add_types(conf_suite *suite)
{
    for (int i = 0; i < MODEL_SCALARS; i++) {
        const model_scalar_info *info = &model_scalars[i];
        char name[16];
        add(suite, scalars, info->name, info->name, "", "n=150");
        if (info->has_vectors) {
            (void)snprintf(name, sizeof name, "%sx2", info->name);
            add(suite, vectors2, name, info->name, "", "n=131");
            add(suite, unnamed, name, info->name, "", "");
            (void)snprintf(name, sizeof name, "%sx4", info->name);
            add(suite, vectors4, name, info->name, "", "n=101");
            add(suite, unnamed, name, info->name, ", 2, 3", "");
        }
    }
    add_structs(suite);
}
