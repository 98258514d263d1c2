/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - writes every program that devices of a class could request:
 *
 *   list CLASS[+UNIT] FOLDER
 *
 * makes FOLDER/NAME.text for each kernel source and FOLDER/list with a line for each distinct
 * program: name, options and the source's kernels, separated by tabs. With UNIT the device has
 * matrix units. 8, 16 and 0: NVIDIA's of int8, and of f64 with so many rows in an instruction. 90:
 * the same with 16 rows, and gates. 64: AMD's of f64 and f32. 32: AMD's of f32.
 */
#include "backends/simt/simt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct listing {
    const char *folder;
    FILE *list;
    simt_spec *specs;
    size_t count, room;
    int failed;
} listing;

static int write_text(const listing *to, const simt_text *text)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.text", to->folder, text->name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    for (int32_t i = 0; i < text->part_count; i++) {
        (void)fprintf(file, "%s\n", text->parts[i]);
    }
    return fclose(file) != 0;
}

static int seen(const listing *to, const simt_spec *spec, int *text_seen)
{
    *text_seen = 0;
    for (size_t i = 0; i < to->count; i++) {
        const int same = to->specs[i].text == spec->text;
        *text_seen |= same;
        if (same && memcmp(to->specs[i].values, spec->values, sizeof spec->values) == 0) {
            return 1;
        }
    }
    return 0;
}

static void visit(const simt_spec *spec, void *context)
{
    listing *to = context;
    char options[1024];
    int text_seen;
    if (to->failed || seen(to, spec, &text_seen)) {
        return;
    }
    if (!text_seen) {
        to->failed |= write_text(to, spec->text);
    }
    if (to->count == to->room) {
        to->room = to->room ? to->room * 2 : 256;
        simt_spec *more = realloc(to->specs, to->room * sizeof *more);
        if (!more) {
            to->failed = 1;
            return;
        }
        to->specs = more;
    }
    to->specs[to->count++] = *spec;
    simt_spec_options(spec, options, (int64_t)sizeof options);
    (void)fprintf(to->list, "%s\t%s\t", spec->text->name, options);
    for (size_t i = 0; spec->text->kernels[i]; i++) {
        (void)fprintf(to->list, "%s%s", i ? " " : "", spec->text->kernels[i]);
    }
    (void)fprintf(to->list, "\n");
}

int main(int count, char **arguments)
{
    static const char *const names[SIMT_CLASS_COUNT] = {"warp32", "wave32", "wave64", "cpu",
                                                        "small"};
    if (count != 3) {
        (void)fprintf(stderr, "usage: list CLASS[+UNIT] FOLDER\n");
        return 2;
    }
    /* The maximum that a device of the class has: nothing may be left out because of a limit. */
    simt_limits limits = {.device_class = SIMT_CLASS_COUNT,
                          .units = 64,
                          .threads_max = 1024,
                          .local_bytes = 65536,
                          .alloc_max = INT64_C(1) << 36,
                          .cache_bytes = 8 << 20,
                          .memory_is_address = true,
                          .f64 = true,
                          .f32_exact = true,
                          .shuffle = true,
                          .atomic64 = true,
                          .bytes = true};
    const size_t length = strcspn(arguments[1], "+");
    for (int i = 0; i < SIMT_CLASS_COUNT; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], arguments[1], length) == 0) {
            limits.device_class = (simt_class)i;
        }
    }
    if (arguments[1][length] == '+') {
        const int32_t unit = (int32_t)strtol(arguments[1] + length + 1, NULL, 10);
        if (unit == 64 || unit == 32) {
            limits.wave_f64 = unit == 64;
            limits.wave_f32 = true;
            limits.byte_unit = 64;
        } else { /* as sm_80, sm_90 and sm_86 have it */
            limits.byte_unit = 32;
            limits.ring = true;
            limits.f64_unit = unit == 90 ? 16 : unit;
            limits.f64_split = unit == 90;
            limits.shared_most = unit == 8 ? 166912 : unit ? 232448 : 101376;
            limits.shared_of_unit = unit == 8 ? 167936 : unit ? 233472 : 102400;
        }
    }
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/list", arguments[2]);
    listing to = {.folder = arguments[2], .list = fopen(path, "w")};
    if (limits.device_class == SIMT_CLASS_COUNT || !to.list) {
        (void)fprintf(stderr, "no class %s, or no folder %s\n", arguments[1], arguments[2]);
        return 2;
    }
    simt_each_spec(&limits, visit, &to);
    to.failed |= fclose(to.list) != 0;
    free(to.specs);
    return to.failed || to.count == 0;
}
