/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - decides whether a device's f64 matrix unit is used. A product may use it only if a chain
 * of its instructions has the bits of a chain of fma in ascending order (docs/bits.md, 4.2). No
 * vendor promises that. So the unit is tested on each device before its first use: on data with
 * wide exponents, subnormals, underflow to both zeros, overflow, infinities, NaN, cancellation and
 * ties, against the same chain by fma on the device and on the host. The verdict is kept in the
 * program cache, under a key with the device, its driver, its compiler and the text of the test.
 */
#include "backends/simt/simt.h"
#include "kernel_texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS = 16,
    COLS = 8,
    TERMS = 128,
    KINDS = 10,
    CASES = 5 * KINDS,
    WAYS = 4, /* of unit_f64.cl: by fma, and by instructions of 4, 8 and 16 terms */
    SIZE_A = ROWS * TERMS,
    SIZE_B = TERMS * COLS,
    SIZE_C = ROWS * COLS,
    CASE = SIZE_A + SIZE_B + SIZE_C,
    INPUTS = CASES * CASE,
    RESULTS = CASES * WAYS * SIZE_C
};

static const char *const unit_parts[] = {kernel_text_dialect, kernel_text_unit_f64};
static const simt_text unit_text = {
    .name = "unit_f64",
    .parts = unit_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_USE_F64", "ISO_UNIT", "ISO_CASES", "ISO_TERMS"},
    .kernels = {"unit_f64"},
};

static simt_spec spec_for(const simt_limits *limits)
{
    enum { TEAM = 32 };
    return (simt_spec){.text = &unit_text,
                       .values = {TEAM, ISO_F64, 1, limits->f64_unit, CASES, TERMS}};
}

void simt_unit_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    if (limits->f64_unit) {
        const simt_spec spec = spec_for(limits);
        visit(&spec, context);
    }
}

/* ---- the inputs ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t index)
{
    uint64_t z = (index + 1) * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number with a full fraction whose exponent is one of `span` from `low` on. */
static double wide(uint64_t m, int low, int span)
{
    const double fraction = 1.0 + (double)(m >> 12) * 0x1p-52;
    return ldexp(m & 1 ? -fraction : fraction, low + (int)(m >> 1 & 0x7ff) % span);
}

static double pick(uint64_t m, const double *from, int count)
{
    return (m & 1 ? -1.0 : 1.0) * from[(m >> 1) % (uint64_t)count];
}

/* An element of A or of B (`second`) in a case of a kind. */
static double element(int kind, bool second, uint64_t m)
{
    static const double ties[] = {1.0, 0x1p-53, 0x1.8p-53, 1.0 + 0x1p-52, 3.0};
    static const double rare[] = {INFINITY, NAN, 0.0, 0x1p-1074, 0x1.fffffffffffffp+1023};
    static const double small[] = {0.0, 0.0, 0.0, 0x1p-540, 0x1p-1074};
    switch (kind) {
    case 0:
        return wide(m, -3, 3);
    case 1:
        return wide(m, -20, 41);
    case 2:
        return wide(m, -300, 601);
    case 3: /* products are subnormal or underflow to a zero of either sign */
        return wide(m, -545, 41);
    case 4: /* sums overflow */
        return wide(m, 500, 12);
    case 5:
        return m >> 55 ? wide(m, -20, 41) : pick(m, rare, 5);
    case 6: /* subnormal factors */
        return second ? wide(m, 0, 60) : wide(m, -1074, 52);
    case 7:
        return pick(m, ties, 5);
    case 8: /* nothing but zeros and what underflows */
        return pick(m, small, 5);
    default: /* see cancel */
        return wide(m, -8, 17);
    }
}

/* Makes each odd term the opposite of the one before, but for the last bit of some. */
static void cancel(double *a, double *b)
{
    for (int k = 1; k < TERMS; k += 2) {
        for (int row = 0; row < ROWS; row++) {
            const double before = a[row * TERMS + k - 1];
            a[row * TERMS + k] = row % 3 ? -before : -nextafter(before, 0.0);
        }
        memcpy(b + (size_t)k * COLS, b + (size_t)(k - 1) * COLS, COLS * sizeof *b);
    }
}

static void make_inputs(double *to)
{
    uint64_t index = 0;
    for (int each = 0; each < CASES; each++, to += CASE) {
        const int kind = each % KINDS;
        for (int i = 0; i < SIZE_A + SIZE_B; i++) {
            to[i] = element(kind, i >= SIZE_A, mix(index++));
        }
        /* Half of the cases begin with a zero of either sign, as a product does with +0. */
        for (int i = 0; i < SIZE_C; i++) {
            const uint64_t m = mix(index++);
            to[SIZE_A + SIZE_B + i] = each % 2 ? (m & 1 ? -0.0 : 0.0) : element(kind, false, m);
        }
        if (kind == KINDS - 1) {
            cancel(to, to + SIZE_A);
        }
    }
}

/* ---- the comparison -------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return (isnan(a) && isnan(b)) || bits[0] == bits[1];
}

/* Writes what differs, if anything does. */
static simt_verdict compare(const double *inputs, const double *results, char *reason, size_t room)
{
    static const int terms[WAYS] = {1, 4, 8, 16};
    for (int each = 0; each < CASES; each++) {
        const double *a = inputs + (size_t)each * CASE;
        const double *b = a + SIZE_A;
        for (int at = 0; at < SIZE_C; at++) {
            double sum = b[SIZE_B + at];
            for (int k = 0; k < TERMS; k++) {
                sum = fma(a[at / COLS * TERMS + k], b[k * COLS + at % COLS], sum);
            }
            for (int way = 0; way < WAYS; way++) {
                const double got = results[(each * WAYS + way) * SIZE_C + at];
                if (!same(got, sum)) {
                    (void)snprintf(reason, room,
                                   "%s%d of its terms at a time gave %a in case %d of its test, "
                                   "and the chain of fma is %a",
                                   way ? "" : "fma, not the unit: ", terms[way], got, each, sum);
                    return SIMT_UNIT_BAD;
                }
            }
        }
    }
    return SIMT_UNIT_GOOD;
}

/* ---- the test -------------------------------------------------------------------------------- */

/* Computes the results on the device. */
static iso_status run_on(simt_stream *stream, void *memory, double *host)
{
    const simt_driver *driver = stream->device->driver;
    const simt_spec spec = spec_for(&stream->device->limits);
    const simt_kernel *kernel = NULL;
    const int64_t in = (int64_t)INPUTS * 8;
    const int64_t out = (int64_t)RESULTS * 8;
    const iso_transfer write = {.size = (uint32_t)sizeof write,
                                .kind = ISO_TRANSFER_WRITE,
                                .to = {.memory = memory},
                                .host_from = host,
                                .to_pitch = in,
                                .from_pitch = in,
                                .width = in,
                                .height = 1};
    const iso_transfer read = {.size = (uint32_t)sizeof read,
                               .kind = ISO_TRANSFER_READ,
                               .from = {.memory = memory, .offset = in},
                               .host_to = host + INPUTS,
                               .to_pitch = out,
                               .from_pitch = out,
                               .width = out,
                               .height = 1};
    const simt_arg args[] = {SIMT_MEMORY(memory)};
    iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    if (status) {
        return status;
    }
    status = driver->transfer(stream, &write);
    if (!status) {
        status = SIMT_LAUNCH(stream, kernel, (int64_t)CASES * WAYS, args);
    }
    if (!status) {
        status = driver->transfer(stream, &read);
    }
    const iso_status synced = driver->stream_sync(stream);
    return status ? status : synced;
}

static iso_status run(simt_device *device, double *host)
{
    const simt_driver *driver = device->driver;
    simt_stream stream = {.device = device};
    void *memory = NULL;
    iso_status status = driver->stream_create(&stream);
    if (status) {
        return status;
    }
    status = driver->memory_alloc(device->native, (int64_t)(INPUTS + RESULTS) * 8, &memory);
    if (!status) {
        status = run_on(&stream, memory, host);
        driver->memory_free(device, memory);
    }
    driver->stream_destroy(&stream);
    return status;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* What is kept: "good", or the reason why the unit is not used. */
static simt_verdict find_kept(simt_device *device, const char *key, int64_t key_bytes)
{
    int64_t bytes = 0;
    char *kept = key ? device->host->cache_load(key, key_bytes, &bytes) : NULL;
    if (!kept) {
        return SIMT_UNIT_UNKNOWN;
    }
    const bool good = bytes == 4 && memcmp(kept, "good", 4) == 0;
    (void)snprintf(device->unit_reason, sizeof device->unit_reason, "%.*s", (int)bytes, kept);
    device->host->free(kept);
    return good ? SIMT_UNIT_GOOD : SIMT_UNIT_BAD;
}

/* If the test cannot be run now, the unit is not used until the device is closed, but nothing is
 * kept. */
static simt_verdict test(simt_device *device, const char *key, int64_t key_bytes)
{
    char *reason = device->unit_reason;
    const size_t room = sizeof device->unit_reason;
    double *host = device->host->alloc((int64_t)(INPUTS + RESULTS) * 8);
    simt_verdict verdict = SIMT_UNIT_BAD;
    if (!host) {
        (void)snprintf(reason, room, "its test had no host memory");
        return verdict;
    }
    make_inputs(host);
    const iso_status status = run(device, host);
    if (status == ISO_OK) {
        verdict = compare(host, host + INPUTS, reason, room);
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
    device->host->log(verdict == SIMT_UNIT_GOOD ? ISO_LOG_INFO : ISO_LOG_WARN,
                      "%s: f64 matrix units are %sused%s%s", device->driver->name,
                      verdict == SIMT_UNIT_GOOD ? "" : "not ",
                      verdict == SIMT_UNIT_GOOD ? "" : ": ",
                      verdict == SIMT_UNIT_GOOD ? "" : reason);
    return verdict;
}

/* `try`: test the unit if nothing is known. */
static simt_verdict verdict_of(simt_device *device, bool try)
{
    int verdict = atomic_load_explicit(&device->unit_verdict, memory_order_acquire);
    if (verdict != SIMT_UNIT_UNKNOWN) {
        return (simt_verdict)verdict;
    }
    (void)pthread_mutex_lock(&device->unit_lock);
    verdict = atomic_load(&device->unit_verdict);
    if (verdict == SIMT_UNIT_UNKNOWN) {
        const simt_spec spec = spec_for(&device->limits);
        char *key = NULL;
        int64_t key_bytes = 0;
        (void)simt_spec_key(device, &spec, " verdict", &key, &key_bytes);
        verdict = (int)find_kept(device, key, key_bytes);
        if (verdict == SIMT_UNIT_UNKNOWN && try) {
            verdict = (int)test(device, key, key_bytes);
        }
        device->host->free(key);
        atomic_store_explicit(&device->unit_verdict, verdict, memory_order_release);
    }
    (void)pthread_mutex_unlock(&device->unit_lock);
    return (simt_verdict)verdict;
}

bool simt_unit_usable(simt_device *device)
{
    return device->limits.f64_unit && verdict_of(device, true) == SIMT_UNIT_GOOD;
}

iso_status simt_unit_property(simt_device *device, iso_property *out)
{
    const char *problem = device->limits.f64_unit_problem;
    const simt_verdict verdict =
        device->limits.f64_unit ? verdict_of(device, false) : SIMT_UNIT_BAD;
    (void)snprintf(out->name, sizeof out->name, "f64 matrix units");
    if (verdict == SIMT_UNIT_BAD) {
        (void)snprintf(out->value, sizeof out->value, "not used: %.500s",
                       problem ? problem : device->unit_reason);
    } else {
        (void)snprintf(out->value, sizeof out->value, "%s",
                       verdict == SIMT_UNIT_GOOD
                           ? "used"
                           : "not tried yet: the first tiled product of f64 tries them");
    }
    return ISO_OK;
}
