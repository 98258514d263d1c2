/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - ids, joining and leaving.
 *
 * The process that made an id is asked by the others: each sends a hello with its place. When all
 * have, the maker reserves them one by one in the order of their world ranks, and then tells all to
 * create the group, which blocks. A process is reserved for one communicator at a time, and the
 * order keeps two makers from waiting for each other: so whoever enters MPI_Comm_create_group finds
 * that all others do too.
 *
 * These messages go through MPI_COMM_WORLD with tags of their own: a duplicate of it would need all
 * of its processes, also those that never join.
 */
#include "backends/mpi/engine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Tags are at most 32767 everywhere. Ids of both kinds have tags of their own. */
enum {
    SERIALS = 4096,
    TAG_TO_MAKER = 16384,
    TAG_TO_MEMBER = 24576,
    GRACE = 1000000000 /* ns */
};

typedef enum letter_kind {
    LETTER_HELLO = 1,   /* to the maker: rank, ranks, world */
    LETTER_RESERVE = 2, /* from the maker */
    LETTER_GRANT = 3,   /* to the maker */
    LETTER_GO = 4,      /* from the maker; the list of world ranks follows */
    LETTER_REFUSE = 5   /* from the maker: status, why */
} letter_kind;

typedef struct letter {
    mpi_key key;
    int32_t kind, rank, ranks, world, status;
    char why[MPI_WHY_MAX];
} letter;

typedef struct id_text {
    char magic[16], engine[16];
    mpi_key key;
} id_text;
static const char magic[16] = "isomer mpi id 1";
_Static_assert(sizeof(id_text) <= ISO_ENGINE_ID_BYTES, "the core keeps the rest");

/* Memory of messages, which stays if MPI may still use it. */
typedef struct meeting {
    mpi_rank *rank;
    int64_t start;
    int world, turn;
    bool lost;     /* MPI may still use this memory */
    bool reserved; /* this process, by this meeting */
    bool granted;
    letter in, out;
    int32_t *callers, called; /* the maker's: world ranks, in the order of their hellos */
    int32_t list[];           /* world ranks by rank, -1: not yet; then the callers */
} meeting;

/* The communicator that this process is reserved for; guarded by the lock. */
static const meeting *reserved_by;

/* ---- ids ------------------------------------------------------------------------------------- */

iso_status mpi_id_create(iso_comm_id *out)
{
    static atomic_uint made;
    int32_t rank = 0, ranks = 0;
    const iso_status status = mpi_world(&rank, &ranks);
    id_text text = {.key = {.maker = rank}};
    struct timespec time = {0};

    if (status) {
        return status;
    }
    (void)clock_gettime(CLOCK_REALTIME, &time);
    text.key.serial = made++;
    text.key.nonce = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    text.key.nonce ^= (uint64_t)getpid() << 44;
    memcpy(text.magic, magic, sizeof magic);
    snprintf(text.engine, sizeof text.engine, "%s", MPI_PLUGIN);
    memset(out->bytes, 0, ISO_ENGINE_ID_BYTES);
    memcpy(out->bytes, &text, sizeof text);
    return ISO_OK;
}

/* An id of zeros is known to all: it stands for the whole world. */
static iso_status read_id(const iso_comm_id *id, int32_t ranks, mpi_key *key)
{
    static const char zeros[ISO_ENGINE_ID_BYTES];
    static atomic_uint worlds;
    id_text text;
    int32_t rank = 0, size = 0;
    iso_status status = mpi_world(&rank, &size);

    if (status) {
        return status;
    }
    memcpy(&text, id->bytes, sizeof text);
    if (!memcmp(id->bytes, zeros, sizeof zeros)) {
        if (ranks != size) {
            return MPI_FAIL(ISO_INVALID,
                            "%s: the id of zeros is for all %d processes of the job, not for %d",
                            MPI_PLUGIN, size, ranks);
        }
        *key = (mpi_key){.serial = worlds++, .world = 1};
        return ISO_OK;
    }
    if (memcmp(text.magic, magic, sizeof magic)) {
        return MPI_FAIL(ISO_INVALID, "%s: the bytes are not an id that this engine has made",
                        MPI_PLUGIN);
    }
    text.engine[sizeof text.engine - 1] = 0;
    if (strcmp(text.engine, MPI_PLUGIN)) {
        return MPI_FAIL(ISO_INVALID, "%s: the id was made by the engine %s: all ranks need one",
                        MPI_PLUGIN, text.engine);
    }
    if (text.key.maker < 0 || text.key.maker >= size || ranks > size) {
        return MPI_FAIL(ISO_INVALID,
                        "%s: the id is for %d ranks and was made by process %d, but this job has "
                        "%d processes",
                        MPI_PLUGIN, ranks, text.key.maker, size);
    }
    *key = text.key;
    return ISO_OK;
}

static int tag_of(const meeting *at, int first)
{
    const mpi_key *key = &at->rank->key;

    return first + (int)(key->serial % SERIALS) + (key->world ? SERIALS : 0);
}

/* ---- messages -------------------------------------------------------------------------------- */

static iso_status fail_code(const char *name, int code)
{
    char text[MPI_WHY_MAX];

    mpi_explain(text, sizeof text, name, code);
    return MPI_FAIL(ISO_BACKEND, "%s: joining: %s", MPI_PLUGIN, text);
}

/* Waits for a request until the time `end`. TIMEOUT calls no fail(). */
static iso_status await(meeting *at, MPI_Request *request, int64_t end)
{
    int done = 0, code = 0, turns = 0;
    iso_status status = ISO_OK;

    while (!status && !done) {
        const bool late = mpi_now() > end;

        mpi_lock();
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code) {
            status = fail_code("MPI_Test", code);
        } else if (!done && late) {
            status = ISO_TIMEOUT;
        }
        if (status && !mpi_cancel(request)) {
            at->lost = true;
        }
        mpi_unlock();
        if (!status && !done) {
            mpi_pause(&turns);
        }
    }
    return status;
}

static iso_status send_bytes(meeting *at, int to, int tag, const void *bytes, size_t size,
                             int64_t end)
{
    MPI_Request request;
    int code;

    mpi_lock();
    code = MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    mpi_unlock();
    return code ? fail_code("MPI_Isend", code) : await(at, &request, end);
}

static iso_status send(meeting *at, int to, letter_kind kind, int64_t end)
{
    const bool to_maker = kind == LETTER_HELLO || kind == LETTER_GRANT;
    letter *out = &at->out;

    out->key = at->rank->key;
    out->kind = (int32_t)kind;
    out->rank = at->rank->rank;
    out->ranks = at->rank->ranks;
    out->world = at->world;
    return send_bytes(at, to, tag_of(at, to_maker ? TAG_TO_MAKER : TAG_TO_MEMBER), out, sizeof *out,
                      end);
}

/* Receives a letter of this meeting; those of others are old ones. */
static iso_status receive(meeting *at, int from, int first_tag, int64_t end)
{
    iso_status status = ISO_OK;
    MPI_Request request;
    int code;

    do {
        mpi_lock();
        code = MPI_Irecv(&at->in, (int)sizeof at->in, MPI_BYTE, from, tag_of(at, first_tag),
                         MPI_COMM_WORLD, &request);
        mpi_unlock();
        status = code ? fail_code("MPI_Irecv", code) : await(at, &request, end);
    } while (!status && memcmp(&at->in.key, &at->rank->key, sizeof at->in.key));
    at->in.why[sizeof at->in.why - 1] = 0;
    return status;
}

/* ---- reservations ---------------------------------------------------------------------------- */

static iso_status reserve(meeting *at, int64_t end)
{
    int turns = 0;

    while (!at->reserved) {
        mpi_lock();
        if (!reserved_by) {
            reserved_by = at;
            at->reserved = true;
        }
        mpi_unlock();
        if (!at->reserved && mpi_now() > end) {
            return ISO_TIMEOUT;
        }
        if (!at->reserved) {
            mpi_pause(&turns);
        }
    }
    return ISO_OK;
}

static void release(meeting *at)
{
    mpi_lock();
    if (reserved_by == at) {
        reserved_by = NULL;
    }
    mpi_unlock();
    at->reserved = false;
}

/* ---- the maker ------------------------------------------------------------------------------- */

/* Notes what is wrong with a hello, unless something was before. */
static void judge(meeting *at, const letter *hello, char *wrong, size_t room)
{
    const int ranks = at->rank->ranks;

    if (wrong[0]) {
        return;
    }
    if (hello->ranks != ranks) {
        snprintf(wrong, room,
                 "rank %d joins as one of %d ranks, and rank %d as one of %d: all must give the "
                 "same number",
                 hello->rank, hello->ranks, at->rank->rank, ranks);
    } else if (hello->rank < 0 || hello->rank >= ranks) {
        snprintf(wrong, room, "a process joins as rank %d of %d", hello->rank, ranks);
    } else if (at->list[hello->rank] >= 0) {
        snprintf(wrong, room, "two processes join as rank %d of %d: each needs its own rank",
                 hello->rank, ranks);
    } else {
        at->list[hello->rank] = hello->world;
    }
}

static void name_missing(const meeting *at, char *text, size_t room)
{
    const int ranks = at->rank->ranks;
    size_t used = 0;
    int missing = 0;

    for (int i = 0; i < ranks; i++) {
        missing += at->list[i] < 0;
    }
    used = (size_t)snprintf(text, room,
                            "%d of %d ranks did not join within %.3g s, the timeout: missing",
                            missing, ranks, (double)at->rank->timeout * 1e-9);
    for (int i = 0, named = 0; i < ranks && named < 8; i++) {
        if (at->list[i] < 0 && used < room) {
            used += (size_t)snprintf(text + used, room - used, "%s %d", named++ ? "," : " rank", i);
        }
    }
    if (missing > 8 && used < room) {
        snprintf(text + used, room - used, " and others");
    }
}

/* Collects the hellos; `wrong` gets what is wrong with them. */
static iso_status collect(meeting *at, int64_t end, char *wrong, size_t room)
{
    iso_status status = ISO_OK;

    for (int i = 0; i < at->rank->ranks; i++) {
        at->list[i] = -1;
    }
    at->list[at->rank->rank] = at->world;
    for (int i = 1; i < at->rank->ranks && !status; i++) {
        status = receive(at, MPI_ANY_SOURCE, TAG_TO_MAKER, end);
        if (!status) {
            at->callers[at->called++] = at->in.world;
            judge(at, &at->in, wrong, room);
        }
    }
    if (status == ISO_TIMEOUT && !wrong[0]) {
        name_missing(at, wrong, room);
    }
    return status ? status : wrong[0] ? ISO_INVALID : ISO_OK;
}

/* The member with the smallest world rank above `above`; -1: none. */
static int next_member(const meeting *at, int above)
{
    int best = -1;

    for (int i = 0; i < at->rank->ranks; i++) {
        if (at->list[i] > above && (best < 0 || at->list[i] < best)) {
            best = at->list[i];
        }
    }
    return best;
}

static iso_status reserve_all(meeting *at, int64_t end, char *wrong, size_t room)
{
    iso_status status = ISO_OK;

    for (int to = next_member(at, -1); to >= 0 && !status; to = next_member(at, to)) {
        if (to == at->world) {
            status = reserve(at, end);
        } else {
            status = send(at, to, LETTER_RESERVE, end);
            if (!status) {
                status = receive(at, to, TAG_TO_MAKER, end);
            }
        }
        if (status == ISO_TIMEOUT) {
            snprintf(wrong, room,
                     "process %d said that it joins and did not answer within %.3g s, the timeout",
                     to, (double)at->rank->timeout * 1e-9);
        }
    }
    return status;
}

static iso_status make(meeting *at, int64_t end)
{
    char wrong[MPI_WHY_MAX] = "";
    iso_status status = collect(at, end, wrong, sizeof wrong);

    if (!status) {
        status = reserve_all(at, end, wrong, sizeof wrong);
    }
    if (status && !wrong[0]) {
        snprintf(wrong, sizeof wrong, "the process that made the id has failed");
    }
    at->out.status = (int32_t)status;
    snprintf(at->out.why, sizeof at->out.why, "%s", wrong);
    for (int i = 0; i < at->called; i++) {
        const int to = at->callers[i];
        iso_status sent = send(at, to, status ? LETTER_REFUSE : LETTER_GO, mpi_now() + GRACE);

        if (!status && !sent) {
            sent = send_bytes(at, to, tag_of(at, TAG_TO_MEMBER), at->list,
                              sizeof at->list[0] * (size_t)at->rank->ranks, mpi_now() + GRACE);
        }
        if (sent && !status) {
            return MPI_FAIL(ISO_BACKEND, "%s: process %d could not be told to join", MPI_PLUGIN,
                            to);
        }
    }
    if (status == ISO_TIMEOUT || status == ISO_INVALID) {
        return MPI_FAIL(status, "%s: %s", MPI_PLUGIN, wrong);
    }
    return status;
}

/* ---- the others ------------------------------------------------------------------------------ */

static iso_status late(const meeting *at)
{
    return MPI_FAIL(ISO_TIMEOUT,
                    "%s: rank %d of %d waited %.3g s, the timeout, for the process that made the "
                    "id (process %d of the job): it must join too",
                    MPI_PLUGIN, at->rank->rank, at->rank->ranks,
                    (double)(mpi_now() - at->start) * 1e-9, at->rank->key.maker);
}

/* Once a process has said that it is reserved, it waits longer: the maker tells everyone whether
 * they go on, at the latest when its own time has run out. */
static iso_status ask(meeting *at, int64_t end)
{
    const int maker = at->rank->key.maker;
    iso_status status = send(at, maker, LETTER_HELLO, end);
    MPI_Request request;
    int code;

    while (!status) {
        status = receive(at, maker, TAG_TO_MEMBER, end);
        if (status || at->in.kind == LETTER_GO) {
            break;
        }
        if (at->in.kind == LETTER_REFUSE) {
            return MPI_FAIL(at->in.status > 0 ? (iso_status)at->in.status : ISO_BACKEND, "%s: %s",
                            MPI_PLUGIN, at->in.why);
        }
        status = reserve(at, end);
        if (!status) {
            status = send(at, maker, LETTER_GRANT, end);
            end += at->rank->timeout + GRACE;
        }
    }
    if (!status) {
        mpi_lock();
        code = MPI_Irecv(at->list, (int)sizeof at->list[0] * at->rank->ranks, MPI_BYTE, maker,
                         tag_of(at, TAG_TO_MEMBER), MPI_COMM_WORLD, &request);
        mpi_unlock();
        status = code ? fail_code("MPI_Irecv", code) : await(at, &request, end);
    }
    return status == ISO_TIMEOUT ? late(at) : status;
}

/* ---- the communicator ------------------------------------------------------------------------ */

/* Called with the lock: all ranks are here. */
static int create_group(const meeting *at, MPI_Comm *out)
{
    MPI_Group all = MPI_GROUP_NULL, ours = MPI_GROUP_NULL;
    int code = MPI_Comm_group(MPI_COMM_WORLD, &all);

    if (!code) {
        code = MPI_Group_incl(all, at->rank->ranks, at->list, &ours);
    }
    if (!code) {
        code = MPI_Comm_create_group(MPI_COMM_WORLD, ours, tag_of(at, 0), out);
    }
    if (ours != MPI_GROUP_NULL) {
        (void)MPI_Group_free(&ours);
    }
    if (all != MPI_GROUP_NULL) {
        (void)MPI_Group_free(&all);
    }
    return code;
}

static iso_status create(const meeting *at)
{
    mpi_rank *rank = at->rank;
    const char *name = "MPI_Comm_create_group";
    int code;

    mpi_lock();
    if (rank->ranks == 1) {
        name = "MPI_Comm_dup";
        code = MPI_Comm_dup(MPI_COMM_SELF, &rank->comm);
    } else {
        code = create_group(at, &rank->comm);
    }
    if (!code) {
        name = "MPI_Comm_set_errhandler";
        code = MPI_Comm_set_errhandler(rank->comm, MPI_ERRORS_RETURN);
    }
    if (!code && rank->ranks > 1) {
        name = "MPI_Irecv";
        code = mpi_rank_listen(rank);
    }
    if (!code) {
        mpi_add(rank);
    }
    mpi_unlock();
    return code ? fail_code(name, code) : ISO_OK;
}

static iso_status meet(meeting *at)
{
    const int64_t most = INT64_MAX - at->start - GRACE;
    const int64_t timeout = at->rank->timeout;
    const int64_t end = at->start + (timeout < most / 2 ? timeout : most / 2);
    iso_status status = ISO_OK;

    if (at->rank->ranks > 1) {
        status = at->world == at->rank->key.maker ? make(at, end) : ask(at, end);
    }
    if (!status) {
        status = create(at);
    }
    if (at->reserved) {
        release(at);
    }
    return status;
}

static iso_status check_seats(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                              int32_t ranks)
{
    if (count != 1 || (!id && ranks != 1)) {
        return MPI_FAIL(ISO_UNSUPPORTED,
                        "%s: %d ranks of one process: MPI's processes have one rank each: use the "
                        "engine threads",
                        MPI_PLUGIN, id ? count : ranks);
    }
    if (ranks < 1 || seats[0].rank < 0 || seats[0].rank >= ranks) {
        return MPI_FAIL(ISO_INVALID, "%s: rank %d of %d: ranks are 0 to the number less 1",
                        MPI_PLUGIN, seats[0].rank, ranks);
    }
    return ISO_OK;
}

static iso_status join(int32_t rank, const iso_comm_id *id, int32_t ranks, int64_t timeout,
                       void **joined)
{
    iso_status status = mpi_start(ranks == 1);
    mpi_rank *made = status ? NULL : mpi_core->alloc((int64_t)sizeof *made);
    meeting *at = made ? mpi_core->alloc((int64_t)sizeof *at + 8 * (int64_t)ranks) : NULL;
    int32_t size = 0;
    bool lost = false;

    if (!at) {
        mpi_core->free(made);
        return status ? status : ISO_NO_MEMORY;
    }
    memset(at, 0, sizeof *at);
    memset(made, 0, sizeof *made);
    *made = (mpi_rank){.comm = MPI_COMM_NULL,
                       .rank = rank,
                       .ranks = ranks,
                       .timeout = timeout,
                       .listen = MPI_REQUEST_NULL};
    at->rank = made;
    at->callers = at->list + ranks;
    at->start = mpi_now();
    if (ranks > 1) {
        status = read_id(id, ranks, &made->key);
        if (!status) {
            status = mpi_world(&at->world, &size);
        }
    }
    if (!status) {
        status = meet(at);
    }
    lost = at->lost;
    if (!lost) {
        mpi_core->free(at);
    } else {
        mpi_taint();
    }
    if (status) {
        if (!lost) {
            mpi_core->free(made);
        }
        return status;
    }
    mpi_core->log(ISO_LOG_INFO, "%s: joined as rank %d of %d", MPI_PLUGIN, rank, ranks);
    *joined = made;
    return ISO_OK;
}

iso_status mpi_join(const iso_engine_seat *seats, int32_t count, const iso_comm_id *id,
                    int32_t ranks, int64_t timeout, void **joined)
{
    iso_status status = check_seats(seats, count, id, ranks);

    if (!status) {
        mpi_busy++;
        status = join(seats[0].rank, id, ranks, timeout, joined);
        mpi_busy--;
    }
    return status;
}

void mpi_leave(void *rank)
{
    mpi_rank *mine = rank;
    bool gone = false;

    if (mpi_alive()) {
        return;
    }
    mpi_lock();
    mpi_remove(mine);
    /* What a failed rank has is kept for MPI, which may still use it. */
    if (!mine->failed && mpi_cancel(&mine->listen)) {
        gone = !MPI_Comm_free(&mine->comm);
    }
    mpi_unlock();
    if (gone) {
        mpi_core->free(mine);
    }
}
