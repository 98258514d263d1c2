/* SPDX-License-Identifier: Apache-2.0 */
/* moves.c - which calls are measured, at which sizes, and for how long. */
#include "bench/comm/scale.h"

#include "bench/workload/workload.h"

#include <math.h>
#include <string.h>

enum { MOST_SERIES = 32, PAIR_BYTES = 256 << 20 };

/* Calls that differ in their size alone. */
typedef struct series {
    iso_comm_op op;
    iso_comm_sum sum;
    bool in_place, ring;
    bool ended;     /* larger sizes are left out */
    double seconds; /* that the last size took in all */
    int64_t bytes;  /* of the last size */
} series;

static bool is_sum(iso_comm_op op)
{
    return op == ISO_COMM_ALL_REDUCE || op == ISO_COMM_REDUCE_SCATTER;
}

static int add_series(series *list, int count, const scale_run *run, series one)
{
    const bool summed = one.sum != ISO_COMM_SUM_FIXED || arith_is_float(run->data.dtype);
    if (!scale_wants(&run->ops, scale_name(one.op, one.ring)) ||
        (is_sum(one.op) && !(scale_wants(&run->variants, iso_comm_sum_name(one.sum)) && summed))) {
        return count;
    }
    list[count] = one;
    return count + 1;
}

static int find_series(const scale_run *run, series *list)
{
    static const iso_comm_op sums[] = {ISO_COMM_ALL_REDUCE, ISO_COMM_REDUCE_SCATTER};
    static const iso_comm_op moves[] = {ISO_COMM_ALL_GATHER, ISO_COMM_BROADCAST};
    static const iso_comm_sum how[] = {ISO_COMM_SUM_VENDOR, ISO_COMM_SUM_ORDERED,
                                       ISO_COMM_SUM_FIXED};
    int count = 0;
    for (int i = 0; i < 2; i++) {
        for (int s = 0; s < 3; s++) {
            for (int p = 0; p < 2; p++) {
                count = add_series(list, count, run,
                                   (series){.op = sums[i], .sum = how[s], .in_place = p > 0});
            }
        }
        for (int p = 0; p < 2; p++) {
            count = add_series(list, count, run, (series){.op = moves[i], .in_place = p > 0});
        }
    }
    count = add_series(list, count, run, (series){.op = ISO_COMM_ALL_TO_ALL});
    if (run->ranks > 1) {
        count = add_series(list, count, run, (series){.op = ISO_COMM_SEND, .ring = true});
        count = add_series(list, count, run, (series){.op = ISO_COMM_SEND});
    }
    return count;
}

/* How many ranks share the memory of a rank's device. That of processors is the host's. */
static int32_t sharers(const scale_run *run, const iso_device_info *info)
{
    size_t at;
    const json_t *spec;
    int32_t count = 0;
    if (ranks_is_once(info)) {
        return 1;
    }
    if (info->type != ISO_DEVICE_GPU) {
        return run->ranks;
    }
    json_array_foreach(run->devices, at, spec)
    {
        count += strcmp(json_string_value(spec), info->spec) == 0;
    }
    return count > 0 ? count : 1;
}

/* The ranks of this process that a device's memory limit is for. */
static int32_t limited(const scale_run *run, const iso_device_info *info)
{
    int32_t count = 0;
    for (int32_t i = 0; i < scale_here(run); i++) {
        count += strcmp(ranks_at(run->team, i)->info.spec, info->spec) == 0;
    }
    return count;
}

int64_t scale_memory_of(scale_run *run)
{
    double mine[RANKS_MOST];
    for (int32_t i = 0; i < scale_here(run); i++) {
        const ranks_seat *seat = ranks_at(run->team, i);
        iso_device_info info = ISO_DEVICE_INFO_INIT;
        iso_memory_use use = ISO_MEMORY_USE_INIT;
        (void)iso_device_get_info(seat->device, &info);
        const int64_t there = info.memory_free > 0 ? info.memory_free : work_memory(&info);
        double bytes = (double)there / sharers(run, &seat->info);
        if (iso_device_get_memory_use(seat->device, &use) == ISO_OK && use.limit >= 0) {
            bytes = fmin(bytes, (double)use.limit / limited(run, &seat->info));
        }
        mine[i] = -bytes;
    }
    return (int64_t)-scale_most(run, mine);
}

static void set_size(scale_case *of, int64_t bytes)
{
    const scale_run *run = of->run;
    const bool many = of->op == ISO_COMM_ALL_GATHER || of->op == ISO_COMM_ALL_TO_ALL ||
                      of->op == ISO_COMM_REDUCE_SCATTER;
    const int64_t of_each = run->data.element * (many ? run->ranks : 1);
    of->count = bytes / of_each > 0 ? bytes / of_each : 1;
    of->bytes = of->count * of_each;
}

void scale_mend(scale_run *run)
{
    bool sound = true;
    for (int32_t i = 0; i < scale_here(run) && sound; i++) {
        sound = iso_comm_query(ranks_at(run->team, i)->comm) == ISO_OK;
    }
    if (run->over || sound) {
        return;
    }
    if (!ranks_in_world(run->team)) {
        scale_release(run);
        sound = ranks_join(run->team, run->ranks);
    }
    if (!sound) {
        scale_lose(run);
    }
}

/* Says of the first size that is left out why, for it and all larger ones. */
static void leave_out(scale_run *run, series *of, int64_t bytes, const char *why)
{
    const char *how = is_sum(of->op) ? iso_comm_sum_name(of->sum) : NULL;
    json_t *entry =
        scale_entry(run, scale_name(of->op, of->ring), how, run->data.dtype, bytes, run->ranks);
    tool_set_bool(entry, "in_place", of->in_place);
    if (of->op == ISO_COMM_SEND && !of->ring) {
        tool_set_int(entry, "from", 0);
        tool_set_int(entry, "to", 1);
    }
    scale_skip(entry, "%s; so are larger sizes", why);
    of->ended = true;
}

/* The seconds of the next size: those of the last one, which grow with its bytes once they count.
 */
static double guess_of(const series *of, int64_t bytes)
{
    const double small = 1 << 20, last = fmax((double)of->bytes, small);
    return of->seconds * fmax((double)bytes / last, 1);
}

static void run_one(scale_run *run, series *of, int64_t bytes, double slice, double until)
{
    scale_case one = {.run = run,
                      .op = of->op,
                      .sum = of->sum,
                      .in_place = of->in_place,
                      .ring = of->ring,
                      .to = 1,
                      .slice = slice};
    set_size(&one, bytes);
    const double began = scale_now(run);
    const double guess = guess_of(of, one.bytes);
    if (run->over) {
        return;
    }
    if (began > until || (guess > slice && began + guess > until)) {
        leave_out(run, of, one.bytes, "the budget has no time for it");
        return;
    }
    if (one.bytes == of->bytes) {
        return; /* the size is that of the last one, because each rank has an element at least */
    }
    if (tool_colour(stderr) && ranks_speaks(run->team)) {
        tool_progress(began / (until + 1), " %s, %lld bytes", scale_name(of->op, of->ring),
                      (long long)one.bytes);
    }
    json_t *entry = scale_call(&one);
    const char *status = json_string_value(json_object_get(entry, "status"));
    of->ended = strcmp(status, bench_status_name(BENCH_OK)) != 0; /* larger ones fail too */
    scale_mend(run);
    of->seconds = scale_now(run) - began;
    of->bytes = one.bytes;
}

void scale_moves(scale_run *run, double until)
{
    series list[MOST_SERIES];
    const int count = find_series(run, list);
    const int64_t memory = scale_memory_of(run);
    double slice = (until - scale_now(run)) / (1.0 + (double)count * run->size_count) / 2;
    slice = fmin(slice, 0.3);
    for (int s = 0; s < run->size_count; s++) {
        for (int i = 0; i < count; i++) {
            if (run->over) {
                return;
            }
            if (list[i].ended) {
                continue;
            }
            if (is_sum(list[i].op) && !run->data.exact) {
                leave_out(run, &list[i], run->sizes[s],
                          "sums over so many ranks are not exact in this type, so they cannot be "
                          "checked");
            } else if ((double)run->sizes[s] * 3 > (double)memory) {
                /* Two arrays, and scratch memory of an engine. */
                leave_out(run, &list[i], run->sizes[s], "the memory of a rank has no room for it");
            } else {
                run_one(run, &list[i], run->sizes[s], slice, until);
            }
        }
        scale_keep(run);
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

static void run_barrier(scale_run *run)
{
    scale_case one = {.run = run, .op = ISO_COMM_BARRIER, .slice = 0.1};
    (void)scale_call(&one);
    scale_mend(run);
}

/* Whether the series of sizes has this pair and size already. */
static bool has_pair(const scale_run *run, int32_t from, int32_t to, int64_t bytes)
{
    size_t at;
    const json_t *entry;
    json_array_foreach(run->entries, at, entry)
    {
        if (json_integer_value(json_object_get(entry, "ranks")) == run->ranks &&
            strcmp(json_string_value(json_object_get(entry, "op")), "send") == 0 &&
            json_integer_value(json_object_get(entry, "from")) == from &&
            json_integer_value(json_object_get(entry, "to")) == to &&
            json_integer_value(json_object_get(entry, "bytes")) == bytes) {
            return true;
        }
    }
    return false;
}

static void run_pair(scale_run *run, int32_t from, int32_t to, int64_t bytes)
{
    scale_case one = {.run = run, .op = ISO_COMM_SEND, .from = from, .to = to, .slice = 0.02};
    set_size(&one, bytes);
    if (!has_pair(run, from, to, one.bytes)) {
        (void)scale_call(&one);
        scale_mend(run);
    }
}

/* One process copies from device to device. */
static void run_copy(scale_run *run, int32_t from, int32_t to, int64_t bytes)
{
    scale_case one = {.run = run, .from = from, .to = to, .slice = 0.02};
    set_size(&one, bytes);
    scale_copy(&one);
    scale_mend(run);
}

/* Measures a pair both ways that a process may move data. False: the time is over. */
static bool run_ways(scale_run *run, int32_t from, int32_t to, int64_t bytes, double until)
{
    const bool sends = scale_wants(&run->ops, "send");
    const bool copies = scale_wants(&run->ops, "copy") && !ranks_in_world(run->team);
    const double now = scale_now(run);
    if (run->over) {
        return false;
    }
    if ((sends || copies) && now > until) {
        json_t *entry =
            scale_entry(run, sends ? "send" : "copy", NULL, run->data.dtype, bytes, run->ranks);
        tool_set_int(entry, "from", from);
        tool_set_int(entry, "to", to);
        scale_skip(entry, "the budget has no time for it; so are further pairs of ranks");
        return false;
    }
    if (sends) {
        run_pair(run, from, to, bytes);
    }
    if (copies && !run->over) {
        run_copy(run, from, to, bytes);
    }
    return !run->over;
}

void scale_links(scale_run *run, double until)
{
    scale_release(run); /* what it holds is not free */
    const int64_t memory = scale_memory_of(run) / 3;
    const int64_t most = memory > PAIR_BYTES ? PAIR_BYTES : memory;
    const int64_t last = run->sizes[run->size_count - 1];
    const int64_t bytes[2] = {run->sizes[0], last < most ? last : most};
    if (scale_wants(&run->ops, "barrier") && !run->over) {
        run_barrier(run);
    }
    for (int i = 0; i < (bytes[0] < bytes[1] ? 2 : 1); i++) {
        for (int32_t pair = 0; pair < run->ranks * run->ranks; pair++) {
            const int32_t from = pair / run->ranks, to = pair % run->ranks;
            if (run->over) {
                return;
            }
            if (from != to && !run_ways(run, from, to, bytes[i], until)) {
                return;
            }
        }
    }
    scale_keep(run);
}
