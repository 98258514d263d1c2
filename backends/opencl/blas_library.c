/* SPDX-License-Identifier: Apache-2.0 */
/* blas_library.c - finds CLBlast and says where it looked. */
#include "backends/opencl/blas.h"

#include "backends/loader/files.h"

#include <stdio.h>
#include <string.h>

clblast_api clblast;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool opened;
static char path[1024];
static char label[ISO_NAME_MAX];
static char why[ISO_REASON_MAX];

#define BLAS_REQUIRED(result, name, parameters) {#name, &clblast.name, true},
#define BLAS_OPTIONAL(result, name, parameters) {#name, &clblast.name, false},
static const ocl_symbol symbols[] = {CLBLAST_SYMBOLS(BLAS_REQUIRED, BLAS_OPTIONAL)};

/* The library does not tell its version: its file's name does. */
static void name_version(void)
{
    char real[256];
    files_real_name(path, real, sizeof real);
    const char *at = strstr(real, ".so.");
    (void)snprintf(label, sizeof label, "CLBlast%s%s", at ? " " : "", at ? at + 4 : "");
}

static void look(void)
{
    static const char *const names[] = {"libclblast.so.1"};
    static char tried[ISO_REASON_MAX - 512]; /* this runs once */
    loader_search search = {
        .names = names, .name_count = 1, .tried = tried, .tried_capacity = (int64_t)sizeof tried};
    void *library = loader_open(&search, path, (int64_t)sizeof path);
    if (!library) {
        (void)snprintf(why, sizeof why, "CLBlast %s; tried: %s",
                       search.refused > 0 ? "is there and cannot be used" : "was not found", tried);
        return;
    }
    const char *missing = ocl_find_symbols(library, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing) {
        (void)snprintf(why, sizeof why, "%s has no function %s", path, missing);
        return;
    }
    name_version();
    opened = true;
}

bool clblast_open(void)
{
    (void)pthread_once(&once, look);
    return opened;
}

const char *clblast_label(void)
{
    return label;
}

const char *clblast_path(void)
{
    return path;
}

const char *clblast_why(void)
{
    return why;
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
