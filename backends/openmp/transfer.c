/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - copies and fills. Small ones run in the calling thread; large ones are divided among
 * the team. */
#include "backends/openmp/runtime.h"

#include <string.h>

enum {
    TRANSFER_ALONE = 1024 * 1024, /* up to this size the team costs more than it saves */
    /* The next two are multiples of a page, so also of every pattern's size. */
    TRANSFER_PIECE_LEAST = 64 * 1024,
    TRANSFER_PIECE_MOST = 4 * 1024 * 1024,
    TRANSFER_PAGE = 4096,
    TRANSFER_BLOCK = 64
};

typedef struct transfer_task {
    char *to;
    const char *from; /* NULL: a fill */
    int64_t to_pitch, from_pitch;
    int64_t width, height;
    int64_t piece, pieces_in_row;
    cpu_map_kernel past;        /* a copy that bypasses the caches; NULL: do not bypass them */
    char block[TRANSFER_BLOCK]; /* the pattern, repeated */
} transfer_task;

static void fill(char *to, const char *block, int64_t bytes)
{
    int64_t done = 0;
    for (; done + TRANSFER_BLOCK <= bytes; done += TRANSFER_BLOCK) {
        memcpy(to + done, block, TRANSFER_BLOCK);
    }
    memcpy(to + done, block, (size_t)(bytes - done));
}

static void move_piece(const transfer_task *task, int64_t row, int64_t piece)
{
    int64_t start = piece * task->piece;
    int64_t bytes = cpu_least(task->width - start, task->piece);
    char *to = task->to + row * task->to_pitch + start;
    if (task->past) {
        const char *from = task->from + row * task->from_pitch + start;
        const cpu_map_part part = {.x = from, .z = to, .n = bytes / 2, .stream = 1};
        task->past(&part);
        memcpy(to + part.n * 2, from + part.n * 2, (size_t)(bytes % 2));
    } else if (task->from) {
        memcpy(to, task->from + row * task->from_pitch + start, (size_t)bytes);
    } else {
        fill(to, task->block, bytes);
    }
}

/* Each thread takes a run of consecutive pieces. */
static void move_share(void *context, int thread, int threads)
{
    const transfer_task *task = context;
    const int64_t total = task->height * task->pieces_in_row;
    const int64_t end = cpu_split(total, threads, thread + 1);
    for (int64_t i = cpu_split(total, threads, thread); i < end; i++) {
        move_piece(task, i / task->pieces_in_row, i % task->pieces_in_row);
    }
}

static transfer_task make_task(const iso_transfer *transfer)
{
    transfer_task task = {.to_pitch = transfer->to_pitch,
                          .from_pitch = transfer->from_pitch,
                          .width = transfer->width,
                          .height = transfer->height};
    switch (transfer->kind) {
    case ISO_TRANSFER_WRITE:
        task.to = cpu_at(transfer->to);
        task.from = transfer->host_from;
        break;
    case ISO_TRANSFER_READ:
        task.to = transfer->host_to;
        task.from = cpu_at(transfer->from);
        break;
    case ISO_TRANSFER_COPY:
        task.to = cpu_at(transfer->to);
        task.from = cpu_at(transfer->from);
        break;
    case ISO_TRANSFER_FILL:
        task.to = cpu_at(transfer->to);
        task.from_pitch = task.to_pitch;
        for (int64_t at = 0; at < TRANSFER_BLOCK; at += transfer->pattern_bytes) {
            memcpy(task.block + at, transfer->pattern, (size_t)transfer->pattern_bytes);
        }
        break;
    }
    if (task.height > 1 && task.to_pitch == task.width && task.from_pitch == task.width) {
        task.width *= task.height;
        task.height = 1;
    }
    return task;
}

iso_status cpu_transfer_run(cpu_device *device, const iso_transfer *transfer, int background)
{
    cpu_team *team = device->team;
    transfer_task task = make_task(transfer);
    int64_t bytes = task.width * task.height;
    if (bytes <= TRANSFER_ALONE) {
        task.piece = task.width;
        task.pieces_in_row = 1;
        move_share(&task, 0, 1);
        return ISO_OK;
    }
    int64_t piece = bytes / ((int64_t)cpu_team_size(team) * 4);
    piece = piece < TRANSFER_PIECE_LEAST  ? TRANSFER_PIECE_LEAST
            : piece > TRANSFER_PIECE_MOST ? TRANSFER_PIECE_MOST
                                          : piece;
    task.piece = piece / TRANSFER_PAGE * TRANSFER_PAGE;
    task.pieces_in_row = cpu_pieces(task.width, task.piece);
    /* Data that is too large for the caches bypasses them. Otherwise the lines that it overwrites
     * would be read first. */
    if (task.from && bytes > device->facts->cache_bytes / 2) {
        task.past = cpu_map_copy(device);
    }
    const iso_status status = cpu_team_lock(team, background);
    if (status == ISO_OK) {
        cpu_team_run(team, cpu_team_size(team), move_share, &task);
        cpu_team_unlock(team);
    }
    return status;
}

iso_status cpu_transfer_submit(void *stream, const iso_transfer *transfer)
{
    cpu_command command = {.kind = CPU_COMMAND_TRANSFER, .transfer = *transfer};
    return cpu_stream_submit(stream, &command);
}
