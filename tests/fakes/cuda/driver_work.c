/* SPDX-License-Identifier: Apache-2.0 */
/* driver_work.c - streams, events and kernels of the fake libcuda.so.1. */
#include "tests/fakes/cuda/driver.h"

#include <stdio.h>

static fake_event *event_of(cuda_event event)
{
    return (fake_event *)(void *)event;
}

/* ---- streams and events ---------------------------------------------------------------------- */

cuda_code cuStreamCreate(cuda_stream *stream, unsigned flags)
{
    fake_context *context = NULL;
    fake_stream *made = NULL;
    cuda_code code = fake_enter(&context);
    if (code || flags > 1) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    code = (cuda_code)fake_stream_create(context, &made);
    *stream = (cuda_stream)(void *)made;
    return code;
}

cuda_code cuStreamDestroy_v2(cuda_stream stream)
{
    return (cuda_code)fake_stream_destroy((fake_stream *)(void *)stream);
}

cuda_code cuStreamSynchronize(cuda_stream handle)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_stream_sync(stream);
}

cuda_code cuStreamQuery(cuda_stream handle)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_stream_query(stream);
}

cuda_code cuStreamWaitEvent(cuda_stream handle, cuda_event event, unsigned flags)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    if (code || flags) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    return (cuda_code)fake_stream_wait(stream, event_of(event));
}

cuda_code cuStreamWaitValue32_v2(cuda_stream handle, cuda_address address, uint32_t value,
                                 unsigned flags)
{
    fake_stream *stream = NULL;
    fake_range range;
    const cuda_code code = fake_enter_stream(handle, &stream);
    const void *word = (const void *)(uintptr_t)address;
    if (code) {
        return code;
    }
    if (flags != CUDA_WAIT_EQUAL || address % sizeof value || !fake_memory_find(word, &range) ||
        range.kind == FAKE_MEMORY_REGISTERED) {
        return FAKE_INVALID_VALUE;
    }
    return (cuda_code)fake_stream_wait_word(stream, word, value);
}

cuda_code cuStreamGetCtx(cuda_stream handle, cuda_context *context)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    if (code == FAKE_OK) {
        *context = (cuda_context)(void *)fake_stream_context(stream);
    }
    return code;
}

static fake_graph *graph_of(cuda_graph_exec exec)
{
    return (fake_graph *)(void *)exec;
}

cuda_code cuStreamBeginCapture_v2(cuda_stream handle, unsigned mode)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_stream_record(stream, (int)mode);
}

cuda_code cuStreamIsCapturing(cuda_stream handle, unsigned *state)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    if (code == FAKE_OK) {
        *state = fake_stream_records(stream) ? 1 : CUDA_CAPTURE_NONE;
    }
    return code;
}

cuda_code cuStreamEndCapture(cuda_stream handle, cuda_graph *graph)
{
    fake_stream *stream = NULL;
    fake_graph *made = NULL;
    cuda_code code = fake_enter_stream(handle, &stream);
    if (code == FAKE_OK) {
        code = (cuda_code)fake_stream_recorded(stream, &made);
    }
    *graph = (cuda_graph)(void *)made;
    return code;
}

cuda_code cuGraphInstantiateWithFlags(cuda_graph_exec *exec, cuda_graph graph,
                                      unsigned long long flags)
{
    fake_graph *made = NULL;
    const int code = flags ? FAKE_INVALID_VALUE
                           : fake_graph_instantiate((const fake_graph *)(void *)graph, &made);
    *exec = (cuda_graph_exec)(void *)made;
    return (cuda_code)code;
}

cuda_code cuGraphLaunch(cuda_graph_exec exec, cuda_stream handle)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_graph_launch(graph_of(exec), stream);
}

cuda_code cuGraphExecDestroy(cuda_graph_exec exec)
{
    return (cuda_code)fake_graph_destroy(graph_of(exec));
}

cuda_code cuGraphDestroy(cuda_graph graph)
{
    return (cuda_code)fake_graph_destroy((fake_graph *)(void *)graph);
}

cuda_code cuEventCreate(cuda_event *event, unsigned flags)
{
    fake_context *context = NULL;
    fake_event *made = NULL;
    cuda_code code = fake_enter(&context);
    if (code || flags > 7) {
        return code ? code : FAKE_INVALID_VALUE;
    }
    code = (cuda_code)fake_event_create(context, &made);
    *event = (cuda_event)(void *)made;
    return code;
}

cuda_code cuEventDestroy_v2(cuda_event event)
{
    return (cuda_code)fake_event_destroy(event_of(event));
}

cuda_code cuEventRecord(cuda_event event, cuda_stream handle)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    return code ? code : (cuda_code)fake_event_record(event_of(event), stream);
}

cuda_code cuEventSynchronize(cuda_event event)
{
    return (cuda_code)fake_event_sync(event_of(event));
}

cuda_code cuEventQuery(cuda_event event)
{
    return (cuda_code)fake_event_query(event_of(event));
}

cuda_code cuEventElapsedTime(float *milliseconds, cuda_event start, cuda_event stop)
{
    return (cuda_code)fake_event_elapsed(event_of(start), event_of(stop), milliseconds);
}

/* ---- programs -------------------------------------------------------------------------------- */

cuda_code cuModuleLoadData(cuda_module *module, const void *image)
{
    fake_context *context = NULL;
    fake_module *loaded = NULL;
    char target[16];
    cuda_code code = fake_enter(&context);
    (void)snprintf(target, sizeof target, "sm_%d", (int)fake_setting("FAKE_CHIP", CHIP));
    if (code == FAKE_OK) {
        code = (cuda_code)fake_module_load(image, target, &loaded);
        *module = (cuda_module)(void *)loaded;
    }
    return code;
}

cuda_code cuModuleUnload(cuda_module module)
{
    return (cuda_code)fake_module_unload((fake_module *)(void *)module);
}

cuda_code cuModuleGetFunction(cuda_function *function, cuda_module module, const char *name)
{
    fake_context *context = NULL;
    fake_kernel *kernel = NULL;
    cuda_code code = fake_enter(&context);
    if (code == FAKE_OK) {
        code = (cuda_code)fake_module_kernel((fake_module *)(void *)module, name, &kernel);
        *function = (cuda_function)(void *)kernel;
    }
    return code;
}

cuda_code cuFuncGetAttribute(int *value, cuda_attribute attribute, cuda_function function)
{
    const fake_kernel *kernel = (const fake_kernel *)(void *)function;
    if (!fake_kernel_known(kernel)) {
        return FAKE_INVALID_HANDLE;
    }
    *value = attribute == CUDA_KERNEL_THREADS     ? fake_kernel_threads(kernel)
             : attribute == CUDA_KERNEL_REGISTERS ? 32
                                                  : 0;
    return attribute < 16 ? FAKE_OK : FAKE_INVALID_VALUE;
}

static _Atomic int more_shared; /* what the last call allowed */

cuda_code cuFuncSetAttribute(cuda_function function, cuda_attribute attribute, int value)
{
    if (!fake_kernel_known((const fake_kernel *)(void *)function)) {
        return FAKE_INVALID_HANDLE;
    }
    if (attribute != CUDA_KERNEL_MORE_SHARED || value < 0 || value > 232448) {
        return FAKE_INVALID_VALUE;
    }
    more_shared = value;
    return FAKE_OK;
}

cuda_code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, cuda_function function,
                                                      int threads, size_t shared_bytes)
{
    (void)shared_bytes;
    if (threads < 1 || !fake_kernel_known((const fake_kernel *)(void *)function)) {
        return FAKE_INVALID_VALUE;
    }
    *groups = threads > 1024 ? 0 : 2048 / threads;
    return FAKE_OK;
}

static cuda_code launch(cuda_function function, const unsigned groups[3], const unsigned block[3],
                        unsigned shared_bytes, cuda_stream handle, void **arguments, void **extra,
                        bool early)
{
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(handle, &stream);
    if (code) {
        return code;
    }
    if (block[1] != 1 || block[2] != 1 || extra || (int)shared_bytes > more_shared) {
        return FAKE_INVALID_VALUE;
    }
    return (cuda_code)fake_launch(stream, (fake_kernel *)(void *)function, groups, block[0],
                                  arguments, early);
}

cuda_code cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cuda_stream handle, void **arguments, void **extra)
{
    return launch(function, (const unsigned[]){grid_x, grid_y, grid_z},
                  (const unsigned[]){block_x, block_y, block_z}, shared_bytes, handle, arguments,
                  extra, false);
}

/* The only attribute that is known: the kernel may begin early. */
struct CUlaunchConfig_st {
    unsigned groups[3], block[3], shared_bytes;
    cuda_stream stream;
    const struct {
        int id;
        char padding[4];
        int value;
        char room[60];
    } *attributes;
    unsigned attribute_count;
};

cuda_code cuLaunchKernelEx(const struct CUlaunchConfig_st *config, cuda_function function,
                           void **arguments, void **extra)
{
    enum { EARLY = 6 };
    fake_stream *stream = NULL;
    const cuda_code code = fake_enter_stream(config->stream, &stream);
    if (code) {
        return code;
    }
    if (config->attribute_count != 1 || config->attributes->id != EARLY) {
        return FAKE_INVALID_VALUE;
    }
    if (fake_stream_records(stream)) { /* some drivers cannot record it */
        return FAKE_NOT_SUPPORTED;
    }
    return launch(function, config->groups, config->block, config->shared_bytes, config->stream,
                  arguments, extra, config->attributes->value == 1);
}
