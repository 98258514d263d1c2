/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - what is moved, and whether it arrived. */
#include "bench/comm/scale.h"

#include "bench/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The period is a prime number of elements, so no block of a library's is as long as several. */
enum { PERIOD = 1048573, STEP = 65537, STAGE = 32 << 20 };

/* The bits of a whole number that a type holds exactly. */
static int exact_bits(iso_dtype dtype)
{
    return dtype == ISO_F16    ? 11
           : dtype == ISO_BF16 ? 8
           : dtype == ISO_F32  ? 24
           : dtype == ISO_I32  ? 30
                               : 50;
}

int64_t scale_row(int32_t rank)
{
    return (int64_t)rank * STEP % PERIOD;
}

/* Random whole numbers, so small that their sums are exact in any order; with very many ranks there
 * are none. */
bool scale_data_make(scale_data *data, iso_dtype dtype, int32_t ranks, uint64_t seed)
{
    const int64_t element = iso_dtype_size(dtype);
    const double whole = ldexp(1, exact_bits(dtype)), most = fmax(floor(whole / ranks) - 1, 1);
    scale_data_free(data);
    *data = (scale_data){.dtype = dtype, .element = element, .ranks = ranks};
    data->exact = most * ranks <= whole;
    data->base = malloc((size_t)(PERIOD * element));
    data->sums = malloc((size_t)(PERIOD * element));
    double *values = malloc(PERIOD * sizeof *values);
    if (!data->base || !data->sums || !values) {
        free(values);
        return false;
    }
    for (int64_t i = 0; i < PERIOD; i++) {
        const double uniform = (double)(arith_mix(seed, (uint64_t)i) >> 11) * 0x1p-53;
        values[i] = floor(uniform * (2 * most + 1)) - most;
        arith_store(dtype, data->base + i * element, values[i]);
    }
    for (int64_t i = 0; i < PERIOD; i++) {
        double sum = 0;
        for (int32_t r = 0; r < ranks; r++) {
            sum += values[(i + scale_row(r)) % PERIOD];
        }
        arith_store(dtype, data->sums + i * element, sum);
    }
    free(values);
    return true;
}

void scale_data_free(scale_data *data)
{
    free(data->base);
    free(data->sums);
    *data = (scale_data){0};
}

iso_status scale_upload(const scale_data *data, const ranks_seat *seat, iso_buffer to,
                        int64_t bytes)
{
    iso_status status = ISO_OK;
    int64_t at = scale_row(seat->rank) * data->element;
    for (int64_t done = 0; done < bytes && status == ISO_OK; at = 0) {
        int64_t part = PERIOD * data->element - at;
        part = part > bytes - done ? bytes - done : part;
        status = iso_write(seat->stream, (iso_operand){to, done}, data->base + at, part);
        done += part;
    }
    return status == ISO_OK ? iso_stream_sync(seat->stream) : status;
}

/* Compares bytes with a period. Returns the first element that differs; -1: none. */
static int64_t first_wrong(const scale_data *data, const unsigned char *got, int64_t count,
                           const unsigned char *table, int64_t first)
{
    const int64_t element = data->element;
    int64_t at = first % PERIOD;
    for (int64_t done = 0; done < count; at = 0) {
        int64_t part = PERIOD - at;
        part = part > count - done ? count - done : part;
        const unsigned char *a = got + done * element, *b = table + at * element;
        if (memcmp(a, b, (size_t)(part * element)) != 0) {
            int64_t i = 0;
            while (memcmp(a + i * element, b + i * element, (size_t)element) == 0) {
                i++;
            }
            return done + i;
        }
        done += part;
    }
    return -1;
}

static iso_status need_stage(const ranks_seat *seat, scale_memory *memory)
{
    void *stage = NULL;
    iso_status status = memory->stage ? ISO_OK : iso_host_alloc(seat->device, STAGE, &stage, NULL);
    memory->stage = stage ? stage : memory->stage;
    return status;
}

bool scale_compare(const scale_data *data, const ranks_seat *seat, scale_memory *memory,
                   int64_t offset, const scale_part *part, scale_outcome *outcome)
{
    const int64_t most = STAGE / data->element;
    iso_status status = need_stage(seat, memory);
    for (int64_t done = 0; done < part->count && status == ISO_OK;) {
        const int64_t count = part->count - done > most ? most : part->count - done;
        const int64_t bytes = count * data->element;
        status = iso_read(seat->stream, memory->stage,
                          (iso_operand){memory->to, offset + done * data->element}, bytes);
        status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
        if (status != ISO_OK) {
            break;
        }
        const int64_t first = part->first + done;
        const int64_t wrong = first_wrong(data, memory->stage, count, part->table, first);
        if (wrong >= 0) {
            outcome->status = BENCH_FAILED;
            snprintf(
                outcome->reason, sizeof outcome->reason,
                "rank %d, element %lld: %.17g, expected exactly %.17g", seat->rank,
                (long long)(offset / data->element + done + wrong),
                arith_load(data->dtype, memory->stage + wrong * data->element),
                arith_load(data->dtype, part->table + (first + wrong) % PERIOD * data->element));
            return false;
        }
        uint64_t digests[4];
        memcpy(digests, outcome->digest, sizeof outcome->digest);
        check_hash(memory->stage, bytes, digests + 2);
        check_hash(digests, (int64_t)sizeof digests, outcome->digest);
        done += count;
    }
    if (status != ISO_OK) {
        outcome->status = BENCH_ERROR;
        snprintf(outcome->reason, sizeof outcome->reason, "rank %d: reading the result: %s",
                 seat->rank, iso_last_error());
    }
    return status == ISO_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void drop_buffers(scale_memory *memory)
{
    if (memory->from.id != 0) {
        iso_buffer_destroy(memory->from);
    }
    if (memory->to.id != 0) {
        iso_buffer_destroy(memory->to);
    }
    memory->from.id = memory->to.id = 0;
    memory->bytes = 0;
}

typedef struct wanted {
    scale_run *run;
    int64_t bytes;
} wanted;

static iso_status give(void *context, ranks_seat *seat)
{
    const wanted *w = context;
    scale_memory *memory = &w->run->memories[scale_number(w->run, seat)];
    drop_buffers(memory);
    iso_status status = iso_buffer_create(seat->device, w->bytes, &memory->from);
    if (status != ISO_OK) {
        memory->from.id = 0;
        return status;
    }
    status = iso_buffer_create(seat->device, w->bytes, &memory->to);
    if (status != ISO_OK) {
        memory->to.id = 0;
        return status;
    }
    if (memory->begin.id == 0) {
        status = iso_event_create(seat->device, &memory->begin);
        status = status == ISO_OK ? iso_event_create(seat->device, &memory->end) : status;
    }
    memory->bytes = w->bytes;
    return status == ISO_OK ? scale_upload(&w->run->data, seat, memory->from, w->bytes) : status;
}

bool scale_need(scale_run *run, int64_t bytes, scale_outcome *outcomes)
{
    wanted w = {run, bytes};
    if (run->memories[0].bytes >= bytes) {
        return true; /* ranks have as much as each other */
    }
    memset(outcomes, 0, (size_t)scale_here(run) * sizeof *outcomes);
    ranks_run(run->team, give, &w);
    scale_note(run, "memory for its arrays", outcomes);
    if (scale_agree(run, outcomes)) {
        return true;
    }
    const scale_outcome kept = outcomes[0];
    scale_release(run);
    outcomes[0] = kept;
    return false;
}

void scale_release(scale_run *run)
{
    for (int32_t i = 0; i < ranks_open_here(run->team); i++) {
        scale_memory *memory = &run->memories[i];
        drop_buffers(memory);
        if (memory->begin.id != 0) {
            iso_event_destroy(memory->begin);
        }
        if (memory->end.id != 0) {
            iso_event_destroy(memory->end);
        }
        if (memory->stage) {
            iso_host_free(ranks_at(run->team, i)->device, memory->stage);
        }
        *memory = (scale_memory){0};
    }
}
