/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - graphs: what a stream records, and what a launch submits. */
#ifndef ISOMER_CORE_GRAPH_GRAPH_H
#define ISOMER_CORE_GRAPH_GRAPH_H

#include "core/op.h"
#include "core/stream.h"

#include <isomer/graph.h>

typedef enum core_step_kind {
    CORE_STEP_OPERATION = 1,
    CORE_STEP_TRANSFER = 2,
    CORE_STEP_LAUNCH = 3
} core_step_kind;

/* Something that was submitted, as the backend gets it. */
typedef struct core_step {
    core_step_kind kind;
    union {
        struct {
            iso_op op; /* points to args once nothing is added any more; workspace_bytes is what it
                          needs until then */
            iso_op_args args;
        };
        iso_transfer transfer;
        iso_program_launch *launch; /* in one block with its arguments */
    };
} core_step;

/* An object that steps use. */
typedef struct core_used {
    uint64_t id;
    core_kind kind;
} core_used;

typedef struct core_work {
    core_step *steps; /* NULL: none, or `graph` has them */
    int64_t count, room;
    core_used *used;
    int64_t used_count, used_room;
    int64_t scratch_bytes; /* the most that a step needs */
    double bytes;          /* that steps read and write, for traces */
    void *graph;           /* the backend's; NULL: steps are submitted in turn */
    char reason[ISO_NOTE_MAX];
} core_work;

/* What a stream records. The stream's lock guards it. */
struct core_record {
    core_work work;
    int64_t refused;   /* calls that submit, and were refused */
    iso_status failed; /* of a call whose work is missing */
    core_kept_error error;
};

typedef struct core_graph {
    core_child child;
    core_work work;
    int64_t refused; /* calls, while it was recorded */
    void *scratch;
    pthread_mutex_t lock;       /* held during a launch; taken before locks of streams */
    uint64_t last, last_serial; /* the stream of the last launch; 0: none */
    _Atomic uint64_t used_by;   /* bits of streams that may have a launch of it */
} core_graph;

/* ---- recording (record.c): the stream is locked and records ---------------------------------- */

/* Before the operation's references are set: builds what it needs. */
iso_status core_record_prepare(const char *call, core_stream *stream, core_op *op);
/* Notes the operands of an operation that is attached. */
iso_status core_record_uses(const char *call, core_stream *stream, const core_op *op);
/* Notes an object, which may be NULL. */
iso_status core_record_use(const char *call, core_stream *stream, const core_child *child);
iso_status core_record_op(const char *call, core_stream *stream, core_op *op, int64_t workspace);
/* A step whose own scratch memory begins `own` bytes after the graph's. References into that memory
 * have core_record_scratch as their memory until recording ends. */
iso_status core_record_step(const char *call, core_stream *stream, const iso_op *op, int64_t own,
                            int64_t workspace);
extern char core_record_scratch[];
iso_status core_record_transfer(const char *call, core_stream *stream,
                                const iso_transfer *transfer);
iso_status core_record_launch(const char *call, core_stream *stream,
                              const iso_program_launch *launch);
/* Called with the failure of a call that submits, on a stream that is not locked. If the call was
 * refused, that is counted; otherwise the recording lacks its work. Returns the failure. */
iso_status core_record_note(core_stream *stream, iso_status status);

/* INVALID if the stream records: for calls that cannot be recorded. */
iso_status core_record_refuse(const char *call, const core_stream *stream);

/* Frees the steps and what they use. */
void core_work_free(core_device *device, core_work *work);
/* Frees a recording, which may be NULL. */
void core_record_free(core_device *device, core_record *record);

/* ---- graphs (graph.c) ------------------------------------------------------------------------ */

/* Called after the handle was retired: waits for launches and frees the graph. */
void core_graph_finish(core_graph *graph);

#endif
