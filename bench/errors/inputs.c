/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - operands whose elements have like or unlike sizes. */
#include "bench/errors/errors.h"

#include "bench/arith/arith.h"

#include <math.h>

const errors_input errors_inputs[ERRORS_INPUTS] = {
    {.name = "uniform", .words = "elements in [-1, 1)"},
    {.name = "normal", .words = "normal distribution", .normal = true},
    {.name = "rows", .words = "a row, a column: times 2^-20 to 2^20", .rows = 20, .wide = true},
    {.name = "spread10", .words = "an element: times 2^-20 to 1", .spread = 10},
    {.name = "spread20", .words = "an element: times 2^-40 to 1", .spread = 20, .wide = true},
    {.name = "spread40", .words = "an element: times 2^-80 to 1", .spread = 40, .wide = true},
    {.name = "large", .words = "one element of a row of A: times 2^10", .large = 10},
    {.name = "graded10", .words = "A falls from 2^10 to 2^-10 along k, B rises", .graded = 10},
    {.name = "graded20",
     .words = "A falls from 2^20 to 2^-20 along k, B rises",
     .graded = 20,
     .wide = true},
    {.name = "graded40",
     .words = "A falls from 2^40 to 2^-40 along k, B rises",
     .graded = 40,
     .wide = true},
    {.name = "hidden", .words = "A begins with 1e10, B with 0", .hidden = true, .wide = true},
};

/* Each draws from numbers of its own. */
enum { SIZE_OF_ROW = 0x1001, SIZE_OF_ELEMENT, PLACE_OF_LARGE, ANGLE };

static double unit(uint64_t mix) /* in [0, 1) */
{
    return (double)(mix >> 11) * 0x1p-53;
}

static double drawn(const errors_input *input, uint64_t seed, uint64_t index)
{
    double u = unit(arith_mix(seed, index));
    if (!input->normal) {
        return 2 * u - 1;
    }
    return sqrt(-2 * log(1 - u)) *
           cos(2 * 3.14159265358979323846 * unit(arith_mix(seed ^ ANGLE, index)));
}

double errors_element(const errors_input *input, int operand, uint64_t seed, int64_t row, int64_t k,
                      int64_t terms)
{
    uint64_t line = (uint64_t)row, at = line * (uint64_t)terms + (uint64_t)k;
    int exponent = 0;
    seed += (uint64_t)operand;
    if (input->hidden && k == 0) {
        return operand == 0 ? 1e10 : 0;
    }
    if (input->rows > 0) {
        uint64_t choices = 2 * (uint64_t)input->rows + 1;
        exponent += (int)(arith_mix(seed ^ SIZE_OF_ROW, line) % choices) - input->rows;
    }
    if (input->spread > 0) {
        uint64_t choices = 2 * (uint64_t)input->spread + 1;
        exponent -= (int)(arith_mix(seed ^ SIZE_OF_ELEMENT, at) % choices);
    }
    if (input->graded > 0 && terms > 1) {
        int64_t fallen = 2 * input->graded * k / (terms - 1);
        exponent += (int)(operand == 0 ? input->graded - fallen : fallen - input->graded);
    }
    if (input->large > 0 && operand == 0 &&
        arith_mix(seed ^ PLACE_OF_LARGE, line) % (uint64_t)terms == (uint64_t)k) {
        exponent += input->large;
    }
    return ldexp(drawn(input, seed, at), exponent);
}
