/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.h - the device engine of a vendor's library that moves data between ranks. Two vendors'
 * libraries have the same interface. The backend of each fills a simt_comm, and makes its engine of
 * it with SIMT_ENGINE.
 */
#ifndef ISOMER_SIMT_COMM_H
#define ISOMER_SIMT_COMM_H

#include "backends/simt/comm_symbols.h"
#include "backends/simt/simt.h"

#include <isomer/engine.h>

/* Neutral names for the library's types. */
typedef struct simt_comm_id {
    char bytes[SIMT_COMM_ID_BYTES];
} simt_comm_id;
typedef void *simt_comm_handle, *simt_comm_stream;

typedef struct simt_comm_api {
    SIMT_COMM_SYMBOLS(LOADER_MEMBER, LOADER_MEMBER, lib, simt_comm)
} simt_comm_api;

/* A row of code_names. */
#define SIMT_COMM_CODE_NAME(ours, value, theirs) [value] = #theirs,
enum { SIMT_COMM_CODE_COUNT = SIMT_COMM_IN_PROGRESS + 1 };

typedef struct simt_comm {
    const simt_comm_api *api;
    simt_library *library;
    const iso_host *const *host;
    const char *engine; /* its name */
    const char *prefix; /* of the library's functions, for messages */
    const char *code_names[SIMT_COMM_CODE_COUNT];
    /* Optional: UNSUPPORTED if the library cannot use the device as it was opened. */
    iso_status (*usable)(simt_device *device);
    /* After a failed call, `what`: DEVICE_LOST if the driver says that the device is lost. */
    iso_status (*lost)(simt_device *device, const char *what);
} simt_comm;

/* ISO_OK, or the failure of a call of the library for a device (may be NULL). `name` is that of the
 * function without its prefix, `last` the library's own text; NULL: it is asked for it. */
iso_status simt_comm_check(const simt_comm *table, simt_device *device, uint32_t code,
                           const char *name, const char *last);
/* The library's own text about the last failure. */
const char *simt_comm_last(const simt_comm *table, uint32_t code);

/* Writes the label of a library that was opened. If it is too old, closes it and returns false. */
bool simt_comm_accept(simt_library *library, const simt_comm *table);

/* The communicators of one process' ranks, which comm_join.c makes. */
typedef struct simt_comm_rank {
    struct simt_comm_local *local;
    const simt_comm *table;
    simt_device *device;
    simt_comm_handle comm;
    void *mark; /* device memory of a barrier */
    int32_t rank, ranks;
    atomic_int busy;     /* calls with `comm` that run; ABORTED is set before it is freed */
    atomic_bool aborted; /* no call may begin */
    atomic_bool failed;  /* a call failed, or the library found an error */
    bool left;
} simt_comm_rank;

/* Between these two, `comm` is not freed, unless simt_comm_abort loses patience with a call that
 * only that can end. */
iso_status simt_comm_begin(simt_comm_rank *rank);
void simt_comm_end(simt_comm_rank *rank);

iso_status simt_comm_open(const simt_comm *table, char *label, int64_t capacity);
iso_status simt_comm_id_create(const simt_comm *table, iso_comm_id *out);
iso_status simt_comm_join(const simt_comm *table, const iso_engine_seat *seats, int32_t count,
                          const iso_comm_id *id, int32_t ranks, int64_t timeout_nanoseconds,
                          void **joined);
void simt_comm_leave(void *rank);
iso_status simt_comm_supports(const iso_engine_call *call);
iso_status simt_comm_submit(const iso_engine_call *calls, int32_t count);
iso_status simt_comm_query(void *rank);
void simt_comm_abort(void *rank);

/* Defines the engine ENGINE, whose name is NAME, with the library of a simt_comm. */
#define SIMT_ENGINE(ENGINE, NAME, TABLE)                                                           \
    static iso_status engine_open(char *label, int64_t capacity)                                   \
    {                                                                                              \
        return simt_comm_open(&(TABLE), label, capacity);                                          \
    }                                                                                              \
    static iso_status engine_id_create(iso_comm_id *out)                                           \
    {                                                                                              \
        return simt_comm_id_create(&(TABLE), out);                                                 \
    }                                                                                              \
    static iso_status engine_join(const iso_engine_seat *seats, int32_t count,                     \
                                  const iso_comm_id *id, int32_t ranks, int64_t timeout,           \
                                  void **joined)                                                   \
    {                                                                                              \
        return simt_comm_join(&(TABLE), seats, count, id, ranks, timeout, joined);                 \
    }                                                                                              \
    const iso_engine ENGINE = {.size = (uint32_t)sizeof(iso_engine),                               \
                               .flags = ISO_ENGINE_PROCESSES | ISO_ENGINE_SEATS,                   \
                               .name = (NAME),                                                     \
                               .open = engine_open,                                                \
                               .id_create = engine_id_create,                                      \
                               .join = engine_join,                                                \
                               .leave = simt_comm_leave,                                           \
                               .supports = simt_comm_supports,                                     \
                               .submit = simt_comm_submit,                                         \
                               .query = simt_comm_query,                                           \
                               .abort = simt_comm_abort}

#endif
