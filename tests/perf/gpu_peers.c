/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_peers.c - opens the vendor's libraries and calls them on the measured device. */
#include "tests/perf/gpu_peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char problem[1024];

const char *gpu_peers_problem(void)
{
    return problem;
}

const char *gpu_peers_name(const gpu_peers *peers)
{
    return peers->name;
}

/* gpu_peers.c - the vendor's functions that gpu_peers.h needs. */
static int (*cu_set_current)(void *);
static int (*cu_copy)(unsigned long long, unsigned long long, size_t, void *);
static int (*cublas_create)(void **);
static int (*cublas_set_stream)(void *, void *);
static int (*cublas_version)(void *, int *);
static int (*cublas_sgemm)(void *, int, int, int, int, int, const float *, const float *, int,
                           const float *, int, const float *, float *, int);
static int (*cublas_dgemm)(void *, int, int, int, int, int, const double *, const double *, int,
                           const double *, int, const double *, double *, int);
static int (*clblast_sgemm)(int, int, int, size_t, size_t, size_t, float, void *, size_t, size_t,
                            void *, size_t, size_t, float, void *, size_t, size_t, void **,
                            void **);
static int (*clblast_dgemm)(int, int, int, size_t, size_t, size_t, double, void *, size_t, size_t,
                            void *, size_t, size_t, double, void *, size_t, size_t, void **,
                            void **);
static int (*cl_copy)(void *, void *, void *, size_t, size_t, size_t, unsigned, void *const *,
                      void **);
static int (*cub_sum)(void *, size_t *, const void *, void *, long long, int, void *);

static void *open_first(const char *const *names)
{
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            return library;
        }
        snprintf(problem, sizeof problem, "%s", dlerror());
    }
    return NULL;
}

static int find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        snprintf(problem, sizeof problem, "no function %s", name);
        return 0;
    }
    memcpy(function, &symbol, sizeof symbol);
    return 1;
}

static void *native(iso_native_kind kind, uint64_t id)
{
    void *object = NULL;
    if (iso_native_get(kind, id, &object) != ISO_OK) {
        snprintf(problem, sizeof problem, "%s", iso_last_error());
    }
    return object;
}

static char *memory(iso_operand operand)
{
    return (char *)native(ISO_NATIVE_MEMORY, operand.buffer.id) + operand.offset;
}

int gpu_peers_open(gpu_peers *peers, const char *backend, iso_device device, iso_stream stream)
{
    static const char *const driver[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                         NULL};
    static const char *const cl[] = {
        "libOpenCL.so.1", "/usr/local/cuda/targets/x86_64-linux/lib/libOpenCL.so.1", NULL};
    void *library;
    peers->opencl = !strcmp(backend, "opencl");
    peers->device = device;
    peers->stream = native(ISO_NATIVE_STREAM, stream.id);
    if (peers->opencl) {
        library = open_first(cl);
        return library && find(library, "clEnqueueCopyBuffer", &cl_copy);
    }
    library = open_first(driver);
    if (!library || !find(library, "cuCtxSetCurrent", &cu_set_current) ||
        !find(library, "cuMemcpyDtoDAsync_v2", &cu_copy)) {
        return 0;
    }
    void *context = native(ISO_NATIVE_CONTEXT, device.id);
    if (!context) { /* HIP: the primary context, as the runtime's users have it */
        int (*retain)(void **, int);
        if (!find(library, "cuDevicePrimaryCtxRetain", &retain) || retain(&context, 0)) {
            return 0;
        }
    }
    return cu_set_current(context) == 0;
}

int gpu_peers_open_gemm(gpu_peers *peers)
{
    static const char *const cublas[] = {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13",
                                         "libcublas.so.12", NULL};
    static const char *const clblast[] = {"libclblast.so.1", NULL};
    void *library = open_first(peers->opencl ? clblast : cublas);
    int version = 0;
    if (!library) {
        return 0;
    }
    if (peers->opencl) {
        snprintf(peers->name, sizeof peers->name, "CLBlast");
        return find(library, "CLBlastSgemm", &clblast_sgemm) &&
               find(library, "CLBlastDgemm", &clblast_dgemm);
    }
    if (!find(library, "cublasCreate_v2", &cublas_create) ||
        !find(library, "cublasSetStream_v2", &cublas_set_stream) ||
        !find(library, "cublasGetVersion_v2", &cublas_version) ||
        !find(library, "cublasSgemm_v2", &cublas_sgemm) ||
        !find(library, "cublasDgemm_v2", &cublas_dgemm)) {
        return 0;
    }
    if (cublas_create(&peers->blas) || cublas_set_stream(peers->blas, peers->stream) ||
        cublas_version(peers->blas, &version)) {
        snprintf(problem, sizeof problem, "cuBLAS gives no handle");
        return 0;
    }
    snprintf(peers->name, sizeof peers->name, "cuBLAS %d", version);
    return 1;
}

int gpu_peers_open_sum(gpu_peers *peers)
{
    static const char *const cub[] = {PERF_CUB_LIBRARY, NULL};
    void *library = open_first(cub);
    iso_buffer temporary;
    size_t bytes = 0;
    if (!library || !find(library, "peer_cub_sum", &cub_sum) ||
        cub_sum(NULL, &bytes, NULL, NULL, (long long)1 << 28, 1, peers->stream)) {
        return 0;
    }
    peers->temporary_bytes = (int64_t)bytes + (1 << 20);
    if (iso_buffer_create(peers->device, peers->temporary_bytes, &temporary) != ISO_OK) {
        return 0;
    }
    peers->temporary = memory((iso_operand){temporary, 0});
    return 1;
}

/* Row-major C = A B is column-major C' = B' A'. */
int gpu_peers_gemm(gpu_peers *peers, const iso_gemm_args *g)
{
    enum { NO_TRANS = 0, CL_ROW_MAJOR = 101, CL_NO_TRANS = 111 };
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    if (peers->opencl) {
        void *a = native(ISO_NATIVE_MEMORY, g->a.buffer.id);
        void *b = native(ISO_NATIVE_MEMORY, g->b.buffer.id);
        void *c = native(ISO_NATIVE_MEMORY, g->c.buffer.id);
        const size_t ld_a = (size_t)k, ld_b = (size_t)n;
        if (g->dtype == ISO_F32) {
            return clblast_sgemm(CL_ROW_MAJOR, CL_NO_TRANS, CL_NO_TRANS, (size_t)m, (size_t)n,
                                 (size_t)k, 1.0f, a, 0, ld_a, b, 0, ld_b, 0.0f, c, 0, ld_b,
                                 &peers->stream, NULL);
        }
        return clblast_dgemm(CL_ROW_MAJOR, CL_NO_TRANS, CL_NO_TRANS, (size_t)m, (size_t)n,
                             (size_t)k, 1.0, a, 0, ld_a, b, 0, ld_b, 0.0, c, 0, ld_b,
                             &peers->stream, NULL);
    }
    void *a = memory(g->a), *b = memory(g->b), *c = memory(g->c);
    if (g->dtype == ISO_F32) {
        static const float one = 1, zero = 0;
        return cublas_sgemm(peers->blas, NO_TRANS, NO_TRANS, n, m, k, &one, b, n, a, k, &zero, c,
                            n);
    }
    static const double one = 1, zero = 0;
    return cublas_dgemm(peers->blas, NO_TRANS, NO_TRANS, n, m, k, &one, b, n, a, k, &zero, c, n);
}

int gpu_peers_copy(gpu_peers *peers, iso_operand to, iso_operand from, int64_t bytes)
{
    if (peers->opencl) {
        return cl_copy(peers->stream, native(ISO_NATIVE_MEMORY, from.buffer.id),
                       native(ISO_NATIVE_MEMORY, to.buffer.id), (size_t)from.offset,
                       (size_t)to.offset, (size_t)bytes, 0, NULL, NULL);
    }
    return cu_copy((unsigned long long)(uintptr_t)memory(to),
                   (unsigned long long)(uintptr_t)memory(from), (size_t)bytes, peers->stream);
}

int gpu_peers_sum(gpu_peers *peers, iso_operand x, iso_operand result, int64_t count,
                  iso_dtype dtype)
{
    size_t bytes = (size_t)peers->temporary_bytes;
    return cub_sum(peers->temporary, &bytes, memory(x), memory(result), (long long)count,
                   dtype == ISO_F64, peers->stream);
}
