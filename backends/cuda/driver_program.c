/* SPDX-License-Identifier: Apache-2.0 */
/* driver_program.c - compiles kernels with NVRTC, and loads and launches them with the driver. */
#include "backends/cuda/library.h"
#include "backends/cuda/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    OPTIONS_OWN = CUDA_COMPILE_OPTION_COUNT + 1, /* the list in options.h, and the architecture */
    OPTIONS_MAX = SIMT_DEFINES_MAX + OPTIONS_OWN + 8,
    LOG_SHOWN = 3000
};

typedef struct cuda_program {
    cuda_device *device;
    cuda_module module;
} cuda_program;

/* ---- the compiler ---------------------------------------------------------------------------- */

static nvrtc_api rtc;

static loader_library library = {
    .title = "NVRTC, the compiler of CUDA kernels,",
    .since = CUDA_OLDEST,
    .where = &cuda_where,
    .names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.11.1",
              "libnvrtc.so.11.0"},
    LOADER_FUNCTIONS(rtc, CUDA_NVRTC_SYMBOLS),
};

static struct {
    pthread_mutex_t lock;
    bool asked; /* the file was searched for */
    bool tried; /* opening was tried */
    char identity[LOADER_PATH_MAX + 64];
} compiler = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Identifies the compiler by its file's path, size and time. The compiler is not opened to get its
 * version, because with a warm cache that would take longer than the rest of the startup. */
static bool identify(void)
{
    (void)pthread_mutex_lock(&compiler.lock);
    if (!compiler.asked) {
        struct stat about;
        compiler.asked = true;
        if (loader_find(&library) && stat(library.path, &about) == 0) {
            (void)snprintf(compiler.identity, sizeof compiler.identity, "%s %lld %lld.%09ld",
                           library.path, (long long)about.st_size, (long long)about.st_mtim.tv_sec,
                           about.st_mtim.tv_nsec);
        }
    }
    const bool found = compiler.identity[0] != '\0';
    (void)pthread_mutex_unlock(&compiler.lock);
    return found;
}

static bool open_compiler(void)
{
    (void)identify();
    (void)pthread_mutex_lock(&compiler.lock);
    if (!compiler.tried) {
        compiler.tried = true;
        (void)loader_open(&library);
    }
    const bool open = library.handle != NULL;
    (void)pthread_mutex_unlock(&compiler.lock);
    return open;
}

void cuda_compiler_describe(char *text, size_t capacity)
{
    char version[32];
    int major = 0;
    int minor = 0;
    const bool open = open_compiler();
    if (open) {
        (void)rtc.nvrtcVersion(&major, &minor);
    }
    (void)snprintf(version, sizeof version, "%d.%d", major, minor);
    loader_describe(&library, open ? version : NULL, text, capacity);
}

bool cuda_compiler_knows_chips(void)
{
    return identify() && !strstr(library.path, "libnvrtc.so.11");
}

iso_status cuda_program_identity(void *native, char *text, int64_t capacity)
{
    const cuda_device *device = native;
    if (!identify() && !open_compiler()) {
        return loader_fail(&library, ISO_COMPILE, "");
    }
    (void)snprintf(text, (size_t)capacity, "sm_%d driver %d nvrtc %s", device->architecture,
                   cuda_version, compiler.identity);
    return ISO_OK;
}

iso_status cuda_compiler_version(void *native, char *text, int64_t capacity)
{
    const cuda_device *device = native;
    int major = 0;
    int minor = 0;
    if (!open_compiler()) {
        return loader_fail(&library, ISO_COMPILE, "");
    }
    (void)rtc.nvrtcVersion(&major, &minor);
    (void)snprintf(text, (size_t)capacity, "sm_%d, NVRTC %d.%d, CUDA %d", device->architecture,
                   major, minor, cuda_version);
    return ISO_OK;
}

/* ---- compiling ------------------------------------------------------------------------------- */

enum { KNOWN_MAX = 64, OF_CUDA_11_0 = 52 };

/* The chips that the compiler supports. */
static iso_status get_known(int known[KNOWN_MAX], int *count)
{
    known[0] = OF_CUDA_11_0;
    *count = 1;
    if (rtc.nvrtcGetNumSupportedArchs && rtc.nvrtcGetSupportedArchs &&
        (rtc.nvrtcGetNumSupportedArchs(count) != CUDA_DONE || *count > KNOWN_MAX ||
         rtc.nvrtcGetSupportedArchs(known) != CUDA_DONE)) {
        return cuda_host->fail(ISO_COMPILE, "%s does not report which chips it supports",
                               library.path);
    }
    return ISO_OK;
}

/* Chooses binary code for this chip if the compiler supports the chip, for Hopper with the
 * instructions that no other chip has ("sm_90a"). Otherwise chooses PTX for the highest
 * architecture that the compiler supports and that is not above the chip's. */
static iso_status choose_target(const cuda_device *device, char *option, size_t capacity,
                                bool *is_ptx)
{
    int known[KNOWN_MAX];
    int count = 0;
    int best = 0;
    const iso_status status = get_known(known, &count);
    if (status) {
        return status;
    }
    for (int i = 0; i < count; i++) {
        best = known[i] <= device->architecture && known[i] > best ? known[i] : best;
    }
    if (best == 0) {
        return cuda_host->fail(
            ISO_COMPILE,
            "%s does not support a chip as old as sm_%d: set ISOMER_CUDA_PATH to an older "
            "NVRTC",
            library.path, device->architecture);
    }
    *is_ptx = best != device->architecture || !rtc.nvrtcGetCUBIN || !rtc.nvrtcGetCUBINSize;
    const bool alone = best == CUDA_HOPPER && best == device->architecture;
    (void)snprintf(option, capacity, CUDA_ARCHITECTURE_OPTION "%s_%d%s", *is_ptx ? "compute" : "sm",
                   best, alone && cuda_compiler_knows_chips() ? "a" : "");
    return ISO_OK;
}

static iso_status rtc_failed(nvrtc_code code, const simt_source *source, const char *call)
{
    return cuda_host->fail(ISO_COMPILE, "%s: %s gives %s (%u)", source->name, call,
                           rtc.nvrtcGetErrorString(code), code);
}

/* Reports only the beginning of the log, because the first error matters most. */
static iso_status compile_failed(nvrtc_program program, nvrtc_code code, const simt_source *source,
                                 const char *target)
{
    size_t bytes = 0;
    char *log = NULL;
    if (rtc.nvrtcGetProgramLogSize(program, &bytes) == CUDA_DONE && bytes > 1) {
        log = cuda_host->alloc((int64_t)bytes + 1);
    }
    if (log && rtc.nvrtcGetProgramLog(program, log) != CUDA_DONE) {
        log[0] = '\0';
    }
    if (log) {
        log[bytes] = '\0';
    }
    const iso_status status = cuda_host->fail(
        ISO_COMPILE, "%s: nvrtcCompileProgram for %s gives %s (%u); the log: %.*s", source->name,
        target, rtc.nvrtcGetErrorString(code), code, LOG_SHOWN, log && log[0] ? log : "(empty)");
    cuda_host->free(log);
    return status;
}

static iso_status take_binary(nvrtc_program program, const simt_source *source, bool is_ptx,
                              void **binary, int64_t *bytes)
{
    size_t size = 0;
    nvrtc_code code =
        is_ptx ? rtc.nvrtcGetPTXSize(program, &size) : rtc.nvrtcGetCUBINSize(program, &size);
    if (code != CUDA_DONE || size == 0) {
        return rtc_failed(code, source, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
    }
    char *data = cuda_host->alloc((int64_t)size);
    if (!data) {
        return ISO_NO_MEMORY;
    }
    code = is_ptx ? rtc.nvrtcGetPTX(program, data) : rtc.nvrtcGetCUBIN(program, data);
    if (code != CUDA_DONE) {
        cuda_host->free(data);
        return rtc_failed(code, source, is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
    }
    *binary = data;
    *bytes = (int64_t)size;
    return ISO_OK;
}

iso_status cuda_program_build(void *native, const simt_source *source, void **binary,
                              int64_t *bytes)
{
    const cuda_device *device = native;
    char target[64];
    const char *options[OPTIONS_MAX] = {target, CUDA_COMPILE_OPTIONS};
    bool is_ptx = false;
    nvrtc_program program = NULL;
    if (!open_compiler()) {
        return loader_fail(&library, ISO_COMPILE, "");
    }
    if (source->option_count > OPTIONS_MAX - OPTIONS_OWN) {
        return cuda_host->fail(ISO_INTERNAL,
                               "%s: there are %d options, but at most %d can be passed on",
                               source->name, source->option_count, OPTIONS_MAX - OPTIONS_OWN);
    }
    for (int32_t i = 0; i < source->option_count; i++) {
        options[OPTIONS_OWN + i] = source->options[i];
    }
    iso_status status = choose_target(device, target, sizeof target, &is_ptx);
    if (status) {
        return status;
    }
    nvrtc_code code = rtc.nvrtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL);
    if (code != CUDA_DONE) {
        return rtc_failed(code, source, "nvrtcCreateProgram");
    }
    code = rtc.nvrtcCompileProgram(program, OPTIONS_OWN + source->option_count, options);
    status = code != CUDA_DONE ? compile_failed(program, code, source, target)
                               : take_binary(program, source, is_ptx, binary, bytes);
    (void)rtc.nvrtcDestroyProgram(&program);
    return status;
}

iso_status cuda_chip_get(int32_t index, char *name, int64_t capacity)
{
    int known[KNOWN_MAX];
    int count = 0;
    if (!open_compiler()) {
        return loader_fail(&library, ISO_UNSUPPORTED, "");
    }
    const iso_status status = get_known(known, &count);
    if (!status && index < count) {
        (void)snprintf(name, (size_t)capacity, "sm_%d", known[index]);
    }
    return status ? status : index < count ? ISO_OK : ISO_NOT_READY;
}

iso_status cuda_program_try(const char *chip, const iso_program_source *from)
{
    static const char mark[] = "sm_";
    const simt_source source = {.name = from->name, .text = from->text};
    cuda_device device = {0};
    void *binary = NULL;
    int64_t bytes = 0;
    device.architecture = strncmp(chip, mark, sizeof mark - 1) == 0
                              ? (int32_t)strtol(chip + sizeof mark - 1, NULL, 10)
                              : 0;
    if (device.architecture <= 0) {
        return cuda_host->fail(ISO_INVALID, "\"%s\" is no chip: give a name such as sm_90", chip);
    }
    const iso_status status = cuda_program_build(&device, &source, &binary, &bytes);
    cuda_host->free(binary);
    return status;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Whether the code is complete. The driver does not get its length, so truncated code must not
 * reach the driver. A cubin (ELF) ends with its section headers, and PTX ends with a NUL. */
static bool is_whole(const unsigned char *data, int64_t bytes)
{
    enum { HEADER = 64, SECTIONS_AT = 40, SECTION_BYTES_AT = 58, SECTION_COUNT_AT = 60 };
    if (bytes < 4 || memcmp(data, "\177ELF", 4) != 0) {
        return bytes > 0 && data[bytes - 1] == '\0'; /* PTX */
    }
    if (bytes < HEADER) {
        return false;
    }
    uint64_t at = 0;
    uint16_t each = 0;
    uint16_t count = 0;
    memcpy(&at, data + SECTIONS_AT, sizeof at);
    memcpy(&each, data + SECTION_BYTES_AT, sizeof each);
    memcpy(&count, data + SECTION_COUNT_AT, sizeof count);
    return at <= (uint64_t)bytes && (uint64_t)each * count <= (uint64_t)bytes - at;
}

static const char *load_hint(cuda_code code)
{
    switch (code) {
    case CUDA_UNSUPPORTED_PTX_VERSION:
    case CUDA_INVALID_PTX:
    case CUDA_NO_BINARY_FOR_GPU:
        return "; the driver is older than the NVRTC that compiled this kernel: update the driver, "
               "or set ISOMER_CUDA_PATH to an NVRTC that is not newer than the driver";
    default:
        return "";
    }
}

iso_status cuda_program_load(void *native, const void *binary, int64_t bytes, void **out)
{
    cuda_device *device = native;
    cuda_module module = NULL;
    if (!is_whole(binary, bytes)) {
        return cuda_host->fail(ISO_BACKEND, "a kernel's code of %lld bytes is incomplete",
                               (long long)bytes);
    }
    cuda_program *program = cuda_host->alloc((int64_t)sizeof *program);
    if (!program) {
        return ISO_NO_MEMORY;
    }
    cuda_code code;
    CUDA_ON(device, code, cu.cuModuleLoadData(&module, binary));
    if (code != CUDA_DONE) {
        cuda_host->free(program);
        return cuda_check(device, code, "cuModuleLoadData(%lld bytes; sm_%d, driver %d.%d%s)",
                          (long long)bytes, device->architecture, cuda_version / 1000,
                          cuda_version % 1000 / 10, load_hint(code));
    }
    *program = (cuda_program){.device = device, .module = module};
    *out = program;
    return ISO_OK;
}

void cuda_program_unload(void *opaque)
{
    cuda_program *program = opaque;
    cuda_code code;
    CUDA_ON(program->device, code, cu.cuModuleUnload(program->module));
    (void)code;
    cuda_host->free(program);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int32_t kernel_attribute(cuda_function function, cuda_attribute attribute)
{
    int value = 0;
    return cu.cuFuncGetAttribute(&value, attribute, function) == CUDA_DONE ? value : -1;
}

iso_status cuda_kernel_get(void *opaque, const char *name, int32_t threads, void **kernel,
                           simt_kernel_info *info)
{
    cuda_program *program = opaque;
    cuda_function function = NULL;
    int groups = 0;
    simt_scope scope = cuda_enter(program->device);
    cuda_code code = scope.code;
    if (code == CUDA_DONE) {
        code = cu.cuModuleGetFunction(&function, program->module, name);
    }
    if (code == CUDA_DONE) {
        info->registers = kernel_attribute(function, CUDA_KERNEL_REGISTERS);
        info->threads_max = kernel_attribute(function, CUDA_KERNEL_THREADS);
        info->local_bytes = kernel_attribute(function, CUDA_KERNEL_SHARED);
        info->spill_bytes = kernel_attribute(function, CUDA_KERNEL_LOCAL);
        info->groups_at_once = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &groups, function, threads, 0) == CUDA_DONE
                                   ? groups
                                   : -1;
    }
    cuda_leave(scope);
    *kernel = function;
    return cuda_check(program->device, code, "cuModuleGetFunction(\"%s\")", name);
}

/* CUlaunchConfig and CUlaunchAttribute. */
typedef struct launch_attribute {
    unsigned id;
    unsigned padding;
    union {
        int allowed;
        char room[64];
    } value;
} launch_attribute;

typedef struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    cuda_stream stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

/* Whether a launch may begin before the one before it has ended. What is recorded, also by the
 * program, may not: not every driver and not every call for graphs knows such launches. */
static bool follows_early(const simt_stream *stream)
{
    enum { HOPPER = 90 };
    const cuda_device *device = stream->device->native;
    unsigned state = CUDA_CAPTURE_NONE;
    return device->architecture >= HOPPER && cu.cuLaunchKernelEx &&
           cu.cuStreamIsCapturing(stream->native, &state) == CUDA_DONE &&
           state == CUDA_CAPTURE_NONE;
}

static cuda_code launch_early(simt_stream *stream, void *kernel, simt_groups groups,
                              int32_t threads, int32_t shared, void **values)
{
    enum { EARLY = 6 /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */ };
    launch_attribute early = {.id = EARLY, .value = {.allowed = 1}};
    const launch_config config = {
        .grid = {(unsigned)groups.x, (unsigned)groups.y, (unsigned)groups.z},
        .block = {(unsigned)threads, 1, 1},
        .shared_bytes = (unsigned)shared,
        .stream = stream->native,
        .attributes = &early,
        .attribute_count = 1,
    };
    return cu.cuLaunchKernelEx((const struct CUlaunchConfig_st *)(const void *)&config, kernel,
                               values, NULL);
}

static iso_status launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                         const simt_arg *args, int32_t arg_count, bool joins)
{
    enum { GROUPS_MAX = 2147483647 };
    cuda_device *device = stream->device->native;
    void *values[SIMT_ARGS_MAX];
    if (groups.x > GROUPS_MAX || arg_count > SIMT_ARGS_MAX) {
        return cuda_host->fail(ISO_INTERNAL,
                               "a launch has %lld groups and %d arguments, but at most %d groups "
                               "and %d arguments are possible",
                               (long long)groups.x, arg_count, GROUPS_MAX, SIMT_ARGS_MAX);
    }
    /* `value` points to the argument in both cases: to a plain value, or to the address of
     * memory. */
    for (int32_t i = 0; i < arg_count; i++) {
        memcpy(&values[i], &args[i].value, sizeof values[i]);
    }
    const int32_t shared =
        arg_count > 0 && !args[arg_count - 1].value ? args[arg_count - 1].bytes : 0;
    const simt_scope scope = cuda_enter(device);
    cuda_code code = scope.code;
    bool added = true;
    if (code == CUDA_DONE && shared > 0) {
        code = cu.cuFuncSetAttribute(kernel, CUDA_KERNEL_MORE_SHARED, shared);
        added = code == CUDA_DONE;
    }
    const bool early = code == CUDA_DONE && joins && follows_early(stream);
    if (early) {
        code = launch_early(stream, kernel, groups, threads, shared, values);
    } else if (code == CUDA_DONE) {
        code = cu.cuLaunchKernel(kernel, (unsigned)groups.x, (unsigned)groups.y, (unsigned)groups.z,
                                 (unsigned)threads, 1, 1, (unsigned)shared, stream->native, values,
                                 NULL);
    }
    cuda_leave(scope);
    return added
               ? cuda_check(device, code, "cuLaunchKernel%s(%lld x %lld x %lld groups of %d)",
                            early ? "Ex" : "", (long long)groups.x, (long long)groups.y,
                            (long long)groups.z, threads)
               : cuda_check(device, code, "cuFuncSetAttribute(%d bytes of shared memory)", shared);
}

iso_status cuda_launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                       const simt_arg *args, int32_t arg_count)
{
    return launch(stream, kernel, groups, threads, args, arg_count, false);
}

iso_status cuda_launch_next(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                            const simt_arg *args, int32_t arg_count)
{
    return launch(stream, kernel, groups, threads, args, arg_count, true);
}
