/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - what communicators take, in a report. */
#ifndef ISOMER_REPORT_COMM_H
#define ISOMER_REPORT_COMM_H

#include "bench/report/chart.h"

/* Whether a document has such results. */
bool report_comm_any(const report_model *model);
void report_comm(report_page *page, const figure_list *figures);
/* The name of a table's figure, such as "comm-all_reduce-f32-4"; of products "comm-gemm". With
 * several files it ends with the file's number. To be freed. */
char *report_comm_name(const report_model *model, int file, const json_t *head);

/* Bandwidth against size for each operation, and FLOP/s of products against ranks. */
void figure_comm(figure_list *list, const report_model *model);

#endif
