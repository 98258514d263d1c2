/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - the BLAS library of this process: OpenBLAS, BLIS or MKL, opened at the first query and
 * never closed. */
#ifndef ISOMER_OPENMP_BLAS_H
#define ISOMER_OPENMP_BLAS_H

#include "backends/openmp/cpu.h"

typedef enum cpu_blas_kind {
    CPU_BLAS_OPENBLAS = 0,
    CPU_BLAS_BLIS = 1,
    CPU_BLAS_MKL = 2,
    CPU_BLAS_KINDS = 3
} cpu_blas_kind;

enum {
    /* With less stack than this, another thread calls the library: OpenBLAS 0.3.21 was seen to need
     * 22 KiB. */
    CPU_BLAS_STACK = 128 * 1024
};

/* The CBLAS interface with 32-bit integers: sizes and leading dimensions are at most INT_MAX. */
enum { CPU_BLAS_ROW_MAJOR = 101, CPU_BLAS_NO_TRANS = 111, CPU_BLAS_TRANS = 112 };

typedef struct cpu_blas {
    cpu_blas_kind kind;
    char name[ISO_NAME_MAX];    /* "OpenBLAS" */
    char version[ISO_NAME_MAX]; /* "0.3.21"; "" if not reported */
    char core[ISO_NAME_MAX];    /* whose kernels it uses: "Cooperlake"; "" if not reported */
    char label[ISO_NAME_MAX];   /* "OpenBLAS 0.3.21 (Cooperlake)", for iso_op_info.library */

    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);

    void (*sgemv)(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                  const float *x, int incx, float beta, float *y, int incy);
    void (*dgemv)(int order, int trans, int m, int n, double alpha, const double *a, int lda,
                  const double *x, int incx, double beta, double *y, int incy);

    float (*sdot)(int n, const float *x, int incx, const float *y, int incy);
    double (*ddot)(int n, const double *x, int incx, const double *y, int incy);
    float (*sasum)(int n, const float *x, int incx);
    double (*dasum)(int n, const double *x, int incx);
    float (*snrm2)(int n, const float *x, int incx);
    double (*dnrm2)(int n, const double *x, int incx);
    float (*ssum)(int n, const float *x, int incx);   /* only OpenBLAS; NULL if missing or wrong */
    double (*dsum)(int n, const double *x, int incx); /* the same */

    /* Transposes of elements of 4, 8 and 16 bytes, all row-major; NULL if the library has none. */
    struct {
        cpu_transpose_block block;
        const char *name; /* of the library's function */
    } transpose[3];

    int by_openmp;   /* it uses the OpenMP runtime's threads */
    int by_call;     /* it creates its own threads in each call */
    int own_threads; /* created when it was opened, including the caller; else 0 */
    void (*set_threads_int)(int threads);   /* one of these three, or none */
    void (*set_threads_long)(long threads); /* BLIS counts in its own 64-bit type */
    int (*set_threads_local)(int threads);  /* MKL: for this thread; returns the old number */
} cpu_blas;

/* NULL if there is none; cpu_blas_reason() then says what was tried. May be called by any thread.
 */
const cpu_blas *cpu_blas_get(void);
const char *cpu_blas_reason(void);
/* The same; if there is none, fails with UNSUPPORTED for this operation. */
const cpu_blas *cpu_blas_need(const char *operation);
/* Writes the library's label and the name of its function. */
void cpu_blas_describe(iso_op_info *out, const char *function);

/* INVALID: ISOMER_BLAS is neither a known name nor a path. Opens nothing. */
iso_status cpu_blas_check_setting(void);

/* blas_call.c: runs `body`, which calls the library. It may use the team's number of threads, as
 * far as the system grants them; the caller's floating-point environment and OpenMP setting are
 * restored. NO_MEMORY: the caller has too little stack, and no thread could be created. */
iso_status cpu_blas_call(const cpu_device *device, void (*body)(void *context), void *context);

/* ---- With limited threads: blas_threads.c ---------------------------------------------------- */

typedef struct cpu_blas_threads {
    char *value; /* the user's value of the variable */
    int changed;
} cpu_blas_threads;

/* Between these two calls a library that creates its threads on opening creates no more than the
 * system grants. */
void cpu_blas_threads_limit(cpu_blas_threads *was);
void cpu_blas_threads_restore(cpu_blas_threads *was);
/* How many of the `wanted` threads the library may use in a call. */
int cpu_blas_threads_for(const cpu_blas *blas, int wanted);

/* ---- With limited memory: blas_trial.c ------------------------------------------------------- */

/* Whether the first of these that exists can be opened without hanging the process: decided by a
 * trial if the system limits its memory, otherwise yes. 0: `why` has the limits and the outcome. */
int cpu_blas_may_open(const char *const *names, int count, char *why, size_t capacity);
/* Makes the library allocate its permanent memory now, while it is known to be available. Does
 * nothing if memory is not limited. `set_threads` may be NULL. */
void cpu_blas_settle(const cpu_blas *blas);

/* ---- Which core the library should use: no side effects, for tests too ----------------------- */

/* The value of OPENBLAS_CORETYPE (BLIS_ARCH_TYPE) that suits the processor better than `core`, the
 * library's own choice; NULL if `core` is as good as any. */
const char *cpu_blas_better_core(cpu_blas_kind kind, const cpu_facts *facts, const char *core);

#endif
