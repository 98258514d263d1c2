/* SPDX-License-Identifier: Apache-2.0 */
/* comm_report.c - the table of `isomer verify --comm`: a row for each kind of call, a column for
 * each number of ranks. */
#include "bench/verify/comm.h"

#include <string.h>

static bool same_row(const bench_case *a, const bench_case *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->variant, b->variant) == 0;
}

static void print_row(const verify_run *run, const verify_target *target, int first)
{
    const bench_case *item = run->chosen[first];
    fprintf(run->out, "  %-14s %-9s", item->kind, item->variant);
    for (int c = 0; c < run->count_count; c++) {
        verify_cell cell = {0, 0, 0};
        for (int i = first; i < run->chosen_count; i++) {
            if (run->chosen[i]->comm.ranks == run->counts[c] && same_row(run->chosen[i], item)) {
                verify_cell_add(&cell, &target->records[i]);
            }
        }
        verify_cell_print(run->out, &cell);
    }
    fputc('\n', run->out);
}

void comm_report(const verify_run *run, const verify_target *target)
{
    char head[32];
    fprintf(run->out, "  %-14s %-9s", "call", "sum");
    for (int c = 0; c < run->count_count; c++) {
        snprintf(head, sizeof head, "%d rank%s", run->counts[c], run->counts[c] == 1 ? "" : "s");
        fprintf(run->out, "%*s", VERIFY_CELL, head);
    }
    fputc('\n', run->out);
    for (int i = 0; i < run->chosen_count; i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) {
            seen = same_row(run->chosen[i], run->chosen[j]);
        }
        if (!seen) {
            print_row(run, target, i);
        }
    }
}

void comm_report_fixed(const verify_run *run)
{
    char text[33];
    if (run->fixed_count > 0) {
        tool_digest_text(run->fixed_digest, text);
        fprintf(run->out, "  digest %s of %d fixed sums, for every number of ranks\n", text,
                run->fixed_count);
    }
}

json_t *comm_json(const verify_run *run)
{
    json_t *comm = json_object(), *counts = json_array(), *devices = json_array();
    char text[33] = "";
    tool_set_text(comm, "engine", ranks_engine(run->team));
    tool_set_text(comm, "library", ranks_library(run->team));
    for (int c = 0; c < run->count_count; c++) {
        json_array_append_new(counts, json_integer(run->counts[c]));
    }
    json_object_set_new(comm, "ranks", counts);
    for (int32_t i = 0; i < ranks_open_here(run->team); i++) {
        json_array_append_new(devices, json_string(ranks_at(run->team, i)->info.spec));
    }
    json_object_set_new(comm, "devices", devices);
    tool_set_bool(comm, "world", ranks_in_world(run->team));
    if (run->fixed_count > 0) {
        tool_digest_text(run->fixed_digest, text);
    }
    tool_set_text(comm, "digest_of_fixed", text);
    return comm;
}
