/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - what the small programs in this folder share. Each calls a library or a plain loop by
 * itself, with a clock of its own and nothing of isomer's, and prints what it saw as a results
 * document, so that
 *
 *     isomer bench --backend openmp --op gemm --variant vendor --against peer-openblas
 *
 * holds isomer's figures against it, turn by turn.
 */
#ifndef ISOMER_PEER_H
#define ISOMER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_SIZES = 16, PEER_SAMPLES = 1000 };

/* What of the command line matters to a peer: `bench --size LIST --dtype LIST --json -`. All else
 * that isomer bench takes is passed over. */
typedef struct peer_options {
    int64_t sizes[PEER_SIZES];
    int size_count;
    bool f32, f64;
} peer_options;

/* Sizes that are not given are `defaults`, ended by 0. Ends the program where a size makes no
 * sense. */
void peer_parse(int argc, char **argv, const int64_t *defaults, peer_options *out);

/* Ends the program with code 1 after saying what is missing. */
void peer_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Opens the first library that is there; NULL-terminated names. Dies where none is. */
void *peer_open(const char *const *names);
/* Its function; dies where it has none. */
void *peer_find(void *library, const char *name);

/* Host memory in huge pages where the system has them, as isomer's is: without them the walks
 * through the page tables would be what differs. To be freed by free. */
char *peer_memory(size_t bytes);

double peer_seconds(void);

/* Numbers in [-1, 1) that are the same every time. */
void peer_fill_f32(float *x, int64_t n);
void peer_fill_f64(double *x, int64_t n);

/* The document. `device` is what isomer calls the device, such as "openmp:0". */
void peer_begin(const char *program, const char *device, const char *name, const char *library);

/* One case: its identity as isomer writes it, and the nanoseconds of one call in each sample. */
typedef struct peer_case {
    const char *op, *kind, *variant, *dtype;
    int64_t n; /* products: N of N x N x N; streams: elements; transfers: bytes */
    double flops, bytes_read, bytes_written;
} peer_case;
/* How far the result was off at the element that was worst, and by how much it may be. */
typedef struct peer_check {
    const char *method;
    double error, bound;
} peer_check;
void peer_add(const peer_case *item, const peer_check *check, const double *nanoseconds, int count,
              int64_t calls);

/* Holds 64 elements of the product of two n x n matrices against sums in long double. */
peer_check peer_check_product(int64_t n, bool f64, const void *a, const void *b, const void *c);

/* Prints it. The exit code. */
int peer_end(void);

/* Runs `call` once, then in samples of at least half a millisecond by the processor's clock, `wait`
 * after each (NULL: `call` waits itself), checks what the last call left and adds the case. Dies
 * where a call gives anything but 0, or the result is wrong. */
typedef struct peer_work {
    int (*call)(void *context);
    int (*wait)(void *context);
    peer_check (*check)(void *context);
    void *context;
} peer_work;
void peer_measure(const peer_case *item, const peer_work *work);

#endif
