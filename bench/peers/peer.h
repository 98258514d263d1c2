/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - shared by the small programs in this folder. Each of them calls a library, or runs a
 * plain loop, with its own clock and without isomer's code, and prints a results document. So this
 * command compares isomer's figures with the program's, in turn:
 *
 *     isomer bench --backend openmp --op gemm --variant vendor --against peer-openblas
 */
#ifndef ISOMER_PEER_H
#define ISOMER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_SIZES = 16 };

/* The options that a peer reads from `bench --size LIST --dtype LIST --json -`. It ignores all
 * others. */
typedef struct peer_options {
    int64_t sizes[PEER_SIZES];
    int size_count;
    bool f32, f64;
} peer_options;

/* Reads the options. Without --size the sizes are `defaults`, which end with 0. Exits if a size is
 * invalid. */
void peer_parse(int argc, char **argv, const int64_t *defaults, peer_options *out);

/* Prints the message and exits with 1. */
void peer_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Opens the first library that can be opened and finds its functions. Exits if no library can be
 * opened or a function is missing. Both lists end with NULL. */
typedef struct peer_symbol {
    const char *name;
    void *function; /* the address of a function pointer */
} peer_symbol;
void peer_load(const char *const *libraries, const peer_symbol *symbols);

/* Allocates host memory, in huge pages if the system has them, as isomer does. Otherwise the page
 * size alone would make a difference. The caller frees it with free. */
void *peer_memory(size_t bytes);

/* Begins the document. `device` is isomer's name of the device, such as "openmp:0". */
void peer_begin(const char *program, const char *device, const char *name, const char *library);

/* A case, named as isomer names it. */
typedef struct peer_case {
    const char *op, *kind, *variant; /* products have no kind */
    bool typed, f64;                 /* not typed: it moves bytes */
    int64_t n; /* products: N of N x N x N; bandwidth kernels: elements; transfers: bytes */
    double flops, bytes_read, bytes_written;
} peer_case;

/* The worst error found in a result, and the largest error that is allowed. */
typedef struct peer_check {
    const char *method;
    double error, bound;
} peer_check;

typedef struct peer_work {
    int (*call)(void *context);
    int (*wait)(void *context); /* NULL: `call` waits itself */
    peer_check (*check)(void *context);
    void *context;
} peer_work;

/* Runs `call` to warm up, and then takes samples of at least half a millisecond by the host's
 * clock, waiting for the device after each. Checks the last result and adds the case to the
 * document. Exits if a call does not return 0, or if the result is wrong. */
void peer_measure(const peer_case *item, const peer_work *work);

/* Calls `measure` for each size and type. */
void peer_each(const peer_options *options, void (*measure)(int64_t n, bool f64));

/* Element i of an array of f64 or f32. */
double peer_at(const void *x, int64_t i, bool f64);

/* Arrays in a library's memory. A product is C = A B, with B equal to A; a copy is C = A. */
typedef struct peer_arrays {
    int64_t n; /* of n x n matrices; 0: a copy */
    bool f64;
    size_t bytes;    /* of each array */
    void *host;      /* the content of A and of B */
    void *a, *b, *c; /* handles or addresses */
} peer_arrays;

/* The functions that make an array of a device with the content of `host`, read it, free it, and
 * wait for the device. */
typedef struct peer_device {
    void *(*make)(const void *host, size_t bytes);
    void (*read)(void *host, void *array, size_t bytes);
    void (*drop)(void *array);
    int (*wait)(void *context); /* NULL: the calls wait themselves */
} peer_device;

/* Makes the arrays, measures `call`, which gets a peer_arrays as its context, and frees the arrays.
 * Checks 64 elements of a product against sums in long double, or all bytes of a copy. */
void peer_measure_arrays(const peer_case *item, const peer_device *device,
                         int (*call)(void *context));
void peer_measure_product(int64_t n, bool f64, const peer_device *device,
                          int (*call)(void *context));

/* Prints the document; returns the exit code. */
int peer_end(void);

#endif
