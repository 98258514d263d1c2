/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_symbols.h - the functions and constants of a vendor's library that moves data between ranks.
 * Two vendors' libraries have them with the same parameters and values. `lib` is the prefix of the
 * library's names, `own` the prefix of our names for its types.
 */
#ifndef ISOMER_SIMT_COMM_SYMBOLS_H
#define ISOMER_SIMT_COMM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */

/* Results of calls: NUMBER(our name, value, the library's name). The newer ones are not in the
 * oldest headers. */
#define SIMT_COMM_CODES(NUMBER, lib)                                                               \
    NUMBER(SIMT_COMM_DONE, 0, lib##Success)                                                        \
    NUMBER(SIMT_COMM_DRIVER_ERROR, 1, lib##UnhandledCudaError)                                     \
    NUMBER(SIMT_COMM_SYSTEM_ERROR, 2, lib##SystemError)                                            \
    NUMBER(SIMT_COMM_INTERNAL_ERROR, 3, lib##InternalError)                                        \
    NUMBER(SIMT_COMM_INVALID_ARGUMENT, 4, lib##InvalidArgument)                                    \
    NUMBER(SIMT_COMM_INVALID_USAGE, 5, lib##InvalidUsage)
#define SIMT_COMM_CODES_NEWER(NUMBER, lib)                                                         \
    NUMBER(SIMT_COMM_REMOTE_ERROR, 6, lib##RemoteError)                                            \
    NUMBER(SIMT_COMM_IN_PROGRESS, 7, lib##InProgress)

#define SIMT_COMM_NUMBERS(NUMBER, lib)                                                             \
    NUMBER(SIMT_COMM_SUM, 0, lib##Sum)                                                             \
    NUMBER(SIMT_COMM_PRODUCT, 1, lib##Prod)                                                        \
    NUMBER(SIMT_COMM_MAX, 2, lib##Max)                                                             \
    NUMBER(SIMT_COMM_MIN, 3, lib##Min)                                                             \
    NUMBER(SIMT_COMM_MEAN, 4, lib##Avg)                                                            \
    NUMBER(SIMT_COMM_I8, 0, lib##Int8)                                                             \
    NUMBER(SIMT_COMM_I32, 2, lib##Int32)                                                           \
    NUMBER(SIMT_COMM_I64, 4, lib##Int64)                                                           \
    NUMBER(SIMT_COMM_F16, 6, lib##Float16)                                                         \
    NUMBER(SIMT_COMM_F32, 7, lib##Float32)                                                         \
    NUMBER(SIMT_COMM_F64, 8, lib##Float64)                                                         \
    NUMBER(SIMT_COMM_BF16, 9, lib##Bfloat16)

/* The oldest version with the mean and bf16. Afterwards came GetLastError (2.13) and AlltoAll
 * (2.28). */
#define SIMT_COMM_SYMBOLS(REQUIRED, OPTIONAL, lib, own)                                            \
    REQUIRED(uint32_t, lib##GetVersion, (int *version))                                            \
    REQUIRED(const char *, lib##GetErrorString, (uint32_t code))                                   \
    OPTIONAL(const char *, lib##GetLastError, (own##_handle comm))                                 \
    REQUIRED(uint32_t, lib##GetUniqueId, (own##_id *id))                                           \
    REQUIRED(uint32_t, lib##CommInitRank, (own##_handle *comm, int ranks, own##_id id, int rank))  \
    REQUIRED(uint32_t, lib##CommDestroy, (own##_handle comm))                                      \
    REQUIRED(uint32_t, lib##CommAbort, (own##_handle comm))                                        \
    REQUIRED(uint32_t, lib##CommGetAsyncError, (own##_handle comm, uint32_t *code))                \
    REQUIRED(uint32_t, lib##GroupStart, (void))                                                    \
    REQUIRED(uint32_t, lib##GroupEnd, (void))                                                      \
    REQUIRED(uint32_t, lib##Broadcast,                                                             \
             (const void *from, void *to, size_t count, uint32_t type, int root,                   \
              own##_handle comm, own##_stream stream))                                             \
    REQUIRED(uint32_t, lib##AllReduce,                                                             \
             (const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,            \
              own##_handle comm, own##_stream stream))                                             \
    REQUIRED(uint32_t, lib##ReduceScatter,                                                         \
             (const void *from, void *to, size_t count, uint32_t type, uint32_t reduce,            \
              own##_handle comm, own##_stream stream))                                             \
    REQUIRED(uint32_t, lib##AllGather,                                                             \
             (const void *from, void *to, size_t count, uint32_t type, own##_handle comm,          \
              own##_stream stream))                                                                \
    OPTIONAL(uint32_t, lib##AlltoAll,                                                              \
             (const void *from, void *to, size_t count, uint32_t type, own##_handle comm,          \
              own##_stream stream))                                                                \
    REQUIRED(uint32_t, lib##Send,                                                                  \
             (const void *from, size_t count, uint32_t type, int peer, own##_handle comm,          \
              own##_stream stream))                                                                \
    REQUIRED(uint32_t, lib##Recv,                                                                  \
             (void *to, size_t count, uint32_t type, int peer, own##_handle comm,                  \
              own##_stream stream))

/* clang-format on */

#define SIMT_COMM_ENUMERATOR(ours, value, theirs) ours = (value),
enum {
    SIMT_COMM_CODES(SIMT_COMM_ENUMERATOR, lib) SIMT_COMM_CODES_NEWER(SIMT_COMM_ENUMERATOR, lib)
};
enum { SIMT_COMM_NUMBERS(SIMT_COMM_ENUMERATOR, lib) };

enum { SIMT_COMM_ID_BYTES = 128, SIMT_COMM_VERSION_LEAST = 21000 };
#define SIMT_COMM_OLDEST "2.10"

#endif
