/* SPDX-License-Identifier: Apache-2.0 */
/* fault_labs.c - the layout of "labs" of a document. */
#include "bench/record/fault.h"

const char *record_lab_ids[RECORD_LABS + 1];

static const rule text_item = {.types = STRING};
static const rule number_item = {.types = NUMBER};

static const rule lab_case_members[] = {{.names = "what", .types = STRING}, {0}};
static const rule lab_figure_members[] = {{.names = "name unit", .types = STRING},
                                          {.names = "value", .types = NUMBER | NIL},
                                          {.names = "low high", .types = NUMBER | NIL | LACKING},
                                          {0}};
static const rule point_value = {.types = NUMBER | STRING};
static const rule point_item = {.types = ARRAY, .items = &point_value};
static const rule lab_curve_members[] = {{.names = "name x y", .types = STRING},
                                         {.names = "points", .types = ARRAY, .items = &point_item},
                                         {0}};
static const rule lab_picture_members[] = {
    {.names = "name", .types = STRING},
    {.names = "rows cols", .types = NUMBER},
    {.names = "values", .types = ARRAY, .items = &number_item},
    {0}};
const rule record_lab_members[] = {
    {.names = "row", .types = STRING, .words = record_lab_ids},
    {.names = "device by", .types = STRING},
    {.names = "case", .types = OBJECT, .members = lab_case_members},
    {.names = "status", .types = STRING, .words = record_statuses},
    {.names = "reason checked", .types = STRING | NIL | LACKING},
    {.names = "figures", .types = ARRAY, .members = lab_figure_members},
    {.names = "flops bytes", .types = NUMBER | NIL | LACKING},
    {.names = "lines", .types = ARRAY | LACKING, .items = &text_item},
    {.names = "curves", .types = ARRAY | LACKING, .members = lab_curve_members},
    {.names = "pictures", .types = ARRAY | LACKING, .members = lab_picture_members},
    {0}};
