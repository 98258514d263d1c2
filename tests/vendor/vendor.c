/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor.c SPEC NAMES [LIBRARY]: what a device's vendor library has of the newer operations gives
 * what a plain model gives, and what it lacks is UNSUPPORTED. NAMES is a list of what it must have,
 * separated by commas: c64, c128 (products), f16, bf16 (with results of f32), i8, and syrk and trsm
 * with a type: "syrk-f32". Or "none". Without any library the program ends with 77.
 */
#include "tests/vendor/model.h"

static bool listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name)) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static iso_status supports_gemm(const bench *self, iso_dtype dtype, iso_dtype dtype_c)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = dtype;
    args.dtype_c = dtype_c;
    args.variant = ISO_VARIANT_VENDOR;
    args.library = self->library;
    args.m = args.n = args.k = 8;
    return iso_supports(self->device, ISO_OP_GEMM, &args);
}

static iso_status supports_syrk(const bench *self, iso_dtype dtype)
{
    iso_syrk_args args = ISO_SYRK_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.library = self->library;
    args.triangle = ISO_LOWER;
    args.n = args.k = 8;
    return iso_supports(self->device, ISO_OP_SYRK, &args);
}

static iso_status supports_trsm(const bench *self, iso_dtype dtype)
{
    iso_trsm_args args = ISO_TRSM_ARGS_INIT;
    args.dtype = dtype;
    args.variant = ISO_VARIANT_VENDOR;
    args.library = self->library;
    args.triangle = ISO_LOWER;
    args.m = args.n = 8;
    return iso_supports(self->device, ISO_OP_TRSM, &args);
}

/* Ends the program if there is no library. */
static void need_library(const bench *self, const char *list)
{
    const iso_status narrow = supports_gemm(self, ISO_F32, ISO_F32);
    const iso_status status = narrow ? supports_gemm(self, ISO_F64, ISO_F64) : ISO_OK;
    if (status == ISO_UNSUPPORTED && strcmp(list, "none") != 0) {
        (void)printf("SKIP: %s\n", iso_last_error());
        exit(77);
    }
    CHECK_OK(status);
}

/* Whether to run it. */
static bool settle(bench *self, const char *list, const char *name, iso_status is)
{
    const iso_status wanted = listed(list, name) ? ISO_OK : ISO_UNSUPPORTED;
    if (is != wanted) {
        (void)printf("WRONG: %s: %s is %s, not %s: %s\n", self->spec, name, iso_status_name(is),
                     iso_status_name(wanted), is ? iso_last_error() : "");
        self->failures++;
    } else if (is) {
        (void)printf("%s: %s: %s\n", self->spec, name, iso_last_error());
    }
    return is == ISO_OK;
}

static void check_all(bench *self, const char *list)
{
    static const struct {
        const char *name;
        iso_dtype dtype, dtype_c;
    } products[] = {{"c64", ISO_C64, ISO_C64},
                    {"c128", ISO_C128, ISO_C128},
                    {"f16", ISO_F16, ISO_F32},
                    {"bf16", ISO_BF16, ISO_F32},
                    {"i8", ISO_I8, ISO_I32}};
    static const iso_dtype types[] = {ISO_F32, ISO_F64, ISO_C64, ISO_C128};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        if (settle(self, list, products[i].name,
                   supports_gemm(self, products[i].dtype, products[i].dtype_c))) {
            check_gemm(self, products[i].dtype, products[i].dtype_c);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "syrk-%s", iso_dtype_name(types[i]));
        if (settle(self, list, name, supports_syrk(self, types[i]))) {
            check_syrk(self, types[i]);
        }
        (void)snprintf(name, sizeof name, "trsm-%s", iso_dtype_name(types[i]));
        if (settle(self, list, name, supports_trsm(self, types[i]))) {
            check_trsm(self, types[i]);
        }
    }
}

int main(int argc, char **argv)
{
    CHECK(argc >= 3);
    bench self = {.spec = argv[1], .library = argc > 3 ? atoi(argv[3]) : 0};
    const iso_status opened = iso_device_open(self.spec, &self.device);
    if (opened == ISO_UNAVAILABLE) {
        (void)printf("SKIP: %s\n", iso_last_error());
        return 77;
    }
    CHECK_OK(opened);
    need_library(&self, argv[2]);
    self.stream = check_stream(self.device, 0);
    check_all(&self, argv[2]);
    CHECK_OK(iso_stream_destroy(self.stream));
    CHECK_OK(iso_device_close(self.device));
    (void)printf("%s: %lld runs, %lld wrong\n", self.spec, (long long)self.runs,
                 (long long)self.failures);
    return self.failures || (self.runs == 0) != (strcmp(argv[2], "none") == 0) ? 1 : 0;
}
