/* SPDX-License-Identifier: Apache-2.0 */
/* company.c - what the lists of cases of --invariance share. */
#include "bench/verify/verify.h"

#include <stdio.h>
#include <string.h>

const char *const company_axis_names[COMPANY_AXES] = {
    [COMPANY_BATCH] = "batch",     [COMPANY_ROWS] = "rows",     [COMPANY_COLUMNS] = "columns",
    [COMPANY_SHAPE] = "shape",     [COMPANY_LENGTH] = "length", [COMPANY_PADDING] = "padding",
    [COMPANY_OFFSET] = "offset",   [COMPANY_TRANS] = "trans",   [COMPANY_EXCHANGE] = "exchange",
    [COMPANY_VECTOR] = "vector",   [COMPANY_AXIS] = "axis",     [COMPANY_THREADS] = "threads",
    [COMPANY_ISA] = "isa",         [COMPANY_TILES] = "tiles",   [COMPANY_INLINE] = "inline",
    [COMPANY_STREAMS] = "streams", [COMPANY_BUSY] = "busy",     [COMPANY_REPEAT] = "repeat",
};

const company_setting company_settings[COMPANY_SETTINGS] = {
    {NULL, NULL, COMPANY_AXES},
    {"ISOMER_NUM_THREADS", "1", COMPANY_THREADS},
    {"ISOMER_NUM_THREADS", "2", COMPANY_THREADS},
    {"ISOMER_NUM_THREADS", "3", COMPANY_THREADS},
    {"ISOMER_NUM_THREADS", "5", COMPANY_THREADS},
    {"ISOMER_NUM_THREADS", "8", COMPANY_THREADS},
    {"ISOMER_CPU_ISA", "generic", COMPANY_ISA},
    {"ISOMER_CPU_ISA", "neon", COMPANY_ISA},
    {"ISOMER_CPU_ISA", "sve256", COMPANY_ISA},
    {"ISOMER_CPU_ISA", "sve512", COMPANY_ISA},
    {"ISOMER_CPU_ISA", "avx2", COMPANY_ISA},
    {"ISOMER_CPU_ISA", "avx512", COMPANY_ISA},
    {"ISOMER_TILES", "small", COMPANY_TILES},
};

/* Variants of a vendor are only shown, and only those of products: their bits are not promised. */
static bool takes_part(bench_case *item, const char *variant)
{
    if (iso_variant_parse(variant, &item->how) != ISO_OK) {
        return false;
    }
    if (item->how == ISO_VARIANT_VENDOR) {
        return item->op->libraries;
    }
    return item->how != ISO_VARIANT_PARTIALS && (!item->op->has_bits || item->op->has_bits(item));
}

company_base company_start(verify_list *list, const bench_case *model, const char *text)
{
    bench_case item = *model;
    char after[BENCH_ID_MAX - 16];
    company_base base = {.model = *model, .first = list->bases->count};
    for (int v = 0; model->op->variants[v] && base.count < COUNT(base.variants); v++) {
        if (takes_part(&item, model->op->variants[v])) {
            base.variants[base.count++] = item.how;
        }
    }
    snprintf(base.text, sizeof base.text, "%s", text);
    snprintf(after, sizeof after, "%s/%s", model->type, text);
    verify_list_add(list->bases, model, base.variants, base.count, after);
    return base;
}

void company_add(verify_list *list, const company_base *base, const bench_case *item,
                 const char *where)
{
    char after[BENCH_ID_MAX - 16];
    int32_t first = list->count;
    snprintf(after, sizeof after, "%s/%s/%s/in/%s", item->type,
             company_axis_names[item->company.axis], base->text, where);
    verify_list_add(list, item, base->variants, base->count, after);
    for (int32_t i = first; i < list->count; i++) {
        list->cases[i].company.base = 1 + base->first + (i - first);
    }
}

void company_circumstances(verify_list *list, const company_base *base)
{
    static const struct {
        company_axis axis;
        const char *where;
        bool second;
    } streams[] = {{COMPANY_INLINE, "inline", false},
                   {COMPANY_STREAMS, "first", false},
                   {COMPANY_STREAMS, "second", true},
                   {COMPANY_BUSY, "load", false},
                   {COMPANY_REPEAT, "20", false}};
    bench_case item = base->model;
    char where[32];
    item.company.cancels = false;
    for (int i = 0; i < COUNT(streams); i++) {
        item.company.axis = streams[i].axis;
        item.company.second = streams[i].second;
        company_add(list, base, &item, streams[i].where);
    }
    item.company.second = false;
    for (int i = 1; i < COMPANY_SETTINGS; i++) {
        item.company.setting = i;
        item.company.axis = company_settings[i].axis;
        snprintf(where, sizeof where, "%s=%s", company_axis_names[item.company.axis],
                 company_settings[i].value);
        company_add(list, base, &item, where);
    }
}
