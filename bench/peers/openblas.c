/* SPDX-License-Identifier: Apache-2.0 */
/* openblas.c - OpenBLAS's products called directly, with the library as it chooses itself or as
 * OPENBLAS_CORETYPE says. */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111 };

typedef void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                      float, float *, int);
typedef void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *,
                      int, double, double *, int);

typedef struct product {
    sgemm single;
    dgemm twice;
    bool f64;
    int n;
    void *a, *b, *c;
} product;

static int multiply(void *context)
{
    product *p = context;
    if (p->f64) {
        p->twice(ROW_MAJOR, NO_TRANS, NO_TRANS, p->n, p->n, p->n, 1.0, p->a, p->n, p->b, p->n, 0.0,
                 p->c, p->n);
    } else {
        p->single(ROW_MAJOR, NO_TRANS, NO_TRANS, p->n, p->n, p->n, 1.0f, p->a, p->n, p->b, p->n,
                  0.0f, p->c, p->n);
    }
    return 0;
}

static peer_check check(void *context)
{
    const product *p = context;
    return peer_check_product(p->n, p->f64, p->a, p->b, p->c);
}

static void measure(product *p, int64_t n, bool f64)
{
    size_t count = (size_t)n * (size_t)n, bytes = count * (f64 ? 8 : 4);
    p->n = (int)n;
    p->f64 = f64;
    p->a = peer_memory(bytes);
    p->b = peer_memory(bytes);
    p->c = peer_memory(bytes);
    if (f64) {
        peer_fill_f64(p->a, (int64_t)count);
        peer_fill_f64(p->b, (int64_t)count);
    } else {
        peer_fill_f32(p->a, (int64_t)count);
        peer_fill_f32(p->b, (int64_t)count);
    }
    double cubes = (double)n * (double)n * (double)n, square = (double)bytes;
    peer_measure(
        &(peer_case){"gemm", NULL, "vendor", f64 ? "f64" : "f32", n, 2 * cubes, 2 * square, square},
        &(peer_work){multiply, NULL, check, p});
    free(p->a);
    free(p->b);
    free(p->c);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"libopenblas.so.0", NULL};
    static const int64_t defaults[] = {512, 1024, 2048, 0};
    peer_options options;
    peer_parse(argc, argv, defaults, &options);
    const char *named = getenv("ISOMER_PEER_LIBRARY");
    const char *const own[] = {named, NULL};
    void *library = peer_open(named ? own : names);
    product p = {.single = (sgemm)peer_find(library, "cblas_sgemm"),
                 .twice = (dgemm)peer_find(library, "cblas_dgemm")};
    const char *(*config)(void) = (const char *(*)(void))peer_find(library, "openblas_get_config");
    peer_begin("peer-openblas", "openmp:0", "host", config());
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
