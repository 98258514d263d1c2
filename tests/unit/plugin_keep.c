/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_keep.c - a device that does nothing, supports every variant but the one that
 * ISOMER_UNIT_REFUSES names, and expects fixed to be faster from k = 100. With UNIT_OLDER its table
 * and its version are those of a plug-in from before that entry. */
#define isomer_backend_query fork_query
#include "tests/unit/plugin_fork.c"
#undef isomer_backend_query
/* plugin_tuned.c includes this file, and has a query of its own. */
#if !defined(KEEP_QUERY)
#define KEEP_QUERY isomer_backend_query
#endif

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static iso_variant variant_of(const iso_op *op)
{
    switch (op->kind) {
    case ISO_OP_GEMM:
        return op->gemm->variant;
    case ISO_OP_GEMV:
        return op->gemv->variant;
    case ISO_OP_REDUCE:
        return op->reduce->variant;
    case ISO_OP_MAP:
        return op->map->variant;
    default:
        return op->transpose->variant;
    }
}

static iso_status supports(void *device, const iso_op *op)
{
    static const char *const names[] = {[ISO_VARIANT_NAIVE] = "naive",
                                        [ISO_VARIANT_TILED] = "tiled",
                                        [ISO_VARIANT_VENDOR] = "vendor",
                                        [ISO_VARIANT_PARTIALS] = "partials",
                                        [ISO_VARIANT_FIXED] = "fixed"};
    const char *refused = getenv("ISOMER_UNIT_REFUSES"), *name = names[variant_of(op)];

    (void)device;
    return refused && strcmp(refused, name) == 0
               ? core->fail(ISO_UNSUPPORTED, "this device refuses %s", name)
               : ISO_OK;
}

/* A variant other than fixed is a fault of the core. */
static int32_t prefers_fixed(void *device, const iso_op *op)
{
    const int64_t k = op->kind == ISO_OP_GEMM ? op->gemm->k : op->gemv->k;

    (void)device;
    return variant_of(op) == ISO_VARIANT_FIXED && k >= 100;
}

static iso_backend table;

__attribute__((visibility("default"))) const iso_backend *KEEP_QUERY(uint32_t host_abi,
                                                                     const iso_host *host);

const iso_backend *KEEP_QUERY(uint32_t host_abi, const iso_host *host)
{
    table = *fork_query(host_abi, host);
    table.name = "unit-keep";
    table.supports = supports;
    table.prefers_fixed = prefers_fixed;
#if defined(UNIT_OLDER) && !defined(UNIT_TUNED)
    table.name = "unit-keep-older";
    table.abi_minor = 5;
    table.size = (uint32_t)offsetof(iso_backend, prefers_fixed);
#endif
    return &table;
}
