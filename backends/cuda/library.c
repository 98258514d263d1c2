/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds NVIDIA's libraries and says where it looked. */
#include "backends/cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_OWN = 6, FOLDERS_MAX = 24, FOLDER_MAX = 256 };

const iso_host *cuda_host;
static int oldest_chip; /* of the devices: 90 for sm_90; 0 before probing */

/* ---- where to look --------------------------------------------------------------------------- */

/* Folders in the order of search. The first `named` were named by the user: all versions are
 * looked for in one of them before the next; in the others the newest version in any of them. */
typedef struct folder_list {
    char text[FOLDERS_MAX][FOLDER_MAX];
    int count;
    int named;
} folder_list;

static void add_folder(folder_list *list, const char *prefix, const char *below)
{
    if (!prefix || !prefix[0] || list->count == FOLDERS_MAX) {
        return;
    }
    int length = snprintf(list->text[list->count], sizeof list->text[0], "%s%s%s", prefix,
                          below[0] ? "/" : "", below);
    list->count += length > 0 && (size_t)length < sizeof list->text[0];
}

static void note(cuda_library *library, const char *what, const char *why)
{
    size_t used = strlen(library->tried);
    (void)snprintf(library->tried + used, sizeof library->tried - used, "%s%s (%s)",
                   used > 0 ? ", " : "", what, why);
}

static void add_toolkits(folder_list *list)
{
    glob_t found = {.gl_pathc = 0};
    if (glob("/usr/local/cuda*/lib64", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            add_folder(list, found.gl_pathv[i], "");
        }
    }
    globfree(&found);
}

/* With a library, its list says which variables are ignored and why. */
static void list_folders(folder_list *list, cuda_library *library)
{
    static const char *const below[] = {"", "lib64", "lib", "targets/x86_64-linux/lib",
                                        "targets/sbsa-linux/lib"};
    static const char *const variables[] = {"ISOMER_CUDA_PATH", "CUDA_PATH"};
    list->count = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        char why[FOLDER_MAX];
        const char *prefix = cuda_host->path(variables[i], why, (int64_t)sizeof why);
        if (why[0] && library) {
            note(library, variables[i], why);
        }
        for (size_t j = 0; j < sizeof below / sizeof below[0]; j++) {
            add_folder(list, prefix, below[j]);
        }
    }
    list->named = list->count;
    list->text[list->count++][0] = '\0'; /* the loader's own search */
    add_toolkits(list);
    add_folder(list, "/usr/lib/x86_64-linux-gnu", "");
    add_folder(list, "/usr/lib/aarch64-linux-gnu", "");
    add_folder(list, "/usr/local/nvidia/lib64", "");
    add_folder(list, "/usr/lib/wsl/lib", "");
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Folders that are not there are told once, not once for each name, and left out. */
static void drop_missing(folder_list *list, cuda_library *library)
{
    int kept = 0;
    int named = 0;
    for (int i = 0; i < list->count; i++) {
        bool own_search = list->text[i][0] == '\0';
        if (!own_search && !is_folder(list->text[i])) {
            if (library) {
                note(library, list->text[i], "no such folder");
            }
            continue;
        }
        named += i < list->named;
        memmove(list->text[kept++], list->text[i], sizeof list->text[0]);
    }
    list->count = kept;
    list->named = named;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void *open_path(cuda_library *library, const char *path)
{
    loader_search search = {.names = &path,
                            .name_count = 1,
                            .tried = library->tried,
                            .tried_capacity = (int64_t)sizeof library->tried};
    void *handle = loader_open(&search, library->path, (int64_t)sizeof library->path);
    library->refused += search.refused;
    return handle;
}

static bool find_symbols(cuda_library *library, void *handle)
{
    for (int i = 0; i < library->symbol_count; i++) {
        const cuda_symbol *symbol = &library->symbols[i];
        if (!loader_symbol(handle, symbol->name, symbol->at) && symbol->required) {
            char why[128];
            (void)snprintf(why, sizeof why, "has no function %s", symbol->name);
            note(library, library->path, why);
            library->refused++;
            return false;
        }
    }
    return true;
}

/* One file, by folder and name. With `only_find` it is opened only where the loader's own search
 * is the one way to find it. */
static bool try_file(cuda_library *library, const char *folder, int name, bool only_find)
{
    char path[CUDA_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "",
                   library->names[name].file);
    if (only_find && folder[0]) {
        if (access(path, R_OK) != 0) {
            return false;
        }
        (void)snprintf(library->path, sizeof library->path, "%s", path);
        return true;
    }
    void *handle = open_path(library, path);
    if (!handle) {
        return false;
    }
    if (!only_find) {
        if (!find_symbols(library, handle)) {
            library->path[0] = '\0';
            (void)dlclose(handle);
            return false;
        }
        library->handle = handle;
    }
    return true;
}

/* A driver takes no newer toolkit, and CUDA 13 has left out the chips before sm_75. */
static int newest_toolkit(void)
{
    enum { CUDA_WITH_ALL = 12, CHIP_OF_13 = 75 };
    const int newest = cuda_version / 1000;
    return newest > CUDA_WITH_ALL && oldest_chip < CHIP_OF_13 ? CUDA_WITH_ALL : newest;
}

static bool search_in(cuda_library *library, folder_list *list, bool only_find)
{
    list_folders(list, only_find ? NULL : library);
    drop_missing(list, only_find ? NULL : library);
    const int newest = newest_toolkit();
    for (int name = 0; library->names[name].file; name++) {
        if (library->names[name].major > newest) {
            char why[96];
            (void)snprintf(why, sizeof why, "driver %d.%d and sm_%d take CUDA %d at most",
                           cuda_version / 1000, cuda_version % 1000 / 10, oldest_chip, newest);
            note(library, library->names[name].file, why);
        }
    }
    for (int i = 0; i < list->named; i++) {
        for (int name = 0; library->names[name].file; name++) {
            if (library->names[name].major <= newest &&
                try_file(library, list->text[i], name, only_find)) {
                return true;
            }
        }
    }
    for (int name = 0; library->names[name].file; name++) {
        for (int i = list->named; i < list->count; i++) {
            if (library->names[name].major <= newest &&
                try_file(library, list->text[i], name, only_find)) {
                return true;
            }
        }
    }
    return false;
}

static bool search(cuda_library *library, bool only_find)
{
    /* Too much for a small stack; and what is not found once is not looked for again, so that no
     * allocation may fail here. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static folder_list list;
    library->path[0] = '\0';
    library->tried[0] = '\0';
    library->refused = 0;
    (void)pthread_mutex_lock(&lock);
    const bool found = search_in(library, &list, only_find);
    (void)pthread_mutex_unlock(&lock);
    return found;
}

bool cuda_library_open(cuda_library *library)
{
    return search(library, false);
}

bool cuda_library_find(cuda_library *library)
{
    return library->handle || search(library, true);
}

/* ---- the driver and its errors --------------------------------------------------------------- */

cuda_api cu;
int32_t cuda_version;

#define DRIVER_REQUIRED(result, name, parameters) {#name, &cu.name, true},
#define DRIVER_OPTIONAL(result, name, parameters) {#name, &cu.name, false},
static const cuda_symbol driver_symbols[] = {CUDA_DRIVER_SYMBOLS(DRIVER_REQUIRED, DRIVER_OPTIONAL)};
static const cuda_file driver_files[] = {{"libcuda.so.1", 0}, {NULL, 0}};

cuda_library cuda_driver_library = {
    .names = driver_files,
    .symbols = driver_symbols,
    .symbol_count = (int)(sizeof driver_symbols / sizeof driver_symbols[0]),
};

const char *cuda_code_name(cuda_code code)
{
    const char *name = NULL;
    if (!cu.cuGetErrorName || cu.cuGetErrorName(code, &name) != CUDA_DONE || !name) {
        name = "an unnamed error";
    }
    return name;
}

/* Codes after which the context is of no more use, and the one of memory. */
iso_status cuda_status(cuda_code code)
{
    static const unsigned short lost[] = {CUDA_DEINITIALIZED,      CUDA_DEVICE_UNAVAILABLE,
                                          CUDA_ECC_UNCORRECTABLE,  CUDA_NVLINK_UNCORRECTABLE,
                                          CUDA_ILLEGAL_ADDRESS,    CUDA_LAUNCH_TIMEOUT,
                                          CUDA_CONTEXT_DESTROYED,  CUDA_ASSERT,
                                          CUDA_HARDWARE_STACK,     CUDA_ILLEGAL_INSTRUCTION,
                                          CUDA_MISALIGNED_ADDRESS, CUDA_INVALID_ADDRESS_SPACE,
                                          CUDA_INVALID_PC,         CUDA_LAUNCH_FAILED,
                                          CUDA_CONTAINED,          CUDA_TENSOR_MEMORY_LEAK,
                                          CUDA_MPS_RPC_FAILURE,    CUDA_MPS_CLIENT_TERMINATED,
                                          CUDA_EXTERNAL_DEVICE,    CUDA_UNKNOWN};
    if (code == CUDA_DONE) {
        return ISO_OK;
    }
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        if (code == lost[i]) {
            return ISO_DEVICE_LOST;
        }
    }
    return code == CUDA_OUT_OF_MEMORY ? ISO_NO_MEMORY : ISO_BACKEND;
}

static iso_status fail_with(cuda_code code, const char *format, va_list values)
{
    char what[512];
    const char *text = NULL;
    (void)vsnprintf(what, sizeof what, format, values);
    if (!cu.cuGetErrorString || cu.cuGetErrorString(code, &text) != CUDA_DONE) {
        text = NULL;
    }
    const iso_status status = cuda_status(code);
    return cuda_host->fail(status, "%s gives %s (%u)%s%s%s", what, cuda_code_name(code), code,
                           text ? ": " : "", text ? text : "",
                           status == ISO_DEVICE_LOST
                               ? "; the device's context is lost: destroy its handles and open it "
                                 "anew"
                               : "");
}

iso_status cuda_fail(cuda_code code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const iso_status status = fail_with(code, format, values);
    va_end(values);
    return status;
}

iso_status cuda_check(cuda_device *device, cuda_code code, const char *format, ...)
{
    if (code == CUDA_DONE) {
        return ISO_OK;
    }
    va_list values;
    va_start(values, format);
    const iso_status status = fail_with(code, format, values);
    va_end(values);
    if (status == ISO_DEVICE_LOST) {
        atomic_store(&device->lost, 1);
    }
    return status;
}

/* ---- probing --------------------------------------------------------------------------------- */

static iso_probe found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void call_failed(const char *call, cuda_code code)
{
    const char *hint = "";
    found.state = code == CUDA_NO_DEVICE ? ISO_STATE_NO_DEVICE : ISO_STATE_NO_DRIVER;
    if (code == CUDA_NO_DEVICE && getenv("CUDA_VISIBLE_DEVICES")) {
        hint = "; CUDA_VISIBLE_DEVICES is set, and hides the devices that it does not name";
    }
    (void)snprintf(found.reason, sizeof found.reason, "%s: %s gives %s (%u)%s",
                   cuda_driver_library.path, call, cuda_code_name(code), code, hint);
}

static int oldest_of(int count)
{
    int oldest = INT_MAX;
    for (int i = 0; i < count; i++) {
        cuda_ordinal device = 0;
        if (cu.cuDeviceGet(&device, i) == CUDA_DONE) {
            const int chip = cuda_architecture_of(device);
            oldest = chip < oldest ? chip : oldest;
        }
    }
    return oldest;
}

static void look(void)
{
    cuda_library *library = &cuda_driver_library;
    if (!loader_environment_allows(found.reason, (int64_t)sizeof found.reason)) {
        found.state = ISO_STATE_LOAD_FAILED;
        return;
    }
    if (!cuda_library_open(library)) {
        found.state = library->refused > 0 ? ISO_STATE_LOAD_FAILED : ISO_STATE_NOT_FOUND;
        (void)snprintf(found.reason, sizeof found.reason,
                       "NVIDIA's driver library %s; tried: %s. Install the driver, or set "
                       "ISOMER_CUDA_PATH to the folder that holds it",
                       library->refused > 0 ? "is there and cannot be used" : "was not found",
                       library->tried);
        return;
    }
    int count = 0;
    int version = 0;
    cuda_code code = cu.cuInit(0);
    if (code != CUDA_DONE) {
        call_failed("cuInit", code);
    } else if ((code = cu.cuDriverGetVersion(&version)) != CUDA_DONE) {
        call_failed("cuDriverGetVersion", code);
    } else if ((code = cu.cuDeviceGetCount(&count)) != CUDA_DONE) {
        call_failed("cuDeviceGetCount", code);
    } else if (version < CUDA_VERSION_LEAST) {
        found.state = ISO_STATE_NO_DRIVER;
        (void)snprintf(found.reason, sizeof found.reason,
                       "%.1024s: the driver is for CUDA %d.%d, and 11.0 is the oldest that is used",
                       library->path, version / 1000, version % 1000 / 10);
    } else if (count < 1) {
        call_failed("cuDeviceGetCount", CUDA_NO_DEVICE);
    } else {
        cuda_version = version;
        oldest_chip = oldest_of(count);
        found.state = ISO_STATE_OK;
        found.devices = count;
    }
}

iso_status cuda_probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static iso_status device_open(int32_t index, void **device)
{
    return simt_device_open(&cuda_driver, cuda_host, index, device);
}

static iso_status device_adopt(const iso_native_device *native, int32_t *index, void **device)
{
    return simt_device_adopt(&cuda_driver, cuda_host, native, index, device);
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .name = "cuda",
    .build_info = "cuda " ISO_VERSION_STRING ", driver API and NVRTC opened at run time, compiled "
                  "by " __VERSION__,
    .probe = cuda_probe,
    .device_info = cuda_device_info,
    .device_open = device_open,
    .device_adopt = device_adopt,
    .telemetry = cuda_telemetry,
    SIMT_DESCRIPTOR_ENTRIES,
    .stack_bytes = SIMT_STACK_BYTES,
};

const iso_backend *isomer_builtin_cuda_query(uint32_t host_abi, const iso_host *host);

const iso_backend *isomer_builtin_cuda_query(uint32_t host_abi, const iso_host *host)
{
    if (host_abi >> 16 != ISO_ABI_MAJOR) {
        return NULL;
    }
    cuda_host = host;
    return &descriptor;
}
