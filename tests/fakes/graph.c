/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - what streams record, and graphs that are made of it. A call that must not be made
 * meanwhile fails and spoils the recording, as with the vendors: to wait for the stream or its
 * context, to ask for its state, and, except in the relaxed mode, to allocate or free memory.
 */
#include "tests/fakes/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    struct part *next;
    fake_work work;
    size_t bytes;
    _Alignas(16) char data[];
} part;

struct fake_graph {
    fake_context *context;
    part *first, **last;
    int count;
    atomic_int references, running;
    /* While it is recorded. */
    struct fake_graph *next;
    pthread_t thread;
    int mode;
    atomic_bool spoiled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_graph *recorded; /* at present */

static fake_graph *make(fake_context *context)
{
    fake_graph *graph = calloc(1, sizeof *graph);
    if (graph) {
        graph->context = context;
        graph->last = &graph->first;
        atomic_init(&graph->references, 1);
    }
    return graph;
}

int fake_graph_destroy(fake_graph *graph)
{
    if (!graph) {
        return FAKE_INVALID_VALUE;
    }
    if (atomic_fetch_sub(&graph->references, 1) > 1) {
        return FAKE_OK; /* a launch is pending */
    }
    while (graph->first) {
        part *gone = graph->first;
        graph->first = gone->next;
        free(gone);
    }
    free(graph);
    return FAKE_OK;
}

/* ---- recording ------------------------------------------------------------------------------- */

int fake_record_begin(fake_context *context, int mode, fake_graph **out)
{
    fake_graph *graph = mode < 0 || mode > FAKE_RELAXED ? NULL : make(context);
    if (!graph) {
        return mode < 0 || mode > FAKE_RELAXED ? FAKE_INVALID_VALUE : FAKE_OUT_OF_MEMORY;
    }
    graph->thread = pthread_self();
    graph->mode = mode;
    (void)pthread_mutex_lock(&lock);
    graph->next = recorded;
    recorded = graph;
    (void)pthread_mutex_unlock(&lock);
    *out = graph;
    return FAKE_OK;
}

int fake_record_end(fake_graph *graph)
{
    (void)pthread_mutex_lock(&lock);
    fake_graph **at = &recorded;
    while (*at != graph) {
        at = &(*at)->next;
    }
    *at = graph->next;
    (void)pthread_mutex_unlock(&lock);
    if (!atomic_load(&graph->spoiled)) {
        return FAKE_OK;
    }
    (void)fake_graph_destroy(graph);
    return FAKE_RECORD_SPOILED;
}

int fake_record_spoil(fake_graph *graph)
{
    atomic_store(&graph->spoiled, true);
    return FAKE_RECORD_UNSUPPORTED;
}

static int add(fake_graph *graph, fake_work work, const void *data, size_t bytes)
{
    part *made = malloc(sizeof *made + bytes);
    if (!made) {
        return FAKE_OUT_OF_MEMORY;
    }
    made->next = NULL;
    made->work = work;
    made->bytes = bytes;
    memcpy(made->data, data, bytes);
    *graph->last = made;
    graph->last = &made->next;
    return FAKE_OK;
}

int fake_record_add(fake_graph *graph, fake_work work, const void *data, size_t bytes)
{
    if (++graph->count == fake_setting("FAKE_RECORD", 0)) {
        atomic_store(&graph->spoiled, true);
    }
    if (atomic_load(&graph->spoiled)) {
        return FAKE_RECORD_SPOILED;
    }
    return add(graph, work, data, bytes);
}

int fake_record_forbids(const fake_context *context, bool waits)
{
    int code = FAKE_OK;
    (void)pthread_mutex_lock(&lock);
    for (fake_graph *at = recorded; at; at = at->next) {
        if (at->context == context &&
            (waits || at->mode == FAKE_GLOBAL ||
             (at->mode == FAKE_OF_THREAD && pthread_equal(at->thread, pthread_self())))) {
            code = fake_record_spoil(at);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return code;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

int fake_graph_instantiate(const fake_graph *graph, fake_graph **out)
{
    fake_graph *made = graph ? make(graph->context) : NULL;
    if (!made) {
        return graph ? FAKE_OUT_OF_MEMORY : FAKE_INVALID_VALUE;
    }
    int code = FAKE_OK;
    for (const part *at = graph->first; at && !code; at = at->next) {
        code = add(made, at->work, at->data, at->bytes);
    }
    if (code) {
        (void)fake_graph_destroy(made);
        return code;
    }
    *out = made;
    return FAKE_OK;
}

static int run(void *data)
{
    fake_graph *graph;
    int code = FAKE_OK;
    memcpy(&graph, data, sizeof graph);
    if (atomic_exchange(&graph->running, 1)) {
        fprintf(stderr, "fake: two launches of a graph run at once\n");
        code = FAKE_LAUNCH_FAILED;
    }
    for (part *at = graph->first; at && !code; at = at->next) {
        code = at->work(at->data);
    }
    atomic_store(&graph->running, 0);
    (void)fake_graph_destroy(graph);
    return code;
}

int fake_graph_launch(fake_graph *graph, fake_stream *stream)
{
    if (!graph || graph->context != fake_stream_context(stream)) {
        return FAKE_INVALID_VALUE;
    }
    atomic_fetch_add(&graph->references, 1);
    const int code = fake_stream_submit(stream, run, &graph, sizeof graph);
    if (code) {
        (void)fake_graph_destroy(graph);
    }
    return code;
}
