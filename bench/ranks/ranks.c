/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - the devices of the ranks, and their communicator. */
#include "bench/ranks/ranks.h"

#include "bench/ranks/pool.h"

#include <stdlib.h>
#include <string.h>

struct ranks_team {
    char engine[ISO_NAME_MAX]; /* "": the one that suits */
    int64_t timeout;           /* nanoseconds; 0: the library's */
    bool world;
    int32_t most, count;
    ranks_seat *seats; /* `most` of them; one in a world */
    char maker[ISO_NAME_MAX], library[ISO_NAME_MAX];
    ranks_pool *pool;
};

/* ---- options --------------------------------------------------------------------------------- */

bool ranks_is_world(const ranks_options *options)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    bool started = false;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        started = started || getenv(variables[i]);
    }
    return options->world || (started && !options->ranks);
}

int ranks_counts(const char *text, int32_t *counts, int32_t room, int32_t *count)
{
    tool_words words;
    int code = TOOL_OK;
    *count = 0;
    if (!tool_split(text, &words)) {
        return tool_error(TOOL_INTERNAL, "no memory");
    }
    for (int i = 0; i < words.count && code == TOOL_OK && *count < room; i++) {
        uint64_t value = 0;
        code = tool_whole("ranks", words.items[i], 1, RANKS_MOST, &value);
        counts[(*count)++] = (int32_t)value;
    }
    if (code == TOOL_OK && (words.count == 0 || words.count > room)) {
        code = tool_error(TOOL_USAGE, "--ranks \"%s\" must have 1 to %d numbers", text, room);
    }
    tool_words_free(&words);
    return code;
}

/* ---- devices --------------------------------------------------------------------------------- */

bool ranks_is_once(const iso_device_info *info)
{
    return strcmp(info->backend, "cuda") == 0 || strcmp(info->backend, "hip") == 0;
}

static int open_seat(ranks_team *of, const char *spec)
{
    ranks_seat *seat = &of->seats[of->most];
    *seat = (ranks_seat){.info = ISO_DEVICE_INFO_INIT};
    iso_status status = iso_device_open(spec, &seat->device);
    if (status != ISO_OK) {
        seat->device.id = 0;
        return tool_error(tool_code(status), "%s", tool_reason());
    }
    of->most++;
    status = iso_device_get_info(seat->device, &seat->info);
    return status == ISO_OK ? TOOL_OK : tool_error(tool_code(status), "%s", tool_reason());
}

/* Opens the next GPUs of the backend until there is none. */
static int open_further(ranks_team *of, int32_t most)
{
    char spec[2 * ISO_NAME_MAX];
    char backend[ISO_NAME_MAX];
    memcpy(backend, of->seats[0].info.backend, sizeof backend);
    int32_t present = 0;
    iso_entry *entries = tool_enumerate(&present);
    if (!entries) {
        return TOOL_INTERNAL;
    }
    int code = TOOL_OK;
    for (int32_t i = 0; i < present && of->most < most && code == TOOL_OK; i++) {
        if (entries[i].state == ISO_STATE_OK && strcmp(entries[i].backend, backend) == 0 &&
            strcmp(entries[i].device.spec, of->seats[0].info.spec) != 0) {
            snprintf(spec, sizeof spec, "%s", entries[i].device.spec);
            code = open_seat(of, spec);
        }
    }
    free(entries);
    return code;
}

/* Deals the specs to the ranks. */
static int open_devices(ranks_team *of, const tool_words *specs, int32_t most)
{
    int code = TOOL_OK;
    for (int32_t i = 0; i < most && code == TOOL_OK; i++) {
        if (i >= specs->count && ranks_is_once(&of->seats[i % specs->count].info)) {
            return specs->count == 1 ? open_further(of, most) : TOOL_OK;
        }
        code = open_seat(of, specs->items[i % specs->count]);
    }
    return code;
}

/* ---- the world ------------------------------------------------------------------------------- */

static iso_comm_options options_of(const ranks_team *of)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    options.engine = of->engine[0] ? of->engine : NULL;
    options.timeout_nanoseconds = of->timeout;
    return options;
}

/* This process's place among those of its machine, which chooses its GPU. */
static int32_t local_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "PMI_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i]);
        if (text && text[0]) {
            return (int32_t)strtol(text, NULL, 10);
        }
    }
    return 0;
}

static int note_library(ranks_team *of)
{
    iso_comm_info info = ISO_COMM_INFO_INIT;
    iso_status status = iso_comm_get_info(of->seats[0].comm, &info);
    if (status != ISO_OK) {
        return tool_error(tool_code(status), "%s", tool_reason());
    }
    memcpy(of->maker, info.engine, sizeof of->maker);
    memcpy(of->library, info.library, sizeof of->library);
    of->seats[0].rank = info.rank;
    of->seats[0].ranks = info.ranks;
    if (of->world) {
        of->count = info.ranks;
    }
    return TOOL_OK;
}

/* A process opens the device whose number is its place on the machine: of the list, or of the GPUs
 * of the only backend in it. */
static int open_world(ranks_team *of, const tool_words *specs)
{
    const int32_t place = local_rank();
    int code = open_seat(of, specs->items[place % specs->count]);
    if (code == TOOL_OK && specs->count == 1 && place > 0 && ranks_is_once(&of->seats[0].info)) {
        char spec[2 * ISO_NAME_MAX];
        snprintf(spec, sizeof spec, "%s:%d", of->seats[0].info.backend, place);
        iso_device_close(of->seats[0].device);
        of->most = 0;
        code = open_seat(of, spec);
    }
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Without --backend the ranks are devices like the one that the library chooses. */
static int find_specs(const ranks_options *options, tool_words *specs)
{
    if (options->backend || !getenv("ISOMER_BACKEND")) {
        const char *backend = options->backend ? options->backend : "auto";
        return tool_specs(backend, options->require, specs);
    }
    return tool_specs(NULL, options->require, specs);
}

int ranks_open(const ranks_options *options, int32_t most, ranks_team **out)
{
    uint64_t seconds = 0;
    tool_words specs = {0};
    if (ranks_is_world(options) && options->ranks) {
        return tool_error(TOOL_USAGE,
                          "--ranks %s with --world: mpirun says how many ranks there are, so leave "
                          "out one of them",
                          options->ranks);
    }
    int code = tool_whole("timeout", options->timeout, 1, 1000000, &seconds);
    if (code == TOOL_OK) {
        code = find_specs(options, &specs);
    }
    if (code != TOOL_OK) {
        return code;
    }
    ranks_team *of = tool_alloc(1, sizeof *of, "the ranks");
    of->world = ranks_is_world(options);
    of->timeout = (int64_t)seconds * 1000000000;
    of->seats = tool_alloc((size_t)most, sizeof *of->seats, "the ranks");
    if (options->engine) {
        snprintf(of->engine, sizeof of->engine, "%s", options->engine);
    }
    code = of->world ? open_world(of, &specs) : open_devices(of, &specs, most);
    tool_words_free(&specs);
    if (code == TOOL_OK && options->ranks && of->most < most) {
        code =
            tool_error(TOOL_UNAVAILABLE,
                       "--ranks %d: there are %d devices of %s, and each of them can be one rank "
                       "only",
                       most, of->most, of->seats[0].info.backend);
    }
    of->pool = code == TOOL_OK ? ranks_pool_create(of->most) : NULL;
    if (code == TOOL_OK && !of->pool) {
        code = tool_error(TOOL_INTERNAL, "no threads for %d ranks", of->most);
    }
    if (code == TOOL_OK && of->world && !ranks_join(of, 0)) {
        code = tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    if (code != TOOL_OK) {
        ranks_close(of);
        return code;
    }
    *out = of;
    return TOOL_OK;
}

void ranks_close(ranks_team *of)
{
    if (!of) {
        return;
    }
    ranks_leave(of);
    ranks_pool_destroy(of->pool);
    for (int32_t i = 0; i < of->most; i++) {
        iso_device_close(of->seats[i].device); /* also frees everything on it */
    }
    free(of->seats);
    free(of);
}

/* ---- the communicator ------------------------------------------------------------------------ */

static bool make_streams(ranks_team *of, int32_t here)
{
    for (int32_t i = 0; i < here; i++) {
        ranks_seat *seat = &of->seats[i];
        if (seat->stream.id == 0 && iso_stream_create(seat->device, 0, &seat->stream) != ISO_OK) {
            seat->stream.id = 0;
            return false;
        }
    }
    return true;
}

static iso_status make_comms(const ranks_team *of, int32_t count, iso_comm *out)
{
    const iso_comm_options options = options_of(of);
    iso_device devices[RANKS_MOST];
    if (of->world) {
        return iso_comm_world(of->seats[0].device, &options, out);
    }
    for (int32_t i = 0; i < count; i++) {
        devices[i] = of->seats[i].device;
    }
    return iso_comm_create(devices, count, &options, out);
}

bool ranks_join(ranks_team *of, int32_t count)
{
    iso_comm comms[RANKS_MOST];
    bool sound = of->count > 0 && (of->world || of->count == count);
    for (int32_t i = 0; sound && i < ranks_here(of); i++) {
        sound = iso_comm_query(of->seats[i].comm) == ISO_OK &&
                iso_stream_query(of->seats[i].stream) != ISO_DEVICE_LOST;
    }
    if (sound) {
        return true;
    }
    ranks_leave(of);
    const int32_t here = of->world ? 1 : count;
    if (!make_streams(of, here) || make_comms(of, count, comms) != ISO_OK) {
        return false;
    }
    of->count = count;
    for (int32_t i = 0; i < here; i++) {
        of->seats[i].comm = comms[i];
        of->seats[i].rank = i;
        of->seats[i].ranks = count;
    }
    return note_library(of) == TOOL_OK;
}

void ranks_leave(ranks_team *of)
{
    for (int32_t i = 0; i < ranks_here(of) && of->count > 0; i++) {
        ranks_seat *seat = &of->seats[i];
        const bool failed = iso_comm_query(seat->comm) != ISO_OK;
        iso_comm_destroy(seat->comm);
        seat->comm.id = 0;
        if (failed) { /* a stream that failed runs nothing more */
            iso_stream_destroy(seat->stream);
            seat->stream.id = 0;
        }
    }
    of->count = 0;
}

iso_status ranks_second(ranks_team *of, iso_comm *comms)
{
    return make_comms(of, of->count, comms);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

bool ranks_run(ranks_team *of, ranks_work *work, void *context)
{
    const int32_t here = ranks_here(of);
    ranks_pool_run(of->pool, of->seats, here, work, context);
    for (int32_t i = 0; i < here; i++) {
        if (of->seats[i].status != ISO_OK) {
            return false;
        }
    }
    return true;
}

bool ranks_gather(ranks_team *of, const void *mine, int64_t bytes, void *all)
{
    if (!of->world) {
        memcpy(all, mine, (size_t)(bytes * of->count));
        return true;
    }
    const ranks_seat *seat = &of->seats[0];
    iso_buffer buffer;
    if (iso_buffer_create(seat->device, bytes * (of->count + 1), &buffer) != ISO_OK) {
        return false;
    }
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    args.op = ISO_COMM_ALL_GATHER;
    args.dtype = ISO_I64;
    args.count = bytes / 8;
    args.from = (iso_operand){buffer, 0};
    args.to = (iso_operand){buffer, bytes};
    iso_status status = iso_write(seat->stream, args.from, mine, bytes);
    if (status == ISO_OK) {
        status = iso_comm_run(seat->comm, seat->stream, &args);
    }
    if (status == ISO_OK) {
        status = iso_read(seat->stream, all, args.to, bytes * of->count);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(seat->stream);
    }
    iso_buffer_destroy(buffer);
    return status == ISO_OK;
}

/* ---- queries --------------------------------------------------------------------------------- */

int32_t ranks_most(const ranks_team *of)
{
    return of->world ? of->count : of->most;
}

bool ranks_in_world(const ranks_team *of)
{
    return of->world;
}

bool ranks_speaks(const ranks_team *of)
{
    return !of->world || of->seats[0].rank == 0;
}

int32_t ranks_count(const ranks_team *of)
{
    return of->count;
}

int32_t ranks_here(const ranks_team *of)
{
    return of->world ? (of->count > 0) : of->count;
}

int32_t ranks_open_here(const ranks_team *of)
{
    return of->most;
}

ranks_seat *ranks_at(ranks_team *of, int32_t i)
{
    return &of->seats[i];
}

const char *ranks_engine(const ranks_team *of)
{
    return of->maker;
}

const char *ranks_library(const ranks_team *of)
{
    return of->library;
}

void ranks_title(const ranks_team *of, char *text, size_t room)
{
    text[0] = '\0';
    for (int32_t i = 0; i < of->most; i++) {
        bool seen = false;
        for (int32_t j = 0; j < i && !seen; j++) {
            seen = strcmp(of->seats[i].info.spec, of->seats[j].info.spec) == 0;
        }
        if (!seen) {
            tool_join(text, room, ", ", of->seats[i].info.spec);
        }
    }
    if (of->world) {
        tool_join(text, room, ", ", "one rank in each process");
    }
}
