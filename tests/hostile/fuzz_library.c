/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_library.c - the library's input: settings, specs, imported tensors, entries of the cache. */
#include "tests/hostile/fuzz.h"

#include "common/tuned.h"

#include <isomer/interop.h>
#include <isomer/isomer.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void told(const char *call, iso_status status)
{
    if (status < ISO_OK || status >= ISO_INTERNAL ||
        (status != ISO_OK && iso_last_error()[0] == '\0')) {
        fuzz_fail("%s answers %d: %s", call, (int)status, iso_last_error());
    }
    if (status != ISO_OK) {
        fprintf(stderr, "%s\n", iso_last_error());
    }
}

/* Paths are confined to our folder: these settings create files. */
static void set(const char *name, const char *value)
{
    static const char *const paths[] = {"ISOMER_CACHE_DIR", "ISOMER_TRACE", "ISOMER_BACKEND_PATH",
                                        "ISOMER_TUNED"};
    char path[4096];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (strcmp(name, paths[i]) == 0 && (value[0] == '/' || strstr(value, ".."))) {
            snprintf(path, sizeof path, "%s/%.2000s", fuzz_folder(),
                     strstr(value, "..") ? "x" : value);
            setenv(name, path, 1);
            return;
        }
    }
    setenv(name, value, 1);
}

static void show_settings(void)
{
    iso_setting s = ISO_SETTING_INIT;
    for (int32_t i = 0; iso_get_setting(i, &s) == ISO_OK; i++) {
        fprintf(stderr, "%s %s\n", s.value, s.problem);
    }
}

void fuzz_settings(const uint8_t *data, size_t size)
{
    enum { LINES = 16 };
    char *lines[LINES], *names[LINES];
    int count, set_count = 0;
    char *own = fuzz_lines(data, size, lines, LINES, &count);
    for (int i = 0; i < count; i++) {
        char *equals = strchr(lines[i], '=');
        /* The trace is opened once per process; libraries are not fuzzed. */
        if (!equals || strncmp(lines[i], "ISOMER_", 7) != 0 || strstr(lines[i], "BLAS") ||
            strncmp(lines[i], "ISOMER_LOG", 10) == 0) {
            continue;
        }
        *equals = '\0';
        set(lines[i], equals + 1);
        names[set_count++] = lines[i];
    }
    show_settings();
    unsetenv("ISOMER_TRACE");
    iso_device device;
    iso_status status = iso_device_open("openmp", &device);
    told("iso_device_open", status);
    if (status == ISO_OK) {
        iso_device_close(device);
    }
    for (int i = 0; i < set_count; i++) {
        unsetenv(names[i]);
    }
    setenv("ISOMER_CACHE_DIR", "off", 1);
    free(own);
}

/* Other backends' drivers are not fuzzed: specs that name one are skipped. */
void fuzz_spec(const uint8_t *data, size_t size)
{
    char *line, *own = fuzz_lines(data, size, &line, 1, &(int){0});
    static const char *const drivers[] = {"opencl", "cuda", "hip", "auto"};
    bool skip = line[0] == '\0';
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        skip = skip || strcasestr(line, drivers[i]);
    }
    if (!skip) {
        iso_device device;
        iso_status status = iso_device_open(line, &device);
        told("iso_device_open", status);
        if (status == ISO_OK) {
            iso_device_close(device);
        }
    }
    setenv("ISOMER_BACKEND", line, 1);
    show_settings();
    unsetenv("ISOMER_BACKEND");
    free(own);
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

static int deleted;

static void delete_managed(iso_dlpack_managed *self)
{
    (void)self;
    deleted++;
}

static void delete_versioned(iso_dlpack_managed_versioned *self)
{
    (void)self;
    deleted++;
}

static const uint8_t *input;
static size_t left;

static int64_t number(size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && left > 0; i++, left--) {
        value |= (uint64_t)*input++ << 8 * i;
    }
    return bytes < 8 ? (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes) : (int64_t)value;
}

/* Its arrays have as many elements as a tensor of the library may have dimensions. */
static void fill_tensor(iso_dlpack_tensor *t, int64_t *shape, int64_t *strides, uint8_t *memory)
{
    uint8_t form = (uint8_t)number(1);
    t->data = form & 1 ? memory + (number(1) & 63) : form & 2 ? NULL : memory;
    t->device_type = form & 4 ? (int32_t)number(4) : 1;
    t->device_id = form & 8 ? (int32_t)number(4) : 0;
    t->ndim = form & 16 ? (int32_t)number(4) : (int32_t)(number(1) & 15);
    t->code = (uint8_t)number(1);
    t->bits = (uint8_t)number(1);
    t->lanes = form & 32 ? (uint16_t)number(2) : 1;
    t->shape = form & 64 ? NULL : shape;
    t->strides = form & 128 ? NULL : strides;
    t->byte_offset = (uint64_t)(form & 4 ? number(8) : number(1));
    for (int i = 0; i < ISO_TENSOR_DIMS_MAX; i++) {
        uint8_t wide = (uint8_t)number(1);
        shape[i] = wide & 1 ? number(8) : number(1);
        strides[i] = wide & 2 ? number(8) : number(1);
    }
}

static void import(iso_stream stream, void *managed, uint32_t flags, iso_tensor *tensor)
{
    int before = deleted;
    iso_status status = iso_dlpack_import(stream, managed, flags, tensor);
    told("iso_dlpack_import", status);
    if (status != ISO_OK && deleted != before) {
        fuzz_fail("a tensor that was refused was deleted");
    }
    if (status != ISO_OK) {
        return;
    }
    iso_operand operand;
    int64_t rows, cols, ld;
    iso_trans trans;
    void *again = NULL;
    told("iso_tensor_matrix", iso_tensor_matrix(tensor, &operand, &rows, &cols, &ld, &trans));
    status = iso_dlpack_export(stream, (iso_stream){0}, tensor, &again);
    told("iso_dlpack_export", status);
    if (status == ISO_OK) {
        ((iso_dlpack_managed_versioned *)again)->deleter(again);
    }
    told("iso_buffer_destroy", iso_buffer_destroy(tensor->buffer));
    if (deleted != before + 1) {
        fuzz_fail("the deleter was called %d times", deleted - before);
    }
}

void fuzz_dlpack(const uint8_t *data, size_t size)
{
    static iso_device device;
    static iso_stream stream;
    static uint8_t *memory;
    int64_t *shape = malloc(ISO_TENSOR_DIMS_MAX * sizeof *shape);
    int64_t *strides = malloc(ISO_TENSOR_DIMS_MAX * sizeof *strides);
    iso_tensor tensor = ISO_TENSOR_INIT;
    if (!memory &&
        (!(memory = aligned_alloc(64, 1 << 16)) || iso_device_open("openmp", &device) != ISO_OK ||
         iso_stream_create(device, ISO_STREAM_INLINE, &stream) != ISO_OK)) {
        fuzz_fail("no device: %s", iso_last_error());
    }
    input = data;
    left = size;
    if (number(1) & 1) {
        iso_dlpack_managed_versioned made = {.major = 1, .deleter = delete_versioned};
        uint8_t odd = (uint8_t)number(1);
        made.major = odd & 1 ? (uint32_t)number(4) : 1;
        made.minor = (uint32_t)number(1);
        made.flags = (uint64_t)(odd & 2 ? number(8) : number(1) & 3);
        fill_tensor(&made.tensor, shape, strides, memory);
        import(stream, &made, ISO_DLPACK_VERSIONED, &tensor);
    } else {
        iso_dlpack_managed made = {.deleter = delete_managed};
        fill_tensor(&made.tensor, shape, strides, memory);
        import(stream, &made, number(1) & 16 ? (uint32_t)number(4) : 0, &tensor);
    }
    free(shape);
    free(strides);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void order(const char *what, const char *expected)
{
    iso_device device;
    setenv("UNIT_CACHE", what, 1);
    if (iso_device_open("unit-cache", &device) != ISO_UNAVAILABLE ||
        (expected && !strstr(iso_last_error(), expected))) {
        fuzz_fail("%s: %s", what, iso_last_error());
    }
}

/* A file in place of an entry: it is accepted whole, or not at all. */
void fuzz_cache(const uint8_t *data, size_t size)
{
    static char name[64];
    char folder[128];
    snprintf(folder, sizeof folder, "%s/cache", fuzz_folder());
    setenv("ISOMER_CACHE_DIR", folder, 1);
    setenv("ISOMER_BACKEND_PATH", FUZZ_PLUGINS, 1);
    if (name[0] == '\0') {
        order("store key data", "stored: 0");
        DIR *open = opendir(folder);
        for (struct dirent *e = readdir(open); e; e = readdir(open)) {
            if (strlen(e->d_name) == 32) {
                snprintf(name, sizeof name, "cache/%.40s", e->d_name);
            }
        }
        closedir(open);
    }
    fuzz_file(name, data, size);
    order("load key", "loaded: ");
    order("store key data", "stored: 0");
    order("load key", "loaded: data");
}

/* ---- tables of measured choices -------------------------------------------------------------- */

/* A table that is accepted is exactly what would be written, but for the order of its rows. */
void fuzz_tuned(const uint8_t *data, size_t size)
{
    char problem[1024], *again = NULL;
    size_t length = 0;
    tuned_table *table = NULL;
    const iso_status status = tuned_read((const char *)data, size, &table, problem, sizeof problem);
    if (status != ISO_OK) {
        if (status != ISO_INVALID || problem[0] == '\0' || table) {
            fuzz_fail("tuned_read answers %d: \"%s\"", (int)status, problem);
        }
        fprintf(stderr, "%s\n", problem);
        return;
    }
    for (int32_t i = 0; i < table->count; i++) {
        if (tuned_find(table, &table->rows[i].shape) != &table->rows[i]) {
            fuzz_fail("row %d does not cover its own shape", (int)i);
        }
    }
    FILE *out = open_memstream(&again, &length);
    if (!out || !tuned_write(out, table) || fclose(out) != 0 || length != size) {
        fuzz_fail("a table of %zu bytes becomes one of %zu", size, length);
    }
    free(again);
    free(table);
}
