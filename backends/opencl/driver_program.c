/* SPDX-License-Identifier: Apache-2.0 */
/* driver_program.c - builds programs and launches their kernels. */
#include "backends/loader/files.h"
#include "backends/opencl/library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program {
    ocl_device *device;
    ocl_program_id id;
} program;

/* What a kernel has as an argument. */
enum { KEPT_NOTHING = -1, KEPT_MEMORY = 0 };
typedef struct kept_arg {
    uint64_t value;
    int32_t bytes; /* of the value, or one of these */
} kept_arg;

/* A kernel. Its arguments are part of its state, so a thread holds the lock from setting them until
 * it has launched the kernel. Those that it has already are not set again. */
typedef struct kernel {
    ocl_device *device;
    ocl_kernel_id id;
    pthread_mutex_t lock;
    uint64_t releases; /* the device's, when memory was last set */
    kept_arg args[SIMT_ARGS_MAX];
    char name[64];
} kernel;

/* ---- identity -------------------------------------------------------------------------------- */

/* A hash of the CPU's features. It is part of the identity because a binary for a CPU may use every
 * instruction that the CPU has. */
static uint64_t cpu_features(void)
{
    char line[2048]; /* longer lines are cut */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    files_lines lines;
    bool found = false;
    files_lines_open(&lines, "/proc/cpuinfo");
    while (!found && files_lines_next(&lines, line, sizeof line)) {
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) {
            for (const char *at = line; *at; at++) {
                hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
            }
            found = true;
        }
    }
    files_lines_close(&lines);
    return found ? hash : 0;
}

iso_status ocl_program_identity(void *native, char *text, int64_t capacity)
{
    const ocl_device *device = native;
    char name[160];
    char version[200];
    char device_name[200];
    char device_version[200];
    char driver[160];
    ocl_platform_text(device->platform, OCL_PLATFORM_NAME, name, sizeof name);
    ocl_platform_text(device->platform, OCL_PLATFORM_VERSION, version, sizeof version);
    ocl_device_text(device->id, OCL_DEVICE_NAME, device_name, sizeof device_name);
    ocl_device_text(device->id, OCL_DEVICE_VERSION, device_version, sizeof device_version);
    ocl_device_text(device->id, OCL_DRIVER_VERSION, driver, sizeof driver);
    (void)snprintf(text, (size_t)capacity, "%s; %s; %s; %s; %s; %016" PRIx64, name, version,
                   device_name, device_version, driver, device->is_cpu ? cpu_features() : 0);
    return ISO_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

/* The compiler's log; NULL if there is none. */
static char *take_log(const ocl_device *device, ocl_program_id id)
{
    size_t bytes = 0;
    char *log = NULL;
    if (cl.clGetProgramBuildInfo(id, device->id, OCL_BUILD_LOG, 0, NULL, &bytes) == OCL_DONE &&
        bytes > 0) {
        log = ocl_host->alloc((int64_t)bytes + 1);
    }
    if (log &&
        cl.clGetProgramBuildInfo(id, device->id, OCL_BUILD_LOG, bytes, log, NULL) == OCL_DONE) {
        log[bytes] = '\0';
    } else if (log) {
        log[0] = '\0';
    }
    return log;
}

/* The log with the source's own names and lines; NULL if there is no memory. */
static char *with_places(const char *log, const char *source)
{
    const size_t room = log ? ocl_log_places(log, source, NULL, 0) + 1 : 0;
    char *made = log ? ocl_host->alloc((int64_t)room) : NULL;
    if (made) {
        (void)ocl_log_places(log, source, made, room);
    }
    return made;
}

static iso_status fail_build(const ocl_device *device, ocl_program_id id, ocl_code code,
                             const char *name, const char *options, const char *source)
{
    char *log = take_log(device, id);
    char *placed = with_places(log, source);
    const char *shown = placed ? placed : log;
    const iso_status status =
        ocl_host->fail(ISO_COMPILE, "%s (%s): clBuildProgram gives %s (%" PRId32 "): %s", name,
                       options, ocl_code_name(code), code, shown && shown[0] ? shown : "no log");
    ocl_host->free(placed);
    ocl_host->free(log);
    return status;
}

/* Finds the number of the program's devices, and the index of our device among them. There may be
 * several devices if the caller created the context. */
static iso_status find_device(const ocl_device *device, ocl_program_id id, uint32_t *count,
                              uint32_t *index)
{
    uint32_t devices = 0;
    ocl_code code =
        cl.clGetProgramInfo(id, OCL_PROGRAM_DEVICE_COUNT, sizeof devices, &devices, NULL);
    ocl_device_id *list =
        code == OCL_DONE ? ocl_host->alloc((int64_t)((devices + 1) * sizeof *list)) : NULL;
    if (!list) {
        return code == OCL_DONE ? ISO_NO_MEMORY : ocl_fail(code, "clGetProgramInfo");
    }
    code = cl.clGetProgramInfo(id, OCL_PROGRAM_DEVICES, devices * sizeof *list, list, NULL);
    *count = devices;
    *index = 0;
    while (code == OCL_DONE && *index < devices && list[*index] != device->id) {
        ++*index;
    }
    ocl_host->free(list);
    return code == OCL_DONE && *index < devices
               ? ISO_OK
               : ocl_fail(code, "clGetProgramInfo(CL_PROGRAM_DEVICES)");
}

/* Gets our device's binary. The pointers for other devices are NULL, so that the driver leaves out
 * their binaries. */
static iso_status take_binary(const ocl_device *device, ocl_program_id id, void **binary,
                              int64_t *bytes)
{
    uint32_t count = 0;
    uint32_t index = 0;
    iso_status status = find_device(device, id, &count, &index);
    if (status != ISO_OK) {
        return status;
    }
    void *made = NULL;
    size_t *sizes = ocl_host->alloc((int64_t)(count * sizeof *sizes));
    unsigned char **places = ocl_host->alloc((int64_t)(count * sizeof *places));
    ocl_code code = OCL_NO_HOST_MEMORY;
    if (sizes && places) {
        code =
            cl.clGetProgramInfo(id, OCL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL);
        made = code == OCL_DONE && sizes[index] > 0 ? ocl_host->alloc((int64_t)sizes[index]) : NULL;
        memset(places, 0, count * sizeof *places);
        places[index] = made;
    }
    if (made) {
        *bytes = (int64_t)sizes[index];
        code = cl.clGetProgramInfo(id, OCL_PROGRAM_BINARIES, count * sizeof *places, places, NULL);
    }
    if (!made || code != OCL_DONE) {
        status = code == OCL_DONE
                     ? ocl_host->fail(ISO_COMPILE, "clGetProgramInfo gives an empty binary")
                     : ocl_fail(code, "clGetProgramInfo(CL_PROGRAM_BINARIES)");
        ocl_host->free(made);
        made = NULL;
    }
    *binary = made;
    ocl_host->free(sizes);
    ocl_host->free(places);
    return status;
}

/* A program in source form is one block of four texts: this mark, the name, the options, the
 * source. */
static const char text_mark[] = "isomer OpenCL text 1";

/* Where the device can round divisions and roots of f32 correctly, maps and the kernels of the
 * program's own ask for it: NVIDIA's compiler makes approximate ones of those that are computed in
 * f64 too. */
static iso_status join_options(const ocl_device *device, const simt_source *source, char *options,
                               size_t room)
{
    size_t used = (size_t)snprintf(options, room, "-cl-std=CL1.2%s",
                                   (source->own || source->rounds) && device->rounds
                                       ? " -cl-fp32-correctly-rounded-divide-sqrt -DISO_ROUNDS_=1"
                                       : "");
    for (int32_t i = 0; i < source->option_count && used < room; i++) {
        used += (size_t)snprintf(options + used, room - used, " %s", source->options[i]);
    }
    return used < room
               ? ISO_OK
               : ocl_host->fail(ISO_INTERNAL, "the options of %s are too long: %zu characters",
                                source->name, used);
}

static char *append(char *at, const char *text, size_t bytes)
{
    memcpy(at, text, bytes);
    return at + bytes;
}

static iso_status take_text(const simt_source *source, const char *options, void **binary,
                            int64_t *bytes)
{
    const size_t room =
        sizeof text_mark + strlen(source->name) + strlen(options) + strlen(source->text) + 3;
    char *made = ocl_host->alloc((int64_t)room);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    char *at = append(made, text_mark, sizeof text_mark);
    at = append(at, source->name, strlen(source->name) + 1);
    at = append(at, options, strlen(options) + 1);
    (void)append(at, source->text, strlen(source->text) + 1);
    *binary = made;
    *bytes = (int64_t)room;
    return ISO_OK;
}

static iso_status build_text(const ocl_device *device, const char *name, const char *options,
                             const char *text, ocl_program_id *out)
{
    ocl_code code = OCL_DONE;
    ocl_program_id id = cl.clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    if (!id) {
        return ocl_fail(code, "clCreateProgramWithSource(%s)", name);
    }
    code = cl.clBuildProgram(id, 1, &device->id, options, NULL, NULL);
    if (code != OCL_DONE) {
        const iso_status status = fail_build(device, id, code, name, options, text);
        (void)cl.clReleaseProgram(id);
        return status;
    }
    *out = id;
    return ISO_OK;
}

/* Whether the block is a complete program in source form. */
static bool is_text(const char *block, size_t bytes)
{
    size_t zeros = 0;
    if (bytes <= sizeof text_mark || memcmp(block, text_mark, sizeof text_mark) != 0 ||
        block[bytes - 1] != '\0') {
        return false;
    }
    for (size_t i = sizeof text_mark; i < bytes; i++) {
        zeros += block[i] == '\0';
    }
    return zeros == 3;
}

static iso_status load_text(const ocl_device *device, const char *block, ocl_program_id *out)
{
    const char *name = block + sizeof text_mark;
    const char *options = name + strlen(name) + 1;
    return build_text(device, name, options, options + strlen(options) + 1, out);
}

/* Some drivers compile a kernel at its first run, for the group size of that run, and cache the
 * result themselves. For these drivers the program stays in source form. If a binary were
 * requested, they would compile every kernel of the program for any group size, and never use the
 * results. */
iso_status ocl_program_build(void *native, const simt_source *source, void **binary, int64_t *bytes)
{
    const ocl_device *device = native;
    char options[1024];
    void *text = NULL;
    int64_t text_bytes = 0;
    ocl_program_id id = NULL;
    iso_status status = join_options(device, source, options, sizeof options);
    status = status == ISO_OK ? take_text(source, options, &text, &text_bytes) : status;
    if (status == ISO_OK && device->keeps_kernels) {
        *binary = text;
        *bytes = text_bytes;
        return ISO_OK;
    }
    status = status == ISO_OK ? load_text(device, text, &id) : status;
    ocl_host->free(text);
    if (status == ISO_OK) {
        status = take_binary(device, id, binary, bytes);
        (void)cl.clReleaseProgram(id);
    }
    return status;
}

static iso_status load_binary(const ocl_device *device, const void *binary, size_t bytes,
                              ocl_program_id *out)
{
    const unsigned char *from = binary;
    ocl_code state = OCL_DONE;
    ocl_code code = OCL_DONE;
    ocl_program_id id =
        cl.clCreateProgramWithBinary(device->context, 1, &device->id, &bytes, &from, &state, &code);
    code = code == OCL_DONE ? state : code;
    if (id && code == OCL_DONE) {
        code = cl.clBuildProgram(id, 1, &device->id, NULL, NULL, NULL);
    }
    if (code != OCL_DONE) {
        if (id) {
            (void)cl.clReleaseProgram(id);
        }
        return ocl_fail(code, "clCreateProgramWithBinary(%zu bytes)", bytes);
    }
    *out = id;
    return ISO_OK;
}

iso_status ocl_program_load(void *native, const void *binary, int64_t bytes, void **out)
{
    ocl_device *device = native;
    program *made = ocl_host->alloc((int64_t)sizeof *made);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    *made = (program){.device = device};
    const iso_status status = is_text(binary, (size_t)bytes)
                                  ? load_text(device, binary, &made->id)
                                  : load_binary(device, binary, (size_t)bytes, &made->id);
    if (status != ISO_OK) {
        ocl_host->free(made);
        return status;
    }
    *out = made;
    return ISO_OK;
}

void ocl_program_unload(void *at)
{
    program *self = at;
    (void)cl.clReleaseProgram(self->id);
    ocl_host->free(self);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int64_t kernel_number(const kernel *self, ocl_name what)
{
    uint64_t value = 0;
    return cl.clGetKernelWorkGroupInfo(self->id, self->device->id, what, sizeof value, &value,
                                       NULL) == OCL_DONE
               ? (int64_t)value
               : -1;
}

/* The group that the kernel's text demands; 0: none. NVIDIA's driver accepts it, and then reports
 * 256 as the most that the kernel takes. */
static size_t compiled_group(const kernel *self)
{
    size_t of[3] = {0, 0, 0};
    const ocl_code code = cl.clGetKernelWorkGroupInfo(self->id, self->device->id,
                                                      OCL_KERNEL_COMPILED, sizeof of, of, NULL);
    return code == OCL_DONE ? of[0] * of[1] * of[2] : 0;
}

iso_status ocl_kernel_get(void *at, const char *name, int32_t threads, void **out,
                          simt_kernel_info *info)
{
    const program *from = at;
    ocl_code code = OCL_DONE;
    size_t most = 0;
    (void)threads;
    kernel *made = ocl_host->alloc((int64_t)sizeof *made);
    if (!made) {
        return ISO_NO_MEMORY;
    }
    memset(made, 0, sizeof *made);
    made->device = from->device;
    for (int32_t i = 0; i < SIMT_ARGS_MAX; i++) {
        made->args[i].bytes = KEPT_NOTHING;
    }
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->id = cl.clCreateKernel(from->id, name, &code);
    if (!made->id) {
        ocl_host->free(made);
        return ocl_fail(code, "clCreateKernel(%s)", name);
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    code = cl.clGetKernelWorkGroupInfo(made->id, made->device->id, OCL_KERNEL_GROUP, sizeof most,
                                       &most, NULL);
    const size_t demanded = compiled_group(made);
    most = demanded > most ? demanded : most;
    *info = (simt_kernel_info){
        .registers = -1,
        .threads_max = code == OCL_DONE ? (int32_t)most : -1,
        .local_bytes = kernel_number(made, OCL_KERNEL_LOCAL),
        .spill_bytes = kernel_number(made, OCL_KERNEL_PRIVATE),
        .groups_at_once = -1,
    };
    *out = made;
    return ISO_OK;
}

void ocl_kernel_release(void *at)
{
    kernel *self = at;
    (void)cl.clReleaseKernel(self->id);
    (void)pthread_mutex_destroy(&self->lock);
    ocl_host->free(self);
}

/* ---- launches -------------------------------------------------------------------------------- */

static ocl_code set_arg(kernel *self, int32_t index, const simt_arg *arg)
{
    const size_t bytes = arg->bytes ? (size_t)arg->bytes : sizeof(ocl_memory);
    kept_arg *kept = &self->args[index];
    kept_arg now = {.bytes = KEPT_NOTHING};
    if (arg->value && bytes <= sizeof now.value) {
        now.bytes = arg->bytes;
        memcpy(&now.value, arg->value, bytes);
        if (kept->bytes == now.bytes && kept->value == now.value) {
            return OCL_DONE;
        }
    }
    const ocl_code code = cl.clSetKernelArg(self->id, (uint32_t)index, bytes, arg->value);
    kept->bytes = KEPT_NOTHING;
    if (code == OCL_DONE) {
        *kept = now;
    }
    return code;
}

/* Sets the arguments; *at is the one that could not be set. If memory was released since they were
 * set, a buffer may have the handle of another one that is gone. */
static ocl_code set_args(kernel *self, const simt_arg *args, int32_t count, int32_t *at)
{
    const uint64_t releases = atomic_load(&self->device->releases);
    ocl_code code = OCL_DONE;
    for (int32_t i = 0; self->releases != releases && i < SIMT_ARGS_MAX; i++) {
        if (self->args[i].bytes == KEPT_MEMORY) {
            self->args[i].bytes = KEPT_NOTHING;
        }
    }
    self->releases = releases;
    for (int32_t i = 0; i < count && code == OCL_DONE; i++) {
        code = set_arg(self, i, &args[i]);
        *at = i;
    }
    return code;
}

iso_status ocl_launch(simt_stream *stream, void *at, simt_groups groups, int32_t threads,
                      const simt_arg *args, int32_t arg_count)
{
    ocl_stream *on = stream->native;
    kernel *self = at;
    const uint32_t axes = groups.z > 1 ? 3 : groups.y > 1 ? 2 : 1;
    const size_t local[] = {(size_t)threads, 1, 1};
    const size_t global[] = {(size_t)groups.x * local[0], (size_t)groups.y, (size_t)groups.z};
    const bool watched = ocl_launch_is_watched(on);
    ocl_event event = NULL;
    int32_t set = 0;
    (void)pthread_mutex_lock(&self->lock);
    ocl_code code = set_args(self, args, arg_count, &set);
    const bool ready = code == OCL_DONE;
    if (ready) {
        code = cl.clEnqueueNDRangeKernel(on->queue, self->id, axes, NULL, global, local, 0, NULL,
                                         watched ? &event : NULL);
    }
    (void)pthread_mutex_unlock(&self->lock);
    if (!ready) {
        return ocl_fail(code, "clSetKernelArg(%s, argument %d)", self->name, set);
    }
    if (code != OCL_DONE) {
        ocl_host->log(ISO_LOG_WARN,
                      "opencl: clEnqueueNDRangeKernel(%s, %" PRId64 " x %" PRId64 " x %" PRId64
                      " groups of %d) gives %s",
                      self->name, groups.x, groups.y, groups.z, threads, ocl_code_name(code));
    }
    return watched || code != OCL_DONE ? ocl_submitted(on, code, event, "clEnqueueNDRangeKernel")
                                       : ocl_unwatched(on, "clEnqueueNDRangeKernel");
}
