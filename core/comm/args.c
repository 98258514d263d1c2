/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - reads the descriptor of a communicator's call, checks it, and binds its operands. */
#include "common/dtype.h"
#include "core/comm/comm.h"

#include <string.h>

static bool sums(iso_comm_op op)
{
    return op == ISO_COMM_ALL_REDUCE || op == ISO_COMM_REDUCE_SCATTER;
}

static bool has_peer(iso_comm_op op)
{
    return op == ISO_COMM_BROADCAST || op == ISO_COMM_SEND || op == ISO_COMM_RECEIVE;
}

static bool is_reduction(iso_reduce_op op)
{
    return op == ISO_SUM || op == ISO_PRODUCT || op == ISO_MIN || op == ISO_MAX || op == ISO_MEAN ||
           op == ISO_XOR;
}

int32_t core_comm_from_parts(iso_comm_op op, int32_t ranks)
{
    return op == ISO_COMM_REDUCE_SCATTER || op == ISO_COMM_ALL_TO_ALL ? ranks : 1;
}

int32_t core_comm_to_parts(iso_comm_op op, int32_t ranks)
{
    return op == ISO_COMM_ALL_GATHER || op == ISO_COMM_ALL_TO_ALL ? ranks : 1;
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static iso_status check_enumerators(const char *call, const iso_comm_args *args)
{
    if (!iso_comm_op_name(args->op)) {
        return core_fail(ISO_INVALID,
                         "%s: op is %d: use ISO_COMM_BARRIER (1) to ISO_COMM_RECEIVE (8)", call,
                         (int)args->op);
    }
    if (!iso_comm_sum_name(args->sum)) {
        return core_fail(ISO_INVALID,
                         "%s: sum is %d: use ISO_COMM_SUM_AUTO (0), _VENDOR (1), _ORDERED (2) or "
                         "_FIXED (3)",
                         call, (int)args->sum);
    }
    if (!iso_keep_name(args->keep)) {
        return core_fail(ISO_INVALID,
                         "%s: keep is %d: use ISO_KEEP_DEFAULT (0), _BITS (1), _TERMS (2) or "
                         "_SCALE (3)",
                         call, (int)args->keep);
    }
    if (args->op == ISO_COMM_BARRIER) {
        return ISO_OK;
    }
    return core_check_plain(call, args->dtype, "communicators move");
}

static iso_status check_reduction(const char *call, const core_comm_op *op)
{
    const bool floating = dtype_get(op->dtype)->floating;
    const char *name = iso_reduce_op_name(op->reduce), *type = iso_dtype_name(op->dtype);

    if (!is_reduction(op->reduce)) {
        return core_fail(ISO_INVALID,
                         "%s: reduce is %d (%s), which does not combine ranks: use sum, product, "
                         "min, max, mean or xor",
                         call, (int)op->reduce, name ? name : "not a reduction");
    }
    if (floating ? op->reduce == ISO_XOR : op->reduce == ISO_MEAN) {
        return core_fail(ISO_INVALID, "%s: reduce is %s and dtype %s: %s", call, name, type,
                         floating ? "xor is for integers" : "mean is for floating-point types");
    }
    if (op->sum == ISO_COMM_SUM_FIXED && (!floating || op->reduce != ISO_SUM)) {
        return core_fail(ISO_INVALID,
                         "%s: sum is fixed, reduce %s and dtype %s: fixed sums are sums of "
                         "floating-point types",
                         call, name, type);
    }
    return ISO_OK;
}

static iso_status check_terms(const char *call, const iso_comm_args *args, core_comm_op *op)
{
    const int64_t row = op->op == ISO_COMM_REDUCE_SCATTER ? op->count * op->comm->ranks : op->count;
    const int64_t most = ISO_RANKS_TERMS_MOST / op->comm->ranks;
    iso_status status = core_check_size(call, "terms", args->terms);

    op->terms = args->terms ? args->terms : 1;
    op->ld_terms = args->ld_terms ? args->ld_terms : row;
    if (!status && op->terms > 1 && op->sum != ISO_COMM_SUM_FIXED) {
        status = core_fail(ISO_INVALID,
                           "%s: terms is %lld and sum %s: only fixed sums have several terms: "
                           "reduce them on the device first",
                           call, (long long)args->terms, iso_comm_sum_name(op->sum));
    }
    if (!status && op->terms > most) {
        status = core_fail(ISO_INVALID,
                           "%s: terms is %lld: %d ranks have at most %lld terms each, because "
                           "their scaled sum must fit its limbs",
                           call, (long long)args->terms, op->comm->ranks, (long long)most);
    }
    if (!status && op->terms > 1 && op->ld_terms < row) {
        status = core_fail(ISO_INVALID,
                           "%s: ld_terms is %lld, less than the %lld elements of a row of terms",
                           call, (long long)op->ld_terms, (long long)row);
    }
    return status;
}

static iso_status check_peer(const char *call, const iso_comm_args *args, const core_comm *comm)
{
    if (args->peer < 0 || args->peer >= comm->ranks) {
        return core_fail(ISO_INVALID, "%s: peer is %d: the communicator has the ranks 0 to %d",
                         call, args->peer, comm->ranks - 1);
    }
    if (args->op != ISO_COMM_BROADCAST && args->peer == comm->rank) {
        return core_fail(ISO_INVALID,
                         "%s: peer is %d, which is this rank: copy within a device with iso_copy",
                         call, args->peer);
    }
    return ISO_OK;
}

/* INVALID if that many parts of `count` elements do not fit 64 bits. */
static iso_status part_bytes(const char *call, const core_comm_op *op, int64_t parts,
                             int64_t *bytes)
{
    int64_t elements;

    if (__builtin_mul_overflow(op->count, parts, &elements) ||
        __builtin_mul_overflow(elements, op->element, bytes)) {
        return core_fail(ISO_INVALID,
                         "%s: count is %lld: %lld parts of that many elements of %lld bytes do not "
                         "fit 64 bits: use fewer",
                         call, (long long)op->count, (long long)parts, (long long)op->element);
    }
    return ISO_OK;
}

/* Sets how many bytes the parts of each operand have. */
static iso_status measure_parts(const char *call, core_comm_op *op)
{
    const int32_t ranks = op->comm->ranks;
    iso_status status = part_bytes(call, op, core_comm_from_parts(op->op, ranks), &op->from_bytes);

    return status ? status : part_bytes(call, op, core_comm_to_parts(op->op, ranks), &op->to_bytes);
}

/* Sets how many bytes of each operand the call uses. */
static iso_status measure(const char *call, core_comm_op *op)
{
    const iso_comm_op kind = op->op;
    const bool reads = kind != ISO_COMM_BARRIER && kind != ISO_COMM_RECEIVE &&
                       (kind != ISO_COMM_BROADCAST || op->peer == op->comm->rank);
    const bool writes = kind != ISO_COMM_BARRIER && kind != ISO_COMM_SEND;
    int64_t rows;

    if (op->terms > 1 && (__builtin_mul_overflow(op->terms - 1, op->ld_terms, &rows) ||
                          __builtin_mul_overflow(rows, op->element, &rows) ||
                          __builtin_add_overflow(rows, op->from_bytes, &op->from_bytes))) {
        return core_fail(ISO_INVALID,
                         "%s: terms is %lld and ld_terms %lld: their bytes do not fit 64 bits",
                         call, (long long)op->terms, (long long)op->ld_terms);
    }
    op->from_bytes = reads ? op->from_bytes : 0;
    op->to_bytes = writes ? op->to_bytes : 0;
    return ISO_OK;
}

iso_status core_comm_read(const char *call, core_comm *comm, const iso_comm_args *given,
                          core_comm_op *out)
{
    iso_comm_args args;
    iso_keep keep;
    iso_status status =
        core_struct_read(call, "args", given, CORE_END_OF(iso_comm_args, to), &args, sizeof args);

    memset(out, 0, sizeof *out);
    if (!status) {
        status = check_enumerators(call, &args);
    }
    if (!status) {
        status = core_check_reserved(call, "args", args.reserved);
    }
    if (!status) {
        status = core_check_size(call, "count", args.count);
    }
    if (!status && has_peer(args.op)) {
        status = check_peer(call, &args, comm);
    }
    if (status) {
        return status;
    }
    keep = args.keep ? args.keep : comm->child.device->keep;
    out->comm = comm;
    out->op = args.op;
    out->dtype = args.op == ISO_COMM_BARRIER ? ISO_I32 : args.dtype;
    out->element = iso_dtype_size(out->dtype);
    out->reduce = args.reduce ? args.reduce : ISO_SUM;
    out->sum = !sums(args.op)          ? ISO_COMM_SUM_VENDOR
               : args.sum              ? args.sum
               : keep == ISO_KEEP_BITS ? ISO_COMM_SUM_ORDERED
                                       : ISO_COMM_SUM_VENDOR;
    out->peer = has_peer(args.op) ? args.peer : -1;
    out->count = args.op == ISO_COMM_BARRIER ? 0 : args.count;
    out->from_operand = args.from;
    out->to_operand = args.to;
    if (sums(args.op)) {
        status = check_reduction(call, out);
    }
    if (!status) {
        status = measure_parts(call, out);
    }
    if (!status && sums(args.op)) {
        status = check_terms(call, &args, out);
    }
    return status ? status : measure(call, out);
}

/* ---- operands -------------------------------------------------------------------------------- */

static iso_status bind_one(const char *call, const char *name, iso_operand operand, int64_t bytes,
                           const core_comm_op *op, core_buffer **buffer)
{
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    status = core_operand_acquire(call, name, operand, op->stream, buffer);
    if (!status) {
        status = core_check_range(call, name, operand.offset, bytes, *buffer);
    }
    return status ? status : core_check_alignment(call, name, operand.offset, op->element, *buffer);
}

/* The offset of `to` at which the call is in place; -1: never. */
static int64_t in_place_at(const core_comm_op *op)
{
    const int64_t part = op->count * op->element, from = op->from_operand.offset;

    switch (op->op) {
    case ISO_COMM_BROADCAST:
    case ISO_COMM_ALL_REDUCE:
        return from;
    case ISO_COMM_REDUCE_SCATTER:
        return from + op->comm->rank * part;
    case ISO_COMM_ALL_GATHER:
        return from - op->comm->rank * part;
    default:
        return -1;
    }
}

static iso_status check_overlap(const char *call, const core_comm_op *op)
{
    const int64_t from = op->from_operand.offset, to = op->to_operand.offset;

    if (!op->from || op->from != op->to || to == in_place_at(op) || to + op->to_bytes <= from ||
        from + op->from_bytes <= to) {
        return ISO_OK;
    }
    return core_fail(
        ISO_INVALID,
        "%s: from (offset %lld, %lld bytes) overlaps to (offset %lld, %lld bytes) in "
        "the same buffer: %s",
        call, (long long)from, (long long)op->from_bytes, (long long)to, (long long)op->to_bytes,
        op->op == ISO_COMM_ALL_TO_ALL ? "all_to_all is never in place"
                                      : "use separate ranges, or the place that comm.h gives");
}

iso_status core_comm_bind(const char *call, core_comm_op *op)
{
    iso_status status = bind_one(call, "from", op->from_operand, op->from_bytes, op, &op->from);

    if (!status) {
        status = bind_one(call, "to", op->to_operand, op->to_bytes, op, &op->to);
    }
    if (!status && op->to) {
        status = core_check_writable(call, "to", op->to);
    }
    return status ? status : check_overlap(call, op);
}

void core_comm_unbind(core_comm_op *op)
{
    if (op->from) {
        core_handle_release(op->from->child.id);
    }
    if (op->to) {
        core_handle_release(op->to->child.id);
    }
}

/* ---- what engine and device have ------------------------------------------------------------- */

static iso_status ask_engine(const char *call, const core_comm *comm, iso_comm_op op,
                             iso_dtype dtype, iso_reduce_op reduce)
{
    const iso_engine *engine = comm->engine.table;
    const iso_engine_call what = {
        .rank = comm->rank_handle, .op = op, .dtype = dtype, .reduce = reduce};

    return CORE_ENGINE(call, engine, engine->supports(&what));
}

static iso_status ask_step(const char *call, const core_comm_op *op, iso_ranks_step step)
{
    const core_device *device = op->comm->child.device;
    const iso_backend *table = device->table;
    const iso_ranks_op args = {.step = step,
                               .dtype = op->dtype,
                               .reduce = op->reduce,
                               .variant = ISO_VARIANT_TILED,
                               .count = op->comm->ranks,
                               .own = -1,
                               .n = 1,
                               .stride = 1,
                               .limb_stride = 1};
    const iso_op what = {.size = (uint32_t)sizeof what,
                         .kind = (iso_op_kind)ISO_OP_RANKS,
                         .args = &args,
                         .args_size = (uint32_t)sizeof args};

    if (table->abi_minor < 10) {
        return core_fail(ISO_UNSUPPORTED,
                         "%s: %s was built for ABI %u.%u, before sums over ranks (%d.10)", call,
                         table->name, table->abi_major, table->abi_minor, ISO_ABI_MAJOR);
    }
    return CORE_CALL(call, table, table->supports(device->physical->device, &what));
}

static iso_status check_ordered(const char *call, const core_comm_op *op)
{
    iso_status status = ask_step(call, op, ISO_RANKS_FOLD);

    if (!status) {
        status = ask_engine(call, op->comm, ISO_COMM_SEND, op->dtype, ISO_SUM);
    }
    return status ? status : ask_engine(call, op->comm, ISO_COMM_ALL_GATHER, op->dtype, ISO_SUM);
}

static iso_status check_fixed(const char *call, const core_comm_op *op)
{
    iso_status status = ask_step(call, op, ISO_RANKS_EXPONENTS);

    if (!status) {
        status = ask_step(call, op, ISO_RANKS_LIMBS);
    }
    if (!status) {
        status = ask_step(call, op, ISO_RANKS_JOIN);
    }
    if (!status) {
        status = ask_engine(call, op->comm, ISO_COMM_ALL_REDUCE, ISO_I32, ISO_MAX);
    }
    return status ? status : ask_engine(call, op->comm, op->op, ISO_I64, ISO_SUM);
}

iso_status core_comm_check(const char *call, core_comm_op *op)
{
    if (op->sum == ISO_COMM_SUM_ORDERED && !(op->comm->engine.table->flags & ISO_ENGINE_ORDERED)) {
        return check_ordered(call, op);
    }
    if (op->sum == ISO_COMM_SUM_FIXED) {
        return check_fixed(call, op);
    }
    return ask_engine(call, op->comm, op->op, op->dtype, op->reduce);
}
