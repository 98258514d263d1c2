/* SPDX-License-Identifier: Apache-2.0 */
/* kfd.c - preloaded, shows the files of the folder FAKE_KFD in place of those by which the driver
 * of AMD's GPUs describes its devices. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    static const char prefix[] = "/sys/class/kfd/kfd/topology";
    char shown[1024];
    const char *folder = getenv("FAKE_KFD");
    int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    *(void **)&real = dlsym(RTLD_NEXT, "open");
    if (folder && strncmp(path, prefix, sizeof prefix - 1) == 0) {
        (void)snprintf(shown, sizeof shown, "%s%s", folder, path + sizeof prefix - 1);
        path = shown;
    }
    return real(path, flags, mode);
}
