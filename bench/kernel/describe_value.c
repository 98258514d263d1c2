/* SPDX-License-Identifier: Apache-2.0 */
/* describe_value.c - the values in a description: arguments, expressions, and what buffers begin
 * with. */
#include "bench/kernel/describe_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MOST = 1 << 20 }; /* elements */

static const struct {
    const char *name;
    int32_t bytes;
    int64_t low, high; /* of integers; a number in JSON is at most INT64_MAX */
} scalars[DESCRIBE_SCALARS] = {
    [DESCRIBE_STRUCT] = {"bytes", 1, 0, 0},     [DESCRIBE_I8] = {"i8", 1, INT8_MIN, INT8_MAX},
    [DESCRIBE_U8] = {"u8", 1, 0, UINT8_MAX},    [DESCRIBE_I16] = {"i16", 2, INT16_MIN, INT16_MAX},
    [DESCRIBE_U16] = {"u16", 2, 0, UINT16_MAX}, [DESCRIBE_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
    [DESCRIBE_U32] = {"u32", 4, 0, UINT32_MAX}, [DESCRIBE_I64] = {"i64", 8, INT64_MIN, INT64_MAX},
    [DESCRIBE_U64] = {"u64", 8, 0, INT64_MAX},  [DESCRIBE_F32] = {"f32", 4, 0, 0},
    [DESCRIBE_F64] = {"f64", 8, 0, 0},
};

const char *describe_scalar_name(describe_scalar scalar)
{
    return scalars[scalar].name;
}

int32_t describe_scalar_bytes(describe_scalar scalar)
{
    return scalars[scalar].bytes;
}

bool describe_is_float(describe_scalar scalar)
{
    return scalar == DESCRIBE_F32 || scalar == DESCRIBE_F64;
}

void describe_type(describe_parameter *parameter)
{
    const char *type = parameter->is.type;
    for (int s = DESCRIBE_I8; s < DESCRIBE_SCALARS; s++) {
        size_t length = strlen(scalars[s].name);
        const char *rest = type + length;
        if (strncmp(type, scalars[s].name, length) == 0 &&
            (strcmp(rest, "") == 0 || strcmp(rest, "x2") == 0 || strcmp(rest, "x4") == 0)) {
            parameter->scalar = (describe_scalar)s;
            parameter->lanes = rest[0] ? rest[1] - '0' : 1;
            return;
        }
    }
    parameter->scalar = DESCRIBE_STRUCT;
    parameter->lanes = parameter->is.bytes;
}

/* ---- one element ----------------------------------------------------------------------------- */

static int wrong_value(const describe_reader *r, const json_t *value, const char *rule)
{
    char text[80];
    return describe_wrong(r, "it is %s but must be %s", describe_shown(value, text, sizeof text),
                          rule);
}

static bool read_float(const json_t *value, double *out)
{
    static const char *const words[] = {"inf", "-inf", "nan", NULL};
    static const double numbers[] = {INFINITY, -INFINITY, NAN};
    int at = json_is_string(value) ? tool_find(words, json_string_value(value)) : -1;
    *out = at >= 0 ? numbers[at] : json_number_value(value);
    return at >= 0 || json_is_number(value);
}

static int check_float(const describe_reader *r, const json_t *value, describe_scalar scalar,
                       double *out)
{
    if (!read_float(value, out)) {
        return wrong_value(r, value, "a number, \"inf\", \"-inf\" or \"nan\"");
    }
    if (scalar == DESCRIBE_F32 && isfinite(*out) && isinf((float)*out)) {
        return wrong_value(r, value, "a number that an f32 can have, or \"inf\"");
    }
    return TOOL_OK;
}

static int check_integer(const describe_reader *r, int64_t value, describe_scalar scalar)
{
    if (value < scalars[scalar].low || value > scalars[scalar].high) {
        return describe_wrong(
            r, "it is %lld, but %s %s has values from %lld to %lld%s", (long long)value,
            strchr("8i", scalars[scalar].name[0]) ? "an" : "a", scalars[scalar].name,
            (long long)scalars[scalar].low, (long long)scalars[scalar].high,
            scalar == DESCRIBE_U64 ? "; give greater ones as hexadecimal bytes" : "");
    }
    return TOOL_OK;
}

static int read_scalar(const describe_reader *r, const json_t *value, describe_scalar scalar,
                       unsigned char *out)
{
    double number = 0;
    int code;
    if (describe_is_float(scalar)) {
        code = check_float(r, value, scalar, &number);
        float single = (float)number;
        memcpy(out, scalar == DESCRIBE_F32 ? (const void *)&single : (const void *)&number,
               (size_t)scalars[scalar].bytes);
        return code;
    }
    if (!json_is_integer(value)) {
        return wrong_value(r, value, "a whole number");
    }
    int64_t whole = json_integer_value(value);
    code = check_integer(r, whole, scalar);
    memcpy(out, &whole, (size_t)scalars[scalar].bytes); /* the machine is little-endian */
    return code;
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, c | 0x20);
    return c >= '0' && at && *at ? (int)(at - digits) : -1;
}

static int read_bytes(const describe_reader *r, const json_t *value,
                      const describe_parameter *parameter, unsigned char *out)
{
    const int32_t count = parameter->is.bytes;
    const char *text = json_string_value(value);
    bool good = text && strlen(text) == 2 * (size_t)count;
    for (int32_t i = 0; good && i < count; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        out[i] = (unsigned char)(high * 16 + low);
    }
    if (!good) {
        static const char whole[] = "a whole number without quotes, or ",
                          number[] = "a number without quotes, \"inf\", \"-inf\" or \"nan\", or ",
                          list[] = "a list of numbers, such as [1, 2], or ";
        const bool is_struct = parameter->scalar == DESCRIBE_STRUCT;
        char rule[320];
        snprintf(rule, sizeof rule, "%sits %d byte%s as %s in memory, as %d hexadecimal digits; %s",
                 is_struct                              ? ""
                 : parameter->lanes > 1                 ? list
                 : describe_is_float(parameter->scalar) ? number
                                                        : whole,
                 (int)count, count == 1 ? "" : "s", count == 1 ? "it is" : "they are",
                 2 * (int)count,
                 is_struct ? "the members of a struct are not known here"
                           : "no expression may stand here");
        return wrong_value(r, value, rule);
    }
    return TOOL_OK;
}

static int read_lanes(describe_reader *r, const json_t *value, const describe_parameter *parameter,
                      unsigned char *out)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    bool list = json_is_array(value);
    size_t count = list ? json_array_size(value) : json_object_size(value);
    if ((!list && !json_is_object(value)) || count != (size_t)parameter->lanes) {
        return wrong_value(r, value,
                           parameter->lanes == 2
                               ? "2 numbers, as [1, 2], as {\"x\": 1, \"y\": 2}, or their bytes"
                               : "4 numbers, as [1, 2, 3, 4], as {\"x\": 1, \"y\": 2, \"z\": 3, "
                                 "\"w\": 4}, or their bytes");
    }
    for (int32_t i = 0; i < parameter->lanes; i++) {
        size_t before =
            list ? describe_enter(r, "[%d]", (int)i) : describe_enter(r, ".%s", members[i]);
        const json_t *lane =
            list ? json_array_get(value, (size_t)i) : json_object_get(value, members[i]);
        int code = !lane ? describe_wrong(r, "it is missing")
                         : read_scalar(r, lane, parameter->scalar,
                                       out + i * scalars[parameter->scalar].bytes);
        if (code != TOOL_OK) {
            return code;
        }
        describe_leave(r, before);
    }
    return TOOL_OK;
}

/* Writes an element's bytes. */
static int read_element(describe_reader *r, const json_t *value,
                        const describe_parameter *parameter, unsigned char *out)
{
    double number;
    if (parameter->scalar == DESCRIBE_STRUCT ||
        (json_is_string(value) &&
         !(describe_is_float(parameter->scalar) && read_float(value, &number)))) {
        return read_bytes(r, value, parameter, out);
    }
    return parameter->lanes > 1 ? read_lanes(r, value, parameter, out)
                                : read_scalar(r, value, parameter->scalar, out);
}

int describe_argument(describe_reader *r, const json_t *value, describe_parameter *parameter,
                      iso_argument *out)
{
    describe_scalar scalar = parameter->scalar;
    double number = 0;
    int code;
    if (parameter->lanes == 1 && json_is_integer(value) && !describe_is_float(scalar)) {
        *out = iso_arg_integer(json_integer_value(value));
        return check_integer(r, out->integer, scalar);
    }
    if (parameter->lanes == 1 && json_is_number(value) && describe_is_float(scalar)) {
        code = check_float(r, value, scalar, &number);
        *out = iso_arg_float(number);
        return code;
    }
    parameter->value = tool_alloc(1, (size_t)parameter->is.bytes, "an argument");
    *out = iso_arg_bytes(parameter->value, parameter->is.bytes);
    return read_element(r, value, parameter, parameter->value);
}

/* Says what the library said about an expression, without the place that it invents. */
static int wrong_expression(describe_reader *r, const char *words, const describe_case *item)
{
    static const char place[] = "the expression:1: ", uses[] = " uses ",
                      over[] = " has \"the end\"", lacks[] = ", which has no value here";
    const char *text = tool_reason();
    const char *size = item->size[0] ? item->size : "no values";
    text += strncmp(text, place, strlen(place)) == 0 ? strlen(place) : 0;
    if (strncmp(text, words, strlen(words)) != 0) {
        return describe_wrong(r, "it is \"%s\", and %s (with %s)", words, text, size);
    }
    text += strlen(words);
    const char *end = strstr(text, lacks);
    if (strncmp(text, uses, strlen(uses)) != 0 || !end) {
        const bool ends = strncmp(text, over, strlen(over)) == 0;
        return describe_wrong(r, "\"%s\"%s%s (with %s)", words, ends ? " ends" : "",
                              ends ? text + strlen(over) : text, size);
    }
    char unknown[128], all[512] = "";
    tool_names names = {.count = 0};
    text += strlen(uses);
    snprintf(unknown, sizeof unknown, "%.*s", (int)(end - text), text);
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (p->is.role == ISO_PARAMETER_VALUE &&
            item->arguments[p->is.argument].kind == ISO_ARGUMENT_INTEGER) {
            tool_names_add(&names, p->is.name);
            tool_join(all, sizeof all, ", ", p->is.name);
        }
    }
    const char *near = tool_nearest(unknown, names.items, names.count);
    const bool only = strcmp(words, unknown) == 0;
    return describe_wrong(
        r, "\"%s\"%s%s is not known%s%s%s expression may use numbers%s%s%s", words,
        only ? "" : ": ", only ? "" : unknown, near ? ", did you mean " : ";", near ? near : "",
        near ? "? An" : " an", all[0] ? ", " : " and ",
        all[0] ? "the text's macros and the kernel's integers " : "the text's macros", all);
}

int describe_amount(describe_reader *r, const json_t *value, const describe_case *item,
                    int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return TOOL_OK;
    }
    if (!json_is_string(value)) {
        return wrong_value(r, value,
                           "a whole number, or an expression of the kernel's integer parameters "
                           "such as \"(n + 255) / 256\"");
    }
    iso_status status = iso_kernel_evaluate(item->kernel->kernel, json_string_value(value),
                                            item->arguments, item->argument_count, out);
    return status == ISO_OK ? TOOL_OK : wrong_expression(r, json_string_value(value), item);
}

/* ---- what buffers begin with ----------------------------------------------------------------- */

/* Words that floats, integers and structs have. */
static const arith_fill float_words[] = {
    ARITH_UNIFORM, ARITH_INTS,      ARITH_SPARSE, ARITH_NAN,  ARITH_INF,
    ARITH_ZEROS,   ARITH_SUBNORMAL, ARITH_TIES,   ARITH_HUGE, ARITH_MIXED,
    ARITH_POWERS,  ARITH_NEAR_ONE,  ARITH_BITS};
static const arith_fill integer_words[] = {ARITH_UNIFORM, ARITH_INTS, ARITH_EXTREMES};
static const arith_fill struct_words[] = {ARITH_BITS};

static int read_word(const describe_reader *r, const char *word,
                     const describe_parameter *parameter, describe_fill *fill)
{
    bool is_float = describe_is_float(parameter->scalar);
    const arith_fill *words = is_float                               ? float_words
                              : parameter->scalar == DESCRIBE_STRUCT ? struct_words
                                                                     : integer_words;
    size_t count = is_float                               ? sizeof float_words / sizeof *words
                   : parameter->scalar == DESCRIBE_STRUCT ? 1
                                                          : sizeof integer_words / sizeof *words;
    tool_names names = {.count = 0};
    char text[512];
    for (size_t i = 0; i < count; i++) {
        tool_names_add(&names, arith_fill_name(words[i]));
    }
    int at = tool_find(names.items, word);
    if (at < 0) {
        tool_say_unknown(text, sizeof text, word, names.items);
        return describe_wrong(r,
                              "for a buffer of %s the word %s; or give a number, a list, or "
                              "{\"from\": 0, \"to\": 9}",
                              parameter->is.type, text);
    }
    *fill = (describe_fill){.how = DESCRIBE_WORD, .word = words[at]};
    return TOOL_OK;
}

static int read_repeat(describe_reader *r, const json_t *value, const describe_parameter *parameter,
                       describe_fill *fill)
{
    /* A list of numbers is one vector. */
    bool list =
        json_is_array(value) &&
        (parameter->lanes == 1 || parameter->scalar == DESCRIBE_STRUCT ||
         json_is_array(json_array_get(value, 0)) || json_is_object(json_array_get(value, 0)) ||
         json_is_string(json_array_get(value, 0)));
    size_t count = list ? json_array_size(value) : 1;
    if (count == 0 || count > REPEAT_MOST) {
        return describe_wrong(r, "the list has %zu elements but must have 1 to %d", count,
                              (int)REPEAT_MOST);
    }
    size_t bytes = (size_t)parameter->is.bytes;
    *fill = (describe_fill){.how = DESCRIBE_REPEAT,
                            .bytes = tool_alloc(count, bytes, "inputs"),
                            .length = (int64_t)(count * bytes)};
    for (size_t i = 0; i < count; i++) {
        size_t before = list ? describe_enter(r, "[%zu]", i) : describe_enter(r, "%s", "");
        int code = read_element(r, list ? json_array_get(value, i) : value, parameter,
                                fill->bytes + i * bytes);
        if (code != TOOL_OK) {
            return code;
        }
        describe_leave(r, before);
    }
    return TOOL_OK;
}

/* Reads a bound of a range. */
static int read_bound(describe_reader *r, const json_t *range, const char *member,
                      const describe_case *item, describe_scalar scalar, int64_t *whole,
                      double *number)
{
    const json_t *value = json_object_get(range, member);
    if (!value) {
        return TOOL_OK;
    }
    size_t before = describe_enter(r, ".%s", member);
    int code;
    if (describe_is_float(scalar)) {
        code = !json_is_number(value)
                   ? wrong_value(r, value, "a finite number: only integers may have expressions")
                   : check_float(r, value, scalar, number);
    } else {
        code = describe_amount(r, value, item, whole);
        if (code == TOOL_OK && strcmp(member, "step") != 0) {
            code = check_integer(r, *whole, scalar);
        }
    }
    if (code == TOOL_OK) {
        describe_leave(r, before);
    }
    return code;
}

static int read_range(describe_reader *r, const json_t *range, const describe_case *item,
                      const describe_parameter *parameter, describe_fill *fill)
{
    static const char *const known[] = {"from", "to", "step", NULL};
    bool to = json_object_get(range, "to"), step = json_object_get(range, "step");
    describe_scalar scalar = parameter->scalar;
    int code = describe_members(r, range, known);
    if (code != TOOL_OK) {
        return code;
    }
    if (!json_object_get(range, "from") || to == step) {
        return describe_wrong(r, "it must have from and to, or from and step");
    }
    if (scalar == DESCRIBE_STRUCT) {
        return describe_wrong(r, "a struct (%s) has no range: give \"bits\", or its bytes",
                              parameter->is.type);
    }
    *fill = (describe_fill){.how = to ? DESCRIBE_RANGE : DESCRIBE_STEPS};
    if ((code = read_bound(r, range, "from", item, scalar, &fill->from, &fill->float_from)) ||
        (code = read_bound(r, range, "to", item, scalar, &fill->to, &fill->float_to)) ||
        (code = read_bound(r, range, "step", item, scalar, &fill->step, &fill->float_step))) {
        return code;
    }
    const bool empty =
        describe_is_float(scalar) ? fill->float_from > fill->float_to : fill->from > fill->to;
    char bounds[96];
    if (to && empty && describe_is_float(scalar)) {
        snprintf(bounds, sizeof bounds, "from is %g and to is %g", fill->float_from,
                 fill->float_to);
    } else {
        snprintf(bounds, sizeof bounds, "from is %lld and to is %lld", (long long)fill->from,
                 (long long)fill->to);
    }
    return !to || !empty ? TOOL_OK
                         : describe_wrong(r, "%s%s%s: from must not be greater than to", bounds,
                                          item->size[0] ? " with " : "", item->size);
}

int describe_read_fill(describe_reader *r, const json_t *value, const describe_case *item,
                       describe_parameter *parameter)
{
    describe_fill *fill = &parameter->fill;
    if (!parameter->is_read) {
        fill->how = DESCRIBE_UNWRITTEN;
        return TOOL_OK;
    }
    if (!value && describe_is_float(parameter->scalar)) {
        *fill = (describe_fill){.how = DESCRIBE_WORD, .word = ARITH_UNIFORM};
        return TOOL_OK;
    }
    if (!value) { /* it may be an index, so a guess might read beyond a buffer */
        return describe_wrong(r,
                              "kernel %s reads %s, a buffer of %s: say here what it begins with, "
                              "such as \"%s\": %s",
                              item->kernel->name, parameter->is.name, parameter->is.type,
                              parameter->is.name,
                              parameter->scalar == DESCRIBE_STRUCT
                                  ? "\"bits\", or the bytes of an element"
                                  : "{\"from\": 0, \"to\": 9}, \"uniform\" for any value, or a "
                                    "number");
    }
    size_t before = describe_enter(r, ".%s", parameter->is.name);
    const char *word = json_string_value(value);
    int code;
    if (json_is_object(value) && (parameter->lanes == 1 || json_object_get(value, "from"))) {
        code = read_range(r, value, item, parameter, fill);
    } else if (word && !(parameter->scalar == DESCRIBE_STRUCT && strcmp(word, "bits") != 0)) {
        code = read_word(r, word, parameter, fill);
    } else {
        code = read_repeat(r, value, parameter, fill);
    }
    if (code == TOOL_OK) {
        describe_leave(r, before);
    }
    return code;
}
