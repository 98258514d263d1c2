/* SPDX-License-Identifier: Apache-2.0 */
/* hiprtc.c - libhiprtc.so over NVRTC. The codes of both are the same numbers up to 6. */
#include "tests/fakes/hip_over_cuda/over.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(result, name, parameters) static result(*name) parameters;
CUDA_NVRTC_SYMBOLS(MEMBER, MEMBER)

#define DECLARE(result, name, parameters) OVER_API result name parameters;
HIP_RTC_SYMBOLS(DECLARE, DECLARE)

enum { INTERNAL = 11, INVALID_OPTION = 5, OPTIONS_MAX = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

#define REQUIRED(result, name, parameters) {#name, (void *)&name, true},
#define OPTIONAL(result, name, parameters) {#name, (void *)&name, false},

static void start(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        NULL};
    static const over_symbol symbols[] = {CUDA_NVRTC_SYMBOLS(REQUIRED, OPTIONAL)};
    usable = over_open(names, symbols, (int)(sizeof symbols / sizeof symbols[0])) &&
             nvrtcGetCUBIN && nvrtcGetCUBINSize;
}

static bool ready(void)
{
    (void)pthread_once(&once, start);
    return usable;
}

static nvrtc_program program_of(hiprtc_program program)
{
    return (nvrtc_program)(void *)program;
}

hiprtc_code hiprtcVersion(int *major, int *minor)
{
    *major = 6;
    *minor = 4;
    return HIPRTC_DONE;
}

const char *hiprtcGetErrorString(hiprtc_code code)
{
    return ready() ? nvrtcGetErrorString(code) : "HIP over CUDA: there is no NVRTC";
}

/* What HIP has and CUDA lacks, put before the program's source. */
static const char prelude[] = "#define __shfl_down(value, delta, width) "
                              "__shfl_down_sync(0xffffffffu, (value), (delta), (width))\n"
                              "#line 1\n";

hiprtc_code hiprtcCreateProgram(hiprtc_program *program, const char *text, const char *name,
                                int header_count, hiprtc_texts headers, hiprtc_texts header_names)
{
    const size_t bytes = sizeof prelude + strlen(text);
    char *whole = ready() ? malloc(bytes) : NULL;
    if (!whole) {
        return INTERNAL;
    }
    (void)snprintf(whole, bytes, "%s%s", prelude, text);
    const nvrtc_code code = nvrtcCreateProgram((nvrtc_program *)(void *)program, whole, name,
                                               header_count, headers, header_names);
    free(whole);
    return code;
}

hiprtc_code hiprtcDestroyProgram(hiprtc_program *program)
{
    return ready() ? nvrtcDestroyProgram((nvrtc_program *)(void *)program) : (nvrtc_code)INTERNAL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The NVRTC equivalent of an option of hipRTC; NULL: implied; "": not possible. */
static const char *translate(const char *option, char *target, size_t capacity)
{
    if (begins(option, "--offload-arch=" OVER_ARCHITECTURE)) {
        (void)snprintf(target, capacity, "--gpu-architecture=%s",
                       option + strlen("--offload-arch=" OVER_ARCHITECTURE));
        return target;
    }
    if (strcmp(option, "-ffp-contract=off") == 0) {
        return "--fmad=false";
    }
    if (begins(option, "-D") || begins(option, "-std=")) {
        return option;
    }
    return begins(option, "-O") || begins(option, "-f") || begins(option, "-W") ? NULL : "";
}

hiprtc_code hiprtcCompileProgram(hiprtc_program program, int option_count, hiprtc_texts options)
{
    const char *own[OPTIONS_MAX] = {"-D__HIPCC_RTC__=1", "--ftz=false", "--prec-div=true",
                                    "--prec-sqrt=true"};
    int count = 4;
    char target[128];
    if (!ready()) {
        return INTERNAL;
    }
    for (int i = 0; i < option_count; i++) {
        const char *option = translate(options[i], target, sizeof target);
        if ((option && !option[0]) || count == OPTIONS_MAX) {
            fprintf(stderr, "HIP over CUDA: hipRTC's option %s has no counterpart\n", options[i]);
            return INVALID_OPTION;
        }
        if (option) {
            own[count++] = option;
        }
    }
    return nvrtcCompileProgram(program_of(program), count, own);
}

hiprtc_code hiprtcGetProgramLogSize(hiprtc_program program, size_t *bytes)
{
    return ready() ? nvrtcGetProgramLogSize(program_of(program), bytes) : (nvrtc_code)INTERNAL;
}

hiprtc_code hiprtcGetProgramLog(hiprtc_program program, char *log)
{
    return nvrtcGetProgramLog(program_of(program), log);
}

hiprtc_code hiprtcGetCodeSize(hiprtc_program program, size_t *bytes)
{
    return ready() ? nvrtcGetCUBINSize(program_of(program), bytes) : (nvrtc_code)INTERNAL;
}

hiprtc_code hiprtcGetCode(hiprtc_program program, char *code)
{
    return nvrtcGetCUBIN(program_of(program), code);
}
