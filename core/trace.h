/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - writes the trace that ISOMER_TRACE names. */
#ifndef ISOMER_CORE_TRACE_H
#define ISOMER_CORE_TRACE_H

#include "core/fpenv.h"
#include "core/stream.h"

#include <stdatomic.h>

extern atomic_bool core_trace_on;
typedef struct core_trace_span {
    bool on;
    core_fpenv callers; /* the caller's, from begin to end */
    int64_t began;
    void *start; /* backend event */
} core_trace_span;

/* Opens the file that ISOMER_TRACE names if it is not open; `problem` is "" on success. */
bool core_trace_open(const char *path, char *problem, size_t room);
/* Around a submission to a locked stream. */
void core_trace_begin(core_stream *stream, core_trace_span *span);
void core_trace_end(core_stream *stream, core_trace_span *span, bool accepted, const char *name,
                    double bytes);
/* Writes finished work. The stream is locked or being destroyed. */
void core_trace_resolve(core_stream *stream);
void core_trace_drop(core_stream *stream);

#endif
