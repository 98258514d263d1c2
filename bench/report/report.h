/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - results as one HTML page that needs nothing else. */
#ifndef ISOMER_REPORT_H
#define ISOMER_REPORT_H

#include "bench/tool.h"

/* Writes the page for `count` results documents, called `names`, to `out`, which is open, and
 * commits it. `title` NULL: made from the documents. TOOL_OK; TOOL_NOTHING after writing where no
 * result is ok; another code after saying why nothing was written. */
int report_write(json_t *const *roots, const char *const *names, int count, const char *title,
                 tool_file *out);

#endif
