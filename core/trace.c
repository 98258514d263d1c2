/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - ISOMER_TRACE: writes every submission and its execution in Chrome's trace format. Each
 * thread of the host has a track for its submissions, and each stream has one for its executions.
 * The backend's events time the executions. The events' clock is aligned with the host's once per
 * stream. The file is completed when the process exits.
 */
#include "common/descriptor.h"
#include "core/fork.h"
#include "core/host.h"
#include "core/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 65536, LINE_BYTES = 1024, STREAM_TRACK = 1 << 30 };

typedef struct pending {
    struct pending *next;
    void *start, *stop; /* events */
    double bytes;
    char name[192];
} pending;

struct core_trace_stream {
    unsigned track;
    void *origin;        /* the event that was recorded at the host's origin_time */
    int64_t origin_time; /* nanoseconds */
    pending *first, **end;
};

atomic_bool core_trace_on;

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static char file_path[PATH_MAX];
static char buffer[BUFFER_BYTES];
static size_t buffered;
static bool has_lines, ended;
static const char beginning[] = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
static const char end[] = "\n]}\n";
static int64_t zero; /* start of the trace on the host's clock */
static atomic_uint tracks;

int64_t core_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Stops the trace for the rest of the process. Called with the lock held, like the next two. */
static void stop(void)
{
    close(file);
    file = -1;
    buffered = 0;
    ended = true;
    atomic_store(&core_trace_on, false);
}

/* Stops the trace if the file cannot be written any more. */
static void flush(void)
{
    if (!descriptor_write(file, buffer, buffered)) {
        core_log(ISO_LOG_WARN, "ISOMER_TRACE: \"%s\" cannot be written: %s: the trace ends here",
                 file_path, strerror(errno));
        stop();
        return;
    }
    buffered = 0;
}

static void append(const char *text, size_t length)
{
    if (buffered + length > sizeof buffer) {
        flush();
    }
    if (ended) {
        return;
    }
    memcpy(buffer + buffered, text, length);
    buffered += length;
}

static void line(const char *format, ...) ISO_PRINTF(1, 2);

static void line(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pthread_mutex_lock(&file_lock);
    if (file >= 0 && !ended) {
        append(has_lines ? ",\n" : " \n", 2);
        append(text, strlen(text));
        has_lines = true;
    }
    pthread_mutex_unlock(&file_lock);
}

/* Returns a descriptor, or -1 with the reason in `problem`. With O_NONBLOCK a pipe without a reader
 * does not block the program: opening it fails with ENXIO. */
static int open_path(const char *path, char *problem, size_t room)
{
    int made = descriptor_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666);
    int error = made < 0 && errno != ENXIO ? errno : 0;
    struct stat found;
    bool usable =
        made >= 0 && !fstat(made, &found) && (S_ISREG(found.st_mode) || S_ISCHR(found.st_mode));

    /* Clears O_NONBLOCK, so that writing waits for a slow terminal. */
    if (usable && fcntl(made, F_SETFL, 0)) {
        error = errno;
    }
    if (usable && !error) {
        return made;
    }
    if (error) {
        snprintf(problem, room, "\"%s\" cannot be written: %s", path, strerror(error));
    } else {
        snprintf(problem, room,
                 "\"%s\" is neither a file nor a character device: name a file to write to", path);
    }
    if (made >= 0) {
        close(made);
    }
    return -1;
}

bool core_trace_open(const char *path, char *problem, size_t room)
{
    core_fork_guard(); /* otherwise a child would complete its parent's file */
    problem[0] = 0;
    pthread_mutex_lock(&file_lock);
    if (!ended && file >= 0 && strcmp(path, file_path)) {
        snprintf(problem, room, "\"%s\": this process is already traced to \"%s\"", path,
                 file_path);
    } else if (!ended && file < 0 && (file = open_path(path, problem, room)) >= 0) {
        snprintf(file_path, sizeof file_path, "%s", path); /* fits, because open() accepted it */
        zero = core_now();
        append(beginning, sizeof beginning - 1);
        atomic_store(&core_trace_on, true);
    }
    pthread_mutex_unlock(&file_lock);
    return !problem[0];
}

__attribute__((destructor)) static void end_file(void)
{
    pthread_mutex_lock(&file_lock);
    if (file >= 0 && !ended) {
        append(end, sizeof end - 1);
        flush();
    }
    if (file >= 0) {
        stop();
    }
    atomic_store(&core_trace_on, false);
    pthread_mutex_unlock(&file_lock);
}

void core_trace_fork(int stage)
{
    core_fork_lock(&file_lock, stage);
    if (stage != CORE_FORK_CHILD || file < 0) {
        return;
    }
    /* The file belongs to the parent, and so does buffered output. */
    stop();
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Prints only integers, because the decimal point depends on the program's locale. */
static void slice(unsigned track, const char *name, int64_t began, int64_t ended_at, double bytes,
                  const char *category)
{
    int64_t at = began > zero ? began - zero : 0, took = ended_at > began ? ended_at - began : 0;

    line("{\"ph\": \"X\", \"pid\": %ld, \"tid\": %u, \"cat\": \"%s\", \"name\": \"%s\", \"ts\": "
         "%lld.%03d, \"dur\": %lld.%03d, \"args\": {\"bytes\": %.0f}}",
         (long)getpid(), track, category, name, (long long)(at / 1000), (int)(at % 1000),
         (long long)(took / 1000), (int)(took % 1000), bytes);
}

static void name_track(unsigned track, const char *name, unsigned number, const char *of)
{
    line("{\"ph\": \"M\", \"pid\": %ld, \"tid\": %u, \"name\": \"thread_name\", \"args\": "
         "{\"name\": \"%s %u%s\"}}",
         (long)getpid(), track, name, number, of);
}

static unsigned host_track(void)
{
    static _Thread_local unsigned track;

    if (!track) {
        track = (unsigned)gettid();
        name_track(track, "submission, thread", track, "");
    }
    return track;
}

/* ---- streams --------------------------------------------------------------------------------- */

static const iso_backend *table_of(const core_stream *stream)
{
    return stream->child.device->table;
}

/* A new event that is recorded on the stream; NULL if that fails. */
static void *record(core_stream *stream)
{
    const iso_backend *table = table_of(stream);
    void *event = NULL;

    if (table->event_create(stream->child.device->physical->device, &event)) {
        return NULL;
    }
    if (table->event_record(event, stream->handle)) {
        table->event_destroy(event);
        return NULL;
    }
    return event;
}

/* Aligns the device's clock with the host's: reads the host's clock as soon as an event on the
 * stream is complete. */
static bool calibrate(core_stream *stream)
{
    core_trace_stream *trace = calloc(1, sizeof *trace);
    unsigned number;
    char of[ISO_NAME_MAX + 8];

    if (!trace) {
        return false;
    }
    trace->end = &trace->first;
    trace->origin = record(stream);
    if (trace->origin && table_of(stream)->event_sync(trace->origin)) {
        table_of(stream)->event_destroy(trace->origin);
        trace->origin = NULL;
    }
    if (!trace->origin) {
        free(trace);
        return false;
    }
    trace->origin_time = core_now();
    number = atomic_fetch_add(&tracks, 1);
    trace->track = (unsigned)STREAM_TRACK + number;
    stream->trace = trace;
    snprintf(of, sizeof of, " of %s", stream->child.device->physical->spec);
    name_track(trace->track, "execution, stream", number, of);
    return true;
}

void core_trace_start(core_stream *stream, core_trace_span *span)
{
    core_kept_error kept;
    bool aligned;

    *span = (core_trace_span){0};
    core_fpenv_enter(&span->callers);
    kept = core_error_keep();
    aligned = stream->trace || calibrate(stream);
    span->on = true;
    span->began = core_now(); /* read before any work can run, so that none seems earlier */
    span->start = aligned ? record(stream) : NULL;
    core_error_restore(&kept);
}

static bool keep_pending(core_stream *stream, core_trace_span *span, const char *name, double bytes)
{
    pending *made = calloc(1, sizeof *made);

    if (!made) {
        return false;
    }
    made->stop = record(stream);
    if (!made->stop) {
        free(made);
        return false;
    }
    made->start = span->start;
    made->bytes = bytes;
    snprintf(made->name, sizeof made->name, "%s", name);
    *stream->trace->end = made;
    stream->trace->end = &made->next;
    return true;
}

void core_trace_end(core_stream *stream, core_trace_span *span, bool accepted, const char *name,
                    double bytes)
{
    const iso_backend *table = table_of(stream);
    core_kept_error kept;
    int64_t ended_at = core_now();

    if (!span->on) {
        return;
    }
    kept = core_error_keep();
    slice(host_track(), name, span->began, ended_at, bytes, accepted ? "submit" : "refused");
    if (span->start && (!accepted || !keep_pending(stream, span, name, bytes))) {
        table->event_sync(span->start);
        table->event_destroy(span->start);
    }
    core_error_restore(&kept);
    core_fpenv_leave(&span->callers);
}

static void drop_first(core_stream *stream)
{
    core_trace_stream *trace = stream->trace;
    pending *first = trace->first;

    table_of(stream)->event_destroy(first->start);
    table_of(stream)->event_destroy(first->stop);
    trace->first = first->next;
    if (!trace->first) {
        trace->end = &trace->first;
    }
    free(first);
}

void core_trace_resolve(core_stream *stream)
{
    const iso_backend *table = table_of(stream);
    core_trace_stream *trace = stream->trace;
    core_fpenv callers;
    core_kept_error kept;

    if (!trace || !trace->first) {
        return;
    }
    core_fpenv_enter(&callers);
    kept = core_error_keep();
    while (trace->first && table->event_query(trace->first->stop) != ISO_NOT_READY) {
        const pending *done = trace->first;
        int64_t from_origin = 0, took = 0;

        if (!table->event_elapsed(trace->origin, done->start, &from_origin) &&
            !table->event_elapsed(done->start, done->stop, &took)) {
            slice(trace->track, done->name, trace->origin_time + from_origin,
                  trace->origin_time + from_origin + took, done->bytes, "execute");
        }
        drop_first(stream);
    }
    core_error_restore(&kept);
    core_fpenv_leave(&callers);
}

void core_trace_drop(core_stream *stream)
{
    core_fpenv callers;

    core_fpenv_enter(&callers);
    while (stream->trace->first) {
        drop_first(stream);
    }
    table_of(stream)->event_destroy(stream->trace->origin);
    free(stream->trace);
    stream->trace = NULL;
    core_fpenv_leave(&callers);
}
