/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - maps of rows, which map.c hands on to map_rows.c. */
#ifndef ISOMER_SIMT_MAP_H
#define ISOMER_SIMT_MAP_H

#include "backends/simt/simt.h"

/* Whether it has alpha. */
static inline bool simt_map_has_factors(iso_map_op op)
{
    return op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN || op == ISO_MAP_AXPBY;
}

/* How many operands a map reads: x; x and y; x, y and w. */
int simt_map_operands(iso_map_op op);

iso_status simt_map_rows_execute(simt_stream *stream, const iso_map_op_args *op);
iso_status simt_map_rows_prepare(simt_stream *stream, const iso_map_op_args *op);
void simt_map_rows_describe(simt_device *device, const iso_map_op_args *op, iso_op_info *out);
void simt_map_rows_each(const simt_limits *limits, simt_visit *visit, void *context);

#endif
