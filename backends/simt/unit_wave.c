/* SPDX-License-Identifier: Apache-2.0 */
/* unit_wave.c - the tests of AMD's matrix units for f64 and f32 (unit_wave.cl). */
#include "backends/simt/unit.h"
#include "kernel_texts.h"

enum { COLS = 16, WAYS = 2 };

static const char *const unit_parts[] = {kernel_text_dialect, kernel_text_wave,
                                         kernel_text_unit_wave};
static const simt_text unit_text = {
    .name = "unit_wave",
    .parts = unit_parts,
    .part_count = 3,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_CASES", "ISO_TERMS"},
    .kernels = {"unit_wave"},
};

static simt_spec spec_of(iso_dtype dtype)
{
    enum { WAVE = 64 };
    return (simt_spec){
        .text = &unit_text,
        .values = {WAVE, (int32_t)dtype, dtype == ISO_F64, SIMT_CHAIN_CASES, SIMT_CHAIN_TERMS}};
}

/* The test of a type: by fma, and by the instructions, which have four terms. */
#define WAVE_TEST(type, dtype_of, bytes)                                                           \
    static const simt_unit_chain data_##type = {                                                   \
        .dtype = (dtype_of), .cols = COLS, .ways = WAYS, .terms = {1, 4}};                         \
    static bool has_##type(const simt_limits *limits, const char **problem)                        \
    {                                                                                              \
        *problem = limits->wave_##type##_problem;                                                  \
        return limits->wave_##type;                                                                \
    }                                                                                              \
    static simt_spec spec_##type(const simt_limits *limits)                                        \
    {                                                                                              \
        (void)limits;                                                                              \
        return spec_of(dtype_of);                                                                  \
    }                                                                                              \
    static void make_##type(void *inputs)                                                          \
    {                                                                                              \
        simt_unit_chain_make(&data_##type, inputs);                                                \
    }                                                                                              \
    static iso_status launch_##type(simt_stream *stream, void *memory)                             \
    {                                                                                              \
        const simt_spec spec = spec_of(dtype_of);                                                  \
        return simt_unit_chain_launch(stream, &spec, &data_##type, memory);                        \
    }                                                                                              \
    static simt_verdict compare_##type(const void *inputs, const void *results, char *reason,      \
                                       size_t room)                                                \
    {                                                                                              \
        return simt_unit_chain_compare(&data_##type, inputs, results, reason, room);               \
    }                                                                                              \
    const simt_unit_test simt_unit_test_wave_##type = {                                            \
        .name = #type " matrix units",                                                             \
        .first_use = "the first tiled product of " #type,                                          \
        .has = has_##type,                                                                         \
        .in = SIMT_CHAIN_IN(COLS) * (bytes),                                                       \
        .out = SIMT_CHAIN_OUT(COLS, WAYS) * (bytes),                                               \
        .spec = spec_##type,                                                                       \
        .make = make_##type,                                                                       \
        .launch = launch_##type,                                                                   \
        .compare = compare_##type,                                                                 \
    };

WAVE_TEST(f64, ISO_F64, 8)
WAVE_TEST(f32, ISO_F32, 4)
