/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c - grids: makes and frees them, and says which part of a matrix a rank has. */
#include "core/grid/grid.h"
#include "common/dtype.h"
#include "core/comm/comm.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

iso_status core_grid_room(core_grid *grid, grid_room *room, int64_t bytes)
{
    iso_status status = ISO_OK;

    if (bytes <= room->bytes) {
        return ISO_OK;
    }
    core_grid_drop(room, false);
    status = iso_buffer_create(grid->device, bytes, &room->buffer);
    if (!status) {
        room->bytes = bytes;
    }
    return status;
}

void core_grid_drop(grid_room *room, bool keeps)
{
    if (room->buffer.id && keeps) {
        core_buffer_keep(room->buffer);
    }
    if (room->buffer.id) {
        (void)iso_buffer_destroy(room->buffer);
    }
    *room = (grid_room){{0}, 0};
}

bool core_grid_keeps(const core_grid *grid)
{
    CORE_HELD core_comm *comm = NULL;

    return core_handle_get(grid->comm.id, CORE_COMM, &comm) && core_comm_keeps(comm) &&
           core_comm_on_host(comm);
}

iso_status core_grid_fail(const char *call, core_grid *grid, iso_status status)
{
    core_fail(status, "%s: %s", call, core_reason(call));
    (void)iso_comm_abort(grid->comm);
    return status;
}

void core_grid_settle(iso_stream stream)
{
    core_kept_error kept = core_error_keep();

    (void)iso_stream_sync(stream);
    core_error_restore(&kept);
}

static void drop_event(iso_event event)
{
    if (event.id) {
        (void)iso_event_destroy(event);
    }
}

/* ---- the object ------------------------------------------------------------------------------ */

static void free_grid(core_grid *grid)
{
    const bool keeps = core_grid_keeps(grid);
    core_kept_error kept = core_error_keep();

    if (grid->mover.id) {
        (void)iso_stream_destroy(grid->mover);
    }
    if (grid->storer.id) {
        (void)iso_stream_destroy(grid->storer);
    }
    for (int i = 0; i < GRID_SLOTS; i++) {
        core_grid_drop(&grid->a[i], keeps);
        core_grid_drop(&grid->b[i], keeps);
        core_grid_drop(&grid->total[i], keeps);
        core_grid_drop(&grid->c[i], keeps);
        drop_event(grid->ready[i]);
        drop_event(grid->unused[i]);
        drop_event(grid->computed[i]);
        drop_event(grid->stored[i]);
    }
    drop_event(grid->begun);
    drop_event(grid->ended);
    core_grid_drop(&grid->whole_a, keeps);
    core_grid_drop(&grid->whole_b, keeps);
    pthread_mutex_destroy(&grid->lock);
    free(grid);
    core_error_restore(&kept);
}

static iso_status make_objects(core_grid *grid)
{
    iso_status status = iso_stream_create(grid->device, 0, &grid->mover);

    if (!status) {
        status = iso_stream_create(grid->device, 0, &grid->storer);
    }
    for (int i = 0; i < GRID_SLOTS; i++) {
        iso_event *const events[] = {&grid->ready[i], &grid->unused[i], &grid->computed[i],
                                     &grid->stored[i]};

        for (size_t e = 0; e < sizeof events / sizeof events[0] && !status; e++) {
            status = iso_event_create(grid->device, events[e]);
        }
    }
    if (!status) {
        status = iso_event_create(grid->device, &grid->begun);
    }
    return status ? status : iso_event_create(grid->device, &grid->ended);
}

iso_status iso_grid_create(iso_comm comm, int32_t rows, int32_t cols, iso_grid *out)
{
    const char *call = "iso_grid_create";
    CORE_HELD core_comm *of = NULL;
    core_grid *grid;
    iso_status status = core_check_out(call, "out", out);

    if (status) {
        return status;
    }
    out->id = 0;
    status = core_handle_acquire(call, "comm", comm.id, CORE_COMM, &of);
    if (status) {
        return status;
    }
    if (rows < 1 || cols < 1 || (int64_t)rows * cols != of->ranks) {
        return core_fail(
            ISO_INVALID,
            "%s: rows is %d and cols %d: their product must be the number of ranks, %d", call, rows,
            cols, of->ranks);
    }
    grid = calloc(1, sizeof *grid);
    if (!grid) {
        return core_fail_no_memory(call, (int64_t)sizeof *grid);
    }
    pthread_mutex_init(&grid->lock, NULL);
    grid->comm = comm;
    grid->device.id = of->child.device->id;
    grid->rows = rows;
    grid->cols = cols;
    grid->rank = of->rank;
    grid->ranks = of->ranks;
    grid->row = of->rank / cols;
    grid->col = of->rank % cols;
    status = make_objects(grid);
    if (!status) {
        status = core_child_add(call, of->child.device, &grid->child, CORE_GRID);
    } else {
        core_fail(status, "%s: %s", call, core_reason(call));
    }
    if (status) {
        free_grid(grid);
        return status;
    }
    out->id = grid->child.id;
    return ISO_OK;
}

void core_grid_finish(core_grid *grid)
{
    const uint64_t id = grid->child.id;

    core_child_unlink(&grid->child);
    free_grid(grid);
    core_handle_free(id);
}

iso_status iso_grid_destroy(iso_grid handle)
{
    core_grid *grid;
    iso_status status = core_handle_retire("iso_grid_destroy", "grid", handle.id, CORE_GRID, &grid);

    if (!status) {
        core_grid_finish(grid);
    }
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t core_grid_share(int64_t size, int64_t block, int32_t parts, int32_t part)
{
    const int64_t blocks = size / block, own = blocks / parts + (part < blocks % parts);
    const bool has_rest = size % block && blocks % parts == part;

    return own * block + (has_rest ? size % block : 0);
}

iso_status core_grid_read_layout(const char *call, const iso_grid_layout *given,
                                 iso_grid_layout *out)
{
    iso_status status = core_struct_read(
        call, "layout", given, CORE_END_OF(iso_grid_layout, block_cols), out, sizeof *out);

    if (!status && !dtype_get(out->dtype)) {
        status = core_fail(ISO_INVALID, "%s: layout.dtype is %d, which is not a type", call,
                           (int)out->dtype);
    }
    if (!status) {
        status = core_check_size(call, "layout.rows", out->rows);
    }
    if (!status) {
        status = core_check_size(call, "layout.cols", out->cols);
    }
    if (!status && (out->block_rows < 1 || out->block_cols < 1)) {
        status = core_fail(ISO_INVALID,
                           "%s: layout.block_rows is %lld and layout.block_cols %lld: a block has "
                           "at least one row and one column",
                           call, (long long)out->block_rows, (long long)out->block_cols);
    }
    if (!status) { /* larger blocks change nothing, and could overflow */
        out->block_rows = least(out->block_rows, out->rows > 0 ? out->rows : 1);
        out->block_cols = least(out->block_cols, out->cols > 0 ? out->cols : 1);
    }
    return status;
}

iso_status iso_grid_part(iso_grid handle, const iso_grid_layout *given, int32_t rank, int64_t *rows,
                         int64_t *cols)
{
    const char *call = "iso_grid_part";
    CORE_HELD core_grid *grid = NULL;
    iso_grid_layout layout;
    iso_status status = core_handle_acquire(call, "grid", handle.id, CORE_GRID, &grid);

    if (!status) {
        status = core_check_out(call, "rows", rows);
    }
    if (!status) {
        status = core_check_out(call, "cols", cols);
    }
    if (!status) {
        status = core_grid_read_layout(call, given, &layout);
    }
    if (!status && (rank < -1 || rank >= grid->ranks)) {
        status = core_fail(ISO_INVALID, "%s: rank is %d: the grid has the ranks 0 to %d (-1: this)",
                           call, rank, grid->ranks - 1);
    }
    if (status) {
        return status;
    }
    rank = rank < 0 ? grid->rank : rank;
    *rows = core_grid_share(layout.rows, layout.block_rows, grid->rows, rank / grid->cols);
    *cols = core_grid_share(layout.cols, layout.block_cols, grid->cols, rank % grid->cols);
    return ISO_OK;
}
