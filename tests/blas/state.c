/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - a vendor's library that adds in x87 registers gives the same results whatever the
 * calling thread's floating-point settings, in that thread and in a thread of the backend. */
#include "tests/fpstate.h"

#include <isomer/isomer.h>

#include <stdio.h>
#include <string.h>

static int failures;

static void check(iso_status status, const char *what, const char *state)
{
    if (status != ISO_OK) {
        fpstate_clear();
        (void)fprintf(stderr, "FAILED: %s: %s: %s\n", state, what, iso_last_error());
        failures++;
    }
}

/* 1 + 2^-40, as a product of one row and one column. */
static uint64_t product(uint32_t flags, const char *state)
{
    static const double a[2] = {1, 0x1p-40}, b[2] = {1, 1};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_device device = {0};
    iso_stream stream = {0};
    iso_buffer buffer = {0};
    uint64_t bits = 0;
    check(iso_device_open("openmp", &device), "opens", state);
    check(iso_stream_create(device, flags, &stream), "gives a stream", state);
    check(iso_buffer_create(device, 256, &buffer), "gives a buffer", state);
    args.dtype = ISO_F64;
    args.variant = ISO_VARIANT_VENDOR;
    args.m = args.n = 1;
    args.k = 2;
    args.a = (iso_operand){buffer, 0};
    args.b = (iso_operand){buffer, 64};
    args.c = (iso_operand){buffer, 128};
    check(iso_write(stream, args.a, a, sizeof a), "writes", state);
    check(iso_write(stream, args.b, b, sizeof b), "writes", state);
    check(iso_gemm(stream, &args), "multiplies", state);
    check(iso_read(stream, &bits, args.c, sizeof bits), "reads", state);
    check(iso_stream_sync(stream), "waits", state);
    check(iso_device_close(device), "closes", state);
    return bits;
}

int main(void)
{
    static const double expected = 1 + 0x1p-40;
    uint64_t should;
    memcpy(&should, &expected, sizeof should);
    for (int i = 0; i < FPSTATES; i++) {
        for (uint32_t flags = 0; flags <= ISO_STREAM_INLINE; flags++) {
            fpstate_set(&fpstates[i]);
            const uint64_t before = fpstate_control();
            const uint64_t bits = product(flags, fpstates[i].name);
            const uint64_t after = fpstate_control();
            fpstate_clear();
            if (bits != should || before != after) {
                (void)fprintf(stderr,
                              "FAILED: %s, %s: 0x%llx, not 0x%llx; settings 0x%llx, then "
                              "0x%llx\n",
                              fpstates[i].name, flags ? "inline" : "asynchronous",
                              (unsigned long long)bits, (unsigned long long)should,
                              (unsigned long long)before, (unsigned long long)after);
                failures++;
            }
        }
    }
    return failures ? 1 : 0;
}
