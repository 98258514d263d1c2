/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - lets Isomer use objects that the program created itself. On a CPU, memory is the only
 * such object, and any address is accepted. */
#include "backends/openmp/runtime.h"

iso_status cpu_device_adopt(const iso_native_device *native, int32_t *index, void **device)
{
    if (native->context || native->device) {
        return cpu_host->fail(ISO_INVALID,
                              "context is %p and device %p, but openmp has no contexts and only "
                              "one device: pass NULL for both",
                              native->context, native->device);
    }
    *index = 0;
    return cpu_device_open(0, device);
}

iso_status cpu_stream_adopt(void *device, void *native, void **stream)
{
    (void)device;
    (void)stream;
    return cpu_host->fail(ISO_UNSUPPORTED,
                          "native is %p, but the openmp backend cannot adopt a stream, because its "
                          "streams are its own threads: create one with iso_stream_create",
                          native);
}

iso_status cpu_memory_import(void *device, void *native, int64_t bytes, void **memory)
{
    (void)device;
    if (bytes > INT64_MAX - (int64_t)((uintptr_t)native & INT64_MAX)) {
        return cpu_host->fail(ISO_INVALID, "%lld bytes from %p reach past the end of memory",
                              (long long)bytes, native);
    }
    *memory = native;
    return ISO_OK;
}

void cpu_memory_forget(void *device, void *memory)
{
    (void)device;
    (void)memory;
}

iso_status cpu_native_get(void *device, iso_native_kind kind, void *object, void **native)
{
    (void)device;
    switch (kind) {
    case ISO_NATIVE_CONTEXT:
    case ISO_NATIVE_DEVICE:
        *native = NULL;
        return ISO_OK;
    case ISO_NATIVE_MEMORY:
        *native = object;
        return ISO_OK;
    case ISO_NATIVE_STREAM:
    case ISO_NATIVE_EVENT:
        break;
    }
    return cpu_host->fail(
        ISO_UNSUPPORTED,
        "%s of the openmp backend have no system object that a program could use: "
        "wait for them instead",
        kind == ISO_NATIVE_STREAM ? "streams" : "events");
}

iso_status cpu_dlpack_device(void *device, int32_t *type, int32_t *id)
{
    enum { DLPACK_CPU = 1 };
    (void)device;
    *type = DLPACK_CPU;
    *id = 0;
    return ISO_OK;
}
