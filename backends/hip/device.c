/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - describes and opens devices. HIP's contexts are not used. Instead, every call makes
 * its device the thread's current device, and restores the previous one afterwards. */
#include "backends/hip/library.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int32_t attribute_of(int32_t index, hip_enum attribute)
{
    int value = 0;
    if (hip.hipDeviceGetAttribute(&value, attribute, index) != HIP_DONE) {
        (void)hip.hipGetLastError();
        value = 0;
    }
    return value;
}

simt_scope hip_enter(const hip_device *device)
{
    simt_scope scope = {.code = HIP_DONE, .previous = -1};
    int current = -1;
    if (hip.hipGetDevice(&current) != HIP_DONE || current != device->index) {
        scope.code = hip.hipSetDevice(device->index);
        if (scope.code == HIP_DONE) {
            scope.previous = current;
        }
    }
    return scope;
}

void hip_leave(simt_scope scope)
{
    if (scope.previous >= 0) {
        (void)hip.hipSetDevice(scope.previous);
    }
}

/* ---- description ----------------------------------------------------------------------------- */

/* Reads the architecture's name from the struct of device properties. The struct grew over time and
 * changed in version 6, so the name is read at the offset that is known for the version. */
static iso_status read_architecture(int32_t index, char *text, size_t capacity, char *room)
{
    memset(room, 0, HIP_PROPERTIES_ROOM);
    const bool newer = hip.hipGetDevicePropertiesR0600 != NULL;
    const hip_code code =
        newer ? hip.hipGetDevicePropertiesR0600((struct hipDeviceProp_tR0600 *)(void *)room, index)
              : hip.hipGetDeviceProperties((struct hipDeviceProp_t *)(void *)room, index);
    if (code != HIP_DONE) {
        return hip_check(NULL, code, "hipGetDeviceProperties(%d)", index);
    }
    const char *name = room + (newer ? HIP_ARCHITECTURE_AT_R0600 : HIP_ARCHITECTURE_AT_5);
    if (strncmp(name, "gfx", 3) != 0 || !memchr(name, '\0', HIP_ARCHITECTURE_BYTES)) {
        return hip_host->fail(ISO_BACKEND,
                              "hipGetDeviceProperties(%d) of HIP %d has no architecture (gfx...) "
                              "at the offset that is known for this version",
                              index, hip_version);
    }
    (void)snprintf(text, capacity, "%s", name);
    return ISO_OK;
}

static iso_status find_architecture(int32_t index, char *text, size_t capacity)
{
    char *room = hip_host->alloc(HIP_PROPERTIES_ROOM);
    iso_status status = room ? read_architecture(index, text, capacity, room) : ISO_NO_MEMORY;
    hip_host->free(room);
    return status;
}

/* The runtime returns the uuid either as sixteen characters, as rocm-smi shows it, or as sixteen
 * bytes. */
static void write_uuid(int32_t index, char *text, size_t capacity)
{
    hip_uuid uuid = {{0}};
    text[0] = '\0';
    if (!hip.hipDeviceGetUuid ||
        hip.hipDeviceGetUuid((struct hipUUID_t *)(void *)&uuid, index) != HIP_DONE) {
        return;
    }
    bool readable = true;
    bool empty = true;
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        readable = readable && isxdigit((unsigned char)uuid.bytes[i]);
        empty = empty && uuid.bytes[i] == 0;
    }
    if (empty) {
        return;
    }
    if (readable) {
        (void)snprintf(text, capacity, "GPU-%.16s", uuid.bytes);
        return;
    }
    int length = snprintf(text, capacity, "GPU-");
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        length += snprintf(text + length, capacity - (size_t)length, "%02x",
                           (unsigned)(unsigned char)uuid.bytes[i]);
    }
}

iso_status hip_place(int32_t index, uint64_t *place)
{
    static const hip_enum attributes[] = {HIP_PCI_DOMAIN, HIP_PCI_BUS, HIP_PCI_DEVICE};
    uint64_t part[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        int value = 0;
        const hip_code code = hip.hipDeviceGetAttribute(&value, attributes[i], index);
        if (code != HIP_DONE) {
            return hip_check(NULL, code, "hipDeviceGetAttribute(%u, device %d)", attributes[i],
                             index);
        }
        part[i] = (unsigned)value;
    }
    *place = part[0] << 32 | (part[1] & 0xff) << 8 | (part[2] & 0x1f) << 3;
    return ISO_OK;
}

static int64_t free_memory(int32_t index)
{
    const hip_device at = {.index = index};
    size_t free = 0;
    size_t total = 0;
    hip_code code;
    HIP_ON(&at, code, hip.hipMemGetInfo(&free, &total));
    if (code != HIP_DONE) {
        (void)hip.hipGetLastError();
    }
    return code == HIP_DONE ? (int64_t)free : -1;
}

iso_status hip_device_info(int32_t index, iso_device_info *out)
{
    size_t bytes = 0;
    hip_code code = hip.hipDeviceGetName(out->name, (int)sizeof out->name, index);
    if (code != HIP_DONE) {
        return hip_check(NULL, code, "hipDeviceGetName(%d)", index);
    }
    out->name[sizeof out->name - 1] = '\0';
    code = hip.hipDeviceTotalMem(&bytes, index);
    if (code != HIP_DONE) {
        return hip_check(NULL, code, "hipDeviceTotalMem(%d)", index);
    }
    const iso_status status = find_architecture(index, out->architecture, sizeof out->architecture);
    if (status) {
        return status;
    }
    if (!out->name[0]) { /* some boards have no name */
        (void)snprintf(out->name, sizeof out->name, "AMD %.32s", out->architecture);
    }
    (void)snprintf(out->vendor, sizeof out->vendor, "AMD");
    write_uuid(index, out->uuid, sizeof out->uuid);
    (void)snprintf(out->driver, sizeof out->driver, "HIP runtime %d.%d", hip_major(),
                   hip_version / 100000 % 100);
    out->runtime[0] = '\0';
    out->type = ISO_DEVICE_GPU;
    out->features =
        ISO_FEATURE_F64 | ISO_FEATURE_DENORMALS | ISO_FEATURE_FAST_FMA | ISO_FEATURE_COMPILES;
    if (attribute_of(index, HIP_INTEGRATED) != 0) {
        out->features |= ISO_FEATURE_HOST_MEMORY;
    }
    if (hip_simulated(index)) {
        out->features |= ISO_FEATURE_SIMULATED;
    }
    out->memory_total = (int64_t)bytes;
    out->memory_free = free_memory(index);
    out->cache_bytes = attribute_of(index, HIP_L2_BYTES);
    out->local_bytes = attribute_of(index, HIP_SHARED_BYTES);
    out->units = attribute_of(index, HIP_UNITS);
    out->threads = attribute_of(index, HIP_WAVE);
    out->clock_mhz = attribute_of(index, HIP_CLOCK_KHZ) / 1000;
    return ISO_OK;
}

/* The architecture of a real chip contains a number, as in "gfx1100". A fake runtime on other
 * hardware reports an architecture without a number. Its devices get the class of that hardware. */
static simt_class device_class(int32_t index, const char *architecture)
{
    if (attribute_of(index, HIP_WAVE) == 64) {
        return SIMT_CLASS_WAVE64;
    }
    const bool numbered = isdigit((unsigned char)architecture[strlen("gfx")]);
    return numbered ? SIMT_CLASS_WAVE32 : SIMT_CLASS_WARP32;
}

/* Whether the chip has matrix units for bytes. A fake runtime's chip, which has
 * no number, counts as one that has them. */
static bool has_byte_units(const char *architecture)
{
    static const char *const chips[] = {"908", "90a", "94", "95", NULL};
    const char *number = architecture + strlen("gfx");
    for (int i = 0; chips[i]; i++) {
        if (strncmp(number, chips[i], strlen(chips[i])) == 0) {
            return true;
        }
    }
    return !isdigit((unsigned char)*number);
}

/* The chips whose matrix units may be used, if they pass their test. Those of gfx908 have no f64;
 * those of gfx950 are no faster for f64 than its other units. */
static void find_units(const char *architecture, simt_limits *limits)
{
    static const struct {
        const char *chip;
        bool f64, f32;
    } known[] = {
        {"gfx908", false, true}, {"gfx90a", true, true}, {"gfx940", true, true},
        {"gfx941", true, true},  {"gfx942", true, true}, {"gfx950", false, true},
    };
    const size_t length = strcspn(architecture, ":");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].chip) == length && strncmp(known[i].chip, architecture, length) == 0) {
            limits->wave_f64 = known[i].f64;
            limits->wave_f32 = known[i].f32;
        }
    }
}

static void fill_limits(int32_t index, const char *architecture, simt_limits *limits)
{
    size_t bytes = 0;
    if (hip.hipDeviceTotalMem(&bytes, index) != HIP_DONE) {
        bytes = 0;
    }
    const simt_class own_class = device_class(index, architecture);
    const bool byte_units = has_byte_units(architecture);
    *limits = (simt_limits){
        .device_class = own_class,
        .units = attribute_of(index, HIP_UNITS),
        .threads_max = attribute_of(index, HIP_MAX_THREADS),
        .local_bytes = attribute_of(index, HIP_SHARED_BYTES),
        .alloc_max = (int64_t)bytes,
        .cache_bytes = attribute_of(index, HIP_L2_BYTES),
        .host_pages = attribute_of(index, HIP_HOST_PAGES) != 0,
        .memory_is_address = true,
        .items_most = UINT32_MAX,
        .f64 = true,
        .f32_exact = true,
        .shuffle = true,
        .atomic64 = true,
        .bytes = byte_units,
        .byte_unit = byte_units && own_class == SIMT_CLASS_WAVE64 ? 64 : 0,
    };
    find_units(architecture, limits);
}

/* ---- opening --------------------------------------------------------------------------------- */

iso_status hip_device_open(int32_t index, void **native, simt_limits *limits)
{
    hip_device *device = hip_host->alloc((int64_t)sizeof *device);
    if (!device) {
        return ISO_NO_MEMORY;
    }
    memset(device, 0, sizeof *device);
    device->index = index;
    atomic_init(&device->lost, 0);
    atomic_init(&device->peer, 0);
    iso_status status = find_architecture(index, device->architecture, sizeof device->architecture);
    if (!status) {
        const simt_scope scope = hip_enter(device); /* checks that the device can be used */
        hip_leave(scope);
        status = hip_check(device, scope.code, "hipSetDevice(%d)", index);
    }
    if (status) {
        hip_host->free(device);
        return status;
    }
    fill_limits(index, device->architecture, limits);
    *native = device;
    return ISO_OK;
}

iso_status hip_device_adopt(int32_t devices, const void *context, const void *native_device,
                            int32_t *index, void **native, simt_limits *limits)
{
    const int64_t asked = (int64_t)(intptr_t)native_device;
    if (context) {
        return hip_host->fail(ISO_INVALID,
                              "context is %p, but isomer does not use HIP contexts: pass NULL and "
                              "the device's number",
                              context);
    }
    if (asked < 0 || asked >= devices) {
        return hip_host->fail(ISO_INVALID, "device is %lld, but there are %d devices",
                              (long long)asked, devices);
    }
    *index = (int32_t)asked;
    return hip_device_open(*index, native, limits);
}

/* Resets a lost device, even if the program's own code also uses it. That code cannot use the lost
 * device either. After the reset, the device can be opened again. */
void hip_device_close(void *native)
{
    hip_device *device = native;
    if (atomic_load(&device->lost) && hip.hipDeviceReset) {
        hip_code code;
        HIP_ON(device, code, hip.hipDeviceReset());
        if (code != HIP_DONE) {
            hip_host->log(ISO_LOG_WARN, "hip: hipDeviceReset of device %d gives %s", device->index,
                          hip_code_name(code));
        }
        (void)hip.hipGetLastError(); /* clears the error, so that the program does not see ours */
    }
    hip_host->free(device);
}
