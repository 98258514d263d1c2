/* SPDX-License-Identifier: Apache-2.0 */
/* over.c - finds and opens NVIDIA's libraries. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

static bool find_all(void *handle, const char *path, const over_symbol *symbols, int count)
{
    for (int i = 0; i < count; i++) {
        void *found = dlsym(handle, symbols[i].name);
        if (!found && symbols[i].required) {
            fprintf(stderr, "HIP over CUDA: %s has no function %s\n", path, symbols[i].name);
            return false;
        }
        memcpy(symbols[i].at, &found, sizeof found);
    }
    return true;
}

static bool try_path(const char *path, const over_symbol *symbols, int count)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return handle && find_all(handle, path, symbols, count);
}

static bool try_prefix(const char *prefix, const char *name, const over_symbol *symbols, int count)
{
    static const char *const below[] = {"", "/lib64", "/lib", "/targets/x86_64-linux/lib"};
    char path[PATH_BYTES];
    for (size_t i = 0; prefix && prefix[0] && i < sizeof below / sizeof below[0]; i++) {
        (void)snprintf(path, sizeof path, "%s%s/%s", prefix, below[i], name);
        if (try_path(path, symbols, count)) {
            return true;
        }
    }
    return false;
}

bool over_open(const char *const *names, const over_symbol *symbols, int count)
{
    glob_t found = {.gl_pathc = 0};
    bool done = false;
    (void)glob("/usr/local/cuda*", 0, NULL, &found);
    for (int i = 0; names[i] && !done; i++) {
        done = try_prefix(getenv("ISOMER_CUDA_PATH"), names[i], symbols, count) ||
               try_prefix(getenv("CUDA_PATH"), names[i], symbols, count) ||
               try_path(names[i], symbols, count);
        for (size_t j = found.gl_pathc; j-- > 0 && !done;) {
            done = try_prefix(found.gl_pathv[j], names[i], symbols, count);
        }
    }
    globfree(&found);
    if (!done) {
        fprintf(stderr, "HIP over CUDA: %s was not found\n", names[0]);
    }
    return done;
}
