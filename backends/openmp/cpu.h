/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - declarations shared by the files of the CPU backend. Device memory is host memory: a
 * `memory` pointer of the ABI is the block's address. */
#ifndef ISOMER_OPENMP_CPU_H
#define ISOMER_OPENMP_CPU_H

#include "backends/openmp/kernels/kernels.h"

#include <isomer/backend.h>

#include <time.h>

extern const iso_host *cpu_host; /* set once, before any other call */

/* ---- isa.c: the instruction sets that kernels are compiled for ------------------------------- */

/* The kernels in use: the best that this processor supports, or those that ISOMER_CPU_ISA names.
 * INVALID: this build does not contain the named set, or the processor does not support it. */
iso_status cpu_isa_choose(const cpu_kernels **out);

typedef struct cpu_facts {
    char name[ISO_NAME_MAX];    /* model name */
    char emulator[64];          /* what emulates this processor; "" if it seems real */
    char vendor[ISO_NAME_MAX];  /* "GenuineIntel" */
    int32_t family, model;      /* x86 only; else 0 */
    int32_t cores;              /* usable by this process (its affinity mask, its cgroup's quota) */
    int32_t clock_mhz;          /* 0 if unknown */
    int64_t l1_bytes, l2_bytes; /* data caches of one core */
    int64_t l3_bytes;           /* the whole cache of level 3 or above, which cores share; or 0 */
    int64_t cache_bytes;        /* l3_bytes, or l2_bytes if there is no L3 */
    int32_t has_fma, has_avx2, has_avx512, has_vnni, has_f16c;
    int32_t sve_bytes; /* length of this process's SVE vectors; 0 without SVE */
} cpu_facts;

const cpu_facts *cpu_facts_get(void); /* determined once; never NULL */

/* ---- emulator.c ------------------------------------------------------------------------------ */

/* Names the program that emulates this processor, such as "qemu-aarch64". Returns 0 if it seems to
 * be real. */
int cpu_emulator(char *name, size_t capacity);

/* ---- team.c: the threads --------------------------------------------------------------------- */

/* A process has one team. Its OpenMP threads sleep between tasks. The caller takes part as thread
 * 0. Tasks of different callers run one at a time. */
typedef struct cpu_team cpu_team;

typedef void (*cpu_body)(void *context, int thread, int threads);

int cpu_team_size(const cpu_team *team);
/* How many threads to use for work that is worth `wanted` threads: at least 1, at most the team's
 * size. */
int cpu_team_threads(const cpu_team *team, double wanted);

/* Returns CPU_TEAM_SCRATCH bytes, aligned to 64, that this thread alone uses while its body runs.
 * They are for data that is too large for a small stack. */
enum { CPU_TEAM_SCRATCH = 57344 };
void *cpu_team_scratch(cpu_team *team, int thread);

/* Runs body(context, thread, threads) for thread 0 .. threads-1 and returns when all have finished.
 * `threads` is cut to the team's size, and body gets the actual number. If it is 1, body runs in
 * the caller and no thread is woken. While body runs, every thread rounds to nearest and keeps
 * subnormals; afterwards its previous settings are restored. Must not be called from a body. The
 * caller holds the team's lock. */
void cpu_team_run(cpu_team *team, int threads, cpu_body body, void *context);

/* Inside a body: waits until all threads of this run have arrived. */
void cpu_team_barrier(cpu_team *team);

/* A thread that computes outside cpu_team_run calls these two: the first sets its floating-point
 * environment, and the second restores the previous one. */
uint64_t cpu_control_enter(void);
void cpu_control_leave(uint64_t saved);
/* The same around calls of other libraries, which may also use x87 registers. */
typedef struct cpu_fpenv {
    uint64_t saved;
#if defined(__x86_64__) || defined(__i386__)
    int x87_differs;
    uint32_t x87[7]; /* what fnstenv stores */
#endif
} cpu_fpenv;
cpu_fpenv cpu_fpenv_enter(void);
void cpu_fpenv_leave(cpu_fpenv env);

/* ---- device.c -------------------------------------------------------------------------------- */

typedef struct cpu_device {
    cpu_team *team;
    const cpu_kernels *kernels; /* for the instruction set chosen when the device was opened */
    const cpu_facts *facts;
} cpu_device;

/* ---- operations: each file defines one table, and backend.c lists the tables ----------------- */

typedef struct cpu_operation {
    /* As in iso_backend. Operands have addresses only in execute; elsewhere they are NULL. The core
     * has already checked the type, and that the operation has the variant. Optional: NULL means
     * that everything is supported. */
    iso_status (*supports)(cpu_device *device, const iso_op *op);
    /* Optional: NULL means that no scratch memory is used. */
    int64_t (*workspace)(cpu_device *device, const iso_op *op);
    /* Writes out->kernel and, for the vendor variant, out->library. */
    void (*describe)(cpu_device *device, const iso_op *op, iso_op_info *out);
    /* Runs the operation now, in the calling thread and the team's threads. The caller, a stream,
     * holds the team's lock. Allocates nothing, because op->workspace is the scratch memory. A
     * failure becomes the stream's late error. */
    iso_status (*execute)(cpu_device *device, const iso_op *op);
} cpu_operation;

/* ---- blas.c: the vendor's library ------------------------------------------------------------ */

/* Writes the index-th property of the BLAS library (name and path, core, threading, remark).
 * Returns 0 after the last. */
int cpu_blas_property(int32_t index, iso_property *out);

/* ---- small helpers --------------------------------------------------------------------------- */

/* The address of an operand. */
static inline void *cpu_at(iso_ref ref)
{
    return (char *)ref.memory + ref.offset;
}

/* CLOCK_MONOTONIC, in nanoseconds. */
static inline int64_t cpu_now(void)
{
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t cpu_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns how many parts of `size` are needed to cover n. */
static inline int64_t cpu_pieces(int64_t n, int64_t size)
{
    return n / size + (n % size != 0);
}

/* Splits `count` items evenly into `parts`, and returns the first item of part `index`. */
static inline int64_t cpu_split(int64_t count, int parts, int index)
{
    return count / parts * index + cpu_least(count % parts, index);
}

#endif
