/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - the row of products of a sparse matrix and a vector. The matrix is an object of the
 * device, which the case's shape and seed define; the input is x. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

arith_sparse_shape bench_sparse_shape(const bench_case *item)
{
    const spmv_shape *s = &item->spmv;
    return (arith_sparse_shape){.rows = s->rows,
                                .cols = s->cols,
                                .per_row = s->per_row,
                                .form = s->form,
                                .seed = item->seed};
}

/* The length of x, and of y. */
static int64_t of_x(const spmv_shape *s)
{
    return s->trans == ISO_TRANS ? s->rows : s->cols;
}

static int64_t of_y(const spmv_shape *s)
{
    return s->rows + s->cols - of_x(s);
}

static void needs(const bench_case *item, bench_needs *out)
{
    out->inputs = 1;
    out->bytes[0] = of_x(&item->spmv) * item->element;
    out->results = of_y(&item->spmv);
    out->result_type = item->dtype;
}

static bool has_bits(const bench_case *item)
{
    return item->how == ISO_VARIANT_NAIVE || item->how == ISO_VARIANT_TILED;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    iso_spmv_args *args = &all->spmv;
    *args = (iso_spmv_args)ISO_SPMV_ARGS_INIT;
    args->variant = item->how;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    args->trans = item->spmv.trans;
    args->alpha = item->spmv.alpha;
    args->beta = item->spmv.beta;
    return ISO_OP_SPMV;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->spmv.x = inputs[0];
    args->spmv.y = result;
}

static bool other_factors(bench_args *args, int i)
{
    bench_args product;
    if (!bench_gemm.other_factors(&product, i)) {
        return false;
    }
    args->spmv.alpha = product.gemm.alpha;
    args->spmv.beta = product.gemm.beta;
    return true;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static int64_t matrix_bytes(const bench_case *item)
{
    const arith_sparse_shape shape = bench_sparse_shape(item);
    const int64_t entries = arith_sparse_entries(&shape);
    const int64_t number = iso_dtype_size(item->spmv.index);
    const int64_t sides = item->spmv.trans == ISO_TRANS ? 2 : 1;
    const int64_t narrow = sizeof(uint16_t); /* columns once more, if there are not too many */
    return sides *
           (entries * (item->element + number + narrow) + (shape.rows + shape.cols) * number);
}

/* The numbers as i32, in place. */
static void narrow(int64_t *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t number = (int32_t)numbers[i];
        memcpy((char *)numbers + i * (int64_t)sizeof number, &number, sizeof number);
    }
}

static iso_status make_matrix(const bench_case *item, iso_device device, uint64_t *id)
{
    const arith_sparse_shape shape = bench_sparse_shape(item);
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    arith_sparse made;
    iso_sparse sparse = {0};
    if (!arith_sparse_make(&shape, item->dtype, item->fill, &made)) {
        return ISO_NO_MEMORY;
    }
    args.dtype = item->dtype;
    args.index = item->spmv.index;
    args.flags = ISO_SPARSE_KEEP_INDEX;
    if (item->spmv.trans == ISO_NO_TRANS) {
        args.flags |= ISO_SPARSE_NO_TRANSPOSE;
    }
    args.rows = made.rows;
    args.cols = made.cols;
    args.entries = made.entries;
    args.offsets = made.offsets;
    args.columns = made.columns;
    args.values = made.values;
    if (args.index == ISO_I32) {
        narrow(made.offsets, made.rows + 1);
        narrow(made.columns, made.entries);
    }
    iso_status status = iso_sparse_create(device, &args, &sparse);
    arith_sparse_free(&made);
    *id = sparse.id;
    return status;
}

static void set_matrix(bench_args *args, uint64_t id)
{
    args->spmv.matrix.id = id;
}

static void drop_matrix(uint64_t id)
{
    iso_sparse_destroy((iso_sparse){id});
}

/* As op.h defines it. */
static void cost(const bench_case *item, iso_cost_info *out)
{
    const spmv_shape *s = &item->spmv;
    const arith_sparse_shape shape = bench_sparse_shape(item);
    const double entries = (double)arith_sparse_entries(&shape), size = (double)item->element;
    const double number = (double)iso_dtype_size(s->index), y = (double)of_y(s);
    const int64_t most = 1 << 16; /* columns whose numbers are kept as u16 too */
    const double column =
        s->index == ISO_I32 && of_x(s) <= most ? (double)sizeof(uint16_t) : number;
    out->flops = 2 * entries;
    out->bytes_read = entries * (size + column) + (y + 1) * number + (double)of_x(s) * size;
    out->bytes_written = y * size;
}

static const bench_object matrix = {.bytes = matrix_bytes,
                                    .make = make_matrix,
                                    .set = set_matrix,
                                    .drop = drop_matrix,
                                    .cost = cost};

/* ---- measured cases -------------------------------------------------------------------------- */

static void set_layout(bench_case *item, const char *layout)
{
    item->spmv.trans = layout[0] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

/* Without a third number, a tenth of the elements are entries. */
static void set_size(bench_case *item, const bench_size *size)
{
    spmv_shape *s = &item->spmv;
    s->rows = size->of[0];
    s->cols = size->count > 1 ? size->of[1] : size->of[0];
    s->per_row = size->count > 2 ? size->of[2] : (s->cols + 9) / 10;
    s->form = ARITH_EVEN;
    s->index = (double)s->rows * (double)s->per_row > INT32_MAX ? ISO_I64 : ISO_I32;
    s->alpha = 1;
    s->beta = 0;
}

static void shape(const bench_case *item, bench_shape *out)
{
    const spmv_shape *s = &item->spmv;
    *out = (bench_shape){.names = {"rows", "cols", "per_row"},
                         .sizes = {s->rows, s->cols, s->per_row},
                         .count = 3,
                         .elements = (double)s->rows * (double)s->per_row,
                         .layout = {{"trans_a", iso_trans_name(s->trans)}}};
    snprintf(out->form, sizeof out->form, "/%s", iso_trans_name(s->trans));
}

/* ---- conformance cases ----------------------------------------------------------------------- */

static bool lay(const bench_case *item, verify_problem *p)
{
    const spmv_shape *s = &item->spmv;
    const int64_t count = of_y(s);
    verify_region x = {.element = item->element,
                       .rows = 1,
                       .cols = of_x(s),
                       .batch = 1,
                       .offset = s->offset,
                       .ones = true};
    verify_region y = x;
    y.cols = count;
    y.ones = false;
    char *before = verify_grow(&p->dense[2], count * item->element);
    if (!before || !verify_region_lay(&p->regions[0], &x) ||
        !verify_region_lay(&p->regions[2], &y)) {
        return false;
    }
    arith_generate(item->dtype, item->fill, item->seed + 3, count, before);
    /* If beta is 0, y is not read, so these NaN must not reach the result. */
    for (int64_t i = 0; s->beta == 0 && i < count; i++) {
        arith_set_nan(item->dtype, before + i * item->element);
    }
    verify_region_scatter(&p->regions[2], before);
    return true;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const spmv_shape *s = &item->spmv;
    tool_set_int(sizes, "rows", s->rows);
    tool_set_int(sizes, "cols", s->cols);
    tool_set_int(sizes, "per_row", s->per_row);
    tool_set_text(layout, "trans_a", iso_trans_name(s->trans));
    tool_set_text(layout, "form", arith_form_name(s->form));
    tool_set_text(layout, "index", iso_dtype_name(s->index));
    tool_set_int(layout, "offset", s->offset);
    tool_set_number(layout, "alpha", s->alpha);
    tool_set_number(layout, "beta", s->beta);
}

/* ---- the conformance list -------------------------------------------------------------------- */

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};

static void add(verify_list *list, const bench_case *item)
{
    const spmv_shape *s = &item->spmv;
    char after[BENCH_ID_MAX - 16];
    snprintf(after, sizeof after, "%s/%s/%s/%lldx%lldx%lld/%s/off%d/a%gb%g/%s",
             iso_dtype_name(item->dtype), iso_dtype_name(s->index), iso_trans_name(s->trans),
             (long long)s->rows, (long long)s->cols, (long long)s->per_row,
             arith_form_name(s->form), s->offset, s->alpha, s->beta, arith_fill_name(item->fill));
    verify_list_add(list, item, variants, COUNT(variants), after);
}

static bench_case start(iso_dtype dtype, int turn, int64_t rows, int64_t cols, int64_t per_row)
{
    bench_case item = verify_case(&bench_spmv, dtype, "");
    item.spmv = (spmv_shape){.trans = turn & 1 ? ISO_TRANS : ISO_NO_TRANS,
                             .index = turn & 2 ? ISO_I64 : ISO_I32,
                             .form = ARITH_RANDOM,
                             .rows = rows,
                             .cols = cols,
                             .per_row = per_row,
                             .alpha = 1};
    return item;
}

/* All forms and sizes, with the factors and fills in turn. */
static void cover(verify_list *list, iso_dtype dtype, int rounds, int first)
{
    static const int64_t sizes[][3] = {{1, 1, 1},       {1, 300, 100},   {300, 1, 3},
                                       {33, 65, 4},     {100, 100, 10},  {64, 1000, 31},
                                       {257, 129, 33},  {20, 5000, 600}, {1000, 50, 2},
                                       {7, 9000, 4096}, {40, 40, 64},    {513, 3, 1}};
    static const double scalars[][2] = {{1, 0},   {1.5, -0.5}, {0, 1}, {-1, 1},
                                        {0.3, 0}, {1, 1},      {0, 0}};
    static const arith_fill fills[] = {ARITH_UNIFORM,   ARITH_INTS,  ARITH_NAN,
                                       ARITH_UNIFORM,   ARITH_INF,   ARITH_INTS,
                                       ARITH_SUBNORMAL, ARITH_ZEROS, ARITH_UNIFORM};
    static const int offsets[] = {0, 1, 0, 3, 16};
    for (int t = first; t < first + rounds; t++) {
        const int64_t *size = sizes[t % COUNT(sizes)];
        bench_case item = start(dtype, t / 3, size[0], size[1], size[2]);
        item.spmv.form = (arith_form)((t + t / 5) % 5);
        item.spmv.alpha = scalars[t % COUNT(scalars)][0];
        item.spmv.beta = scalars[t % COUNT(scalars)][1];
        item.spmv.offset = offsets[(t + t / 7) % COUNT(offsets)];
        item.fill = fills[(t * 3 + t / 11) % COUNT(fills)];
        add(list, &item);
    }
}

static void corners(verify_list *list, iso_dtype dtype)
{
    static const struct {
        int64_t size[3];
        arith_form form;
    } rows[] = {{{0, 5, 1}, ARITH_RANDOM}, {{5, 0, 1}, ARITH_RANDOM},  {{0, 0, 0}, ARITH_RANDOM},
                {{9, 9, 3}, ARITH_EMPTY},  {{50, 70, 5}, ARITH_LONG},  {{3, 70000, 8}, ARITH_LONG},
                {{8, 8, 4}, ARITH_HOLES},  {{200, 200, 2}, ARITH_LONG}};
    for (int i = 0; i < COUNT(rows); i++) {
        for (int turn = 0; turn < 4; turn++) {
            const int64_t *size = rows[i].size;
            bench_case item = start(dtype, turn, size[0], size[1], size[2]);
            item.spmv.form = rows[i].form;
            item.spmv.beta = (turn + i) % 2 ? -0.5 : 0;
            item.spmv.offset = turn % 2;
            item.fill = turn == 1 ? ARITH_INTS : ARITH_UNIFORM;
            add(list, &item);
        }
    }
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = ISO_F32; dtype <= ISO_F64; dtype++) {
        corners(list, dtype);
        cover(list, dtype, 24, (int)dtype * 7);
        if (full) {
            cover(list, dtype, 400, 100);
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const types[] = {"f32", "f64", NULL};
static const char *const layouts[] = {"n", "t", NULL};
static const char *const size_members[] = {"rows", "cols", "per_row", NULL};
static const char *const layout_members[] = {"trans_a", NULL};

const bench_op bench_spmv = {
    .name = "spmv",
    .measured = "spmv",
    .verified = "spmv",
    .title = "Products of sparse matrices",
    .size = "entries",
    .variants = bench_plain_variants,
    .types = types,
    .layouts = layouts,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "n",
    .counts = 1 << 1 | 1 << 2 | 1 << 3,
    .size_members = size_members,
    .layout_members = layout_members,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .object = &matrix,
    .check = check_spmv,
    .other_factors = other_factors,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .has_bits = has_bits,
    .cases = cases,
    .lay = lay,
    .describe = describe,
};
