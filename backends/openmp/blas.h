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
    /* The stack that a call of the library needs. If the caller has less, another thread makes the
     * call. OpenBLAS 0.3.21 was seen to use 22 KiB. */
    CPU_BLAS_STACK = 128 * 1024
};

/* The CBLAS interface with 32-bit integers: sizes and leading dimensions are at most INT_MAX. */
enum { CPU_BLAS_ROW_MAJOR = 101, CPU_BLAS_NO_TRANS = 111, CPU_BLAS_TRANS = 112 };

typedef struct cpu_blas {
    cpu_blas_kind kind;
    char name[ISO_NAME_MAX];    /* "OpenBLAS" */
    char version[ISO_NAME_MAX]; /* "0.3.21"; "" if not reported */
    char core[ISO_NAME_MAX];    /* "Cooperlake": it uses the kernels for this; "" if not reported */
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
    double (*dsum)(int n, const double *x, int incx); /* for f64; otherwise like ssum */

    /* Transposes of elements of 4, 8 and 16 bytes, all row-major; NULL if the library has none. */
    struct {
        cpu_transpose_block block;
        const char *name; /* name of the library's function */
    } transpose[3];

    int by_openmp;   /* it uses the OpenMP runtime's threads */
    int by_call;     /* it creates its own threads in each call */
    int own_threads; /* threads that it created when it was opened, plus the caller; 0 if none */
    void (*set_threads_int)(int threads);   /* at most one of these three is set */
    void (*set_threads_long)(long threads); /* BLIS counts in its own 64-bit type */
    int (*set_threads_local)(int threads);  /* MKL: for this thread; returns the old number */
} cpu_blas;

/* Returns the library and opens it at the first call. NULL if none can be used; cpu_blas_reason()
 * then says what was tried. Any thread may call this. */
const cpu_blas *cpu_blas_get(void);
const char *cpu_blas_reason(void);
/* The same, but if there is no library, it also sets the error: UNSUPPORTED, with the name of the
 * operation. */
const cpu_blas *cpu_blas_need(const char *operation);
/* Writes the library's label and the name of this function to `out`. */
void cpu_blas_describe(iso_op_info *out, const char *function);

/* Checks ISOMER_BLAS and opens nothing. INVALID: it is neither a known name nor an absolute path.
 */
iso_status cpu_blas_check_setting(void);

/* blas_call.c: runs `body`, which calls the library. The library may use as many threads as the
 * team has, or fewer if the system grants fewer. Afterwards the caller's floating-point environment
 * and OpenMP thread count are restored. NO_MEMORY: the caller has too little stack, and no thread
 * could be created. */
iso_status cpu_blas_call(const cpu_device *device, void (*body)(void *context), void *context);

/* ---- With limited threads: blas_threads.c ---------------------------------------------------- */

typedef struct cpu_blas_threads {
    char *value; /* the user's value of OPENBLAS_NUM_THREADS */
    int changed;
} cpu_blas_threads;

/* A library that is opened between these two calls creates no more threads than the system grants.
 */
void cpu_blas_threads_limit(cpu_blas_threads *was);
void cpu_blas_threads_restore(cpu_blas_threads *was);
/* Returns how many of the `wanted` threads the library may use in a call. */
int cpu_blas_threads_for(const cpu_blas *blas, int wanted);

/* ---- With limited memory: blas_trial.c ------------------------------------------------------- */

/* Whether the first of these libraries that exists can be opened without hanging the process. If
 * the process's memory is limited, a trial in a separate process decides; otherwise the answer is
 * yes. If the answer is 0, `why` holds the limits and the trial's outcome. */
int cpu_blas_may_open(const char *const *names, int count, char *why, size_t capacity);
/* Makes the library allocate its permanent memory now, because the trial has just shown that it is
 * available. Does nothing if memory is not limited. */
void cpu_blas_settle(const cpu_blas *blas);

/* ---- Which core the library should use: blas_core.c ------------------------------------------ */

/* Returns the name of a core that suits the processor better than `core`, which the library chose
 * itself. NULL if there is none. OPENBLAS_CORETYPE takes this name; BLIS_ARCH_TYPE takes the core's
 * number. */
const char *cpu_blas_better_core(cpu_blas_kind kind, const cpu_facts *facts, const char *core);

#endif
