/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - settings of a test, and the names of codes. */
#include "tests/fakes/engine.h"

#include <stdlib.h>
#include <time.h>

int64_t fake_setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? strtoll(text, NULL, 0) : otherwise;
}

const char *fake_text(const char *name)
{
    const char *text = getenv(name);
    return text ? text : "";
}

int fake_device_count(void)
{
    return (int)fake_setting("FAKE_DEVICES", 1);
}

int64_t fake_device_memory(void)
{
    return fake_setting("FAKE_MEMORY", (int64_t)4 << 30);
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t fake_energy(void)
{
    static _Atomic int64_t ticks, busy;
    const int64_t tick = 20;
    const int64_t now = milliseconds(CLOCK_MONOTONIC) / tick;
    if (now != ticks) {
        ticks = now;
        busy = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    }
    const int64_t counted =
        now * tick * fake_setting("FAKE_POWER", 123500) + busy * fake_setting("FAKE_POWER_BUSY", 0);
    return fake_setting("FAKE_ENERGY", counted / 1000);
}

int fake_wave(int otherwise)
{
    return (int)fake_setting("FAKE_WAVE", otherwise);
}

const char *fake_code_text(int code)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {FAKE_INVALID_VALUE, "INVALID_VALUE"},
        {FAKE_OUT_OF_MEMORY, "OUT_OF_MEMORY"},
        {FAKE_NOT_INITIALIZED, "NOT_INITIALIZED"},
        {FAKE_NO_DEVICE, "NO_DEVICE"},
        {FAKE_INVALID_DEVICE, "INVALID_DEVICE"},
        {FAKE_INVALID_IMAGE, "INVALID_IMAGE"},
        {FAKE_INVALID_CONTEXT, "INVALID_CONTEXT"},
        {FAKE_NO_BINARY, "NO_BINARY_FOR_GPU"},
        {FAKE_INVALID_HANDLE, "INVALID_HANDLE"},
        {FAKE_NOT_FOUND, "NOT_FOUND"},
        {FAKE_NOT_READY, "NOT_READY"},
        {FAKE_ILLEGAL_ADDRESS, "ILLEGAL_ADDRESS"},
        {FAKE_OUT_OF_RESOURCES, "LAUNCH_OUT_OF_RESOURCES"},
        {FAKE_PEER_ENABLED, "PEER_ACCESS_ALREADY_ENABLED"},
        {FAKE_CONTEXT_DESTROYED, "CONTEXT_IS_DESTROYED"},
        {FAKE_HOST_REGISTERED, "HOST_MEMORY_ALREADY_REGISTERED"},
        {FAKE_HOST_NOT_REGISTERED, "HOST_MEMORY_NOT_REGISTERED"},
        {FAKE_LAUNCH_FAILED, "LAUNCH_FAILED"},
        {FAKE_NOT_SUPPORTED, "NOT_SUPPORTED"},
        {FAKE_ILLEGAL_STATE, "ILLEGAL_STATE"},
        {FAKE_RECORD_UNSUPPORTED, "STREAM_CAPTURE_UNSUPPORTED"},
        {FAKE_RECORD_SPOILED, "STREAM_CAPTURE_INVALIDATED"},
        {803, "SYSTEM_DRIVER_MISMATCH"},
        {999, "UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].code == code) {
            return texts[i].text;
        }
    }
    return NULL;
}
