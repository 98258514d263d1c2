/* SPDX-License-Identifier: Apache-2.0 */
/* clblast.c - CLBlast's products called directly, on the first GPU of any platform, else on the
 * first device. */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, MOST = 16, NAME = 0x102b, READ_WRITE = 1 };
static const uint64_t GPU = 4, ANY = 0xffffffff;

static struct {
    int (*platforms)(unsigned, void **, unsigned *);
    int (*devices)(void *, uint64_t, unsigned, void **, unsigned *);
    int (*info)(void *, unsigned, size_t, void *, size_t *);
    void *(*context)(const intptr_t *, unsigned, void *const *, void *, void *, int *);
    void *(*queue)(void *, void *, uint64_t, int *);
    void *(*buffer)(void *, uint64_t, size_t, void *, int *);
    int (*release)(void *);
    int (*write)(void *, void *, unsigned, size_t, size_t, const void *, unsigned, const void *,
                 void **);
    int (*read)(void *, void *, unsigned, size_t, size_t, void *, unsigned, const void *, void **);
    int (*finish)(void *);
    void *own_context, *own_queue;
} cl;

typedef int (*sgemm)(int, int, int, size_t, size_t, size_t, float, void *, size_t, size_t, void *,
                     size_t, size_t, float, void *, size_t, size_t, void **, void **);
typedef int (*dgemm)(int, int, int, size_t, size_t, size_t, double, void *, size_t, size_t, void *,
                     size_t, size_t, double, void *, size_t, size_t, void **, void **);

typedef struct product {
    sgemm single;
    dgemm twice;
    bool f64;
    size_t n;
    void *a, *b, *c;
    void *host; /* A, which B is too */
} product;

#define FIND(member, library, name)                                                                \
    do {                                                                                           \
        void *found = peer_find(library, name);                                                    \
        memcpy(&cl.member, &found, sizeof found);                                                  \
    } while (0)

static int multiply(void *context)
{
    product *p = context;
    size_t n = p->n;
    return p->f64 ? p->twice(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0, p->a, 0, n, p->b, 0, n,
                             0.0, p->c, 0, n, &cl.own_queue, NULL)
                  : p->single(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0f, p->a, 0, n, p->b, 0, n,
                              0.0f, p->c, 0, n, &cl.own_queue, NULL);
}

static int wait(void *context)
{
    (void)context;
    return cl.finish(cl.own_queue);
}

static void *choose(void)
{
    void *platforms[MOST], *device = NULL;
    unsigned count = 0;
    if (cl.platforms(MOST, platforms, &count) != 0 || count == 0) {
        peer_die("there is no OpenCL platform");
    }
    for (int pass = 0; pass < 2 && !device; pass++) {
        for (unsigned i = 0; i < count && i < MOST && !device; i++) {
            if (cl.devices(platforms[i], pass == 0 ? GPU : ANY, 1, &device, NULL) != 0) {
                device = NULL;
            }
        }
    }
    if (!device) {
        peer_die("no OpenCL platform has a device");
    }
    return device;
}

static void open_device(char *name, size_t room)
{
    static const char *const names[] = {
        "libOpenCL.so.1", "/usr/local/cuda/targets/x86_64-linux/lib/libOpenCL.so.1", NULL};
    void *library = peer_open(names);
    int status = 0;
    FIND(platforms, library, "clGetPlatformIDs");
    FIND(devices, library, "clGetDeviceIDs");
    FIND(info, library, "clGetDeviceInfo");
    FIND(context, library, "clCreateContext");
    FIND(queue, library, "clCreateCommandQueue");
    FIND(buffer, library, "clCreateBuffer");
    FIND(release, library, "clReleaseMemObject");
    FIND(write, library, "clEnqueueWriteBuffer");
    FIND(read, library, "clEnqueueReadBuffer");
    FIND(finish, library, "clFinish");
    void *device = choose();
    cl.info(device, NAME, room, name, NULL);
    cl.own_context = cl.context(NULL, 1, &device, NULL, NULL, &status);
    if (status == 0) {
        cl.own_queue = cl.queue(cl.own_context, device, 0, &status);
    }
    if (status != 0) {
        peer_die("the OpenCL device gives no context or queue: %d", status);
    }
}

static void *make(const void *host, size_t bytes)
{
    int status = 0;
    void *buffer = cl.buffer(cl.own_context, READ_WRITE, bytes, NULL, &status);
    if (status != 0 || cl.write(cl.own_queue, buffer, 1, 0, bytes, host, 0, NULL, NULL) != 0) {
        peer_die("the OpenCL device gives no buffer of %zu bytes: %d", bytes, status);
    }
    return buffer;
}

static peer_check check(void *context)
{
    const product *p = context;
    size_t bytes = p->n * p->n * (p->f64 ? 8 : 4);
    void *c = malloc(bytes);
    if (!c || cl.read(cl.own_queue, p->c, 1, 0, bytes, c, 0, NULL, NULL) != 0) {
        peer_die("the result cannot be read");
    }
    peer_check result = peer_check_product((int64_t)p->n, p->f64, p->host, p->host, c);
    free(c);
    return result;
}

static void measure(product *p, int64_t n, bool f64)
{
    size_t count = (size_t)n * (size_t)n, bytes = count * (f64 ? 8 : 4);
    void *host = malloc(bytes);
    if (!host) {
        peer_die("no memory for %zu bytes", bytes);
    }
    if (f64) {
        peer_fill_f64(host, (int64_t)count);
    } else {
        peer_fill_f32(host, (int64_t)count);
    }
    p->n = (size_t)n;
    p->f64 = f64;
    p->a = make(host, bytes);
    p->b = make(host, bytes);
    p->c = make(host, bytes);
    p->host = host;
    double cubes = (double)n * (double)n * (double)n;
    peer_measure(&(peer_case){"gemm", NULL, "vendor", f64 ? "f64" : "f32", n, 2 * cubes,
                              2 * (double)bytes, (double)bytes},
                 &(peer_work){multiply, wait, check, p});
    cl.release(p->a);
    cl.release(p->b);
    cl.release(p->c);
    free(host);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"libclblast.so.1", NULL};
    static const int64_t defaults[] = {512, 1024, 0};
    char name[128] = "";
    peer_options options;
    peer_parse(argc, argv, defaults, &options);
    open_device(name, sizeof name);
    void *library = peer_open(names);
    product p = {.single = (sgemm)peer_find(library, "CLBlastSgemm"),
                 .twice = (dgemm)peer_find(library, "CLBlastDgemm")};
    peer_begin("peer-clblast", "opencl:0", name, "CLBlast");
    for (int i = 0; i < options.size_count; i++) {
        if (options.f32) {
            measure(&p, options.sizes[i], false);
        }
        if (options.f64) {
            measure(&p, options.sizes[i], true);
        }
    }
    return peer_end();
}
