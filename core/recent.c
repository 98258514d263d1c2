/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c - keeps a stream's recent operations. What is kept stays right: buffers do not change
 * while their handles live, and neither do a device's settings nor what it supports. */
#include "core/recent.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 8, ARGS_MOST = 320 };

typedef struct entry {
    uint64_t hash;
    iso_op_kind kind;
    uint32_t args_bytes; /* 0: empty */
    int64_t workspace;
    unsigned char args[ARGS_MOST];
    core_op op;
} entry;

struct core_recent {
    int oldest;
    entry *last; /* of the last operation */
    entry entries[KEPT];
};

/* The size that the arguments give; 0 if they cannot be kept. */
static uint32_t size_of(const void *args)
{
    uint32_t size = 0;

    if (args) {
        memcpy(&size, args, sizeof size);
    }
    return size <= ARGS_MOST ? size : 0;
}

static uint64_t hash_of(iso_op_kind kind, const void *args, uint32_t size)
{
    const unsigned char *at = args;
    uint64_t hash = (uint64_t)kind << 32 | size, word;

    for (; size >= sizeof word; size -= (uint32_t)sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash << 7 | hash >> 57) ^ word;
    }
    return hash;
}

/* Whether no buffer's handle was destroyed. */
static bool lives(const core_op *op)
{
    bool all = true;

    for (int i = 0; i < op->use_count; i++) {
        all = all && (!op->uses[i].buffer || core_handle_alive(op->uses[i].operand.buffer.id));
    }
    return all;
}

static bool is_of(const entry *at, iso_op_kind kind, const void *args, uint32_t size)
{
    return at->kind == kind && at->args_bytes == size && !memcmp(at->args, args, size);
}

static entry *find(core_recent *recent, iso_op_kind kind, const void *args, uint32_t size)
{
    uint64_t hash;

    if (is_of(recent->last, kind, args, size)) {
        return recent->last;
    }
    hash = hash_of(kind, args, size);
    for (int i = 0; i < KEPT; i++) {
        if (recent->entries[i].hash == hash && is_of(&recent->entries[i], kind, args, size)) {
            return &recent->entries[i];
        }
    }
    return NULL;
}

core_op *core_recent_find(core_stream *stream, iso_op_kind kind, const void *args,
                          int64_t *workspace)
{
    const uint32_t size = stream->recent ? size_of(args) : 0;
    entry *at = size ? find(stream->recent, kind, args, size) : NULL;

    if (!at) {
        return NULL;
    }
    if (!lives(&at->op)) {
        at->args_bytes = 0;
        return NULL;
    }
    stream->recent->last = at;
    *workspace = at->workspace;
    return &at->op;
}

/* Copies an operation, which points into itself. */
static void copy_op(core_op *to, const core_op *from)
{
    const ptrdiff_t moved = (char *)to - (const char *)from;
    const size_t used = offsetof(core_op, uses) + (size_t)from->use_count * sizeof from->uses[0];

    memcpy(to, from, used);
    to->op.args = &to->args;
    to->variant = (iso_variant *)(void *)((char *)from->variant + moved);
    if (from->math) {
        to->math = (iso_math *)(void *)((char *)from->math + moved);
    }
    if (from->summed) {
        to->summed = (int64_t *)(void *)((char *)from->summed + moved);
    }
    for (int i = 0; i < to->use_count; i++) {
        to->uses[i].ref = (iso_ref *)(void *)((char *)from->uses[i].ref + moved);
    }
}

void core_recent_keep(core_stream *stream, const void *args, const core_op *op, int64_t workspace)
{
    const uint32_t size = size_of(args);
    entry *at;

    if (!size || op->empty || op->matrix) {
        return;
    }
    if (!stream->recent) {
        stream->recent = calloc(1, sizeof *stream->recent);
        if (!stream->recent) {
            return;
        }
    }
    at = &stream->recent->entries[stream->recent->oldest];
    stream->recent->oldest = (stream->recent->oldest + 1) % KEPT;
    at->hash = hash_of(op->op.kind, args, size);
    at->kind = op->op.kind;
    at->args_bytes = size;
    at->workspace = workspace;
    stream->recent->last = at;
    memcpy(at->args, args, size);
    copy_op(&at->op, op);
}
