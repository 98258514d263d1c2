/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - checks arguments: structs, which may come from a program that was built against an
 * older or a newer header, and the arguments that operations have in common. */
#include "core/op.h"

#include <stdbool.h>
#include <string.h>

enum { SIZE_LIMIT = 65536 }; /* a larger `size` is invalid; no other field is read */

iso_status core_check_out(const char *call, const char *name, const void *out)
{
    if (!out) {
        return core_fail(ISO_INVALID, "%s: %s is NULL: pass the address of a variable for it", call,
                         name);
    }
    return ISO_OK;
}

iso_status core_struct_check(const char *call, const char *name, const void *out, size_t least)
{
    uint32_t size;

    if (!out) {
        return core_fail(ISO_INVALID,
                         "%s: %s is NULL: pass a struct that its ISO_..._INIT macro has set", call,
                         name);
    }
    memcpy(&size, out, sizeof size);
    if (size < least) {
        return core_fail(
            ISO_INVALID,
            "%s: %s->size is %u, but its required fields take %zu bytes: initialise it "
            "with its ISO_..._INIT macro",
            call, name, size, least);
    }
    if (size > SIZE_LIMIT) {
        return core_fail(ISO_INVALID,
                         "%s: %s->size is %u, which is not a valid size: initialise it with "
                         "its ISO_..._INIT macro",
                         call, name, size);
    }
    return ISO_OK;
}

iso_status core_struct_read(const char *call, const char *name, const void *from, size_t least,
                            void *to, size_t known)
{
    const unsigned char *bytes = from;
    iso_status status = core_struct_check(call, name, from, least);
    uint32_t size;

    if (status) {
        return status;
    }
    memcpy(&size, from, sizeof size);
    for (size_t i = known; i < size; i++) {
        if (bytes[i]) {
            return core_fail(ISO_INVALID,
                             "%s: %s->size is %u and its byte %zu is %u: this library (version %s) "
                             "knows the first %zu bytes, and all others must be 0",
                             call, name, size, i, bytes[i], ISO_VERSION_STRING, known);
        }
    }
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return ISO_OK;
}

iso_status core_check_reserved(const char *call, const char *name, uint32_t value)
{
    if (value) {
        return core_fail(ISO_INVALID, "%s: %s->reserved is %u: it must be 0", call, name, value);
    }
    return ISO_OK;
}

void core_struct_write(void *out, const void *from, size_t known)
{
    uint32_t size;

    memcpy(&size, out, sizeof size);
    memset(out, 0, size);
    memcpy(out, from, size < known ? size : known);
    memcpy(out, &size, sizeof size);
}

/* ---- arguments of operations ----------------------------------------------------------------- */

iso_status core_check_size(const char *call, const char *name, int64_t value)
{
    if (value < 0) {
        return core_fail(ISO_INVALID, "%s: %s is %lld: pass 0 or more", call, name,
                         (long long)value);
    }
    return ISO_OK;
}

iso_status core_check_dtype(const char *call, iso_dtype dtype)
{
    iso_dtype last = ISO_F16;

    if (iso_dtype_name(dtype)) {
        return ISO_OK;
    }
    while (iso_dtype_name(last + 1)) {
        last++;
    }
    return core_fail(ISO_INVALID,
                     "%s: dtype is %d, which is not a type: use ISO_F16 (1) to %s (%d)", call,
                     (int)dtype, iso_dtype_name(last), (int)last);
}

iso_status core_check_variant(const char *call, iso_variant variant)
{
    if (!iso_variant_name(variant) && variant != CORE_VARIANT_RESERVED) {
        return core_fail(ISO_INVALID,
                         "%s: variant is %d, which is not a variant: use ISO_VARIANT_AUTO (0) to "
                         "ISO_VARIANT_FIXED (6)",
                         call, (int)variant);
    }
    return ISO_OK;
}

iso_status core_check_keep(const char *call, iso_keep keep, iso_variant variant)
{
    static const struct {
        int others; /* variants that it does not allow, as bits */
        const char *allowed;
    } rows[] = {
        [ISO_KEEP_DEFAULT] = {0, ""},
        [ISO_KEEP_BITS] = {CORE_NAIVE | CORE_VENDOR | CORE_PARTIALS | CORE_FIXED, "only tiled"},
        [ISO_KEEP_TERMS] = {CORE_FIXED, "every variant but fixed"},
        [ISO_KEEP_SCALE] = {0, ""},
    };

    if (!iso_keep_name(keep)) {
        return core_fail(ISO_INVALID,
                         "%s: keep is %d: use ISO_KEEP_DEFAULT (0), ISO_KEEP_BITS (1), "
                         "ISO_KEEP_TERMS (2) or ISO_KEEP_SCALE (3)",
                         call, (int)keep);
    }
    if (rows[keep].others >> variant & 1) {
        return core_fail(ISO_INVALID,
                         "%s: variant is %s, but keep is %s, which allows %s: use variant auto, or "
                         "keep 0",
                         call, iso_variant_name(variant), iso_keep_name(keep), rows[keep].allowed);
    }
    return ISO_OK;
}

iso_status core_check_matrix(const char *call, int64_t rows, int64_t cols, iso_variant variant)
{
    iso_status status = core_check_size(call, "rows", rows);
    if (!status) {
        status = core_check_size(call, "cols", cols);
    }
    return status ? status : core_check_variant(call, variant);
}

iso_status core_check_ld(const char *call, const char *name, const char *matrix, int64_t cols,
                         int64_t *ld)
{
    if (*ld == 0) {
        *ld = cols > 0 ? cols : 1;
        return ISO_OK;
    }
    if (*ld < cols) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %lld, but rows of %s hold %lld elements: use at least %lld, or "
                         "0 for rows without gaps",
                         call, name, (long long)*ld, matrix, (long long)cols, (long long)cols);
    }
    if (*ld < 0) {
        return core_fail(ISO_INVALID, "%s: %s is %lld: use at least 1, or 0 for rows without gaps",
                         call, name, (long long)*ld);
    }
    return ISO_OK;
}

iso_status core_matrix_layout(const char *call, const char *name, int64_t rows, int64_t cols,
                              int64_t ld, int64_t batch, int64_t stride, int64_t element,
                              core_layout *out)
{
    int64_t in_matrix, in_batch;

    out->bytes = 0;
    if (!rows || !cols || !batch) {
        return ISO_OK;
    }
    if (__builtin_mul_overflow(rows - 1, ld, &in_matrix) ||
        __builtin_mul_overflow(batch - 1, stride, &in_batch) ||
        __builtin_add_overflow(in_matrix, in_batch, &in_matrix) ||
        __builtin_add_overflow(in_matrix, cols, &in_matrix) ||
        __builtin_mul_overflow(in_matrix, element, &out->bytes)) {
        return core_fail(
            ISO_INVALID,
            "%s: %s has %lld rows of %lld elements, leading dimension (ld) %lld, batch "
            "%lld, stride %lld: its size in bytes does not fit 64 bits: use smaller sizes",
            call, name, (long long)rows, (long long)cols, (long long)ld, (long long)batch,
            (long long)stride);
    }
    out->width = cols * element;
    out->rows = rows;
    out->pitch = rows > 1 ? ld * element : 0;
    out->batch = batch;
    out->stride = batch > 1 ? stride * element : 0;
    return ISO_OK;
}

core_layout *core_op_use(core_op *op, const char *name, iso_operand operand, iso_ref *ref,
                         int64_t align, bool written)
{
    core_use *use = &op->uses[op->use_count++];

    use->name = name;
    use->operand = operand;
    use->layout.bytes = 0;
    use->align = align;
    use->written = written;
    use->ref = ref;
    use->buffer = NULL;
    return &use->layout;
}

bool core_use_is_same(const core_use *a, const core_use *b)
{
    return a->operand.buffer.id && a->operand.buffer.id == b->operand.buffer.id &&
           a->operand.offset == b->operand.offset;
}
