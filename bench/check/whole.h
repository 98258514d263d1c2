/* SPDX-License-Identifier: Apache-2.0 */
/* whole.h - products that are compared with the model element by element. */
#ifndef ISOMER_CHECK_WHOLE_H
#define ISOMER_CHECK_WHOLE_H

#include "bench/check/check.h"

bench_check check_whole_gemm;
/* complex.c: products of complex types, small and large. */
bench_check check_complex_gemm;
/* integers.c: those of i8. */
bench_check check_integer_gemm;
/* Whether the elements of op(X) lie by columns. */
bool check_turned(const gemm_shape *g, iso_trans trans);
/* Whether every order of evaluation gives the same product. */
bool check_exact_gemm(const bench_case *item);

#endif
