/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - finds out how much memory and how many processors the machine and the process's
 * control group (version 1 or 2) allow. */
#include "backends/loader/files.h"
#include "backends/openmp/runtime.h"

#include <inttypes.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

/* ---- control groups -------------------------------------------------------------------------- */

/* The room for a path. It is small, because a small stack must hold several. */
enum { PATH_ROOM = 1024 };

typedef struct group_path {
    size_t root; /* length of the folder where the hierarchy is mounted; 0: not in a group */
    char folder[PATH_ROOM]; /* that folder, then the group below it with a leading '/' */
} group_path;

/* Whether a comma-separated list has the word. */
static int list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

/* Stores the folder of a group: `root`, then `path`, which may point into out->folder. A path
 * that does not fit is cut to a parent group, whose limits also apply. */
static void keep_path(group_path *out, const char *root, const char *path)
{
    const size_t before = strlen(root), length = strlen(path);
    const size_t most = sizeof out->folder - 1 - before;
    (void)memmove(out->folder + before, path, length < most ? length : most);
    (void)memcpy(out->folder, root, before);
    out->folder[before + (length < most ? length : most)] = '\0';
    out->root = before;
    char *slash = length < most ? NULL : strrchr(out->folder + before, '/');
    if (slash) {
        *slash = '\0';
    }
}

/* Finds the process's group: that of a version 1 controller, or that of version 2 if `controller`
 * is "". Lines of the file are "number:controllers:path". */
static void find_group(const char *controller, group_path *out)
{
    files_lines lines;
    out->root = 0;
    files_lines_open(&lines, "/proc/self/cgroup");
    while (out->root == 0 && files_lines_next(&lines, out->folder, sizeof out->folder)) {
        char *controllers = strchr(out->folder, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) {
            continue;
        }
        *controllers++ = '\0';
        *path++ = '\0';
        int same =
            controller[0] == '\0' ? controllers[0] == '\0' : list_has(controllers, controller);
        if (same) {
            char root[64];
            (void)snprintf(root, sizeof root, CGROUP_ROOT "%s%s", controller[0] != '\0' ? "/" : "",
                           controller);
            keep_path(out, root, path);
        }
    }
    files_lines_close(&lines);
}

/* Calls `visit` for the group and each of its parents, up to the root. In a container the path may
 * name groups that are not mounted. They cannot be read, and the root is then the container's own
 * group. Not inlined: otherwise the caller's stack would hold one path for each call. */
__attribute__((noinline)) static void
walk(const char *controller, void (*visit)(const char *folder, void *context), void *context)
{
    group_path group;
    find_group(controller, &group);
    while (group.root > 0) {
        visit(group.folder, context);
        char *slash = strrchr(group.folder + group.root, '/');
        if (!slash) {
            break;
        }
        *slash = '\0';
    }
}

/* Reads the whole number that a file of the folder begins with. -1 if there is no file or no number
 * ("max"). `rest` is the text after the number. */
static int64_t read_number(const char *folder, const char *name, char **rest, char *text,
                           size_t capacity)
{
    char path[PATH_ROOM + 64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!files_read(path, text, capacity)) {
        return -1;
    }
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    *rest = end;
    return end == text ? -1 : value;
}

typedef struct memory_bounds {
    int64_t limit; /* the smallest limit */
    int64_t room;  /* the smallest amount left under a limit */
    const char *limit_file, *usage_file;
} memory_bounds;

static void visit_memory(const char *folder, void *context)
{
    memory_bounds *bounds = context;
    char text[64], *rest;
    int64_t limit = read_number(folder, bounds->limit_file, &rest, text, sizeof text);
    if (limit <= 0) {
        return;
    }
    int64_t usage = read_number(folder, bounds->usage_file, &rest, text, sizeof text);
    bounds->limit = limit < bounds->limit ? limit : bounds->limit;
    int64_t room = usage < 0 ? limit : usage < limit ? limit - usage : 0;
    bounds->room = room < bounds->room ? room : bounds->room;
}

static void visit_quota_2(const char *folder, void *context)
{
    double *cores = context;
    char text[64], *rest;
    int64_t quota = read_number(folder, "cpu.max", &rest, text, sizeof text);
    if (quota > 0) {
        long long period = strtoll(rest, NULL, 10);
        if (period > 0 && (double)quota / (double)period < *cores) {
            *cores = (double)quota / (double)period;
        }
    }
}

static void visit_quota_1(const char *folder, void *context)
{
    double *cores = context;
    char text[64], *rest;
    int64_t quota = read_number(folder, "cpu.cfs_quota_us", &rest, text, sizeof text);
    int64_t period = read_number(folder, "cpu.cfs_period_us", &rest, text, sizeof text);
    if (quota > 0 && period > 0 && (double)quota / (double)period < *cores) {
        *cores = (double)quota / (double)period;
    }
}

int32_t cpu_cores_get(void)
{
    /* The OpenMP runtime may have bound this thread to one processor, but it still knows the
     * process's whole affinity mask. So the runtime is asked, not the system. */
    int count = omp_get_num_procs();
    double cores = count;
    walk("", visit_quota_2, &cores);
    walk("cpu", visit_quota_1, &cores);
    int whole = (int)cores;
    whole += whole < cores;
    return whole < 1 ? 1 : whole;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns the bytes that one line of /proc/meminfo states; -1 if it is missing. */
static int64_t meminfo(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (!at) {
        return -1;
    }
    return strtoll(at + strlen(name), NULL, 10) * 1024;
}

void cpu_memory_get(cpu_memory *out)
{
    char text[2048]; /* room for at least its first forty lines */
    if (!files_read("/proc/meminfo", text, sizeof text)) {
        text[0] = '\0';
    }
    int64_t total = meminfo(text, "MemTotal:");
    int64_t available = meminfo(text, "MemAvailable:");
    int64_t swap = meminfo(text, "SwapTotal:");
    memory_bounds bounds = {INT64_MAX, INT64_MAX, "memory.max", "memory.current"};
    walk("", visit_memory, &bounds);
    bounds.limit_file = "memory.limit_in_bytes";
    bounds.usage_file = "memory.usage_in_bytes";
    walk("memory", visit_memory, &bounds);
    *out = (cpu_memory){.total = total, .free = available, .ceiling = -1};
    if (bounds.limit < INT64_MAX && (total < 0 || bounds.limit < total)) {
        out->total = bounds.limit;
    }
    if (out->total >= 0) {
        out->ceiling = out->total + (swap > 0 ? swap : 0);
    }
    if (out->free >= 0 && bounds.room < out->free) {
        out->free = bounds.room;
    }
}
