/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - graphs of drivers that have them. A graph is a stream of its own, which records; it
 * stays as long as the graph, because vendors' libraries keep memory for a stream that uses them.
 */
#include "backends/simt/simt.h"

iso_status simt_graph_open(void *device, void **graph)
{
    simt_device *self = device;
    const simt_driver *driver = self->driver;
    /* The core prepares operations, not fills, whether the driver or the core keeps the graph. If
     * this fails, so does a fill that is recorded. */
    (void)simt_fill_prepare(self);
    if (!driver->graph_usable) {
        return self->host->fail(ISO_UNSUPPORTED, "the interface of the driver has no graphs");
    }
    const iso_status status = driver->graph_usable();
    return status ? status : simt_stream_create(device, 0, graph);
}

iso_status simt_graph_begin(void *graph)
{
    simt_stream *self = graph;
    (void)pthread_mutex_lock(&self->device->record_lock);
    const iso_status status = self->device->driver->graph_begin(self);
    if (!self->records) {
        (void)pthread_mutex_unlock(&self->device->record_lock);
    }
    return status;
}

iso_status simt_graph_end(void *graph)
{
    simt_stream *self = graph;
    const iso_status status = self->device->driver->graph_end(self);
    if (!self->records) {
        (void)pthread_mutex_unlock(&self->device->record_lock);
    }
    return status;
}

iso_status simt_graph_launch(void *stream, void *graph)
{
    simt_stream *self = stream;
    const iso_status late = simt_calls_late(self);
    return late ? late : self->device->driver->graph_run(self, ((simt_stream *)graph)->graph);
}

void simt_graph_close(void *graph)
{
    simt_stream *self = graph;
    const bool records = self->records;
    self->device->driver->graph_drop(self);
    if (records) {
        (void)pthread_mutex_unlock(&self->device->record_lock);
    }
    simt_stream_destroy(self);
}
