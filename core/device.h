/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - devices, and the first member of every object of a device. */
#ifndef ISOMER_CORE_DEVICE_H
#define ISOMER_CORE_DEVICE_H

#include "core/handle.h"
#include "core/physical.h"
#include "core/select.h"

/* The first member of every object of a device. */
typedef struct core_child {
    struct core_child *next, *previous;
    struct core_device *device;
    uint64_t id;
    core_kind kind;
} core_child;

typedef struct core_block {
    struct core_block *next;
    struct core_device *device;
    void *pointer;
    int64_t bytes;
    bool registered;   /* the caller's memory */
    bool from_backend; /* the backend allocated or pinned it */
    bool pending;      /* being pinned: no other thread may release it yet */
} core_block;

typedef struct core_device {
    uint64_t id;
    core_physical *physical;
    const iso_backend *table;
    iso_math math;
    int64_t limit; /* -1: none */
    char *choice;
    core_child *children;
} core_device;

void core_child_link(core_device *device, core_child *child);
void core_child_unlink(core_child *child);

/* device.c: parts of opening that adopting needs too. */
iso_status core_device_options(const char *call, const iso_device_options *given,
                               iso_device_options *options);
iso_status core_device_make(const char *call, const iso_device_options *options,
                            core_choice *choice, iso_device *out);

#endif
