/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - sparse matrices: makes them on a device, writes their values and frees them. */
#include "core/sparse.h"
#include "core/call.h"
#include "core/host.h"
#include "core/stream.h"

#include <stdlib.h>

enum { PIECE_BYTES = 4 << 20 /* of numbers or values that are converted on their way */ };

/* ---- checks ---------------------------------------------------------------------------------- */

static iso_status check_types(const char *call, const iso_sparse_args *args)
{
    if (args->dtype != ISO_F32 && args->dtype != ISO_F64) {
        const char *name = iso_dtype_name(args->dtype);

        return core_fail(ISO_INVALID, "%s: dtype is %d (%s): values are ISO_F32 (3) or ISO_F64 (4)",
                         call, (int)args->dtype, name ? name : "not a type");
    }
    if (args->index != ISO_I32 && args->index != ISO_I64) {
        const char *name = iso_dtype_name(args->index);

        return core_fail(ISO_INVALID,
                         "%s: index is %d (%s): offsets and columns are ISO_I32 (5) or ISO_I64 (6)",
                         call, (int)args->index, name ? name : "not a type");
    }
    if (args->flags & ~(uint32_t)(ISO_SPARSE_NO_TRANSPOSE | ISO_SPARSE_KEEP_INDEX)) {
        return core_fail(ISO_INVALID,
                         "%s: flags is 0x%x: only ISO_SPARSE_NO_TRANSPOSE (1) and "
                         "ISO_SPARSE_KEEP_INDEX (2) are known",
                         call, args->flags);
    }
    return ISO_OK;
}

/* Checks one size: so many numbers or values of 8 bytes must have a size in bytes. */
static iso_status check_size(const char *call, const char *name, int64_t value)
{
    const int64_t most = INT64_MAX / 8 - 1;
    iso_status status = core_check_size(call, name, value);

    if (!status && value > most) {
        status = core_fail(ISO_INVALID,
                           "%s: %s is %lld: the size of its array in bytes does not fit 64 bits",
                           call, name, (long long)value);
    }
    return status;
}

static iso_status check_arrays(const char *call, const iso_sparse_args *args)
{
    const struct {
        const char *name;
        const void *array;
        int64_t count;
    } arrays[] = {
        {"offsets", args->offsets, args->rows + 1},
        {"columns", args->columns, args->entries},
        {"values", args->values, args->entries},
    };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (!arrays[i].array && arrays[i].count) {
            return core_fail(ISO_INVALID, "%s: %s is NULL: pass an array of %lld", call,
                             arrays[i].name, (long long)arrays[i].count);
        }
    }
    return ISO_OK;
}

static core_rows rows_of(const iso_sparse_args *args)
{
    return (core_rows){.index = args->index,
                       .rows = args->rows,
                       .cols = args->cols,
                       .entries = args->entries,
                       .offsets = args->offsets,
                       .columns = args->columns};
}

static iso_status read_args(const char *call, const iso_sparse_args *given, iso_sparse_args *args)
{
    core_rows rows;
    iso_status status = core_struct_read(call, "args", given, CORE_END_OF(iso_sparse_args, values),
                                         args, sizeof *args);

    if (!status) {
        status = check_types(call, args);
    }
    if (!status) {
        status = check_size(call, "rows", args->rows);
    }
    if (!status) {
        status = check_size(call, "cols", args->cols);
    }
    if (!status) {
        status = check_size(call, "entries", args->entries);
    }
    if (!status) {
        status = check_arrays(call, args);
    }
    if (!status) {
        rows = rows_of(args);
        status = core_rows_check(call, &rows);
    }
    return status;
}

/* ---- device memory --------------------------------------------------------------------------- */

static void free_arrays(core_sparse *sparse)
{
    core_physical *physical = sparse->child.device->physical;

    for (int i = 0; i < 2 * CORE_ARRAYS; i++) {
        const core_array *array = &sparse->side[i / CORE_ARRAYS].all[i % CORE_ARRAYS];

        if (array->memory) {
            CORE_DO(physical->table->memory_free(physical->device, array->memory));
            core_memory_give(physical, array->bytes);
        }
    }
}

static iso_status make_array(const char *call, core_device *device, int64_t bytes, core_array *out)
{
    iso_status status;

    if (!bytes) {
        return ISO_OK;
    }
    status = core_memory_take(call, device, bytes);
    if (status) {
        return status;
    }
    status = CORE_CALL(call, device->table,
                       device->table->memory_alloc(device->physical->device, bytes, &out->memory));
    if (status) {
        out->memory = NULL;
        core_memory_give(device->physical, bytes);
    } else {
        out->bytes = bytes;
    }
    return status;
}

/* ---- copying to the device ------------------------------------------------------------------- */

/* What makes a matrix: the backend's stream that copies it, and room for a piece. */
typedef struct making {
    const char *call;
    core_sparse *sparse;
    void *stream;
    void *piece;
} making;

static iso_status sync(const making *m)
{
    const iso_backend *table = m->sparse->child.device->table;

    return CORE_LIGHT(m->call, table, table->stream_sync(m->stream));
}

static iso_status send(const making *m, const core_array *to, int64_t at, const void *from,
                       int64_t bytes)
{
    const iso_backend *table = m->sparse->child.device->table;
    iso_transfer write = core_transfer_run(ISO_TRANSFER_WRITE, bytes);

    write.to = (iso_ref){to->memory, at};
    write.host_from = from;
    return CORE_CALL(m->call, table, table->transfer(m->stream, &write));
}

static void convert(const void *from, iso_dtype index, int64_t first, int64_t count, int64_t size,
                    void *to)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = core_number(from, index, first + i);

        if (size == sizeof(uint16_t)) {
            ((uint16_t *)to)[i] = (uint16_t)number;
        } else if (size == sizeof(int32_t)) {
            ((int32_t *)to)[i] = (int32_t)number;
        } else {
            ((int64_t *)to)[i] = number;
        }
    }
}

/* Copies numbers of type `index` to an array whose numbers have `size` bytes, which they fit. */
static iso_status send_numbers(const making *m, const core_array *to, int64_t size,
                               const void *from, iso_dtype index, int64_t count)
{
    const int64_t most = PIECE_BYTES / size;
    iso_status status = ISO_OK;

    if (iso_dtype_size(index) == size) {
        return count ? send(m, to, 0, from, count * size) : ISO_OK;
    }
    for (int64_t first = 0; first < count && !status; first += most) {
        const int64_t part = count - first < most ? count - first : most;

        convert(from, index, first, part, size, m->piece);
        status = send(m, to, first * size, m->piece, part * size);
        if (!status) {
            status = sync(m);
        }
    }
    return status;
}

/* Copies the values in the order of the transposed copy. */
static iso_status send_ordered(const making *m, const core_array *to, const void *values)
{
    const core_sparse *sparse = m->sparse;
    const int64_t size = iso_dtype_size(sparse->dtype), most = PIECE_BYTES / size;
    iso_status status = ISO_OK;

    for (int64_t first = 0; first < sparse->entries && !status; first += most) {
        const int64_t left = sparse->entries - first, part = left < most ? left : most;

        core_values_order(sparse->places, sparse->index, values, sparse->dtype, first, part,
                          m->piece);
        status = send(m, to, first * size, m->piece, part * size);
        if (!status) {
            status = sync(m);
        }
    }
    return status;
}

static iso_status send_starts(const making *m, const core_rows *rows, const core_array *to)
{
    int64_t *starts = core_alloc(to->bytes);
    iso_status status;

    if (!starts) {
        return core_fail_no_memory(m->call, to->bytes);
    }
    core_rows_starts(rows, starts);
    status = send(m, to, 0, starts, to->bytes);
    if (!status) {
        status = sync(m);
    }
    free(starts);
    return status;
}

/* Makes the arrays of one side, and copies all but the values. */
static iso_status make_side(const making *m, const core_rows *rows, core_sparse_side *side)
{
    const char *call = m->call;
    core_device *device = m->sparse->child.device;
    const int64_t size = iso_dtype_size(m->sparse->index), narrow = sizeof(uint16_t);
    iso_status status;

    core_rows_count(rows, side);
    status = make_array(call, device, (rows->rows + 1) * size, &side->offsets);
    if (!status) {
        status = make_array(call, device, rows->entries * size, &side->columns);
    }
    if (!status) {
        status = make_array(call, device, rows->entries * iso_dtype_size(m->sparse->dtype),
                            &side->values);
    }
    if (!status && side->segments > side->rows) {
        status =
            make_array(call, device, (rows->rows + 1) * (int64_t)sizeof(int64_t), &side->starts);
    }
    if (!status && rows->cols <= CORE_NARROW_MOST && m->sparse->index == ISO_I32) {
        status = make_array(call, device, rows->entries * narrow, &side->narrow);
    }
    if (!status) {
        status = send_numbers(m, &side->offsets, size, rows->offsets, rows->index, rows->rows + 1);
    }
    if (!status) {
        status = send_numbers(m, &side->columns, size, rows->columns, rows->index, rows->entries);
    }
    if (!status && side->narrow.memory) {
        status = send_numbers(m, &side->narrow, narrow, rows->columns, rows->index, rows->entries);
    }
    if (!status && side->starts.memory) {
        status = send_starts(m, rows, &side->starts);
    }
    return status;
}

static iso_status make_transpose(const making *m, const iso_sparse_args *args)
{
    core_sparse *sparse = m->sparse;
    const int64_t size = iso_dtype_size(sparse->index);
    const core_rows given = rows_of(args);
    void *offsets = core_alloc((args->cols + 1) * size);
    void *rows = core_alloc(args->entries * size);
    core_rows made = {.index = sparse->index,
                      .rows = args->cols,
                      .cols = args->rows,
                      .entries = args->entries,
                      .offsets = offsets,
                      .columns = rows};
    iso_status status, end;

    sparse->places = core_alloc(args->entries * size);
    if (offsets && rows && sparse->places) {
        core_rows_transpose(&given, sparse->index, offsets, rows, sparse->places);
        status = make_side(m, &made, &sparse->side[1]);
        if (!status) {
            status = send_ordered(m, &sparse->side[1].values, args->values);
        }
        end = sync(m); /* the arrays stay until the device has read them */
        status = status ? status : end;
    } else {
        status = core_fail_no_memory(m->call, (args->cols + 1 + 2 * args->entries) * size);
    }
    free(offsets);
    free(rows);
    return status;
}

static iso_status make_sides(const making *m, const iso_sparse_args *args)
{
    const core_rows given = rows_of(args);
    core_sparse_side *side = &m->sparse->side[0];
    iso_status status = make_side(m, &given, side), end;

    if (!status && args->entries) {
        status =
            send(m, &side->values, 0, args->values, args->entries * iso_dtype_size(args->dtype));
    }
    if (!status && !(args->flags & ISO_SPARSE_NO_TRANSPOSE)) {
        status = make_transpose(m, args);
    }
    end = sync(m); /* the caller's arrays may go after this call, also after a failed one */
    return status ? status : end;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static iso_status make(const char *call, const iso_sparse_args *args, core_sparse *sparse)
{
    core_device *device = sparse->child.device;
    const iso_backend *table = device->table;
    making m = {.call = call, .sparse = sparse, .piece = core_alloc(PIECE_BYTES)};
    iso_status status;

    if (!m.piece) {
        return core_fail_no_memory(call, PIECE_BYTES);
    }
    status = CORE_CALL(call, table, table->stream_create(device->physical->device, 0, &m.stream));
    if (!status) {
        status = make_sides(&m, args);
        CORE_DO(table->stream_destroy(m.stream));
    }
    free(m.piece);
    return status ? status : core_child_add(call, device, &sparse->child, CORE_SPARSE);
}

static bool needs_i64(const iso_sparse_args *args)
{
    return (args->index == ISO_I64 && args->flags & ISO_SPARSE_KEEP_INDEX) ||
           args->rows > INT32_MAX || args->cols > INT32_MAX || args->entries > INT32_MAX;
}

iso_status iso_sparse_create(iso_device handle, const iso_sparse_args *given, iso_sparse *out)
{
    const char *call = "iso_sparse_create";
    CORE_HELD core_device *device = NULL;
    iso_sparse_args args;
    core_sparse *sparse;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);

    if (!status) {
        status = read_args(call, given, &args);
    }
    if (status) {
        return status;
    }
    sparse = calloc(1, sizeof *sparse);
    if (!sparse) {
        return core_fail_no_memory(call, (int64_t)sizeof *sparse);
    }
    sparse->child.device = device;
    sparse->dtype = args.dtype;
    sparse->index = needs_i64(&args) ? ISO_I64 : ISO_I32;
    sparse->flags = args.flags;
    sparse->entries = args.entries;
    status = make(call, &args, sparse);
    if (status) {
        core_kept_error kept = core_error_keep();

        free_arrays(sparse);
        free(sparse->places);
        free(sparse);
        core_error_restore(&kept);
        return status;
    }
    out->id = sparse->child.id;
    return ISO_OK;
}

void core_sparse_finish(core_sparse *sparse)
{
    const uint64_t id = sparse->child.id, users = atomic_load(&sparse->used_by);

    if (users) {
        core_streams_drain(sparse->child.device->physical, users, NULL);
    }
    free_arrays(sparse);
    core_child_unlink(&sparse->child);
    free(sparse->places);
    free(sparse);
    core_handle_free(id);
}

/* Whether a graph that uses the matrix may be in submission. */
static bool is_submitted(iso_sparse handle)
{
    CORE_HELD core_sparse *sparse = NULL;

    return core_handle_get(handle.id, CORE_SPARSE, &sparse) &&
           core_streams_again(sparse->child.device->physical, atomic_load(&sparse->used_by));
}

iso_status iso_sparse_destroy(iso_sparse handle)
{
    const char *call = "iso_sparse_destroy";
    core_sparse *sparse;
    iso_status status;

    if (core_inside() && is_submitted(handle)) {
        return core_handle_in_use(call, "sparse");
    }
    status = core_handle_retire(call, "sparse", handle.id, CORE_SPARSE, &sparse);

    if (!status) {
        core_sparse_finish(sparse);
    }
    return status;
}

iso_status iso_sparse_get_info(iso_sparse handle, iso_sparse_info *out)
{
    const char *call = "iso_sparse_get_info";
    iso_sparse_info info = ISO_SPARSE_INFO_INIT;
    CORE_HELD core_sparse *sparse = NULL;
    iso_status status = core_handle_acquire(call, "sparse", handle.id, CORE_SPARSE, &sparse);

    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_sparse_info, dtype));
    }
    if (status) {
        return status;
    }
    info.dtype = sparse->dtype;
    info.index = sparse->index;
    info.flags = sparse->flags;
    info.device.id = sparse->child.device->id;
    info.rows = sparse->side[0].rows;
    info.cols = sparse->side[0].cols;
    info.entries = sparse->entries;
    info.longest = sparse->side[0].longest;
    info.empty = sparse->side[0].empty;
    for (int i = 0; i < 2 * CORE_ARRAYS; i++) {
        info.bytes += sparse->side[i / CORE_ARRAYS].all[i % CORE_ARRAYS].bytes;
    }
    core_struct_write(out, &info, sizeof info);
    return ISO_OK;
}

/* ---- other values ---------------------------------------------------------------------------- */

static iso_status write_part(const char *call, core_stream *stream, const core_array *to,
                             int64_t at, const void *from, int64_t bytes)
{
    iso_transfer write = core_transfer_run(ISO_TRANSFER_WRITE, bytes);

    write.to = (iso_ref){to->memory, at};
    write.host_from = from;
    return core_transfer_submit(call, stream, &write);
}

/* Writes the values of both sides to the locked stream. `piece`: NULL without a transposed copy. */
static iso_status write_values(const char *call, core_stream *stream, core_sparse *sparse,
                               const void *values, void *piece)
{
    const int64_t size = iso_dtype_size(sparse->dtype), most = PIECE_BYTES / size;
    iso_status status;

    atomic_fetch_or(&sparse->used_by, stream->bit);
    status = write_part(call, stream, &sparse->side[0].values, 0, values, sparse->entries * size);
    for (int64_t first = 0; piece && first < sparse->entries && !status; first += most) {
        const int64_t left = sparse->entries - first, part = left < most ? left : most;

        core_values_order(sparse->places, sparse->index, values, sparse->dtype, first, part, piece);
        status =
            write_part(call, stream, &sparse->side[1].values, first * size, piece, part * size);
        core_stream_drain(call, stream);
    }
    return status || !piece ? status : core_stream_late(call, stream);
}

iso_status iso_sparse_write(iso_stream stream_handle, iso_sparse handle, const void *values,
                            int64_t bytes)
{
    const char *call = "iso_sparse_write";
    CORE_HELD core_stream *stream = NULL;
    CORE_HELD core_sparse *sparse = NULL;
    void *piece = NULL;
    int64_t all;
    iso_status status = core_handle_acquire(call, "stream", stream_handle.id, CORE_STREAM, &stream);

    if (!status) {
        status = core_handle_acquire(call, "sparse", handle.id, CORE_SPARSE, &sparse);
    }
    if (!status) {
        status = core_check_device(call, "sparse", &sparse->child, "stream", &stream->child);
    }
    if (status) {
        return status;
    }
    all = sparse->entries * iso_dtype_size(sparse->dtype);
    if (bytes != all) {
        return core_fail(ISO_INVALID,
                         "%s: bytes is %lld, but the %lld values of %s have %lld: pass all of them",
                         call, (long long)bytes, (long long)sparse->entries,
                         iso_dtype_name(sparse->dtype), (long long)all);
    }
    if (!values && bytes) {
        return core_fail(ISO_INVALID, "%s: values is NULL: pass the %lld values", call,
                         (long long)sparse->entries);
    }
    if (sparse->places && !(piece = core_alloc(PIECE_BYTES))) {
        return core_fail_no_memory(call, PIECE_BYTES);
    }
    status = core_stream_enter(call, stream);
    if (!status) {
        if (bytes) {
            status = write_values(call, stream, sparse, values, piece);
        }
        core_stream_leave(stream);
    }
    free(piece);
    return status;
}
