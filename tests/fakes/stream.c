/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - contexts, streams and events. Every stream has its own thread, so that work without a
 * wait is really still pending; FAKE_DELAY makes sure of that.
 */
#include "tests/fakes/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORD_MICROSECONDS = 20 }; /* between two reads of a word that a stream waits for */

typedef struct piece {
    struct piece *next;
    fake_work work;
    bool always; /* runs in a broken context too: it only records that it was reached */
    _Alignas(16) char data[];
} piece;

struct fake_stream {
    fake_context *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    piece *first, **last;
    bool busy, ending;
    fake_graph *records; /* NULL: what is submitted runs */
};

struct fake_event {
    fake_context *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t asked, reached; /* records */
    double time;            /* of the last record reached, in milliseconds */
    int references;
};

/* ---- live handles ---------------------------------------------------------------------------- */

static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static const void **handles;
static size_t handle_count, handle_capacity;

static void remember(const void *handle)
{
    (void)pthread_mutex_lock(&handles_lock);
    if (handle_count == handle_capacity) {
        handle_capacity = handle_capacity ? 2 * handle_capacity : 64;
        handles = realloc(handles, handle_capacity * sizeof *handles);
        if (!handles) {
            abort();
        }
    }
    handles[handle_count++] = handle;
    (void)pthread_mutex_unlock(&handles_lock);
}

static bool look(const void *handle, bool forget)
{
    bool found = false;
    (void)pthread_mutex_lock(&handles_lock);
    for (size_t i = 0; handle && i < handle_count && !found; i++) {
        if (handles[i] == handle) {
            found = true;
            if (forget) {
                handles[i] = handles[--handle_count];
            }
        }
    }
    (void)pthread_mutex_unlock(&handles_lock);
    return found;
}

/* ---- contexts -------------------------------------------------------------------------------- */

typedef struct default_stream {
    fake_context context; /* first, so that the pointers are interchangeable */
    pthread_mutex_t lock;
    fake_stream *stream;
} default_stream;

fake_context *fake_context_create(int device)
{
    default_stream *context = calloc(1, sizeof *context);
    if (!context) {
        return NULL;
    }
    context->context.device = device;
    (void)pthread_mutex_init(&context->lock, NULL);
    remember(context);
    return &context->context;
}

bool fake_context_known(const fake_context *context)
{
    return look(context, false);
}

int fake_context_error(fake_context *context)
{
    return __atomic_load_n(&context->error, __ATOMIC_SEQ_CST);
}

void fake_context_break(fake_context *context, int code)
{
    __atomic_store_n(&context->error, code, __ATOMIC_SEQ_CST);
}

fake_stream *fake_stream_default(fake_context *context)
{
    default_stream *own = (default_stream *)(void *)context;
    (void)pthread_mutex_lock(&own->lock);
    if (!own->stream) {
        (void)fake_stream_create(context, &own->stream);
    }
    (void)pthread_mutex_unlock(&own->lock);
    return own->stream;
}

/* ---- streams --------------------------------------------------------------------------------- */

static void wait_idle(fake_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    while (stream->busy || stream->first) {
        (void)pthread_cond_wait(&stream->changed, &stream->lock);
    }
    (void)pthread_mutex_unlock(&stream->lock);
}

/* The n-th stream of a context; NULL after the last. Handles of streams have their lowest bit set:
 * see `marked`. */
static fake_stream *stream_number(const fake_context *context, int number)
{
    fake_stream *found = NULL;
    (void)pthread_mutex_lock(&handles_lock);
    for (size_t i = 0; i < handle_count && !found; i++) {
        const uintptr_t bits = (uintptr_t)handles[i];
        fake_stream *stream = (fake_stream *)(bits & ~(uintptr_t)1);
        if ((bits & 1) && stream->context == context && number-- == 0) {
            found = stream;
        }
    }
    (void)pthread_mutex_unlock(&handles_lock);
    return found;
}

int fake_context_sync(fake_context *context)
{
    fake_stream *stream = NULL;
    const int code = fake_record_forbids(context, true);
    if (code) {
        return code;
    }
    for (int i = 0; (stream = stream_number(context, i)); i++) {
        wait_idle(stream);
    }
    return fake_context_error(context);
}

void fake_context_reset(fake_context *context)
{
    fake_stream *stream = NULL;
    while ((stream = stream_number(context, 0))) {
        wait_idle(stream);
        (void)fake_stream_destroy(stream);
    }
    ((default_stream *)(void *)context)->stream = NULL;
    fake_memory_drop(context);
    __atomic_store_n(&context->error, 0, __ATOMIC_SEQ_CST);
}

static const void *marked(const fake_stream *stream)
{
    return (const char *)stream + 1;
}

static void pause_for(int64_t microseconds)
{
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = microseconds % 1000000 * 1000};
    while (nanosleep(&time, &time) && errno == EINTR) {
    }
}

static void perform(fake_stream *stream, piece *work, int64_t delay)
{
    if (delay > 0) {
        pause_for(delay);
    }
    if (!work->always && fake_context_error(stream->context)) {
        return;
    }
    const int code = work->always ? work->work(work->data) : fake_guarded(work->work, work->data);
    if (code) {
        fake_context_break(stream->context, code);
    }
}

static void *worker(void *data)
{
    fake_stream *stream = data;
    const int64_t delay = fake_setting("FAKE_DELAY", 0);
    (void)pthread_mutex_lock(&stream->lock);
    for (;;) {
        while (!stream->first && !stream->ending) {
            (void)pthread_cond_wait(&stream->changed, &stream->lock);
        }
        piece *work = stream->first;
        if (!work) {
            break;
        }
        stream->first = work->next;
        if (!stream->first) {
            stream->last = &stream->first;
        }
        stream->busy = true;
        (void)pthread_mutex_unlock(&stream->lock);
        perform(stream, work, delay);
        free(work);
        (void)pthread_mutex_lock(&stream->lock);
        stream->busy = false;
        (void)pthread_cond_broadcast(&stream->changed);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    (void)pthread_mutex_destroy(&stream->lock);
    (void)pthread_cond_destroy(&stream->changed);
    free(stream);
    return NULL;
}

int fake_stream_create(fake_context *context, fake_stream **out)
{
    fake_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        return FAKE_OUT_OF_MEMORY;
    }
    stream->context = context;
    stream->last = &stream->first;
    (void)pthread_mutex_init(&stream->lock, NULL);
    (void)pthread_cond_init(&stream->changed, NULL);
    if (pthread_create(&stream->thread, NULL, worker, stream)) {
        free(stream);
        return FAKE_OUT_OF_MEMORY;
    }
    (void)pthread_detach(stream->thread);
    remember(marked(stream));
    *out = stream;
    return FAKE_OK;
}

/* As with the vendors: returns at once, and pending work still runs. */
int fake_stream_destroy(fake_stream *stream)
{
    if (!stream || !look(marked(stream), true)) {
        return FAKE_INVALID_HANDLE;
    }
    if (stream->records && fake_record_end(stream->records) == FAKE_OK) {
        (void)fake_graph_destroy(stream->records);
    }
    (void)pthread_mutex_lock(&stream->lock);
    stream->ending = true;
    (void)pthread_cond_broadcast(&stream->changed);
    (void)pthread_mutex_unlock(&stream->lock);
    return FAKE_OK;
}

bool fake_stream_known(const fake_stream *stream)
{
    return stream && look(marked(stream), false);
}

bool fake_stream_records(const fake_stream *stream)
{
    return stream->records != NULL;
}

fake_context *fake_stream_context(const fake_stream *stream)
{
    return stream->context;
}

static int submit(fake_stream *stream, fake_work work, const void *data, size_t bytes, bool always)
{
    piece *made = malloc(sizeof *made + bytes);
    if (!made) {
        return FAKE_OUT_OF_MEMORY;
    }
    made->next = NULL;
    made->work = work;
    made->always = always;
    memcpy(made->data, data, bytes);
    (void)pthread_mutex_lock(&stream->lock);
    *stream->last = made;
    stream->last = &made->next;
    (void)pthread_cond_broadcast(&stream->changed);
    (void)pthread_mutex_unlock(&stream->lock);
    return FAKE_OK;
}

int fake_stream_submit(fake_stream *stream, fake_work work, const void *data, size_t bytes)
{
    if (!fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    const int error = fake_context_error(stream->context);
    if (error) {
        return error;
    }
    return stream->records ? fake_record_add(stream->records, work, data, bytes)
                           : submit(stream, work, data, bytes, false);
}

int fake_stream_record(fake_stream *stream, int mode)
{
    if (!fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    return stream->records ? FAKE_ILLEGAL_STATE
                           : fake_record_begin(stream->context, mode, &stream->records);
}

int fake_stream_recorded(fake_stream *stream, fake_graph **out)
{
    *out = NULL;
    if (!fake_stream_known(stream) || !stream->records) {
        return fake_stream_known(stream) ? FAKE_ILLEGAL_STATE : FAKE_INVALID_HANDLE;
    }
    fake_graph *made = stream->records;
    stream->records = NULL;
    const int code = fake_record_end(made);
    if (!code) {
        *out = made;
    }
    return code;
}

int fake_stream_sync(fake_stream *stream)
{
    if (!fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    if (stream->records) {
        return fake_record_spoil(stream->records);
    }
    wait_idle(stream);
    return fake_context_error(stream->context);
}

int fake_stream_query(fake_stream *stream)
{
    if (!fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    if (stream->records) {
        return fake_record_spoil(stream->records);
    }
    (void)pthread_mutex_lock(&stream->lock);
    const bool pending = stream->busy || stream->first;
    (void)pthread_mutex_unlock(&stream->lock);
    const int error = fake_context_error(stream->context);
    return error ? error : pending ? FAKE_NOT_READY : FAKE_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

typedef struct event_mark {
    fake_event *event;
    int64_t number;
} event_mark;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void release(fake_event *event)
{
    (void)pthread_mutex_lock(&event->lock);
    const bool last = --event->references == 0;
    (void)pthread_mutex_unlock(&event->lock);
    if (last) {
        (void)pthread_mutex_destroy(&event->lock);
        (void)pthread_cond_destroy(&event->changed);
        free(event);
    }
}

int fake_event_create(fake_context *context, fake_event **out)
{
    fake_event *event = calloc(1, sizeof *event);
    if (!event) {
        return FAKE_OUT_OF_MEMORY;
    }
    event->context = context;
    event->references = 1;
    (void)pthread_mutex_init(&event->lock, NULL);
    (void)pthread_cond_init(&event->changed, NULL);
    remember(event);
    *out = event;
    return FAKE_OK;
}

int fake_event_destroy(fake_event *event)
{
    if (!look(event, true)) {
        return FAKE_INVALID_HANDLE;
    }
    release(event);
    return FAKE_OK;
}

bool fake_event_known(const fake_event *event)
{
    return look(event, false);
}

static int reach(void *data)
{
    const event_mark *mark = data;
    (void)pthread_mutex_lock(&mark->event->lock);
    if (mark->number > mark->event->reached) {
        mark->event->reached = mark->number;
        mark->event->time = now();
    }
    (void)pthread_cond_broadcast(&mark->event->changed);
    (void)pthread_mutex_unlock(&mark->event->lock);
    release(mark->event);
    return FAKE_OK;
}

static int await(void *data)
{
    const event_mark *mark = data;
    (void)pthread_mutex_lock(&mark->event->lock);
    while (mark->event->reached < mark->number) {
        (void)pthread_cond_wait(&mark->event->changed, &mark->event->lock);
    }
    (void)pthread_mutex_unlock(&mark->event->lock);
    release(mark->event);
    return FAKE_OK;
}

/* Whether this is the call that the setting names by its number, counted from when it was set. */
static bool is_number(_Atomic int64_t *count, const char *name)
{
    const int64_t wanted = fake_setting(name, 0);
    if (wanted <= 0) {
        atomic_store(count, 0);
        return false;
    }
    return atomic_fetch_add(count, 1) + 1 == wanted;
}

int fake_event_record(fake_event *event, fake_stream *stream)
{
    static _Atomic int64_t count;
    if (is_number(&count, "FAKE_EVENT")) {
        return FAKE_OUT_OF_RESOURCES;
    }
    if (!fake_event_known(event) || !fake_stream_known(stream) ||
        event->context != stream->context) {
        return FAKE_INVALID_HANDLE;
    }
    const int error = fake_context_error(stream->context);
    if (error || stream->records) {
        return error ? error : fake_record_spoil(stream->records);
    }
    (void)pthread_mutex_lock(&event->lock);
    const event_mark mark = {.event = event, .number = ++event->asked};
    event->references++;
    const int code = submit(stream, reach, &mark, sizeof mark, true);
    (void)pthread_mutex_unlock(&event->lock);
    return code;
}

int fake_stream_wait(fake_stream *stream, fake_event *event)
{
    if (!fake_event_known(event) || !fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    const int error = fake_context_error(stream->context);
    if (error || stream->records) {
        return error ? error : fake_record_spoil(stream->records);
    }
    (void)pthread_mutex_lock(&event->lock);
    const event_mark mark = {.event = event, .number = event->asked};
    event->references++;
    (void)pthread_mutex_unlock(&event->lock);
    return submit(stream, await, &mark, sizeof mark, true);
}

typedef struct word_wait {
    fake_context *context;
    const uint32_t *word;
    uint32_t value;
} word_wait;

static int await_word(void *data)
{
    const word_wait *wait = data;
    while (__atomic_load_n(wait->word, __ATOMIC_SEQ_CST) != wait->value &&
           !fake_context_error(wait->context)) {
        pause_for(WORD_MICROSECONDS);
    }
    return FAKE_OK;
}

int fake_stream_wait_word(fake_stream *stream, const uint32_t *word, uint32_t value)
{
    if (!fake_stream_known(stream)) {
        return FAKE_INVALID_HANDLE;
    }
    if (!fake_setting("FAKE_WAIT", 1)) {
        return FAKE_NOT_SUPPORTED;
    }
    const int error = fake_context_error(stream->context);
    const word_wait wait = {.context = stream->context, .word = word, .value = value};
    return error ? error : submit(stream, await_word, &wait, sizeof wait, true);
}

int fake_event_sync(fake_event *event)
{
    if (!fake_event_known(event)) {
        return FAKE_INVALID_HANDLE;
    }
    (void)pthread_mutex_lock(&event->lock);
    const int64_t number = event->asked;
    while (event->reached < number) {
        (void)pthread_cond_wait(&event->changed, &event->lock);
    }
    (void)pthread_mutex_unlock(&event->lock);
    return fake_context_error(event->context);
}

int fake_event_query(fake_event *event)
{
    if (!fake_event_known(event)) {
        return FAKE_INVALID_HANDLE;
    }
    (void)pthread_mutex_lock(&event->lock);
    const bool pending = event->reached < event->asked;
    (void)pthread_mutex_unlock(&event->lock);
    const int error = fake_context_error(event->context);
    return error ? error : pending ? FAKE_NOT_READY : FAKE_OK;
}

int fake_event_elapsed(fake_event *start, fake_event *stop, float *milliseconds)
{
    if (!fake_event_known(start) || !fake_event_known(stop) || start->asked == 0 ||
        stop->asked == 0) {
        return FAKE_INVALID_HANDLE;
    }
    const int first = fake_event_query(start);
    const int second = fake_event_query(stop);
    if (first || second) {
        return first ? first : second;
    }
    *milliseconds = (float)(stop->time - start->time);
    return FAKE_OK;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static int copy_now(void *data)
{
    const fake_copy *copy = data;
    for (size_t row = 0; row < copy->height; row++) {
        memmove(copy->to + row * copy->to_pitch, copy->from + row * copy->from_pitch, copy->width);
    }
    return FAKE_OK;
}

static _Atomic int64_t copies[2];

int64_t fake_copies(bool pinned)
{
    return atomic_load(&copies[pinned]);
}

static void count_copy(const fake_copy *copy)
{
    fake_range range;
    const char *host = copy->to_device ? copy->from : copy->to;
    if (copy->to_device != copy->from_device) {
        atomic_fetch_add(&copies[fake_memory_find(host, &range)], 1);
    }
}

static int lose(void *data)
{
    (void)data;
    return FAKE_ILLEGAL_ADDRESS;
}

int fake_copy_submit(fake_stream *stream, const fake_copy *copy)
{
    static _Atomic int64_t refused, lost;
    if (copy->width == 0 || copy->height == 0) {
        return FAKE_OK;
    }
    if (!copy->to || !copy->from ||
        (copy->height > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width))) {
        return FAKE_INVALID_VALUE;
    }
    const size_t to_bytes = (copy->height - 1) * copy->to_pitch + copy->width;
    const size_t from_bytes = (copy->height - 1) * copy->from_pitch + copy->width;
    if (copy->to_device != fake_is_device(copy->to, to_bytes) ||
        copy->from_device != fake_is_device(copy->from, from_bytes)) {
        return FAKE_INVALID_VALUE;
    }
    if (is_number(&refused, "FAKE_COPY")) {
        return FAKE_OUT_OF_RESOURCES;
    }
    count_copy(copy);
    return fake_stream_submit(stream, is_number(&lost, "FAKE_COPY_LOST") ? lose : copy_now, copy,
                              sizeof *copy);
}

typedef struct fill {
    char *to;
    uint32_t value;
    int width;
    size_t count;
} fill;

static int fill_now(void *data)
{
    const fill *what = data;
    for (size_t i = 0; i < what->count; i++) {
        memcpy(what->to + i * (size_t)what->width, &what->value, (size_t)what->width);
    }
    return FAKE_OK;
}

int fake_fill_submit(fake_stream *stream, void *to, uint32_t value, int width, size_t count)
{
    const fill what = {.to = to, .value = value, .width = width, .count = count};
    if (count == 0) {
        return FAKE_OK;
    }
    if ((uintptr_t)to % (size_t)width || !fake_is_device(to, count * (size_t)width)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, fill_now, &what, sizeof what);
}
