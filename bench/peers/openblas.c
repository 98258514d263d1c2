/* SPDX-License-Identifier: Apache-2.0 */
/* openblas.c - calls OpenBLAS's products directly, with the kernels that the library chooses, or
 * with those that OPENBLAS_CORETYPE names. */
#include "bench/peers/peer.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111 };

static void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                     float, float *, int);
static void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                     double, double *, int);

static int multiply(void *context)
{
    const peer_arrays *p = context;
    int n = (int)p->n;
    if (p->f64) {
        dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0, p->a, n, p->b, n, 0.0, p->c, n);
    } else {
        sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1.0f, p->a, n, p->b, n, 0.0f, p->c, n);
    }
    return 0;
}

static void *make(const void *host, size_t bytes)
{
    return memcpy(peer_memory(bytes), host, bytes);
}

static void read_array(void *host, void *array, size_t bytes)
{
    memcpy(host, array, bytes);
}

static void measure(int64_t n, bool f64)
{
    static const peer_device memory = {make, read_array, free, NULL};
    peer_measure_product(n, f64, &memory, multiply);
}

int main(int argc, char **argv)
{
    static const int64_t defaults[] = {512, 1024, 2048, 0};
    const char *named = getenv("ISOMER_PEER_LIBRARY");
    const char *(*config)(void);
    peer_options options;
    peer_parse(argc, argv, defaults, &options);
    peer_load((const char *const[]){named ? named : "libopenblas.so.0", NULL},
              (const peer_symbol[]){{"cblas_sgemm", &sgemm},
                                    {"cblas_dgemm", &dgemm},
                                    {"openblas_get_config", &config},
                                    {NULL, NULL}});
    peer_begin("peer-openblas", "openmp:0", "host", config());
    peer_each(&options, measure);
    return peer_end();
}
