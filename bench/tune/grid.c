/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c - the shapes that are measured. They are sorted into batches of one operation and type.
 * The first batches are those that programs need most, so that little time is well spent. */
#include "bench/ops/ops.h"
#include "bench/tune/tune.h"
#include "common/dtype.h"

#include <stdlib.h>
#include <string.h>

typedef struct size {
    int64_t m, n, k, batch;
} size;

/* A step of the grid: sizes and layouts of an operation, for each type in turn. */
typedef struct step {
    iso_op_kind op;
    const char *layouts; /* separated by commas */
    const size *sizes;
    int32_t count;
} step;

static const size squares[] = {{1024, 1024, 1024, 1}, {256, 256, 256, 1}, {512, 512, 512, 1},
                               {128, 128, 128, 1},    {64, 64, 64, 1},    {32, 32, 32, 1}};
static const size large[] = {{2048, 2048, 2048, 1}, {4096, 4096, 4096, 1}};
static const size largest[] = {{8192, 8192, 8192, 1}};
static const size thin[] = {{16, 1024, 1024, 1}, {1024, 16, 1024, 1}, {64, 64, 4096, 1},
                            {256, 256, 4096, 1}, {2048, 2048, 64, 1}, {4, 2048, 2048, 1}};
static const size thinner[] = {{1, 4096, 4096, 1}, {16, 4096, 4096, 1}, {4096, 4096, 16, 1}};
static const size batches[] = {
    {32, 32, 32, 256}, {64, 64, 64, 64}, {128, 128, 128, 32}, {256, 256, 256, 8}};
static const size many[] = {{16, 16, 16, 1000}, {32, 32, 32, 1000}, {64, 64, 64, 1000}};
static const size between[] = {{1000, 1000, 1000, 1}, {1536, 1536, 1536, 1}, {3072, 3072, 3072, 1}};
/* Rows that are no whole words: vendors' libraries take other kernels for them. */
static const size odd[] = {{257, 257, 257, 1}, {1023, 1023, 1023, 1}, {4097, 4097, 4097, 1}};
static const size turned[] = {{1024, 1024, 1024, 1}, {256, 256, 256, 1}, {64, 64, 64, 1}};
static const size vectors[] = {
    {1024, 1, 1024, 1}, {4096, 1, 4096, 1}, {256, 1, 256, 1}, {8192, 1, 512, 1}, {512, 1, 8192, 1}};

#define STEP(op, layouts, sizes) {op, layouts, sizes, (int32_t)(sizeof(sizes) / sizeof *(sizes))}
static const step usual[] = {
    STEP(ISO_OP_GEMM, "nn", squares),  STEP(ISO_OP_GEMM, "nn", thin),
    STEP(ISO_OP_GEMM, "nn", batches),  STEP(ISO_OP_GEMM, "nt,tn,tt", turned),
    STEP(ISO_OP_GEMV, "n,t", vectors), STEP(ISO_OP_GEMM, "nn", thinner),
    STEP(ISO_OP_GEMM, "nn", many),     STEP(ISO_OP_GEMM, "nn", large),
    STEP(ISO_OP_GEMM, "nn", between),  STEP(ISO_OP_GEMM, "nn", odd),
    STEP(ISO_OP_GEMM, "nn", largest),
};

static const iso_dtype types[] = {ISO_F32, ISO_F64, ISO_F16, ISO_BF16};
enum { TYPES = sizeof types / sizeof types[0], OPS = 2 };
static const iso_op_kind kinds[OPS] = {ISO_OP_GEMM, ISO_OP_GEMV};
static const char *const kind_names[OPS] = {"gemm", "gemv"};

/* ---- adding ---------------------------------------------------------------------------------- */

/* The number of a layout; -1: the operation has none of that name. */
static int32_t layout_of(iso_op_kind op, const char *name)
{
    for (int32_t l = 0; l < 4; l++) {
        const char *known = tuned_layout_name(op, l);
        if (known && strcmp(known, name) == 0) {
            return l;
        }
    }
    return -1;
}

/* Adds one shape to the batch that is being made; a second one that is equal makes no difference.
 * False: there is no room. */
static bool add(tune_grid *grid, iso_op_kind op, iso_dtype dtype, int32_t layout, const size *of)
{
    const tuned_shape shape = {
        .op = op, .dtype = dtype, .layout = layout, .sizes = {of->m, of->n, of->k, of->batch}};
    for (int32_t i = 0; i < grid->count; i++) {
        const tuned_row a = {.shape = grid->shapes[i]}, b = {.shape = shape};
        if (tuned_compare(&a, &b) == 0) {
            return true;
        }
    }
    if (grid->count == TUNE_PROBLEMS) {
        return false;
    }
    grid->shapes[grid->count++] = shape;
    grid->batches[grid->batch_count].count++;
    return true;
}

static void end_batch(tune_grid *grid)
{
    if (grid->batches[grid->batch_count].count > 0) {
        grid->batch_count++;
        grid->batches[grid->batch_count] = (tune_batch){.first = grid->count};
    }
}

/* ---- what is asked for ----------------------------------------------------------------------- */

typedef struct chosen {
    tool_words ops, types, layouts, sizes;
} chosen;

static int read_words(const tune_choice *choice, chosen *out)
{
    tool_names known_ops = {.count = 0}, known_types = {.count = 0}, known_layouts = {.count = 0};
    if (!tool_split(choice->op, &out->ops) || !tool_split(choice->dtype, &out->types) ||
        !tool_split(choice->layout, &out->layouts) || !tool_split(choice->size, &out->sizes)) {
        tool_no_memory("the command line");
    }
    for (int i = 0; i < OPS; i++) {
        tool_names_add(&known_ops, kind_names[i]);
        for (int32_t l = 0; l < 4; l++) {
            tool_names_add(&known_layouts, tuned_layout_name(kinds[i], l));
        }
    }
    for (int i = 0; i < TYPES; i++) {
        tool_names_add(&known_types, iso_dtype_name(types[i]));
    }
    int code = tool_words_check("op", &out->ops, &known_ops);
    code = code == TOOL_OK ? tool_words_check("dtype", &out->types, &known_types) : code;
    return code == TOOL_OK ? tool_words_check("layout", &out->layouts, &known_layouts) : code;
}

static bool wants(const tool_words *words, const char *word)
{
    return words->count == 0 || tool_words_have(words, word);
}

/* Adds the sizes in these layouts, of those that are asked for. */
static bool add_step(tune_grid *grid, const chosen *c, const step *of, iso_dtype dtype)
{
    tool_words layouts = {0};
    bool room = true;
    if (!tool_split(of->layouts, &layouts)) {
        tool_no_memory("the shapes");
    }
    for (int l = 0; l < layouts.count; l++) {
        for (int32_t s = 0; s < of->count && wants(&c->layouts, layouts.items[l]); s++) {
            room = room &&
                   add(grid, of->op, dtype, layout_of(of->op, layouts.items[l]), &of->sizes[s]);
        }
    }
    tool_words_free(&layouts);
    return room;
}

static bool is_chosen(const chosen *c, iso_op_kind op)
{
    for (int i = 0; i < OPS; i++) {
        if (kinds[i] == op) {
            return wants(&c->ops, kind_names[i]);
        }
    }
    return false;
}

/* Whether a table and a host's memory can have such a product: the bytes of all operands can be
 * counted. */
static bool is_possible(const size *of)
{
    const int64_t sizes[] = {of->m, of->n, of->k, of->batch};
    const int64_t operands[][2] = {{of->m, of->k}, {of->k, of->n}, {of->m, of->n}};
    bool possible = true;
    for (int i = 0; i < TUNED_SIZES; i++) {
        possible = possible && sizes[i] >= 1 && sizes[i] <= TUNED_SIZE_MOST;
    }
    for (int i = 0; i < 3 && possible; i++) {
        int64_t bytes;
        possible = !__builtin_mul_overflow(operands[i][0], operands[i][1], &bytes) &&
                   !__builtin_mul_overflow(bytes, of->batch, &bytes) &&
                   bytes <= INT64_MAX / (4 * (int64_t)sizeof(double));
    }
    return possible;
}

/* Reads a size of --size: N, MxN or MxNxK, and after a * the batch. A product with a vector takes
 * two numbers, m and k, and a product of matrices one or three. */
static bool read_size(const char *word, iso_op_kind op, size *out)
{
    char text[64];
    bench_size read;
    snprintf(text, sizeof text, "%s", word);
    char *star = strchr(text, '*'), *end = NULL;
    out->batch = 1;
    if (star) {
        *star = '\0';
        out->batch = strtoll(star + 1, &end, 10);
    }
    if (strlen(word) >= sizeof text || (star && (star[1] < '1' || star[1] > '9' || *end != '\0')) ||
        !work_size_parse(text, &read) || read.beyond_cache || read.count == 0) {
        return false;
    }
    const bool vector = op == ISO_OP_GEMV;
    out->m = read.of[0];
    out->n = vector ? 1 : read.of[read.count > 1];
    out->k = read.of[vector ? read.count > 1 : read.count - 1];
    return (vector ? read.count <= 2 : read.count != 2) && is_possible(out);
}

/* Every size must be one of an operation that is chosen. */
static int check_sizes(const chosen *c)
{
    for (int i = 0; i < c->sizes.count; i++) {
        bool fits = false;
        size of;
        for (int o = 0; o < OPS; o++) {
            fits = fits || (is_chosen(c, kinds[o]) && read_size(c->sizes.items[i], kinds[o], &of));
        }
        if (!fits) {
            return tool_error(TOOL_USAGE,
                              "--size: \"%s\" is no size of these operations: use N or MxNxK for "
                              "gemm, N or MxK for gemv, and *BATCH after it; numbers from 1 to "
                              "%lld, and operands that can be addressed",
                              c->sizes.items[i], (long long)TUNED_SIZE_MOST);
        }
    }
    return TOOL_OK;
}

/* One batch for each operation and type. */
static int add_sizes(tune_grid *grid, const chosen *c)
{
    int code = check_sizes(c);
    for (int o = 0; o < OPS && code == TOOL_OK; o++) {
        const char *layouts = kinds[o] == ISO_OP_GEMV ? "n,t"
                              : c->layouts.count > 0  ? "nn,nt,tn,tt"
                                                      : "nn";
        for (int t = 0; t < TYPES && is_chosen(c, kinds[o]); t++) {
            const bool wanted = wants(&c->types, iso_dtype_name(types[t]));
            for (int i = 0; i < c->sizes.count && wanted && code == TOOL_OK; i++) {
                size of;
                const step one = {kinds[o], layouts, &of, 1};
                if (read_size(c->sizes.items[i], kinds[o], &of) &&
                    !add_step(grid, c, &one, types[t])) {
                    code = tool_error(TOOL_USAGE, "these are more than %d shapes", TUNE_PROBLEMS);
                }
            }
            end_batch(grid);
        }
    }
    return code;
}

int tune_grid_make(const tune_choice *choice, tune_grid *out)
{
    chosen c = {.ops.count = 0};
    memset(out, 0, sizeof *out);
    int code = read_words(choice, &c);
    if (code == TOOL_OK && choice->size) {
        code = add_sizes(out, &c);
    }
    for (size_t s = 0; code == TOOL_OK && !choice->size && s < sizeof usual / sizeof usual[0];
         s++) {
        for (int t = 0; t < TYPES; t++) {
            if (is_chosen(&c, usual[s].op) && wants(&c.types, iso_dtype_name(types[t])) &&
                !add_step(out, &c, &usual[s], types[t])) {
                code = tool_error(TOOL_INTERNAL, "the grid has too many shapes");
            }
            end_batch(out);
        }
    }
    if (code == TOOL_OK && out->count == 0) {
        code = tool_error(TOOL_USAGE, "these words choose no shape");
    }
    tool_words_free(&c.ops);
    tool_words_free(&c.types);
    tool_words_free(&c.layouts);
    tool_words_free(&c.sizes);
    return code;
}

/* ---- what is left ---------------------------------------------------------------------------- */

static bool has(const tuned_table *table, const tuned_shape *shape)
{
    const tuned_row row = {.shape = *shape};
    return table &&
           bsearch(&row, table->rows, (size_t)table->count, sizeof table->rows[0], tuned_compare);
}

int32_t tune_grid_rest(tune_grid *grid, const tuned_table *table)
{
    tune_grid *rest = tool_alloc(1, sizeof *rest, "the shapes");
    for (int32_t b = 0; b < grid->batch_count; b++) {
        for (int32_t i = 0; i < grid->batches[b].count; i++) {
            const tuned_shape *shape = &grid->shapes[grid->batches[b].first + i];
            if (!has(table, shape)) {
                rest->shapes[rest->count++] = *shape;
                rest->batches[rest->batch_count].count++;
            }
        }
        end_batch(rest);
    }
    *grid = *rest;
    free(rest);
    return grid->count;
}

void tune_shape_text(const tuned_shape *shape, char *text, size_t room)
{
    const int64_t *s = shape->sizes;
    const bool vector = shape->op == ISO_OP_GEMV;
    char of[96], batch[32] = "";
    if (vector) {
        snprintf(of, sizeof of, "%lldx%lld", (long long)s[0], (long long)s[2]);
    } else {
        snprintf(of, sizeof of, "%lldx%lldx%lld", (long long)s[0], (long long)s[1],
                 (long long)s[2]);
    }
    if (s[3] > 1) {
        snprintf(batch, sizeof batch, "*%lld", (long long)s[3]);
    }
    snprintf(text, room, "%s %s %s %s%s", vector ? "gemv" : "gemm", iso_dtype_name(shape->dtype),
             tuned_layout_name(shape->op, shape->layout), of, batch);
}
