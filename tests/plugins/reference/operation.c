/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.c - the operations: what is supported, what it needs, and running it.
 *
 * execute() runs whatever supports() accepts. So a kind, type or variant that a newer core adds is
 * refused here, and never guessed.
 */
#include "tests/plugins/reference/reference.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>

/* The core may be older or newer than this plug-in, and its struct shorter or longer: both use the
 * part that both know. Fields that an older core lacks are zero, which means "not set". */
static void take_args(const iso_op *op, iso_op_args *args)
{
    const size_t bytes = op->args_size < sizeof(*args) ? op->args_size : sizeof(*args);
    memset(args, 0, sizeof(*args));
    memcpy(args, op->args, bytes);
}

iso_status ref_supports(void *device, const iso_op *op)
{
    (void)device;
    iso_op_args args;
    take_args(op, &args);
    switch ((int)op->kind) {
    case ISO_OP_GEMM:
        return ref_gemm_supports(&args.gemm);
    case ISO_OP_TRANSPOSE:
        return ref_transpose_supports(&args.transpose);
    case ISO_OP_REDUCE:
        return ref_reduce_supports(&args.reduce);
    case ISO_OP_MAP:
        return ref_map_supports(&args.map);
    case ISO_OP_GEMV:
        return ref_gemv_supports(&args.gemv);
    case ISO_OP_SPMV:
        return ref_spmv_supports(&args.spmv);
    case ISO_OP_FINISH:
        return ref_finish_supports(&args.finish);
    case ISO_OP_SOLVE:
        return ref_solve_supports(&args.solve);
    }
    return ref_host->fail(ISO_UNSUPPORTED, "operation kind %d is not known", (int)op->kind);
}

/* Scratch memory comes from the core, which counts it towards the user's memory limit. */
iso_status ref_workspace(void *device, const iso_op *op, int64_t *bytes)
{
    (void)device;
    iso_op_args args;
    take_args(op, &args);
    *bytes = op->kind == ISO_OP_REDUCE ? ref_reduce_workspace(&args.reduce) : 0;
    return ISO_OK;
}

/*
 * The caller's floating-point environment may be anything: it may round differently, and a library
 * linked with -ffast-math flushes subnormal numbers to zero for the whole process. Results must not
 * depend on it, so the default is set around the work and the caller's restored.
 */
iso_status ref_execute(void *stream, const iso_op *op)
{
    (void)stream;
    iso_op_args args;
    fenv_t callers;
    take_args(op, &args);
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    switch ((int)op->kind) {
    case ISO_OP_GEMM:
        ref_gemm(&args.gemm);
        break;
    case ISO_OP_TRANSPOSE:
        ref_transpose(&args.transpose);
        break;
    case ISO_OP_REDUCE:
        ref_reduce(&args.reduce, op->workspace.memory ? ref_at(op->workspace) : NULL);
        break;
    case ISO_OP_MAP:
        ref_map(&args.map);
        break;
    case ISO_OP_GEMV:
        ref_gemv(&args.gemv);
        break;
    case ISO_OP_SPMV:
        ref_spmv(&args.spmv);
        break;
    case ISO_OP_FINISH:
        ref_finish(&args.finish);
        break;
    case ISO_OP_SOLVE:
        ref_solve(&args.solve);
        break;
    }
    fesetenv(&callers);
    return ISO_OK;
}

iso_status ref_describe(void *device, const iso_op *op, iso_op_info *out)
{
    (void)device;
    iso_op_args args;
    take_args(op, &args);
    const int way = op->kind == ISO_OP_GEMM ? args.gemm.way : 0;
    snprintf(out->library, sizeof(out->library), "isomer %s", ref_host->version);
    snprintf(out->kernel, sizeof(out->kernel), "reference model%s",
             way == REF_WAY_COLUMNS ? " by columns" : "");
    return ISO_OK;
}
