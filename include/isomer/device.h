/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - finding and opening devices.
 *
 * A device is named by a spec:
 *
 *     name             the backend's first device (opencl: its first GPU, else a CPU)
 *     name:index       its device number `index`, from 0
 *     name:uuid=TEXT   the device with that uuid
 *     name:text        the only device whose name contains the text, ignoring case
 *     auto             the first of cuda, hip and opencl that has a device other than a CPU, else
 *                      openmp
 *     spec,spec,...    the first of these that opens: the only form with a fallback
 *
 * Entries are separated by commas. Blanks around an entry are ignored; a blank inside a name is an
 * error. A device is ISO_STATE_BROKEN if its driver crashed, hung or gave wrong results when it was
 * tried. If the spec names no device, broken devices are skipped. If the spec names a broken
 * device, the call fails with UNAVAILABLE, and the text says why and how to use the device anyway.
 *
 * If a backend is requested by name, either that backend is used or the call fails and says why.
 * The built-in backends are cuda, hip, opencl and openmp. A plug-in NAME is a file isomer-NAME.so
 * in a folder of ISOMER_BACKEND_PATH or in the library's own plug-in folder. Folders and files that
 * other users can write to are not used. In a program with more rights than its caller (set-uid,
 * set-gid, file capabilities) variables that name paths are ignored; docs/security.md has all the
 * rules.
 */
#ifndef ISOMER_DEVICE_H
#define ISOMER_DEVICE_H

#include <isomer/status.h>
#include <isomer/types.h>

ISO_BEGIN_DECLS

/* An open device. */
typedef struct iso_device {
    uint64_t id;
} iso_device;

/* The state of a backend or a device. Every state but ISO_STATE_OK comes with a reason. */
typedef enum iso_state {
    ISO_STATE_OK = 1,        /* "ok" */
    ISO_STATE_NOT_FOUND = 2, /* "not found": its library is in none of the places that were tried */
    ISO_STATE_NO_DRIVER = 3, /* "no driver": the library exists but the driver does not respond */
    ISO_STATE_NO_DEVICE = 4, /* "no device": the driver responds but has no device */
    ISO_STATE_LOAD_FAILED = 5,  /* "load failed": a file exists but could not be used */
    ISO_STATE_ABI_MISMATCH = 6, /* "ABI mismatch": a plug-in for another major version */
    ISO_STATE_FORKED = 7,       /* "forked": the parent process used it, so the child cannot */
    ISO_STATE_BROKEN = 8 /* "broken": its driver crashed, hung or gave wrong results when it was
                            tried in a separate process, or it could not be tried */
} iso_state;

/* The name of a state, as quoted with it; NULL for another value. Static. */
ISO_API const char *iso_state_name(iso_state state);

/* What a device is. */
typedef enum iso_device_type {
    ISO_DEVICE_CPU = 1,        /* the processors of the host */
    ISO_DEVICE_GPU = 2,        /* a GPU */
    ISO_DEVICE_ACCELERATOR = 3 /* what its driver calls an accelerator */
} iso_device_type;

ISO_API const char *iso_device_type_name(iso_device_type type); /* "CPU", "GPU", "accelerator" */

/* What a device can do, as bits of iso_device_info.features. */
enum {
    ISO_FEATURE_F64 = 1,         /* computes in f64 */
    ISO_FEATURE_DENORMALS = 2,   /* keeps subnormal numbers, infinities and NaN */
    ISO_FEATURE_FAST_FMA = 4,    /* fma in hardware; without it, slower with the same bits */
    ISO_FEATURE_HOST_MEMORY = 8, /* device memory is host memory */
    ISO_FEATURE_FAKE = 16,       /* a stand-in made for tests: none of its numbers means anything */
    ISO_FEATURE_COMPILES = 32,   /* builds kernels at first use, or in iso_prepare */
    ISO_FEATURE_SIMULATED = 64   /* simulates or emulates the hardware: its times mean nothing */
};

/* What is known of a device. */
typedef struct iso_device_info {
    uint32_t size;
    int32_t index;                   /* number among its backend's devices */
    char spec[ISO_NAME_MAX];         /* "backend:index", opens exactly this device */
    char backend[ISO_NAME_MAX];      /* the backend's name */
    char name[ISO_NAME_MAX];         /* as the driver gives it */
    char vendor[ISO_NAME_MAX];       /* as the driver gives it */
    char uuid[ISO_NAME_MAX];         /* "" if the device has none */
    char architecture[ISO_NAME_MAX]; /* "sm_90", "gfx90a", "x86-64 avx512" */
    char driver[ISO_NAME_MAX];       /* the driver's name and version */
    char runtime[ISO_NAME_MAX];      /* the runtime's or kernel compiler's name and version */
    iso_device_type type;            /* what it is */
    uint32_t features;               /* ISO_FEATURE_... */
    int64_t memory_total;            /* bytes; -1 if unknown */
    int64_t memory_free;             /* bytes, at the time of the call; -1 if unknown */
    int64_t cache_bytes;             /* last-level cache; 0 if unknown */
    int64_t local_bytes;             /* local (shared) memory of one work-group; 0 on a CPU */
    int32_t units;                   /* multiprocessors, compute units or cores */
    int32_t threads;   /* CPU: threads that one operation uses; GPU: width of a warp or wave */
    int32_t clock_mhz; /* highest clock; 0 if unknown */
    int32_t reserved;
} iso_device_info;
#define ISO_DEVICE_INFO_INIT ISO_INIT_OF(iso_device_info)

/* One row of iso_enumerate: a device, or a backend without devices and the reason. */
typedef struct iso_entry {
    uint32_t size;
    iso_state state;   /* of the device, or of the backend */
    int32_t is_plugin; /* 1: loaded from a file, whose path is in `origin` */
    int32_t reserved;
    char backend[ISO_NAME_MAX];  /* the backend's name */
    char origin[ISO_REASON_MAX]; /* "built in" or the plug-in's path */
    char reason[ISO_REASON_MAX]; /* why the state is not ISO_STATE_OK; otherwise "" */
    iso_device_info device; /* filled if the state is ISO_STATE_OK, or ISO_STATE_BROKEN for a device
                               that could be described; otherwise device.size is 0 */
} iso_entry;
#define ISO_ENTRY_INIT ISO_INIT_OF(iso_entry)

/*
 * Lists every backend (built in and plug-in) and every device: one row for each device, and one for
 * each backend without a device. Loads and probes all of them. A driver that is not known to work
 * is first tried in a separate process, for at most ISOMER_TRIAL_SECONDS; the result is cached for
 * that version of the driver. `*count` is set to the number of rows; up to `capacity` are written
 * to `entries`. The `size` of the first entry must be set and is used for all of them; entries may
 * be NULL with capacity 0. Rows come in a fixed order: the built-in backends in the order of
 * `auto`, then plug-ins by name. INVALID: negative capacity, NULL with a capacity, NULL count,
 * wrong size. NO_MEMORY: too little memory to look at all of them (the call does not return an
 * incomplete list instead).
 */
ISO_API iso_status iso_enumerate(iso_entry *entries, int32_t capacity, int32_t *count);

/* One entry of a list of specs. */
typedef struct iso_spec {
    uint32_t size;
    uint32_t reserved;
    char text[ISO_SPEC_MAX];    /* the entry, without the blanks around it */
    char backend[ISO_NAME_MAX]; /* the name before the colon */
    char device[ISO_SPEC_MAX];  /* what follows the colon; "" if there is no colon */
} iso_spec;
#define ISO_SPEC_INIT ISO_INIT_OF(iso_spec)

/*
 * The index-th entry of a list of specs, from 0, parsed as iso_device_open parses it. For programs
 * that accept such lists themselves. Nothing is opened. The whole list is always checked, whatever
 * the index. NOT_READY: there are no more. INVALID: NULL, a negative index, wrong size; an empty
 * entry, a blank inside a name, a name that is neither a backend nor a plug-in (the text suggests
 * the nearest one), `auto` in a list with other entries. NO_MEMORY.
 */
ISO_API iso_status iso_spec_get(const char *list, int32_t index, iso_spec *out);

/* Options for opening a device. All zero means the same as iso_device_open. */
typedef struct iso_device_options {
    uint32_t size;
    iso_math math;        /* default for the device's operations; 0: ISOMER_MATH */
    int64_t memory_limit; /* bytes; 0: ISOMER_MEMORY_LIMIT; -1: none */
    iso_keep keep;        /* default for the device's operations; 0: ISOMER_KEEP */
    uint32_t reserved;
} iso_device_options;
#define ISO_DEVICE_OPTIONS_INIT ISO_INIT_OF(iso_device_options)

/*
 * Opens a device. A NULL `spec` means the value of ISOMER_BACKEND, or "auto" if that is not set.
 * One physical device may be opened several times. Even then, a call that uses objects of two
 * handles returns MISMATCH. If the spec names one backend, no file of another backend is opened.
 * INVALID: an empty or unknown name (the text suggests the nearest known one), a bad index, a text
 *  that matches no device or several (the text lists them), a setting whose value makes no sense,
 *  such as a share of a memory whose size is unknown.
 * UNAVAILABLE: the named backend is not usable here, or no entry of a list or of `auto` is; the
 *  text has every path that was tried. NO_MEMORY, BACKEND, DEVICE_LOST: from the backend.
 */
ISO_API iso_status iso_device_open(const char *spec, iso_device *out);

/* The same with options; `options` may be NULL. Also INVALID: a limit below -1, an unknown math
 * or keep. */
ISO_API iso_status iso_device_open_with(const char *spec, const iso_device_options *options,
                                        iso_device *out);

/*
 * Waits for all work on the device, then frees it with every grid, communicator, stream, graph,
 * program, sparse matrix, event, buffer and host block that still belongs to it; their handles
 * become INVALID. INVALID: not a device. If streams have late errors that have not been reported
 * yet, the first of them is returned, after everything has been freed.
 */
ISO_API iso_status iso_device_close(iso_device device);

/* Fills `*out` (set its size first). INVALID: not a device, NULL, wrong size. */
ISO_API iso_status iso_device_get_info(iso_device device, iso_device_info *out);

/*
 * How the device was chosen: its spec and, for `auto` and lists, why each earlier entry was not
 * chosen. Copied into `text` (capacity bytes, NUL-terminated, cut to fit). INVALID: not a device,
 * NULL.
 */
ISO_API iso_status iso_device_get_choice(iso_device device, char *text, int64_t capacity);

/* More information about a device, as a name and a text: its BLAS library, its OpenMP runtime, ...
 */
typedef struct iso_property {
    uint32_t size;
    char name[ISO_NAME_MAX];    /* what it is about */
    char value[ISO_REASON_MAX]; /* the text */
} iso_property;
#define ISO_PROPERTY_INIT ISO_INIT_OF(iso_property)

/*
 * The index-th property, from 0. May open the vendor's library to describe it. NOT_READY: there are
 * no more. INVALID: not a device, NULL, negative index.
 */
ISO_API iso_status iso_device_get_property(iso_device device, int32_t index, iso_property *out);

/* Why a device runs below its full speed. */
enum {
    ISO_THROTTLE_POWER = 1,   /* at its power cap */
    ISO_THROTTLE_THERMAL = 2, /* too hot */
    ISO_THROTTLE_OTHER = 4    /* held back by hardware or by a setting of the system */
};

/* Readings of a device's sensors at one moment. A number that is not reported is -1, a text "". */
typedef struct iso_telemetry {
    uint32_t size;
    int32_t throttle;             /* ISO_THROTTLE_...; 0: not held back; -1: not known */
    int32_t clock_mhz;            /* current, of the compute units */
    int32_t clock_max_mhz;        /* highest allowed */
    int32_t memory_clock_mhz;     /* current */
    int32_t ecc;                  /* 1: on, 0: off */
    double power_watts;           /* drawn now */
    double power_cap_watts;       /* the most that it may draw */
    double temperature_celsius;   /* of the chip */
    double busy_percent;          /* share of the time in which some process ran work on it */
    char partition[ISO_NAME_MAX]; /* how the device is divided: "MIG off", "SPX", ... */
    char source[ISO_NAME_MAX]; /* where the readings come from: a library and its version, or files
                                */
    /* The energy that the part named in energy_scope has used since a moment that the system
     * chooses (start of the driver, start of the machine). Only the difference of two readings of
     * the same process means something. A counter of the processors that wraps is followed if it is
     * read at least every few minutes. Partitions of a device share its counter. */
    double energy_joules;
    char energy_scope[ISO_NAME_MAX];  /* "board", "2 packages with their memory", ... */
    char energy_reason[ISO_NOTE_MAX]; /* why energy_joules is not known */
} iso_telemetry;
#define ISO_TELEMETRY_INIT ISO_INIT_OF(iso_telemetry)

/*
 * Fills `*out` (set its size first). May open the vendor's library for sensors at the first call.
 * UNSUPPORTED: this device has no sensors that can be read here; the text says what was tried.
 * INVALID: not a device, NULL, wrong size. BACKEND: the sensors returned an error.
 */
ISO_API iso_status iso_device_get_telemetry(iso_device device, iso_telemetry *out);

/* This process's use of a physical device's memory, through all handles to it. */
typedef struct iso_memory_use {
    uint32_t size;
    uint32_t reserved;
    int64_t used;  /* bytes in buffers and scratch now */
    int64_t peak;  /* the highest so far */
    int64_t limit; /* this handle's limit; -1: none */
} iso_memory_use;
#define ISO_MEMORY_USE_INIT ISO_INIT_OF(iso_memory_use)

/* Fills `*out` (set its size first). INVALID: not a device, NULL, wrong size. */
ISO_API iso_status iso_device_get_memory_use(iso_device device, iso_memory_use *out);

/* One of the library's settings, its value and its source. */
typedef struct iso_setting {
    uint32_t size;
    uint32_t reserved;
    char name[ISO_NAME_MAX];      /* "ISOMER_BACKEND" */
    char value[ISO_REASON_MAX];   /* the value in effect; "" if it is unset and has no default */
    char source[ISO_NAME_MAX];    /* "environment" or "default" */
    char meaning[ISO_REASON_MAX]; /* one line */
    char problem[ISO_REASON_MAX]; /* why the value cannot be used, or why the environment's value is
                                     ignored; otherwise "" */
} iso_setting;
#define ISO_SETTING_INIT ISO_INIT_OF(iso_setting)

/* The index-th setting, from 0. NOT_READY: there are no more. INVALID: NULL, negative, wrong size.
 */
ISO_API iso_status iso_get_setting(int32_t index, iso_setting *out);

ISO_END_DECLS

#endif
