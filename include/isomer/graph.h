/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - graphs: work that is recorded once and then launched as often as the program likes,
 * each time by one call. A launch checks none of the work again, and where the driver has graphs,
 * as CUDA's and HIP's have, it is one call of the driver.
 *
 * A stream, inline or not, records from iso_graph_begin to iso_graph_end. What is submitted to it
 * meanwhile is checked and prepared as always (programs are built, vendors' libraries opened), but
 * it does not run: it becomes part of the graph. A call that is refused (INVALID, MISMATCH,
 * UNSUPPORTED) is not part of it, and recording goes on: iso_graph_info.refused counts such calls.
 *
 * What can be recorded: every operation (iso_gemm, iso_map, iso_execute and so on), launches of the
 * program's own kernels, fills, copies within the device, writes and reads. Of host memory the
 * address is recorded: iso_write reads the contents, and iso_read writes them, when a launch runs.
 * So host memory, that of iso_host_alloc too, must stay usable until the last launch has finished,
 * and may be changed only while no launch is pending. Alpha, beta, patterns and the arguments of
 * kernels are recorded by value; to change one, record again.
 *
 * What cannot be recorded is refused with INVALID: waiting for the stream and asking for its state,
 * events, copies between devices, calls of communicators, iso_sparse_write, tensors that are
 * exported (iso_dlpack_export), launches of graphs, and iso_graph_begin. iso_prepare works as
 * always.
 *
 * A launch is ordered on its stream like any other work, and a late error of it is the stream's.
 * Launches of one graph run one after another, in the order of the calls, on whatever streams: a
 * graph has scratch memory of its own, which counts against the device's memory limit. Several
 * threads may launch one graph at once.
 *
 * A graph does not keep what it uses. Once one of its buffers, programs or sparse matrices is
 * destroyed, a launch is INVALID and gives the `id` of its handle. Destroying one waits for
 * launches that use it.
 */
#ifndef ISOMER_GRAPH_H
#define ISOMER_GRAPH_H

#include <isomer/stream.h>

ISO_BEGIN_DECLS

/* Work that was recorded. */
typedef struct iso_graph {
    uint64_t id;
} iso_graph;

/*
 * From here on the stream records. Work that was submitted before is not affected. INVALID: not a
 * stream, or it records already. NO_MEMORY, BACKEND: from the backend.
 */
ISO_API iso_status iso_graph_begin(iso_stream stream);

/*
 * Ends recording and makes the graph; the stream is as before, also if this fails. NULL for `out`
 * drops what was recorded. If a call failed while the stream recorded, for any reason other than
 * being refused (INVALID, MISMATCH, UNSUPPORTED), the graph would lack its work: no graph is made,
 * and the status and the text are those of that call. INVALID: the stream does not record, or
 * something that was recorded has been destroyed since. NO_MEMORY: host memory, the scratch memory,
 * or the driver's graph. COMPILE: a fill whose kernel did not build. DEVICE_LOST: from the backend.
 * A late error of the stream: see stream.h. Destroying a stream that records drops what was
 * recorded.
 *
 * On CUDA and HIP the driver records during this call. A call of the program's own that waits for
 * the whole device (cuCtxSynchronize, hipDeviceSynchronize) is refused by the driver meanwhile, and
 * the graph's work is then submitted in turn.
 */
ISO_API iso_status iso_graph_end(iso_stream stream, iso_graph *out);

/*
 * Submits the graph's work to a stream, which need not be the one that recorded it. If this fails
 * after part of the work was submitted, results of the work are undefined. INVALID: a wrong handle,
 * the stream records, or something that the graph uses was destroyed. MISMATCH: the stream belongs
 * to another device.
 */
ISO_API iso_status iso_graph_launch(iso_graph graph, iso_stream stream);

/* Waits for the graph's launches, and frees it. */
ISO_API iso_status iso_graph_destroy(iso_graph graph);

/* How a graph is launched. */
typedef struct iso_graph_info {
    uint32_t size;
    int32_t whole;         /* 1: at once, on cuda and hip by one call of the driver; 0: its work is
                              submitted in turn */
    int64_t works;         /* how much was recorded: operations, transfers and launches */
    int64_t refused;       /* operations, transfers and launches that are not in it */
    int64_t scratch_bytes; /* of the graph's scratch memory */
    char reason[ISO_NOTE_MAX]; /* why `whole` is 0; otherwise "" */
} iso_graph_info;
#define ISO_GRAPH_INFO_INIT ISO_INIT_OF(iso_graph_info)

/* Fills `*out` (set its size first). INVALID: not a graph, NULL, wrong size. */
ISO_API iso_status iso_graph_get_info(iso_graph graph, iso_graph_info *out);

ISO_END_DECLS

#endif
