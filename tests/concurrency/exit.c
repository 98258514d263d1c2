/* SPDX-License-Identifier: Apache-2.0 */
/* exit.c - programs that do not clean up still end without a crash. The argument says how they end.
 */
#include "tests/concurrency/check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 300, PROCESSES = 5 };

static iso_device device;
static iso_stream stream;
static check_product product;

static void submit_much(int count)
{
    iso_gemm_args args = check_product_args(&product, ISO_VARIANT_NAIVE);
    for (int i = 0; i < count; i++) {
        CHECK_OK(iso_gemm(stream, &args));
    }
}

static iso_graph record(int count)
{
    iso_graph graph = {0};
    CHECK_OK(iso_graph_begin(stream));
    submit_much(count);
    CHECK_OK(iso_graph_end(stream, &graph));
    return graph;
}

static void start(void)
{
    device = check_device();
    stream = check_stream(device, 0);
    product = check_product_make(device, SIZE, 1);
    check_product_submit(&product, stream, ISO_VARIANT_TILED);
}

/* Runs after the library's own handlers, because it was registered before them. */
static void tidy_up_late(void)
{
    check_product_submit(&product, stream, ISO_VARIANT_TILED);
    CHECK_OK(iso_stream_sync(stream));
    check_product_result(&product);
    free(product.host);
    CHECK_OK(iso_device_close(device));
}

static void *leave(void *argument)
{
    (void)argument;
    exit(0);
}

/* Processes that end while the runtime may still be starting their threads. */
static void leave_at_once(void)
{
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            device = check_device();
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const char *how = argv[1];
    if (strcmp(how, "start") == 0) {
        leave_at_once();
        return 0;
    }
    if (strcmp(how, "handler") == 0) {
        CHECK(atexit(tidy_up_late) == 0);
        start();
        submit_much(20);
        return 0;
    }
    start();
    if (strcmp(how, "idle") == 0) {
        CHECK_OK(iso_stream_sync(stream));
        check_product_result(&product);
    } else if (strcmp(how, "pending") == 0) {
        submit_much(5000);
    } else if (strcmp(how, "graph") == 0) {
        const iso_graph graph = record(50);
        for (int i = 0; i < 100; i++) {
            CHECK_OK(iso_graph_launch(graph, stream));
        }
    } else if (strcmp(how, "recording") == 0) {
        CHECK_OK(iso_graph_begin(stream));
        submit_much(50);
    } else if (strcmp(how, "thread") == 0) {
        submit_much(5000);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, leave, NULL) == 0);
        (void)pthread_join(thread, NULL);
        _Exit(1);
    } else {
        CHECK(strcmp(how, "close") == 0);
        submit_much(20);
        CHECK_OK(iso_device_close(device)); /* waits */
        check_product_result(&product);
        CHECK_STATUS(iso_stream_sync(stream), ISO_INVALID);
        free(product.host);
    }
    return 0;
}
