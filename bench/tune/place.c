/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - a device, the place of its table, and handles that are opened with a table. */
#include "bench/tune/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char setting[] = "ISOMER_TUNED";

/* ---- the setting ----------------------------------------------------------------------------- */

/* Sets the variable, and returns its old value for put_back. */
static char *put(const char *value)
{
    const char *now = getenv(setting);
    char *before = now ? strdup(now) : NULL;
    if ((now && !before) || setenv(setting, value, 1) != 0) {
        tool_no_memory("a setting");
    }
    return before;
}

static void put_back(char *before)
{
    if (before) {
        setenv(setting, before, 1);
    } else {
        unsetenv(setting);
    }
    free(before);
}

/* ---- the device ------------------------------------------------------------------------------ */

static void read_property(iso_device device, const char *name, char *text, size_t room)
{
    iso_property property = ISO_PROPERTY_INIT;
    text[0] = '\0';
    for (int32_t i = 0; tool_property(device, i, &property); i++) {
        if (strcmp(property.name, name) == 0) {
            snprintf(text, room, "%s", property.value);
        }
    }
}

static bool find_setting(char *value, size_t room)
{
    iso_setting s = ISO_SETTING_INIT;
    value[0] = '\0';
    for (int32_t i = 0; tool_setting(i, &s); i++) {
        if (strcmp(s.name, setting) == 0) {
            snprintf(value, room, "%s", s.value);
            return value[0] == '/';
        }
    }
    return false;
}

/* The library looks at a path that is no folder as a file. */
static int find_place(tune_device *device)
{
    struct stat found;
    char name[TUNED_NAME];
    if (!find_setting(device->folder, sizeof device->folder)) {
        return tool_error(
            TOOL_USAGE,
            "there is no place for a table: %s is %s%s%s: set it to the absolute path "
            "of a folder",
            setting, device->folder[0] ? "\"" : "not set, and ISOMER_CACHE_DIR is off",
            device->folder, device->folder[0] ? "\"" : "");
    }
    if (stat(device->folder, &found) == 0 && !S_ISDIR(found.st_mode)) {
        char *slash = strrchr(device->folder, '/');
        snprintf(device->path, sizeof device->path, "%s", device->folder);
        slash[slash == device->folder] = '\0';
        return TOOL_OK;
    }
    tuned_file_name(device->key, name);
    snprintf(device->path, sizeof device->path, "%s/%s", device->folder, name);
    return TOOL_OK;
}

int tune_device_find(const char *spec, tune_device *out)
{
    tool_words specs;
    iso_device device = {0};
    *out = (tune_device){.info = ISO_DEVICE_INFO_INIT};
    int code = tool_specs(spec, NULL, &specs);
    if (code == TOOL_OK && specs.count != 1) {
        code =
            tool_error(TOOL_USAGE, "%d devices are chosen: name one with --backend", specs.count);
    }
    if (code == TOOL_OK && (iso_device_open(specs.items[0], &device) != ISO_OK ||
                            iso_device_get_info(device, &out->info) != ISO_OK)) {
        code = tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    if (code == TOOL_OK) {
        read_property(device, "tuned for", out->key, sizeof out->key);
        read_property(device, "tuned with", out->versions, sizeof out->versions);
        read_property(device, "ways", out->ways, sizeof out->ways);
        code = find_place(out);
    }
    if (device.id != 0) {
        iso_device_close(device);
    }
    tool_words_free(&specs);
    return code;
}

/* The property is "f32: a b c; f64: d e". */
int32_t tune_ways(const tune_device *device, iso_dtype dtype, char names[TUNE_WAYS][TUNED_WAY])
{
    const char *type = iso_dtype_name(dtype);
    const size_t length = strlen(type);
    int32_t count = 0;
    const char *at = device->ways;
    while (at && !(strncmp(at, type, length) == 0 && at[length] == ':')) {
        at = strchr(at, ';');
        at = at ? at + 1 + strspn(at + 1, " ") : NULL;
    }
    for (at = at ? at + length + 1 : ""; *at == ' ' && count < TUNE_WAYS;) {
        const size_t word = strcspn(++at, " ;");
        snprintf(names[count++], TUNED_WAY, "%.*s", (int)word, at);
        at += word;
    }
    return count;
}

/* ---- the table ------------------------------------------------------------------------------- */

int tune_load(const tune_device *device, tuned_table **out)
{
    size_t bytes = 0;
    char problem[1024] = "";
    *out = NULL;
    char *text = tool_read(device->path, 2, &bytes);
    if (!text && (errno == ENOENT || errno == ENOTDIR)) {
        return TOOL_OK;
    }
    if (!text) {
        return tool_error(TOOL_IO, "cannot read %s: %s", device->path,
                          tool_read_problem(2, problem, sizeof problem));
    }
    iso_status status = tuned_read(text, bytes, out, problem, sizeof problem);
    free(text);
    if (status == ISO_NO_MEMORY) {
        tool_no_memory("a table");
    }
    if (status == ISO_OK && strcmp((*out)->key, device->key) != 0) {
        snprintf(problem, sizeof problem, "it is of another device");
    } else if (status == ISO_OK && strcmp((*out)->versions, device->versions) != 0) {
        snprintf(problem, sizeof problem, "it was measured with other versions (%.400s)",
                 (*out)->versions);
    }
    if (problem[0] != '\0') {
        tool_error(TOOL_OK, "%s is not used: %s", device->path, problem);
        free(*out);
        *out = NULL;
    }
    return TOOL_OK;
}

/* Makes the folder and those above it, for this user alone. */
static int make_folder(const char *folder)
{
    char *path = tool_alloc(strlen(folder) + 1, 1, "a path");
    bool made = true;
    strcpy(path, folder);
    for (char *at = path + 1; made; at++) {
        const char kept = *at;
        if (kept == '/' || kept == '\0') {
            *at = '\0';
            made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *at = kept;
        }
        if (kept == '\0') {
            break;
        }
    }
    free(path);
    return made ? TOOL_OK
                : tool_error(TOOL_IO, "cannot make the folder %s: %s", folder, strerror(errno));
}

int tune_store(const tune_device *device, tuned_table *table)
{
    char told[ISO_REASON_MAX];
    tool_file file = {0};
    iso_device open = {0};
    int code = make_folder(device->folder);
    code = code == TOOL_OK ? tool_file_open(&file, device->path) : code;
    if (code != TOOL_OK) {
        return code;
    }
    /* The library refuses what others may write, whatever the umask is. */
    if (fchmod(fileno(file.stream), 0600) != 0 || !tuned_write(file.stream, table)) {
        code = tool_error(TOOL_IO, "cannot write %s: %s", device->path, strerror(errno));
        tool_file_discard(&file);
        return code;
    }
    code = tool_file_commit(&file);
    if (code != TOOL_OK) {
        return code;
    }
    if (iso_device_open(device->info.spec, &open) != ISO_OK) {
        return tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    read_property(open, "tuned table", told, sizeof told);
    iso_device_close(open);
    if (strncmp(told, device->path, strlen(device->path)) != 0) {
        return tool_error(TOOL_IO, "the library does not use the table that was written: %s", told);
    }
    return TOOL_OK;
}

int tune_remove(const tune_device *device)
{
    if (unlink(device->path) == 0) {
        printf("removed %s\n", device->path);
        return TOOL_OK;
    }
    return errno == ENOENT || errno == ENOTDIR
               ? tool_error(TOOL_NOTHING, "there is no %s", device->path)
               : tool_error(TOOL_IO, "cannot remove %s: %s", device->path, strerror(errno));
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Writes a table that names the way for each shape to a new file. */
static int write_candidate(const tune_device *device, const char *way, const tuned_shape *shapes,
                           int32_t count, char *path)
{
    tuned_table *table =
        tool_alloc(1, sizeof *table + (size_t)count * sizeof table->rows[0], "a table");
    snprintf(table->key, sizeof table->key, "%s", device->key);
    snprintf(table->versions, sizeof table->versions, "%s", device->versions);
    for (table->count = 0; table->count < count; table->count++) {
        tuned_row *row = &table->rows[table->count];
        row->shape = shapes[table->count];
        row->times[TUNED_TILED] = 1;
        snprintf(row->way, sizeof row->way, "%s", way);
    }
    const int descriptor = mkstemp(path);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool written = out && tuned_write(out, table);
    written = out && fclose(out) == 0 && written;
    free(table);
    return written ? TOOL_OK : tool_error(TOOL_IO, "cannot write %s: %s", path, strerror(errno));
}

work_target *tune_open(const tune_device *device, const char *way, const tuned_shape *shapes,
                       int32_t count, work_inputs *inputs, int *code)
{
    char path[sizeof device->path + 8] = "off", told[ISO_REASON_MAX];
    work_target *target = NULL;
    *code = TOOL_OK;
    if (way) {
        snprintf(path, sizeof path, "%s.XXXXXX", device->path);
        *code = make_folder(device->folder);
        *code = *code == TOOL_OK ? write_candidate(device, way, shapes, count, path) : *code;
    }
    if (*code != TOOL_OK) {
        return NULL;
    }
    char *before = put(path);
    target = work_target_open(device->info.spec, ISO_MATH_STRICT, inputs, code);
    put_back(before);
    if (way) { /* it is read when the device is opened */
        unlink(path);
    }
    if (target && way) {
        read_property(work_target_device(target), "tuned table", told, sizeof told);
        if (strncmp(told, path, strlen(path)) != 0) {
            *code =
                tool_error(TOOL_IO, "the library does not use the table of a candidate: %s", told);
            work_target_close(target);
            target = NULL;
        }
    }
    return target;
}
