/* SPDX-License-Identifier: Apache-2.0 */
/* blas_library.c - finds CLBlast and reports where it searched. */
#include "backends/opencl/blas.h"

#include "backends/loader/files.h"

#include <stdio.h>
#include <string.h>

clblast_api clblast;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char label[ISO_NAME_MAX];

static const loader_where where = {.host = &ocl_host, .advice = ""};
static loader_library library = {
    .title = "CLBlast",
    .where = &where,
    .names = {"libclblast.so.1"},
    LOADER_FUNCTIONS(clblast, CLBLAST_SYMBOLS),
};

/* The library does not report its version: it is taken from the file's name. */
static void look(void)
{
    char real[256];
    if (loader_open(&library)) {
        files_real_name(library.path, real, sizeof real);
        const char *at = strstr(real, ".so.");
        (void)snprintf(label, sizeof label, "CLBlast%s%s", at ? " " : "", at ? at + 4 : "");
    }
}

const loader_library *clblast_get(void)
{
    (void)pthread_once(&once, look);
    return &library;
}

const char *clblast_label(void)
{
    return label;
}

/* Most of its codes are OpenCL's. */
const char *clblast_code_name(clblast_code code)
{
    static const char *const blas[] = {"CLBlastNotImplemented",      "",
                                       "CLBlastInvalidMatrixA",      "CLBlastInvalidMatrixB",
                                       "CLBlastInvalidMatrixC",      "CLBlastInvalidVectorX",
                                       "CLBlastInvalidVectorY",      "CLBlastInvalidDimension",
                                       "CLBlastInvalidLeadDimA",     "CLBlastInvalidLeadDimB",
                                       "CLBlastInvalidLeadDimC",     "CLBlastInvalidIncrementX",
                                       "CLBlastInvalidIncrementY",   "CLBlastInsufficientMemoryA",
                                       "CLBlastInsufficientMemoryB", "CLBlastInsufficientMemoryC",
                                       "CLBlastInsufficientMemoryX", "CLBlastInsufficientMemoryY"};
    static const char *const own[] = {"CLBlastInsufficientMemoryTemp",
                                      "CLBlastInvalidBatchCount",
                                      "CLBlastInvalidOverrideKernel",
                                      "CLBlastMissingOverrideParameter",
                                      "CLBlastInvalidLocalMemUsage",
                                      "CLBlastNoHalfPrecision",
                                      "CLBlastNoDoublePrecision",
                                      "CLBlastInvalidVectorScalar",
                                      "CLBlastInsufficientMemoryScalar",
                                      "CLBlastDatabaseError",
                                      "CLBlastUnknownError",
                                      "CLBlastUnexpectedError"};
    const int in_blas = code + 1024;
    const int in_own = code + 2050;
    if (in_blas >= 0 && in_blas < (int)(sizeof blas / sizeof blas[0])) {
        return blas[in_blas];
    }
    if (in_own >= 0 && in_own < (int)(sizeof own / sizeof own[0])) {
        return own[in_own];
    }
    return ocl_code_name(code);
}
