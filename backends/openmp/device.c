/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the one device: this machine's processors. */
#include "backends/loader/files.h"
#include "backends/openmp/blas.h"
#include "backends/openmp/runtime.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { RUNTIMES_MAX = 4 };

/* ---- the OpenMP runtimes of the process ------------------------------------------------------ */

typedef struct runtimes {
    int count;
    char paths[RUNTIMES_MAX][512];
} runtimes;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int look_at_object(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    runtimes *found = context;
    static const char *const prefixes[] = {"libgomp", "libomp.", "libomp-", "libomp5", "libiomp5"};
    const char *name = object->dlpi_name ? base_name(object->dlpi_name) : "";
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 && found->count < RUNTIMES_MAX) {
            (void)snprintf(found->paths[found->count++], sizeof found->paths[0], "%s",
                           object->dlpi_name);
            break;
        }
    }
    return 0;
}

static const char *own_path(void)
{
    Dl_info info;
    union {
        int (*function)(void);
        void *address;
    } symbol = {.function = omp_get_max_threads};
    return dladdr(symbol.address, &info) && info.dli_fname ? info.dli_fname : "";
}

/* _OPENMP is the date of the standard's version. */
static const char *openmp_version(void)
{
    return _OPENMP >= 202111   ? "5.2"
           : _OPENMP >= 202011 ? "5.1"
           : _OPENMP >= 201811 ? "5.0"
           : _OPENMP >= 201511 ? "4.5"
                               : "4.0 or older";
}

static void runtime_name(char *text, size_t capacity)
{
    char name[256];
    files_real_name(own_path(), name, sizeof name);
    (void)snprintf(text, capacity, "%.80s, OpenMP %s", name, openmp_version());
}

/* Describes the process's OpenMP runtimes, and returns how many there are. */
static int describe_runtimes(char *text, size_t capacity)
{
    static const runtimes none;
    runtimes found = none;
    char own[256], other[256];
    (void)dl_iterate_phdr(look_at_object, &found);
    runtime_name(text, capacity);
    files_real_name(own_path(), own, sizeof own);
    size_t used = strlen(text);
    for (int i = 0; i < found.count && used < capacity; i++) {
        int length = 0;
        files_real_name(found.paths[i], other, sizeof other);
        if (strcmp(own, other) == 0) {
            length = snprintf(text + used, capacity - used, " (%s)", found.paths[i]);
        } else {
            length = snprintf(text + used, capacity - used,
                              "; warning: the process has a second OpenMP runtime, %s, whose "
                              "threads compete with these for the processors",
                              found.paths[i]);
        }
        used += length > 0 ? (size_t)length : 0;
    }
    return found.count;
}

static void warn_of_second_runtime(void)
{
    char text[512];
    if (describe_runtimes(text, sizeof text) > 1) {
        cpu_host->log(ISO_LOG_WARN, "openmp: %s", text);
    }
}

/* ---- info ------------------------------------------------------------------------------------ */

static const char *machine(void)
{
#if defined(__x86_64__)
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    static struct utsname name;
    return uname(&name) == 0 ? name.machine : "unknown";
#endif
}

iso_status cpu_device_info(int32_t index, iso_device_info *out)
{
    if (index != 0) {
        return cpu_host->fail(ISO_INVALID, "index is %" PRId32 ", but openmp has one device, 0",
                              index);
    }
    const cpu_facts *facts = cpu_facts_get();
    /* An invalid setting must not hide the device, so it only causes a warning here. Opening the
     * device reports it as an error. */
    const cpu_kernels *kernels = cpu_isa_best();
    int threads = facts->cores;
    if (cpu_isa_choose(&kernels) != ISO_OK || cpu_team_plan(&threads) != ISO_OK) {
        cpu_host->log(ISO_LOG_WARN, "openmp: a setting is invalid, so the device is described "
                                    "without it");
    }
    cpu_memory memory;
    cpu_memory_get(&memory);
    struct utsname system;
    (void)snprintf(out->name, sizeof out->name, "%s", facts->name);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", facts->vendor);
    (void)snprintf(out->architecture, sizeof out->architecture, "%s %s", machine(), kernels->name);
    if (uname(&system) == 0) {
        (void)snprintf(out->driver, sizeof out->driver, "%.32s %.64s", system.sysname,
                       system.release);
    }
    runtime_name(out->runtime, sizeof out->runtime);
    out->uuid[0] = '\0';
    out->index = 0;
    out->type = ISO_DEVICE_CPU;
    out->features = ISO_FEATURE_F64 | ISO_FEATURE_DENORMALS | ISO_FEATURE_HOST_MEMORY |
                    (facts->has_fma ? ISO_FEATURE_FAST_FMA : 0) |
                    (facts->emulator[0] ? ISO_FEATURE_SIMULATED : 0);
    out->memory_total = memory.total;
    out->memory_free = memory.free;
    out->cache_bytes = facts->cache_bytes;
    out->local_bytes = 0;
    out->units = facts->cores;
    out->threads = threads;
    out->clock_mhz = facts->clock_mhz;
    return ISO_OK;
}

/* ---- properties ------------------------------------------------------------------------------ */

static void property_runtime(const cpu_device *device, char *text, size_t capacity)
{
    (void)device;
    (void)describe_runtimes(text, capacity);
}

static void property_isa(const cpu_device *device, char *text, size_t capacity)
{
    char list[128];
    cpu_isa_list(list, sizeof list);
    (void)snprintf(text, capacity, "%s (%s; available: %s)", device->kernels->name,
                   cpu_isa_forced() ? "set by ISOMER_CPU_ISA" : "the best of this processor", list);
}

static void property_caches(const cpu_device *device, char *text, size_t capacity)
{
    const cpu_facts *facts = device->facts;
    (void)snprintf(text, capacity,
                   "%" PRId64 " KiB L1 data and %" PRId64 " KiB L2 a core, %" PRId64
                   " KiB last level",
                   facts->l1_bytes / 1024, facts->l2_bytes / 1024, facts->l3_bytes / 1024);
}

static void property_fma(const cpu_device *device, char *text, size_t capacity)
{
    (void)snprintf(
        text, capacity, "%s",
        !device->facts->has_fma
            ? "not in this processor: computed in software, slowly but with the same bits"
        : strcmp(device->kernels->name, "generic") == 0
            ? "in hardware, but the generic kernels may call a function for it"
            : "in hardware");
}

static void property_threads(const cpu_device *device, char *text, size_t capacity)
{
    const char *setting = cpu_host->setting("ISOMER_NUM_THREADS");
    (void)snprintf(text, capacity, "%d on %" PRId32 " processors (%s)", cpu_team_size(device->team),
                   device->facts->cores,
                   setting ? "set by ISOMER_NUM_THREADS" : "by the OpenMP runtime");
}

iso_status cpu_device_property(void *device, int32_t index, iso_property *out)
{
    static const struct {
        const char *name;
        void (*describe)(const cpu_device *device, char *text, size_t capacity);
    } own[] = {
        {"OpenMP runtime", property_runtime}, {"threads", property_threads},
        {"instruction set", property_isa},    {"fused multiply-add", property_fma},
        {"caches", property_caches},
    };
    enum { OWN_COUNT = sizeof own / sizeof own[0] };
    const cpu_device_object *object = device;
    if (index < OWN_COUNT) {
        (void)snprintf(out->name, sizeof out->name, "%s", own[index].name);
        own[index].describe(&object->base, out->value, sizeof out->value);
        return ISO_OK;
    }
    return cpu_blas_property(index - OWN_COUNT, out) ? ISO_OK : ISO_NOT_READY;
}

/* ---- sensors --------------------------------------------------------------------------------- */

iso_status cpu_device_telemetry(void *device, iso_telemetry *out)
{
    cpu_device_object *object = device;
    (void)pthread_mutex_lock(&object->sensors_lock);
    const int any = cpu_sensors_read("", &object->sensors, out);
    (void)pthread_mutex_unlock(&object->sensors_lock);
    return any ? ISO_OK
               : cpu_host->fail(ISO_UNSUPPORTED, "no sensors can be read; tried: %s",
                                CPU_SENSORS_TRIED);
}

/* ---- opening --------------------------------------------------------------------------------- */

iso_status cpu_device_open(int32_t index, void **device)
{
    if (index != 0) {
        return cpu_host->fail(ISO_INVALID, "index is %" PRId32 ", but openmp has one device, 0",
                              index);
    }
    const cpu_kernels *kernels = NULL;
    iso_status status = cpu_isa_choose(&kernels);
    if (status == ISO_OK) {
        status = cpu_blas_check_setting();
    }
    if (status != ISO_OK) {
        return status;
    }
    cpu_device_object *object = cpu_host->alloc((int64_t)sizeof *object);
    if (!object) {
        return ISO_NO_MEMORY;
    }
    memset(object, 0, sizeof *object);
    status = cpu_team_acquire(&object->base.team);
    if (status != ISO_OK) {
        cpu_host->free(object);
        return status;
    }
    object->base.kernels = kernels;
    object->base.facts = cpu_facts_get();
    (void)pthread_mutex_init(&object->points.lock, NULL);
    (void)pthread_mutex_init(&object->sensors_lock, NULL);
    warn_of_second_runtime();
    *device = object;
    return ISO_OK;
}

void cpu_device_close(void *device)
{
    cpu_device_object *object = device;
    cpu_pool_destroy(&object->points);
    (void)pthread_mutex_destroy(&object->sensors_lock);
    cpu_team_release(object->base.team);
    cpu_host->free(object);
}
