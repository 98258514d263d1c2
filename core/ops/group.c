/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups of products: all are checked before any runs, and neighbours that are alike run
 * as one batch. */
#include "core/call.h"
#include "core/graph/graph.h"
#include "core/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the products of a group come from: an array of descriptors, or one descriptor and an array
 * of operands. */
typedef struct source {
    const char *call;
    const char *products; /* `bytes` apart */
    size_t bytes;
    const iso_gemm_member *members; /* NULL: none */
    int64_t count;
} source;

enum { LABEL = 64 };

static const char *label(const source *from, int64_t index, char *text)
{
    snprintf(text, LABEL, "%s: %s %lld", from->call, from->members ? "member" : "product",
             (long long)index);
    return text;
}

static iso_status get(const source *from, int64_t index, iso_gemm_args *out)
{
    char text[LABEL];
    const char *at = from->products + (from->members ? 0 : index * (int64_t)from->bytes);
    uint32_t size;
    iso_status status = core_struct_read(label(from, index, text), "args", at,
                                         offsetof(iso_gemm_args, alpha), out, sizeof *out);

    if (status) {
        return status;
    }
    memcpy(&size, at, sizeof size);
    if (size != from->bytes) {
        return core_fail(ISO_INVALID,
                         "%s: its size is %u and that of product 0 is %zu: use descriptors of one "
                         "size",
                         text, size, from->bytes);
    }
    out->size = (uint32_t)sizeof *out;
    if (from->members) {
        out->a = from->members[index].a;
        out->b = from->members[index].b;
        out->c = from->members[index].c;
        out->batch = 1;
    }
    return ISO_OK;
}

/* ---- neighbours that are alike --------------------------------------------------------------- */

/* The elements from one operand to the next; -1: they cannot be members of one batch. */
static int64_t distance(iso_operand from, iso_operand to, int64_t element)
{
    const int64_t bytes = to.offset - from.offset;

    return from.buffer.id == to.buffer.id && from.offset >= 0 && to.offset >= from.offset &&
                   bytes % element == 0
               ? bytes / element
               : -1;
}

/* Whether two descriptors differ in nothing but their operands. */
static bool is_alike(const iso_gemm_args *a, const iso_gemm_args *b)
{
    iso_gemm_args same = *b;

    same.a = a->a;
    same.b = a->b;
    same.c = a->c;
    return !memcmp(&same, a, sizeof same);
}

/* The elements that a C takes; INT64_MAX if that does not fit. */
static int64_t span_of(const iso_gemm_args *args)
{
    const bool column = args->order == ISO_COLUMN_MAJOR;
    const int64_t lines = column ? args->n : args->m, length = column ? args->m : args->n;
    int64_t span;

    return __builtin_mul_overflow(lines - 1, args->ldc ? args->ldc : length, &span) ||
                   __builtin_add_overflow(span, length, &span)
               ? INT64_MAX
               : span;
}

/* Makes a batch of as many products as can follow `first`, which is number `index`. Sets *taken. */
static iso_status merge(const source *from, int64_t index, iso_gemm_args *first, int64_t *taken)
{
    const int64_t element = iso_dtype_size(first->dtype);
    const int64_t element_c = iso_dtype_size(first->dtype_c           ? first->dtype_c
                                             : first->dtype == ISO_I8 ? ISO_I32
                                                                      : first->dtype);
    int64_t a = 0, b = 0, c = 0, count = 1;
    iso_gemm_args last = *first, next;
    iso_status status = ISO_OK;

    *taken = 1;
    if (first->batch > 1 || first->batch < 0 || !element || !element_c) {
        return ISO_OK;
    }
    while (index + count < from->count) {
        int64_t to_a, to_b, to_c;

        status = get(from, index + count, &next);
        if (status || !is_alike(&last, &next)) {
            break;
        }
        to_a = distance(last.a, next.a, element);
        to_b = distance(last.b, next.b, element);
        to_c = distance(last.c, next.c, element_c);
        if (to_a < 0 || to_b < 0 || to_c < span_of(first) ||
            (count > 1 && (to_a != a || to_b != b || to_c != c))) {
            break;
        }
        a = to_a;
        b = to_b;
        c = to_c;
        last = next;
        count++;
    }
    if (count > 1) {
        first->batch = count;
        first->stride_a = a;
        first->stride_b = b;
        first->stride_c = c;
    }
    *taken = count;
    return status;
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* The bytes of a buffer that a product uses. */
typedef struct range {
    const core_use *use;
    int64_t begin, end, product;
} range;

static int by_place(const void *a, const void *b)
{
    const range *x = a, *y = b;
    const uintptr_t in_x = (uintptr_t)x->use->buffer, in_y = (uintptr_t)y->use->buffer;

    return in_x != in_y           ? (in_x > in_y) - (in_x < in_y)
           : x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                  : (x->product > y->product) - (x->product < y->product);
}

static iso_status check_ranges(const char *call, const range *ranges, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const range *x = &ranges[i];

        for (int64_t j = i + 1;
             j < count && ranges[j].use->buffer == x->use->buffer && ranges[j].begin < x->end;
             j++) {
            const range *y = &ranges[j];

            if ((x->use->written || y->use->written) && x->product != y->product &&
                core_layouts_meet(x->begin, &x->use->layout, y->begin, &y->use->layout) !=
                    CORE_APART) {
                return core_fail(ISO_INVALID,
                                 "%s: %s of product %lld (offset %lld) overlaps %s of product %lld "
                                 "(offset %lld) in the same buffer: use several calls if one "
                                 "product needs the result of another",
                                 call, x->use->name, (long long)x->product, (long long)x->begin,
                                 y->use->name, (long long)y->product, (long long)y->begin);
            }
        }
    }
    return ISO_OK;
}

/* What one product writes, no other may read or write. `numbers` are the products' numbers. */
static iso_status check_apart(const char *call, const core_op *ops, const int64_t *numbers,
                              int64_t count)
{
    range *ranges = malloc((size_t)count * CORE_USES_MAX * sizeof *ranges);
    int64_t used = 0;
    iso_status status;

    if (!ranges) {
        return core_fail_no_memory(call, count * CORE_USES_MAX * (int64_t)sizeof *ranges);
    }
    for (int64_t i = 0; i < count; i++) {
        for (int u = 0; u < ops[i].use_count; u++) {
            const core_use *use = &ops[i].uses[u];

            if (use->layout.bytes) {
                ranges[used++] = (range){use, use->operand.offset,
                                         use->operand.offset + use->layout.bytes, numbers[i]};
            }
        }
    }
    qsort(ranges, (size_t)used, sizeof *ranges, by_place);
    status = check_ranges(call, ranges, used);
    free(ranges);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Opens the products; *opened is how many operations they became. */
static iso_status open_all(const source *from, core_stream *stream, core_op *ops, int64_t *numbers,
                           int64_t *opened)
{
    int64_t taken;
    iso_status status = ISO_OK;

    for (int64_t i = 0; i < from->count && !status; i += taken) {
        iso_gemm_args args;
        char text[LABEL];

        taken = 1;
        status = get(from, i, &args);
        if (!status) {
            status = merge(from, i, &args, &taken);
        }
        if (!status) {
            status = core_op_open(label(from, i, text), stream, ISO_OP_GEMM, &args, &ops[*opened]);
        }
        if (status &&
            taken > 1) { /* one by one, so that the text names the product that is wrong */
            taken = 1;
            status = get(from, i, &args);
            status =
                status ? status : core_op_open(text, stream, ISO_OP_GEMM, &args, &ops[*opened]);
        }
        if (!status) {
            numbers[(*opened)++] = i;
        }
    }
    return status;
}

static iso_status run(const source *from, core_stream *stream)
{
    const int64_t each = (int64_t)(sizeof(core_op) + sizeof(int64_t));
    core_op *ops = malloc((size_t)from->count * sizeof *ops);
    int64_t *numbers = malloc((size_t)from->count * sizeof *numbers), opened = 0;
    iso_status status = ops && numbers ? open_all(from, stream, ops, numbers, &opened)
                                       : core_fail_no_memory(from->call, from->count * each);

    if (!status) {
        status = check_apart(from->call, ops, numbers, opened);
    }
    if (!status) {
        status = core_op_run_all(from->call, stream, ops, opened);
    }
    for (int64_t i = 0; i < opened; i++) {
        core_op_close(&ops[i]);
    }
    free(ops);
    free(numbers);
    return status;
}

static iso_status run_group(source *from, iso_stream handle)
{
    enum { COUNT_MOST = 1 << 16 };
    CORE_HELD core_stream *stream = NULL;
    uint32_t size;
    iso_status status = core_handle_acquire(from->call, "stream", handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_check_size(from->call, "count", from->count);
    }
    if (!status && from->count > COUNT_MOST) {
        status = core_fail(ISO_INVALID, "%s: count is %lld: use at most %d for one call",
                           from->call, (long long)from->count, (int)COUNT_MOST);
    }
    if (status || !from->count) {
        return status;
    }
    if (!from->products) {
        return core_fail(ISO_INVALID, "%s: the descriptor is NULL and count %lld", from->call,
                         (long long)from->count);
    }
    memcpy(&size, from->products, sizeof size);
    from->bytes = size;
    status = run(from, stream);
    return status ? core_record_note(stream, status) : ISO_OK;
}

iso_status iso_gemm_group(iso_stream stream, const iso_gemm_args *products, int64_t count)
{
    source from = {.call = "iso_gemm_group", .products = (const char *)products, .count = count};

    return run_group(&from, stream);
}

iso_status iso_gemm_members(iso_stream stream, const iso_gemm_args *args,
                            const iso_gemm_member *members, int64_t count)
{
    source from = {.call = "iso_gemm_members",
                   .products = (const char *)args,
                   .members = members,
                   .count = count};

    if (!members && count > 0) {
        return core_fail(ISO_INVALID, "iso_gemm_members: members is NULL and count %lld",
                         (long long)count);
    }
    return run_group(&from, stream);
}
