/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - helpers of the tests of faulty plug-ins; see faults.h. */
#include "tests/faults/faults.h"

#include <stdlib.h>
#include <string.h>

void faults_set(const char *name)
{
    if (name) {
        setenv("ISOMER_FAULT", name, 1);
    } else {
        unsetenv("ISOMER_FAULT");
    }
}

void faults_expect_error(iso_status status, const char *const *words)
{
    const char *text = iso_last_error();
    assert_int_equal(iso_last_status(), status);
    for (int i = 0; words[i]; i++) {
        if (!strstr(text, words[i])) {
            fail_msg("\"%s\" is not in: %s", words[i], text);
        }
    }
}

iso_gemm_args faults_gemm(iso_buffer buffer)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = args.k = 2;
    args.a = (iso_operand){buffer, 0};
    args.b = (iso_operand){buffer, 16};
    args.c = (iso_operand){buffer, 32};
    return args;
}

iso_reduce_args faults_sum(iso_buffer buffer)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.cols = 4;
    args.x = (iso_operand){buffer, 32};
    args.result = (iso_operand){buffer, 48};
    return args;
}

void faults_open(faults_session *session, const char *spec)
{
    faults_works(iso_device_open(spec, &session->device));
    faults_works(iso_stream_create(session->device, 0, &session->stream));
    faults_works(iso_buffer_create(session->device, FAULTS_BYTES, &session->buffer));
}

void faults_close(faults_session *session)
{
    faults_works(iso_device_close(session->device));
}

void faults_computes(const char *spec)
{
    static const float input[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float expected[5] = {19, 22, 43, 50, 134};
    float output[5] = {0};
    faults_session s;

    faults_open(&s, spec);
    const iso_gemm_args gemm = faults_gemm(s.buffer);
    const iso_reduce_args sum = faults_sum(s.buffer);
    faults_works(iso_write(s.stream, (iso_operand){s.buffer, 0}, input, sizeof(input)));
    faults_works(iso_gemm(s.stream, &gemm));
    faults_works(iso_reduce(s.stream, &sum));
    faults_works(iso_read(s.stream, output, (iso_operand){s.buffer, 32}, sizeof(output)));
    faults_works(iso_stream_sync(s.stream));
    assert_memory_equal(output, expected, sizeof(expected));
    faults_close(&s);
}
