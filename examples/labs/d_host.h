/* SPDX-License-Identifier: Apache-2.0 */
/* d_host.h - what the host does in lab D: files, and the right sums. */
#ifndef D_HOST_H
#define D_HOST_H

#include "arrays.h"
#include "lab.h"

static inline FILE *host_open(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    lab_check(file, "cannot write %s", path);
    return file;
}

static inline void host_dump(const char *folder, const char *name, const void *array, size_t bytes)
{
    if (folder) { /* else nothing is asked for */
        FILE *file = host_open(folder, name);
        lab_check(fwrite(array, 1, bytes, file) == bytes && fclose(file) == 0, "cannot write %s",
                  name);
    }
}

/* A grey picture of n x n values, the least black and the largest white. */
static inline void host_picture(const char *folder, const char *name, const float *field, int64_t n)
{
    float low = field[0], high = field[0];
    for (int64_t i = 0; i < n * n; i++) {
        low = fminf(low, field[i]);
        high = fmaxf(high, field[i]);
    }
    FILE *file = host_open(folder, name);
    (void)fprintf(file, "P5\n%lld %lld\n255\n", (long long)n, (long long)n);
    for (int64_t i = 0; i < n * n; i++) {
        (void)fputc(high > low ? (int)(255 * (field[i] - low) / (high - low)) : 0, file);
    }
    lab_check(fclose(file) == 0, "cannot write %s", name);
}

/* On the host, in f64 and in the cheaper order: the sums of A's columns first. */
static inline double *host_sums(const void *a, const void *b, const array_sums *s)
{
    double *sums = lab_alloc(s->k * (int64_t)sizeof *sums);
    double *y = lab_alloc(s->n * (int64_t)sizeof *y);
    memset(sums, 0, (size_t)s->k * sizeof *sums);
    memset(y, 0, (size_t)s->n * sizeof *y);
    for (int64_t at = 0; at < s->m * s->k; at++) {
        sums[at % s->k] += lab_get(a, s->dtype, at);
    }
    for (int64_t at = 0; at < s->k * s->n; at++) {
        y[at % s->n] += sums[at / s->n] * lab_get(b, s->dtype, at);
    }
    free(sums);
    return y;
}

#endif
