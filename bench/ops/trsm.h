/* SPDX-License-Identifier: Apache-2.0 */
/* trsm.h - what the files of triangular solves share. */
#ifndef ISOMER_OPS_TRSM_H
#define ISOMER_OPS_TRSM_H

#include "bench/ops/ops.h"

iso_op_kind trsm_arguments(const bench_case *item, bench_args *args);

extern const bench_own trsm_own; /* trsm_own.c: how `bench` runs one */

#endif
