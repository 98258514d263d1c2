/* SPDX-License-Identifier: Apache-2.0 */
/* unit_f64.c - the test of NVIDIA's f64 matrix units (unit_f64.cl). */
#include "backends/simt/unit.h"
#include "kernel_texts.h"

enum { COLS = 8, WAYS = 4 };

/* By fma, and by instructions of 4, 8 and 16 terms. */
static const simt_unit_chain data = {
    .dtype = ISO_F64, .cols = COLS, .ways = WAYS, .terms = {1, 4, 8, 16}};

static const char *const unit_parts[] = {kernel_text_dialect, kernel_text_unit_f64};
static const simt_text unit_text = {
    .name = "unit_f64",
    .parts = unit_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_USE_F64", "ISO_UNIT", "ISO_CASES", "ISO_TERMS"},
    .kernels = {"unit_f64"},
};

static bool has(const simt_limits *limits, const char **problem)
{
    *problem = limits->f64_unit_problem;
    return limits->f64_unit != 0;
}

static simt_spec spec_for(const simt_limits *limits)
{
    enum { TEAM = 32 };
    return (simt_spec){
        .text = &unit_text,
        .values = {TEAM, ISO_F64, 1, limits->f64_unit, SIMT_CHAIN_CASES, SIMT_CHAIN_TERMS}};
}

static void make(void *inputs)
{
    simt_unit_chain_make(&data, inputs);
}

static simt_verdict compare(const void *inputs, const void *results, char *reason, size_t room)
{
    return simt_unit_chain_compare(&data, inputs, results, reason, room);
}

static iso_status launch(simt_stream *stream, void *memory)
{
    const simt_spec spec = spec_for(&stream->device->limits);
    return simt_unit_chain_launch(stream, &spec, &data, memory);
}

const simt_unit_test simt_unit_test_f64 = {
    .name = "f64 matrix units",
    .first_use = "the first tiled product of f64",
    .has = has,
    .in = SIMT_CHAIN_IN(COLS) * 8,
    .out = SIMT_CHAIN_OUT(COLS, WAYS) * 8,
    .spec = spec_for,
    .make = make,
    .launch = launch,
    .compare = compare,
};
