/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - the CPU backend's descriptor, and the dispatch from an operation's kind to its table.
 */
#include "backends/openmp/gemm.h"
#include "backends/openmp/runtime.h"
#include "openmp_kernels.h"

#include <stdio.h>
#include <string.h>

const iso_host *cpu_host;

#if defined(__clang__)
#define BACKEND_COMPILER "clang " __clang_version__
#else
#define BACKEND_COMPILER "gcc " __VERSION__
#endif

static const char build_info[] =
    "openmp " ISO_VERSION_STRING ", " BACKEND_COMPILER ", kernels: " CPU_KERNEL_SETS;

static iso_status probe(iso_probe *out)
{
    out->state = ISO_STATE_OK;
    out->devices = 1;
    out->reason[0] = '\0';
    return ISO_OK;
}

extern const cpu_operation cpu_gemm, cpu_transpose, cpu_reduce, cpu_map, cpu_gemv, cpu_spmv,
    cpu_ranks, cpu_finish, cpu_solve, cpu_syrk, cpu_trsm;

static const cpu_operation *find(iso_op_kind kind)
{
    static const cpu_operation *const operations[] = {
        [ISO_OP_GEMM] = &cpu_gemm,     [ISO_OP_TRANSPOSE] = &cpu_transpose,
        [ISO_OP_REDUCE] = &cpu_reduce, [ISO_OP_MAP] = &cpu_map,
        [ISO_OP_GEMV] = &cpu_gemv,     [ISO_OP_SPMV] = &cpu_spmv,
        [ISO_OP_RANKS] = &cpu_ranks,   [ISO_OP_FINISH] = &cpu_finish,
        [ISO_OP_SOLVE] = &cpu_solve,   [ISO_OP_SYRK] = &cpu_syrk,
        [ISO_OP_TRSM] = &cpu_trsm,
    };
    if ((size_t)kind < sizeof operations / sizeof operations[0] && operations[kind]) {
        return operations[kind];
    }
    (void)cpu_host->fail(ISO_UNSUPPORTED, "the openmp backend does not know operation kind %d",
                         (int)kind);
    return NULL;
}

static iso_status supports(void *device, const iso_op *op)
{
    const cpu_operation *operation = find(op->kind);
    if (!operation) {
        return ISO_UNSUPPORTED;
    }
    return operation->supports ? operation->supports(device, op) : ISO_OK;
}

static iso_status workspace(void *device, const iso_op *op, int64_t *bytes)
{
    const cpu_operation *operation = find(op->kind);
    if (!operation) {
        return ISO_UNSUPPORTED;
    }
    *bytes = operation->workspace ? operation->workspace(device, op) : 0;
    return ISO_OK;
}

/* The kernels are compiled in, so nothing is built here. The query opens the BLAS library if the
 * operation needs it. */
static iso_status prepare(void *stream, const iso_op *op)
{
    return supports(cpu_stream_device(stream), op);
}

static iso_status describe(void *device, const iso_op *op, iso_op_info *out)
{
    const cpu_operation *operation = find(op->kind);
    if (!operation) {
        return ISO_UNSUPPORTED;
    }
    operation->describe(device, op, out);
    return ISO_OK;
}

static iso_status execute(void *stream, const iso_op *op)
{
    const cpu_operation *operation = find(op->kind);
    return operation ? cpu_stream_execute(stream, operation, op) : ISO_UNSUPPORTED;
}

static iso_status way_name(void *device, const iso_op *op, int32_t index, char *name,
                           int64_t capacity)
{
    if (op->kind != ISO_OP_GEMM || index >= gemm_way_count(device, op->gemm->dtype)) {
        return ISO_NOT_READY;
    }
    (void)snprintf(name, (size_t)capacity, "%s", gemm_way_names[index]);
    return ISO_OK;
}

static iso_status kernels_identity(void *device, char *text, int64_t capacity)
{
    (void)device;
    (void)snprintf(text, (size_t)capacity, "%s, kernels %s", BACKEND_COMPILER, OPENMP_KERNELS);
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_FORK_SAFE | ISO_BACKEND_HOST_MEMORY,
    .name = "openmp",
    .build_info = build_info,
    .probe = probe,
    .device_info = cpu_device_info,
    .device_open = cpu_device_open,
    .device_close = cpu_device_close,
    .device_property = cpu_device_property,
    .memory_alloc = cpu_memory_alloc,
    .memory_free = cpu_memory_free,
    .host_alloc = cpu_host_alloc,
    .host_free = cpu_host_free,
    .host_register = cpu_host_register,
    .host_unregister = cpu_host_unregister,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .stream_sync = cpu_stream_sync,
    .stream_query = cpu_stream_query,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .stream_wait = cpu_stream_wait,
    .event_sync = cpu_event_sync,
    .event_query = cpu_event_query,
    .event_elapsed = cpu_event_elapsed,
    .transfer = cpu_transfer_submit,
    .supports = supports,
    .workspace = workspace,
    .execute = execute,
    .prepare = prepare,
    .describe = describe,
    .device_adopt = cpu_device_adopt,
    .stream_adopt = cpu_stream_adopt,
    .memory_import = cpu_memory_import,
    .memory_forget = cpu_memory_forget,
    .native_get = cpu_native_get,
    .dlpack_device = cpu_dlpack_device,
    .telemetry = cpu_device_telemetry,
    .program_build = cpu_program_build,
    .program_release = cpu_program_release,
    .program_launch = cpu_program_launch,
    .chip_get = cpu_chip_get,
    .program_try = cpu_program_try,
    .engine = &cpu_engine,
    .stream_call = cpu_stream_call,
    .graph_open = cpu_graph_open,
    .graph_begin = cpu_graph_begin,
    .graph_end = cpu_graph_end,
    .graph_launch = cpu_graph_launch,
    .graph_close = cpu_graph_close,
    .way_name = way_name,
    .kernels_identity = kernels_identity,
};

const iso_backend *isomer_builtin_openmp_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_builtin_openmp_query(uint32_t host_abi, const iso_host *host)
{
    if (host_abi >> 16 != ISO_ABI_MAJOR) {
        return NULL;
    }
    cpu_host = host;
    return &descriptor;
}
