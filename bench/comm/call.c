/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - measures one call of a communicator.
 *
 * Before and behind the samples every rank checks every element of its result. A sample is several
 * calls between two events, behind a barrier, and its time is that of the slowest rank. What a call
 * in place changes is restored before each sample.
 */
#include "bench/comm/scale.h"

#include "bench/check/check.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MOST = 100, SAMPLES_LEAST = 5 };

static bool sums(const scale_case *of)
{
    return of->op == ISO_COMM_ALL_REDUCE || of->op == ISO_COMM_REDUCE_SCATTER;
}

const char *scale_name(iso_comm_op op, bool ring)
{
    return ring ? "send_receive" : iso_comm_op_name(op);
}

/* Whether one rank sends to one other. */
static bool is_pair(const scale_case *of)
{
    return of->op == ISO_COMM_SEND && !of->ring;
}

static bool takes_part(const scale_case *of, const ranks_seat *seat)
{
    return !is_pair(of) || seat->rank == of->from || seat->rank == of->to;
}

static bool gets(const scale_case *of, const ranks_seat *seat)
{
    return of->op != ISO_COMM_BARRIER && (!is_pair(of) || seat->rank == of->to);
}

static iso_comm_args args_of(const scale_case *of, const ranks_seat *seat)
{
    const scale_run *run = of->run;
    const scale_memory *memory = &run->memories[scale_number(run, seat)];
    const int64_t part = of->count * run->data.element;
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    args.op = of->op;
    if (of->op == ISO_COMM_BARRIER) {
        return args;
    }
    args.dtype = run->data.dtype;
    args.sum = sums(of) ? of->sum : ISO_COMM_SUM_AUTO;
    args.count = of->count;
    args.from = (iso_operand){of->in_place ? memory->to : memory->from, 0};
    args.to = (iso_operand){memory->to, 0};
    if (of->in_place && of->op == ISO_COMM_REDUCE_SCATTER) {
        args.to.offset = seat->rank * part;
    } else if (of->in_place && of->op == ISO_COMM_ALL_GATHER) {
        args.from.offset = seat->rank * part;
    } else if (of->ring) {
        args.peer = (seat->rank + 1) % run->ranks;
    } else if (of->op == ISO_COMM_SEND) {
        args.op = seat->rank == of->from ? ISO_COMM_SEND : ISO_COMM_RECEIVE;
        args.peer = seat->rank == of->from ? of->to : of->from;
    }
    return args;
}

static iso_status call(const scale_case *of, const ranks_seat *seat)
{
    if (!takes_part(of, seat)) {
        return ISO_OK;
    }
    const iso_comm_args args = args_of(of, seat);
    if (!of->ring) {
        return iso_comm_run(seat->comm, seat->stream, &args);
    }
    iso_comm_args receive = args;
    receive.op = ISO_COMM_RECEIVE;
    receive.peer = (seat->rank + of->run->ranks - 1) % of->run->ranks;
    const iso_comm_call both[] = {{seat->comm, seat->stream, &args},
                                  {seat->comm, seat->stream, &receive}};
    return iso_comm_run_group(both, 2);
}

static iso_status meet(const ranks_seat *seat)
{
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    args.op = ISO_COMM_BARRIER;
    return iso_comm_run(seat->comm, seat->stream, &args);
}

/* Overwrites the result, and in place puts back what the call reads. */
static iso_status restore(const scale_case *of, const ranks_seat *seat)
{
    static const unsigned char noise[16] = {0x5d, 0xa3, 0x4e, 0x17, 0xc9, 0x7b, 0x42, 0xe6,
                                            0x91, 0x3c, 0xf4, 0x08, 0x6f, 0xd2, 0x85, 0x2a};
    const scale_run *run = of->run;
    const scale_memory *memory = &run->memories[scale_number(run, seat)];
    const int64_t part = of->count * run->data.element;
    const iso_operand to = {memory->to, 0}, from = {memory->from, 0};
    if (of->op == ISO_COMM_BARRIER) {
        return ISO_OK;
    }
    iso_status status =
        iso_fill(seat->stream, to, noise, (int64_t)sizeof noise, (of->bytes + 15) / 16 * 16);
    if (status != ISO_OK || !of->in_place) {
        return status;
    }
    if (of->op == ISO_COMM_ALL_GATHER) {
        return iso_copy(seat->stream, (iso_operand){memory->to, seat->rank * part}, from, part);
    }
    return of->op == ISO_COMM_BROADCAST && seat->rank != 0
               ? ISO_OK
               : iso_copy(seat->stream, to, from, of->bytes);
}

/* ---- the check ------------------------------------------------------------------------------- */

static bool is_right(const scale_case *of, const ranks_seat *seat, scale_outcome *outcome)
{
    scale_run *run = of->run;
    const scale_data *data = &run->data;
    scale_memory *memory = &run->memories[scale_number(run, seat)];
    const int64_t n = of->count, part = n * data->element;
    if (!gets(of, seat)) {
        return true;
    }
    if (sums(of)) {
        const bool scatter = of->op == ISO_COMM_REDUCE_SCATTER;
        const scale_part all = {data->sums, scatter ? seat->rank * n : 0, n};
        return scale_compare(data, seat, memory, scatter && of->in_place ? seat->rank * part : 0,
                             &all, outcome);
    }
    const bool many = of->op == ISO_COMM_ALL_GATHER || of->op == ISO_COMM_ALL_TO_ALL;
    for (int32_t r = 0; r < (many ? run->ranks : 1); r++) {
        const int32_t before = (seat->rank + run->ranks - 1) % run->ranks;
        const int32_t row = many ? r : of->ring ? before : is_pair(of) ? of->from : 0;
        const int64_t first = of->op == ISO_COMM_ALL_TO_ALL ? seat->rank * n : 0;
        const scale_part one = {data->base, scale_row(row) + first, n};
        if (!scale_compare(data, seat, memory, r * part, &one, outcome)) {
            return false;
        }
    }
    return true;
}

static iso_status check(void *context, ranks_seat *seat)
{
    scale_case *of = context;
    scale_outcome *outcome = &of->outcomes[scale_number(of->run, seat)];
    memset(outcome, 0, sizeof *outcome);
    (void)is_right(of, seat, outcome);
    return ISO_OK;
}

/* A rank that cannot go on does not let the others wait. */
static iso_status give_up(const ranks_seat *seat, iso_status status)
{
    if (status != ISO_OK) {
        (void)iso_comm_abort(seat->comm);
    }
    return status;
}

/* ---- the work of a rank ---------------------------------------------------------------------- */

static iso_status ask(void *context, ranks_seat *seat)
{
    const scale_case *of = context;
    const iso_comm_args args = args_of(of, seat);
    iso_status status = iso_comm_supports(seat->comm, &args);
    if (status != ISO_OK || !takes_part(of, seat)) {
        return status;
    }
    return iso_comm_prepare(seat->comm, seat->stream, &args);
}

static iso_status once(void *context, ranks_seat *seat)
{
    const scale_case *of = context;
    iso_status status = restore(of, seat);
    status = status == ISO_OK ? call(of, seat) : status;
    return give_up(seat, status == ISO_OK ? iso_stream_sync(seat->stream) : status);
}

/* Takes one sample. */
static iso_status take(const scale_case *of, const ranks_seat *seat, double *device, double *host)
{
    const scale_memory *memory = &of->run->memories[scale_number(of->run, seat)];
    int64_t nanoseconds = 0;
    iso_status status = of->in_place ? restore(of, seat) : ISO_OK;
    status = status == ISO_OK ? meet(seat) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    const double began = tool_seconds();
    status = status == ISO_OK ? iso_event_record(memory->begin, seat->stream) : status;
    for (int32_t i = 0; i < of->times.calls && status == ISO_OK; i++) {
        status = call(of, seat);
    }
    status = status == ISO_OK ? iso_event_record(memory->end, seat->stream) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    *host = 1e9 * (tool_seconds() - began) / of->times.calls;
    status =
        status == ISO_OK ? iso_event_elapsed(memory->begin, memory->end, &nanoseconds) : status;
    *device = (double)nanoseconds / of->times.calls;
    if (!takes_part(of, seat)) {
        *host = *device = 0;
    }
    return status;
}

/* The time of one call and of the wait for it. */
static iso_status take_alone(const scale_case *of, const ranks_seat *seat, double *host)
{
    iso_status status = of->in_place ? restore(of, seat) : ISO_OK;
    status = status == ISO_OK ? meet(seat) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    const double began = tool_seconds();
    status = status == ISO_OK ? call(of, seat) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    *host = takes_part(of, seat) ? 1e9 * (tool_seconds() - began) : 0;
    return status;
}

static iso_status take_all(void *context, ranks_seat *seat)
{
    scale_case *of = context;
    const int32_t number = scale_number(of->run, seat);
    iso_status status = restore(of, seat);
    for (int32_t i = 0; i < of->alone && status == ISO_OK; i++) {
        status = take_alone(of, seat, &of->single[number][i]);
    }
    for (int32_t i = 0; i < of->times.count && status == ISO_OK; i++) {
        status = take(of, seat, &of->device[number][i], &of->host[number][i]);
    }
    return give_up(seat, status);
}

/* ---- the case -------------------------------------------------------------------------------- */

/* Sums in place grow with each call: they must stay finite. */
static int32_t most_calls(const scale_case *of)
{
    const iso_dtype dtype = of->run->data.dtype;
    if (!of->in_place || !sums(of) || of->run->ranks < 2 || !arith_is_float(dtype)) {
        return CALLS_MOST;
    }
    const double range = dtype == ISO_F16 ? 4 : dtype == ISO_F64 ? 900 : 100;
    const double most = floor(range / log2(of->run->ranks));
    return most < 1 ? 1 : most > CALLS_MOST ? CALLS_MOST : (int32_t)most;
}

/* Runs the work on every rank. False: it did not end well, which the outcome says. */
static bool run_work(scale_case *of, ranks_work *work, const char *what)
{
    memset(of->outcomes, 0, (size_t)scale_here(of->run) * sizeof *of->outcomes);
    ranks_run(of->run->team, work, of);
    scale_note(of->run, what, of->outcomes);
    return scale_agree(of->run, of->outcomes);
}

/* Finds how many calls and samples there is time for. */
static bool plan(scale_case *of)
{
    double mine[RANKS_MOST];
    of->times.calls = of->times.count = 1;
    of->alone = 2;
    if (!run_work(of, take_all, "a call")) {
        return false;
    }
    for (int32_t i = 0; i < scale_here(of->run); i++) {
        mine[i] = fmax(of->host[i][0], of->single[i][1]) * 1e-9;
    }
    scale_plan(of->run, scale_most(of->run, mine), of->slice, most_calls(of), SAMPLES_LEAST,
               &of->times);
    of->alone = of->times.count < SCALE_ALONE ? of->times.count : SCALE_ALONE;
    return true;
}

/* The samples of all ranks become those of the slowest. */
static bool collect(scale_case *of)
{
    double alone[SCALE_ALONE];
    if (!scale_collect(of->run, of->device, of->host, &of->times, &of->outcomes[0]) ||
        !scale_slowest(of->run, of->single, SCALE_ALONE, of->alone, alone, &of->outcomes[0])) {
        return false;
    }
    of->times.alone = stats_median(alone, of->alone);
    return true;
}

static void measure(scale_case *of, json_t *entry)
{
    /* Before anything is timed, and behind it. In place the timed calls leave other sums, so one
     * more call is made for the check. */
    bool good = run_work(of, ask, "iso_comm_prepare") && run_work(of, once, "a call") &&
                run_work(of, check, "the check") && plan(of) && run_work(of, take_all, "a call") &&
                collect(of) && (!(of->in_place && sums(of)) || run_work(of, once, "a call")) &&
                run_work(of, check, "the check");
    scale_set_outcome(entry, &of->outcomes[0],
                      of->op == ISO_COMM_BARRIER ? NULL : "every element, on every rank");
    if (good) {
        scale_set_times(entry, &of->times);
    }
}

json_t *scale_call(scale_case *of)
{
    scale_run *run = of->run;
    const size_t here = (size_t)scale_here(run);
    const char *sum = sums(of) ? iso_comm_sum_name(of->sum) : NULL;
    json_t *entry = scale_entry(run, scale_name(of->op, of->ring), sum,
                                of->op == ISO_COMM_BARRIER ? (iso_dtype)0 : run->data.dtype,
                                of->bytes, run->ranks);
    tool_set_bool(entry, "in_place", of->in_place);
    if (is_pair(of)) {
        tool_set_int(entry, "from", of->from);
        tool_set_int(entry, "to", of->to);
    }
    of->outcomes = tool_alloc(here, sizeof *of->outcomes, "the outcomes");
    of->device = tool_alloc(here, sizeof *of->device, "the samples");
    of->host = tool_alloc(here, sizeof *of->host, "the samples");
    of->single = tool_alloc(here, sizeof *of->single, "the samples");
    if (scale_need(run, of->bytes > 0 ? (of->bytes + 255) / 256 * 256 : 256, of->outcomes)) {
        measure(of, entry);
    } else {
        scale_set_outcome(entry, &of->outcomes[0], NULL);
    }
    free(of->outcomes);
    free(of->device);
    free(of->host);
    free(of->single);
    return entry;
}
