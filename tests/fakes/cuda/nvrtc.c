/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.c - a fake of libnvrtc.so: the host's C++ compiler behind NVIDIA's names. */
#include "tests/fakes/engine.h"

#include "backends/cuda/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
CUDA_NVRTC_SYMBOLS(DECLARE, DECLARE)

enum { OK, OUT_OF_MEMORY, CREATION, INVALID_INPUT, INVALID_PROGRAM, INVALID_OPTION, COMPILATION };
enum { OPTIONS_MAX = 64 };

struct _nvrtcProgram {
    char *text, *name, *log;
    void *binary;
    size_t bytes;
};

nvrtc_code nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return OK;
}

const char *nvrtcGetErrorString(nvrtc_code code)
{
    static const char *const names[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
    };
    return code < sizeof names / sizeof names[0] ? names[code] : "NVRTC_ERROR unknown";
}

nvrtc_code nvrtcCreateProgram(nvrtc_program *program, const char *text, const char *name,
                              int header_count, const char *const *headers,
                              const char *const *header_names)
{
    (void)headers;
    (void)header_names;
    if (!program || !text || header_count != 0) {
        return INVALID_INPUT;
    }
    *program = calloc(1, sizeof **program);
    if (!*program) {
        return OUT_OF_MEMORY;
    }
    (*program)->text = strdup(text);
    (*program)->name = strdup(name ? name : "default_program");
    (*program)->log = strdup("");
    return OK;
}

nvrtc_code nvrtcDestroyProgram(nvrtc_program *program)
{
    if (!program || !*program) {
        return INVALID_PROGRAM;
    }
    free((*program)->text);
    free((*program)->name);
    free((*program)->log);
    free((*program)->binary);
    free(*program);
    *program = NULL;
    return OK;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Checks an option as the real compiler would. */
static bool take(fake_compile *what, const char **defines, char *target, size_t capacity,
                 const char *option)
{
    static const char *const known[] = {"--ftz=false",
                                        "--prec-div=true",
                                        "--prec-sqrt=true",
                                        "-ftz=false",
                                        "-prec-div=true",
                                        "-prec-sqrt=true",
                                        "--fmad=true",
                                        "-default-device",
                                        "--std=c++14",
                                        "--std=c++17",
                                        "-std=c++14",
                                        "-std=c++17",
                                        "--restrict",
                                        "--device-as-default-execution-space",
                                        "-w",
                                        "--disable-warnings"};
    if (begins(option, "-D")) {
        defines[what->option_count++] = option;
        return true;
    }
    if (strcmp(option, "--fmad=false") == 0 || strcmp(option, "-fmad=false") == 0) {
        what->contract = false;
        return true;
    }
    if (begins(option, "--gpu-architecture=") || begins(option, "-arch=")) {
        (void)snprintf(target, capacity, "%s", strchr(option, '=') + 1);
        return begins(target, "sm_") || begins(target, "compute_");
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(option, known[i]) == 0) {
            return true;
        }
    }
    return begins(option, "-I") || begins(option, "--maxrregcount=");
}

nvrtc_code nvrtcCompileProgram(nvrtc_program program, int option_count, const char *const *options)
{
    const char *defines[OPTIONS_MAX];
    char target[40] = "compute_75";
    if (!program || option_count > OPTIONS_MAX) {
        return INVALID_PROGRAM;
    }
    fake_compile what = {.text = program->text,
                         .name = program->name,
                         .options = defines,
                         .target = target,
                         .contract = true};
    for (int i = 0; i < option_count; i++) {
        if (!take(&what, defines, target, sizeof target, options[i])) {
            free(program->log);
            program->log = malloc(strlen(options[i]) + 64);
            (void)sprintf(program->log, "nvrtc: error: unrecognized option %s found\n", options[i]);
            return INVALID_OPTION;
        }
    }
    free(program->log);
    free(program->binary);
    return fake_compile_program(&what, &program->binary, &program->bytes, &program->log)
               ? OK
               : COMPILATION;
}

nvrtc_code nvrtcGetProgramLogSize(nvrtc_program program, size_t *bytes)
{
    *bytes = program ? strlen(program->log) + 1 : 0;
    return program ? OK : INVALID_PROGRAM;
}

nvrtc_code nvrtcGetProgramLog(nvrtc_program program, char *log)
{
    (void)strcpy(log, program->log);
    return OK;
}

/* For a virtual target ("compute_90") there is no binary for a device. */
nvrtc_code nvrtcGetCUBINSize(nvrtc_program program, size_t *bytes)
{
    *bytes = program && program->binary ? program->bytes : 0;
    return program && program->binary ? OK : INVALID_PROGRAM;
}

nvrtc_code nvrtcGetCUBIN(nvrtc_program program, char *cubin)
{
    if (!program || !program->binary) {
        return INVALID_PROGRAM;
    }
    memcpy(cubin, program->binary, program->bytes);
    return OK;
}

nvrtc_code nvrtcGetPTXSize(nvrtc_program program, size_t *bytes)
{
    return nvrtcGetCUBINSize(program, bytes);
}

nvrtc_code nvrtcGetPTX(nvrtc_program program, char *ptx)
{
    return nvrtcGetCUBIN(program, ptx);
}

static const int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 110, 103, 120, 121};

nvrtc_code nvrtcGetNumSupportedArchs(int *count)
{
    *count = (int)(sizeof architectures / sizeof architectures[0]);
    return OK;
}

nvrtc_code nvrtcGetSupportedArchs(int *supported)
{
    memcpy(supported, architectures, sizeof architectures);
    return OK;
}
