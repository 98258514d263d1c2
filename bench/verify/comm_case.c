/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_case.c - one rank's part of a case of `isomer verify --comm`.
 *
 * Several calls of a case share buffers. Everything that they read lies in `store`; before a call
 * the stream copies its operands from there, and afterwards it copies them to where they came from.
 * Only then does the host look. So a call that runs too early or too late, or that keeps reading
 * the buffers of others, finds wrong data.
 */
#include "bench/verify/comm.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 256,
    SETS = 3,            /* of operands that are used at once */
    IDLE_BYTES = 4 << 20 /* of the work that delays a stream */
};

/* A rank at work. */
typedef struct part {
    comm_case *of;
    ranks_seat *seat;
    comm_memory *memory;
    comm_outcome *outcome;
    const comm_problem *problem;
    const comm_shape *shape;
    comm_layout at;
} part;

static part part_of(comm_case *of, ranks_seat *seat)
{
    const int64_t index = seat - ranks_at(of->of, 0);
    part made = {.of = of,
                 .seat = seat,
                 .memory = &of->memories[index],
                 .outcome = &of->outcomes[index],
                 .problem = of->problem,
                 .shape = &of->problem->item->comm};
    comm_lay(of->problem, seat->rank, &made.at);
    return made;
}

static int64_t padded(int64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void note(part *p, const bench_result *result)
{
    char *reason = p->outcome->reason;
    p->outcome->status = result->status;
    snprintf(reason, sizeof p->outcome->reason, "rank %d of %d: ", p->seat->rank, p->seat->ranks);
    tool_join(reason, sizeof p->outcome->reason, "", result->reason);
}

/* Ends the part with the library's error, and frees the other ranks from waiting for it. */
static iso_status fail(part *p, const char *call, iso_status status)
{
    bench_result *result = p->memory->result;
    check_call_failed(result, call, status);
    note(p, result);
    iso_comm_abort(p->seat->comm);
    if (p->of->second) {
        iso_comm_abort(p->of->second[p->seat - ranks_at(p->of->of, 0)]);
    }
    return ISO_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A case's calls share a rank's streams and operands in turns. */
static int set_of(const part *p, int call)
{
    return p->shape->way == COMM_STREAMS || p->shape->way == COMM_GROUP ? call % SETS
           : p->shape->way == COMM_TWO                                  ? call % 2
                                                                        : 0;
}

static iso_stream stream_of(const part *p, int call)
{
    const int set = p->shape->way == COMM_GROUP ? 0 : set_of(p, call);
    return set == 0 ? p->seat->stream : p->memory->streams[set];
}

static iso_comm comm_of(const part *p, int call)
{
    const bool other = p->of->second && call % 2 != 0;
    return other ? p->of->second[p->seat - ranks_at(p->of->of, 0)] : p->seat->comm;
}

static iso_operand work_of(const part *p, int call, bool from)
{
    const bool shared = p->at.from_size == 0 || !from;
    return (iso_operand){p->memory->work[2 * set_of(p, call) + shared], 0};
}

/* Writes what this rank calls, and returns the number of calls. */
static int32_t args_of(const part *p, int call, iso_comm_args *out)
{
    const comm_shape *c = p->shape;
    const int32_t rank = p->seat->rank, ranks = p->seat->ranks;
    const bool sends = c->op == ISO_COMM_SEND;
    int32_t count = 1;
    out[0] = (iso_comm_args)ISO_COMM_ARGS_INIT;
    out[0].op = c->op;
    out[0].dtype = p->problem->item->dtype;
    out[0].reduce = c->reduce;
    out[0].sum = c->automatic ? ISO_COMM_SUM_AUTO : c->sum;
    out[0].keep = c->automatic ? ISO_KEEP_BITS : ISO_KEEP_DEFAULT;
    out[0].count = c->count;
    out[0].peer = c->peer;
    out[0].from = work_of(p, call, true);
    out[0].from.offset = p->at.from_at;
    out[0].to = work_of(p, call, false);
    out[0].to.offset = p->at.to_at;
    out[0].terms = p->at.terms;
    out[0].ld_terms = p->at.terms > 1 ? p->at.ld : 0;
    out[1] = out[0];
    if (c->pair) {
        const bool gets = rank == c->peer;
        out[0].op = gets ? ISO_COMM_RECEIVE : ISO_COMM_SEND;
        out[0].peer = gets ? c->sender : c->peer;
        count = gets || rank == c->sender;
    } else if (sends) {
        out[0].peer = (rank + 1) % ranks;
        out[1].op = ISO_COMM_RECEIVE;
        out[1].peer = (rank + ranks - 1) % ranks;
        count = 2;
    }
    return count;
}

iso_status comm_ask(void *context, ranks_seat *seat)
{
    part p = part_of(context, seat);
    iso_comm_args args[2];
    const int32_t count = args_of(&p, 0, args);
    bench_result *result = p.memory->result;
    memset(result, 0, sizeof *result);
    memset(p.outcome, 0, sizeof *p.outcome);
    for (int32_t i = 0; i < count; i++) {
        iso_status status = iso_comm_supports(seat->comm, &args[i]);
        if (status == ISO_UNSUPPORTED) {
            check_unsupported(result, "%s", tool_reason());
            p.outcome->status = BENCH_UNSUPPORTED; /* without the rank, so that reasons are equal */
            snprintf(p.outcome->reason, sizeof p.outcome->reason, "%s", result->reason);
        } else if (status != ISO_OK) {
            return fail(&p, "iso_comm_supports", status);
        }
    }
    return ISO_OK;
}

iso_status comm_refuse(void *context, ranks_seat *seat)
{
    part p = part_of(context, seat);
    iso_comm_args args[2];
    const int32_t count = args_of(&p, 0, args);
    bool refused = false;
    if (p.outcome->status != BENCH_UNSUPPORTED) {
        return ISO_OK;
    }
    for (int32_t i = 0; i < count; i++) { /* one of them is not supported */
        refused = refused || (iso_comm_supports(seat->comm, &args[i]) == ISO_UNSUPPORTED &&
                              iso_comm_run(seat->comm, seat->stream, &args[i]) == ISO_UNSUPPORTED);
    }
    if (!refused) {
        check_fail(p.memory->result, "iso_comm_supports says UNSUPPORTED, and iso_comm_run does "
                                     "not refuse the call with that status");
        note(&p, p.memory->result);
    }
    return ISO_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Gives a place of the rank a buffer of at least so many bytes. */
static iso_status room(part *p, iso_buffer *buffer, int64_t *has, int64_t bytes)
{
    if (buffer->id != 0 && *has >= bytes) {
        return ISO_OK;
    }
    if (buffer->id != 0) {
        iso_buffer_destroy(*buffer);
    }
    buffer->id = 0;
    *has = bytes + bytes / 2 + 4096;
    iso_status status = iso_buffer_create(p->seat->device, *has, buffer);
    buffer->id = status == ISO_OK ? buffer->id : 0;
    return status;
}

static iso_status rooms(part *p)
{
    comm_memory *m = p->memory;
    const int sets = p->problem->calls < SETS ? p->problem->calls : SETS;
    const int64_t from = padded(p->at.from_size), to = padded(p->at.to_size);
    iso_status status = room(p, &m->store, &m->bytes[COMM_CALLS], p->problem->calls * from);
    if (status == ISO_OK) {
        status = room(p, &m->history, &m->bytes[COMM_CALLS + 1], p->problem->calls * to);
    }
    if (status == ISO_OK) {
        status = room(p, &m->idle, &m->bytes[COMM_CALLS + 2], IDLE_BYTES);
    }
    for (int i = 0; i < 2 * sets && status == ISO_OK; i++) {
        status = room(p, &m->work[i], &m->bytes[i], i % 2 ? to : from);
    }
    for (int i = 1; i < sets && status == ISO_OK; i++) {
        if (m->streams[i].id == 0) {
            status = iso_stream_create(p->seat->device, 0, &m->streams[i]);
            m->streams[i].id = status == ISO_OK ? m->streams[i].id : 0;
        }
    }
    return status;
}

void comm_memory_free(comm_memory *m)
{
    for (int i = 1; i < SETS; i++) {
        if (m->streams[i].id != 0) {
            iso_stream_destroy(m->streams[i]);
        }
    }
    iso_buffer *buffers[] = {&m->store, &m->history, &m->idle};
    for (int i = 0; i < COUNT(buffers); i++) {
        if (buffers[i]->id != 0) {
            iso_buffer_destroy(*buffers[i]);
        }
    }
    for (int i = 0; i < COMM_CALLS; i++) {
        if (m->work[i].id != 0) {
            iso_buffer_destroy(m->work[i]);
        }
    }
    free(m->store_image.data);
    free(m->history_image.data);
    free(m->want.data);
    free(m->result);
    *m = (comm_memory){0};
}

static iso_status upload(part *p)
{
    comm_memory *m = p->memory;
    const int calls = p->problem->calls;
    const int64_t from = padded(p->at.from_size), to = padded(p->at.to_size);
    unsigned char *store = m->store_image.data, *history = m->history_image.data;
    for (int i = 0; i < calls; i++) {
        comm_image_from(p->problem, &p->at, p->seat->rank, i, store + i * from);
        comm_image_to(p->problem, &p->at, p->seat->rank, i, history + i * to);
    }
    iso_status status = ISO_OK;
    if (from > 0) {
        status = iso_write(p->seat->stream, (iso_operand){m->store, 0}, store, calls * from);
    }
    if (status == ISO_OK && to > 0) {
        status = iso_write(p->seat->stream, (iso_operand){m->history, 0}, history, calls * to);
    }
    return status == ISO_OK ? iso_stream_sync(p->seat->stream) : status;
}

iso_status comm_prepare(void *context, ranks_seat *seat)
{
    part p = part_of(context, seat);
    comm_memory *m = p.memory;
    const int64_t calls = p.problem->calls;
    iso_comm_args args[2];
    if (!verify_grow(&m->store_image, calls * padded(p.at.from_size) + 1) ||
        !verify_grow(&m->history_image, calls * padded(p.at.to_size) + 1) ||
        !verify_grow(&m->want, p.at.from_size + p.at.to_size + 1)) {
        check_no_memory(m->result);
        note(&p, m->result);
        return ISO_OK;
    }
    iso_status status = rooms(&p);
    if (status != ISO_OK) {
        return fail(&p, "iso_buffer_create", status);
    }
    status = upload(&p);
    if (status != ISO_OK) {
        return fail(&p, "iso_write", status);
    }
    if (p.shape->way == COMM_AGAIN && p.outcome->status == BENCH_OK && args_of(&p, 0, args) > 0) {
        status = iso_comm_prepare(seat->comm, seat->stream, &args[0]);
        if (status != ISO_OK) {
            return fail(&p, "iso_comm_prepare", status);
        }
    }
    if (p.of->events) {
        status = iso_event_create(seat->device, &p.of->events[seat - ranks_at(p.of->of, 0)]);
    }
    return status == ISO_OK ? ISO_OK : fail(&p, "iso_event_create", status);
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* Gives some streams something to do first, not the same ones on every rank. */
static iso_status delay(part *p, int call)
{
    const bool last = p->seat->rank == p->seat->ranks - 1;
    const bool often = p->shape->way == COMM_STREAMS || p->shape->way == COMM_TWO;
    int times = p->shape->way == COMM_AFTER ? 64 * last : often ? (p->seat->rank + call) % 2 : 0;
    iso_status status = ISO_OK;
    for (; times > 0 && status == ISO_OK; times--) {
        status = iso_fill(stream_of(p, call), (iso_operand){p->memory->idle, 0}, "", 1, IDLE_BYTES);
    }
    return status;
}

/* Copies the operands of a call to where it uses them, or back. */
static iso_status carry(part *p, int call, bool back)
{
    const int64_t from = p->at.from_size, to = p->at.to_size;
    const iso_operand stored = {p->memory->store, call * padded(from)};
    const iso_operand kept = {p->memory->history, call * padded(to)};
    const iso_operand work[2] = {work_of(p, call, true), work_of(p, call, false)};
    iso_stream stream = stream_of(p, call);
    iso_status status = ISO_OK;
    if (from > 0) {
        status = back ? iso_copy(stream, stored, work[0], from)
                      : iso_copy(stream, work[0], stored, from);
    }
    if (status == ISO_OK && to > 0) {
        status = back ? iso_copy(stream, kept, work[1], to) : iso_copy(stream, work[1], kept, to);
    }
    return status;
}

static iso_status submit_one(part *p, int call)
{
    iso_comm_args args[2];
    const int32_t count = args_of(p, call, args);
    const iso_comm comm = comm_of(p, call);
    const iso_stream stream = stream_of(p, call);
    const iso_comm_call both[2] = {{comm, stream, &args[0]}, {comm, stream, &args[1]}};
    iso_status status = delay(p, call);
    if (status == ISO_OK) {
        status = carry(p, call, false);
    }
    if (status == ISO_OK && p->of->events) {
        status = iso_event_record(p->of->events[p->seat - ranks_at(p->of->of, 0)], stream);
    }
    if (status == ISO_OK) {
        status = count == 1   ? iso_comm_run(comm, stream, &args[0])
                 : count == 2 ? iso_comm_run_group(both, 2)
                              : ISO_OK;
    }
    return status == ISO_OK ? carry(p, call, true) : status;
}

/* The calls of these ranks as one group. */
static iso_status submit_group(part *parts, int32_t count)
{
    const int calls = parts[0].problem->calls;
    const size_t most = (size_t)(count * calls) * 2;
    iso_comm_args *args = calloc(most, sizeof *args);
    iso_comm_call *group = calloc(most, sizeof *group);
    iso_status status = args && group ? ISO_OK : ISO_NO_MEMORY;
    int32_t used = 0;
    for (int32_t i = 0; i < count * calls && status == ISO_OK; i++) {
        part *p = &parts[i / calls];
        const int call = i % calls;
        const int32_t made = args_of(p, call, args + used);
        for (int32_t j = 0; j < made; j++, used++) {
            group[used] = (iso_comm_call){comm_of(p, call), stream_of(p, call), &args[used]};
        }
        status = carry(p, call, false);
    }
    if (status == ISO_OK) {
        status = iso_comm_run_group(group, used);
    }
    for (int32_t i = 0; i < count * calls && status == ISO_OK; i++) {
        status = carry(&parts[i / calls], i % calls, true);
    }
    free(args);
    free(group);
    return status;
}

iso_status comm_submit(void *context, ranks_seat *seat)
{
    part p = part_of(context, seat);
    iso_status status = ISO_OK;
    if (p.shape->way == COMM_GROUP) {
        status = submit_group(&p, 1);
        return status == ISO_OK ? ISO_OK : fail(&p, "iso_comm_run_group", status);
    }
    for (int call = 0; call < p.problem->calls && status == ISO_OK; call++) {
        status = submit_one(&p, call);
    }
    return status == ISO_OK ? ISO_OK : fail(&p, "iso_comm_run", status);
}

iso_status comm_submit_all(comm_case *of)
{
    const int32_t here = ranks_here(of->of);
    part *parts = calloc((size_t)here, sizeof *parts);
    if (!parts) {
        return ISO_NO_MEMORY;
    }
    for (int32_t i = 0; i < here; i++) {
        parts[i] = part_of(of, ranks_at(of->of, i));
    }
    iso_status status = submit_group(parts, here);
    for (int32_t i = 0; i < here && status != ISO_OK; i++) {
        fail(&parts[i], "iso_comm_run_group", status);
    }
    free(parts);
    return status;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Compares the elements of a floating-point sum. Those that are right are copied to the image that
 * is wanted, because a NaN may have other bits, and a vendor's sum too. */
static bool judge_sum(part *p, int call, unsigned char *want, const unsigned char *got)
{
    const bench_case *item = p->problem->item;
    const iso_dtype dtype = item->dtype;
    bench_result *result = p->memory->result;
    const check_elements e = {dtype, got, 1, 1, p->at.to_bytes / item->element};
    char shown[64], wanted[64];
    if (!p->problem->exact) {
        if (!check_bounds(&e, comm_bounds(p->problem, p->seat->rank, call), false, result)) {
            return false;
        }
        memcpy(want, got, (size_t)p->at.to_bytes);
        return true;
    }
    for (int64_t i = 0; i < e.cols; i++) {
        if (!check_same_element(dtype, got + i * item->element, want + i * item->element)) {
            return check_fail(result, "element [%lld] of call %d is %s, and must be %s",
                              (long long)i, call,
                              check_show(shown, sizeof shown, dtype, got + i * item->element),
                              check_show(wanted, sizeof wanted, dtype, want + i * item->element));
        }
    }
    memcpy(want, got, (size_t)p->at.to_bytes);
    return true;
}

static bool judge_image(part *p, int call, const char *name, const unsigned char *want,
                        const unsigned char *got, int64_t size)
{
    int64_t at = 0;
    if (memcmp(want, got, (size_t)size) == 0) {
        return true;
    }
    while (want[at] == got[at]) {
        at++;
    }
    const int64_t in = at - p->at.to_at;
    if (name[0] == 't' && in >= 0 && in < p->at.to_bytes) {
        const int64_t element = iso_dtype_size(p->problem->item->dtype);
        return check_fail(p->memory->result,
                          "byte %lld of element [%lld] of call %d is 0x%02x, and must be 0x%02x",
                          (long long)(in % element), (long long)(in / element), call, got[at],
                          want[at]);
    }
    return check_fail(p->memory->result,
                      "call %d changed a byte outside its result: byte %lld of the buffer of `%s` "
                      "is 0x%02x, and was 0x%02x",
                      call, (long long)at, name, got[at], want[at]);
}

static void add_digest(part *p, unsigned char *result)
{
    const bench_case *item = p->problem->item;
    uint64_t both[4];
    check_digest(p->memory->result, item->dtype, result, p->at.to_bytes / item->element,
                 item->element);
    memcpy(both, p->outcome->digest, sizeof p->outcome->digest);
    memcpy(both + 2, p->memory->result->digest, sizeof p->memory->result->digest);
    check_hash(both, (int64_t)sizeof both, p->outcome->digest);
    p->outcome->has_digest = 1;
}

static bool judge_call(part *p, int call)
{
    comm_memory *m = p->memory;
    const comm_shape *c = p->shape;
    unsigned char *want = m->want.data;
    unsigned char *got = (unsigned char *)m->history_image.data + call * padded(p->at.to_size);
    const unsigned char *from =
        (unsigned char *)m->store_image.data + call * padded(p->at.from_size);
    const bool sums = c->op == ISO_COMM_ALL_REDUCE || c->op == ISO_COMM_REDUCE_SCATTER;
    comm_image_want(p->problem, &p->at, p->seat->rank, call, want);
    if (sums && arith_is_float(p->problem->item->dtype) && p->at.to_bytes > 0 &&
        !judge_sum(p, call, want + p->at.to_at, got + p->at.to_at)) {
        return false;
    }
    if (!judge_image(p, call, "to", want, got, p->at.to_size)) {
        return false;
    }
    if (p->problem->item->same_bits) {
        add_digest(p, got + p->at.to_at);
    }
    comm_image_from(p->problem, &p->at, p->seat->rank, call, want);
    return judge_image(p, call, "from", want, from, p->at.from_size);
}

/* Behind a barrier, everything that every rank did before it has ended. */
static bool judge_events(part *p)
{
    for (int32_t i = 0; i < ranks_here(p->of->of); i++) {
        if (iso_event_query(p->of->events[i]) != ISO_OK) {
            return check_fail(p->memory->result,
                              "the barrier is behind it, and work that rank %d submitted before "
                              "its barrier has not ended",
                              i);
        }
    }
    return true;
}

static iso_status download(part *p)
{
    comm_memory *m = p->memory;
    const int64_t calls = p->problem->calls, from = padded(p->at.from_size);
    const int64_t to = padded(p->at.to_size);
    const iso_stream stream = p->seat->stream;
    iso_status status = ISO_OK;
    for (int call = 0; call < calls && status == ISO_OK; call++) {
        status = iso_stream_sync(stream_of(p, call));
    }
    if (status == ISO_OK && p->of->events && !judge_events(p)) {
        note(p, m->result);
        return ISO_OK;
    }
    if (status == ISO_OK && from > 0) {
        status = iso_read(stream, m->store_image.data, (iso_operand){m->store, 0}, calls * from);
    }
    if (status == ISO_OK && to > 0) {
        status = iso_read(stream, m->history_image.data, (iso_operand){m->history, 0}, calls * to);
    }
    return status == ISO_OK ? iso_stream_sync(stream) : status;
}

iso_status comm_judge(void *context, ranks_seat *seat)
{
    part p = part_of(context, seat);
    bench_result *result = p.memory->result;
    if (p.outcome->status != BENCH_OK) {
        return ISO_OK;
    }
    iso_status status = download(&p);
    if (status != ISO_OK) {
        return fail(&p, "iso_stream_sync", status);
    }
    for (int call = 0; call < p.problem->calls && p.outcome->status == BENCH_OK; call++) {
        if (!judge_call(&p, call)) {
            note(&p, result);
        }
    }
    p.outcome->error = result->error;
    p.outcome->bound = result->bound;
    return ISO_OK;
}
