/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - declarations shared by the runtime's files (device, team, streams, events, memory,
 * transfers), which the operations do not need. */
#ifndef ISOMER_OPENMP_RUNTIME_H
#define ISOMER_OPENMP_RUNTIME_H

#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/sensors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- limits.c: what the machine and the process's control group allow ------------------------ */

typedef struct cpu_memory {
    int64_t total;   /* bytes of RAM, or the control group's limit; -1 if unknown */
    int64_t free;    /* bytes available without swapping; -1 if unknown */
    int64_t ceiling; /* including swap: the most that can ever be available; -1 if unknown */
} cpu_memory;

void cpu_memory_get(cpu_memory *out);
int32_t cpu_cores_get(void); /* processors of the affinity mask, but at most the group's quota */

/* ---- isa.c ----------------------------------------------------------------------------------- */

const cpu_kernels *cpu_isa_best(void);        /* ignores the setting */
const cpu_kernels *cpu_isa_at(int32_t index); /* of all sets of the build; NULL: no more */
/* The best set of a table that this processor supports and that is not better than the device's;
 * NULL: none. */
const iso_embedded_set *cpu_isa_embedded(const cpu_kernels *kernels, const iso_embedded *table);
int cpu_isa_forced(void); /* whether ISOMER_CPU_ISA is set */
void cpu_isa_list(char *text,
                  size_t capacity); /* "generic, avx2": the sets that can be chosen here */

/* ---- team.c ---------------------------------------------------------------------------------- */

/* Returns the process's team, which the first call creates. Each call needs a release. */
iso_status cpu_team_acquire(cpu_team **out);
void cpu_team_release(cpu_team *team);

/* The number of threads that a team created now would request. */
iso_status cpu_team_plan(int *threads);

/* Operations run under this lock, one at a time. Returns INTERNAL if a library has called exit():
 * see cpu_team_outside. A stream's worker passes background = 1. Once exit() has begun, libraries
 * are being torn down, so a worker is blocked here until a thread waits for its work
 * (cpu_team_resume). */
iso_status cpu_team_lock(cpu_team *team, int background);
void cpu_team_unlock(cpu_team *team);
void cpu_team_resume(void);
/* Blocks a worker in the same way, for work that needs no lock. */
iso_status cpu_team_pass(void);

/* A library may call exit() within an operation, and the operation then never returns.
 * cpu_team_outside returns INTERNAL in that operation's thread and, once exit() has reached this
 * backend, in all threads. A thread that gets INTERNAL must not wait. A thread that is already
 * waiting must call cpu_team_ended from time to time: it waits until the time that
 * cpu_team_patience returns, calls cpu_team_ended, and waits again. */
iso_status cpu_team_outside(void);
int cpu_team_ended(void);
struct timespec cpu_team_patience(void);

/* A thread that waits spins first: cpu_spin_more says whether to look again, until `most`
 * nanoseconds after the first call. Begin with zeros. */
enum { CPU_SPIN_NS = 15000 /* about the cost of a sleep and its wake-up */ };
typedef struct cpu_spin {
    int rounds;
    int64_t end; /* when to stop; 0 until it is computed */
} cpu_spin;
int cpu_spin_more(cpu_spin *spin, int64_t most);

/* Creates a thread for the backend, with signals blocked and at least 1 MiB of stack, whatever the
 * process's default is. Returns 0 or an errno value. */
int cpu_thread_start(pthread_t *thread, void *(*body)(void *), void *argument);
/* Runs `body` in such a thread and waits for its end. NO_MEMORY: no thread could be created. */
iso_status cpu_run_apart(void *(*body)(void *), void *argument);

/* ---- event.c --------------------------------------------------------------------------------- */

/* A point stands for one record of an event. A wait for the record keeps a reference to it, so that
 * recording the event again does not affect earlier waits. */
typedef struct cpu_point {
    _Atomic uint32_t state; /* 0 pending, 1 complete, 2 pending and waited for */
    uint32_t references;    /* guarded by the pool's lock */
    int64_t nanoseconds;    /* CLOCK_MONOTONIC; valid once complete */
    struct cpu_point *next; /* in the pool */
} cpu_point;

typedef struct cpu_pool {
    pthread_mutex_t lock;
    cpu_point *unused;
} cpu_pool;

typedef struct cpu_device_object cpu_device_object;

typedef struct cpu_event {
    cpu_device_object *device;
    cpu_point *point; /* of the last record; NULL before the first */
} cpu_event;

/* Returns the point of a new record, with one reference for the stream. NULL: no memory. */
cpu_point *cpu_event_begin(cpu_event *event);
/* Returns the point of the last record, with a reference for the caller. NULL: no record. */
cpu_point *cpu_event_last(cpu_event *event);
void cpu_point_complete(cpu_point *point);
iso_status cpu_point_wait(cpu_point *point);
void cpu_point_release(cpu_device_object *device, cpu_point *point);
void cpu_pool_destroy(cpu_pool *pool);

/* The entries of the ABI. */
iso_status cpu_event_create(void *device, void **event);
void cpu_event_destroy(void *event);
iso_status cpu_event_record(void *event, void *stream);
iso_status cpu_event_sync(void *event);
iso_status cpu_event_query(void *event);
iso_status cpu_event_elapsed(void *start, void *stop, int64_t *nanoseconds);

/* ---- device.c -------------------------------------------------------------------------------- */

struct cpu_device_object {
    cpu_device base; /* the part that operations see */
    cpu_pool points;
    pthread_mutex_t sensors_lock;
    cpu_sensors sensors;
};

iso_status cpu_device_info(int32_t index, iso_device_info *out);
iso_status cpu_device_open(int32_t index, void **device);
void cpu_device_close(void *device);
iso_status cpu_device_property(void *device, int32_t index, iso_property *out);
iso_status cpu_device_telemetry(void *device, iso_telemetry *out);

/* ---- stream.c -------------------------------------------------------------------------------- */

typedef struct cpu_stream cpu_stream;
typedef struct cpu_launch cpu_launch;

typedef enum cpu_command_kind {
    CPU_COMMAND_OPERATION,
    CPU_COMMAND_TRANSFER,
    CPU_COMMAND_LAUNCH,
    CPU_COMMAND_RECORD,
    CPU_COMMAND_WAIT,
    CPU_COMMAND_CALL,
    CPU_COMMAND_GRAPH
} cpu_command_kind;

typedef struct cpu_command {
    cpu_command_kind kind;
    union {
        struct {
            const cpu_operation *operation;
            iso_op op; /* op.args is set to the copy below when the command runs */
            iso_op_args args;
        };
        iso_transfer transfer;
        cpu_launch *launch;
        cpu_point *point;
        const cpu_stream *graph;
        struct {
            iso_status (*run)(void *data, int32_t skip);
            void *data;
        } call;
    };
} cpu_command;

/* Runs the command now if the stream is inline, and otherwise queues a copy. If this fails, the
 * caller still owns the command's point or launch. */
iso_status cpu_stream_submit(cpu_stream *stream, const cpu_command *command);
/* The same for an operation, of which an inline stream needs no copy. */
iso_status cpu_stream_execute(cpu_stream *stream, const cpu_operation *operation, const iso_op *op);

iso_status cpu_stream_create(void *device, uint32_t flags, void **stream);
void cpu_stream_destroy(void *stream);
iso_status cpu_stream_sync(void *stream);
iso_status cpu_stream_query(void *stream);
iso_status cpu_stream_wait(void *stream, void *event);
iso_status cpu_stream_call(void *stream, iso_status (*run)(void *data, int32_t skip), void *data);
iso_status cpu_graph_open(void *device, void **graph);
iso_status cpu_graph_begin(void *graph);
iso_status cpu_graph_end(void *graph);
iso_status cpu_graph_launch(void *stream, void *graph);
void cpu_graph_close(void *graph);
cpu_device *cpu_stream_device(const cpu_stream *stream);

/* ---- transfer.c, memory.c -------------------------------------------------------------------- */

iso_status cpu_transfer_submit(void *stream, const iso_transfer *transfer);
/* The fastest kernel that copies 16-bit elements, at any alignment. */
cpu_map_kernel cpu_map_copy(const cpu_device *device);
iso_status cpu_transfer_run(cpu_device *device, const iso_transfer *transfer, int background);

iso_status cpu_memory_alloc(void *device, int64_t bytes, void **memory);
void cpu_memory_free(void *device, void *memory);
iso_status cpu_host_alloc(void *device, int64_t bytes, void **pointer, int32_t *pinned);
void cpu_host_free(void *device, void *pointer);
iso_status cpu_host_register(void *device, void *pointer, int64_t bytes, int32_t *pinned);
void cpu_host_unregister(void *device, void *pointer);

/* ---- program.c: the program's own kernels ---------------------------------------------------- */

iso_status cpu_program_build(void *device, const iso_program_source *source, void **program);
void cpu_program_release(void *device, void *program);
iso_status cpu_program_launch(void *stream, const iso_program_launch *launch);
iso_status cpu_launch_run(cpu_device *device, const cpu_launch *launch, int background);
void cpu_launch_free(cpu_launch *launch);

/* ---- program_try.c --------------------------------------------------------------------------- */

iso_status cpu_chip_get(int32_t index, char *name, int64_t capacity);
iso_status cpu_program_try(const char *chip, const iso_program_source *source);

/* ---- engine.c -------------------------------------------------------------------------------- */

extern const iso_engine cpu_engine;

/* ---- join.c: sharing a program's own objects ------------------------------------------------- */

iso_status cpu_device_adopt(const iso_native_device *native, int32_t *index, void **device);
iso_status cpu_stream_adopt(void *device, void *native, void **stream);
iso_status cpu_memory_import(void *device, void *native, int64_t bytes, void **memory);
void cpu_memory_forget(void *device, void *memory);
iso_status cpu_native_get(void *device, iso_native_kind kind, void *object, void **native);
iso_status cpu_dlpack_device(void *device, int32_t *type, int32_t *id);

#endif
