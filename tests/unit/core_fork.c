/* SPDX-License-Identifier: Apache-2.0 */
/* core_fork.c - handles in the child of a process that used the library. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A cmocka failure would continue in the child, so the child checks for itself and returns the
 * line. */
#define CHILD(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, iso_last_error());                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int inherited(iso_status status)
{
    return status == ISO_INVALID && strstr(iso_last_error(), "opened before fork()");
}

static int child(const unit_session *s, iso_event event, iso_sparse sparse, iso_graph graph)
{
    float one = 1.0f, sum = 0.0f;
    iso_reduce_args args;
    iso_device device;
    iso_stream stream;
    iso_buffer buffer;

    CHILD(inherited(iso_stream_sync(s->stream)));
    CHILD(inherited(iso_stream_destroy(s->stream)));
    CHILD(inherited(iso_buffer_destroy(s->buffer)));
    CHILD(inherited(iso_event_sync(event)));
    CHILD(inherited(iso_sparse_destroy(sparse)));
    CHILD(inherited(iso_graph_launch(graph, s->stream)));
    CHILD(inherited(iso_graph_destroy(graph)));
    CHILD(inherited(iso_graph_end(s->stream, &graph)));
    CHILD(inherited(iso_device_close(s->device)));
    CHILD(inherited(iso_stream_create(s->device, 0, &stream)));
    CHILD(!iso_device_open("openmp", &device));
    CHILD(!iso_stream_create(device, 0, &stream));
    CHILD(!iso_buffer_create(device, 4096, &buffer));
    CHILD(stream.id != s->stream.id && buffer.id != s->buffer.id);
    CHILD(!iso_fill(stream, (iso_operand){buffer, 0}, &one, 4, 4096));
    args = unit_sum(buffer, 1000);
    CHILD(!iso_graph_begin(stream));
    CHILD(!iso_reduce(stream, &args));
    CHILD(!iso_graph_end(stream, &graph));
    CHILD(!iso_graph_launch(graph, stream));
    CHILD(!iso_read(stream, &sum, args.result, 4));
    CHILD(!iso_stream_sync(stream));
    CHILD(sum == 1000.0f);
    CHILD(inherited(iso_write(stream, (iso_operand){s->buffer, 0}, &one, 4)));
    CHILD(!iso_device_close(device));
    return 0;
}

/* A backend that does not declare itself fork-safe is unavailable in the child once the parent has
 * used it. */
static int child_of_unsafe(void)
{
    iso_entry *entries = calloc(64, sizeof *entries);
    int32_t count, seen = 0;
    iso_device device;

    CHILD(entries);
    CHILD(iso_device_open("unit-fork", &device) == ISO_UNAVAILABLE);
    CHILD(strstr(iso_last_error(), "forked") && strstr(iso_last_error(), "before fork()"));
    entries->size = (uint32_t)sizeof *entries;
    CHILD(!iso_enumerate(entries, 64, &count));
    for (int32_t i = 0; i < count; i++) {
        seen += !strcmp(entries[i].backend, "unit-fork") && entries[i].state == ISO_STATE_FORKED;
    }
    free(entries);
    CHILD(seen == 1);
    CHILD(!iso_device_open("unit-fork,openmp", &device));
    CHILD(!iso_device_close(device));
    return 0;
}

static int child_of_unused(void)
{
    iso_device device;

    CHILD(!iso_device_open("unit-fork", &device));
    CHILD(!iso_device_close(device));
    return 0;
}

static void in_child(int (*body)(void))
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        _exit(body());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_unsafe(void **state)
{
    iso_device device;
    int32_t count;

    (void)state;
    in_child(child_of_unused);
    works(iso_enumerate(NULL, 0, &count)); /* probing has started its driver, if it has one */
    in_child(child_of_unsafe);
    works(iso_device_open("unit-fork", &device));
    works(iso_device_close(device));
    in_child(child_of_unsafe);
    works(iso_device_open("unit-fork", &device)); /* the parent continues */
    works(iso_device_close(device));
}

static void test_fork(void **state)
{
    unit_session s;
    iso_event event;
    iso_spmv_args of;
    iso_graph graph;
    int status;
    pid_t pid;

    (void)state;
    unit_open(&s, "openmp");
    of = unit_spmv(s.device, s.buffer, 4);
    works(iso_graph_begin(s.stream));
    works(iso_spmv(s.stream, &of));
    works(iso_graph_end(s.stream, &graph));
    works(iso_graph_launch(graph, s.stream));
    works(iso_event_create(s.device, &event));
    works(iso_event_record(event, s.stream));
    works(iso_stream_sync(s.stream));
    works(iso_graph_begin(s.stream));
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        _exit(child(&s, event, of.matrix, graph));
    }
    works(iso_graph_end(s.stream, NULL));
    works(iso_graph_launch(graph, s.stream));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    works(iso_stream_sync(s.stream)); /* the parent continues */
    works(iso_event_destroy(event));
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fork), cmocka_unit_test(test_unsafe)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
