/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_graph.c - graphs. The driver records what is submitted to a stream of the graph's own,
 * while nothing else is done. In the relaxed mode it forbids no call to other threads, nor to this
 * one.
 */
#include "backends/cuda/library.h"

iso_status cuda_graph_usable(void)
{
    if (cu.cuGraphInstantiateWithFlags) {
        return ISO_OK;
    }
    return cuda_host->fail(ISO_UNSUPPORTED,
                           "the driver has no function cuGraphInstantiateWithFlags: it supports "
                           "CUDA %d.%d, and 11.4 has the function; update the driver",
                           cuda_version / 1000, cuda_version % 1000 / 10);
}

iso_status cuda_graph_begin(simt_stream *stream)
{
    cuda_device *device = stream->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuStreamBeginCapture_v2(stream->native, CUDA_CAPTURE_RELAXED));
    stream->records = code == CUDA_DONE;
    return cuda_check(device, code, "cuStreamBeginCapture");
}

iso_status cuda_graph_end(simt_stream *stream)
{
    cuda_device *device = stream->device->native;
    const char *what = "cuStreamEndCapture";
    cuda_graph recorded = NULL;
    cuda_graph_exec made = NULL;
    const simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE) {
        code = cu.cuStreamEndCapture(stream->native, &recorded);
        stream->records = false;
    }
    if (code == CUDA_DONE) {
        what = "cuGraphInstantiate";
        code = cu.cuGraphInstantiateWithFlags(&made, recorded, 0);
    }
    if (recorded) {
        (void)cu.cuGraphDestroy(recorded);
    }
    stream->graph = code == CUDA_DONE ? made : NULL;
    cuda_leave(scope);
    return cuda_check(device, code, "%s", what);
}

void cuda_graph_drop(simt_stream *stream)
{
    const simt_scope scope = cuda_enter(stream->device->native);
    cuda_graph recorded = NULL;
    if (scope.code == CUDA_DONE && stream->records) {
        (void)cu.cuStreamEndCapture(stream->native, &recorded);
    }
    if (recorded) {
        (void)cu.cuGraphDestroy(recorded);
    }
    if (scope.code == CUDA_DONE && stream->graph) {
        (void)cu.cuGraphExecDestroy(stream->graph);
    }
    cuda_leave(scope);
}

iso_status cuda_graph_run(simt_stream *stream, void *graph)
{
    cuda_device *device = stream->device->native;
    cuda_code code;
    CUDA_ON(device, code, cu.cuGraphLaunch(graph, stream->native));
    return cuda_check(device, code, "cuGraphLaunch");
}
