/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - cuBLAS's products and a loop of cuMemcpyDtoDAsync, called directly in the primary
 * context. */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*name)(char *, int, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*alloc)(address *, size_t);
    int (*free)(address);
    int (*write)(address, const void *, size_t);
    int (*read)(void *, address, size_t);
    int (*copy)(address, address, size_t, void *);
    int (*stream)(void **, unsigned);
    int (*sync)(void *);
    void *queue;
} cu;

static struct {
    int (*create)(void **);
    int (*set_stream)(void *, void *);
    int (*set_math)(void *, int);
    int (*version)(void *, int *);
    int (*sgemm)(void *, int, int, int, int, int, const float *, address, int, address, int,
                 const float *, address, int);
    int (*dgemm)(void *, int, int, int, int, int, const double *, address, int, address, int,
                 const double *, address, int);
    void *handle;
} blas;

static void need(int status, const char *what)
{
    if (status != 0) {
        peer_die("%s gives %d", what, status);
    }
}

static void *function(void *library, const char *name)
{
    return peer_find(library, name);
}

#define FIND(table, member, library, name)                                                         \
    do {                                                                                           \
        void *found = function(library, name);                                                     \
        memcpy(&(table).member, &found, sizeof found);                                             \
    } while (0)

static void open_driver(char *name, int room)
{
    static const char *const names[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                        NULL};
    void *library = peer_open(names), *context;
    int device;
    FIND(cu, init, library, "cuInit");
    FIND(cu, device, library, "cuDeviceGet");
    FIND(cu, name, library, "cuDeviceGetName");
    FIND(cu, retain, library, "cuDevicePrimaryCtxRetain");
    FIND(cu, current, library, "cuCtxSetCurrent");
    FIND(cu, alloc, library, "cuMemAlloc_v2");
    FIND(cu, free, library, "cuMemFree_v2");
    FIND(cu, write, library, "cuMemcpyHtoD_v2");
    FIND(cu, read, library, "cuMemcpyDtoH_v2");
    FIND(cu, copy, library, "cuMemcpyDtoDAsync_v2");
    FIND(cu, stream, library, "cuStreamCreate");
    FIND(cu, sync, library, "cuStreamSynchronize");
    need(cu.init(0), "cuInit");
    need(cu.device(&device, 0), "cuDeviceGet");
    need(cu.name(name, room, device), "cuDeviceGetName");
    need(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    need(cu.current(context), "cuCtxSetCurrent");
    need(cu.stream(&cu.queue, 1), "cuStreamCreate");
}

static void open_blas(char *text, size_t room)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12", NULL};
    void *library = peer_open(names);
    int version = 0;
    FIND(blas, create, library, "cublasCreate_v2");
    FIND(blas, set_stream, library, "cublasSetStream_v2");
    FIND(blas, set_math, library, "cublasSetMathMode");
    FIND(blas, version, library, "cublasGetVersion_v2");
    FIND(blas, sgemm, library, "cublasSgemm_v2");
    FIND(blas, dgemm, library, "cublasDgemm_v2");
    need(blas.create(&blas.handle), "cublasCreate");
    need(blas.set_stream(blas.handle, cu.queue), "cublasSetStream");
    enum { DEFAULT = 0 }; /* f32 in f32, f64 by the matrix units, which keep all of it */
    need(blas.set_math(blas.handle, DEFAULT), "cublasSetMathMode");
    need(blas.version(blas.handle, &version), "cublasGetVersion");
    snprintf(text, room, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

typedef struct work {
    address a, b, c;
    int n;
    bool f64;
    size_t bytes;
    void *host; /* A, which B is too */
} work;

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
    work *w = context;
    int n = w->n;
    return w->f64
               ? blas.dgemm(blas.handle, 0, 0, n, n, n, &one64, w->b, n, w->a, n, &zero64, w->c, n)
               : blas.sgemm(blas.handle, 0, 0, n, n, n, &one, w->b, n, w->a, n, &zero, w->c, n);
}

static int copy(void *context)
{
    work *w = context;
    return cu.copy(w->c, w->a, w->bytes, cu.queue);
}

static void make(work *w, size_t bytes, bool f64)
{
    void *host = malloc(bytes);
    if (!host) {
        peer_die("no memory for %zu bytes", bytes);
    }
    if (f64) {
        peer_fill_f64(host, (int64_t)(bytes / 8));
    } else {
        peer_fill_f32(host, (int64_t)(bytes / 4));
    }
    w->bytes = bytes;
    w->f64 = f64;
    need(cu.alloc(&w->a, bytes), "cuMemAlloc");
    need(cu.alloc(&w->b, bytes), "cuMemAlloc");
    need(cu.alloc(&w->c, bytes), "cuMemAlloc");
    need(cu.write(w->a, host, bytes), "cuMemcpyHtoD");
    need(cu.write(w->b, host, bytes), "cuMemcpyHtoD");
    w->host = host;
}

static peer_check check(void *context)
{
    const work *w = context;
    peer_check result = {"exact", 0, 0};
    void *c = malloc(w->bytes);
    if (!c) {
        peer_die("no memory for %zu bytes", w->bytes);
    }
    need(cu.read(c, w->c, w->bytes), "cuMemcpyDtoH");
    if (w->n > 0) {
        result = peer_check_product(w->n, w->f64, w->host, w->host, c);
    } else {
        result.error = memcmp(c, w->host, w->bytes) == 0 ? 0 : 1;
    }
    free(c);
    return result;
}

static void drop(const work *w)
{
    free(w->host);
    cu.free(w->a);
    cu.free(w->b);
    cu.free(w->c);
}

static void measure_product(int64_t n, bool f64)
{
    work w = {.n = (int)n};
    double cubes = (double)n * (double)n * (double)n;
    make(&w, (size_t)n * (size_t)n * (f64 ? 8 : 4), f64);
    peer_measure(&(peer_case){"gemm", NULL, "vendor", f64 ? "f64" : "f32", n, 2 * cubes,
                              2 * (double)w.bytes, (double)w.bytes},
                 &(peer_work){multiply, wait, check, &w});
    drop(&w);
}

static void measure_copy(int64_t bytes)
{
    work w = {0};
    make(&w, (size_t)bytes, false);
    peer_measure(
        &(peer_case){"transfer", "copy", "device", NULL, bytes, 0, (double)bytes, (double)bytes},
        &(peer_work){copy, wait, check, &w});
    drop(&w);
}

int main(int argc, char **argv)
{
    static const int64_t products[] = {1024, 4096, 8192, 0}, copies[] = {1 << 28, 1 << 30, 0};
    bool transfers = false;
    char name[128], library[64];
    peer_options options;
    for (int i = 1; i + 1 < argc; i++) {
        transfers |= strcmp(argv[i], "--op") == 0 &&
                     (strcmp(argv[i + 1], "transfer") == 0 || strcmp(argv[i + 1], "copy") == 0);
    }
    peer_parse(argc, argv, transfers ? copies : products, &options);
    open_driver(name, (int)sizeof name);
    if (transfers) {
        snprintf(library, sizeof library, "cuMemcpyDtoDAsync");
    } else {
        open_blas(library, sizeof library);
    }
    peer_begin("peer-cuda", "cuda:0", name, library);
    for (int i = 0; i < options.size_count; i++) {
        if (transfers) {
            measure_copy(options.sizes[i]);
        }
        if (!transfers && options.f32) {
            measure_product(options.sizes[i], false);
        }
        if (!transfers && options.f64) {
            measure_product(options.sizes[i], true);
        }
    }
    return peer_end();
}
