/* SPDX-License-Identifier: Apache-2.0 */
/* factors.c - factors of products and solves: on the device, rounded, and described. */
#include "bench/ops/ops.h"
#include "bench/tool.h"

#include <string.h>

bool bench_factors(const gemm_shape *g, iso_dtype dtype, unsigned char bytes[BENCH_FACTORS],
                   iso_buffer buffer, iso_operand *alpha, iso_operand *beta)
{
    const iso_dtype type = g->factor_dtype != 0 ? g->factor_dtype : arith_wide(dtype);
    const int64_t size = iso_dtype_size(type);
    memset(bytes, 0xff, BENCH_FACTORS);
    if (g->alpha_at) {
        arith_store(type, bytes, g->alpha);
        if (arith_is_complex(dtype)) {
            arith_store(type, bytes + size, g->alpha_imag);
        }
        *alpha = (iso_operand){buffer, 0};
    }
    if (g->beta_at) {
        arith_store(type, bytes + BENCH_FACTORS / 2, g->beta);
        if (arith_is_complex(dtype)) {
            arith_store(type, bytes + BENCH_FACTORS / 2 + size, g->beta_imag);
        }
        *beta = (iso_operand){buffer, BENCH_FACTORS / 2};
    }
    return g->alpha_at || g->beta_at;
}

/* A volatile float, because gcc 12 drops the conversion to f32 and back when it vectorizes two of
 * them. */
static double rounded(double factor, bool at, iso_dtype stored, iso_dtype wide)
{
    unsigned char bytes[8];
    if (at) {
        arith_store(stored, bytes, factor);
        factor = arith_load(stored, bytes);
    }
    volatile float narrow = (float)factor;
    return wide == ISO_F64 ? factor : (double)narrow;
}

arith_factors bench_factors_of(const gemm_shape *g, iso_dtype dtype)
{
    const iso_dtype wide = arith_wide(dtype), stored = g->factor_dtype ? g->factor_dtype : wide;
    return (arith_factors){.alpha = rounded(g->alpha, g->alpha_at, stored, wide),
                           .alpha_imag = rounded(g->alpha_imag, g->alpha_at, stored, wide),
                           .beta = rounded(g->beta, g->beta_at, stored, wide),
                           .beta_imag = rounded(g->beta_imag, g->beta_at, stored, wide),
                           .alpha_at = g->alpha_at,
                           .beta_at = g->beta_at};
}

void bench_describe_factors(const gemm_shape *g, iso_dtype dtype, json_t *layout)
{
    if (arith_is_complex(dtype)) {
        tool_set_number(layout, "alpha_imag", g->alpha_imag);
        tool_set_number(layout, "beta_imag", g->beta_imag);
    }
    if (g->alpha_at || g->beta_at) {
        tool_set_text(layout, "on_device",
                      !g->beta_at   ? "alpha"
                      : g->alpha_at ? "alpha and beta"
                                    : "beta");
    }
}
