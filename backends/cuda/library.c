/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds NVIDIA's driver, asks it for devices, and says what it found. */
#include <backends/loader/loader.h>

#include <isomer/backend.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's interface, as far as it is asked. */
enum { CUDA_OK = 0, CUDA_NO_DEVICE = 100, CUDA_NAMES_SHOWN = 16 };

typedef struct cuda_api {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int length, int device);
    int (*error_name)(int error, const char **name); /* may be NULL */
} cuda_api;

static const iso_host *cuda_host;
static iso_probe found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_state(iso_state state)
{
    found.state = state;
    found.devices = 0;
}

static void *open_driver(char *path, int64_t capacity)
{
    static const char *const names[] = {"libcuda.so.1"};
    const char *own = cuda_host->setting("ISOMER_CUDA_PATH");
    const char *general = getenv("CUDA_PATH");
    char tried[ISO_REASON_MAX - 512] = "";
    loader_places places = {.count = 0};
    loader_place(&places, own, "");
    loader_place(&places, own, "lib64");
    loader_place(&places, own, "lib");
    loader_place(&places, general, "lib64");
    loader_place(&places, general, "lib");
    loader_place_own_search(&places);
    loader_place(&places, "/usr/lib/x86_64-linux-gnu", "");
    loader_place(&places, "/usr/lib/aarch64-linux-gnu", "");
    loader_place(&places, "/usr/lib/wsl/lib", "");
    loader_place(&places, "/usr/local/nvidia/lib64", "");
    loader_place(&places, "/usr/local/cuda/lib64", "");
    loader_search search = {.names = names,
                            .name_count = 1,
                            .folders = places.folders,
                            .folder_count = places.count,
                            .tried = tried,
                            .tried_capacity = (int64_t)sizeof tried};
    void *library = loader_open(&search, path, capacity);
    if (!library) {
        set_state(search.refused > 0 ? ISO_STATE_LOAD_FAILED : ISO_STATE_NOT_FOUND);
        (void)snprintf(found.reason, sizeof found.reason,
                       "NVIDIA's driver library %s; tried: %s. Install the driver, or set "
                       "ISOMER_CUDA_PATH to the folder that holds it",
                       search.refused > 0 ? "is there and cannot be used" : "was not found", tried);
    }
    return library;
}

static int find_symbols(void *library, const char *path, cuda_api *api)
{
    const struct {
        const char *name;
        void *function;
    } required[] = {{"cuInit", &api->init},
                    {"cuDeviceGetCount", &api->device_count},
                    {"cuDeviceGet", &api->device_get},
                    {"cuDeviceGetName", &api->device_name}};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!loader_symbol(library, required[i].name, required[i].function)) {
            set_state(ISO_STATE_LOAD_FAILED);
            (void)snprintf(found.reason, sizeof found.reason, "%s has no function %s", path,
                           required[i].name);
            return 0;
        }
    }
    (void)loader_symbol(library, "cuGetErrorName", &api->error_name);
    return 1;
}

static void call_failed(const cuda_api *api, const char *path, const char *call, int code)
{
    const char *name = NULL;
    if (!api->error_name || api->error_name(code, &name) != CUDA_OK || !name) {
        name = "an unnamed error";
    }
    set_state(code == CUDA_NO_DEVICE ? ISO_STATE_NO_DEVICE : ISO_STATE_NO_DRIVER);
    (void)snprintf(found.reason, sizeof found.reason, "%s: %s gives %s (%d)", path, call, name,
                   code);
}

static void tell_devices(const cuda_api *api, const char *path, int count)
{
    char names[ISO_REASON_MAX / 2] = "";
    size_t used = 0;
    for (int i = 0; i < count && i < CUDA_NAMES_SHOWN; i++) {
        char name[ISO_NAME_MAX] = "";
        int device = 0;
        if (api->device_get(&device, i) != CUDA_OK ||
            api->device_name(name, (int)sizeof name, device) != CUDA_OK) {
            (void)snprintf(name, sizeof name, "no name");
        }
        name[sizeof name - 1] = '\0';
        int length = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", name);
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof names) {
            break;
        }
    }
    set_state(ISO_STATE_LOAD_FAILED);
    (void)snprintf(found.reason, sizeof found.reason,
                   "%s: %d device%s found (%s), but this version of isomer runs nothing on cuda "
                   "yet",
                   path, count, count == 1 ? "" : "s", names);
}

static void look(void)
{
    char path[1024];
    cuda_api api = {.error_name = NULL};
    void *library = open_driver(path, (int64_t)sizeof path);
    if (!library || !find_symbols(library, path, &api)) {
        return;
    }
    int code = api.init(0);
    if (code != CUDA_OK) {
        call_failed(&api, path, "cuInit", code);
        return;
    }
    int count = 0;
    code = api.device_count(&count);
    if (code != CUDA_OK) {
        call_failed(&api, path, "cuDeviceGetCount", code);
    } else if (count < 1) {
        set_state(ISO_STATE_NO_DEVICE);
        (void)snprintf(found.reason, sizeof found.reason,
                       "%s: the driver answers and has no device", path);
    } else {
        tell_devices(&api, path, count);
    }
}

static iso_status probe(iso_probe *out)
{
    (void)pthread_once(&once, look);
    out->state = found.state;
    out->devices = found.devices;
    memcpy(out->reason, found.reason, sizeof out->reason);
    return ISO_OK;
}

static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .flags = ISO_BACKEND_PROBE_ONLY,
    .name = "cuda",
    .build_info = "cuda " ISO_VERSION_STRING ", finds devices only",
    .probe = probe,
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
