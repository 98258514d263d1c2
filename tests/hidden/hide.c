/* SPDX-License-Identifier: Apache-2.0 */
/* hide.c - preloaded, simulates a machine without vendor libraries: dlopen finds none of them. Each
 * refused name is written as a line to the file that ISOMER_TEST_HIDDEN_LOG names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(HIDDEN) /* a test may choose others */
#define HIDDEN                                                                                     \
    "cuda", "nvrtc", "cublas", "cusparse", "nvidia", "amdhip", "hiprtc", "rocblas", "hipblas",     \
        "rocsparse", "rocm_smi", "OpenCL", "clblast", "openblas", "blis", "libmkl", "libcblas",    \
        "libblas"
#endif
static const char *const hidden[] = {HIDDEN};

__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    for (size_t i = 0; file && i < sizeof hidden / sizeof *hidden; i++) {
        if (!strstr(file, hidden[i])) {
            continue;
        }
        const char *path = getenv("ISOMER_TEST_HIDDEN_LOG");
        FILE *log = path ? fopen(path, "a") : NULL;
        if (log) {
            fprintf(log, "%s\n", file);
            fclose(log);
        }
        /* A name that really does not exist provides the text of dlerror(). */
        return real("libisomer-hidden.so.0", mode);
    }
    return real(file, mode);
}
