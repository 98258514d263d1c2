/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.c - finds a device's table of measured choices and checks it: other users cannot write to
 * it, it is well formed, and it names this device and the versions in use. A table of the package
 * was measured elsewhere, where the driver and the compiler may be others.
 */
#include "core/tuned.h"
#include "common/descriptor.h"
#include "common/printable.h"
#include "core/call.h"
#include "core/host.h"
#include "core/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAYS_MOST = 256 };

/* The texts of one search. Allocated, because they are too large for a small stack. */
typedef struct search {
    core_tuned *tuned;
    const core_device *device;
    char versions[TUNED_LINE];
    char name[TUNED_NAME], path[ISO_REASON_MAX + TUNED_NAME];
    char problem[ISO_REASON_MAX];
    bool packaged; /* the table at `path` is beside the library */
    core_text note, refused;
} search;

/* ---- what the times depend on ---------------------------------------------------------------- */

/* The driver of a device whose memory is the host's is the system itself, whose updates change no
 * kernel of a product. */
static iso_status find_versions(const char *call, const core_device *device,
                                const iso_device_info *info, char *out)
{
    const iso_backend *table = device->table;
    const bool host = table->flags & ISO_BACKEND_HOST_MEMORY;
    char identity[TUNED_LINE / 2] = "", raw[TUNED_LINE - 16];
    iso_status status = ISO_OK;

    if (table->kernels_identity) {
        status = CORE_CALL(
            call, table,
            table->kernels_identity(device->physical->device, identity, (int64_t)sizeof identity));
        identity[sizeof identity - 1] = '\0';
    } else {
        snprintf(identity, sizeof identity, "%s", table->build_info ? table->build_info : "");
    }
    snprintf(raw, sizeof raw, "%s; %s; %s", host ? "-" : info->driver, info->runtime, identity);
    printable_line(out, TUNED_LINE - 16, raw);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

void core_tuned_where(char *path, size_t room)
{
    const char *asked = core_setting("ISOMER_TUNED");

    path[0] = '\0';
    if (asked && asked[0]) {
        snprintf(path, room, "%s", strcmp(asked, "off") ? asked : "");
        return;
    }
    core_cache_path(path, room);
    if (path[0]) {
        const size_t length = strlen(path);
        snprintf(path + length, room - length, "/tuned");
    }
}

/* Reads up to `most` bytes; -1: it failed. */
static int64_t read_up_to(int file, char *to, int64_t most)
{
    int64_t count = 0;

    while (count < most) {
        const ssize_t got = read(file, to + count, (size_t)(most - count));

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (!got) {
            break;
        }
        count += got;
    }
    return count;
}

/* Reads an open file. INVALID, with the reason in in->problem; NO_MEMORY. */
static iso_status read_open(search *in, int file, char **text, int64_t *bytes)
{
    struct stat found;

    if (fstat(file, &found) || !S_ISREG(found.st_mode)) {
        snprintf(in->problem, sizeof in->problem, "it is not a file");
        return ISO_INVALID;
    }
    core_path_problem(in->path, in->problem, sizeof in->problem);
    if (in->problem[0]) {
        return ISO_INVALID;
    }
    if (found.st_size > TUNED_BYTES) {
        snprintf(in->problem, sizeof in->problem, "it has %lld bytes: at most %d",
                 (long long)found.st_size, TUNED_BYTES);
        return ISO_INVALID;
    }
    *text = malloc((size_t)found.st_size + 1);
    if (!*text) {
        return ISO_NO_MEMORY;
    }
    *bytes = read_up_to(file, *text, found.st_size + 1);
    if (*bytes != found.st_size) {
        snprintf(in->problem, sizeof in->problem,
                 "it changed while it was read, or cannot be read");
        return ISO_INVALID;
    }
    return ISO_OK;
}

/* Reads the table at in->path. NOT_READY: nothing is there. */
static iso_status read_table(search *in, tuned_table **out)
{
    const int file = descriptor_open(in->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    char *text = NULL;
    int64_t bytes = 0;
    iso_status status;

    *out = NULL;
    in->problem[0] = '\0';
    if (file < 0) {
        snprintf(in->problem, sizeof in->problem, "%s",
                 errno == ELOOP ? "it is a link" : strerror(errno));
        return errno == ENOENT || errno == ENOTDIR ? ISO_NOT_READY : ISO_INVALID;
    }
    status = read_open(in, file, &text, &bytes);
    if (!status) {
        status = tuned_read(text, (size_t)bytes, out, in->problem, sizeof in->problem);
    }
    free(text);
    close(file);
    return status;
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* Asks for the name of a way; false: there is none with this index. */
static bool way_name(const char *call, const core_device *device, const tuned_shape *shape,
                     int32_t index, char *name)
{
    const iso_backend *table = device->table;
    const iso_gemm_op product = {.dtype = shape->dtype,
                                 .variant = ISO_VARIANT_TILED,
                                 .math = ISO_MATH_STRICT,
                                 .m = 1,
                                 .n = 1,
                                 .k = 1,
                                 .lda = 1,
                                 .ldb = 1,
                                 .ldc = 1,
                                 .alpha = 1,
                                 .batch = 1};
    const iso_op op = {.size = (uint32_t)sizeof op,
                       .kind = ISO_OP_GEMM,
                       .args = &product,
                       .args_size = (uint32_t)sizeof product};

    name[0] = '\0';
    if (!table->way_name || shape->op != ISO_OP_GEMM ||
        CORE_ASK(call, table,
                 table->way_name(device->physical->device, &op, index, name, TUNED_WAY))) {
        return false;
    }
    name[TUNED_WAY - 1] = '\0';
    return true;
}

typedef struct way_list {
    int32_t count;
    char names[WAYS_MOST][TUNED_WAY];
} way_list;

static void list_ways(const char *call, const core_device *device, const tuned_shape *shape,
                      way_list *out)
{
    out->count = 0;
    while (out->count < WAYS_MOST &&
           way_name(call, device, shape, out->count, out->names[out->count])) {
        out->count++;
    }
}

static int32_t number_of(const way_list *ways, const char *name)
{
    for (int32_t i = 0; i < ways->count; i++) {
        if (!strcmp(ways->names[i], name)) {
            return i + 1;
        }
    }
    return 0;
}

/* Turns the names of ways into the backend's numbers. INVALID: the device has no such way. */
static iso_status number_ways(const char *call, search *in, tuned_table *table)
{
    way_list *ways = malloc(sizeof *ways);
    const tuned_shape *listed = NULL;
    iso_status status = ways ? ISO_OK : ISO_NO_MEMORY;

    for (int32_t i = 0; i < table->count && !status; i++) {
        tuned_row *row = &table->rows[i];

        if (!row->way[0]) {
            continue;
        }
        if (!listed || listed->op != row->shape.op || listed->dtype != row->shape.dtype) {
            list_ways(call, in->device, &row->shape, ways);
            listed = &row->shape;
        }
        row->way_number = number_of(ways, row->way);
        if (!row->way_number) {
            snprintf(in->problem, sizeof in->problem, "this device has no way \"%s\" for %s",
                     row->way, iso_dtype_name(row->shape.dtype));
            status = ISO_INVALID;
        }
    }
    free(ways);
    return status;
}

/* ---- choosing a table ------------------------------------------------------------------------ */

/* Whether a table that was read is this device's, with these versions. */
static iso_status judge(const char *call, search *in, tuned_table *table,
                        const iso_device_info *info)
{
    iso_status status;

    if (strcmp(table->key, in->tuned->key)) {
        snprintf(in->problem, sizeof in->problem,
                 "it is of another device (\"%.1000s\"), this is \"%.1000s\"", table->key,
                 in->tuned->key);
        return ISO_INVALID;
    }
    if (!in->versions[0]) {
        status = find_versions(call, in->device, info, in->versions);
        if (status) {
            in->versions[0] = '\0';
            snprintf(in->problem, sizeof in->problem, "the versions in use are not known: %.2000s",
                     core_reason(call));
            return status == ISO_NO_MEMORY ? status : ISO_INVALID;
        }
    }
    if (strcmp(table->versions, in->versions) &&
        !(in->packaged && tuned_same_kernels(table->versions, in->versions))) {
        snprintf(in->problem, sizeof in->problem,
                 "it was measured with \"%.1000s\", now it is \"%.1000s\": run isomer tune%s",
                 table->versions, in->versions, in->packaged ? "" : " again");
        return ISO_INVALID;
    }
    return number_ways(call, in, table);
}

/* Tries the table at in->path, and notes what came of it. NOT_READY: nothing is there. */
static iso_status try_table(const char *call, search *in, const iso_device_info *info)
{
    tuned_table *table = NULL;
    iso_status status = read_table(in, &table);

    if (!status) {
        status = judge(call, in, table, info);
    }
    if (!status) {
        const bool other = strcmp(table->versions, in->versions);
        in->tuned->table = table;
        in->tuned->packaged = in->packaged;
        core_text_add(&in->note, "%s: %d row%s", in->path, (int)table->count,
                      table->count == 1 ? "" : "s");
        if (other) {
            core_text_add(&in->note, "; measured with another driver or compiler: \"%.1000s\"",
                          table->versions);
        }
        core_log(ISO_LOG_INFO, "%s: choices from %s%s", in->device->physical->spec, in->path,
                 other ? ", measured with another driver or compiler" : "");
        return ISO_OK;
    }
    free(table);
    if (status == ISO_INVALID) {
        core_text_add(&in->refused, "%srefused: %s: %s", in->refused.text ? "; " : "", in->path,
                      in->problem);
        core_log(ISO_LOG_WARN, "the table of measured choices %s is not used: %s", in->path,
                 in->problem);
    }
    return status;
}

/* ISOMER_TUNED may be the path of a file or of a folder. */
static void set_path(search *in)
{
    struct stat found;

    core_tuned_where(in->path, ISO_REASON_MAX);
    if (in->path[0] && (stat(in->path, &found) || S_ISDIR(found.st_mode))) {
        const size_t length = strlen(in->path);
        snprintf(in->path + length, sizeof in->path - length, "/%s", in->name);
    }
}

/* Looks for the user's table, then for the package's. */
static iso_status find(const char *call, search *in, const iso_device_info *info)
{
    const char *asked = core_setting("ISOMER_TUNED");
    iso_status status = ISO_NOT_READY;

    if (asked && !strcmp(asked, "off")) {
        core_text_add(&in->note, "off (ISOMER_TUNED)");
        return ISO_OK;
    }
    if (asked && asked[0] && asked[0] != '/') {
        core_text_add(&in->note, "none: ISOMER_TUNED is \"%s\", which is not an absolute path",
                      asked);
        core_log(ISO_LOG_WARN,
                 "ISOMER_TUNED is \"%s\", which is not an absolute path: no table of "
                 "measured choices is used",
                 asked);
        return ISO_OK;
    }
    set_path(in);
    if (in->path[0]) {
        status = try_table(call, in, info);
    }
    if ((status == ISO_NOT_READY || status == ISO_INVALID) && core_place()[0] &&
        !(asked && asked[0])) {
        snprintf(in->path, sizeof in->path, "%s/tuned/%s", core_place(), in->name);
        in->packaged = true;
        const iso_status packages = try_table(call, in, info);
        status = packages == ISO_NOT_READY ? status : packages;
        set_path(in);
    }
    if (in->refused.text) {
        core_text_add(&in->note, "%s%s", in->note.text ? "; " : "", in->refused.text);
    } else if (status == ISO_NOT_READY) {
        core_text_add(&in->note, in->path[0] ? "none: there is no %s" : "none%s", in->path);
    }
    return status == ISO_NOT_READY || status == ISO_INVALID ? ISO_OK : status;
}

iso_status core_tuned_open(const char *call, const core_device *device, const iso_device_info *info,
                           core_tuned **out)
{
    const char *tiles = core_setting("ISOMER_TILES");
    core_kept_error kept = core_error_keep();
    search *in = calloc(1, sizeof *in);
    core_tuned *made = calloc(1, sizeof *made);
    iso_status status = in && made ? ISO_OK : ISO_NO_MEMORY;

    *out = NULL;
    if (!status) {
        in->tuned = made;
        in->device = device;
        tuned_key(info, tiles ? tiles : "auto", made->key, sizeof made->key);
        tuned_file_name(made->key, in->name);
        status = find(call, in, info);
        made->note = in->note.text;
        if (in->note.failed || in->refused.failed) {
            status = ISO_NO_MEMORY;
        }
        core_text_free(&in->refused);
    }
    free(in);
    if (status) {
        core_tuned_free(made);
        free(kept.text);
        return status == ISO_NO_MEMORY
                   ? core_fail(status, "%s: no host memory for the table of measured choices", call)
                   : status;
    }
    core_error_restore(&kept);
    *out = made;
    return ISO_OK;
}

void core_tuned_free(core_tuned *tuned)
{
    if (tuned) {
        free(tuned->note);
        free(tuned->table);
        free(tuned);
    }
}

/* ---- looking up ------------------------------------------------------------------------------ */

const tuned_row *core_tuned_row(const core_device *device, const core_op *op, int32_t *library)
{
    tuned_shape shape;

    if (!device->tuned || !device->tuned->table || !op->row->measured || op->empty ||
        op->unmeasured) {
        return NULL;
    }
    op->row->measured(op, &shape, library);
    return tuned_find(device->tuned->table, &shape);
}

/* ---- properties ------------------------------------------------------------------------------ */

/* "f32: 64x64x16 32x32x32; f64: ..." */
static iso_status list_all_ways(const char *call, const core_device *device, iso_property *out)
{
    way_list *ways = malloc(sizeof *ways);
    size_t length = 0;

    if (!ways) {
        return core_fail_no_memory(call, (int64_t)sizeof *ways);
    }
    for (iso_dtype type = ISO_F16; type <= ISO_F64; type++) {
        const tuned_shape shape = {.op = ISO_OP_GEMM, .dtype = type};

        list_ways(call, device, &shape, ways);
        for (int32_t i = 0; i < ways->count && length < sizeof out->value; i++) {
            const char *before = i ? " " : length ? "; " : "";
            length += (size_t)snprintf(out->value + length, sizeof out->value - length, "%s%s%s%s",
                                       before, i ? "" : iso_dtype_name(type), i ? "" : ": ",
                                       ways->names[i]);
        }
    }
    free(ways);
    return ISO_OK;
}

static iso_status write_property(const char *call, const core_device *device, int32_t index,
                                 iso_property *out)
{
    const core_tuned *tuned = device->tuned;
    iso_device_info info;
    iso_status status;

    switch (index) {
    case 0:
        snprintf(out->value, sizeof out->value, "%s%s", tuned->note,
                 atomic_load(&tuned->library) == CORE_LIBRARY_OTHER
                     ? "; not between variants: the vendor's library is another one"
                     : "");
        return ISO_OK;
    case 1:
        snprintf(out->value, sizeof out->value, "%s", tuned->key);
        return ISO_OK;
    case 2:
        status = core_backend_device_info(call, device->physical->backend, device->physical->index,
                                          &info);
        if (!status && find_versions(call, device, &info, out->value)) {
            snprintf(out->value, sizeof out->value, "not known: %.2000s", core_reason(call));
        }
        return status;
    default:
        return list_all_ways(call, device, out);
    }
}

/* The backend's entries may set the last error although this call succeeds: it is restored. */
iso_status core_tuned_property(const char *call, const core_device *device, int32_t index,
                               iso_property *out)
{
    static const char *const names[] = {"tuned table", "tuned for", "tuned with", "ways"};
    core_kept_error kept;
    iso_status status;

    if (index >= (int32_t)(sizeof names / sizeof names[0])) {
        return ISO_NOT_READY;
    }
    snprintf(out->name, sizeof out->name, "%s", names[index]);
    kept = core_error_keep();
    status = write_property(call, device, index, out);
    if (status) {
        free(kept.text);
    } else {
        core_error_restore(&kept);
    }
    return status;
}
