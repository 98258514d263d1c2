/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - which operations, types and reductions MPI has, and their names there. */
#include "backends/mpi/engine.h"

const char *mpi_op_name(iso_comm_op op)
{
    static const char *const names[] = {
        [ISO_COMM_BARRIER] = "barrier",
        [ISO_COMM_BROADCAST] = "broadcast",
        [ISO_COMM_ALL_REDUCE] = "all_reduce",
        [ISO_COMM_REDUCE_SCATTER] = "reduce_scatter",
        [ISO_COMM_ALL_GATHER] = "all_gather",
        [ISO_COMM_ALL_TO_ALL] = "all_to_all",
        [ISO_COMM_SEND] = "send",
        [ISO_COMM_RECEIVE] = "receive",
    };

    return op >= ISO_COMM_BARRIER && op <= ISO_COMM_RECEIVE ? names[op] : NULL;
}

bool mpi_reduces(iso_comm_op op)
{
    return op == ISO_COMM_ALL_REDUCE || op == ISO_COMM_REDUCE_SCATTER;
}

int64_t mpi_type_size(iso_dtype dtype)
{
    switch (dtype) {
    case ISO_F16:
    case ISO_BF16:
        return 2;
    case ISO_F32:
    case ISO_I32:
        return 4;
    case ISO_F64:
    case ISO_I64:
        return 8;
    case ISO_I8: /* the core refuses these */
    case ISO_C64:
    case ISO_C128:
        break;
    }
    return 0;
}

/* f16 and bf16 are only moved. */
MPI_Datatype mpi_type(iso_dtype dtype)
{
    switch (dtype) {
    case ISO_F16:
    case ISO_BF16:
        return MPI_UINT16_T;
    case ISO_F32:
        return MPI_FLOAT;
    case ISO_F64:
        return MPI_DOUBLE;
    case ISO_I32:
        return MPI_INT32_T;
    case ISO_I64:
        return MPI_INT64_T;
    case ISO_I8: /* the core refuses these */
    case ISO_C64:
    case ISO_C128:
        break;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(iso_reduce_op reduce)
{
    switch (reduce) {
    case ISO_SUM:
        return MPI_SUM;
    case ISO_PRODUCT:
        return MPI_PROD;
    case ISO_MIN:
        return MPI_MIN;
    case ISO_MAX:
        return MPI_MAX;
    case ISO_XOR:
        return MPI_BXOR;
    default:
        return MPI_OP_NULL;
    }
}

iso_status mpi_supports(const iso_engine_call *call)
{
    const char *name = mpi_op_name(call->op);
    const iso_reduce_op reduce = call->reduce ? call->reduce : ISO_SUM;

    if (!name) {
        return MPI_FAIL(ISO_UNSUPPORTED, "%s has no operation %d", MPI_PLUGIN, (int)call->op);
    }
    if (call->op != ISO_COMM_BARRIER && !mpi_type_size(call->dtype)) {
        return MPI_FAIL(ISO_UNSUPPORTED, "%s: %s of type %d: this plug-in does not have the type",
                        MPI_PLUGIN, name, (int)call->dtype);
    }
    if (!mpi_reduces(call->op)) {
        return ISO_OK;
    }
    if (call->dtype == ISO_F16 || call->dtype == ISO_BF16) {
        return MPI_FAIL(ISO_UNSUPPORTED,
                        "%s: %s of %s: MPI has no reductions of this type: use the sum ordered or "
                        "fixed, or f32",
                        MPI_PLUGIN, name, call->dtype == ISO_F16 ? "f16" : "bf16");
    }
    if (reduce == ISO_MEAN) {
        return MPI_FAIL(ISO_UNSUPPORTED,
                        "%s: %s: MPI has no mean: use the sum ordered, or a sum that you divide",
                        MPI_PLUGIN, name);
    }
    if (mpi_op(reduce) == MPI_OP_NULL) {
        return MPI_FAIL(ISO_UNSUPPORTED,
                        "%s: %s: MPI does not have the reduction %d: it has sum, product, min, max "
                        "and xor",
                        MPI_PLUGIN, name, (int)reduce);
    }
    if (reduce == ISO_XOR && (call->dtype == ISO_F32 || call->dtype == ISO_F64)) {
        return MPI_FAIL(ISO_UNSUPPORTED, "%s: %s: xor is for i32 and i64", MPI_PLUGIN, name);
    }
    return ISO_OK;
}
