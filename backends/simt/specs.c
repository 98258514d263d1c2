/* SPDX-License-Identifier: Apache-2.0 */
/* specs.c - every program that a device could be asked for: what offline compilation goes through.
 */
#include "backends/simt/simt.h"

void simt_each_spec(const simt_limits *limits, void (*visit)(const simt_spec *spec, void *context),
                    void *context)
{
    simt_fill_each(limits, visit, context);
    simt_map.each(limits, visit, context);
    simt_transpose.each(limits, visit, context);
    simt_reduce.each(limits, visit, context);
    simt_gemm.each(limits, visit, context);
}
