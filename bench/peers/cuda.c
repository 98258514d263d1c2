/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - calls cuBLAS's products, or cuMemcpyDtoDAsync in a loop, directly in the primary
 * context. */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <string.h>

/* CUdeviceptr is passed as a pointer here: both are 64 bits wide. */
static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*name)(char *, int, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*alloc)(void **, size_t);
    int (*free)(void *);
    int (*write)(void *, const void *, size_t);
    int (*read)(void *, void *, size_t);
    int (*copy)(void *, void *, size_t, void *);
    int (*stream)(void **, unsigned);
    int (*sync)(void *);
    void *queue;
} cu;

static struct {
    int (*create)(void **);
    int (*set_stream)(void *, void *);
    int (*set_math)(void *, int);
    int (*version)(void *, int *);
    int (*sgemm)(void *, int, int, int, int, int, const float *, void *, int, void *, int,
                 const float *, void *, int);
    int (*dgemm)(void *, int, int, int, int, int, const double *, void *, int, void *, int,
                 const double *, void *, int);
    void *handle;
} blas;

static void need(int status, const char *what)
{
    if (status != 0) {
        peer_die("%s failed with status %d", what, status);
    }
}

static void open_driver(char *name, int room)
{
    static const char *const libraries[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                            NULL};
    static const peer_symbol symbols[] = {{"cuInit", &cu.init},
                                          {"cuDeviceGet", &cu.device},
                                          {"cuDeviceGetName", &cu.name},
                                          {"cuDevicePrimaryCtxRetain", &cu.retain},
                                          {"cuCtxSetCurrent", &cu.current},
                                          {"cuMemAlloc_v2", &cu.alloc},
                                          {"cuMemFree_v2", &cu.free},
                                          {"cuMemcpyHtoD_v2", &cu.write},
                                          {"cuMemcpyDtoH_v2", &cu.read},
                                          {"cuMemcpyDtoDAsync_v2", &cu.copy},
                                          {"cuStreamCreate", &cu.stream},
                                          {"cuStreamSynchronize", &cu.sync},
                                          {NULL, NULL}};
    void *context;
    int device;
    peer_load(libraries, symbols);
    need(cu.init(0), "cuInit");
    need(cu.device(&device, 0), "cuDeviceGet");
    need(cu.name(name, room, device), "cuDeviceGetName");
    need(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    need(cu.current(context), "cuCtxSetCurrent");
    need(cu.stream(&cu.queue, 1), "cuStreamCreate");
}

static void open_blas(char *text, size_t room)
{
    static const char *const libraries[] = {"libcublas.so.13", "libcublas.so.12",
                                            "/usr/local/cuda/lib64/libcublas.so.13",
                                            "/usr/local/cuda/lib64/libcublas.so.12", NULL};
    static const peer_symbol symbols[] = {{"cublasCreate_v2", &blas.create},
                                          {"cublasSetStream_v2", &blas.set_stream},
                                          {"cublasSetMathMode", &blas.set_math},
                                          {"cublasGetVersion_v2", &blas.version},
                                          {"cublasSgemm_v2", &blas.sgemm},
                                          {"cublasDgemm_v2", &blas.dgemm},
                                          {NULL, NULL}};
    int version = 0;
    peer_load(libraries, symbols);
    need(blas.create(&blas.handle), "cublasCreate");
    need(blas.set_stream(blas.handle, cu.queue), "cublasSetStream");
    enum { DEFAULT = 0 }; /* f32 stays f32; f64 uses matrix units, which keep its precision */
    need(blas.set_math(blas.handle, DEFAULT), "cublasSetMathMode");
    need(blas.version(blas.handle, &version), "cublasGetVersion");
    snprintf(text, room, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static int wait(void *context)
{
    (void)context;
    return cu.sync(cu.queue);
}

/* Row-major C = A B is column-major C' = B' A'. */
static int multiply(void *context)
{
    static const float one = 1, zero = 0;
    static const double one64 = 1, zero64 = 0;
    const peer_arrays *w = context;
    int n = (int)w->n;
    return w->f64
               ? blas.dgemm(blas.handle, 0, 0, n, n, n, &one64, w->b, n, w->a, n, &zero64, w->c, n)
               : blas.sgemm(blas.handle, 0, 0, n, n, n, &one, w->b, n, w->a, n, &zero, w->c, n);
}

static int copy(void *context)
{
    const peer_arrays *w = context;
    return cu.copy(w->c, w->a, w->bytes, cu.queue);
}

static void *make(const void *host, size_t bytes)
{
    void *array = NULL;
    need(cu.alloc(&array, bytes), "cuMemAlloc");
    need(cu.write(array, host, bytes), "cuMemcpyHtoD");
    return array;
}

static void read_array(void *host, void *array, size_t bytes)
{
    need(cu.read(host, array, bytes), "cuMemcpyDtoH");
}

static void drop(void *array)
{
    cu.free(array);
}

static const peer_device gpu = {make, read_array, drop, wait};

static void measure_product(int64_t n, bool f64)
{
    peer_measure_product(n, f64, &gpu, multiply);
}

static void measure_copy(int64_t bytes, bool f64)
{
    double moved = (double)bytes;
    (void)f64;
    peer_measure_arrays(
        &(peer_case){"transfer", "copy", "device", false, false, bytes, 0, moved, moved}, &gpu,
        copy);
}

int main(int argc, char **argv)
{
    static const int64_t products[] = {1024, 4096, 8192, 0}, copies[] = {1 << 28, 1 << 30, 0};
    bool transfers = false;
    char name[128], library[64] = "cuMemcpyDtoDAsync";
    peer_options options;
    for (int i = 1; i + 1 < argc; i++) {
        transfers |= strcmp(argv[i], "--op") == 0 &&
                     (strcmp(argv[i + 1], "transfer") == 0 || strcmp(argv[i + 1], "copy") == 0);
    }
    peer_parse(argc, argv, transfers ? copies : products, &options);
    open_driver(name, (int)sizeof name);
    if (transfers) {
        options.f32 = true;
        options.f64 = false; /* a copy of bytes has no type, so one run is enough */
    } else {
        open_blas(library, sizeof library);
    }
    peer_begin("peer-cuda", "cuda:0", name, library);
    peer_each(&options, transfers ? measure_copy : measure_product);
    return peer_end();
}
