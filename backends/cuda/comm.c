/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - the engine `nccl`: fills the table of backends/simt/comm.h with NCCL. */
#include "backends/cuda/library.h"

static simt_comm_api nccl;
static const simt_comm table;

static bool open_nccl(simt_library *self)
{
    return loader_open(&self->loader) && simt_comm_accept(self, &table);
}

simt_library cuda_comm_library = {
    .loader = {.title = "NCCL",
               .since = "NCCL " SIMT_COMM_OLDEST,
               .where = &cuda_where,
               .names = {"libnccl.so.2"},
               LOADER_FUNCTIONS(nccl, CUDA_NCCL_SYMBOLS)},
    .open = open_nccl,
    .version_at = sizeof "NCCL",
};

/* NCCL's own threads work in the primary context. */
static iso_status usable(simt_device *device)
{
    const cuda_device *native = device->native;
    cuda_context primary = native->context;
    if (!native->primary) {
        const cuda_code code = cu.cuDevicePrimaryCtxRetain(&primary, native->ordinal);
        if (code != CUDA_DONE) {
            return cuda_check(NULL, code, "cuDevicePrimaryCtxRetain(device %d)", native->index);
        }
        (void)cu.cuDevicePrimaryCtxRelease_v2(native->ordinal);
    }
    return primary == native->context
               ? ISO_OK
               : cuda_host->fail(ISO_UNSUPPORTED,
                                 "engine nccl: device %d was opened in context %p of the program, "
                                 "but NCCL works only in the device's primary context: open the "
                                 "device without a context",
                                 native->index, (void *)native->context);
}

static iso_status lost(simt_device *device, const char *what)
{
    cuda_code code;
    CUDA_ON((cuda_device *)device->native, code, cu.cuStreamQuery(NULL));
    return cuda_status(code) == ISO_DEVICE_LOST
               ? cuda_check(device->native, code, "%s, and cuStreamQuery", what)
               : ISO_OK;
}

static const simt_comm table = {
    .api = &nccl,
    .library = &cuda_comm_library,
    .host = &cuda_host,
    .engine = "nccl",
    .prefix = "nccl",
    .code_names = {SIMT_COMM_CODES(SIMT_COMM_CODE_NAME, nccl)
                       SIMT_COMM_CODES_NEWER(SIMT_COMM_CODE_NAME, nccl)},
    .usable = usable,
    .lost = lost,
};

SIMT_ENGINE(cuda_engine, "nccl", table);
