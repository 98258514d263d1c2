/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - writes results as one self-contained HTML page. */
#ifndef ISOMER_REPORT_H
#define ISOMER_REPORT_H

#include "bench/tool.h"

/* Writes the page for `count` results documents with these names to `out`, which is open, and
 * commits it. `title` may be NULL. Returns TOOL_OK, or TOOL_NOTHING if the page was written but no
 * result is ok. For any other code, nothing was written and the reason was reported. */
int report_write(json_t *const *roots, const char *const *names, int count, const char *title,
                 tool_file *out);

#endif
