/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - a device, the place of its table, and who may write there. */
#include "bench/tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char setting[] = "ISOMER_TUNED";

/* ---- the device ------------------------------------------------------------------------------ */

void tune_property(iso_device device, const char *name, char *text, size_t room)
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
        tune_property(device, "tuned for", out->key, sizeof out->key);
        tune_property(device, "tuned with", out->versions, sizeof out->versions);
        tune_property(device, "ways", out->ways, sizeof out->ways);
        tune_property(device, "tuned table", out->told, sizeof out->told);
        code = strncmp(out->versions, "not known: ", 11) != 0
                   ? find_place(out)
                   : tool_error(TOOL_UNAVAILABLE,
                                "%s: what its times depend on is %s: without that no table is used",
                                out->info.spec, out->versions);
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

/* ---- what is there --------------------------------------------------------------------------- */

/* Whether a text begins as a table does that is not another device's. It may be cut. */
static bool is_ours(const tune_device *device, const char *text)
{
    static const char first[] = "isomer tuned ", word[] = "key ";
    const char *line = strchr(text, '\n');
    if (strncmp(text, first, strlen(first)) != 0) {
        return false;
    }
    if (!line || strncmp(line + 1, word, strlen(word)) != 0) {
        return true;
    }
    line += 1 + strlen(word);
    const size_t length = strcspn(line, "\n");
    return strncmp(line, device->key, length) == 0 &&
           (line[length] == '\0' || device->key[length] == '\0');
}

int tune_guard(const tune_device *device)
{
    struct stat found;
    char text[2 * TUNED_LINE] = "";
    if (stat(device->path, &found) != 0) {
        return TOOL_OK;
    }
    if (S_ISREG(found.st_mode)) {
        FILE *file = fopen(device->path, "re");
        const size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
        const bool failed = !file || ferror(file) != 0;
        if (failed) {
            tool_error(TOOL_IO, "cannot read %s: %s", device->path, strerror(errno));
        }
        if (file) {
            fclose(file);
        }
        if (failed) {
            return TOOL_IO;
        }
        if (bytes == 0 || is_ours(device, text)) {
            return TOOL_OK;
        }
    }
    return tool_error(TOOL_USAGE,
                      "%s is not a table of %s, and stays as it is: set %s to a folder or a new "
                      "file, or remove this one by hand",
                      device->path, device->info.spec, setting);
}

int tune_make_folder(const tune_device *device)
{
    char *path = tool_alloc(strlen(device->folder) + 1, 1, "a path");
    bool made = true;
    strcpy(path, device->folder);
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
                : tool_error(TOOL_IO, "cannot make the folder %s: %s", device->folder,
                             strerror(errno));
}

/* ---- the lock -------------------------------------------------------------------------------- */

static void lock_path(const tune_device *device, char *path, size_t room)
{
    snprintf(path, room, "%s.lock", device->path);
}

/* Whether the path still names the open file: the run that had the lock removes it. */
static bool is_there(const char *path, int descriptor)
{
    struct stat named, open;
    return stat(path, &named) == 0 && fstat(descriptor, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

int tune_lock(const tune_device *device, int *descriptor)
{
    char path[sizeof device->path + 8];
    lock_path(device, path, sizeof path);
    for (;;) {
        *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*descriptor < 0) {
            return tool_error(TOOL_IO, "cannot open %s: %s", path, strerror(errno));
        }
        const bool locked = flock(*descriptor, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_there(path, *descriptor)) {
            return TOOL_OK;
        }
        const int problem = errno;
        close(*descriptor);
        *descriptor = -1;
        if (!locked && problem != EINTR) {
            return problem == EWOULDBLOCK
                       ? tool_error(TOOL_IO,
                                    "another isomer tune is measuring this device (it has %s): "
                                    "wait until it ends",
                                    path)
                       : tool_error(TOOL_IO, "cannot lock %s: %s", path, strerror(problem));
        }
    }
}

void tune_unlock(const tune_device *device, int descriptor)
{
    char path[sizeof device->path + 8];
    lock_path(device, path, sizeof path);
    if (descriptor >= 0) {
        unlink(path);
        close(descriptor);
    }
}
