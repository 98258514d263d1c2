/* SPDX-License-Identifier: Apache-2.0 */
/* driver_program.c - compiles kernels with hipRTC, loads their modules, and launches them. */
#include "backends/hip/library.h"
#include "backends/hip/options.h"

#include <stdio.h>
#include <string.h>

/* ---- the compiler ---------------------------------------------------------------------------- */

static hiprtc_api rtc;

static loader_library rtc_library = {
    .title = "hipRTC, which compiles the kernels,",
    .since = HIP_OLDEST,
    .where = &hip_where,
    LOADER_FUNCTIONS(rtc, HIP_RTC_SYMBOLS),
};
static char rtc_file[LOADER_PATH_MAX]; /* rtc_library.names[0] */
static pthread_once_t rtc_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t rtc_lock = PTHREAD_MUTEX_INITIALIZER; /* hipRTC is not always thread-safe */
static int rtc_version[2];

/* From version 6 on, hipRTC is a separate library with the runtime's version number. Up to version
 * 6, the runtime's library also contains it. */
static void open_compiler(void)
{
    (void)snprintf(rtc_file, sizeof rtc_file, "libhiprtc.so.%d", hip_major());
    rtc_library.names[0] = rtc_file;
    if (hip_major() < 6 || !loader_open(&rtc_library)) {
        if (hip_major() > 6) {
            return;
        }
        (void)snprintf(rtc_file, sizeof rtc_file, "%s", hip_runtime_library.path);
        if (!loader_open(&rtc_library)) {
            return;
        }
    }
    if (rtc.hiprtcVersion(&rtc_version[0], &rtc_version[1]) != HIPRTC_DONE) {
        rtc_version[0] = rtc_version[1] = 0;
    }
}

static bool have_compiler(void)
{
    (void)pthread_once(&rtc_once, open_compiler);
    return rtc_library.handle != NULL;
}

void hip_compiler_describe(char *text, size_t capacity)
{
    char version[32];
    const bool have = have_compiler();
    (void)snprintf(version, sizeof version, "%d.%d", rtc_version[0], rtc_version[1]);
    loader_describe(&rtc_library, have ? version : NULL, text, capacity);
}

iso_status hip_program_identity(void *native, char *text, int64_t capacity)
{
    const hip_device *device = native;
    if (!have_compiler()) {
        return loader_fail(&rtc_library, ISO_COMPILE, "");
    }
    (void)snprintf(text, (size_t)capacity, "%s, hipRTC %d.%d, HIP %d", device->architecture,
                   rtc_version[0], rtc_version[1], hip_version);
    return ISO_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

enum { OPTIONS_MAX = 48 };

static iso_status build_failed(hiprtc_program program, hiprtc_code code, const char *call,
                               const simt_source *source)
{
    const char *log = "";
    size_t bytes = 0;
    char *whole = NULL;
    if (program && rtc.hiprtcGetProgramLogSize(program, &bytes) == HIPRTC_DONE && bytes > 1 &&
        (whole = hip_host->alloc((int64_t)bytes + 1))) {
        whole[0] = '\0';
        if (rtc.hiprtcGetProgramLog(program, whole) == HIPRTC_DONE) {
            whole[bytes] = '\0';
            hip_host->log(ISO_LOG_ERROR, "hip: %s: %s", source->name, whole);
            log = whole;
        }
    }
    const char *name = rtc.hiprtcGetErrorString(code);
    (void)hip_host->fail(ISO_COMPILE, "%s: %s gives %s (%u): %.4000s", source->name, call,
                         name ? name : "an unnamed error", code, log);
    hip_host->free(whole);
    return ISO_COMPILE;
}

static iso_status take_code(hiprtc_program program, const simt_source *source, void **binary,
                            int64_t *bytes)
{
    size_t size = 0;
    hiprtc_code code = rtc.hiprtcGetCodeSize(program, &size);
    if (code != HIPRTC_DONE || size == 0) {
        return build_failed(program, code, "hiprtcGetCodeSize", source);
    }
    void *image = hip_host->alloc((int64_t)size);
    if (!image) {
        return ISO_NO_MEMORY;
    }
    code = rtc.hiprtcGetCode(program, image);
    if (code != HIPRTC_DONE) {
        hip_host->free(image);
        return build_failed(program, code, "hiprtcGetCode", source);
    }
    *binary = image;
    *bytes = (int64_t)size;
    return ISO_OK;
}

static iso_status compile(const hip_device *device, const simt_source *source, void **binary,
                          int64_t *bytes)
{
    char target[HIP_ARCHITECTURE_OPTION_MAX];
    const char *options[OPTIONS_MAX] = {target, HIP_COMPILE_OPTIONS};
    int count = 1 + HIP_COMPILE_OPTION_COUNT;
    (void)snprintf(target, sizeof target, HIP_ARCHITECTURE_OPTION "%s", device->architecture);
    if (source->option_count > OPTIONS_MAX - count) {
        return hip_host->fail(ISO_INTERNAL, "%s has %d options, but there is room for only %d",
                              source->name, source->option_count, OPTIONS_MAX - count);
    }
    for (int32_t i = 0; i < source->option_count; i++) {
        options[count++] = source->options[i];
    }
    hiprtc_program program = NULL;
    hiprtc_code code = rtc.hiprtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL);
    if (code != HIPRTC_DONE) {
        return build_failed(NULL, code, "hiprtcCreateProgram", source);
    }
    iso_status status = ISO_OK;
    code = rtc.hiprtcCompileProgram(program, count, options);
    if (code != HIPRTC_DONE) {
        status = build_failed(program, code, "hiprtcCompileProgram", source);
    } else {
        status = take_code(program, source, binary, bytes);
    }
    (void)rtc.hiprtcDestroyProgram(&program);
    return status;
}

/* Checks in a separate process whether hipRTC knows the architecture. If it does not, hipRTC ends
 * the process, at least in versions up to 6.4. */
static iso_status try_architecture(const hip_device *device)
{
    const char *const arguments[] = {"hip", "hiprtc", rtc_library.path, device->architecture, NULL};
    char key[64];
    char why[ISO_REASON_MAX / 2];
    (void)snprintf(key, sizeof key, "%d.%d %d", rtc_version[0], rtc_version[1], hip_version);
    if (hip_survives(arguments, key, why, sizeof why)) {
        return ISO_OK;
    }
    return hip_host->fail(ISO_COMPILE,
                          "hipRTC %d.%d (%s) was tried for %s in a separate process, because it "
                          "ends the process on a chip that it does not know: %s",
                          rtc_version[0], rtc_version[1], rtc_library.path, device->architecture,
                          why);
}

iso_status hip_program_build(void *native, const simt_source *source, void **binary, int64_t *bytes)
{
    const hip_device *device = native;
    if (!have_compiler()) {
        return loader_fail(&rtc_library, ISO_COMPILE, "");
    }
    iso_status status = try_architecture(device);
    if (status) {
        return status;
    }
    (void)pthread_mutex_lock(&rtc_lock);
    status = compile(device, source, binary, bytes);
    (void)pthread_mutex_unlock(&rtc_lock);
    return status;
}

/* hipRTC does not say which chips it knows, so each of these is tried. */
static const char *const chips[] = {
    "gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx1010", "gfx1030",
    "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"};

static void set_chip(hip_device *device, const char *chip)
{
    memset(device, 0, sizeof *device);
    (void)snprintf(device->architecture, sizeof device->architecture, "%s", chip);
}

iso_status hip_chip_get(int32_t index, char *name, int64_t capacity)
{
    hip_device device;
    if (!have_compiler()) {
        return loader_fail(&rtc_library, ISO_UNSUPPORTED, "");
    }
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        set_chip(&device, chips[i]);
        if (!try_architecture(&device) && index-- == 0) {
            (void)snprintf(name, (size_t)capacity, "%s", chips[i]);
            return ISO_OK;
        }
    }
    return ISO_NOT_READY;
}

iso_status hip_program_try(const char *chip, const iso_program_source *from)
{
    const simt_source source = {.name = from->name, .text = from->text};
    hip_device device;
    void *binary = NULL;
    int64_t bytes = 0;
    set_chip(&device, chip);
    const iso_status status = hip_program_build(&device, &source, &binary, &bytes);
    hip_host->free(binary);
    return status;
}

/* ---- modules and kernels --------------------------------------------------------------------- */

typedef struct hip_program {
    hip_device *device;
    hip_module module;
} hip_program;

iso_status hip_program_load(void *native, const void *binary, int64_t bytes, void **out)
{
    hip_device *device = native;
    hip_program *program = hip_host->alloc((int64_t)sizeof *program);
    hip_code code;
    if (!program) {
        return ISO_NO_MEMORY;
    }
    *program = (hip_program){.device = device};
    HIP_ON(device, code, hip.hipModuleLoadData(&program->module, binary));
    if (code != HIP_DONE) {
        hip_host->free(program);
        return hip_check(device, code, "hipModuleLoadData(%lld bytes)", (long long)bytes);
    }
    *out = program;
    return ISO_OK;
}

void hip_program_unload(void *program)
{
    hip_program *own = program;
    hip_code code;
    HIP_ON(own->device, code, hip.hipModuleUnload(own->module));
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
    hip_host->free(own);
}

static int32_t used_by(hip_function function, hip_enum attribute)
{
    int value = 0;
    if (hip.hipFuncGetAttribute(&value, attribute, function) != HIP_DONE) {
        (void)hip.hipGetLastError();
        value = -1;
    }
    return value;
}

iso_status hip_kernel_get(void *program, const char *name, int32_t threads, void **kernel,
                          simt_kernel_info *info)
{
    hip_program *own = program;
    hip_function function = NULL;
    int groups = -1;
    const simt_scope scope = hip_enter(own->device);
    hip_code code = scope.code;
    if (code == HIP_DONE) {
        code = hip.hipModuleGetFunction(&function, own->module, name);
    }
    if (code == HIP_DONE) {
        info->registers = used_by(function, HIP_KERNEL_REGISTERS);
        info->threads_max = used_by(function, HIP_KERNEL_THREADS);
        info->local_bytes = used_by(function, HIP_KERNEL_SHARED_BYTES);
        info->spill_bytes = used_by(function, HIP_KERNEL_PRIVATE_BYTES);
        if (hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, function, threads, 0) !=
            HIP_DONE) {
            (void)hip.hipGetLastError();
            groups = -1;
        }
        info->groups_at_once = groups;
    }
    hip_leave(scope);
    *kernel = function;
    return hip_check(own->device, code, "hipModuleGetFunction(%s)", name);
}

iso_status hip_launch(simt_stream *stream, void *kernel, simt_groups groups, int32_t threads,
                      const simt_arg *args, int32_t arg_count)
{
    hip_device *device = stream->device->native;
    void *addresses[SIMT_ARGS_MAX];
    hip_code code;
    /* The runtime counts work-items, not groups, in 32 bits. */
    if (groups.x > (int64_t)UINT32_MAX / threads) {
        return hip_host->fail(
            ISO_BACKEND,
            "a launch has %lld groups of %d work-items, but HIP runs at most %u work-items at once",
            (long long)groups.x, threads, UINT32_MAX);
    }
    for (int32_t i = 0; i < arg_count; i++) {
        memcpy(&addresses[i], &args[i].value, sizeof addresses[i]);
    }
    const int32_t shared =
        arg_count > 0 && !args[arg_count - 1].value ? args[arg_count - 1].bytes : 0;
    HIP_ON(device, code,
           hip.hipModuleLaunchKernel(kernel, (unsigned)groups.x, (unsigned)groups.y,
                                     (unsigned)groups.z, (unsigned)threads, 1, 1, (unsigned)shared,
                                     stream->native, addresses, NULL));
    return hip_check(device, code, "hipModuleLaunchKernel(%lld x %lld x %lld groups of %d)",
                     (long long)groups.x, (long long)groups.y, (long long)groups.z, threads);
}
