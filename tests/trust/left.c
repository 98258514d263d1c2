/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left.c - loads the library by the given path, changes to another folder, and opens the plug-in
 * "trap". With a third argument it changes the folder first.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef struct device {
    uint64_t id;
} device;

int main(int count, char **arguments)
{
    int (*open_device)(const char *spec, device *out) = NULL;
    device opened = {0};

    if (count < 3 || (count > 3 && chdir(arguments[2]))) {
        return 2;
    }
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    if (count == 3 && chdir(arguments[2])) {
        return 2;
    }
    *(void **)&open_device = dlsym(library, "iso_device_open");
    return open_device && open_device("trap", &opened) ? 0 : 1;
}
