/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names enumerators, parses their names, compares names, and returns the version. */
#include "common/dtype.h"
#include "core/op.h"

#include <isomer/comm.h>

#include <ctype.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

static const char *const status_names[] = {
    [ISO_OK] = "OK",
    [ISO_INVALID] = "INVALID",
    [ISO_MISMATCH] = "MISMATCH",
    [ISO_NOT_READY] = "NOT_READY",
    [ISO_UNAVAILABLE] = "UNAVAILABLE",
    [ISO_UNSUPPORTED] = "UNSUPPORTED",
    [ISO_NO_MEMORY] = "NO_MEMORY",
    [ISO_COMPILE] = "COMPILE",
    [ISO_TIMEOUT] = "TIMEOUT",
    [ISO_BACKEND] = "BACKEND",
    [ISO_DEVICE_LOST] = "DEVICE_LOST",
    [ISO_INTERNAL] = "INTERNAL",
};
static const char *const variant_names[] = {
    [ISO_VARIANT_AUTO] = "auto",         [ISO_VARIANT_NAIVE] = "naive",
    [ISO_VARIANT_TILED] = "tiled",       [ISO_VARIANT_VENDOR] = "vendor",
    [ISO_VARIANT_PARTIALS] = "partials", [ISO_VARIANT_FIXED] = "fixed",
};
static const char *const trans_names[] = {
    [ISO_NO_TRANS] = "n", [ISO_TRANS] = "t", [ISO_CONJ_TRANS] = "c"};
static const char *const order_names[] = {[ISO_ROW_MAJOR] = "row", [ISO_COLUMN_MAJOR] = "column"};
static const char *const triangle_names[] = {[ISO_LOWER] = "lower", [ISO_UPPER] = "upper"};
static const char *const side_names[] = {[ISO_LEFT] = "left", [ISO_RIGHT] = "right"};
static const char *const spread_names[] = {[ISO_SPREAD_NONE] = "none",
                                           [ISO_SPREAD_ROW] = "row",
                                           [ISO_SPREAD_COLUMN] = "column",
                                           [ISO_SPREAD_ONE] = "one"};
static const char *const math_names[] = {
    [ISO_MATH_DEFAULT] = "default", [ISO_MATH_STRICT] = "strict", [ISO_MATH_TF32] = "tf32"};
static const char *const keep_names[] = {[ISO_KEEP_DEFAULT] = "default",
                                         [ISO_KEEP_BITS] = "bits",
                                         [ISO_KEEP_TERMS] = "terms",
                                         [ISO_KEEP_SCALE] = "scale"};
static const char *const reduce_op_names[] = {
    [ISO_SUM] = "sum",         [ISO_PRODUCT] = "product", [ISO_MIN] = "min",
    [ISO_MAX] = "max",         [ISO_MEAN] = "mean",       [ISO_DOT] = "dot",
    [ISO_ASUM] = "asum",       [ISO_NORM2] = "norm2",     [ISO_ARGMIN] = "argmin",
    [ISO_ARGMAX] = "argmax",   [ISO_XOR] = "xor",         [ISO_AMAX] = "amax",
    [ISO_ARGAMAX] = "argamax",
};
static const char *const axis_names[] = {
    [ISO_AXIS_ALL] = "all", [ISO_AXIS_0] = "0", [ISO_AXIS_1] = "1"};
static const char *const map_op_names[] = {
    [ISO_MAP_COPY] = "copy",         [ISO_MAP_SCALE] = "scale",   [ISO_MAP_ADD] = "add",
    [ISO_MAP_MULTIPLY] = "multiply", [ISO_MAP_TRIAD] = "triad",   [ISO_MAP_CHAIN] = "chain",
    [ISO_MAP_SUBTRACT] = "subtract", [ISO_MAP_DIVIDE] = "divide", [ISO_MAP_MIN] = "min",
    [ISO_MAP_MAX] = "max",           [ISO_MAP_ABS] = "abs",       [ISO_MAP_NEGATE] = "negate",
    [ISO_MAP_AXPBY] = "axpby",       [ISO_MAP_FMA] = "fma",       [ISO_MAP_RELU] = "relu",
    [ISO_MAP_EXP] = "exp",           [ISO_MAP_TANH] = "tanh",     [ISO_MAP_CONVERT] = "convert",
};
static const char *const state_names[] = {
    [ISO_STATE_OK] = "ok",
    [ISO_STATE_NOT_FOUND] = "not found",
    [ISO_STATE_NO_DRIVER] = "no driver",
    [ISO_STATE_NO_DEVICE] = "no device",
    [ISO_STATE_LOAD_FAILED] = "load failed",
    [ISO_STATE_ABI_MISMATCH] = "ABI mismatch",
    [ISO_STATE_FORKED] = "forked",
    [ISO_STATE_BROKEN] = "broken",
};
static const char *const device_type_names[] = {
    [ISO_DEVICE_CPU] = "CPU", [ISO_DEVICE_GPU] = "GPU", [ISO_DEVICE_ACCELERATOR] = "accelerator"};
static const char *const comm_op_names[] = {
    [ISO_COMM_BARRIER] = "barrier",
    [ISO_COMM_BROADCAST] = "broadcast",
    [ISO_COMM_ALL_REDUCE] = "all_reduce",
    [ISO_COMM_REDUCE_SCATTER] = "reduce_scatter",
    [ISO_COMM_ALL_GATHER] = "all_gather",
    [ISO_COMM_ALL_TO_ALL] = "all_to_all",
    [ISO_COMM_SEND] = "send",
    [ISO_COMM_RECEIVE] = "receive",
};
static const char *const comm_sum_names[] = {
    [ISO_COMM_SUM_AUTO] = "auto",
    [ISO_COMM_SUM_VENDOR] = "vendor",
    [ISO_COMM_SUM_ORDERED] = "ordered",
    [ISO_COMM_SUM_FIXED] = "fixed",
};
static const char *const path_names[] = {
    [ISO_PATH_SAME] = "same", [ISO_PATH_PEER] = "peer", [ISO_PATH_STAGED] = "staged"};

static const char *name_of(const char *const *names, int count, long long value)
{
    return value >= 0 && value < count ? names[value] : NULL;
}

/* No enumeration has a value as large as this. */
enum { VALUES_MAX = 32 };

static iso_status parse(const char *call, const char *(*name_at)(int), const char *text, int *value)
{
    char known[512] = "";

    if (!text) {
        return core_fail(ISO_INVALID, "%s: text is NULL: pass a name", call);
    }
    for (int i = 0; i < VALUES_MAX; i++) {
        const char *name = name_at(i);

        if (!name) {
            continue;
        }
        if (!strcmp(name, text)) {
            *value = i;
            return ISO_OK;
        }
        if (known[0]) {
            strncat(known, ", ", sizeof known - strlen(known) - 1);
        }
        strncat(known, name, sizeof known - strlen(known) - 1);
    }
    return core_fail(ISO_INVALID, "%s: \"%s\" is not one of: %s", call, text, known);
}

#define NAME_FUNCTION(type, function, table)                                                       \
    const char *function(type value)                                                               \
    {                                                                                              \
        return name_of(table, COUNT(table), (long long)value);                                     \
    }

#define PARSE_FUNCTION(type, function, name)                                                       \
    static const char *function##_at(int value)                                                    \
    {                                                                                              \
        return name((type)value);                                                                  \
    }                                                                                              \
                                                                                                   \
    iso_status function(const char *text, type *out)                                               \
    {                                                                                              \
        int value = 0;                                                                             \
        iso_status status = core_check_out(#function, "out", out);                                 \
                                                                                                   \
        if (!status) {                                                                             \
            status = parse(#function, function##_at, text, &value);                                \
        }                                                                                          \
        if (!status) {                                                                             \
            *out = (type)value;                                                                    \
        }                                                                                          \
        return status;                                                                             \
    }

NAME_FUNCTION(iso_variant, iso_variant_name, variant_names)
NAME_FUNCTION(iso_trans, iso_trans_name, trans_names)
NAME_FUNCTION(iso_order, iso_order_name, order_names)
NAME_FUNCTION(iso_triangle, iso_triangle_name, triangle_names)
NAME_FUNCTION(iso_side, iso_side_name, side_names)
NAME_FUNCTION(iso_spread, iso_spread_name, spread_names)
NAME_FUNCTION(iso_math, iso_math_name, math_names)
NAME_FUNCTION(iso_keep, iso_keep_name, keep_names)
NAME_FUNCTION(iso_reduce_op, iso_reduce_op_name, reduce_op_names)
NAME_FUNCTION(iso_axis, iso_axis_name, axis_names)
NAME_FUNCTION(iso_map_op, iso_map_op_name, map_op_names)
NAME_FUNCTION(iso_state, iso_state_name, state_names)
NAME_FUNCTION(iso_device_type, iso_device_type_name, device_type_names)
NAME_FUNCTION(iso_path, iso_path_name, path_names)
NAME_FUNCTION(iso_comm_op, iso_comm_op_name, comm_op_names)
NAME_FUNCTION(iso_comm_sum, iso_comm_sum_name, comm_sum_names)

const char *iso_dtype_name(iso_dtype dtype)
{
    const dtype_row *row = dtype_get(dtype);

    return row ? row->name : NULL;
}

const char *iso_op_kind_name(iso_op_kind kind)
{
    const core_operation *row = core_operation_of(kind);

    return row ? row->name : NULL;
}

PARSE_FUNCTION(iso_dtype, iso_dtype_parse, iso_dtype_name)
PARSE_FUNCTION(iso_variant, iso_variant_parse, iso_variant_name)
PARSE_FUNCTION(iso_math, iso_math_parse, iso_math_name)
PARSE_FUNCTION(iso_keep, iso_keep_parse, iso_keep_name)
PARSE_FUNCTION(iso_reduce_op, iso_reduce_op_parse, iso_reduce_op_name)
PARSE_FUNCTION(iso_axis, iso_axis_parse, iso_axis_name)
PARSE_FUNCTION(iso_map_op, iso_map_op_parse, iso_map_op_name)
PARSE_FUNCTION(iso_op_kind, iso_op_kind_parse, iso_op_kind_name)
PARSE_FUNCTION(iso_comm_op, iso_comm_op_parse, iso_comm_op_name)
PARSE_FUNCTION(iso_comm_sum, iso_comm_sum_parse, iso_comm_sum_name)

const char *iso_status_name(iso_status status)
{
    const char *name = name_of(status_names, COUNT(status_names), (long long)status);

    return name ? name : "UNKNOWN";
}

int64_t iso_dtype_size(iso_dtype dtype)
{
    const dtype_row *row = dtype_get(dtype);

    return row ? row->bytes : 0;
}

static int cost_of(char a, char b)
{
    return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Edit distance between two names: insertions, deletions, substitutions and swaps of neighbours,
 * ignoring case. */
int core_edit_distance(const char *a, const char *b)
{
    int rows[3][ISO_NAME_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    size_t length_a = strnlen(a, ISO_NAME_MAX), length_b = strnlen(b, ISO_NAME_MAX);

    for (size_t j = 0; j <= length_b; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= length_a; i++) {
        int *oldest = before;

        before = above;
        above = row;
        row = oldest;
        row[0] = (int)i;
        for (size_t j = 1; j <= length_b; j++) {
            int best = above[j - 1] + cost_of(a[i - 1], b[j - 1]);

            if (above[j] + 1 < best) {
                best = above[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            if (i > 1 && j > 1 && !cost_of(a[i - 1], b[j - 2]) && !cost_of(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return row[length_b];
}

const char *iso_version(void)
{
    return ISO_VERSION_STRING;
}
