/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - digests of whole runs, and the comparison of devices and variants. */
#include "bench/verify/internal.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool equal(const verify_record *a, const verify_record *b)
{
    return memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

void verify_differ(verify_record *record, const char *mine, const char *theirs,
                   const verify_record *other)
{
    char a[33], b[33], text[512];
    tool_digest_text(record->digest, a);
    tool_digest_text(other->digest, b);
    snprintf(text, sizeof text, "the bits differ: %s gives %s, %s gives %s", mine, a, theirs, b);
    free(record->reason);
    record->reason = strdup(text);
    record->status = BENCH_FAILED;
}

/* Naive and tiled products and maps must have the same bits. In the list, cases of the same problem
 * are adjacent. */
static void compare_variants(verify_run *run, verify_target *target, int index)
{
    verify_record *record = &target->records[index];
    const bench_case *item = run->chosen[index];
    for (int i = index - 1; i >= 0 && run->chosen[i]->problem == item->problem; i--) {
        const verify_record *other = &target->records[i];
        if (item->op->same_in_variants && other->has_digest && !equal(record, other)) {
            verify_differ(record, run->chosen[index]->id, run->chosen[i]->id, other);
        }
    }
}

/* Compares a result with that of the first device that has a digest for the case. */
static void compare_targets(verify_run *run, int target, int index)
{
    verify_record *record = &run->targets[target].records[index];
    for (int t = 0; t < target; t++) {
        const verify_record *other = &run->targets[t].records[index];
        if (!other->has_digest) {
            continue;
        }
        if (!equal(record, other)) {
            verify_differ(record, run->targets[target].info->spec, run->targets[t].info->spec,
                          other);
        }
        return;
    }
}

enum { LINE = BENCH_ID_MAX + 64 };

int verify_digest_of(const verify_run *run, const verify_target *target, const char *kind,
                     uint64_t digest[2])
{
    char *lines = tool_alloc((size_t)run->chosen_count, LINE, "digests");
    size_t used = 0;
    int count = 0;
    for (int i = 0; i < run->chosen_count; i++) {
        const verify_record *record = &target->records[i];
        if (record->has_digest && (!kind || strcmp(run->chosen[i]->kind, kind) == 0)) {
            char text[33];
            tool_digest_text(record->digest, text);
            used += (size_t)snprintf(lines + used, LINE, "%s %s\n", run->chosen[i]->id, text);
            count++;
        }
    }
    XXH128_hash_t hash = XXH3_128bits(lines, used);
    digest[0] = hash.high64;
    digest[1] = hash.low64;
    free(lines);
    return count;
}

void verify_compare_digests(verify_run *run)
{
    for (int t = 0; t < run->target_count; t++) {
        verify_target *target = &run->targets[t];
        for (int i = 0; i < run->chosen_count; i++) {
            if (target->records[i].has_digest) {
                compare_variants(run, target, i);
                compare_targets(run, t, i);
            }
        }
        target->digests = verify_digest_of(run, target, NULL, target->digest);
    }
}
