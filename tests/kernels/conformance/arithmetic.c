/* SPDX-License-Identifier: Apache-2.0 */
/* arithmetic.c - operators, conversions and functions of scalars. What C leaves undefined fails. */
#include "tests/kernels/conformance/parts.h"

#include <math.h>
#include <string.h>

typedef __int128 wide;

/* The range of an integer type. */
static wide least(model_scalar scalar)
{
    const model_scalar_info *info = &model_scalars[scalar];
    return info->is_signed ? -((wide)1 << (8 * info->bytes - 1)) : 0;
}

static wide most(model_scalar scalar)
{
    const model_scalar_info *info = &model_scalars[scalar];
    return ((wide)1 << (8 * info->bytes - (info->is_signed ? 1 : 0))) - 1;
}

static wide widen(model_scalar scalar, model_value value)
{
    return model_scalars[scalar].is_signed ? (wide)value.i : (wide)value.u;
}

/* Unsigned types wrap; a signed type must have the value. */
static model_value narrow(model_state *s, int line, model_scalar scalar, wide value,
                          const char *what)
{
    const model_scalar_info *info = &model_scalars[scalar];
    if (info->is_signed && (value < least(scalar) || value > most(scalar))) {
        model_fail(s->escape, line, "%s gives a value that no %s has", what, info->name);
    }
    const uint64_t mask = info->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * info->bytes)) - 1;
    return info->is_signed ? (model_value){.i = (int64_t)value}
                           : (model_value){.u = (uint64_t)value & mask};
}

/* ---- operators ------------------------------------------------------------------------------- */

static model_value shift(model_state *s, int line, model_op op, model_scalar scalar, wide a, wide b)
{
    if (b < 0 || b >= 8 * model_scalars[scalar].bytes) {
        model_fail(s->escape, line, "a shift by %lld", (long long)b);
    }
    if (op == OP_SHR) {
        return narrow(s, line, scalar, a >> b, "a shift");
    }
    if (a < 0) {
        model_fail(s->escape, line, "a left shift of a negative number");
    }
    return narrow(s, line, scalar, a << b, "a left shift");
}

static model_value integers(model_state *s, int line, model_op op, model_scalar scalar, wide a,
                            wide b)
{
    if ((op == OP_DIV || op == OP_REM) && b == 0) {
        model_fail(s->escape, line, "a division by zero");
    }
    switch (op) {
    case OP_ADD:
        return narrow(s, line, scalar, a + b, "+");
    case OP_SUB:
        return narrow(s, line, scalar, a - b, "-");
    case OP_MUL:
        /* Two unsigned factors of 64 bits do not fit in the signed wide type. */
        return model_scalars[scalar].is_signed
                   ? narrow(s, line, scalar, a * b, "*")
                   : narrow(s, line, scalar, (wide)((uint64_t)a * (uint64_t)b), "*");
    case OP_DIV:
        return narrow(s, line, scalar, a / b, "/");
    case OP_REM:
        (void)narrow(s, line, scalar, a / b, "%");
        return narrow(s, line, scalar, a % b, "%");
    case OP_AND:
        return narrow(s, line, scalar, a & b, "&");
    case OP_OR:
        return narrow(s, line, scalar, a | b, "|");
    case OP_XOR:
        return narrow(s, line, scalar, a ^ b, "^");
    default:
        return shift(s, line, op, scalar, a, b);
    }
}

static model_value floats(model_state *s, int line, model_op op, model_scalar scalar, model_value a,
                          model_value b)
{
    const bool narrow_type = scalar == MODEL_F32;
    switch (op) {
    case OP_ADD:
        return narrow_type ? (model_value){.f = a.f + b.f} : (model_value){.d = a.d + b.d};
    case OP_SUB:
        return narrow_type ? (model_value){.f = a.f - b.f} : (model_value){.d = a.d - b.d};
    case OP_MUL:
        return narrow_type ? (model_value){.f = a.f * b.f} : (model_value){.d = a.d * b.d};
    default:
        model_fail(s->escape, line, "an operator of floats whose bits are not defined");
    }
}

#define COMPARE(op, a, b)                                                                          \
    ((op) == OP_LT   ? (a) < (b)                                                                   \
     : (op) == OP_GT ? (a) > (b)                                                                   \
     : (op) == OP_LE ? (a) <= (b)                                                                  \
     : (op) == OP_GE ? (a) >= (b)                                                                  \
     : (op) == OP_EQ ? (a) == (b)                                                                  \
                     : (a) != (b))

model_value model_binary(model_state *s, int line, model_op op, model_scalar scalar, model_value a,
                         model_value b)
{
    const bool compares = op >= OP_LT && op <= OP_NE;
    if (scalar == MODEL_F32 && compares) {
        return (model_value){.i = COMPARE(op, a.f, b.f)};
    }
    if (scalar == MODEL_F64 && compares) {
        return (model_value){.i = COMPARE(op, a.d, b.d)};
    }
    if (model_scalars[scalar].is_float) {
        return floats(s, line, op, scalar, a, b);
    }
    const wide left = widen(scalar, a), right = widen(scalar, b);
    if (compares) {
        return (model_value){.i = COMPARE(op, left, right)};
    }
    return integers(s, line, op, scalar, left, right);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static model_value from_float(model_state *s, int line, model_scalar to, double value)
{
    if (to == MODEL_F32) {
        return (model_value){.f = (float)value};
    }
    if (to == MODEL_F64) {
        return (model_value){.d = value};
    }
    const double whole = trunc(value);
    if (!(whole >= (double)least(to) && whole < (double)most(to) + 1)) {
        model_fail(s->escape, line, "%g becomes a value that no %s has", value,
                   model_scalars[to].name);
    }
    return narrow(s, line, to, (wide)whole, "a conversion");
}

model_value model_convert_value(model_state *s, int line, model_scalar from, model_scalar to,
                                model_value value)
{
    if (from == to) {
        return value;
    }
    if (from == MODEL_F32 || from == MODEL_F64) {
        return from_float(s, line, to, from == MODEL_F32 ? (double)value.f : value.d);
    }
    const bool is_signed = model_scalars[from].is_signed;
    if (to == MODEL_F32) {
        return (model_value){.f = is_signed ? (float)value.i : (float)value.u};
    }
    if (to == MODEL_F64) {
        return (model_value){.d = is_signed ? (double)value.i : (double)value.u};
    }
    return narrow(s, line, to, widen(from, value), "a conversion");
}

/* ---- functions ------------------------------------------------------------------------------- */

/* e^a as isomer/kernel.h states it: n is the integer nearest to a log2(e), r = a - n ln(2), e^r is
 * Taylor's polynomial up to r^7, and 2^n is applied last. */
static float exp_f32(float a)
{
    if (isnan(a)) {
        return a;
    }
    if (a <= -104.0f || a > 88.8f) {
        return a < 0 ? 0.0f : INFINITY;
    }
    const double n = rint((double)a * (double)1.442695f); /* the product is exact */
    const float high = fmaf((float)n, -0x1.62e400p-1f, a);
    const float r = fmaf((float)n, -0x1.7f7d1cp-20f, high);
    double factorial = 5040;
    float p = (float)(1 / factorial);
    for (int k = 7; k > 2; k--) {
        factorial /= k;
        p = fmaf(p, r, (float)(1 / factorial));
    }
    const float square = p * r;
    p = fmaf(square, r, r) + 1;
    return ldexpf(p, (int)n);
}

static double exp_f64(double a)
{
    if (isnan(a)) {
        return a;
    }
    if (a <= -746.0 || a > 709.8) {
        return a < 0 ? 0.0 : (double)INFINITY;
    }
    const double magic = 0x1.8p52;
    const double n = fma(a, 0x1.71547652b82fep0, magic) - magic;
    const double high = fma(n, -0x1.62e42fefa39efp-1, a);
    const double r = fma(n, -0x1.abc9e3b39803fp-56, high);
    double factorial = 6227020800;
    double p = 1 / factorial;
    for (int k = 13; k > 2; k--) {
        factorial /= k;
        p = fma(p, r, 1 / factorial);
    }
    const double square = p * r;
    p = fma(square, r, r) + 1;
    return ldexp(p, (int)n);
}

static model_value math_f32(model_op op, const model_value *args)
{
    const float a = args[0].f;
    switch (op) {
    case OP_FMA:
        return (model_value){.f = fmaf(a, args[1].f, args[2].f)};
    case OP_DIVIDE:
        return (model_value){.f = a / args[1].f};
    case OP_SQRT:
        return (model_value){.f = sqrtf(a)};
    default:
        return (model_value){.f = exp_f32(a)};
    }
}

model_value model_math(model_op op, model_scalar scalar, const model_value *args)
{
    if (scalar == MODEL_F32) {
        return math_f32(op, args);
    }
    const double a = args[0].d;
    switch (op) {
    case OP_FMA:
        return (model_value){.d = fma(a, args[1].d, args[2].d)};
    case OP_DIVIDE:
        return (model_value){.d = a / args[1].d};
    case OP_SQRT:
        return (model_value){.d = sqrt(a)};
    default:
        return (model_value){.d = exp_f64(a)};
    }
}
