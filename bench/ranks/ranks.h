/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the ranks of a run, which `verify --comm` and `bench --comm` share. They are devices of
 * this process with a thread for each, or, if mpirun started it, one device in each process.
 */
#ifndef ISOMER_RANKS_H
#define ISOMER_RANKS_H

#include "bench/tool.h"

enum { RANKS_MOST = 64 /* in one process */, RANKS_TEXT = 1024 };

/* The options that both commands have. NULL: not given. */
typedef struct ranks_options {
    const char *backend, *require, *engine, *ranks, *timeout;
    bool world; /* --world */
} ranks_options;

/* A rank of this process. */
typedef struct ranks_seat {
    int32_t rank, ranks;
    iso_device device;
    iso_device_info info;
    iso_comm comm;
    iso_stream stream;
    iso_status status; /* how the last work ended */
    char reason[RANKS_TEXT];
} ranks_seat;

typedef struct ranks_team ranks_team;

/* Whether mpirun started this process, or the user says so. */
bool ranks_is_world(const ranks_options *options);

/* Reads "1,2,3,4,7". Returns TOOL_OK, or TOOL_USAGE after an error message. */
int ranks_counts(const char *text, int32_t *counts, int32_t room, int32_t *count);

/* Opens the devices for `most` ranks, or joins the world. Without --ranks there may be fewer.
 * Returns TOOL_OK, or an exit code after an error message. */
int ranks_open(const ranks_options *options, int32_t most, ranks_team **out);
void ranks_close(ranks_team *of);

/* How many ranks there can be: a GPU is a rank only once. In a world, its size. */
int32_t ranks_most(const ranks_team *of);
/* Whether a device of this type can be only one rank of a communicator. */
bool ranks_is_once(const iso_device_info *info);
bool ranks_in_world(const ranks_team *of);
bool ranks_speaks(const ranks_team *of); /* this process has rank 0 */
void ranks_title(const ranks_team *of, char *text,
                 size_t room);                   /* "2 x openmp:0, opencl:0 by threads" */
const char *ranks_engine(const ranks_team *of);  /* "threads"; "" before ranks_join */
const char *ranks_library(const ranks_team *of); /* "isomer 1.7" */

/* Makes the communicator of the first `count` devices, unless it is there and sound. False: the
 * library's last error says why. */
bool ranks_join(ranks_team *of, int32_t count);
/* Destroys it. Streams that failed with it are made again by the next ranks_join. */
void ranks_leave(ranks_team *of);
int32_t ranks_count(const ranks_team *of);       /* of this communicator */
int32_t ranks_open_here(const ranks_team *of);   /* devices that this process has open */
int32_t ranks_here(const ranks_team *of);        /* the communicator's ranks in this process, */
ranks_seat *ranks_at(ranks_team *of, int32_t i); /* one by one */

/* Makes another communicator of the same ranks: comms[i] belongs to ranks_at(i). */
iso_status ranks_second(ranks_team *of, iso_comm *comms);

/* What a rank does. It returns a status; the library's last error is kept with it. */
typedef iso_status ranks_work(void *context, ranks_seat *seat);
/* Every rank of this process does the work at the same time, on its own thread. False: a status was
 * not ISO_OK. */
bool ranks_run(ranks_team *of, ranks_work *work, void *context);

/* Collects `bytes` bytes (a multiple of 8) of each rank, in the order of ranks. `mine` has those of
 * this process. In a world they travel through the communicator. False: that failed. */
bool ranks_gather(ranks_team *of, const void *mine, int64_t bytes, void *all);

#endif
