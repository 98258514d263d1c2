/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - submits transfers that have been checked. */
#ifndef ISOMER_CORE_TRANSFER_H
#define ISOMER_CORE_TRANSFER_H

#include "core/memory.h"
#include "core/stream.h"

/* Submits a checked transfer to a locked stream. */
iso_status core_transfer_submit(const char *call, core_stream *stream,
                                const iso_transfer *transfer);
/* INVALID unless the range lies in the buffer. */
iso_status core_check_range(const char *call, const char *name, int64_t offset, int64_t bytes,
                            const core_buffer *buffer);

#endif
