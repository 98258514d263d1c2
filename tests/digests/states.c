/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - preloaded, makes a program call isomer in a different floating-point state from the
 * one it computes in: FP_STATE has words of `downward`, `upward`, `zero`, `flush`, `traps` and
 * `single`. If a call returns in another state, the program ends. At exit the number of calls is
 * written to the file FP_STATE_CALLS. */
#include "tests/fpstate.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fpstate chosen;
static atomic_long calls;

__attribute__((constructor)) static void choose(void)
{
    const char *words = getenv("FP_STATE");

    words = words ? words : "";
    chosen.rounding = strstr(words, "downward") ? FE_DOWNWARD
                      : strstr(words, "upward") ? FE_UPWARD
                      : strstr(words, "zero")   ? FE_TOWARDZERO
                                                : FE_TONEAREST;
    chosen.flush = strstr(words, "flush") != NULL;
    chosen.traps = strstr(words, "traps") != NULL;
    chosen.single = strstr(words, "single") != NULL;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FP_STATE_CALLS");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (file) {
        (void)fprintf(file, "%ld\n", atomic_load(&calls));
        (void)fclose(file);
    }
}

static uint64_t enter(fenv_t *own)
{
    atomic_fetch_add(&calls, 1);
    (void)fegetenv(own);
    fpstate_set(&chosen);
    return fpstate_control();
}

static void leave(const char *name, const fenv_t *own, uint64_t before)
{
    const uint64_t after = fpstate_control();

    (void)fesetenv(own);
    if (before != after) {
        (void)fprintf(stderr, "%s: the floating-point state was 0x%llx and is 0x%llx\n", name,
                      (unsigned long long)before, (unsigned long long)after);
        _exit(99);
    }
}

#define IN_STATE(name, parameters, arguments)                                                      \
    ISO_API iso_status name parameters                                                             \
    {                                                                                              \
        iso_status(*real) parameters = (iso_status(*) parameters)dlsym(RTLD_NEXT, #name);          \
        fenv_t own;                                                                                \
        const uint64_t before = enter(&own);                                                       \
        const iso_status status = real arguments;                                                  \
                                                                                                   \
        leave(#name, &own, before);                                                                \
        return status;                                                                             \
    }

IN_STATE(iso_device_open, (const char *spec, iso_device *out), (spec, out))
IN_STATE(iso_device_close, (iso_device device), (device))
IN_STATE(iso_stream_create, (iso_device device, uint32_t flags, iso_stream *out),
         (device, flags, out))
IN_STATE(iso_stream_sync, (iso_stream stream), (stream))
IN_STATE(iso_stream_destroy, (iso_stream stream), (stream))
IN_STATE(iso_buffer_create, (iso_device device, int64_t bytes, iso_buffer *out),
         (device, bytes, out))
IN_STATE(iso_buffer_destroy, (iso_buffer buffer), (buffer))
IN_STATE(iso_write, (iso_stream stream, iso_operand to, const void *from, int64_t bytes),
         (stream, to, from, bytes))
IN_STATE(iso_read, (iso_stream stream, void *to, iso_operand from, int64_t bytes),
         (stream, to, from, bytes))
IN_STATE(iso_supports, (iso_device device, iso_op_kind kind, const void *args),
         (device, kind, args))
IN_STATE(iso_describe, (iso_device device, iso_op_kind kind, const void *args, iso_op_info *out),
         (device, kind, args, out))
IN_STATE(iso_workspace, (iso_device device, iso_op_kind kind, const void *args, int64_t *bytes),
         (device, kind, args, bytes))
IN_STATE(iso_cost, (iso_op_kind kind, const void *args, iso_cost_info *out), (kind, args, out))
IN_STATE(iso_prepare, (iso_stream stream, iso_op_kind kind, const void *args), (stream, kind, args))
IN_STATE(iso_execute, (iso_stream stream, iso_op_kind kind, const void *args), (stream, kind, args))
IN_STATE(iso_event_elapsed, (iso_event start, iso_event stop, int64_t *nanoseconds),
         (start, stop, nanoseconds))
