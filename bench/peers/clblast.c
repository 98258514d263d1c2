/* SPDX-License-Identifier: Apache-2.0 */
/* clblast.c - calls CLBlast's products directly, on the first GPU of any platform, or on the first
 * device if there is no GPU. */
#include "bench/peers/peer.h"

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

static int (*sgemm)(int, int, int, size_t, size_t, size_t, float, void *, size_t, size_t, void *,
                    size_t, size_t, float, void *, size_t, size_t, void **, void **);
static int (*dgemm)(int, int, int, size_t, size_t, size_t, double, void *, size_t, size_t, void *,
                    size_t, size_t, double, void *, size_t, size_t, void **, void **);

static int multiply(void *context)
{
    const peer_arrays *p = context;
    size_t n = (size_t)p->n;
    return p->f64 ? dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0, p->a, 0, n, p->b, 0, n, 0.0,
                          p->c, 0, n, &cl.own_queue, NULL)
                  : sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0f, p->a, 0, n, p->b, 0, n,
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
    static const char *const libraries[] = {
        "libOpenCL.so.1", "/usr/local/cuda/targets/x86_64-linux/lib/libOpenCL.so.1", NULL};
    static const peer_symbol symbols[] = {{"clGetPlatformIDs", &cl.platforms},
                                          {"clGetDeviceIDs", &cl.devices},
                                          {"clGetDeviceInfo", &cl.info},
                                          {"clCreateContext", &cl.context},
                                          {"clCreateCommandQueue", &cl.queue},
                                          {"clCreateBuffer", &cl.buffer},
                                          {"clReleaseMemObject", &cl.release},
                                          {"clEnqueueWriteBuffer", &cl.write},
                                          {"clEnqueueReadBuffer", &cl.read},
                                          {"clFinish", &cl.finish},
                                          {NULL, NULL}};
    int status = 0;
    peer_load(libraries, symbols);
    void *device = choose();
    cl.info(device, NAME, room, name, NULL);
    cl.own_context = cl.context(NULL, 1, &device, NULL, NULL, &status);
    if (status == 0) {
        cl.own_queue = cl.queue(cl.own_context, device, 0, &status);
    }
    if (status != 0) {
        peer_die("cannot create an OpenCL context or queue: error %d", status);
    }
}

static void *make(const void *host, size_t bytes)
{
    int status = 0;
    void *buffer = cl.buffer(cl.own_context, READ_WRITE, bytes, NULL, &status);
    if (status != 0 || cl.write(cl.own_queue, buffer, 1, 0, bytes, host, 0, NULL, NULL) != 0) {
        peer_die("cannot create or fill an OpenCL buffer of %zu bytes: error %d", bytes, status);
    }
    return buffer;
}

static void read_array(void *host, void *array, size_t bytes)
{
    if (cl.read(cl.own_queue, array, 1, 0, bytes, host, 0, NULL, NULL) != 0) {
        peer_die("the result cannot be read");
    }
}

static void drop(void *array)
{
    cl.release(array);
}

static void measure(int64_t n, bool f64)
{
    static const peer_device memory = {make, read_array, drop, wait};
    peer_measure_product(n, f64, &memory, multiply);
}

int main(int argc, char **argv)
{
    static const int64_t defaults[] = {512, 1024, 0};
    char name[128] = "";
    peer_options options;
    peer_parse(argc, argv, defaults, &options);
    open_device(name, sizeof name);
    peer_load(
        (const char *const[]){"libclblast.so.1", NULL},
        (const peer_symbol[]){{"CLBlastSgemm", &sgemm}, {"CLBlastDgemm", &dgemm}, {NULL, NULL}});
    peer_begin("peer-clblast", "opencl:0", name, "CLBlast");
    peer_each(&options, measure);
    return peer_end();
}
