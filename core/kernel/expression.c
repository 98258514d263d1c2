/* SPDX-License-Identifier: Apache-2.0 */
/* expression.c - constant expressions. Macros are replaced by their tokens, as C does it. */
#include "core/kernel/parse.h"

#include <stdlib.h>
#include <string.h>

enum { MACROS_MOST = 16, NEST_MOST = 100, TOKENS_MOST = 65536 };

typedef struct expression {
    kernel_reader *owner; /* gets the failures */
    const char *what;
    const kernel_value *values;
    int32_t value_count;
    int32_t level, nest;
    int64_t taken;
    const kernel_decl *kernel; /* not NULL: nothing is computed, but steps are added */
    kernel_param *steps_of;
    kernel_reader levels[MACROS_MOST + 1]; /* the expression, and the macros that are open in it */
} expression;

#define FAIL(e, ...) kernel_fail((e)->owner, (e)->levels[0].token.line, __VA_ARGS__)

static const kernel_reader *current(const expression *e)
{
    return &e->levels[e->level];
}

/* ---- macros ---------------------------------------------------------------------------------- */

bool kernel_names(const kernel_definition *row, const kernel_reader *r)
{
    return r->token.kind == KERNEL_WORD && row->name_length == r->token.length &&
           !memcmp(row->name, r->text + r->token.at, (size_t)row->name_length);
}

static bool same_value(const kernel_definition *a, const kernel_definition *b)
{
    return a->removed == b->removed && a->takes == b->takes && a->value_length == b->value_length &&
           !memcmp(a->value, b->value, (size_t)a->value_length);
}

/* A caller's macro is the value if the text gives its own under #if only, which is how a text gives
 * a default. */
const kernel_definition *kernel_find_macro(kernel_reader *owner, const kernel_reader *r,
                                           int32_t line, const char *what)
{
    const kernel_definition *last = NULL, *given = NULL;
    bool conditional = false, differs = false;

    for (int64_t i = 0; i < owner->defined->count; i++) {
        const kernel_definition *row = &owner->defined->rows[i];

        if (!kernel_names(row, r)) {
            continue;
        }
        conditional = conditional || row->conditional;
        differs = differs || (last && !same_value(last, row));
        last = row;
        if (row->given || !row->conditional) {
            given = row->given ? row : NULL;
        }
    }
    if (given) {
        return given;
    }
    if (last && conditional && differs) {
        kernel_fail(owner, line,
                    "%s uses %.*s, which has several values under #if: define it once, or give it "
                    "as a macro",
                    what, kernel_shown_length(r), kernel_shown(r));
        return NULL;
    }
    if (last && last->takes) {
        kernel_fail(owner, line,
                    "%s uses %.*s, which is a macro with arguments: define it without them, or "
                    "give it as a macro",
                    what, kernel_shown_length(r), kernel_shown(r));
        return NULL;
    }
    return last && !last->removed ? last : NULL;
}

static void open_macro(expression *e, const kernel_definition *row)
{
    if (e->level == MACROS_MOST) {
        FAIL(e, "%s uses macros that use macros more than %d deep: define %.*s by a number",
             e->what, MACROS_MOST, kernel_shown_length(current(e)), kernel_shown(current(e)));
        return;
    }
    e->levels[++e->level] = (kernel_reader){.call = e->owner->call,
                                            .name = e->owner->name,
                                            .text = row->value,
                                            .end = row->value_length,
                                            .line = e->levels[0].token.line,
                                            .quiet = e->owner->quiet,
                                            .one_line = true};
}

/* Moves to the next token that is no macro. */
static void advance(expression *e)
{
    while (!e->owner->status) {
        kernel_reader *r = &e->levels[e->level];
        const kernel_definition *row;

        kernel_next(r);
        if (r->status) {
            e->owner->status = r->status;
            return;
        }
        if (r->token.kind == KERNEL_END && e->level > 0) {
            e->level--;
            continue;
        }
        if (++e->taken > TOKENS_MOST) {
            FAIL(e, "%s has more than %d tokens: shorten its macros", e->what, TOKENS_MOST);
            return;
        }
        row = kernel_find_macro(e->owner, r, e->levels[0].token.line, e->what);
        if (!row) {
            return;
        }
        open_macro(e, row);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void add_step(expression *e, kernel_step step)
{
    if (e->steps_of->step_count == KERNEL_STEPS_MAX) {
        FAIL(e, "%s is too long", e->what);
    } else if (!e->owner->status) {
        e->steps_of->steps[e->steps_of->step_count++] = step;
    }
}

static void add_param(expression *e)
{
    for (int16_t i = 0; i < e->kernel->param_count; i++) {
        const kernel_param *param = &e->kernel->params[i];
        if (param->role == KERNEL_VALUE && kernel_is(current(e), param->name)) {
            add_step(e, (kernel_step){.sign = 'p', .param = i});
            return;
        }
    }
    FAIL(e, "%s has a name that is no parameter", e->what);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool is_suffix(const char *text, int64_t length)
{
    static const char *const suffixes[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        int64_t at = 0;

        while (at < length && (text[at] | 0x20) == suffixes[i][at]) {
            at++;
        }
        if (at == length && !suffixes[i][at]) {
            return true;
        }
    }
    return false;
}

static int64_t literal(expression *e)
{
    const kernel_reader *r = current(e);
    const char *text = r->text + r->token.at;
    int64_t length = r->token.length, value = 0, at = 0, begin;
    bool hex = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x', overflow = false;
    int base = hex ? 16 : 10;

    begin = at = hex ? 2 : 0;
    while (at < length && digit(text[at]) < base) {
        overflow = overflow || __builtin_mul_overflow(value, base, &value) ||
                   __builtin_add_overflow(value, digit(text[at]), &value);
        at++;
    }
    if (at == begin || (!hex && at > 1 && text[0] == '0') || !is_suffix(text + at, length - at)) {
        FAIL(e, "%s has \"%.*s\": write a decimal or hexadecimal integer", e->what,
             kernel_shown_length(r), kernel_shown(r));
    } else if (overflow) {
        FAIL(e, "%s has %.*s, which does not fit in 64 bits: write a smaller number", e->what,
             kernel_shown_length(r), kernel_shown(r));
    }
    if (e->kernel) {
        add_step(e, (kernel_step){.sign = 'n', .number = value});
    }
    return value;
}

static int64_t named(expression *e)
{
    const kernel_reader *r = current(e);

    if (e->kernel) {
        add_param(e);
        return 0;
    }
    for (int32_t i = 0; i < e->value_count; i++) {
        if (kernel_is(r, e->values[i].name)) {
            return e->values[i].value;
        }
    }
    FAIL(e, "%s uses %.*s, which has no value here: use %s", e->what, kernel_shown_length(r),
         kernel_shown(r),
         e->value_count ? "a parameter that is an integer, a number or a macro"
                        : "a number, a #define before it, or a macro");
    return 0;
}

/* ---- operators ------------------------------------------------------------------------------- */

static int64_t shifts(expression *e);

static int64_t unary(expression *e)
{
    const kernel_reader *r = current(e);
    int64_t value = 0;

    if (e->owner->status) {
        return 0;
    }
    if (++e->nest > NEST_MOST) {
        FAIL(e, "%s nests more than %d deep: simplify it", e->what, NEST_MOST);
    } else if (kernel_is(r, "-")) {
        advance(e);
        value = unary(e);
        if (e->kernel) {
            add_step(e, (kernel_step){.sign = '~'});
        } else if (__builtin_sub_overflow(0, value, &value)) {
            FAIL(e, "%s overflows 64 bits at a minus: use smaller numbers", e->what);
        }
    } else if (kernel_is(r, "(")) {
        advance(e);
        value = shifts(e);
        if (!e->owner->status && !kernel_is(current(e), ")")) {
            FAIL(e, "%s has \"%.*s\" where a ) is missing: close the parenthesis", e->what,
                 kernel_shown_length(current(e)), kernel_shown(current(e)));
        }
        advance(e);
    } else if (r->token.kind == KERNEL_NUMBER || r->token.kind == KERNEL_WORD) {
        value = r->token.kind == KERNEL_NUMBER ? literal(e) : named(e);
        advance(e);
    } else {
        FAIL(e,
             "%s has \"%.*s\" where a number must stand: use integers, macros, + - * / %% << >> "
             "and ( )",
             e->what, kernel_shown_length(r), kernel_shown(r));
    }
    e->nest--;
    return value;
}

static bool shift(char sign, int64_t left, int64_t right, int64_t *out)
{
    if (right < 0 || right > 63) {
        return true;
    }
    if (sign == '>') {
        *out = left >> right;
        return false;
    }
    /* 2^63 does not fit, so the last doubling is apart. */
    return right == 63 ? left != 0 && (left != -1 || __builtin_sub_overflow(INT64_MIN, 0, out))
                       : __builtin_mul_overflow(left, (int64_t)1 << right, out);
}

/* Returns whether it overflows. */
static bool apply(char sign, int64_t left, int64_t right, int64_t *out)
{
    switch (sign) {
    case '+':
        return __builtin_add_overflow(left, right, out);
    case '-':
        return __builtin_sub_overflow(left, right, out);
    case '*':
        return __builtin_mul_overflow(left, right, out);
    case '<':
    case '>':
        return shift(sign, left, right, out);
    default:
        if (left == INT64_MIN && right == -1) {
            return true;
        }
        *out = sign == '/' ? left / right : left % right;
        return false;
    }
}

static int64_t combine(expression *e, char sign, int64_t left, int64_t right)
{
    int64_t value = 0;

    if (e->owner->status) {
        return 0;
    }
    if (e->kernel) {
        add_step(e, (kernel_step){.sign = sign});
        return 0;
    }
    if ((sign == '/' || sign == '%') && !right) {
        FAIL(e, "%s divides %lld by zero: use another divisor", e->what, (long long)left);
    } else if (apply(sign, left, right, &value)) {
        FAIL(e, "%s overflows 64 bits at %lld %c%s %lld: use smaller numbers", e->what,
             (long long)left, sign, sign == '<' || sign == '>' ? (char[]){sign, 0} : "",
             (long long)right);
    }
    return value;
}

static int64_t products(expression *e)
{
    int64_t value = unary(e);

    while (kernel_is_sign(current(e), "*/%") && !e->owner->status) {
        char sign = current(e)->text[current(e)->token.at];

        advance(e);
        value = combine(e, sign, value, unary(e));
    }
    return value;
}

static int64_t sums(expression *e)
{
    int64_t value = products(e);

    while (kernel_is_sign(current(e), "+-") && !e->owner->status) {
        char sign = current(e)->text[current(e)->token.at];

        advance(e);
        value = combine(e, sign, value, products(e));
    }
    return value;
}

static int64_t shifts(expression *e)
{
    int64_t value = sums(e);

    while ((kernel_is(current(e), "<<") || kernel_is(current(e), ">>")) && !e->owner->status) {
        char sign = current(e)->text[current(e)->token.at];

        advance(e);
        value = combine(e, sign, value, sums(e));
    }
    return value;
}

/* ---- extents in steps ------------------------------------------------------------------------ */

bool kernel_run_steps(const kernel_param *param, const int64_t *integers, uint32_t known,
                      int64_t *out)
{
    int64_t stack[KERNEL_STEPS_MAX];
    int32_t depth = 0;

    for (int32_t i = 0; i < param->step_count; i++) {
        const kernel_step *step = &param->steps[i];
        bool wrong = false;

        if (step->sign == 'n') {
            stack[depth++] = step->number;
        } else if (step->sign == 'p') {
            wrong = !(known >> step->param & 1);
            stack[depth++] = integers[step->param];
        } else if (step->sign == '~') {
            wrong = __builtin_sub_overflow(0, stack[depth - 1], &stack[depth - 1]);
        } else {
            const int64_t right = stack[--depth];
            wrong = ((step->sign == '/' || step->sign == '%') && !right) ||
                    apply(step->sign, stack[depth - 1], right, &stack[depth - 1]);
        }
        if (wrong) {
            return false;
        }
    }
    *out = depth == 1 ? stack[0] : 0;
    return depth == 1;
}

/* ---- whole expressions ----------------------------------------------------------------------- */

static kernel_reader reader_of(const kernel_reader *r, kernel_range range)
{
    return (kernel_reader){.call = r->call,
                           .name = r->name,
                           .text = r->text,
                           .at = range.at,
                           .end = range.at + range.length,
                           .line = range.line,
                           .quiet = r->quiet};
}

int64_t kernel_number(kernel_reader *r, kernel_range range, const char *what,
                      const kernel_value *values, int32_t value_count)
{
    expression e = {.owner = r, .what = what, .values = values, .value_count = value_count};
    int64_t value;

    if (r->status) {
        return 0;
    }
    e.levels[0] = reader_of(r, range);
    advance(&e);
    value = shifts(&e);
    if (!r->status && current(&e)->token.kind != KERNEL_END) {
        kernel_fail(r, e.levels[0].token.line,
                    "%s has \"%.*s\" after its end: use integers, macros, + - * / %% << >> and ( )",
                    what, kernel_shown_length(current(&e)), kernel_shown(current(&e)));
    }
    return r->status ? 0 : value;
}

void kernel_set_steps(const kernel_reader *r, kernel_decl *kernel)
{
    for (kernel_param *param = kernel->params; param < kernel->params + kernel->param_count;
         param++) {
        kernel_reader quiet = *r;
        kernel_definitions before = r->defined ? *r->defined : (kernel_definitions){0};
        expression e = {.owner = &quiet, .what = "an extent", .kernel = kernel, .steps_of = param};
        const kernel_range range = {.at = param->extent_at, .length = param->extent_length};

        if (r->status || range.length == 0) {
            continue;
        }
        before.count = param->defined;
        quiet.defined = &before;
        quiet.quiet = true;
        e.levels[0] = reader_of(&quiet, range);
        advance(&e);
        (void)shifts(&e);
        if (quiet.status || current(&e)->token.kind != KERNEL_END) {
            param->step_count = 0;
        }
    }
}

iso_status kernel_evaluate(const char *call, const char *name, const char *text, int64_t at,
                           int64_t length, const kernel_macro *macros, int32_t macro_count,
                           const kernel_value *values, int32_t value_count, int64_t *out)
{
    kernel_definitions defined = {0};
    kernel_reader r = kernel_reader_open(call, name, text, macros, macro_count, &defined);
    kernel_range range = {.at = at, .length = length};
    int64_t value;

    if (!r.status && (at < 0 || length < 1 || at > r.end || length > r.end - at)) {
        kernel_fail(&r, 1, "an expression at byte %lld of %lld bytes is not in the text",
                    (long long)at, (long long)length);
    }
    do {
        kernel_next(&r);
    } while (r.token.kind != KERNEL_END && r.token.at < at);
    range.line = r.token.line;
    range.at = at < r.token.at ? r.token.at : at;
    range.length = at + length - range.at;
    value = kernel_number(&r, range, "the extent", values, value_count);
    kernel_definitions_free(&defined);
    if (!r.status) {
        *out = value;
    }
    return r.status;
}

iso_status kernel_evaluate_other(const char *call, const char *name, const char *text,
                                 const char *words, const kernel_macro *macros, int32_t macro_count,
                                 const kernel_value *values, int32_t value_count, int64_t *out)
{
    kernel_definitions defined = {0};
    kernel_reader r = kernel_reader_open(call, name, text, macros, macro_count, &defined);
    const kernel_range range = {.length = (int64_t)strlen(words), .line = 1};
    int64_t value;

    do {
        kernel_next(&r);
    } while (r.token.kind != KERNEL_END);
    r.name = "the expression";
    r.text = words;
    value = kernel_number(&r, range, words, values, value_count);
    kernel_definitions_free(&defined);
    if (!r.status) {
        *out = value;
    }
    return r.status;
}
