/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c - through the public API: how the CPU backend handles a BLAS library that has chosen slow
 * kernels. ISOMER_BLAS names the library; the argument is the expected outcome:
 *
 *   corrected CORE   it is opened again and uses CORE, and OPENBLAS_CORETYPE is not left set
 *   user             OPENBLAS_CORETYPE was already set, and is respected
 *   before           the program had already loaded the library, so its core cannot be changed
 *   stuck            it stays loaded when it is closed
 *   refused          it has no better core
 *   none             there is no such library: vendor products are UNSUPPORTED, with a reason
 */
#include <isomer/isomer.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77 };

static int failures;

static void check(int right, const char *what, const char *seen)
{
    if (!right) {
        (void)fprintf(stderr, "FAILED: %s; seen: %s\n", what, seen);
        failures++;
    }
}

static void property(iso_device device, const char *name, char *value, size_t capacity)
{
    iso_property p = ISO_PROPERTY_INIT;
    value[0] = '\0';
    for (int32_t i = 0; iso_device_get_property(device, i, &p) == ISO_OK; i++) {
        if (strcmp(p.name, name) == 0) {
            (void)snprintf(value, capacity, "%s", p.value);
        }
    }
}

/* [1 2; 3 4] * [5 6; 7 8] through the library. */
static iso_status multiply(iso_device device)
{
    static const float a[4] = {1, 2, 3, 4};
    static const float b[4] = {5, 6, 7, 8};
    static const float product[4] = {19, 22, 43, 50};
    iso_stream stream = {0};
    iso_buffer buffer = {0};
    float c[4] = {0};
    iso_status status = iso_stream_create(device, 0, &stream);
    if (status == ISO_OK) {
        status = iso_buffer_create(device, 256, &buffer);
    }
    if (status == ISO_OK) {
        status = iso_write(stream, (iso_operand){buffer, 0}, a, sizeof a);
    }
    if (status == ISO_OK) {
        status = iso_write(stream, (iso_operand){buffer, 64}, b, sizeof b);
    }
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_VENDOR;
    args.m = args.n = args.k = 2;
    args.a = (iso_operand){buffer, 0};
    args.b = (iso_operand){buffer, 64};
    args.c = (iso_operand){buffer, 128};
    if (status == ISO_OK) {
        status = iso_gemm(stream, &args);
    }
    if (status == ISO_OK) {
        status = iso_read(stream, c, (iso_operand){buffer, 128}, sizeof c);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(stream);
    }
    for (int i = 0; status == ISO_OK && i < 4; i++) {
        check(fabsf(c[i] - product[i]) < 1e-3F, "the product is right", "another value");
    }
    if (buffer.id) {
        (void)iso_buffer_destroy(buffer);
    }
    if (stream.id) {
        (void)iso_stream_destroy(stream);
    }
    return status;
}

static void check_none(iso_device device, const char *remark)
{
    const char *path = getenv("ISOMER_BLAS");
    check(path && strstr(remark, path), "the remark names what was tried", remark);
    check(multiply(device) == ISO_UNSUPPORTED, "a vendor product is UNSUPPORTED", iso_last_error());
    check(path && strstr(iso_last_error(), path), "the reason names what was tried",
          iso_last_error());
}

static void check_core(iso_device device, const char *expected, const char *wanted)
{
    char core[256];
    char remark[ISO_REASON_MAX];
    property(device, "BLAS core", core, sizeof core);
    property(device, "BLAS remark", remark, sizeof remark);
    if (strcmp(expected, "none") == 0) {
        check_none(device, remark);
        return;
    }
    check(strcmp(core, wanted) == 0, "the core in use is the expected one", core);
    static const struct {
        const char *expected;
        const char *part;
    } remarks[] = {{"corrected", "took it for Prescott"},
                   {"user", "was set by the user"},
                   {"before", "the program had loaded it before"},
                   {"stuck", "stays loaded"},
                   {"refused", "ignored it"}};
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++) {
        if (strcmp(expected, remarks[i].expected) == 0) {
            check(strstr(remark, remarks[i].part) != NULL, remarks[i].part, remark);
        }
    }
    const char *left = getenv("OPENBLAS_CORETYPE");
    check((left != NULL) == (strcmp(expected, "user") == 0), "the variable is as it was",
          left ? left : "unset");
    check(multiply(device) == ISO_OK, "a vendor product runs", iso_last_error());
}

/* Below AVX2, Prescott is as good as any. */
static const char *best_core(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        return NULL;
    }
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? "SkylakeX"
               : "Haswell";
#else
    return NULL;
#endif
}

int main(int argc, char **argv)
{
    const char *expected = argc > 1 ? argv[1] : "";
    const char *best = best_core();
    const char *wanted = "Prescott";
    if (!best) {
        (void)printf("skipped: this processor has no AVX2\n");
        return SKIP;
    }
    if (strcmp(expected, "corrected") == 0) {
        wanted = argc > 2 ? argv[2] : best;
    }
    if (strcmp(expected, "before") == 0 && !dlopen(getenv("ISOMER_BLAS"), RTLD_NOW | RTLD_LOCAL)) {
        (void)fprintf(stderr, "FAILED: %s\n", dlerror());
        return 1;
    }
    iso_device device;
    if (iso_device_open("openmp", &device) != ISO_OK) {
        (void)fprintf(stderr, "FAILED: %s\n", iso_last_error());
        return 1;
    }
    check_core(device, expected, wanted);
    check(iso_device_close(device) == ISO_OK, "the device closes", iso_last_error());
    return failures ? 1 : 0;
}
