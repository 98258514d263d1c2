/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - what the programs over several devices need: the ranks. With --ranks N they are threads
 * of this process, each with a device; with --world they are the processes that mpirun started.
 */
#ifndef RANKS_H
#define RANKS_H

#include "lab.h"

#include <pthread.h>

enum { RANKS_MOST = 64 };

typedef struct ranks_options {
    bool small, world;
    int32_t ranks;
    int64_t size; /* --size; 0: the program's own */
} ranks_options;

typedef struct rank {
    lab l; /* its device, stream and kernels */
    iso_comm comm;
    int32_t at, count; /* rank `at` of `count` */
    const ranks_options *options;
    void *user;
    pthread_barrier_t *gate; /* of the threads; NULL with --world */
} rank;

/* What every rank does. */
typedef void (*ranks_work)(const rank *r);

/* ---- Options --------------------------------------------------------------------------------- */

static inline void ranks_usage(const char *program)
{
    (void)fprintf(stderr,
                  "usage: %s [--small] [--size N] [--ranks N | --world]\n"
                  "  --small        small sizes, to see whether it works\n"
                  "  --size N       rows of the field or of the matrix\n"
                  "  --ranks N      N threads are the ranks, 1 to %d; 2 if nothing is said\n"
                  "  --world        the processes that mpirun started are the ranks\n"
                  "  ISOMER_BACKEND the device: cuda, hip, opencl or openmp (the CPU). GPUs: rank\n"
                  "                 r gets the one that is r places after it\n",
                  program, RANKS_MOST);
    exit(2);
}

static inline int64_t ranks_number(const char *program, const char *word, int64_t most)
{
    char *end;
    const long long value = strtoll(word, &end, 10);
    if (end == word || *end || value < 1 || value > most) {
        ranks_usage(program);
    }
    return value;
}

static inline ranks_options ranks_parse(int count, char **words)
{
    ranks_options o = {.ranks = 2};
    for (int i = 1; i < count; i++) {
        const bool more = i + 1 < count;
        if (strcmp(words[i], "--small") == 0) {
            o.small = true;
        } else if (strcmp(words[i], "--world") == 0) {
            o.world = true;
        } else if (strcmp(words[i], "--ranks") == 0 && more) {
            o.ranks = (int32_t)ranks_number(words[0], words[++i], RANKS_MOST);
        } else if (strcmp(words[i], "--size") == 0 && more) {
            o.size = ranks_number(words[0], words[++i], INT64_C(1) << 20);
        } else {
            ranks_usage(words[0]);
        }
    }
    return o;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* The device `after` places behind the first one. CPUs are shared: there it is the same. */
static inline lab ranks_device(const lab *first, int32_t after, const iso_embedded *kernels)
{
    char spec[2 * ISO_NAME_MAX];
    const bool same = first->info.type != ISO_DEVICE_GPU;
    (void)snprintf(spec, sizeof spec, "%s:%d", first->info.backend,
                   (int)first->info.index + (same ? 0 : (int)after));
    lab l = lab_open_device(spec, kernels);
    l.small = first->small;
    return l;
}

/* This process's number on its machine, as the starter says it; 0 if it does not. */
static inline int32_t ranks_local(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text) {
            return (int32_t)strtol(text, NULL, 10);
        }
    }
    return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct ranks_thread {
    pthread_t thread;
    rank rank;
    ranks_work work;
} ranks_thread;

static inline void *ranks_enter(void *user)
{
    const ranks_thread *t = user;
    t->work(&t->rank);
    return NULL;
}

/* Threads of this process. Rank 0 is the calling one, on the first device. */
static inline void ranks_threads(const lab *first, const iso_embedded *kernels, ranks_work work,
                                 const rank *as)
{
    ranks_thread threads[RANKS_MOST];
    iso_device devices[RANKS_MOST] = {{0}};
    iso_comm comms[RANKS_MOST];
    pthread_barrier_t gate;
    const int32_t count = as->options->ranks;

    lab_check(pthread_barrier_init(&gate, NULL, (unsigned)count) == 0, "no barrier");
    for (int32_t i = 0; i < count; i++) {
        threads[i].rank = *as;
        threads[i].rank.l = i == 0 ? *first : ranks_device(first, i, kernels);
        threads[i].rank.at = i;
        threads[i].rank.count = count;
        threads[i].rank.gate = &gate;
        threads[i].work = work;
        devices[i] = threads[i].rank.l.device;
    }
    OK(iso_comm_create(devices, count, NULL, comms));
    for (int32_t i = 0; i < count; i++) {
        threads[i].rank.comm = comms[i];
        lab_check(i == 0 || pthread_create(&threads[i].thread, NULL, ranks_enter, &threads[i]) == 0,
                  "no thread for rank %d", (int)i);
    }
    work(&threads[0].rank);
    for (int32_t i = 1; i < count; i++) {
        (void)pthread_join(threads[i].thread, NULL);
    }
    (void)pthread_barrier_destroy(&gate);
    for (int32_t i = 0; i < count; i++) {
        OK(iso_comm_destroy(comms[i]));
        if (i > 0) {
            lab_close(&threads[i].rank.l);
        }
    }
}

/* One rank of the processes that mpirun started. */
static inline void ranks_world(const lab *mine, ranks_work work, const rank *as)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    rank r = *as;
    r.l = *mine;
    OK(iso_comm_world(mine->device, NULL, &r.comm));
    OK(iso_comm_get_info(r.comm, &info));
    r.at = info.rank;
    r.count = info.ranks;
    work(&r);
    OK(iso_comm_destroy(r.comm));
}

/* Calls `alone` with a device, for the results to compare with, and then `work` on every rank. Both
 * get `user`. */
static inline void ranks_run(const ranks_options *options, const iso_embedded *kernels,
                             void (*alone)(const lab *l, const ranks_options *options, void *user),
                             ranks_work work, void *user)
{
    const rank as = {.options = options, .user = user};
    lab first = lab_open_device(NULL, kernels);
    if (options->world && ranks_local() > 0 && first.info.type == ISO_DEVICE_GPU) {
        lab mine = ranks_device(&first, ranks_local(), kernels);
        lab_close(&first);
        first = mine;
    }
    first.small = options->small;
    alone(&first, options, user);
    if (options->world) {
        ranks_world(&first, work, &as);
    } else {
        ranks_threads(&first, kernels, work, &as);
    }
    lab_close(&first);
}

/* Waits for the threads of all ranks, and not for their devices. iso_host_free waits for all work
 * of a device, and ranks may share it: if another rank's work waited for this one then, both would
 * wait for ever. So there is a gate before it and after it. */
static inline void ranks_gate(const rank *r)
{
    if (r->gate) {
        (void)pthread_barrier_wait(r->gate);
    }
}

/* "Device openmp:0: AMD EPYC, 4 ranks, engine threads", by rank 0. */
static inline void ranks_say(const rank *r)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    OK(iso_comm_get_info(r->comm, &info));
    if (r->at == 0) {
        printf("Device %s: %s, %d rank%s, engine %s\n", r->l.info.spec, r->l.info.name,
               (int)r->count, r->count == 1 ? "" : "s", info.engine);
    }
}

/* Waits until every rank is here; so if rank 0 says it, it is true of all. */
static inline void ranks_agree(const rank *r)
{
    iso_comm_args barrier = ISO_COMM_ARGS_INIT;
    barrier.op = ISO_COMM_BARRIER;
    barrier.dtype = ISO_F32;
    OK(iso_comm_run(r->comm, r->l.stream, &barrier));
    lab_sync(&r->l);
    if (r->at == 0) {
        printf("Every rank has the bits of one device.\n");
    }
}

#endif
