/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - helpers of the tests of faulty plug-ins. ISOMER_BACKEND_PATH has the folders of all of
 * them, and of the reference plug-in. */
#ifndef FAULTS_H
#define FAULTS_H

#include <isomer/isomer.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Sets the fault of isomer-fault.so; NULL: none. */
void faults_set(const char *name);

/* Checks that this thread's last failure has this status, and that its text contains every word (a
 * list that ends in NULL). */
void faults_expect_error(iso_status status, const char *const *words);

/* `status` is the expected one, and the text contains the word. */
#define faults_expect(expression, status, word)                                                    \
    do {                                                                                           \
        iso_clear_error();                                                                         \
        assert_int_equal((expression), (status));                                                  \
        faults_expect_error((status), (const char *const[]){(word), NULL});                        \
    } while (0)

/* Must succeed; prints iso_last_error if not. */
#define faults_works(expression)                                                                   \
    do {                                                                                           \
        const iso_status works_status = (expression);                                              \
        if (works_status != ISO_OK) {                                                              \
            fail_msg("%s: %s", #expression, iso_last_error());                                     \
        }                                                                                          \
    } while (0)

/* Opens the device, multiplies two matrices on it, sums the result and closes the device. */
void faults_computes(const char *spec);

/* The descriptor of a product of two f32 matrices of 2 x 2, stored one after another in a buffer of
 * FAULTS_BYTES, and of the sum of its result. */
enum { FAULTS_BYTES = 64 };
iso_gemm_args faults_gemm(iso_buffer buffer);
iso_reduce_args faults_sum(iso_buffer buffer);

/* A device with a stream and a buffer. */
typedef struct faults_session {
    iso_device device;
    iso_stream stream;
    iso_buffer buffer;
} faults_session;
void faults_open(faults_session *session, const char *spec);
void faults_close(faults_session *session);

#endif
