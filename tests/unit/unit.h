/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - helpers of the core's unit tests. */
#ifndef ISOMER_UNIT_H
#define ISOMER_UNIT_H

#include <isomer/isomer.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A call that must succeed. */
#define works(expression)                                                                          \
    do {                                                                                           \
        iso_status works_status_ = (expression);                                                   \
        if (works_status_ != ISO_OK)                                                               \
            fail_msg("%s: %s: %s", #expression, iso_status_name(works_status_), iso_last_error()); \
    } while (0)

/* A call that must fail with this status and a text that contains all of the words (const char *).
 */
#define fails(expression, status, ...)                                                             \
    do {                                                                                           \
        iso_clear_error();                                                                         \
        unit_judge(#expression, (expression), (status), (const char *const[]){__VA_ARGS__, NULL}); \
    } while (0)

void unit_judge(const char *what, iso_status is, iso_status expected, const char *const *words);

/* One field of a descriptor, set to a value that breaks a rule, and words of the message. */
typedef struct unit_row {
    size_t offset, bytes;
    int64_t value;
    const char *words[4];
} unit_row;

#define UNIT_ROW(type, field, value, ...)                                                          \
    {                                                                                              \
        offsetof(type, field), sizeof(((type *)0)->field), value,                                  \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* iso_execute refuses the descriptor with each row's value, and then runs it as it is. */
void unit_check_rows(iso_stream stream, iso_op_kind kind, const void *good, size_t size,
                     const unit_row *rows, size_t count);
#define UNIT_CHECK_ROWS(stream, kind, good, rows)                                                  \
    unit_check_rows(stream, kind, &(good), sizeof(good), rows, sizeof(rows) / sizeof(rows)[0])

/* A device of the CPU backend, two streams of it, and a buffer of UNIT_BYTES. */
enum { UNIT_BYTES = 65536 };
typedef struct unit_session {
    iso_device device;
    iso_stream stream, other;
    iso_buffer buffer;
} unit_session;
void unit_open(unit_session *session, const char *spec);
void unit_close(unit_session *session);

/* f32, square, three matrices one after another in the buffer. */
iso_gemm_args unit_gemm(iso_buffer buffer, int64_t n);
/* f32, n x n, with A, x and y one after another in the buffer. */
iso_gemv_args unit_gemv(iso_buffer buffer, int64_t n);
/* f32, the matrix of ones n x n without a transposed copy, with x and y one after another in the
 * buffer. The caller destroys the matrix. */
iso_spmv_args unit_spmv(iso_device device, iso_buffer buffer, int64_t n);
/* The sum of `count` f32 at the start of the buffer, written after them. */
iso_reduce_args unit_sum(iso_buffer buffer, int64_t count);
/* z = x + y of f32, stored one after another. */
iso_map_args unit_add(iso_buffer buffer, int64_t n);
/* n x n elements of 4 bytes, stored one after another. */
iso_transpose_args unit_transpose(iso_buffer buffer, int64_t n);

/* Creates a new empty folder under TMPDIR; removes it with the files in it. */
void unit_make_folder(char *path, size_t room);
void unit_remove_folder(const char *path);

#endif
