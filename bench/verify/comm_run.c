/* SPDX-License-Identifier: Apache-2.0 */
/* comm_run.c - runs the cases of `isomer verify --comm`. */
#include "bench/verify/comm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a rank waits for the others, unless the user says otherwise: cases are short. */
static const char *const usual_timeout = "30";
static const int32_t usual_counts[] = {1, 2, 3, 4, 7};

/* ---- opening --------------------------------------------------------------------------------- */

static int open_team(verify_run *run, int32_t most)
{
    ranks_options options = run->comm_options;
    options.backend = run->backend;
    options.require = run->require;
    options.timeout = options.timeout ? options.timeout : usual_timeout;
    return ranks_open(&options, most, &run->team);
}

int comm_counts(verify_run *run)
{
    const ranks_options *options = &run->comm_options;
    if (ranks_is_world(options)) {
        int code = open_team(run, 1);
        run->counts[0] = code == TOOL_OK ? ranks_most(run->team) : 0;
        run->count_count = 1;
        return code;
    }
    if (options->ranks) {
        return ranks_counts(options->ranks, run->counts, VERIFY_RANKS, &run->count_count);
    }
    const char *last = run->case_id ? strrchr(run->case_id, '/') : NULL;
    if (last && last[1] == 'r' && last[2] >= '1' && last[2] <= '9' &&
        strspn(last + 2, "0123456789") == strlen(last + 2)) { /* an id says how many ranks */
        return ranks_counts(last + 2, run->counts, VERIFY_RANKS, &run->count_count);
    }
    memcpy(run->counts, usual_counts, sizeof usual_counts);
    run->count_count = COUNT(usual_counts);
    return TOOL_OK;
}

/* Leaves out the cases that need more ranks than there can be. */
static int drop_large(verify_run *run, int32_t wanted)
{
    const int32_t most = ranks_most(run->team);
    int kept = 0;
    if (most >= wanted) {
        return TOOL_OK;
    }
    for (int i = 0; i < run->chosen_count; i++) {
        if (run->chosen[i]->comm.ranks <= most) {
            run->chosen[kept++] = run->chosen[i];
        }
    }
    run->chosen_count = kept;
    tool_error(TOOL_OK, "more than %d ranks are left out: a device of %s can be one rank only",
               most, ranks_at(run->team, 0)->info.backend);
    return kept > 0 ? TOOL_OK : tool_error(TOOL_NOTHING, "no case is left");
}

int comm_open(verify_run *run)
{
    int32_t most = 1;
    for (int i = 0; i < run->chosen_count; i++) {
        const int32_t ranks = run->chosen[i]->comm.ranks;
        most = ranks > most ? ranks : most;
    }
    int code = run->team ? TOOL_OK : open_team(run, most);
    if (code == TOOL_OK) {
        code = drop_large(run, most);
    }
    if (code == TOOL_OK && !ranks_join(run->team, run->chosen[0]->comm.ranks)) {
        code = tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    if (code != TOOL_OK) {
        return code;
    }
    run->targets = tool_alloc(1, sizeof *run->targets, "the ranks");
    run->target_count = 1;
    verify_target *target = &run->targets[0];
    target->info = &ranks_at(run->team, 0)->info;
    target->records = tool_alloc((size_t)run->chosen_count, sizeof *target->records, "results");
    ranks_title(run->team, target->title, sizeof target->title);
    return TOOL_OK;
}

/* ---- a case ---------------------------------------------------------------------------------- */

/* What all ranks know of how their parts ended. */
typedef struct verdict {
    comm_outcome *all; /* of each rank */
    bench_result *result;
} verdict;

/* Shares the outcomes. The worst one becomes the result. False: it is not BENCH_OK. */
static bool agree(comm_case *c, verdict *v)
{
    static const int severity[] = {
        [BENCH_OK] = 0, [BENCH_FAILED] = 2, [BENCH_UNSUPPORTED] = 1, [BENCH_ERROR] = 3};
    const int32_t ranks = ranks_count(c->of);
    int worst = -1;
    if (!ranks_gather(c->of, c->outcomes, (int64_t)sizeof *c->outcomes, v->all)) {
        check_call_failed(v->result, "the gather of the results", iso_last_status());
        if (c->outcomes[0].status != BENCH_OK) {
            v->result->status = (bench_status)c->outcomes[0].status;
            snprintf(v->result->reason, sizeof v->result->reason, "%s", c->outcomes[0].reason);
        }
        return false;
    }
    for (int32_t i = 0; i < ranks; i++) {
        const comm_outcome *one = &v->all[i];
        if (severity[one->status] > worst) {
            worst = severity[one->status];
            v->result->status = (bench_status)one->status;
            snprintf(v->result->reason, sizeof v->result->reason, "%s", one->reason);
        }
        if (one->bound > 0 && one->error >= v->result->error) {
            v->result->error = one->error;
            v->result->bound = one->bound;
        }
    }
    return v->result->status == BENCH_OK;
}

/* The digest of all ranks' results; if every rank gets the same, that of one. */
static void join_digests(const comm_case *c, const verdict *v)
{
    const int32_t ranks = ranks_count(c->of);
    bench_result *result = v->result;
    if (!c->problem->item->same_bits || v->all[0].has_digest == 0) {
        return;
    }
    memcpy(result->digest, v->all[0].digest, sizeof result->digest);
    for (int32_t i = 1; i < ranks && c->problem->item->comm.op == ISO_COMM_REDUCE_SCATTER; i++) {
        uint64_t both[4] = {result->digest[0], result->digest[1], v->all[i].digest[0],
                            v->all[i].digest[1]};
        check_hash(both, (int64_t)sizeof both, result->digest);
    }
    result->has_digest = true;
}

static void drop_events(comm_case *c)
{
    for (int32_t i = 0; c->events && i < ranks_here(c->of); i++) {
        if (c->events[i].id != 0) {
            iso_event_destroy(c->events[i]);
        }
    }
}

static void judge(comm_case *c, verdict *v)
{
    if (c->problem->item->comm.way == COMM_THREAD) {
        comm_submit_all(c);
    } else {
        ranks_run(c->of, comm_submit, c);
    }
    ranks_run(c->of, comm_judge, c);
    if (agree(c, v)) {
        join_digests(c, v);
    }
}

static void run_parts(comm_case *c, verdict *v)
{
    const comm_way way = c->problem->item->comm.way;
    iso_comm second[RANKS_MOST];
    iso_event events[RANKS_MOST] = {{0}};
    ranks_run(c->of, comm_ask, c);
    const bool asked = agree(c, v);
    if (!asked && v->result->status != BENCH_UNSUPPORTED) {
        return;
    }
    if (asked && way == COMM_TWO) {
        iso_status status = ranks_second(c->of, second);
        if (status != ISO_OK) {
            check_call_failed(v->result, "making a second communicator", status);
            return;
        }
        c->second = second;
    }
    /* A barrier is also checked with events, which only their own process sees. */
    c->events = asked && way == COMM_AFTER ? events : NULL;
    ranks_run(c->of, comm_prepare, c);
    if (!asked) {
        ranks_run(c->of, comm_refuse, c);
        agree(c, v);
    } else if (agree(c, v)) {
        judge(c, v);
    }
    drop_events(c);
    for (int32_t i = 0; c->second && i < ranks_here(c->of); i++) {
        iso_comm_destroy(second[i]);
    }
}

static const char *method_of(const comm_problem *problem)
{
    const bool floats = problem->item->dtype && arith_is_float(problem->item->dtype);
    return !problem->exact ? "bound" : problem->results > 0 && floats ? "bits" : "exact";
}

/* The memory of the ranks of this process. */
static bool need_memory(comm_memory *memories, int32_t here)
{
    for (int32_t i = 0; i < here; i++) {
        if (!memories[i].result) {
            memories[i].result = calloc(1, sizeof *memories[i].result);
        }
        if (!memories[i].result) {
            return false;
        }
    }
    return true;
}

static void run_case(verify_run *run, const bench_case *item, comm_memory *memories,
                     comm_problem *problem, bench_result *result)
{
    const double began = tool_seconds();
    memset(result, 0, sizeof *result);
    result->method = "";
    if (!ranks_join(run->team, item->comm.ranks)) {
        check_call_failed(result, "making the communicator", iso_last_status());
        return;
    }
    const int32_t here = ranks_here(run->team), ranks = ranks_count(run->team);
    comm_case c = {.problem = problem, .of = run->team, .memories = memories};
    verdict v = {.result = result};
    c.outcomes = calloc((size_t)here, sizeof *c.outcomes);
    v.all = calloc((size_t)ranks, sizeof *v.all);
    if (c.outcomes && v.all && need_memory(memories, here) && comm_build(problem, item)) {
        result->method = method_of(problem);
        run_parts(&c, &v);
    } else {
        check_no_memory(result);
    }
    free(c.outcomes);
    free(v.all);
    result->seconds = tool_seconds() - began;
}

/* ---- all cases ------------------------------------------------------------------------------- */

/* Streams and buffers that a failure has touched are made again. */
static void renew(verify_run *run, comm_memory *memories)
{
    for (int32_t i = 0; i < ranks_most(run->team) && i < RANKS_MOST; i++) {
        comm_memory_free(&memories[i]);
    }
}

int comm_run_cases(verify_run *run)
{
    const bool shown = isatty(STDERR_FILENO) != 0 && ranks_speaks(run->team);
    comm_memory *memories = tool_alloc(RANKS_MOST, sizeof *memories, "the ranks");
    bench_result *result = tool_alloc(1, sizeof *result, "a result");
    comm_problem problem = {0};
    run->began = tool_seconds();
    for (int i = 0; i < run->chosen_count && !run->over; i++) {
        if (shown) {
            tool_progress(i / (double)run->chosen_count, " %d/%d %s", i, run->chosen_count,
                          run->chosen[i]->id);
        }
        run->now = i;
        run->now_began = tool_seconds();
        run_case(run, run->chosen[i], memories, &problem, result);
        verify_keep(run, &run->targets[0], i, result);
        if (result->status == BENCH_FAILED || result->status == BENCH_ERROR) {
            renew(run, memories);
            /* The processes of a world cannot agree on how to go on without a communicator. */
            run->over = run->over || (ranks_in_world(run->team) &&
                                      iso_comm_query(ranks_at(run->team, 0)->comm) != ISO_OK);
        }
    }
    run->seconds = tool_seconds() - run->began;
    if (shown) {
        tool_progress_end();
    }
    renew(run, memories);
    comm_free(&problem);
    free(memories);
    free(result);
    return TOOL_OK;
}

/* ---- bits over numbers of ranks -------------------------------------------------------------- */

/* Whether two cases differ in the number of ranks alone, on which their bits do not depend. */
static bool is_same_sum(const bench_case *a, const bench_case *b)
{
    const comm_shape *c = &a->comm;
    return c->sum == ISO_COMM_SUM_FIXED && c->op == ISO_COMM_ALL_REDUCE && a->seed == b->seed &&
           a->problem == b->problem && c->ranks != b->comm.ranks;
}

int comm_compare(verify_run *run, uint64_t digest[2])
{
    verify_record *records = run->targets[0].records;
    char *lines = tool_alloc((size_t)run->chosen_count, BENCH_ID_MAX + 64, "digests");
    size_t used = 0;
    int count = 0;
    for (int i = 0; i < run->chosen_count; i++) {
        const bench_case *item = run->chosen[i];
        if (!records[i].has_digest || item->comm.sum != ISO_COMM_SUM_FIXED ||
            item->comm.op != ISO_COMM_ALL_REDUCE) {
            continue;
        }
        bool first = true;
        for (int j = 0; j < i && first; j++) {
            if (records[j].has_digest && is_same_sum(item, run->chosen[j])) {
                first = false;
                if (memcmp(records[i].digest, records[j].digest, sizeof records[i].digest) != 0) {
                    verify_differ(&records[i], item->id, run->chosen[j]->id, &records[j]);
                }
            }
        }
        if (first) {
            char text[33];
            tool_digest_text(records[i].digest, text);
            used += (size_t)sprintf(lines + used, "%.*s %s\n",
                                    (int)(strrchr(item->id, '/') - item->id), item->id, text);
            count++;
        }
    }
    check_hash(lines, (int64_t)used, digest);
    free(lines);
    return count;
}
