/* SPDX-License-Identifier: Apache-2.0 */
/* fault_comm.c - the layout of "comm" and "comm_fits" of a document. */
#include "bench/record/fault.h"

#include <math.h>
#include <string.h>

const char *record_statuses[BENCH_STATUSES + 1];

static const char *const ops[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                  "all_to_all", "send_receive",   "send",       "copy",
                                  "barrier",    "gemm",           NULL};
static const char *const variants[] = {"vendor", "ordered", "fixed", "tiled", NULL};
static const char *const clocks[] = {"device", "host", "another program", NULL};
static const char *const paths[] = {"same", "peer", "staged", NULL};
static const char *const scalings[] = {"strong", "weak", NULL};

static const rule text_item = {.types = STRING};
static const rule time_item = {.types = NUMBER};

static const rule times_members[] = {{.names = "clock", .types = STRING, .words = clocks},
                                     {.names = "median", .types = NUMBER | POSITIVE},
                                     {.names = "low high", .types = NUMBER | NIL},
                                     {.names = "min max", .types = NUMBER},
                                     {.names = "samples", .types = ARRAY, .items = &time_item},
                                     {.names = "calls", .types = NUMBER | POSITIVE},
                                     {.names = "host alone", .types = NUMBER | NIL},
                                     {0}};

static const rule verified_members[] = {
    {.names = "method", .types = STRING}, {.names = "digest", .types = STRING | NIL}, {0}};

/* What an entry and a fit have in common. */
#define SERIES                                                                                     \
    {.names = "op", .types = STRING, .words = ops},                                                \
        {.names = "variant", .types = STRING | NIL, .words = variants},                            \
        {.names = "dtype", .types = STRING | NIL}, {.names = "ranks", .types = NUMBER | POSITIVE}, \
        {.names = "in_place", .types = TRUTH}, {.names = "by", .types = STRING},                   \
    {                                                                                              \
        .names = "from to", .types = NUMBER | LACKING                                              \
    }

const rule record_comm_members[] = {
    SERIES,
    {.names = "bytes", .types = NUMBER},
    {.names = "engine library", .types = STRING | NIL},
    {.names = "devices", .types = ARRAY, .items = &text_item},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason", .types = STRING | NIL},
    {.names = "verified", .types = OBJECT | NIL, .members = verified_members},
    {.names = "times", .types = OBJECT | NIL, .members = times_members},
    {.names = "algbw busbw", .types = NUMBER | NIL},
    {.names = "path", .types = STRING | LACKING, .words = paths},
    {.names = "scaling", .types = STRING | LACKING, .words = scalings},
    {.names = "grid", .types = STRING | LACKING},
    {.names = "n block_k", .types = NUMBER | POSITIVE | LACKING},
    {.names = "memory gflops efficiency", .types = NUMBER | NIL | LACKING},
    {0}};

const rule record_fit_members[] = {SERIES,
                                   {.names = "method", .types = STRING},
                                   {.names = "points", .types = NUMBER | POSITIVE},
                                   {.names = "latency error", .types = NUMBER},
                                   {.names = "algbw busbw", .types = NUMBER | NIL},
                                   {0}};

/* An entry has times if and only if its status is ok, and ours were checked. */
static const char *entry_fault(const json_t *entry)
{
    const bool ok = record_comm_ok(entry), ours = strcmp(record_text(entry, "by"), "isomer") == 0;
    const bool timed = json_is_object(json_object_get(entry, "times"));
    const bool checked = json_is_object(json_object_get(entry, "verified"));
    const bool product = record_comm_is_product(entry);
    const bool rated = isfinite(record_number(entry, "gflops"));
    return !ok && record_text(entry, "reason")[0] == '\0'
               ? "reason is empty, but the status is not ok"
           : !ok && timed ? "times has figures, but the status is not ok"
           : ok && !timed ? "times is null, but the status is \"ok\""
           : ok && ours && !checked
               ? "verified is null, but an entry with figures must have been checked"
           : ours && ok && json_array_size(record_at(entry, "times.samples")) == 0
               ? "times.samples has no samples"
           : product && ok != rated ? "gflops does not fit the status"
                                    : NULL;
}

char *record_comm_fault(const json_t *entries)
{
    size_t at;
    const json_t *entry;
    json_array_foreach(entries, at, entry)
    {
        const char *fault = entry_fault(entry);
        if (fault) {
            return record_format("comm[%zu].%s", at, fault);
        }
    }
    return NULL;
}
