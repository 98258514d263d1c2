/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robust.c BACKEND HOW - a program that meets a failure, over the fakes. HOW is
 *
 *   threads   no failure: two threads with a stream each
 *   leave     it ends with work pending and nothing closed
 *   lost      the device is lost (FAKE_LOST=3), closed, and opened again
 *   graph     the device is lost while a graph runs (FAKE_LOST=3)
 *   memory    the device has 1 MiB (FAKE_MEMORY)
 *   compile   the compiler refuses (FAKE_COMPILE=gemm)
 *   refused   the driver refuses the first binaries (FAKE_REFUSE=1)
 *   all       every available backend at once
 */
#include "tests/concurrency/check.h"

#include <pthread.h>

enum { SIZE = 70, ROUNDS = 10, DEVICES_MAX = 8 };

static const char *backend;

static iso_device open_device(void)
{
    iso_device device = {0};
    CHECK_OK(iso_device_open(backend, &device));
    return device;
}

static void *multiply_often(void *argument)
{
    iso_device device = *(iso_device *)argument;
    iso_stream stream = check_stream(device, 0);
    for (int i = 0; i < ROUNDS; i++) {
        check_product product = check_product_make(device, SIZE + i, i);
        check_product_submit(&product, stream, i % 2 ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED);
        CHECK_OK(iso_stream_sync(stream));
        check_product_result(&product);
        check_product_free(&product);
    }
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

static void threads(void)
{
    iso_device device = open_device();
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&thread[i], NULL, multiply_often, &device) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    CHECK_OK(iso_device_close(device));
}

static void leave(void)
{
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    check_product product = check_product_make(device, SIZE, 1);
    for (int i = 0; i < 100; i++) {
        check_product_submit(&product, stream, ISO_VARIANT_TILED);
    }
}

/* The first failure of a chain of products, or of waiting for it. */
static iso_status work(iso_device device)
{
    iso_stream stream = {0};
    iso_status status = iso_stream_create(device, 0, &stream);
    if (status) {
        return status;
    }
    check_product product = check_product_make(device, SIZE, 1);
    iso_gemm_args args = check_product_args(&product, ISO_VARIANT_NAIVE);
    for (int i = 0; i < ROUNDS && !status; i++) {
        status = iso_gemm(stream, &args);
    }
    return status ? status : iso_stream_sync(stream);
}

static void lost(void)
{
    iso_device device = open_device();
    const iso_status status = work(device);
    printf("%s\n", iso_last_error());
    CHECK(status == ISO_DEVICE_LOST);
    CHECK(strstr(iso_last_error(), "ILLEGAL_ADDRESS") != NULL);
    (void)iso_device_close(device);
    device = open_device();
    (void)multiply_often(&device);
    CHECK_OK(iso_device_close(device));
}

/* The stream fails late, and so does the graph's next launch; then everything can be closed. */
static void graph(void)
{
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0), other = check_stream(device, 0);
    iso_graph graph = {0};
    check_product product = check_product_make(device, SIZE, 1);
    CHECK_OK(iso_graph_begin(stream));
    for (int i = 0; i < 3; i++) {
        const iso_gemm_args args = check_product_args(&product, ISO_VARIANT_NAIVE);
        CHECK_OK(iso_gemm(stream, &args));
    }
    CHECK_OK(iso_graph_end(stream, &graph));
    CHECK_OK(iso_graph_begin(other));
    CHECK_OK(iso_graph_launch(graph, stream));
    CHECK_STATUS(iso_stream_sync(stream), ISO_DEVICE_LOST);
    printf("%s\n", iso_last_error());
    CHECK(strstr(iso_last_error(), "ILLEGAL_ADDRESS") != NULL);
    CHECK_STATUS(iso_graph_launch(graph, stream), ISO_DEVICE_LOST);
    CHECK_OK(iso_graph_end(other, NULL));
    CHECK_STATUS(iso_graph_launch(graph, other), ISO_DEVICE_LOST);
    CHECK_OK(iso_graph_destroy(graph));
    free(product.host);
    (void)iso_device_close(device);
    device = open_device();
    (void)multiply_often(&device);
    CHECK_OK(iso_device_close(device));
}

static void memory(void)
{
    iso_device device = open_device();
    iso_buffer buffer = {0};
    CHECK_STATUS(iso_buffer_create(device, 8 << 20, &buffer), ISO_NO_MEMORY);
    printf("%s\n", iso_last_error());
    CHECK(strstr(iso_last_error(), "8388608") != NULL);
    CHECK_OK(iso_buffer_create(device, 1000, &buffer));
    CHECK_OK(iso_buffer_destroy(buffer));
    CHECK_OK(iso_device_close(device));
}

static void compile(void)
{
    iso_device device = open_device();
    CHECK(work(device) == ISO_COMPILE);
    printf("%s\n", iso_last_error());
    CHECK(strstr(iso_last_error(), "this compiler is a test's") != NULL);
    CHECK_OK(iso_device_close(device));
}

/* If the driver refuses a cached binary, the call does not fail. */
static void refused(void)
{
    iso_device device = open_device();
    iso_clear_error();
    (void)multiply_often(&device);
    CHECK(iso_last_error()[0] == '\0');
    CHECK_OK(iso_device_close(device));
}

static void all(void)
{
    static const char *const names[] = {"cuda", "hip", "opencl", "openmp"};
    iso_device devices[DEVICES_MAX];
    int count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const iso_status status = iso_device_open(names[i], &devices[count]);
        printf("%s: %s\n", names[i], status ? iso_last_error() : "open");
        CHECK(status == ISO_OK || i == 2); /* OpenCL may be missing */
        count += status == ISO_OK;
    }
    for (int i = 0; i < count; i++) {
        (void)multiply_often(&devices[i]);
    }
    for (int i = 0; i < count; i++) {
        CHECK_OK(iso_device_close(devices[i]));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *how;
        void (*run)(void);
    } ways[] = {{"threads", threads}, {"leave", leave},     {"lost", lost},       {"graph", graph},
                {"memory", memory},   {"compile", compile}, {"refused", refused}, {"all", all}};
    CHECK(argc == 3);
    backend = argv[1];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].how, argv[2]) == 0) {
            ways[i].run();
            return 0;
        }
    }
    return 2;
}
