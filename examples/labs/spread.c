/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - the blocks of a sparse matrix on ranks, and products with them. */
#include "spread.h"
#include "lab.h"

/* ---- Blocks: on the host, in compressed rows ------------------------------------------------- */

typedef struct block {
    int64_t rows, cols, entries;
    int32_t *offsets, *columns;
    void *values;
} block;

static void block_free(block *b)
{
    free(b->offsets);
    free(b->columns);
    free(b->values);
}

static iso_status block_alloc(block *b, iso_dtype dtype)
{
    b->offsets = calloc((size_t)b->rows + 1, sizeof *b->offsets);
    b->columns = malloc((size_t)b->entries * sizeof *b->columns + 1);
    b->values = malloc((size_t)(b->entries * iso_dtype_size(dtype)) + 1);
    return b->offsets && b->columns && b->values ? ISO_OK : ISO_NO_MEMORY;
}

/* Rows `first` up to `end` of A. */
static iso_status take_rows(const ridge_input *in, iso_dtype dtype, int64_t first, int64_t end,
                            block *b)
{
    const int32_t from = in->offsets[first];
    *b = (block){.rows = end - first, .cols = in->cols, .entries = in->offsets[end] - from};
    const iso_status status = block_alloc(b, dtype);

    for (int64_t i = 0; !status && i <= b->rows; i++) {
        b->offsets[i] = in->offsets[first + i] - from;
    }
    for (int64_t e = 0; !status && e < b->entries; e++) {
        b->columns[e] = in->columns[from + e];
        lab_set(b->values, dtype, e, (double)in->values[from + e]);
    }
    return status;
}

/* Columns `first` up to `end` of A, as rows of A'. The entries of each are in the order of A's
 * rows, as in the transposed copy of one device: it is the order in which they are added. */
static iso_status take_columns(const ridge_input *in, iso_dtype dtype, int64_t first, int64_t end,
                               block *b)
{
    *b = (block){.rows = end - first, .cols = in->rows};
    for (int64_t e = 0; e < in->entries; e++) {
        b->entries += in->columns[e] >= first && in->columns[e] < end;
    }
    const iso_status status = block_alloc(b, dtype);
    int32_t *next = status ? NULL : calloc((size_t)b->rows + 1, sizeof *next);

    if (!next) {
        return status ? status : ISO_NO_MEMORY;
    }
    for (int64_t e = 0; e < in->entries; e++) {
        if (in->columns[e] >= first && in->columns[e] < end) {
            b->offsets[in->columns[e] - first + 1]++;
        }
    }
    for (int64_t i = 0; i < b->rows; i++) {
        b->offsets[i + 1] += b->offsets[i];
        next[i] = b->offsets[i];
    }
    for (int64_t i = 0; i < in->rows; i++) {
        for (int32_t e = in->offsets[i]; e < in->offsets[i + 1]; e++) {
            if (in->columns[e] >= first && in->columns[e] < end) {
                const int32_t to = next[in->columns[e] - first]++;
                b->columns[to] = (int32_t)i;
                lab_set(b->values, dtype, to, (double)in->values[e]);
            }
        }
    }
    free(next);
    return ISO_OK;
}

/* ---- On the device --------------------------------------------------------------------------- */

static iso_status make_half(iso_device device, spread *s, const ridge_input *in, int half)
{
    const int64_t count = half == 0 ? in->rows : in->cols;
    const int64_t each = (count + s->ranks - 1) / s->ranks, start = s->rank * each;
    const int64_t first = start < count ? start : count;
    const int64_t end = first + each < count ? first + each : count;
    iso_sparse_args args = ISO_SPARSE_ARGS_INIT;
    block b = {0};
    iso_status status = half == 0 ? take_rows(in, s->dtype, first, end, &b)
                                  : take_columns(in, s->dtype, first, end, &b);

    s->halves[half].count = count;
    s->halves[half].each = each;
    args.dtype = s->dtype;
    args.index = ISO_I32;
    args.flags = ISO_SPARSE_NO_TRANSPOSE;
    args.rows = b.rows;
    args.cols = b.cols;
    args.entries = b.entries;
    args.offsets = b.offsets;
    args.columns = b.columns;
    args.values = b.values;
    status = status ? status : iso_sparse_create(device, &args, &s->halves[half].block);
    block_free(&b);
    return status;
}

iso_status spread_create(iso_device device, iso_comm comm, const ridge_input *input,
                         iso_dtype dtype, spread *out)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    iso_status status = iso_comm_get_info(comm, &info);

    *out = (spread){.comm = comm, .rank = info.rank, .ranks = info.ranks, .dtype = dtype};
    for (int half = 0; !status && half < 2; half++) {
        status = make_half(device, out, input, half);
    }
    if (status) {
        spread_destroy(out);
    }
    return status;
}

void spread_destroy(spread *s)
{
    for (int half = 0; half < 2; half++) {
        if (s->halves[half].block.id) {
            (void)iso_sparse_destroy(s->halves[half].block);
            s->halves[half].block.id = 0;
        }
    }
}

/* This rank's elements of the product, in their place; then those of all ranks. */
static iso_status multiply(void *user, iso_stream stream, iso_trans trans, iso_variant variant,
                           iso_operand x, iso_operand y)
{
    const spread *s = user;
    const int half = trans == ISO_TRANS;
    const int64_t each = s->halves[half].each;
    iso_spmv_args product = ISO_SPMV_ARGS_INIT;
    iso_comm_args gather = ISO_COMM_ARGS_INIT;

    product.variant = variant;
    product.matrix = s->halves[half].block;
    product.x = x;
    product.y = y;
    product.y.offset += s->rank * each * iso_dtype_size(s->dtype);
    gather.op = ISO_COMM_ALL_GATHER;
    gather.dtype = s->dtype;
    gather.count = each;
    gather.from = product.y;
    gather.to = y;
    const iso_status status = iso_spmv(stream, &product);
    return status ? status : iso_comm_run(s->comm, stream, &gather);
}

lsmr_matrix spread_matrix(spread *s)
{
    const int64_t rows = s->halves[0].each * s->ranks, cols = s->halves[1].each * s->ranks;
    return (lsmr_matrix){.dtype = s->dtype,
                         .rows = s->halves[0].count,
                         .cols = s->halves[1].count,
                         .room = rows > cols ? rows : cols,
                         .multiply = multiply,
                         .user = s};
}
