/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - checks arguments: structs, which may come from a program that was built against an
 * older or a newer header, and the arguments that operations have in common. */
#include "common/dtype.h"
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

iso_status core_check_plain(const char *call, iso_dtype dtype, const char *what)
{
    iso_status status = core_check_dtype(call, dtype);

    if (!status && (dtype == ISO_I8 || dtype_get(dtype)->complex)) {
        status = core_fail(ISO_INVALID, "%s: dtype is %s: %s f16, bf16, f32, f64, i32 and i64",
                           call, iso_dtype_name(dtype), what);
    }
    return status;
}

iso_status core_check_solvable(const char *call, iso_dtype dtype, const char *what)
{
    iso_status status = core_check_dtype(call, dtype);

    if (!status && dtype != ISO_F32 && dtype != ISO_F64 && !dtype_get(dtype)->complex) {
        status = core_fail(ISO_INVALID, "%s: dtype is %s: %s f32, f64, c64 and c128", call,
                           iso_dtype_name(dtype), what);
    }
    return status;
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

iso_status core_check_line(const char *call, const char *name, const char *matrix, iso_order order,
                           int64_t length, int64_t *ld)
{
    const char *lines = order == ISO_COLUMN_MAJOR ? "columns" : "rows";

    if (*ld == 0) {
        *ld = length > 0 ? length : 1;
        return ISO_OK;
    }
    if (*ld < length) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %lld, but %s of %s hold %lld elements: use at least %lld, or 0 "
                         "for %s without gaps",
                         call, name, (long long)*ld, lines, matrix, (long long)length,
                         (long long)length, lines);
    }
    if (*ld < 0) {
        return core_fail(ISO_INVALID, "%s: %s is %lld: use at least 1, or 0 for %s without gaps",
                         call, name, (long long)*ld, lines);
    }
    return ISO_OK;
}

iso_status core_check_ld(const char *call, const char *name, const char *matrix, int64_t cols,
                         int64_t *ld)
{
    return core_check_line(call, name, matrix, ISO_ROW_MAJOR, cols, ld);
}

iso_status core_check_order(const char *call, iso_order order)
{
    if (!iso_order_name(order)) {
        return core_fail(ISO_INVALID,
                         "%s: order is %d: use ISO_ROW_MAJOR (0) or ISO_COLUMN_MAJOR (1)", call,
                         (int)order);
    }
    return ISO_OK;
}

int64_t core_unit_of(iso_dtype dtype)
{
    return iso_dtype_size(dtype) / (dtype_get(dtype)->complex ? 2 : 1);
}

iso_status core_check_library(const char *call, int32_t library)
{
    if (library < 0) {
        return core_fail(ISO_INVALID,
                         "%s: args->library is %d: use 0 for the device's first vendor library, 1 "
                         "for the next",
                         call, library);
    }
    return ISO_OK;
}

iso_status core_check_how(const char *call, iso_variant variant, iso_keep keep, int32_t library)
{
    iso_status status = core_check_variant(call, variant);

    if (!status) {
        status = core_check_keep(call, keep, variant);
    }
    return status ? status : core_check_library(call, library);
}

iso_status core_check_imag(const char *call, const char *name, iso_dtype dtype, double value)
{
    if (!dtype_get(dtype)->complex && !core_is_zero(value)) {
        return core_fail(ISO_INVALID,
                         "%s: %s is %g and dtype %s: only factors of complex types (c64, c128) "
                         "have an imaginary part: use 0",
                         call, name, value, iso_dtype_name(dtype));
    }
    return ISO_OK;
}

iso_status core_read_factors(const char *call, core_op *op, iso_operand alpha, iso_operand beta,
                             iso_dtype given, iso_dtype dtype)
{
    const dtype_row *type = dtype_get(dtype);
    const iso_dtype own = type->computes_in == ISO_F32 ? ISO_F32 : ISO_F64;
    core_factors *factors = &op->factors;
    const dtype_row *row;

    factors->dtype = given ? given : own;
    row = dtype_get(factors->dtype);
    if (!row || !row->floating || (type->complex && row->bytes < 4)) {
        return core_fail(ISO_INVALID, "%s: factor_dtype is %d (%s): use %s, or 0 for %s", call,
                         (int)given, row ? row->name : "not a type",
                         type->complex ? "ISO_F32 (3) or ISO_F64 (4) beside a complex dtype"
                                       : "ISO_F16 (1), ISO_BF16 (2), ISO_F32 (3) or ISO_F64 (4)",
                         iso_dtype_name(own));
    }
    factors->alpha = alpha.buffer.id != 0;
    factors->beta = beta.buffer.id != 0;
    if (factors->alpha) {
        *core_op_use(op, "alpha_at", alpha, &factors->alpha_at, row->bytes, false) =
            core_run(row->bytes * (type->complex ? 2 : 1));
    }
    if (factors->beta) {
        *core_op_use(op, "beta_at", beta, &factors->beta_at, row->bytes, false) =
            core_run(row->bytes * (type->complex ? 2 : 1));
    }
    if (factors->alpha || factors->beta) {
        op->abi_minor = 13;
        op->newer = "factors on the device";
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
