/* SPDX-License-Identifier: Apache-2.0 */
/* powercap.c - preloaded, shows the folder FAKE_SYS in place of the processors' energy counters in
 * /sys. If FAKE_WATTS is set, its package 0 counts that power whenever the counters are looked for.
 * Other sensors that are found by a pattern do not exist. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void count(const char *root, const char *watts)
{
    char path[1024];
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%.0f\n",
                atof(watts) * ((double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3));
        (void)fclose(file);
    }
}

__attribute__((visibility("default"))) int glob(const char *pattern, int flags,
                                                int (*on_error)(const char *, int), glob_t *found)
{
    char path[1024];
    const char *root = getenv("FAKE_SYS"), *watts = getenv("FAKE_WATTS");
    int (*real)(const char *, int, int (*)(const char *, int), glob_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "glob");
    if (root && strncmp(pattern, "/sys/", 5) == 0) {
        if (watts && strstr(pattern, "powercap")) {
            count(root, watts);
        }
        (void)snprintf(path, sizeof path, "%s%s", root, pattern);
        pattern = path;
    }
    return real(pattern, flags, on_error, found);
}
