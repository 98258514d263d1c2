/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_symbols.h - the functions of a vendor's second library for products. Two vendors' libraries
 * have them with the same parameters. `lt` is the prefix of a vendor's function names, `own` the
 * prefix of its type names.
 */
#ifndef ISOMER_SIMT_BLAS_SYMBOLS_H
#define ISOMER_SIMT_BLAS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define SIMT_LT_SYMBOLS(REQUIRED, lt, own)                                                         \
    REQUIRED(uint32_t, lt##Create, (own##_handle *handle))                                         \
    REQUIRED(uint32_t, lt##Destroy, (own##_handle handle))                                         \
    REQUIRED(uint32_t, lt##MatmulDescCreate,                                                       \
             (own##_matmul *matmul, uint32_t compute, uint32_t scale_type))                        \
    REQUIRED(uint32_t, lt##MatmulDescDestroy, (own##_matmul matmul))                               \
    REQUIRED(uint32_t, lt##MatmulDescSetAttribute,                                                 \
             (own##_matmul matmul, uint32_t attribute, const void *value, size_t bytes))           \
    REQUIRED(uint32_t, lt##MatrixLayoutCreate,                                                     \
             (own##_layout *layout, uint32_t type, uint64_t rows, uint64_t cols, int64_t ld))      \
    REQUIRED(uint32_t, lt##MatrixLayoutDestroy, (own##_layout layout))                             \
    REQUIRED(uint32_t, lt##MatrixLayoutSetAttribute,                                               \
             (own##_layout layout, uint32_t attribute, const void *value, size_t bytes))           \
    REQUIRED(uint32_t, lt##MatmulPreferenceCreate, (own##_preference *preference))                 \
    REQUIRED(uint32_t, lt##MatmulPreferenceDestroy, (own##_preference preference))                 \
    REQUIRED(uint32_t, lt##MatmulPreferenceSetAttribute,                                           \
             (own##_preference preference, uint32_t attribute, const void *value, size_t bytes))   \
    REQUIRED(uint32_t, lt##MatmulAlgoGetHeuristic,                                                 \
             (own##_handle handle, own##_matmul matmul, own##_layout a, own##_layout b,            \
              own##_layout c, own##_layout d, own##_preference preference, int asked,              \
              own##_choice *choices, int *given))                                                  \
    REQUIRED(uint32_t, lt##Matmul,                                                                 \
             (own##_handle handle, own##_matmul matmul, const void *alpha, const void *a,          \
              own##_layout a_layout, const void *b, own##_layout b_layout, const void *beta,       \
              const void *c, own##_layout c_layout, void *d, own##_layout d_layout,                \
              const own##_algorithm *algorithm, void *workspace, size_t workspace_bytes,           \
              own##_stream stream))
/* clang-format on */

#endif
