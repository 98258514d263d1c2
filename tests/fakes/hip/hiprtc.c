/* SPDX-License-Identifier: Apache-2.0 */
/* hiprtc.c - a fake of libhiprtc.so: the host's C++ compiler behind AMD's names. */
#include "tests/fakes/engine.h"

#include "backends/hip/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_RTC_SYMBOLS(DECLARE, DECLARE)

enum { OK, OUT_OF_MEMORY, CREATION, INVALID_INPUT, INVALID_PROGRAM, INVALID_OPTION, COMPILATION };
enum { OPTIONS_MAX = 64 };

struct _hiprtcProgram {
    char *text, *name, *log;
    void *binary;
    size_t bytes;
};

hiprtc_code hiprtcVersion(int *major, int *minor)
{
    *major = 6;
    *minor = 4;
    return OK;
}

const char *hiprtcGetErrorString(hiprtc_code code)
{
    static const char *const names[] = {
        "HIPRTC_SUCCESS",
        "HIPRTC_ERROR_OUT_OF_MEMORY",
        "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "HIPRTC_ERROR_INVALID_INPUT",
        "HIPRTC_ERROR_INVALID_PROGRAM",
        "HIPRTC_ERROR_INVALID_OPTION",
        "HIPRTC_ERROR_COMPILATION",
    };
    return code < sizeof names / sizeof names[0] ? names[code] : "HIPRTC_ERROR unknown";
}

hiprtc_code hiprtcCreateProgram(hiprtc_program *program, const char *text, const char *name,
                                int header_count, hiprtc_texts headers, hiprtc_texts header_names)
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

hiprtc_code hiprtcDestroyProgram(hiprtc_program *program)
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

/* An unknown architecture ends the process, as in the real one up to 6.4. */
static void take_target(char *target, size_t capacity, const char *name)
{
    (void)snprintf(target, capacity, "%.*s", (int)strcspn(name, ":"), name);
    if (strcmp(target, "gfx90a") != 0 && strcmp(target, "gfx1030") != 0) {
        fprintf(stderr, "fake: hipRTC does not know %s\n", target);
        abort();
    }
}

hiprtc_code hiprtcCompileProgram(hiprtc_program program, int option_count, hiprtc_texts options)
{
    const char *defines[OPTIONS_MAX + 2] = {"-D__HIPCC_RTC__=1", "-DFAKE_HIP=1"};
    char target[40] = "gfx90a";
    if (!program || option_count > OPTIONS_MAX) {
        return INVALID_PROGRAM;
    }
    fake_compile what = {.text = program->text,
                         .name = program->name,
                         .options = defines,
                         .option_count = 2,
                         .target = target,
                         .contract = true};
    for (int i = 0; i < option_count; i++) {
        if (begins(options[i], "-D")) {
            defines[what.option_count++] = options[i];
        } else if (begins(options[i], "--offload-arch=")) {
            take_target(target, sizeof target, strchr(options[i], '=') + 1);
        } else if (strcmp(options[i], "-ffp-contract=off") == 0) {
            what.contract = false;
        } else if (options[i][0] != '-') {
            return INVALID_OPTION;
        }
    }
    free(program->log);
    free(program->binary);
    return fake_compile_program(&what, &program->binary, &program->bytes, &program->log)
               ? OK
               : COMPILATION;
}

hiprtc_code hiprtcGetProgramLogSize(hiprtc_program program, size_t *bytes)
{
    *bytes = program ? strlen(program->log) + 1 : 0;
    return program ? OK : INVALID_PROGRAM;
}

hiprtc_code hiprtcGetProgramLog(hiprtc_program program, char *log)
{
    (void)strcpy(log, program->log);
    return OK;
}

hiprtc_code hiprtcGetCodeSize(hiprtc_program program, size_t *bytes)
{
    *bytes = program && program->binary ? program->bytes : 0;
    return program && program->binary ? OK : INVALID_PROGRAM;
}

hiprtc_code hiprtcGetCode(hiprtc_program program, char *code)
{
    if (!program || !program->binary) {
        return INVALID_PROGRAM;
    }
    memcpy(code, program->binary, program->bytes);
    return OK;
}
