/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - the program's own kernels: loads what a compiler made, now or when the caller was
 * built, and runs launches. */
#include "backends/openmp/program.h"
#include "common/descriptor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PROGRAM_ALIGN = 64,
    VALUE_ALIGN = 16, /* of the language's largest vector */
    GROUPS_PER_THREAD = 4,
    OPEN_STACK = 65536, /* what dlopen may need */
    OPEN_TRIES = 64,
    NAME_MAX_BYTES = 256,
    PLACE_MEMBERS = sizeof(iso_program_place) / sizeof(int64_t)
};

typedef void (*entry_function)(const void *const *args, int64_t first, int64_t end, char *scratch);

typedef struct program {
    void *handle;          /* NULL: embedded in the caller's program */
    char *scratch;         /* a block for each thread of the team; NULL: the team's are enough */
    int64_t scratch_bytes; /* of a block */
    int32_t entry_count;
    entry_function entries[];
} program;

static int64_t align(int64_t bytes)
{
    return cpu_pieces(bytes, PROGRAM_ALIGN) * PROGRAM_ALIGN;
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct opening {
    const void *binary;
    int64_t bytes;
    void *handle;
    char why[NAME_MAX_BYTES];
} opening;

static void open_path(opening *work, const char *path)
{
    work->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!work->handle) {
        const char *why = dlerror();
        (void)snprintf(work->why, sizeof work->why, "%s", why ? why : "dlopen fails");
    }
}

/* Opens the binary from memory. The linker takes an object of an earlier program for this one if
 * their paths are equal, so the descriptor's number must not be one that an open object had. */
static void open_memory(opening *work)
{
    char path[64];
    int file = descriptor_raise(memfd_create("isomer-program", MFD_CLOEXEC));
    if (file < 0 || !descriptor_write(file, work->binary, (size_t)work->bytes)) {
        (void)snprintf(work->why, sizeof work->why, "%s", strerror(errno));
        if (file >= 0) {
            (void)close(file);
        }
        return;
    }
    bool taken = true;
    for (int i = 0; taken && i < OPEN_TRIES && file >= 0; i++) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        void *other = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        taken = other != NULL;
        if (taken) {
            (void)dlclose(other);
            const int next = fcntl(file, F_DUPFD_CLOEXEC, file + 1);
            (void)close(file);
            file = next;
        }
    }
    if (!taken) {
        open_path(work, path);
    }
    if (file >= 0) {
        (void)close(file);
    }
}

static void open_file(opening *work)
{
    char folder[CPU_FOLDER_MAX], path[CPU_FOLDER_MAX + 16];
    if (cpu_folder_make(folder, sizeof folder) != ISO_OK) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/program.so", folder);
    const int error = cpu_file_write(path, work->binary, (size_t)work->bytes);
    if (error) {
        (void)snprintf(work->why, sizeof work->why, "%s", strerror(error));
    } else {
        open_path(work, path);
    }
    cpu_folder_delete(folder);
}

static void *open_either(void *argument)
{
    opening *work = argument;
    open_memory(work);
    if (!work->handle) {
        open_file(work);
    }
    return NULL;
}

static iso_status open_binary(opening *work)
{
    if (cpu_host->stack_left() < OPEN_STACK) {
        return cpu_run_apart(open_either, work);
    }
    (void)open_either(work);
    return ISO_OK;
}

static void release(program *gone)
{
    if (gone->handle) {
        (void)dlclose(gone->handle);
    }
    cpu_host->free(gone->scratch);
    cpu_host->free(gone);
}

/* A program without entries yet. NULL: no memory. */
static program *make(const iso_program_source *source)
{
    const size_t entries = (size_t)source->entry_count * sizeof(entry_function);
    program *made = cpu_host->alloc((int64_t)(sizeof *made + entries));
    if (made) {
        memset(made, 0, sizeof *made);
        made->entry_count = source->entry_count;
    }
    return made;
}

static iso_status find_entries(const iso_program_source *source, program *made)
{
    char why[NAME_MAX_BYTES];
    for (int32_t i = 0; i < source->entry_count; i++) {
        void *found = dlsym(made->handle, source->entries[i].name);
        if (!found) {
            (void)snprintf(why, sizeof why, "%s", source->entries[i].name);
            return cpu_host->fail(ISO_COMPILE, "%s: the compiled program has no %s", source->name,
                                  why);
        }
        memcpy(&made->entries[i], &found, sizeof found);
    }
    return ISO_OK;
}

static iso_status add_memory(const cpu_device *device, const iso_program_source *source,
                             program *made)
{
    for (int32_t i = 0; i < source->entry_count; i++) {
        if (source->entries[i].scratch_bytes > made->scratch_bytes) {
            made->scratch_bytes = align(source->entries[i].scratch_bytes);
        }
    }
    if (made->scratch_bytes > CPU_TEAM_SCRATCH) {
        made->scratch = cpu_host->alloc(made->scratch_bytes * (int64_t)cpu_team_size(device->team));
        return made->scratch ? ISO_OK : ISO_NO_MEMORY;
    }
    return ISO_OK;
}

static iso_status load(const cpu_device *device, const iso_program_source *source,
                       const void *binary, int64_t bytes, program **out)
{
    opening work = {.binary = binary, .bytes = bytes};
    program *made = make(source);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    iso_status status = open_binary(&work);
    made->handle = work.handle;
    if (status == ISO_OK && !work.handle) {
        status = cpu_host->fail(ISO_COMPILE, "%s: the compiled program cannot be loaded: %s",
                                source->name, work.why);
    }
    if (status == ISO_OK) {
        status = find_entries(source, made);
    }
    if (status == ISO_OK) {
        status = add_memory(device, source, made);
    }
    if (status != ISO_OK) {
        release(made);
        return status;
    }
    *out = made;
    return ISO_OK;
}

/* Takes the functions that the caller's build compiled. */
static iso_status load_embedded(const cpu_device *device, const iso_program_source *source,
                                void **out)
{
    const iso_embedded_set *set = cpu_isa_embedded(device->kernels, source->embedded);
    if (!set) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "%s: the embedded kernels have no set for %s, nor a lower "
                              "one: embed them with the set generic",
                              source->name, device->kernels->name);
    }
    program *made = make(source);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    memcpy(made->entries, set->entries, (size_t)source->entry_count * sizeof made->entries[0]);
    const iso_status status = add_memory(device, source, made);
    if (status != ISO_OK) {
        release(made);
        return status;
    }
    cpu_host->log(ISO_LOG_DEBUG, "openmp: %s: embedded kernels for %s", source->name, set->name);
    *out = made;
    return ISO_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

/* *made stays NULL if the cache has no such program, or a damaged one. If memory runs out, fails
 * instead of building the program, which needs even more. */
static iso_status load_kept(const cpu_device *device, const iso_program_source *source,
                            const char *key, program **made)
{
    int64_t bytes = 0;
    void *binary = cpu_host->cache_load(key, (int64_t)strlen(key), &bytes);
    if (!binary) {
        return bytes < 0 ? ISO_NO_MEMORY : ISO_OK;
    }
    iso_status status = load(device, source, binary, bytes, made);
    cpu_host->free(binary);
    if (status == ISO_COMPILE) {
        cpu_host->log(ISO_LOG_WARN,
                      "openmp: %s: the cached program cannot be loaded; it is built again",
                      source->name);
        status = ISO_OK;
    } else if (status == ISO_OK) {
        cpu_host->log(ISO_LOG_DEBUG, "openmp: %s from the cache", source->name);
    }
    return status;
}

static iso_status build(const cpu_device *device, const cpu_build *how, const char *key,
                        program **made)
{
    const iso_program_source *source = how->source;
    const int64_t start = cpu_now();
    void *binary = NULL;
    int64_t bytes = 0;
    iso_status status = cpu_build_compile(how, &binary, &bytes);
    if (status == ISO_OK) {
        status = load(device, source, binary, bytes, made);
    }
    if (status == ISO_OK) {
        (void)cpu_host->cache_store(key, (int64_t)strlen(key), binary, bytes);
        cpu_host->log(ISO_LOG_DEBUG, "openmp: %s built in %.1f ms", source->name,
                      (double)(cpu_now() - start) * 1e-6);
    }
    cpu_host->free(binary);
    return status;
}

iso_status cpu_program_build(void *device, const iso_program_source *source, void **out)
{
    cpu_build how;
    program *made = NULL;
    if (source->embedded) {
        return load_embedded(device, source, out);
    }
    iso_status status = cpu_build_begin(((const cpu_device *)device)->kernels, source, &how);
    if (status != ISO_OK) {
        return status;
    }
    char *key = cpu_build_key(&how);
    if (!key) {
        return ISO_NO_MEMORY;
    }
    status = load_kept(device, source, key, &made);
    if (status == ISO_OK && !made) {
        status = build(device, &how, key, &made);
    }
    cpu_host->free(key);
    if (status == ISO_OK) {
        *out = made;
    }
    return status;
}

void cpu_program_release(void *device, void *gone)
{
    (void)device;
    release(gone);
}

/* ---- launching ------------------------------------------------------------------------------- */

/* A copy of a launch. Behind `args` are what they point to. */
struct cpu_launch {
    program *program;
    entry_function entry;
    int64_t groups;
    iso_program_place place;
    char *scratch; /* a block for each thread, if this launch needs more than the program's */
    int64_t scratch_bytes;
    const void *args[];
};

/* Memory is two values, its address and the place of its first element. */
static int64_t value_room(const iso_program_arg *arg)
{
    const int64_t bytes =
        arg->value ? arg->bytes : (int64_t)(sizeof arg->memory + sizeof arg->first);
    return cpu_pieces(bytes, VALUE_ALIGN) * VALUE_ALIGN;
}

/* Copies an argument to `value`, and points to it. Returns the next pointer. */
static const void **copy_arg(const iso_program_arg *arg, char *value, const void **to)
{
    *to++ = value;
    if (arg->value) {
        memcpy(value, arg->value, (size_t)arg->bytes);
        return to;
    }
    memcpy(value, &arg->memory, sizeof arg->memory);
    memcpy(value + sizeof arg->memory, &arg->first, sizeof arg->first);
    *to++ = value + sizeof arg->memory;
    return to;
}

/* Arrays that the launch sizes lie behind the scratch memory of the entry. */
static iso_status add_scratch(const cpu_device *device, const program *what, int64_t shared_bytes,
                              cpu_launch *made)
{
    const int64_t bytes = what->scratch_bytes + align(shared_bytes);
    if (shared_bytes <= 0 || bytes <= CPU_TEAM_SCRATCH) {
        return ISO_OK;
    }
    made->scratch_bytes = bytes;
    made->scratch = cpu_host->alloc(bytes * (int64_t)cpu_team_size(device->team));
    return made->scratch ? ISO_OK : ISO_NO_MEMORY;
}

static cpu_launch *copy_launch(const iso_program_launch *launch)
{
    program *what = launch->program;
    const size_t pointers = PLACE_MEMBERS + 2 * (size_t)launch->arg_count;
    const int64_t head = (int64_t)(sizeof(cpu_launch) + pointers * sizeof(void *));
    int64_t at = cpu_pieces(head, VALUE_ALIGN) * VALUE_ALIGN;
    int64_t room = at;
    for (int32_t i = 0; i < launch->arg_count; i++) {
        room += value_room(&launch->args[i]);
    }
    cpu_launch *made = cpu_host->alloc(room);
    if (!made) {
        return NULL;
    }
    made->program = what;
    made->entry = what->entries[launch->entry];
    made->place = launch->place;
    made->groups = made->place.groups[0] * made->place.groups[1] * made->place.groups[2];
    made->scratch = NULL;
    made->scratch_bytes = 0;
    const void **to = made->args;
    for (int i = 0; i < PLACE_MEMBERS; i++) {
        *to++ = (const int64_t *)&made->place + i;
    }
    for (int32_t i = 0; i < launch->arg_count; i++) {
        to = copy_arg(&launch->args[i], (char *)made + at, to);
        at += value_room(&launch->args[i]);
    }
    return made;
}

typedef struct task {
    const cpu_launch *launch;
    cpu_team *team;
} task;

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_launch *launch = t->launch;
    const program *what = launch->program;
    const int64_t first = cpu_split(launch->groups, threads, thread);
    const int64_t end = cpu_split(launch->groups, threads, thread + 1);
    char *scratch = launch->scratch ? launch->scratch + launch->scratch_bytes * thread
                    : what->scratch ? what->scratch + what->scratch_bytes * thread
                                    : cpu_team_scratch(t->team, thread);
    if (first < end) {
        launch->entry(launch->args, first, end, scratch);
    }
}

/* Launches run one at a time, under the team's lock, so that each thread needs one block of scratch
 * memory. */
iso_status cpu_launch_run(cpu_device *device, const cpu_launch *launch, int background)
{
    task t = {.launch = launch, .team = device->team};
    const double wanted = (double)launch->groups / GROUPS_PER_THREAD;
    iso_status status = cpu_team_lock(device->team, background);
    if (status == ISO_OK) {
        cpu_team_run(device->team, cpu_team_threads(device->team, wanted), body, &t);
        cpu_team_unlock(device->team);
    }
    return status;
}

void cpu_launch_free(cpu_launch *launch)
{
    cpu_host->free(launch->scratch);
    cpu_host->free(launch);
}

iso_status cpu_program_launch(void *stream, const iso_program_launch *launch)
{
    cpu_command command = {.kind = CPU_COMMAND_LAUNCH, .launch = copy_launch(launch)};
    if (!command.launch) {
        return ISO_NO_MEMORY;
    }
    iso_status status = add_scratch(cpu_stream_device(stream), launch->program,
                                    launch->shared_bytes, command.launch);
    if (status == ISO_OK) {
        status = cpu_stream_submit(stream, &command);
    }
    if (status != ISO_OK) {
        cpu_launch_free(command.launch);
    }
    return status;
}
