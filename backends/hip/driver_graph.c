/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_graph.c - graphs. The runtime records what is submitted to a stream of the graph's own,
 * while nothing else is done. In the relaxed mode it forbids no call to other threads, nor to this
 * one.
 */
#include "backends/hip/library.h"

iso_status hip_graph_usable(void)
{
    const char *missing = !hip.hipStreamBeginCapture ? "hipStreamBeginCapture"
                          : !hip.hipStreamEndCapture ? "hipStreamEndCapture"
                          : !hip.hipGraphInstantiate ? "hipGraphInstantiate"
                          : !hip.hipGraphLaunch      ? "hipGraphLaunch"
                          : !hip.hipGraphExecDestroy ? "hipGraphExecDestroy"
                          : !hip.hipGraphDestroy     ? "hipGraphDestroy"
                                                     : NULL;
    return !missing ? ISO_OK
                    : hip_host->fail(ISO_UNSUPPORTED, "the runtime has no function %s: update ROCm",
                                     missing);
}

iso_status hip_graph_begin(simt_stream *stream)
{
    hip_device *device = stream->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipStreamBeginCapture(stream->native, HIP_CAPTURE_RELAXED));
    stream->records = code == HIP_DONE;
    return hip_check(device, code, "hipStreamBeginCapture");
}

iso_status hip_graph_end(simt_stream *stream)
{
    hip_device *device = stream->device->native;
    const char *what = "hipStreamEndCapture";
    hip_graph recorded = NULL;
    hip_graph_exec made = NULL;
    const simt_scope scope = hip_enter(device);
    hip_code code = scope.code;
    if (code == HIP_DONE) {
        code = hip.hipStreamEndCapture(stream->native, &recorded);
        stream->records = false;
    }
    if (code == HIP_DONE) {
        what = "hipGraphInstantiate";
        code = hip.hipGraphInstantiate(&made, recorded, NULL, NULL, 0);
    }
    if (recorded) {
        (void)hip.hipGraphDestroy(recorded);
    }
    stream->graph = code == HIP_DONE ? made : NULL;
    hip_leave(scope);
    return hip_check(device, code, "%s", what);
}

void hip_graph_drop(simt_stream *stream)
{
    const simt_scope scope = hip_enter(stream->device->native);
    hip_graph recorded = NULL;
    hip_code code = HIP_DONE;
    if (scope.code == HIP_DONE && stream->records) {
        code = hip.hipStreamEndCapture(stream->native, &recorded);
    }
    if (recorded) {
        (void)hip.hipGraphDestroy(recorded);
    }
    if (scope.code == HIP_DONE && stream->graph) {
        (void)hip.hipGraphExecDestroy(stream->graph);
    }
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
    hip_leave(scope);
}

iso_status hip_graph_run(simt_stream *stream, void *graph)
{
    hip_device *device = stream->device->native;
    hip_code code;
    HIP_ON(device, code, hip.hipGraphLaunch(graph, stream->native));
    return hip_check(device, code, "hipGraphLaunch");
}
