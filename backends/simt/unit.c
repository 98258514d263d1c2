/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - decides whether a device's matrix units are used. They are tested on each device before
 * their first use. The verdict is kept in the program cache, under a key with the device, its
 * driver, its compiler and the text of the test.
 */
#include "backends/simt/unit.h"

#include <stdio.h>
#include <string.h>

static const simt_unit_test *const tests[SIMT_UNITS] = {
    [SIMT_UNIT_F64] = &simt_unit_test_f64,
    [SIMT_UNIT_BYTES] = &simt_unit_test_bytes,
    [SIMT_UNIT_WAVE_F64] = &simt_unit_test_wave_f64,
    [SIMT_UNIT_WAVE_F32] = &simt_unit_test_wave_f32,
};

void simt_unit_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    const char *problem = NULL;
    for (int unit = 0; unit < SIMT_UNITS; unit++) {
        if (tests[unit]->has(limits, &problem)) {
            const simt_spec spec = tests[unit]->spec(limits);
            visit(&spec, context);
        }
    }
}

/* ---- the test -------------------------------------------------------------------------------- */

/* Computes the results on the device. */
static iso_status run_on(simt_stream *stream, const simt_unit_test *test, void *memory, char *host)
{
    const simt_driver *driver = stream->device->driver;
    const iso_transfer write = {.size = (uint32_t)sizeof write,
                                .kind = ISO_TRANSFER_WRITE,
                                .to = {.memory = memory},
                                .host_from = host,
                                .to_pitch = test->in,
                                .from_pitch = test->in,
                                .width = test->in,
                                .height = 1};
    const iso_transfer read = {.size = (uint32_t)sizeof read,
                               .kind = ISO_TRANSFER_READ,
                               .from = {.memory = memory, .offset = test->in},
                               .host_to = host + test->in,
                               .to_pitch = test->out,
                               .from_pitch = test->out,
                               .width = test->out,
                               .height = 1};
    iso_status status = driver->transfer(stream, &write);
    if (!status) {
        status = test->launch(stream, memory);
    }
    if (!status) {
        status = driver->transfer(stream, &read);
    }
    const iso_status synced = driver->stream_sync(stream);
    return status ? status : synced;
}

static iso_status run(simt_device *device, const simt_unit_test *test, char *host)
{
    const simt_driver *driver = device->driver;
    simt_stream stream = {.device = device};
    void *memory = NULL;
    iso_status status = driver->stream_create(&stream);
    if (status) {
        return status;
    }
    status = driver->memory_alloc(device->native, test->in + test->out, &memory);
    if (!status) {
        status = run_on(&stream, test, memory, host);
        driver->memory_free(device, memory);
    }
    driver->stream_destroy(&stream);
    return status;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* What is kept: "good", or the reason why the unit is not used. */
static simt_verdict find_kept(simt_device *device, char *reason, const char *key, int64_t key_bytes)
{
    int64_t bytes = 0;
    char *kept = key ? device->host->cache_load(key, key_bytes, &bytes) : NULL;
    if (!kept) {
        return SIMT_UNIT_UNKNOWN;
    }
    const bool good = bytes == 4 && memcmp(kept, "good", 4) == 0;
    (void)snprintf(reason, SIMT_UNIT_REASON, "%.*s", (int)bytes, kept);
    device->host->free(kept);
    return good ? SIMT_UNIT_GOOD : SIMT_UNIT_BAD;
}

/* If the test cannot be run now, the unit is not used until the device is closed, but nothing is
 * kept. */
static simt_verdict try_unit(simt_device *device, const simt_unit_test *test, char *reason,
                             const char *key, int64_t key_bytes)
{
    const size_t room = SIMT_UNIT_REASON;
    char *host = device->host->alloc(test->in + test->out);
    simt_verdict verdict = SIMT_UNIT_BAD;
    if (!host) {
        (void)snprintf(reason, room, "its test had no host memory");
        return verdict;
    }
    test->make(host);
    const iso_status status = run(device, test, host);
    if (status == ISO_OK) {
        verdict = test->compare(host, host + test->in, reason, room);
    } else {
        (void)snprintf(reason, room, "its test %s (%s)",
                       status == ISO_COMPILE ? "does not compile" : "did not run",
                       iso_status_name(status));
    }
    device->host->free(host);
    if (key && (status == ISO_OK || status == ISO_COMPILE)) {
        const char *kept = verdict == SIMT_UNIT_GOOD ? "good" : reason;
        (void)device->host->cache_store(key, key_bytes, kept, (int64_t)strlen(kept));
    }
    device->host->log(
        verdict == SIMT_UNIT_GOOD ? ISO_LOG_INFO : ISO_LOG_WARN, "%s: %s are %sused%s%s",
        device->driver->name, test->name, verdict == SIMT_UNIT_GOOD ? "" : "not ",
        verdict == SIMT_UNIT_GOOD ? "" : ": ", verdict == SIMT_UNIT_GOOD ? "" : reason);
    return verdict;
}

/* `try`: test the unit if nothing is known. */
static simt_verdict verdict_of(simt_device *device, simt_unit unit, bool try)
{
    simt_unit_state *state = &device->unit_states[unit];
    int verdict = atomic_load_explicit(&state->verdict, memory_order_acquire);
    if (verdict != SIMT_UNIT_UNKNOWN) {
        return (simt_verdict)verdict;
    }
    (void)pthread_mutex_lock(&device->unit_lock);
    verdict = atomic_load(&state->verdict);
    if (verdict == SIMT_UNIT_UNKNOWN) {
        const simt_spec spec = tests[unit]->spec(&device->limits);
        char *key = NULL;
        int64_t key_bytes = 0;
        (void)simt_spec_key(device, &spec, " verdict", &key, &key_bytes);
        verdict = (int)find_kept(device, state->reason, key, key_bytes);
        if (verdict == SIMT_UNIT_UNKNOWN && try) {
            verdict = (int)try_unit(device, tests[unit], state->reason, key, key_bytes);
        }
        device->host->free(key);
        atomic_store_explicit(&state->verdict, verdict, memory_order_release);
    }
    (void)pthread_mutex_unlock(&device->unit_lock);
    return (simt_verdict)verdict;
}

bool simt_unit_usable(simt_device *device, simt_unit unit)
{
    const char *problem = NULL;
    return tests[unit]->has(&device->limits, &problem) &&
           verdict_of(device, unit, true) == SIMT_UNIT_GOOD;
}

iso_status simt_unit_property(simt_device *device, int32_t index, iso_property *out)
{
    int unit = 0;
    const char *problem = NULL;
    bool usable = false;
    for (int32_t at = 0; unit < SIMT_UNITS; unit++) {
        usable = tests[unit]->has(&device->limits, &problem);
        if ((usable || problem) && at++ == index) {
            break;
        }
    }
    if (unit == SIMT_UNITS) {
        return ISO_NOT_READY;
    }
    const simt_verdict verdict =
        usable ? verdict_of(device, (simt_unit)unit, false) : SIMT_UNIT_BAD;
    (void)snprintf(out->name, sizeof out->name, "%s", tests[unit]->name);
    if (verdict == SIMT_UNIT_BAD) {
        (void)snprintf(out->value, sizeof out->value, "not used: %.500s",
                       problem ? problem : device->unit_states[unit].reason);
    } else if (verdict == SIMT_UNIT_GOOD) {
        (void)snprintf(out->value, sizeof out->value, "used");
    } else {
        (void)snprintf(out->value, sizeof out->value, "not tried yet: %s tries them",
                       tests[unit]->first_use);
    }
    return ISO_OK;
}
