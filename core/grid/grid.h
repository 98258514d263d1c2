/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h - grids of ranks: their object, and where the blocks of a matrix are. Everything here
 * works through the public calls, like a program. */
#ifndef ISOMER_CORE_GRID_H
#define ISOMER_CORE_GRID_H

#include "core/stream.h"

#include <isomer/grid.h>

/* A buffer that grows. */
typedef struct grid_room {
    iso_buffer buffer;
    int64_t bytes;
} grid_room;

enum {
    GRID_SLOTS = 2, /* panels in flight: one is multiplied while the next arrives */
    GRID_ROOMS = 4 * GRID_SLOTS + 2
};

typedef struct core_grid {
    core_child child;
    pthread_mutex_t lock; /* held during a call */
    iso_comm comm;
    iso_device device;
    int32_t rows, cols; /* of the grid */
    int32_t row, col;   /* this rank's */
    int32_t rank, ranks;
    iso_stream mover;  /* on which panels are packed and sent */
    iso_stream storer; /* on which blocks of C leave the device */
    iso_event ready[GRID_SLOTS], unused[GRID_SLOTS];
    iso_event begun, ended; /* a product waits for the one before, whose panels it overwrites */
    iso_event computed[GRID_SLOTS], stored[GRID_SLOTS];
    grid_room a[GRID_SLOTS], b[GRID_SLOTS]; /* panels */
    grid_room whole_a, whole_b;             /* of a fixed product: all panels of a block */
    /* A block of C: its running total, its old values. While one leaves, the next is computed. */
    grid_room total[GRID_SLOTS], c[GRID_SLOTS];
} core_grid;

/* Called after the handle was retired. */
void core_grid_finish(core_grid *grid);

/* Makes sure that the buffer has that many bytes. */
iso_status core_grid_room(core_grid *grid, grid_room *room, int64_t bytes);
/* Destroys the buffer. `keeps`: its memory is never freed, as core_grid_keeps says. */
void core_grid_drop(grid_room *room, bool keeps);
/* Whether the engine may still use the grid's memory, because the communicator has failed. */
bool core_grid_keeps(const core_grid *grid);

/* How many of `size` rows in blocks of `block` a grid row (of `parts`) has. */
int64_t core_grid_share(int64_t size, int64_t block, int32_t parts, int32_t part);
/* The failure of an inner call, as one of `call`; also aborts the communicator, so that the other
 * ranks do not wait. */
iso_status core_grid_fail(const char *call, core_grid *grid, iso_status status);
/* Waits for the stream; the error and its text stay. */
void core_grid_settle(iso_stream stream);

iso_status core_grid_read_layout(const char *call, const iso_grid_layout *given,
                                 iso_grid_layout *out);

#endif
