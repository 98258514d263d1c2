/* SPDX-License-Identifier: Apache-2.0 */
/* labs.h - the rows of the labs in a report. */
#ifndef ISOMER_REPORT_LABS_H
#define ISOMER_REPORT_LABS_H

#include "bench/record/record.h"
#include "bench/report/chart.h"

/* The device of an entry of this file; -1: the file does not describe it. */
int report_lab_device(const report_model *model, int file, const json_t *entry);
/* The name of a row's figure: "lab-c5", with several files "lab-c5-2"; to be freed. */
char *report_lab_name(const report_model *model, int file, const record_lab *row);
/* Whether a document has rows of this lab. */
bool report_labs_has(const report_model *model, char letter);
bool report_labs_any(const report_model *model);
void report_labs(report_page *page, const figure_list *figures);

/* Rate against size for rows with three sizes or more, and curves that entries have. */
void figure_labs(figure_list *list, const report_model *model);

#endif
