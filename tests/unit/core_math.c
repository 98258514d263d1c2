/* SPDX-License-Identifier: Apache-2.0 */
/* core_math.c SPEC MODE [WORDS] - TF32 is a permission. With it, the same variants are available as
 * without it, and iso_describe says what runs: MODE is `tf32` if the device has it and `strict` if
 * not; the reason then contains the WORDS. */
#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 4, CELLS = SIDE * SIDE, SKIP = 77 };

static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "FAILED: %d: %s: ", __LINE__, #condition);                       \
            (void)fprintf(stderr, __VA_ARGS__);                                                    \
            (void)fprintf(stderr, "\n");                                                           \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)
#define WORKS(call) CHECK((call) == ISO_OK, "%s", iso_last_error())

static iso_gemm_args product(iso_variant variant, iso_math math)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = ISO_F32;
    args.variant = variant;
    args.math = math;
    args.m = args.n = args.k = SIDE;
    return args;
}

static iso_op_info describe(iso_device device, const iso_gemm_args *args)
{
    iso_op_info info = ISO_OP_INFO_INIT;

    WORKS(iso_supports(device, ISO_OP_GEMM, args));
    WORKS(iso_describe(device, ISO_OP_GEMM, args, &info));
    return info;
}

static void multiply(iso_device device, iso_gemm_args args, float *out)
{
    iso_stream stream = {0};
    iso_buffer buffer = {0};
    float in[CELLS];

    for (int i = 0; i < CELLS; i++) {
        in[i] = 1.0f / (float)(i + 3); /* TF32 would round it */
    }
    WORKS(iso_stream_create(device, 0, &stream));
    WORKS(iso_buffer_create(device, 512, &buffer));
    args.a = args.b = (iso_operand){buffer, 0};
    args.c = (iso_operand){buffer, 256};
    WORKS(iso_write(stream, args.a, in, sizeof in));
    WORKS(iso_prepare(stream, ISO_OP_GEMM, &args));
    WORKS(iso_gemm(stream, &args));
    WORKS(iso_read(stream, out, args.c, sizeof in));
    WORKS(iso_stream_sync(stream));
    WORKS(iso_buffer_destroy(buffer));
    WORKS(iso_stream_destroy(stream));
}

/* A product that requests TF32 on a device without it: it runs strict, and the name says so. */
static void check_strict(iso_device device, const char *words)
{
    const iso_gemm_args strict = product(ISO_VARIANT_VENDOR, ISO_MATH_STRICT);
    const iso_gemm_args tf32 = product(ISO_VARIANT_VENDOR, ISO_MATH_TF32);
    const iso_op_info is = describe(device, &tf32), should = describe(device, &strict);
    float a[CELLS] = {0}, b[CELLS] = {1};

    CHECK(is.variant == ISO_VARIANT_VENDOR && is.math == ISO_MATH_STRICT, "%s, %s",
          iso_variant_name(is.variant), iso_math_name(is.math));
    CHECK(strstr(is.math_reason, words), "\"%s\" is not in \"%s\"", words, is.math_reason);
    CHECK(!should.math_reason[0], "%s", should.math_reason);
    CHECK(!strcmp(is.library, should.library) && !strcmp(is.kernel, should.kernel), "%s, %s",
          is.library, is.kernel);
    multiply(device, strict, a);
    multiply(device, tf32, b);
    CHECK(!memcmp(a, b, sizeof a), "%a and %a", (double)a[0], (double)b[0]);
}

static void check_tf32(iso_device device)
{
    const iso_gemm_args tf32 = product(ISO_VARIANT_VENDOR, ISO_MATH_TF32);
    const iso_op_info is = describe(device, &tf32);
    float out[CELLS] = {0};

    CHECK(is.variant == ISO_VARIANT_VENDOR && is.math == ISO_MATH_TF32, "%s, %s",
          iso_variant_name(is.variant), iso_math_name(is.math));
    CHECK(!is.math_reason[0], "%s", is.math_reason);
    multiply(device, tf32, out);
}

/* The meaning of `auto`, and whether each variant is available, with and without the permission. */
static void check_variants(iso_device device)
{
    for (int dtype = ISO_F16; dtype <= ISO_F64; dtype++) {
        for (int variant = ISO_VARIANT_AUTO; variant <= ISO_VARIANT_VENDOR; variant++) {
            iso_gemm_args with = product((iso_variant)variant, ISO_MATH_TF32);
            iso_gemm_args without = product((iso_variant)variant, ISO_MATH_STRICT);
            iso_op_info a = ISO_OP_INFO_INIT, b = ISO_OP_INFO_INIT;

            with.dtype = without.dtype = (iso_dtype)dtype;
            CHECK(iso_describe(device, ISO_OP_GEMM, &with, &a) ==
                      iso_describe(device, ISO_OP_GEMM, &without, &b),
                  "%s %s: %s", iso_variant_name((iso_variant)variant),
                  iso_dtype_name((iso_dtype)dtype), iso_last_error());
            CHECK(a.variant == b.variant, "%s is %s, and %s without TF32",
                  iso_variant_name((iso_variant)variant), iso_variant_name(a.variant),
                  iso_variant_name(b.variant));
            CHECK(!b.math_reason[0], "%s", b.math_reason);
            if (a.variant && a.math == ISO_MATH_STRICT) {
                CHECK(a.math_reason[0], "no reason: %s %s", iso_variant_name(a.variant),
                      iso_dtype_name((iso_dtype)dtype));
            }
        }
    }
}

/* Permission through ISOMER_MATH; an earlier failure stays recorded. */
static void check_default(iso_device device, const char *mode)
{
    iso_gemm_args args = product(ISO_VARIANT_AUTO, ISO_MATH_DEFAULT);
    iso_op_info info;

    args.m = -1;
    CHECK(iso_supports(device, ISO_OP_GEMM, &args) == ISO_INVALID, "%s", iso_last_error());
    args.m = SIDE;
    info = describe(device, &args);
    CHECK(info.variant == ISO_VARIANT_VENDOR, "%s", iso_variant_name(info.variant));
    CHECK(!strcmp(iso_math_name(info.math), mode), "%s", iso_math_name(info.math));
    CHECK(strstr(iso_last_error(), "m is -1"), "%s", iso_last_error());
}

int main(int argc, char **argv)
{
    const char *spec = argc > 1 ? argv[1] : "openmp", *mode = argc > 2 ? argv[2] : "strict";
    const iso_gemm_args strict = product(ISO_VARIANT_VENDOR, ISO_MATH_STRICT);
    iso_device device;

    (void)setenv("ISOMER_MATH", "tf32", 1);
    if (iso_device_open(spec, &device) != ISO_OK ||
        iso_supports(device, ISO_OP_GEMM, &strict) != ISO_OK) {
        (void)printf("SKIP: %s\n", iso_last_error());
        return SKIP;
    }
    if (!strcmp(mode, "tf32")) {
        check_tf32(device);
    } else {
        check_strict(device, argc > 3 ? argv[3] : "TF32");
    }
    check_variants(device);
    check_default(device, mode);
    WORKS(iso_device_close(device));
    return failures ? 1 : 0;
}
