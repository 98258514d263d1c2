/* SPDX-License-Identifier: Apache-2.0 */
/* core_spmv.c - iso_spmv against the definition of its bits, written out here, on random matrices.
 * Takes the number of matrices and the devices to try; skips if none of them is there. */
#include <isomer/isomer.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, SEGMENT = 4096, ENTRIES_MAX = 60000, SIZE_MAX_HERE = 65537, GUARD = 64 };

typedef struct problem {
    iso_dtype dtype, index;
    iso_trans trans;
    uint32_t flags;
    int64_t rows, cols, entries, x_at, y_at;
    double alpha, beta;
} problem;

static struct {
    int64_t offsets[SIZE_MAX_HERE + 1], columns[ENTRIES_MAX];
    double values[ENTRIES_MAX], x[SIZE_MAX_HERE], y[SIZE_MAX_HERE];
    int64_t order[ENTRIES_MAX], begins[SIZE_MAX_HERE + 1]; /* of the rows that are multiplied */
} at;

static uint64_t random_state = 1;
static int failures, compared;

static uint64_t next(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static void must(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}

/* A value of both types; sometimes -0, tiny or large. */
static double value(void)
{
    const double u = (double)((int64_t)next(1u << 24) - (1 << 23)) / (1 << 23);

    switch (next(12)) {
    case 0:
        return -0.0;
    case 1:
        return u * 0x1p-126;
    case 2:
        return u * 0x1p60;
    default:
        return u;
    }
}

/* ---- the definition -------------------------------------------------------------------------- */

/* The rows of op(A): their entries in order. */
static void order_entries(const problem *p)
{
    int64_t out = 0;

    if (!p->trans) {
        memcpy(at.begins, at.offsets, (size_t)(p->rows + 1) * sizeof *at.begins);
        for (int64_t i = 0; i < p->entries; i++) {
            at.order[i] = i;
        }
        return;
    }
    memset(at.begins, 0, (size_t)(p->cols + 1) * sizeof *at.begins);
    for (int64_t i = 0; i < p->entries; i++) {
        at.begins[at.columns[i] + 1]++;
    }
    for (int64_t c = 0; c < p->cols; c++) {
        at.begins[c + 1] += at.begins[c];
    }
    for (int64_t i = 0; i < p->entries; i++) {
        out = at.begins[at.columns[i]]++;
        at.order[out] = i;
    }
    memmove(at.begins + 1, at.begins, (size_t)p->cols * sizeof *at.begins);
    at.begins[0] = 0;
}

static int64_t row_of(const problem *p, int64_t entry)
{
    int64_t low = 0, high = p->rows;

    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;

        *(at.offsets[middle] <= entry ? &low : &high) = middle;
    }
    return low;
}

static double step(const problem *p, int64_t i, double sum)
{
    const int64_t entry = at.order[i];
    const double a = at.values[entry];
    const double x = at.x[p->trans ? row_of(p, entry) : at.columns[entry]];

    return p->dtype == ISO_F32 ? (double)fmaf((float)a, (float)x, (float)sum) : fma(a, x, sum);
}

static double add(const problem *p, double a, double b)
{
    return p->dtype == ISO_F32 ? (double)((float)a + (float)b) : a + b;
}

static double segment(const problem *p, int64_t from, int64_t count)
{
    double lanes[LANES] = {0};

    for (int64_t i = 0; i < count; i++) {
        lanes[i % LANES] = step(p, from + i, lanes[i % LANES]);
    }
    for (int half = LANES / 2; half; half /= 2) {
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] = add(p, lanes[lane], lanes[lane + half]);
        }
    }
    return lanes[0];
}

static double sum_of(const problem *p, int64_t row, iso_variant variant)
{
    const int64_t from = at.begins[row], end = at.begins[row + 1];
    double sum = 0;

    if (variant == ISO_VARIANT_NAIVE) {
        for (int64_t i = from; i < end; i++) {
            sum = step(p, i, sum);
        }
        return sum;
    }
    for (int64_t i = from; i < end; i += SEGMENT) {
        const double one = segment(p, i, end - i < SEGMENT ? end - i : SEGMENT);

        sum = i == from ? one : add(p, sum, one);
    }
    return sum;
}

static double expected(const problem *p, int64_t row, iso_variant variant)
{
    const double sum = p->alpha == 0 ? 0.0 : sum_of(p, row, variant);

    if (p->dtype == ISO_F64) {
        return p->beta == 0 ? p->alpha * sum : fma(p->alpha, sum, p->beta * at.y[row]);
    }
    const float alpha = (float)p->alpha, beta = (float)p->beta;
    return beta == 0 ? alpha * (float)sum : fmaf(alpha, (float)sum, beta * (float)at.y[row]);
}

/* ---- random matrices ------------------------------------------------------------------------- */

static int64_t length(const problem *p, int kind)
{
    switch (kind) {
    case 0: /* short rows, some empty */
        return (int64_t)next(8);
    case 1: /* none but one */
        return 0;
    case 2: /* around the lanes and segments */
        return (int64_t)(next(3) * 32 + next(3)) + (next(6) ? 0 : SEGMENT - 1);
    default:
        return p->cols ? (int64_t)next((uint64_t)p->cols * 2 + 1) : 0;
    }
}

static problem draw(void)
{
    static const int64_t sizes[] = {
        0,  1,   1,   2,    3,    7,     31,    33,
        64, 100, 300, 1000, 5000, 20000, 65536, 65537}; /* columns of 16 bits, and of more */
    static const double factors[] = {0.0, 1.0, -1.0, 0.7};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    const int kind = (int)next(4);
    problem p = {.dtype = next(2) ? ISO_F32 : ISO_F64,
                 .index = next(2) ? ISO_I32 : ISO_I64,
                 .trans = (iso_trans)next(2),
                 .flags = next(2) ? ISO_SPARSE_KEEP_INDEX : 0,
                 .rows = sizes[next(SIZES)],
                 .cols = sizes[next(SIZES)],
                 .x_at = (int64_t)next(4),
                 .y_at = (int64_t)next(4),
                 .alpha = factors[next(9) ? 1 + next(3) : 0],
                 .beta = factors[next(4)]};
    int64_t longest = p.rows ? (int64_t)next((uint64_t)p.rows) : 0;

    for (int64_t row = 0; row < p.rows; row++) {
        int64_t left = ENTRIES_MAX - p.entries, count = p.cols ? length(&p, kind) : 0;

        if (p.cols && row == longest && next(2)) {
            count = (int64_t)next(4 * SEGMENT);
        }
        count = count < left ? count : left;
        at.offsets[row] = p.entries;
        for (int64_t i = 0; i < count; i++) {
            at.columns[p.entries + i] = (int64_t)next((uint64_t)p.cols);
        }
        p.entries += count;
    }
    at.offsets[p.rows] = p.entries;
    for (int64_t i = 0; i < p.entries; i += 1 + (int64_t)next(8)) {
        at.columns[i] = p.cols - 1; /* the one that does not fit if too few bits are kept */
    }
    for (int64_t i = 0; i < p.entries; i++) {
        at.values[i] = value();
    }
    for (int64_t i = 0; i < SIZE_MAX_HERE; i++) {
        at.x[i] = value();
        at.y[i] = value();
    }
    return p;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The numbers as the type, in memory of their own. */
static void *as(iso_dtype dtype, const void *from, int64_t count)
{
    const bool floats = dtype == ISO_F32 || dtype == ISO_F64;
    void *to = malloc((size_t)count * 8 + 8);

    if (!to) {
        exit(1);
    }
    for (int64_t i = 0; i < count; i++) {
        const double number = floats ? ((const double *)from)[i] : 0;
        const int64_t whole = floats ? 0 : ((const int64_t *)from)[i];

        if (dtype == ISO_F32) {
            ((float *)to)[i] = (float)number;
        } else if (dtype == ISO_F64) {
            ((double *)to)[i] = number;
        } else if (dtype == ISO_I32) {
            ((int32_t *)to)[i] = (int32_t)whole;
        } else {
            ((int64_t *)to)[i] = whole;
        }
    }
    return to;
}

static iso_sparse make(iso_device device, const problem *p)
{
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    void *offsets = as(p->index, at.offsets, p->rows + 1);
    void *columns = as(p->index, at.columns, p->entries);
    void *values = as(p->dtype, at.values, p->entries);
    iso_sparse sparse;

    args.dtype = p->dtype;
    args.index = p->index;
    args.flags = p->flags;
    args.rows = p->rows;
    args.cols = p->cols;
    args.entries = p->entries;
    args.offsets = offsets;
    args.columns = columns;
    args.values = values;
    must(iso_sparse_create(device, &args, &sparse), "iso_sparse_create");
    free(offsets);
    free(columns);
    free(values);
    return sparse;
}

static void differ(const char *spec, const problem *p, iso_variant variant, int64_t row,
                   const char *what)
{
    failures++;
    fprintf(stderr,
            "%s %s %s %s trans %d %lldx%lld entries %lld flags %u alpha %g beta %g: row %lld: %s\n",
            spec, iso_variant_name(variant), iso_dtype_name(p->dtype), iso_dtype_name(p->index),
            (int)p->trans, (long long)p->rows, (long long)p->cols, (long long)p->entries, p->flags,
            p->alpha, p->beta, (long long)row, what);
}

/* Whether an element of the result has the bits of the expected one; any NaN is a NaN. */
static bool same(iso_dtype dtype, const char *got, double want)
{
    const float narrow = (float)want;
    double wide;
    float single;

    if (dtype == ISO_F32) {
        memcpy(&single, got, sizeof single);
        return isnan(narrow) ? isnan(single) : !memcmp(got, &narrow, sizeof narrow);
    }
    memcpy(&wide, got, sizeof wide);
    return isnan(want) ? isnan(wide) : !memcmp(got, &want, sizeof want);
}

typedef struct session {
    const char *spec;
    iso_device device;
    iso_stream stream;
    iso_buffer x, y;
} session;

static void compare(const session *s, const problem *p, iso_sparse sparse, iso_variant variant)
{
    static char got[8 * (SIZE_MAX_HERE + GUARD)];
    const int64_t size = iso_dtype_size(p->dtype), rows = p->trans ? p->cols : p->rows;
    const int64_t cols = p->trans ? p->rows : p->cols;
    const uint8_t mark = 0xa5;
    void *x = as(p->dtype, at.x, cols), *y = as(p->dtype, at.y, rows);
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;

    args.variant = variant;
    args.trans = p->trans;
    args.matrix = sparse;
    args.alpha = p->alpha;
    args.beta = p->beta;
    args.x = (iso_operand){s->x, p->x_at * size};
    args.y = (iso_operand){s->y, p->y_at * size};
    must(iso_fill(s->stream, (iso_operand){s->y, 0}, &mark, 1, (int64_t)sizeof got), "iso_fill");
    must(iso_write(s->stream, args.x, x, cols * size), "iso_write");
    if (p->beta != 0) {
        must(iso_write(s->stream, args.y, y, rows * size), "iso_write");
    }
    must(iso_spmv(s->stream, &args), "iso_spmv");
    must(iso_read(s->stream, got, (iso_operand){s->y, 0}, (int64_t)sizeof got), "iso_read");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
    compared++;
    for (int64_t row = 0; row < rows; row++) {
        if (!same(p->dtype, got + (p->y_at + row) * size, expected(p, row, variant))) {
            differ(s->spec, p, variant, row, "other bits");
            break;
        }
    }
    for (int64_t i = 0; i < GUARD; i++) {
        const int64_t behind = (p->y_at + rows) * size + i;

        if ((i < p->y_at * size && (uint8_t)got[i] != mark) || (uint8_t)got[behind] != mark) {
            differ(s->spec, p, variant, rows, "a byte beside y was written");
            break;
        }
    }
    free(x);
    free(y);
}

static bool try_device(const char *spec, int count)
{
    const int64_t bytes = 8 * (SIZE_MAX_HERE + GUARD);
    session s = {.spec = spec};

    if (iso_device_open(spec, &s.device)) {
        fprintf(stderr, "%s: %s\n", spec, iso_last_error());
        return false;
    }
    random_state = 1;
    must(iso_stream_create(s.device, 0, &s.stream), "iso_stream_create");
    must(iso_buffer_create(s.device, bytes, &s.x), "iso_buffer_create");
    must(iso_buffer_create(s.device, bytes, &s.y), "iso_buffer_create");
    for (int i = 0; i < count; i++) {
        const problem p = draw();
        const iso_sparse sparse = make(s.device, &p);

        order_entries(&p);
        compare(&s, &p, sparse, ISO_VARIANT_NAIVE);
        compare(&s, &p, sparse, ISO_VARIANT_TILED);
        must(iso_sparse_destroy(sparse), "iso_sparse_destroy");
    }
    must(iso_device_close(s.device), "iso_device_close");
    return true;
}

int main(int argc, char **argv)
{
    int devices = 0;

    for (int i = 2; i < argc; i++) {
        devices += try_device(argv[i], atoi(argv[1]));
    }
    printf("%d compared, %d differ\n", compared, failures);
    return failures ? 1 : devices ? 0 : 77;
}
