/* SPDX-License-Identifier: Apache-2.0 */
/* systematic_shapes.c - shapes of groups and launches, extents, shared arrays, and the sums of
 * groups and teams. */
#include "tests/kernels/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>

typedef struct shape {
    int x, y, z;
} shape;

static const shape shapes[] = {{1, 1, 1},    {1, 1, 7},   {1, 5, 1},   {7, 5, 3},  {1024, 1, 1},
                               {32, 32, 1},  {256, 1, 1}, {192, 1, 1}, {3, 1, 2},  {16, 4, 4},
                               {1, 1, 1024}, {1, 64, 1},  {33, 3, 1},  {2, 2, 256}};
static const int64_t launches[][3] = {{2, 3, 2}, {1, 1, 1}, {5, 1, 1}, {1, 4, 1},
                                      {1, 1, 3}, {3, 2, 1}, {2, 1, 2}};
enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    LAUNCHES = sizeof launches / sizeof *launches,
    ROOM = 64
};

static int items_of(const shape *s)
{
    return s->x * s->y * s->z;
}

/* Indices that a region needs. */
static int needed(const shape *s)
{
    return s->z > 1 ? 3 : s->y > 1 ? 2 : 1;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const char *const region_texts[] = {"ISO_REGION(i)", "ISO_REGION_2(i, j)",
                                           "ISO_REGION_3(i, j, k)"};

static const char shaped[] =
    "ISO_KERNEL(shape_$N, $X, $Y, $Z)(ISO_OUT(i64) y, ISO_OUT(i32) z, ISO_SHARED(i32, $C) part,\n"
    "        ISO_OWN(i32) kept)\n"
    "{\n"
    "    $R {\n"
    "        iso_mine(kept) = i + 1100 * $J + 75000 * $K;\n"
    "        part[($K * $Y + $J) * $X + i] = iso_mine(kept);\n"
    "    }\n"
    "    const i64 group = iso_group_x() + iso_groups_x() *\n"
    "        (iso_group_y() + iso_groups_y() * iso_group_z());\n"
    "    $Q {\n"
    "        const i32 item = ($K * $Y + $J) * $X + i;\n"
    "        y[group * $C + item] = iso_x(i) + 10000 * $U + 100000000 * $V +\n"
    "            1000000000000 * (iso_groups_x() + 16 * iso_groups_y() + 256 * iso_groups_z());\n"
    "        z[group * $C + item] = part[$C - 1 - item] - iso_mine(kept);\n"
    "    }\n"
    "}\n";

/* One region alone: a CPU may run several groups in one loop. */
static const char only[] =
    "ISO_KERNEL(only_$N, $X, $Y, $Z)(ISO_OUT(i64) y, ISO_IN(i32) x)\n"
    "{\n"
    "    $R {\n"
    "        const i64 group = iso_group_x() + iso_groups_x() *\n"
    "            (iso_group_y() + iso_groups_y() * iso_group_z());\n"
    "        const i64 at = group * $C + ($K * $Y + $J) * $X + i;\n"
    "        if (x[at] % 3 == 0) { continue; }\n"
    "        y[at] = iso_x(i) + 10000 * $U + 100000000 * $V + (i64)x[at] * 1000000000;\n"
    "    }\n"
    "}\n";

static void add_shape(conf_suite *suite, const char *template, int which, int indices)
{
    const shape *s = &shapes[which];
    conf_text text = {0};
    char name[ROOM], x[ROOM], y[ROOM], z[ROOM], count[ROOM];
    (void)snprintf(name, ROOM, "%dx%dx%d_%d", s->x, s->y, s->z, indices);
    (void)snprintf(x, ROOM, "%d", s->x);
    (void)snprintf(y, ROOM, "%d", s->y);
    (void)snprintf(z, ROOM, "%d", s->z);
    (void)snprintf(count, ROOM, "%d", items_of(s));
    const char *const keys[] = {"N", name,
                                "X", x,
                                "Y", y,
                                "Z", z,
                                "C", count,
                                "R", region_texts[indices - 1],
                                "Q", region_texts[indices - 1],
                                "J", indices > 1 ? "j" : "0",
                                "K", indices > 2 ? "k" : "0",
                                "U", indices > 1 ? "iso_y(j)" : "iso_group_y()",
                                "V", indices > 2 ? "iso_z(k)" : "iso_group_z()",
                                NULL};
    conf_fill(&text, template, keys);
    conf_add_case(suite, "shapes", &text, launches[(which + indices) % LAUNCHES], "");
}

static const char dims[] =
    "ISO_KERNEL(dims_$N, 2, 1, 1)(ISO_INOUT(i64) y ISO_EXTENT(2 * w * h * d), i64 w, i64 h, i64 "
    "d)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        const i64 at = (iso_group_z() * h + iso_group_y()) * w * 2 + iso_x(i);\n"
    "        y[at] = iso_groups_x() * 7 + iso_groups_y() * 11 + iso_groups_z() * 13 + at * d;\n"
    "    }\n"
    "}\n";

static void add_dims(conf_suite *suite)
{
    static const int64_t rows[][3] = {
        {1, 1, 1},   {7, 1, 1},   {1, 7, 1}, {1, 1, 7},     {4, 3, 1},    {1, 3, 4},   {3, 1, 4},
        {13, 11, 5}, {0, 1, 1},   {3, 0, 2}, {1, 1, 0},     {100, 1, 1},  {1, 100, 1}, {1, 1, 99},
        {33, 17, 1}, {64, 32, 2}, {0, 0, 0}, {1, 65537, 1}, {2, 1, 65536}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_text text = {0};
        char name[ROOM], values[ROOM];
        (void)snprintf(name, ROOM, "%d", (int)i);
        (void)snprintf(values, ROOM, "w=%d h=%d d=%d", (int)rows[i][0], (int)rows[i][1],
                       (int)rows[i][2]);
        const char *const keys[] = {"N", name, NULL};
        conf_fill(&text, dims, keys);
        conf_add_case(suite, "dimensions", &text, rows[i], values);
    }
}

/* ---- extents and shared arrays --------------------------------------------------------------- */

static const char extents[] =
    "#define FIVE_$N 5\n"
    "ISO_KERNEL(extent_$N, 32, 1, 1)(ISO_IN(u16) x ISO_EXTENT(n), ISO_OUT(i64) y ISO_EXTENT($E),\n"
    "        i64 n, i32 m, u8 p, ISO_INOUT(u16) z ISO_EXTENT(($E) + 1))\n"
    "{\n"
    "    const i64 count = $E;\n"
    "    ISO_REGION(i) {\n"
    "        for (i64 at = iso_x(i); at < count; at += 32) {\n"
    "            y[at] = count + x[at % n] * p;\n"
    "            z[at + 1] = (u16)(x[at % n] ^ z[at + 1]);\n"
    "        }\n"
    "    }\n"
    "}\n";

static void add_extents(conf_suite *suite)
{
    static const char *const rows[] = {"n",
                                       "n * 2",
                                       "n + m",
                                       "n - m",
                                       "n / 3",
                                       "n % 64 + 1",
                                       "n << 2",
                                       "n >> 1",
                                       "(n + 63) / 64 * 64",
                                       "-(m - n)",
                                       "0x40",
                                       "(1 << 5) - m % 4",
                                       "n * m - n / 2 + (m << 1)",
                                       "GIVEN_WIDTH * 2 + FIVE_$N",
                                       "p*m*n",
                                       "n - - m",
                                       "100 - n + 1",
                                       "0"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_text text = {0}, expression = {0};
        char name[ROOM];
        (void)snprintf(name, ROOM, "%d", (int)i);
        conf_fill(&expression, rows[i], (const char *const[]){"N", name, NULL});
        const char *const keys[] = {"N", name, "E", expression.at, NULL};
        conf_fill(&text, extents, keys);
        conf_add_case(suite, "extents", &text,
                      (const int64_t[]){strcmp(rows[i], "0") == 0 ? 0 : 1, 1, 1}, "n=100 m=7 p=3");
        free(expression.at);
    }
}

static const char shared[] =
    "#define HALF_$N 32\n"
    "ISO_KERNEL(shared_$N, 64, 1, 1)(ISO_IN($A) x ISO_EXTENT(64), ISO_OUT($A) y ISO_EXTENT(64),\n"
    "        ISO_SHARED(u8, $E) first, ISO_OWN(u16) own, ISO_SHARED($A, $E) second, ISO_OUT(u8) z\n"
    "        ISO_EXTENT(64), ISO_SHARED(f32, 3) third, ISO_OWN($A) other, ISO_OUT(f32) w\n"
    "        ISO_EXTENT(64), f32 scale)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        first[i] = (u8)(3 * i);\n"
    "        second[63 - i] = x[i];\n"
    "        if (i < 3) { third[i] = scale * (f32)i; }\n"
    "        iso_mine(own) = (u16)(i * i);\n"
    "        iso_mine(other) = x[i];\n"
    "    }\n"
    "    ISO_REGION(i) {\n"
    "        y[i] = i % 2 ? second[i] : iso_mine(other);\n"
    "        z[i] = (u8)(first[63 - i] + iso_mine(own));\n"
    "        w[i] = third[i % 3];\n"
    "    }\n"
    "}\n";

static void add_shared(conf_suite *suite)
{
    static const char *const rows[] = {
        "64",     "8 * 8",   "GIVEN_WIDTH * 4", "(1 << 7) >> 1", "0x40",
        "65 - 1", "128 / 2", "64 % 65",         "HALF_$N * 2",   "ISO_AT_LAUNCH"};
    static const char *const types[] = {"f32", "u8",  "i64", "f64", "i16",
                                        "u32", "f32", "u16", "i8",  "u64"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_text text = {0}, expression = {0};
        char name[ROOM];
        (void)snprintf(name, ROOM, "%d", (int)i);
        conf_fill(&expression, rows[i], (const char *const[]){"N", name, NULL});
        const char *const keys[] = {"N", name, "E", expression.at, "A", types[i], NULL};
        conf_fill(&text, shared, keys);
        conf_add_case(suite, "shared", &text, (const int64_t[]){1, 1, 1}, "first=64 second=71");
        free(expression.at);
    }
}

/* ---- sums over groups and teams -------------------------------------------------------------- */

static const char folded[] =
    "ISO_KERNEL($F_$O_$T$N, $X, $Y, $Z)(ISO_IN($T) x ISO_EXTENT(n), i64 n, ISO_OUT($T) y,\n"
    "        ISO_SHARED($T, $C + 1) part, ISO_OWN($T) v)\n"
    "{\n"
    "    ISO_REGION_3(i, j, k) {\n"
    "        const i64 at = iso_group_x() * $C + (k * $Y + j) * $X + i;\n"
    "        const $T one = x[at % n];\n"
    "        iso_mine(v) = at < 2 * n ? $V : ($T)1;\n"
    "    }\n"
    "    $W;\n"
    "    ISO_REGION_3(i, j, k) {\n"
    "        const i32 item = (k * $Y + j) * $X + i;\n"
    "        y[iso_group_x() * $C + item] = part[item / $D * $D];\n"
    "    }\n"
    "}\n";

/* Numbers whose sums neither overflow nor are all NaN. */
static const char *const summands[MODEL_SCALARS] = {
    [MODEL_I8] = "(i8)(one % 2)",
    [MODEL_U8] = "one",
    [MODEL_I16] = "(i16)(one % 30)",
    [MODEL_U16] = "one",
    [MODEL_I32] = "one % 1000000",
    [MODEL_U32] = "one",
    [MODEL_I64] = "one % 1000000000000000",
    [MODEL_U64] = "one",
    [MODEL_F32] = "(one > -1e9f && one < 1e9f ? one : 0.1f)",
    [MODEL_F64] = "(one > -1e30 && one < 1e30 ? one : 0.1)"};

/* Zeros of both signs, of which neither is larger. */
static const char *const zeros[MODEL_SCALARS] = {
    [MODEL_F32] = "(one < 0.0f ? -0.0f : 0.0f)", [MODEL_F64] = "(one < 0.0 ? -0.0 : 0.0)"};

static const char *const fold_names[] = {"SUM", "MIN", "MAX"};

/* The sum, least or largest of each team of `width` items; 0: of each group. */
static void add_fold(conf_suite *suite, model_scalar scalar, int what, const shape *s, int width,
                     const char *value, const char *suffix)
{
    conf_text text = {0};
    char x[ROOM], y[ROOM], z[ROOM], count[ROOM], team[ROOM], statement[ROOM];
    (void)snprintf(x, ROOM, "%d", s->x);
    (void)snprintf(y, ROOM, "%d", s->y);
    (void)snprintf(z, ROOM, "%d", s->z);
    (void)snprintf(count, ROOM, "%d", items_of(s));
    (void)snprintf(team, ROOM, "%d", width ? width : items_of(s));
    (void)snprintf(statement, ROOM, width ? "ISO_TEAM_%s(part, v, %d)" : "ISO_GROUP_%s(part, v)",
                   fold_names[what], width);
    const char *const keys[] = {"F", width ? "team" : "group",
                                "O", fold_names[what],
                                "T", model_scalars[scalar].name,
                                "N", suffix,
                                "X", x,
                                "Y", y,
                                "Z", z,
                                "C", count,
                                "V", value,
                                "W", statement,
                                "D", team,
                                NULL};
    conf_fill(&text, folded, keys);
    conf_add_case(suite, width ? "teams" : "sums of groups", &text, (const int64_t[]){3, 1, 1},
                  items_of(s) > 2 ? "n=143" : "n=2");
}

static void add_folds(conf_suite *suite)
{
    static const shape rows[] = {{1, 1, 1},   {2, 1, 1},   {3, 1, 1},   {7, 1, 1},   {64, 1, 1},
                                 {100, 1, 1}, {192, 1, 1}, {255, 1, 1}, {256, 1, 1}, {1024, 1, 1},
                                 {7, 5, 3},   {32, 32, 1}, {1, 1, 9},   {5, 13, 1}};
    static const int widths[] = {1, 2, 3, 5, 8, 13, 32, 64, 100, 1000, 7};
    enum { ROWS = sizeof rows / sizeof *rows, WIDTHS = sizeof widths / sizeof *widths, SMALL = 6 };
    int at = 0;
    for (int scalar = 0; scalar < MODEL_SCALARS; scalar++) {
        for (int what = 0; what < 3; what++, at++) {
            const model_scalar of = (model_scalar)scalar;
            const bool narrow = scalar == MODEL_I8 && what == 0; /* a sum of 128 may overflow */
            const char *value = what == 0 ? summands[scalar] : "one";
            add_fold(suite, of, what, &rows[narrow ? at % SMALL : (at * 5 + 3) % ROWS], 0, value,
                     "");
            add_fold(suite, of, what, &rows[narrow ? 4 : (at * 3 + 4) % ROWS], widths[at % WIDTHS],
                     value, "");
        }
    }
}

/* The order of a sum and the choice between equal numbers, or NaN, show in the bits of floats. */
static void add_float_folds(conf_suite *suite)
{
    static const shape rows[] = {{100, 1, 1}, {7, 5, 3}, {255, 1, 1}, {8, 8, 4}, {41, 3, 1}};
    static const int widths[] = {0, 5, 13, 32, 100};
    for (int i = 0; i < 5; i++) {
        for (int scalar = MODEL_F32; scalar <= MODEL_F64; scalar++) {
            const model_scalar of = (model_scalar)scalar;
            const int what = 1 + (i + scalar) % 2;
            char suffix[ROOM];
            (void)snprintf(suffix, ROOM, "_%d", i);
            add_fold(suite, of, 0, &rows[i], widths[i], summands[scalar], suffix);
            add_fold(suite, of, what, &rows[(i + 1) % 5], widths[i], "one", suffix);
            (void)snprintf(suffix, ROOM, "_zeros_%d", i);
            add_fold(suite, of, 3 - what, &rows[i], widths[i], zeros[scalar], suffix);
        }
    }
}

void conf_add_shapes(conf_suite *suite)
{
    for (int i = 0; i < SHAPES; i++) {
        for (int indices = needed(&shapes[i]); indices <= 3; indices++) {
            add_shape(suite, shaped, i, indices);
            add_shape(suite, only, i, indices);
        }
    }
    add_dims(suite);
    add_extents(suite);
    add_shared(suite);
    add_folds(suite);
    add_float_folds(suite);
}
