/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_wrong.c - is loaded before libisomer, and does wrong what ISOMER_TEST_WRONG names: "WHAT
 * FIRST LAST" are calls FIRST to LAST of
 *
 *   all_reduce, ..., receive   of the last rank: its last element is wrong. With ISOMER_TEST_TIMED
 *                              only calls between two events count, those that are timed
 *   copy                       from a device to another: the last element does not arrive.
 *                              Calls are counted for each pair of devices
 *   matrix, bit                of a gather by rank 0: an element is far off, or only just
 *   share                      of the gathers that tell all ranks something: they fail
 */
#include <dlfcn.h>
#include <isomer/comm.h>
#include <isomer/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int timed, grid_rank; /* each rank has a thread of its own */

/* Whether this is a call to do wrong. */
static int is_wrong(const char *what, int *calls)
{
    char name[32];
    int first, last;
    const char *wrong = getenv("ISOMER_TEST_WRONG");
    if (!wrong || sscanf(wrong, "%31s %d %d", name, &first, &last) != 3 ||
        strcmp(name, what) != 0) {
        return 0;
    }
    ++*calls;
    return *calls >= first && *calls <= last;
}

static int is_last(iso_comm comm, int64_t *ranks)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    const iso_status status = iso_comm_get_info(comm, &info);
    *ranks = info.ranks;
    return status == ISO_OK && info.rank == info.ranks - 1;
}

static iso_status spoil(iso_comm comm, iso_stream stream, const iso_comm_args *args)
{
    static int calls;
    int64_t ranks = 0;
    const float wrong = 0.5F;
    if (!is_last(comm, &ranks) || (getenv("ISOMER_TEST_TIMED") && !timed) ||
        !is_wrong(iso_comm_op_name(args->op), &calls)) {
        return ISO_OK;
    }
    const int many = args->op == ISO_COMM_ALL_GATHER || args->op == ISO_COMM_ALL_TO_ALL;
    const int64_t count = args->count * (many ? ranks : 1);
    const iso_operand last = {args->to.buffer, args->to.offset + 4 * (count - 1)};
    return iso_fill(stream, last, &wrong, sizeof wrong, sizeof wrong);
}

iso_status iso_comm_run(iso_comm comm, iso_stream stream, const iso_comm_args *args)
{
    static int calls;
    iso_status (*run)(iso_comm, iso_stream, const iso_comm_args *);
    *(void **)&run = dlsym(RTLD_NEXT, "iso_comm_run");
    if (args->op == ISO_COMM_ALL_GATHER && args->dtype == ISO_I64 && is_wrong("share", &calls)) {
        return run((iso_comm){0}, stream, args);
    }
    const iso_status status = run(comm, stream, args);
    return status == ISO_OK ? spoil(comm, stream, args) : status;
}

iso_status iso_comm_run_group(const iso_comm_call *calls, int32_t count)
{
    iso_status (*run)(const iso_comm_call *, int32_t);
    *(void **)&run = dlsym(RTLD_NEXT, "iso_comm_run_group");
    iso_status status = run(calls, count);
    for (int32_t i = 0; i < count && status == ISO_OK; i++) {
        status = spoil(calls[i].comm, calls[i].stream, calls[i].args);
    }
    return status;
}

iso_status iso_event_record(iso_event event, iso_stream stream)
{
    iso_status (*record)(iso_event, iso_stream);
    *(void **)&record = dlsym(RTLD_NEXT, "iso_event_record");
    timed = !timed;
    return record(event, stream);
}

iso_status iso_copy_between(iso_stream to_stream, iso_operand to, iso_stream from_stream,
                            iso_operand from, int64_t bytes, iso_path *path)
{
    static int calls;
    static uint64_t before;
    iso_status (*copy)(iso_stream, iso_operand, iso_stream, iso_operand, int64_t, iso_path *);
    *(void **)&copy = dlsym(RTLD_NEXT, "iso_copy_between");
    calls = to_stream.id == before ? calls : 0;
    before = to_stream.id;
    return copy(to_stream, to, from_stream, from, bytes - (is_wrong("copy", &calls) ? 4 : 0), path);
}

iso_status iso_grid_create(iso_comm comm, int32_t rows, int32_t cols, iso_grid *out)
{
    iso_status (*create)(iso_comm, int32_t, int32_t, iso_grid *);
    iso_comm_info info = ISO_COMM_INFO_INIT;
    *(void **)&create = dlsym(RTLD_NEXT, "iso_grid_create");
    grid_rank = iso_comm_get_info(comm, &info) == ISO_OK ? info.rank : -1;
    return create(comm, rows, cols, out);
}

iso_status iso_grid_gather(iso_grid grid, const iso_grid_layout *layout, int32_t root, void *to,
                           int64_t ld, iso_operand from, const void *from_host)
{
    static int far, near;
    iso_status (*gather)(iso_grid, const iso_grid_layout *, int32_t, void *, int64_t, iso_operand,
                         const void *);
    *(void **)&gather = dlsym(RTLD_NEXT, "iso_grid_gather");
    const iso_status status = gather(grid, layout, root, to, ld, from, from_host);
    if (status == ISO_OK && grid_rank == root) {
        float *element = (float *)to + layout->cols + 1;
        uint32_t bits;
        *element += is_wrong("matrix", &far) ? 64 : 0;
        memcpy(&bits, element, sizeof bits);
        bits ^= is_wrong("bit", &near) ? 1 : 0;
        memcpy(element, &bits, sizeof bits);
    }
    return status;
}
