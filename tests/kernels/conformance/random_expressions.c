/* SPDX-License-Identifier: Apache-2.0 */
/* random_expressions.c - random expressions whose values C defines: the range of each integer is
 * known, and operands are reduced where a result might leave its type. */
#include "tests/kernels/conformance/random.h"

#include <stdarg.h>
#include <string.h>

static random_expression make(random_state *g, model_scalar scalar, int depth);

/* ---- parts ----------------------------------------------------------------------------------- */

/* Whether the next part stays. A part that is left out is still drawn, so that the others stay as
 * they are. */
bool random_keep(random_state *g)
{
    const int part = g->part++;
    return part >= CONF_PARTS || !g->without || !g->without[part];
}

const char *random_text(random_state *g, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    char *made = model_take(&g->blocks, (size_t)length + 1);
    (void)vsnprintf(made, (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
    return made;
}

/* Types that a name has are more likely. */
model_scalar random_scalar(random_state *g)
{
    const conf_random after = {conf_draw(&g->random)};
    const model_scalar any = (model_scalar)conf_below(&g->random, MODEL_SCALARS);
    const bool named = g->source_count && conf_below(&g->random, 3);
    const model_scalar made =
        named ? g->sources[conf_below(&g->random, g->source_count)].scalar : any;
    g->random = after;
    return made;
}

random_wide random_least(model_scalar scalar)
{
    const model_scalar_info *info = &model_scalars[scalar];
    return info->is_signed ? -((random_wide)1 << (8 * info->bytes - 1)) : 0;
}

random_wide random_most(model_scalar scalar)
{
    const model_scalar_info *info = &model_scalars[scalar];
    return ((random_wide)1 << (8 * info->bytes - info->is_signed)) - 1;
}

static random_expression whole(const char *text, model_scalar scalar)
{
    const bool is_float = model_scalars[scalar].is_float;
    return (random_expression){text, scalar, is_float ? 0 : random_least(scalar),
                               is_float ? 0 : random_most(scalar)};
}

void random_add_source(random_state *g, const char *text, model_scalar scalar)
{
    if (g->source_count < SOURCES) {
        g->sources[g->source_count++] = whole(text, scalar);
    }
}

void random_add_range(random_state *g, const char *text, model_scalar scalar, int64_t low,
                      int64_t high)
{
    if (g->source_count < SOURCES) {
        g->sources[g->source_count++] = (random_expression){text, scalar, low, high};
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static random_expression literal(random_state *g, model_scalar scalar)
{
    static const char *const floats[] = {"0.5", "1.25", "3.0",   "1e10",  "0.0",
                                         "0.1", "7.75", "1e-30", "255.0", "16777218.0"};
    const char *name = model_scalars[scalar].name;
    if (model_scalars[scalar].is_float) {
        const char *minus = conf_below(&g->random, 3) ? "" : "-";
        return whole(random_text(g, "(%s%s%s)", minus, floats[conf_below(&g->random, 10)],
                                 scalar == MODEL_F32 ? "f" : ""),
                     scalar);
    }
    int64_t value =
        conf_below(&g->random, 3) ? conf_below(&g->random, 12) : conf_below(&g->random, 100);
    if (model_scalars[scalar].is_signed && conf_below(&g->random, 3) == 0) {
        value = -value;
    } else if (model_scalars[scalar].bytes == 8 && conf_below(&g->random, 4) == 0) {
        value = value * 987654321012345 + 4294967296;
    }
    const char *text = scalar == MODEL_I32   ? random_text(g, "(%lld)", (long long)value)
                       : scalar == MODEL_U32 ? random_text(g, "%lldu", (long long)value)
                                             : random_text(g, "(%s)%lld", name, (long long)value);
    return (random_expression){text, scalar, value, value};
}

/* However many names there are, it takes one draw: what follows stays as it is. */
static random_expression leaf(random_state *g, model_scalar scalar)
{
    const conf_random after = {conf_draw(&g->random)};
    const int first = conf_below(&g->random, g->source_count + 1);
    random_expression found = literal(g, scalar);
    if (conf_below(&g->random, 5) != 0) {
        for (int i = g->source_count; i > 0; i--) {
            const random_expression *at = &g->sources[(first + i) % g->source_count];
            found = at->scalar == scalar ? *at : found;
        }
    }
    g->random = after;
    return found;
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* The same values modulo a number, so that they lie between -(modulus - 1) and modulus - 1. */
static random_expression reduce(random_state *g, random_expression e, int64_t modulus)
{
    if (e.low > -modulus && e.high < modulus) {
        return e;
    }
    const random_wide low = e.low < 0 ? -(random_wide)(modulus - 1) : 0;
    return (random_expression){random_text(g, "(%s %% %lld)", e.text, (long long)modulus), e.scalar,
                               low, modulus - 1};
}

static random_expression convert(random_state *g, model_scalar to, random_expression e)
{
    const model_scalar_info *into = &model_scalars[to], *from = &model_scalars[e.scalar];
    if (to == e.scalar) {
        return e;
    }
    if (into->is_float) {
        return whole(random_text(g, "(%s)%s", into->name, e.text), to);
    }
    if (from->is_float) {
        static const char *const limits[] = {"127.0",        "255.0",        "32767.0", "65535.0",
                                             "2147483000.0", "4294967000.0", "9e18",    "1.8e19"};
        return whole(random_text(g, "(%s)%s_%s_%s(%s, %s%s)", into->name,
                                 into->is_signed ? "within" : "below", from->name, g->id, e.text,
                                 limits[to], e.scalar == MODEL_F32 ? "f" : ""),
                     to);
    }
    if (into->is_signed && (e.low < random_least(to) || e.high > random_most(to))) {
        e = reduce(g, e, (int64_t)random_most(to));
    }
    random_expression made = whole(random_text(g, "(%s)%s", into->name, e.text), to);
    if (e.low >= random_least(to) && e.high <= random_most(to)) {
        made.low = e.low;
        made.high = e.high;
    }
    return made;
}

/* ---- integers -------------------------------------------------------------------------------- */

static random_wide larger(random_wide a, random_wide b)
{
    return a > b ? a : b;
}

static random_wide smaller(random_wide a, random_wide b)
{
    return a < b ? a : b;
}

static random_expression product(random_expression a, random_expression b, random_expression made)
{
    const random_wide w = a.low * b.low, x = a.low * b.high, y = a.high * b.low,
                      z = a.high * b.high;
    made.low = smaller(smaller(w, x), smaller(y, z));
    made.high = larger(larger(w, x), larger(y, z));
    return made;
}

/* + - * of a signed type: operands are reduced if the result might overflow. */
static random_expression signed_sum(random_state *g, int what, random_expression a,
                                    random_expression b)
{
    const bool large = model_scalars[a.scalar].bytes == 8;
    const int64_t modulus =
        what == 2 ? (large ? 2000000011 : 30011) : (large ? 1000000000000037 : 1000000007);
    a = reduce(g, a, modulus);
    b = reduce(g, b, modulus);
    random_expression made = {random_text(g, "(%s %c %s)", a.text, "+-*"[what], b.text), a.scalar,
                              0, 0};
    if (what == 2) {
        return product(a, b, made);
    }
    made.low = what ? a.low - b.high : a.low + b.low;
    made.high = what ? a.high - b.low : a.high + b.high;
    return made;
}

static random_expression quotient(random_state *g, bool rest, random_expression a,
                                  random_expression b)
{
    const bool is_signed = model_scalars[a.scalar].is_signed;
    const char *divisor =
        is_signed ? random_text(g, "((%s & 15) + 1)", b.text) : random_text(g, "(%s | 1)", b.text);
    if (is_signed && conf_below(&g->random, 3) == 0) {
        divisor = random_text(g, "(-%s)", divisor);
        a = reduce(g, a, (int64_t)random_most(a.scalar));
    }
    random_expression made =
        whole(random_text(g, "(%s %c %s)", a.text, rest ? '%' : '/', divisor), a.scalar);
    if (is_signed && rest) {
        made.low = -15;
        made.high = 15;
    }
    return made;
}

static random_expression shifted(random_state *g, bool left, random_expression a,
                                 random_expression b)
{
    const bool is_signed = model_scalars[a.scalar].is_signed;
    const int mask = model_scalars[a.scalar].bytes * 8 - 1;
    if (left && is_signed) {
        return (random_expression){random_text(g, "((%s & 1023) << (%s & 15))", a.text, b.text),
                                   a.scalar, 0, (random_wide)1023 << 15};
    }
    return whole(random_text(g, "(%s %s (%s & %d))", a.text, left ? "<<" : ">>", b.text, mask),
                 a.scalar);
}

static random_expression negated(random_state *g, random_expression a)
{
    if (model_scalars[a.scalar].is_signed) {
        a = reduce(g, a, (int64_t)random_most(a.scalar));
        return (random_expression){random_text(g, "(-%s)", a.text), a.scalar, -a.high, -a.low};
    }
    return whole(random_text(g, "(-%s)", a.text), a.scalar);
}

/* Of i32, u32, i64 and u64. */
static random_expression integer(random_state *g, model_scalar scalar, int depth)
{
    const int what = conf_below(&g->random, 13);
    const random_expression a = make(g, scalar, depth - 1), b = make(g, scalar, depth - 1);
    if (what <= 2) {
        return model_scalars[scalar].is_signed
                   ? signed_sum(g, what, a, b)
                   : whole(random_text(g, "(%s %c %s)", a.text, "+-*"[what], b.text), scalar);
    }
    if (what <= 5) {
        return whole(random_text(g, "(%s %c %s)", a.text, "&|^"[what - 3], b.text), scalar);
    }
    switch (what) {
    case 6:
    case 7:
        return quotient(g, what == 7, a, b);
    case 8:
    case 9:
        return shifted(g, what == 8, a, b);
    case 10:
        return negated(g, a);
    case 11:
        return whole(random_text(g, "(~%s)", a.text), scalar);
    default:
        break;
    }
    random_expression made = {
        random_text(g, "(%s ? %s : %s)", random_condition(g, depth - 1), a.text, b.text), scalar,
        smaller(a.low, b.low), larger(a.high, b.high)};
    return made;
}

/* ---- floats ---------------------------------------------------------------------------------- */

static random_expression floating(random_state *g, model_scalar scalar, int depth)
{
    const char *name = model_scalars[scalar].name;
    const model_scalar bits = scalar == MODEL_F32 ? MODEL_U32 : MODEL_U64;
    const int what = conf_below(&g->random, 11);
    const char *a = make(g, scalar, depth - 1).text, *b = make(g, scalar, depth - 1).text;
    const char *made;
    switch (what) {
    case 0:
    case 1:
    case 2:
        made = random_text(g, "(%s %c %s)", a, "+-*"[what], b);
        break;
    case 3:
    case 4:
        made =
            random_text(g, "iso_fma_%s(%s, %s, %s)", name, a, b, make(g, scalar, depth - 1).text);
        break;
    case 5:
        made = random_text(g, "iso_div_%s(%s, %s)", name, a, b);
        break;
    case 6:
        made = random_text(g, "iso_sqrt_%s(%s)", name, a);
        break;
    case 7:
        made = random_text(g, "iso_exp_%s(%s)", name, a);
        break;
    case 8:
        made = random_text(g, "(-%s)", a);
        break;
    case 9:
        made = random_text(g, "iso_from_bits_%s(%s)", name, make(g, bits, depth - 1).text);
        break;
    default:
        made = random_text(g, "(%s ? %s : %s)", random_condition(g, depth - 1), a, b);
    }
    return whole(made, scalar);
}

/* ---- expressions ----------------------------------------------------------------------------- */

const char *random_condition(random_state *g, int depth)
{
    static const char *const signs[] = {"<", ">", "<=", ">=", "==", "!="};
    const model_scalar scalar = random_scalar(g);
    const int what = conf_below(&g->random, 5);
    const char *a = make(g, scalar, depth - 1).text, *b = make(g, scalar, depth - 1).text;
    const char *made = random_text(g, "(%s %s %s)", a, signs[conf_below(&g->random, 6)], b);
    if (what == 0 && depth > 0) {
        const char *other = random_condition(g, depth - 1);
        made = random_text(g, "(%s %s %s)", made, conf_below(&g->random, 2) ? "&&" : "||", other);
    } else if (what == 1) {
        made = random_text(g, "(!%s)", made);
    }
    return random_keep(g) ? made : "(1 == 1)";
}

static random_expression converted(random_state *g, model_scalar scalar, int depth)
{
    const model_scalar from = random_scalar(g);
    random_expression e = make(g, from, depth - 1);
    if ((scalar == MODEL_U32 && from == MODEL_F32) || (scalar == MODEL_U64 && from == MODEL_F64)) {
        return whole(random_text(g, "iso_bits_%s(known_%s_%s(%s))", model_scalars[from].name,
                                 model_scalars[from].name, g->id, e.text),
                     scalar);
    }
    return convert(g, scalar, e);
}

static random_expression make(random_state *g, model_scalar scalar, int depth)
{
    random_expression made;
    const random_expression simple = leaf(g, scalar);
    if (depth <= 0 || conf_below(&g->random, 6) == 0) {
        return simple;
    }
    if (conf_below(&g->random, 5) == 0) {
        made = converted(g, scalar, depth);
    } else if (model_scalars[scalar].is_float) {
        made = floating(g, scalar, depth);
    } else if (model_scalars[scalar].bytes < 4) {
        const bool wide = conf_below(&g->random, 2);
        made = convert(g, scalar, make(g, wide ? MODEL_U32 : MODEL_I32, depth));
    } else {
        made = integer(g, scalar, depth);
    }
    return random_keep(g) ? made : simple;
}

const char *random_make(random_state *g, model_scalar scalar, int depth)
{
    return make(g, scalar, depth).text;
}
