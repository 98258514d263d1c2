/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sound.c - decides which drivers are used without a trial, and tries the others. A driver runs in
 * the caller's process and can end it: rusticl of Mesa 22.3 over llvmpipe did so in transposes. So
 * isomer-try tries the drivers that are not known to be sound. First it lists the devices of all
 * drivers together, and then it runs a few operations on each device. If memory is limited, every
 * driver is tried, because PoCL ends the process if it cannot start its threads.
 */
#include "backends/opencl/library.h"

#include "backends/loader/files.h"
#include "backends/loader/loader.h"
#include "backends/trial/trial.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MAX = 3072, NAMES_MAX = 1024, PATH_BYTES = 512 };

/* ---- known drivers --------------------------------------------------------------------------- */

/* A platform that is known to be sound, recognized by the beginning of its name. PoCL before 1.8 is
 * not trusted, because it was never tested. PoCL's devices other than CPUs are not trusted either,
 * because they are separate drivers. */
typedef struct sound_platform {
    const char *name;
    const char *marker; /* precedes the version number in the version text; NULL: any version */
    int major, minor;   /* minimum */
    bool only_cpu;
} sound_platform;

static const sound_platform platforms[] = {
    {.name = "NVIDIA CUDA"},
    {.name = "AMD Accelerated Parallel Processing"},
    {.name = "Intel(R) OpenCL"},
    {.name = "Intel(R) CPU Runtime for OpenCL"},
    {.name = "Portable Computing Language",
     .marker = "PoCL ",
     .major = 1,
     .minor = 8,
     .only_cpu = true},
    {.name = "Oclgrind"},
};

/* The library files of these platforms, by their names in the loader's list of drivers. Such
 * drivers may be queried for their devices without a trial. */
static const char *const libraries[] = {"libnvidia-opencl.so", "libamdocl64.so",
                                        "libigdrcl.so",        "libintelocl.so",
                                        "libpocl.so",          "liboclgrind-rt-icd.so"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_sound(const ocl_found *at)
{
    char name[ISO_NAME_MAX];
    char version[ISO_NAME_MAX];
    ocl_platform_text(at->platform, OCL_PLATFORM_NAME, name, sizeof name);
    ocl_platform_text(at->platform, OCL_PLATFORM_VERSION, version, sizeof version);
    for (size_t i = 0; i < sizeof platforms / sizeof platforms[0]; i++) {
        const sound_platform *known = &platforms[i];
        if (!begins(name, known->name) || (known->only_cpu && !(at->type & OCL_TYPE_CPU))) {
            continue;
        }
        const char *mark = known->marker ? strstr(version, known->marker) : NULL;
        int major = 0;
        int minor = 0;
        if (!known->marker ||
            (mark && sscanf(mark + strlen(known->marker), "%d.%d", &major, &minor) == 2 &&
             (major > known->major || (major == known->major && minor >= known->minor)))) {
            return true;
        }
    }
    return false;
}

static bool forced(void)
{
    const char *setting = ocl_host->setting("ISOMER_OPENCL_FORCE");
    return setting && strcmp(setting, "1") == 0;
}

/* ---- the loader's list ----------------------------------------------------------------------- */

/* The drivers that the loader will open. */
typedef struct driver_list {
    char key[LIST_MAX]; /* changes if the drivers change */
    char names[NAMES_MAX];
    int count;
    bool sound; /* all of them are known to be sound */
    bool dated; /* every driver's file was found, so the key changes if one of the files does */
} driver_list;

static void add_text(char *text, size_t capacity, const char *format, ...) ISO_PRINTF(3, 4);

static void add_text(char *text, size_t capacity, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + used, capacity - used, format, values);
    va_end(values);
}

/* Gets the size and time of a library's file. A name without a folder is looked up in the
 * system's library folders. */
static bool find_file(const char *name, struct stat *out)
{
    static const char *const folders[] = {LOADER_SYSTEM_FOLDER, "/usr/lib64", "/usr/lib",
                                          "/usr/local/lib"};
    char path[PATH_BYTES + 64];
    if (name[0] == '/') {
        return stat(name, out) == 0;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folders[i], name);
        if (stat(path, out) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds the driver of one file of the list. The file's first line is the name or path of the
 * driver. */
static void add_driver(driver_list *list, const char *path)
{
    char line[PATH_BYTES] = "";
    struct stat about = {.st_size = 0};
    files_lines lines;
    files_lines_open(&lines, path);
    (void)files_lines_next(&lines, line, sizeof line);
    files_lines_close(&lines);
    line[strcspn(line, "\r")] = '\0';
    for (size_t end = strlen(line); end > 0 && isspace((unsigned char)line[end - 1]); end--) {
        line[end - 1] = '\0';
    }
    const char *slash = strrchr(line, '/');
    const char *name = slash ? slash + 1 : line;
    bool known = false;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        known |= begins(name, libraries[i]);
    }
    list->dated &= find_file(line, &about);
    list->sound &= known;
    list->count++;
    add_text(list->key, sizeof list->key, "\n%s: %s %lld %lld", path, line,
             (long long)about.st_size, (long long)about.st_mtim.tv_sec);
    add_text(list->names, sizeof list->names, "%s%s (%s)", list->names[0] ? ", " : "", line, path);
}

static bool is_list_file(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

/* Adds the files sorted by name, so that the key is always the same. */
static void add_folder(driver_list *list, const char *folder)
{
    struct dirent **files = NULL;
    const int count = scandir(folder, &files, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES + 256];
        if (is_list_file(files[i]->d_name)) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
            add_driver(list, path);
        }
        free(files[i]);
    }
    free(files);
}

/* Adds the other environment variables that change what the loader and the drivers do. */
static void add_variables(driver_list *list)
{
    static const struct {
        const char *name;
        bool other_drivers, other_files;
    } changes[] = {{"OCL_ICD_FILENAMES", true, true},
                   {"OPENCL_LAYERS", true, true},
                   {"LD_LIBRARY_PATH", false, true},
                   {"RUSTICL_ENABLE", false, false}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *value = getenv(changes[i].name);
        if (value && value[0]) {
            add_text(list->key, sizeof list->key, "\n%s=%.200s", changes[i].name, value);
            list->sound &= !changes[i].other_drivers;
            list->dated &= !changes[i].other_files;
        }
    }
}

static void read_list(driver_list *list)
{
    const char *set = getenv("OCL_ICD_VENDORS");
    const char *place = set && set[0] ? set : "/etc/OpenCL/vendors";
    struct stat about;
    list->key[0] = '\0';
    list->names[0] = '\0';
    list->count = 0;
    list->sound = true;
    list->dated = true;
    if (stat(place, &about) == 0 && S_ISDIR(about.st_mode)) {
        add_folder(list, place);
    } else if (is_list_file(place)) {
        add_driver(list, place);
    }
    add_variables(list);
    /* If the list is empty, the loader gets its drivers from elsewhere, or is a driver itself. */
    list->sound &= list->count > 0;
    list->dated &= list->count > 0;
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* How much memory this process could still use before it loaded a driver. A trial gets the same
 * limit, because it loads the driver again, in its own process. */
static trial_room room;

/* Appends advice to a reason: what the user can do about it. */
static void add_advice(char *text, size_t capacity)
{
    char limits[160];
    if (trial_limited(limits, sizeof limits)) {
        add_text(text, capacity, ". Here %s: raise the limit, or", limits);
    } else {
        add_text(text, capacity, ". To use it anyway,");
    }
    add_text(text, capacity, " set ISOMER_OPENCL_FORCE=1");
}

static bool limited(void)
{
    char limits[160];
    return trial_limited(limits, sizeof limits);
}

/* PoCL starts a thread for each processor when its devices are queried, and ends the process if the
 * system refuses one. */
static bool has_threads(const driver_list *list, char *why, size_t capacity)
{
    const int wanted = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (list->names[0] && !strstr(list->names, "pocl")) {
        return true;
    }
    const int granted = trial_threads(wanted > 1 ? wanted : 1);
    if (granted >= wanted) {
        return true;
    }
    (void)snprintf(
        why, capacity,
        "a limit on processes allows only %d of the %d threads that PoCL needs, and PoCL ends a "
        "process in which it cannot start its threads: no OpenCL driver was opened",
        granted, wanted);
    return false;
}

bool ocl_may_list(char *why, size_t capacity)
{
    char reason[1024] = "";
    /* Static, because an allocation could fail. This function runs only once. */
    static driver_list list;
    read_list(&list);
    room = trial_room_now();
    const bool enough = forced() || has_threads(&list, why, capacity);
    bool may = forced() || (limited() ? list.count == 0 : list.sound);
    if (!enough) {
        return false;
    }
    if (!may) {
        const char *const words[] = {"opencl", "list", trial_library(), ocl_loader.path, NULL};
        const unsigned keep = list.dated ? TRIAL_KEEP_GOOD | TRIAL_KEEP_BAD : 0u;
        const trial what = {.host = ocl_host,
                            .arguments = words,
                            .besides = list.key,
                            .room = &room,
                            .flags = TRIAL_WHOLE | keep};
        may = trial_make(&what, reason, sizeof reason) == TRIAL_GOOD;
    }
    if (!may) {
        (void)snprintf(why, capacity,
                       "%s: its drivers were queried for their devices in a separate process, but "
                       "%s. The drivers are: %s",
                       ocl_loader.path, reason, list.names[0] ? list.names : "not known");
        add_advice(why, capacity);
    }
    return may;
}

static trial_verdict try_device(const ocl_found *at, int32_t index, char *why, size_t capacity)
{
    char number[16];
    char platform[ISO_NAME_MAX];
    char version[ISO_NAME_MAX];
    char name[ISO_NAME_MAX];
    char driver[ISO_NAME_MAX];
    char about[4 * ISO_NAME_MAX];
    ocl_platform_text(at->platform, OCL_PLATFORM_VERSION, platform, sizeof platform);
    ocl_device_text(at->device, OCL_DEVICE_VERSION, version, sizeof version);
    ocl_device_text(at->device, OCL_DEVICE_NAME, name, sizeof name);
    ocl_device_text(at->device, OCL_DRIVER_VERSION, driver, sizeof driver);
    (void)snprintf(number, sizeof number, "%" PRId32, index);
    (void)snprintf(about, sizeof about, "%.120s, %.120s, %.120s", platform, driver, version);
    const char *const words[] = {"opencl", "device", trial_library(), number, name, NULL};
    const trial what = {.host = ocl_host,
                        .arguments = words,
                        .besides = about,
                        .room = &room,
                        .flags = TRIAL_KEEP_GOOD | TRIAL_KEEP_BAD | TRIAL_KEEP_HERE | TRIAL_WHOLE};
    char reason[1024];
    const trial_verdict verdict = trial_make(&what, reason, sizeof reason);
    if (verdict != TRIAL_GOOD) {
        (void)snprintf(why, capacity,
                       "device %" PRId32
                       " (%s, driver %s) is not used: it was tried in a separate process, but %s",
                       index, name, driver, reason);
        add_advice(why, capacity);
    }
    return verdict;
}

iso_status ocl_device_usable(int32_t index)
{
    enum { WHY = ISO_REASON_MAX / 2 };
    const ocl_found *at = ocl_device_at(index);
    if (!at) {
        return ocl_host->fail(ISO_INVALID, "there is no OpenCL device %" PRId32, index);
    }
    if (forced() || (is_sound(at) && !limited())) {
        return ISO_OK;
    }
    char *why = ocl_host->alloc(WHY);
    if (!why) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = try_device(at, index, why, WHY) == TRIAL_GOOD
                                  ? ISO_OK
                                  : ocl_host->fail(ISO_UNAVAILABLE, "%s", why);
    ocl_host->free(why);
    return status;
}
