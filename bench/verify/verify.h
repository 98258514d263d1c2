/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the list of conformance cases, which use only the public API, and the code that runs a
 * case on a device.
 *
 * Cases of the same problem (the same data under several variants) are adjacent in the list. So
 * their data are made once for all variants and all devices.
 */
#ifndef ISOMER_VERIFY_H
#define ISOMER_VERIFY_H

#include "bench/check/check.h"

/* The elements of an array. */
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* ---- list.c ---------------------------------------------------------------------------------- */

typedef struct verify_list {
    bench_case *cases;
    int32_t count, capacity;
    int32_t problems;
    uint64_t seed;
    bool full;                 /* the full list */
    bool failed;               /* memory ran out */
    struct verify_list *bases; /* of the cases of --invariance; otherwise NULL */
} verify_list;

/* Makes the list, or that of --invariance. `full` adds cases to those of the quick list. NULL: no
 * memory. */
verify_list *verify_list_create(bool full, bool invariance, uint64_t seed);
/* The list of --comm, for each of these numbers of ranks. */
verify_list *verify_list_comm(bool full, const int32_t *ranks, int32_t count, uint64_t seed);
void verify_list_destroy(verify_list *list);

/* Adds a copy of `model` for each of the variants. If there are none, adds one copy, which keeps
 * the model's variant. The id is "OP/VARIANT/after". The seed is made from the id without the
 * variant. */
void verify_list_add(verify_list *list, const bench_case *model, const iso_variant *variants,
                     int variant_count, const char *after);

/* A case of an operation on elements of `dtype`, of the given kind. */
bench_case verify_case(const bench_op *op, iso_dtype dtype, const char *kind);

extern const bench_op verify_order, verify_limits; /* script.c */

/* comm_list.c: adds the cases of that many ranks. */
void verify_comm_cases(verify_list *list, int32_t ranks);
extern const bench_op verify_comm;
extern const char *const verify_comm_ways[COMM_WAYS];
/* Whether uniform numbers of a case are also scaled, so that the order of a sum changes its bits.
 */
bool verify_comm_spreads(const bench_case *item);

/* ---- company.c: cases of --invariance -------------------------------------------------------- */

/* A variable of the environment that must not change a bit, and one of its values. */
typedef struct company_setting {
    const char *variable, *value;
    company_axis axis;
} company_setting;

enum { COMPANY_SETTINGS = 13 };
extern const company_setting company_settings[COMPANY_SETTINGS]; /* the first one is none */
extern const char *const company_axis_names[COMPANY_AXES];

/* A problem in all its variants. */
typedef struct company_base {
    bench_case model;
    iso_variant variants[8];
    int count;
    int32_t first; /* of its cases in the list of bases */
    char text[64]; /* its sizes, in the ids of cases */
} company_base;

/* Adds a base to the list of bases: the model in each variant whose bits are defined and, for
 * products, with the vendor's libraries. */
company_base company_start(verify_list *list, const bench_case *model, const char *text);
/* Adds a case: the base inside `item`, whose company says where. The id is
 * "OP/VARIANT/TYPE/AXIS/BASE/in/where". */
void company_add(verify_list *list, const company_base *base, const bench_case *item,
                 const char *where);
/* Adds the cases in which not the operands but the circumstances differ: settings and streams. */
void company_circumstances(verify_list *list, const company_base *base);

/* ---- region.c: matrices in host memory, surrounded by bytes that must not change ------------- */

/* Host memory that can grow. */
typedef struct verify_block {
    void *data;
    int64_t bytes;
} verify_block;

void *verify_grow(verify_block *block, int64_t bytes); /* NULL: no memory */

enum { VERIFY_GUARD = 256 }; /* bytes */

/* `batch` matrices of rows x cols elements inside an image. The image has a guard, the matrices
 * with their padding, and another guard. */
typedef struct verify_region {
    int64_t element, rows, cols;
    int64_t ld; /* 0: no padding */
    int64_t batch, stride;
    int64_t offset; /* elements between the guard and the first element */
    int64_t least;  /* elements between the guards; 0: as many as the matrices need */
    bool ones;     /* all other bytes are 0xff (NaN), so that a read of them shows; false: random */
    int64_t start; /* byte offset of the first element */
    int64_t bytes; /* of the image */
    verify_block image;
    const struct verify_region *within; /* if set, the elements lie in this region's image */
} verify_region;

/* Sets the region's shape and makes its image. The caller has set the members of `shape` up to
 * `ones`. False: no memory. */
bool verify_region_lay(verify_region *region, const verify_region *shape);
/* Sets the region's shape. Its elements lie inside the image of another region. */
void verify_region_within(verify_region *region, const verify_region *shape,
                          const verify_region *other);
/* The region in whose image the elements lie. */
const verify_region *verify_region_owner(const verify_region *region);
/* Copies `batch` dense matrices to the region's elements. */
void verify_region_scatter(const verify_region *region, const void *dense);
/* Copies the elements of an image with this region's layout to dense matrices. */
void verify_region_gather(const verify_region *region, const unsigned char *image, void *dense);
/* The offset of the first byte outside the elements that differs from the region's image; -1:
 * none. */
int64_t verify_region_changed(const verify_region *region, const unsigned char *image);

/* ---- runner.c -------------------------------------------------------------------------------- */

/* The data of a problem: the operands x and y and the result. */
typedef struct verify_problem {
    int32_t number; /* -1: no data yet */
    bool finite;    /* moved elements are finite numbers, because `vendor` may compute with them */
    verify_region regions[3];
    const verify_region *lies[3]; /* of each operand; operands in the same memory share one */
    verify_block dense[3];        /* the elements of x and y, and of the result before the call */
} verify_problem;

typedef struct verify_state {
    verify_problem problem;
    verify_block dense; /* the elements of the result, copied to a dense array */
    check_cache *cache;
} verify_state;

verify_state *verify_state_create(void); /* NULL: no memory */
void verify_state_destroy(verify_state *state);

/* Three operands, factors on the device, and the result of a twin. */
enum { VERIFY_FACTORS = 3, VERIFY_TWIN = 4, VERIFY_SLOTS = 5 };

/* A device, and the stream and buffers that the cases use there. */
typedef struct verify_runner {
    iso_device device;
    iso_stream stream;
    uint32_t flags;
    iso_device_info info;
    struct {
        iso_buffer buffer;
        int64_t bytes;
    } slots[VERIFY_SLOTS];
    verify_block back; /* data read back */
    /* A stream that works at the same time as each case, if it is set: it does `load` or, if that
     * is NULL, a twin of the case's operation with a result of its own. */
    iso_stream beside;
    const iso_gemm_args *load;
} verify_runner;

/* Opens `spec`. If it is NULL, opens the device that the environment names. Returns NULL if it
 * cannot; iso_last_error says why. */
verify_runner *verify_runner_open(const char *spec, uint32_t stream_flags);
void verify_runner_close(verify_runner *runner);
/* Closes the device, and opens it again, perhaps with other settings. False: it does not open. */
bool verify_runner_reopen(verify_runner *runner);
/* Gives the runner a new stream: one that failed runs nothing more. */
void verify_runner_renew(verify_runner *runner);
/* Gives the slot a buffer of at least `bytes`. */
iso_status verify_slot_room(verify_runner *runner, int slot, int64_t bytes, iso_buffer *out);

/* Changes the data of a problem just after they were made. */
typedef void verify_fit(const void *context, const bench_case *item, verify_problem *problem);

/* Makes the data of a problem, unless the state has them. */
bool verify_build(verify_state *state, const bench_case *item, verify_fit *fit, const void *context,
                  bench_result *result);
/* Computes a case and returns the dense result, without checking its elements. NULL: it failed or
 * is unsupported, which `result` says. */
void *verify_compute(verify_state *state, verify_runner *runner, const bench_case *item,
                     verify_fit *fit, const void *context, bench_result *result);

/* Runs one case. `library` selects one of the vendor's libraries. Even after a failure the runner
 * can run the next case. Sets this thread to round to nearest and to keep subnormals, because a
 * loaded library may have changed that. */
void verify_run_case(verify_state *state, verify_runner *runner, const bench_case *item,
                     int32_t library, bench_result *result);

/* ---- command.c ------------------------------------------------------------------------------- */

/* Cases of another command, which are run, reported and written in the way of `isomer verify`. */
typedef struct verify_request {
    const char *const *words; /* what repeats them: "kernel", "verify", "first.isk", NULL */
    const char *backend, *require, *json, *junit, *seed, *case_id;
    bool bitwise, fail_fast, brief, list;
    double seconds; /* that a launch may take */
    uint64_t seed_value;
    int argc; /* the command line */
    char **argv;
    const bench_case *cases;
    int32_t count;
    /* Is told the number of devices before the first case. */
    void (*ready)(void *context, int32_t devices);
    void *context;
} verify_request;

/* Returns an exit code. */
int verify_given(const verify_request *request);

#endif
