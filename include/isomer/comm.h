/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.h - communicators: several devices, called ranks, that move and sum data together. The ranks
 * may be devices of one process or of many, on one machine or on several.
 *
 * An engine moves the data: NCCL between CUDA devices, RCCL between HIP devices, `threads` between
 * devices of any backends of one process, and `openmpi` or `mpich` between devices of several
 * processes. Without a name NCCL and RCCL are chosen for devices of their vendor alone, `threads`
 * for every other choice of devices of a process, and MPI between processes. Engines are opened at
 * run time, like every other library. docs/scaling.md says what each costs.
 *
 * An iso_comm is one rank of a communicator. It belongs to its device. Every rank must make the
 * same calls in the same order, as with MPI and NCCL; the ranks of one process may make theirs from
 * different threads, or from one thread as a group. Work is ordered on a stream of the rank's
 * device. Ranks may use several streams; but then every rank must order its calls of one
 * communicator in the same way.
 *
 * Failures. If a rank does not arrive within the timeout, if the engine reports an error or if a
 * rank was aborted, the communicator fails: its streams get a late error (stream.h), every later
 * call of it returns this error, and the results of its unfinished calls are undefined. The status
 * is TIMEOUT if a rank is missing, UNAVAILABLE if a rank was aborted or has failed, INVALID if
 * ranks make different calls (only `threads` can tell), and otherwise the engine's. The text names
 * the ranks, if the engine knows them. A communicator that failed can only be destroyed. The
 * timeout counts from the time when the stream reaches the call.
 *
 * Of the engines over MPI, the memory of calls that failed must stay until the process ends,
 * because MPI may still write to it: do not destroy these buffers or close the device, but end the
 * process.
 */
#ifndef ISOMER_COMM_H
#define ISOMER_COMM_H

#include <isomer/memory.h>

ISO_BEGIN_DECLS

/* ---- communicators --------------------------------------------------------------------------- */

/* One rank of a communicator. */
typedef struct iso_comm {
    uint64_t id;
} iso_comm;

/* The size of an iso_comm_id. */
enum { ISO_COMM_ID_BYTES = 256 };

/* Names a communicator that is being made. The caller moves the bytes to the other processes by any
 * means. */
typedef struct iso_comm_id {
    char bytes[ISO_COMM_ID_BYTES]; /* from iso_comm_id_create */
} iso_comm_id;

/* Options for making a communicator. */
typedef struct iso_comm_options {
    uint32_t size;
    uint32_t reserved;
    /* The engine's name. NULL: ISOMER_COMM, or else the one that suits the devices. */
    const char *engine;
    /* How long a rank waits for the others. 0: ISOMER_COMM_TIMEOUT (seconds), or else 600 s. */
    int64_t timeout_nanoseconds;
} iso_comm_options;
#define ISO_COMM_OPTIONS_INIT ISO_INIT_OF(iso_comm_options)

/*
 * Makes a communicator of `count` devices of this process. out[i] is set to rank i, which belongs
 * to devices[i]. With `threads` a device may be several ranks, and devices of several backends may
 * be mixed; NCCL and RCCL take each device once. `options` may be NULL.
 *
 * INVALID: a wrong handle, a NULL, a count below 1. UNSUPPORTED: the engine does not take these
 * devices. UNAVAILABLE: there is no such engine, or its library is missing; the text has every path
 * that was tried. TIMEOUT, BACKEND, DEVICE_LOST: from the engine. Nothing is made on failure.
 */
ISO_API iso_status iso_comm_create(const iso_device *devices, int32_t count,
                                   const iso_comm_options *options, iso_comm *out);

/*
 * Makes an id for a communicator that has one rank in each process, of devices like `device`. One
 * process calls this and gives the id to the others; then each calls iso_comm_join, the maker of
 * the id too. An id serves once. Statuses as iso_comm_create.
 */
ISO_API iso_status iso_comm_id_create(iso_device device, const iso_comm_options *options,
                                      iso_comm_id *out);

/*
 * Joins as rank `rank` of `ranks`, and waits until all have joined. INVALID: a rank outside 0 to
 * ranks - 1, or bytes that are not an id. TIMEOUT: not all ranks joined. Otherwise as
 * iso_comm_create.
 */
ISO_API iso_status iso_comm_join(iso_device device, const iso_comm_id *id, int32_t rank,
                                 int32_t ranks, const iso_comm_options *options, iso_comm *out);

/*
 * Joins the processes that mpirun started: rank and number are MPI's. If another engine moves the
 * data (NCCL, RCCL), MPI carries its id. UNAVAILABLE: no plug-in for MPI was found, or this process
 * was not started by an MPI. Otherwise as iso_comm_join.
 */
ISO_API iso_status iso_comm_world(iso_device device, const iso_comm_options *options,
                                  iso_comm *out);

/* Waits for the communicator's work on this rank and leaves it. Other ranks need not leave at the
 * same time, but must make no more calls: they would wait for this rank until the timeout. Returns
 * the error of a communicator that failed, if no call has returned it before; the communicator is
 * destroyed in any case. */
ISO_API iso_status iso_comm_destroy(iso_comm comm);

/* Makes the communicator fail, on this rank at once and on the others as soon as they can tell. May
 * be called while another thread waits for the communicator's work. */
ISO_API iso_status iso_comm_abort(iso_comm comm);

/* ISO_OK, or the error of a communicator that has failed. Waits for nothing. */
ISO_API iso_status iso_comm_query(iso_comm comm);

/* What is known of a communicator. */
typedef struct iso_comm_info {
    uint32_t size;
    int32_t rank, ranks; /* this rank, from 0, and how many there are */
    uint32_t reserved;
    iso_device device;           /* of this rank */
    int64_t timeout_nanoseconds; /* how long a rank waits for the others */
    char engine[ISO_NAME_MAX];   /* "nccl" */
    char library[ISO_NAME_MAX];  /* "NCCL 2.28.3" */
} iso_comm_info;
#define ISO_COMM_INFO_INIT ISO_INIT_OF(iso_comm_info)

/* Fills `*out` (set its size first). INVALID: not a communicator, NULL, wrong size. */
ISO_API iso_status iso_comm_get_info(iso_comm comm, iso_comm_info *out);

/* ---- calls ----------------------------------------------------------------------------------- */

/* What the ranks do together. R is their number and n is `count`. */
typedef enum iso_comm_op {
    ISO_COMM_BARRIER = 1,        /* "barrier": later work waits until every rank is here */
    ISO_COMM_BROADCAST = 2,      /* "broadcast": n elements of rank `peer` to every rank */
    ISO_COMM_ALL_REDUCE = 3,     /* "all_reduce": n sums over the ranks, to every rank */
    ISO_COMM_REDUCE_SCATTER = 4, /* "reduce_scatter": of R n sums, rank r gets those from r n on */
    ISO_COMM_ALL_GATHER = 5,     /* "all_gather": n elements of each rank, in the ranks' order */
    ISO_COMM_ALL_TO_ALL = 6,     /* "all_to_all": part r of R n elements to rank r */
    ISO_COMM_SEND = 7,           /* "send": n elements to rank `peer` */
    ISO_COMM_RECEIVE = 8         /* "receive": n elements from rank `peer` */
} iso_comm_op;

/* How elements are summed over the ranks. docs/bits.md, 13, defines ordered and fixed to the bit.
 */
typedef enum iso_comm_sum {
    ISO_COMM_SUM_AUTO = 0,    /* "auto": ordered if the caller keeps bits (iso_keep), else vendor */
    ISO_COMM_SUM_VENDOR = 1,  /* "vendor": the engine's own, in any order */
    ISO_COMM_SUM_ORDERED = 2, /* "ordered": in the order of the ranks. The bits depend on their
                                 number and on nothing else */
    ISO_COMM_SUM_FIXED = 3 /* "fixed": terms are scaled by the largest of their element and rounded
                              to integers, whose sum is exact in any order. The bits do not depend
                              on the number of ranks either. Terms that are 2^40 (f64: 2^80) times
                              smaller than the largest are lost. Sums of floating-point types only
                            */
} iso_comm_sum;

/*
 * Reductions: sum, product, min, max, mean (floating-point types) and xor (integers).
 *
 * `from` and `to` are on the rank's device. Their elements, which follow each other without gaps:
 *
 *                   from                     to
 * broadcast         n, of rank peer alone    n, of every rank
 * all_reduce        n                        n
 * reduce_scatter    R n                      n
 * all_gather        n                        R n
 * all_to_all        R n                      R n
 * send              n                        not used
 * receive           not used                 n
 *
 * In place: broadcast and all_reduce with to = from; reduce_scatter with to = the part of `from`
 * that this rank gets; all_gather with from = the part of `to` that this rank gives. Any other
 * overlap is INVALID.
 *
 * `terms` is for fixed sums: `from` is a matrix of `terms` rows that begin `ld_terms` elements
 * apart, and the sum is over all rows of all ranks. So the same terms have the same sum, however
 * many ranks share them. Every rank may have another number of terms, at least one: a row of +0
 * adds nothing. A row has n elements, R n for reduce_scatter. In place, the result replaces the
 * first row.
 */
typedef struct iso_comm_args {
    uint32_t size;
    iso_comm_op op;       /* what the ranks do */
    iso_dtype dtype;      /* of the elements */
    iso_reduce_op reduce; /* all_reduce and reduce_scatter; 0 means ISO_SUM */
    iso_comm_sum sum;     /* the same two */
    iso_keep keep;        /* what auto must keep */
    int32_t peer;         /* broadcast, send and receive: the other rank, or the root */
    uint32_t reserved;
    int64_t count;        /* n */
    iso_operand from, to; /* as in the table */
    int64_t terms;        /* fixed; 0 means 1 */
    int64_t ld_terms;     /* elements; 0: no gaps. Used if terms is over 1 */
} iso_comm_args;
#define ISO_COMM_ARGS_INIT ISO_INIT_OF(iso_comm_args)

/*
 * Submits a call on a stream of the rank's device. A call of no elements still counts as one of the
 * calls that every rank makes.
 *
 * INVALID: a wrong handle, struct size, enumerator, count or peer; a stream made with
 * ISO_STREAM_INLINE; an operand that is misaligned or outside its buffer; overlap. MISMATCH: the
 * stream or a buffer belongs to another device. UNSUPPORTED: if and only if iso_comm_supports says
 * so. NO_MEMORY: no scratch memory. A late error of the stream or the communicator.
 */
ISO_API iso_status iso_comm_run(iso_comm comm, iso_stream stream, const iso_comm_args *args);

/* A call of a group. */
typedef struct iso_comm_call {
    iso_comm comm;             /* the rank that makes it */
    iso_stream stream;         /* of the rank's device */
    const iso_comm_args *args; /* what it does */
} iso_comm_call;

/*
 * Submits several calls as one. Calls of a group do not wait for each other: a rank may send and
 * receive in one group, and one thread may make the calls of several ranks. If a call is refused,
 * none is made. In a group all calls have one engine, a rank uses one stream, and it has at most
 * one ordered or fixed sum.
 */
ISO_API iso_status iso_comm_run_group(const iso_comm_call *calls, int32_t count);

/* Whether this communicator has the call. Only op, dtype, reduce, sum and keep matter. UNSUPPORTED:
 * the text says why. INVALID as iso_comm_run: no communicator has the call. */
ISO_API iso_status iso_comm_supports(iso_comm comm, const iso_comm_args *args);

/* Allocates the scratch memory that the call needs on this stream, and builds its kernels.
 * Afterwards calls that are not larger allocate nothing. Only this rank's part is prepared: nothing
 * is sent. */
ISO_API iso_status iso_comm_prepare(iso_comm comm, iso_stream stream, const iso_comm_args *args);

/* The name of a value, as quoted with it; NULL for another value. Static. */
ISO_API const char *iso_comm_op_name(iso_comm_op op);
ISO_API const char *iso_comm_sum_name(iso_comm_sum sum);
/* The value of a name. INVALID: no value has it; the text lists those that there are. */
ISO_API iso_status iso_comm_op_parse(const char *text, iso_comm_op *out);
ISO_API iso_status iso_comm_sum_parse(const char *text, iso_comm_sum *out);

ISO_END_DECLS

#endif
