/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - reads and writes a device's table, and opens handles with one. What is written goes to
 * a new file first, and only if the library takes that does it replace the table. */
#include "bench/tune/tune.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char setting[] = "ISOMER_TUNED";
static const char fresh[] = ".new-XXXXXX"; /* the end of a new file's name */

typedef char path_text[ISO_REASON_MAX + TUNED_NAME + sizeof fresh];

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

/* ---- what the library says ------------------------------------------------------------------- */

/* Whether a handle, opened with the table at `path`, uses it. If not, *why is the reason. */
static bool is_used(iso_device device, const char *path, char *why, size_t room)
{
    static const char refused[] = "refused: ";
    char told[ISO_REASON_MAX];
    const size_t length = strlen(path);
    tune_property(device, "tuned table", told, sizeof told);
    if (strncmp(told, path, length) == 0 && strncmp(told + length, ": ", 2) == 0) {
        return true;
    }
    const char *at = told;
    if (strncmp(at, refused, strlen(refused)) == 0) {
        at += strlen(refused);
        at += strncmp(at, path, length) == 0 && strncmp(at + length, ": ", 2) == 0 ? length + 2 : 0;
    }
    snprintf(why, room, "%s", at);
    const size_t end = strlen(why);
    if (end >= 2 && strcmp(why + end - 2, "; ") == 0) {
        why[end - 2] = '\0';
    }
    return false;
}

/* Asks the library about the table at `path`: *why is "", or why it refuses it. */
static int ask_library(const tune_device *device, const char *path, char *why, size_t room)
{
    iso_device open = {0};
    char *before = put(path);
    const iso_status status = iso_device_open(device->info.spec, &open);
    put_back(before);
    why[0] = '\0';
    if (status != ISO_OK) {
        return tool_error(tool_code(status), "%s", tool_reason());
    }
    if (is_used(open, path, why, room)) {
        why[0] = '\0';
    }
    iso_device_close(open);
    return TOOL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Why a table that was read is not the device's; "": it is. */
static void judge(const tune_device *device, const tuned_table *table, char *problem, size_t room)
{
    problem[0] = '\0';
    if (strcmp(table->key, device->key) != 0) {
        snprintf(problem, room, "it is of another device");
    } else if (strcmp(table->versions, device->versions) != 0) {
        snprintf(problem, room, "it was measured with other versions (%.400s)", table->versions);
    }
}

int tune_load(const tune_device *device, tuned_table **out)
{
    size_t bytes = 0;
    struct stat found;
    char problem[ISO_REASON_MAX] = "";
    *out = NULL;
    if (stat(device->path, &found) == 0 && !S_ISREG(found.st_mode)) {
        tool_error(TOOL_OK, "%s is not used: it is not a file", device->path);
        return TOOL_OK;
    }
    char *text = tool_read(device->path, 2, &bytes);
    if (!text && (errno == ENOENT || errno == ENOTDIR)) {
        return TOOL_OK;
    }
    if (!text) {
        return tool_error(TOOL_IO, "cannot read %s: %s", device->path,
                          tool_read_problem(2, problem, sizeof problem));
    }
    iso_status status = tuned_read(text, bytes, out, problem, sizeof problem);
    int code = TOOL_OK;
    free(text);
    if (status == ISO_NO_MEMORY) {
        tool_no_memory("a table");
    }
    if (status == ISO_OK) {
        judge(device, *out, problem, sizeof problem);
    }
    if (problem[0] == '\0') {
        code = ask_library(device, device->path, problem, sizeof problem);
    }
    if (problem[0] != '\0') {
        tool_error(TOOL_OK, "%s is not used: %s", device->path, problem);
    }
    if (code != TOOL_OK || problem[0] != '\0') {
        free(*out);
        *out = NULL;
    }
    return code;
}

int tune_load_packaged(tune_device *device, tuned_table **out)
{
    int rows;
    char path[sizeof device->path], problem[ISO_REASON_MAX] = "";
    size_t bytes = 0;
    const size_t length = tuned_told(device->told, &rows);
    *out = NULL;
    snprintf(path, sizeof path, "%.*s", (int)length, device->told);
    if (length == 0 || length >= sizeof path || strcmp(path, device->path) == 0) {
        return TOOL_OK;
    }
    char *text = tool_read(path, 2, &bytes);
    if (!text) {
        return tool_error(TOOL_IO, "cannot read %s: %s", path,
                          tool_read_problem(2, problem, sizeof problem));
    }
    const iso_status status = tuned_read(text, bytes, out, problem, sizeof problem);
    free(text);
    if (status == ISO_NO_MEMORY) {
        tool_no_memory("a table");
    }
    if (status != ISO_OK) { /* it changed since the library read it */
        return tool_error(TOOL_IO, "%s: %s", path, problem);
    }
    strcpy(device->path, path);
    return TOOL_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes a table to a new file in the folder of the device's table. Only this user may write to it.
 */
static int write_new(const tune_device *device, tuned_table *table, char *path, size_t room)
{
    snprintf(path, room, "%s%s", device->path, fresh);
    const int descriptor = mkstemp(path);
    if (descriptor < 0) {
        return tool_error(TOOL_IO, "cannot make a file beside %s: %s", device->path,
                          strerror(errno));
    }
    FILE *out = fdopen(descriptor, "w");
    bool written = out && tuned_write(out, table);
    int problem = errno;
    if (!out) {
        close(descriptor);
    } else if (fclose(out) != 0) {
        problem = written ? errno : problem;
        written = false;
    }
    if (written) {
        return TOOL_OK;
    }
    unlink(path);
    return tool_error(TOOL_IO, "cannot write %s: %s", path, strerror(problem));
}

/* An empty table of the device, with room for so many rows. */
static tuned_table *new_table(const tune_device *device, int32_t rows)
{
    tuned_table *table =
        tool_alloc(1, sizeof *table + (size_t)rows * sizeof table->rows[0], "a table");
    snprintf(table->key, sizeof table->key, "%s", device->key);
    snprintf(table->versions, sizeof table->versions, "%s", device->versions);
    return table;
}

int tune_probe(const tune_device *device)
{
    path_text path;
    char why[ISO_REASON_MAX];
    tuned_table *table = new_table(device, 0);
    int code = write_new(device, table, path, sizeof path);
    free(table);
    if (code != TOOL_OK) {
        return code;
    }
    code = ask_library(device, path, why, sizeof why);
    unlink(path);
    return code == TOOL_OK && why[0] != '\0'
               ? tool_error(TOOL_IO, "the library would not use a table in %s: %s", device->folder,
                            why)
               : code;
}

int tune_store(const tune_device *device, tuned_table *table)
{
    path_text path;
    char why[ISO_REASON_MAX];
    int code = write_new(device, table, path, sizeof path);
    if (code != TOOL_OK) {
        return code;
    }
    code = ask_library(device, path, why, sizeof why);
    if (code == TOOL_OK && why[0] != '\0') {
        code = tool_error(TOOL_IO,
                          "the library would refuse the table: %s. %s stays as it is; isomer tune "
                          "--reset removes it",
                          why, device->path);
    }
    if (code == TOOL_OK && rename(path, device->path) != 0) {
        code = tool_error(TOOL_IO, "cannot write %s: %s", device->path, strerror(errno));
    }
    if (code != TOOL_OK) {
        unlink(path);
    }
    return code;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Whether `name` is a new file's that a run left behind which was killed. */
static bool is_left(const char *name, const char *table)
{
    const size_t length = strlen(table), fixed = sizeof fresh - 1 - 6;
    return strncmp(name, table, length) == 0 && strncmp(name + length, fresh, fixed) == 0 &&
           strlen(name + length) == sizeof fresh - 1;
}

/* Removes what killed runs left. */
static void sweep(const tune_device *device)
{
    DIR *folder = opendir(device->folder);
    const char *slash = strrchr(device->path, '/');
    path_text path;
    for (struct dirent *at = folder ? readdir(folder) : NULL; at; at = readdir(folder)) {
        if (is_left(at->d_name, slash + 1)) {
            snprintf(path, sizeof path, "%.*s/%s", (int)(slash - device->path), device->path,
                     at->d_name);
            unlink(path);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

int tune_remove(const tune_device *device)
{
    struct stat found;
    int lock = -1;
    int code = tune_guard(device);
    if (code == TOOL_OK && stat(device->folder, &found) != 0 &&
        (errno == ENOENT || errno == ENOTDIR)) {
        return tool_error(TOOL_NOTHING, "there is no %s", device->path);
    }
    code = code == TOOL_OK ? tune_lock(device, &lock) : code;
    if (code != TOOL_OK) {
        return code;
    }
    sweep(device);
    if (unlink(device->path) == 0) {
        printf("removed %s\n", device->path);
    } else if (errno == ENOENT) {
        code = tool_error(TOOL_NOTHING, "there is no %s", device->path);
    } else {
        code = tool_error(TOOL_IO, "cannot remove %s: %s", device->path, strerror(errno));
    }
    tune_unlock(device, lock);
    return code;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Writes a table that names the way for each shape to a new file. */
static int write_candidate(const tune_device *device, const char *way, const tuned_shape *shapes,
                           int32_t count, char *path, size_t room)
{
    tuned_table *table = new_table(device, count);
    for (table->count = 0; table->count < count; table->count++) {
        tuned_row *row = &table->rows[table->count];
        row->shape = shapes[table->count];
        row->times[TUNED_TILED] = 1;
        snprintf(row->way, sizeof row->way, "%s", way);
    }
    const int code = write_new(device, table, path, room);
    free(table);
    return code;
}

work_target *tune_open(const tune_device *device, const char *way, const tuned_shape *shapes,
                       int32_t count, work_inputs *inputs, int *code)
{
    path_text path = "off";
    char why[ISO_REASON_MAX];
    *code = way ? write_candidate(device, way, shapes, count, path, sizeof path) : TOOL_OK;
    if (*code != TOOL_OK) {
        return NULL;
    }
    char *before = put(path);
    work_target *target = work_target_open(device->info.spec, ISO_MATH_STRICT, inputs, code);
    put_back(before);
    if (way) { /* it is read when the device is opened */
        unlink(path);
    }
    if (target && way && !is_used(work_target_device(target), path, why, sizeof why)) {
        *code = tool_error(TOOL_IO, "the library does not use the table of a candidate: %s", why);
        work_target_close(target);
        target = NULL;
    }
    return target;
}
