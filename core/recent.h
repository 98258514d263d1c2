/* SPDX-License-Identifier: Apache-2.0 */
/* recent.h - a stream's recent operations, as they were read, checked and resolved. Programs often
 * make the same call again, and small operations take less time than that work. */
#ifndef ISOMER_CORE_RECENT_H
#define ISOMER_CORE_RECENT_H

#include "core/op.h"
#include "core/stream.h"

/* A locked stream's operation that had the same kind and the same bytes of arguments; NULL: none.
 * Its buffers are alive, but not acquired: while stream->again is set, they are not freed. */
core_op *core_recent_find(core_stream *stream, iso_op_kind kind, const void *args,
                          int64_t *workspace);
/* Keeps an operation that has run, and how much scratch memory it takes, unless it cannot be kept.
 * The stream is locked. */
void core_recent_keep(core_stream *stream, const void *args, const core_op *op, int64_t workspace);

#endif
