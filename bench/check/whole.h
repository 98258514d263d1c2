/* SPDX-License-Identifier: Apache-2.0 */
/* whole.h - products that are compared with the model element by element. */
#ifndef ISOMER_CHECK_WHOLE_H
#define ISOMER_CHECK_WHOLE_H

#include "bench/check/check.h"

bench_check check_whole_gemm;
/* Whether every order of evaluation gives the same product. */
bool check_exact_gemm(const bench_case *item);

#endif
