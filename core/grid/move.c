/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - spreads a matrix over the ranks of a grid, and gathers it. The root packs one part after
 * another in host memory and sends it through its device. */
#include "core/grid/grid.h"
#include "core/host.h"

#include <stdlib.h>
#include <string.h>

/* A matrix that is being moved. */
typedef struct move {
    const char *call;
    core_grid *grid;
    iso_grid_layout layout;
    int64_t element;
    char *matrix;      /* on the root */
    int64_t ld;        /* bytes */
    iso_buffer device; /* memory through which parts pass */
    char *host;
} move;

static int64_t part_bytes(const move *what, int32_t rank)
{
    const core_grid *grid = what->grid;
    const iso_grid_layout *layout = &what->layout;

    return core_grid_share(layout->rows, layout->block_rows, grid->rows, rank / grid->cols) *
           core_grid_share(layout->cols, layout->block_cols, grid->cols, rank % grid->cols) *
           what->element;
}

/* Copies between the matrix and the packed part of a rank. */
static void pack(const move *what, int32_t rank, char *part, bool to_part)
{
    const core_grid *grid = what->grid;
    const iso_grid_layout *of = &what->layout;
    const int64_t row_step = of->block_rows * grid->rows, col_step = of->block_cols * grid->cols;

    for (int64_t top = rank / grid->cols * of->block_rows; top < of->rows; top += row_step) {
        for (int64_t row = top; row < top + of->block_rows && row < of->rows; row++) {
            for (int64_t left = rank % grid->cols * of->block_cols; left < of->cols;
                 left += col_step) {
                const int64_t end = left + of->block_cols;
                const int64_t width = (end < of->cols ? end : of->cols) - left;
                const size_t bytes = (size_t)(width * what->element);
                char *at = what->matrix + row * what->ld + left * what->element;

                memcpy(to_part ? part : at, to_part ? at : part, bytes);
                part += bytes;
            }
        }
    }
}

/* Sends a packed part on the root to another rank, or receives it there. */
static iso_status pass(const move *what, int32_t peer, int64_t bytes, bool sends)
{
    iso_comm_args args = ISO_COMM_ARGS_INIT;

    args.op = sends ? ISO_COMM_SEND : ISO_COMM_RECEIVE;
    args.dtype = what->layout.dtype;
    args.peer = peer;
    args.count = bytes / what->element;
    args.from.buffer = args.to.buffer = what->device;
    return iso_comm_run(what->grid->comm, what->grid->mover, &args);
}

static iso_status write_device(const move *what, iso_operand to, const void *from, int64_t bytes)
{
    iso_status status = iso_write(what->grid->mover, to, from, bytes);

    return status ? status : iso_stream_sync(what->grid->mover);
}

static iso_status read_device(const move *what, void *to, iso_operand from, int64_t bytes)
{
    iso_status status = iso_read(what->grid->mover, to, from, bytes);

    return status ? status : iso_stream_sync(what->grid->mover);
}

/* ---- one part -------------------------------------------------------------------------------- */

static iso_status give(const move *what, int32_t rank, iso_operand to, void *to_host)
{
    const int64_t bytes = part_bytes(what, rank);
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    pack(what, rank, what->host, true);
    if (rank == what->grid->rank) {
        if (to_host) {
            memcpy(to_host, what->host, (size_t)bytes);
            return ISO_OK;
        }
        return write_device(what, to, what->host, bytes);
    }
    status = write_device(what, (iso_operand){what->device, 0}, what->host, bytes);
    if (!status) {
        status = pass(what, rank, bytes, true);
    }
    return status ? status : iso_stream_sync(what->grid->mover);
}

static iso_status accept(const move *what, int32_t root, iso_operand to, void *to_host)
{
    const int64_t bytes = part_bytes(what, what->grid->rank);
    const iso_operand passing = {what->device, 0};
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    status = pass(what, root, bytes, false);
    if (!status && to_host) {
        return read_device(what, to_host, passing, bytes);
    }
    if (!status) {
        status = iso_copy(what->grid->mover, to, passing, bytes);
    }
    return status ? status : iso_stream_sync(what->grid->mover);
}

static iso_status take(const move *what, int32_t rank, iso_operand from, const void *from_host)
{
    const int64_t bytes = part_bytes(what, rank);
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    if (rank == what->grid->rank) {
        if (from_host) {
            memcpy(what->host, from_host, (size_t)bytes);
            status = ISO_OK;
        } else {
            status = read_device(what, what->host, from, bytes);
        }
    } else {
        status = pass(what, rank, bytes, false);
        if (!status) {
            status = read_device(what, what->host, (iso_operand){what->device, 0}, bytes);
        }
    }
    if (!status) {
        pack(what, rank, what->host, false);
    }
    return status;
}

static iso_status hand_in(const move *what, int32_t root, iso_operand from, const void *from_host)
{
    const int64_t bytes = part_bytes(what, what->grid->rank);
    const iso_operand passing = {what->device, 0};
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    status = from_host ? iso_write(what->grid->mover, passing, from_host, bytes)
                       : iso_copy(what->grid->mover, passing, from, bytes);
    if (!status) {
        status = pass(what, root, bytes, true);
    }
    return status ? status : iso_stream_sync(what->grid->mover);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static iso_status read_args(move *what, const iso_grid_layout *given, int32_t root,
                            const void *matrix, int64_t ld)
{
    const core_grid *grid = what->grid;
    int64_t span;
    iso_status status = core_grid_read_layout(what->call, given, &what->layout);

    if (!status && (root < 0 || root >= grid->ranks)) {
        status = core_fail(ISO_INVALID, "%s: root is %d: the grid has the ranks 0 to %d",
                           what->call, root, grid->ranks - 1);
    }
    if (!status) {
        what->element = iso_dtype_size(what->layout.dtype);
        ld = ld ? ld : what->layout.cols;
        if (ld < what->layout.cols) {
            status = core_fail(ISO_INVALID, "%s: ld is %lld, less than layout.cols, which is %lld",
                               what->call, (long long)ld, (long long)what->layout.cols);
        }
    }
    if (!status && (__builtin_mul_overflow(ld, what->element, &what->ld) ||
                    __builtin_mul_overflow(what->ld, what->layout.rows, &span))) {
        status = core_fail(ISO_INVALID, "%s: %lld rows of %lld elements do not fit 64 bits",
                           what->call, (long long)what->layout.rows, (long long)ld);
    }
    if (!status && root == grid->rank && what->layout.rows && what->layout.cols) {
        status = core_check_out(what->call, "the matrix", matrix);
    }
    return status;
}

/* Gets memory for the largest part. */
static iso_status get_memory(move *what, int32_t root)
{
    const core_grid *grid = what->grid;
    int64_t most = 1;
    iso_status status;

    for (int32_t rank = 0; rank < grid->ranks; rank++) {
        const int64_t bytes = part_bytes(what, rank);

        most = bytes > most ? bytes : most;
    }
    status = iso_buffer_create(grid->device, most, &what->device);
    what->host = !status && root == grid->rank ? core_alloc(most) : NULL;
    if (!status && root == grid->rank && !what->host) {
        status = core_fail_no_memory(what->call, most);
    }
    return status;
}

/* A rank that fails after the others have begun aborts the communicator. */
static iso_status end(move *what, iso_status status)
{
    grid_room passing = {what->device, 0};
    core_kept_error kept;

    if (status) {
        status = core_grid_fail(what->call, what->grid, status);
    }
    kept = core_error_keep();
    free(what->host);
    core_grid_drop(&passing, core_grid_keeps(what->grid));
    core_error_restore(&kept);
    return status;
}

iso_status iso_grid_scatter(iso_grid handle, const iso_grid_layout *layout, int32_t root,
                            const void *from, int64_t ld, iso_operand to, void *to_host)
{
    move what = {.call = "iso_grid_scatter"};
    CORE_HELD core_grid *grid = NULL;
    iso_status status = core_handle_acquire(what.call, "grid", handle.id, CORE_GRID, &grid);

    if (status) {
        return status;
    }
    what.grid = grid;
    memcpy(&what.matrix, &from, sizeof from); /* the root only reads it */
    status = read_args(&what, layout, root, from, ld);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&grid->lock);
    status = get_memory(&what, root);
    if (!status && grid->rank != root) {
        status = accept(&what, root, to, to_host);
    }
    for (int32_t rank = 0; rank < grid->ranks && !status && grid->rank == root; rank++) {
        status = give(&what, rank, to, to_host);
    }
    status = end(&what, status);
    pthread_mutex_unlock(&grid->lock);
    return status;
}

iso_status iso_grid_gather(iso_grid handle, const iso_grid_layout *layout, int32_t root, void *to,
                           int64_t ld, iso_operand from, const void *from_host)
{
    move what = {.call = "iso_grid_gather", .matrix = to};
    CORE_HELD core_grid *grid = NULL;
    iso_status status = core_handle_acquire(what.call, "grid", handle.id, CORE_GRID, &grid);

    if (status) {
        return status;
    }
    what.grid = grid;
    status = read_args(&what, layout, root, to, ld);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&grid->lock);
    status = get_memory(&what, root);
    if (!status && grid->rank != root) {
        status = hand_in(&what, root, from, from_host);
    }
    for (int32_t rank = 0; rank < grid->ranks && !status && grid->rank == root; rank++) {
        status = take(&what, rank, from, from_host);
    }
    status = end(&what, status);
    pthread_mutex_unlock(&grid->lock);
    return status;
}
