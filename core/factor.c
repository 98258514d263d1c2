/* SPDX-License-Identifier: Apache-2.0 */
/* factor.c - rounds and compares alpha and beta as integers, so that the calling thread's
 * floating-point settings do not matter. */
#include "common/dtype.h"
#include "core/op.h"

#include <stdbool.h>
#include <string.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

bool core_is_zero(double value)
{
    return bits_of(value) << 1 == 0;
}

bool core_is_one(double value)
{
    return bits_of(value) == UINT64_C(0x3ff) << 52;
}

/* Rounds the bits of a magnitude to nearest even, so that the last `drop` bits become 0. */
static uint64_t round_off(uint64_t size, int drop)
{
    const uint64_t hidden = UINT64_C(1) << 52, digits = (size & (hidden - 1)) | hidden;
    uint64_t one;

    if (drop > 53) {
        return 0;
    }
    /* The value is at least half of the smallest f32, and less than it. Exactly half rounds to 0,
     * which is even; more rounds up to the smallest f32. */
    if (drop == 53) {
        return digits == hidden ? 0 : (size | (hidden - 1)) + 1;
    }
    one = UINT64_C(1) << drop;
    return (size + one / 2 - 1 + (digits >> drop & 1)) & ~(one - 1);
}

static double round_to_f32(double value)
{
    const uint64_t bits = bits_of(value), sign = bits >> 63 << 63, size = bits ^ sign;
    const uint64_t infinity = UINT64_C(0x7ff) << 52, past_largest = UINT64_C(0x47effffff0000000);
    enum { LEAST_NORMAL = 1023 - 126, DROP = 52 - 23 };
    const int exponent = (int)(size >> 52);

    if (size > infinity) {
        return double_of(bits | UINT64_C(1) << 51);
    }
    if (size >= past_largest) { /* past_largest itself is a tie and rounds up */
        return double_of(sign | infinity);
    }
    return double_of(
        sign | round_off(size, exponent >= LEAST_NORMAL ? DROP : DROP + LEAST_NORMAL - exponent));
}

double core_round_factor(iso_dtype dtype, double factor)
{
    return dtype_get(dtype)->computes_in == ISO_F32 ? round_to_f32(factor) : factor;
}
