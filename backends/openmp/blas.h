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
enum {
    CPU_BLAS_ROW_MAJOR = 101,
    CPU_BLAS_NO_TRANS = 111,
    CPU_BLAS_TRANS = 112,
    CPU_BLAS_CONJ_TRANS = 113,
    CPU_BLAS_UPPER = 121,
    CPU_BLAS_LOWER = 122,
    CPU_BLAS_NON_UNIT = 131,
    CPU_BLAS_UNIT = 132,
    CPU_BLAS_LEFT = 141,
    CPU_BLAS_RIGHT = 142
};

/* Products, symmetric products and triangular solves. The types of a routine differ only in how it
 * takes factors: by value, or complex ones by address. */
typedef void cpu_gemm_narrow(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                             const void *a, int lda, const void *b, int ldb, float beta, void *c,
                             int ldc);
typedef void cpu_gemm_wide(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                           const void *a, int lda, const void *b, int ldb, double beta, void *c,
                           int ldc);
typedef void cpu_gemm_pair(int order, int trans_a, int trans_b, int m, int n, int k,
                           const void *alpha, const void *a, int lda, const void *b, int ldb,
                           const void *beta, void *c, int ldc);
typedef void cpu_syrk_narrow(int order, int triangle, int trans, int n, int k, float alpha,
                             const void *a, int lda, float beta, void *c, int ldc);
typedef void cpu_syrk_wide(int order, int triangle, int trans, int n, int k, double alpha,
                           const void *a, int lda, double beta, void *c, int ldc);
typedef void cpu_syrk_pair(int order, int triangle, int trans, int n, int k, const void *alpha,
                           const void *a, int lda, const void *beta, void *c, int ldc);
typedef void cpu_trsm_narrow(int order, int side, int triangle, int trans, int diagonal, int m,
                             int n, float alpha, const void *a, int lda, void *b, int ldb);
typedef void cpu_trsm_wide(int order, int side, int triangle, int trans, int diagonal, int m, int n,
                           double alpha, const void *a, int lda, void *b, int ldb);
typedef void cpu_trsm_pair(int order, int side, int triangle, int trans, int diagonal, int m, int n,
                           const void *alpha, const void *a, int lda, void *b, int ldb);

typedef struct cpu_blas {
    cpu_blas_kind kind;
    char name[ISO_NAME_MAX];    /* "OpenBLAS" */
    char version[ISO_NAME_MAX]; /* "0.3.21"; "" if not reported */
    char core[ISO_NAME_MAX];    /* "Cooperlake": it uses the kernels for this; "" if not reported */
    char label[ISO_NAME_MAX];   /* "OpenBLAS 0.3.21 (Cooperlake)", for iso_op_info.library */

    cpu_gemm_narrow *sgemm;
    cpu_gemm_wide *dgemm;

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

    /* NULL if the library has none. */
    cpu_gemm_pair *cgemm, *zgemm;
    cpu_syrk_narrow *ssyrk;
    cpu_syrk_wide *dsyrk;
    cpu_syrk_pair *csyrk, *zsyrk;
    cpu_trsm_narrow *strsm;
    cpu_trsm_wide *dtrsm;
    cpu_trsm_pair *ctrsm, *ztrsm;
    cpu_gemm_narrow *sbgemm, *bf16_gemm, *f16_gemm; /* C is f32; OpenBLAS, and MKL's two */

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

/* ---- What products, symmetric products and solves have in common: blas_level3.c -------------- */

typedef struct cpu_blas_size {
    const char *name;
    int64_t value;
} cpu_blas_size;

/* ISO_OK if the library is the one that was asked for, has the routine and takes the sizes.
 * `routine` is NULL if the library has none for the types, which `types` names. */
iso_status cpu_blas_allows(const char *operation, int32_t library, const void *routine,
                           const char *types, const cpu_blas_size *sizes, size_t count);
int cpu_blas_trans(iso_trans trans);
int cpu_blas_triangle(iso_triangle triangle);

/* A factor, in each of the types in which routines take it. */
typedef struct cpu_blas_factor {
    float narrow;
    double wide;
    float narrow_pair[2];
    double wide_pair[2];
} cpu_blas_factor;
cpu_blas_factor cpu_blas_factor_of(double real, double imaginary);
/* The address of a complex factor of this type. */
const void *cpu_blas_pair(const cpu_blas_factor *factor, iso_dtype dtype);

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
