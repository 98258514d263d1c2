/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_tuned.c - the device of plugin_keep.c with three ways of tiled for f32 products, two for
 * f64 and none for others, and a vendor's library whose name ISOMER_UNIT_LIBRARY gives. Its kernel
 * is named after the way. ISOMER_UNIT_IDENTITY is the identity of its kernels; without it they have
 * none that is known. With UNIT_OLDER its table and its version are those of a plug-in from before
 * ways. */
#define UNIT_TUNED
#define KEEP_QUERY keep_query
#include "tests/unit/plugin_keep.c"

static iso_status describe(void *device, const iso_op *op, iso_op_info *out)
{
    const char *library = getenv("ISOMER_UNIT_LIBRARY");

    (void)device;
    if (variant_of(op) == ISO_VARIANT_VENDOR) {
        snprintf(out->library, sizeof out->library, "%s", library ? library : "unit 1");
    }
    snprintf(out->kernel, sizeof out->kernel, "way %d",
             op->kind == ISO_OP_GEMM ? (int)op->gemm->way : 0);
    return ISO_OK;
}

static iso_status way_name(void *device, const iso_op *op, int32_t index, char *name,
                           int64_t capacity)
{
    static const char *const names[] = {"small", "large", "large-apart"};
    const int32_t count = op->gemm->dtype == ISO_F32 ? 3 : op->gemm->dtype == ISO_F64 ? 2 : 0;

    (void)device;
    if (index >= count) {
        return ISO_NOT_READY;
    }
    snprintf(name, (size_t)capacity, "%s", names[index]);
    return ISO_OK;
}

static iso_status kernels_identity(void *device, char *text, int64_t capacity)
{
    const char *identity = getenv("ISOMER_UNIT_IDENTITY");

    (void)device;
    if (!identity) {
        return core->fail(ISO_COMPILE, "this device lost its compiler");
    }
    snprintf(text, (size_t)capacity, "%s", identity);
    return ISO_OK;
}

__attribute__((visibility("default"))) const iso_backend *
isomer_backend_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    table = *keep_query(host_abi, host);
    table.name = "unit-tuned";
    table.describe = describe;
    table.way_name = way_name;
    table.kernels_identity = kernels_identity;
#if defined(UNIT_OLDER)
    table.name = "unit-tuned-older";
    table.abi_minor = 10;
    table.size = (uint32_t)offsetof(iso_backend, way_name);
#endif
    return &table;
}
