/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - the engine `rccl`: fills the table of backends/simt/comm.h with RCCL, whose functions
 * have NCCL's names. */
#include "backends/hip/library.h"

#include <string.h>

static struct {
    simt_comm_api api;
    struct LOADER_TABLE(HIP_RCCL_OWN_SYMBOLS) own;
} rccl;
static const simt_comm table;

/* The file has the same name since ROCm 3. */
static bool open_rccl(simt_library *self)
{
    static char path[LOADER_PATH_MAX];
    if (!hip_open_beside(self, "librccl.so.1", path) || !simt_comm_accept(self, &table)) {
        return false;
    }
    if (!rccl.api.libAlltoAll) {
        const void *function = NULL;
        memcpy(&function, &rccl.own.ncclAllToAll, sizeof function);
        memcpy(&rccl.api.libAlltoAll, &function, sizeof function);
    }
    return true;
}

simt_library hip_comm_library = {
    .loader = {.title = "RCCL",
               .since = "RCCL " SIMT_COMM_OLDEST,
               .where = &hip_where,
               LOADER_FUNCTIONS(rccl, HIP_RCCL_SYMBOLS)},
    .open = open_rccl,
    .version_at = sizeof "RCCL",
};

static iso_status lost(simt_device *device, const char *what)
{
    hip_code code;
    HIP_ON((hip_device *)device->native, code, hip.hipStreamQuery(NULL));
    if (hip_status(code) == ISO_DEVICE_LOST) {
        return hip_check(device->native, code, "%s, and hipStreamQuery", what);
    }
    (void)hip.hipGetLastError(); /* "not ready" is a normal answer */
    return ISO_OK;
}

static const simt_comm table = {
    .api = &rccl.api,
    .library = &hip_comm_library,
    .host = &hip_host,
    .engine = "rccl",
    .prefix = "nccl",
    .code_names = {SIMT_COMM_CODES(SIMT_COMM_CODE_NAME, nccl)
                       SIMT_COMM_CODES_NEWER(SIMT_COMM_CODE_NAME, nccl)},
    .lost = lost,
};

SIMT_ENGINE(hip_engine, "rccl", table);
