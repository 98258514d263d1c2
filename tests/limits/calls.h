/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - groups of public calls for the programs of this folder. Each group is made separately,
 * so that a report can name it. */
#ifndef ISOMER_TESTS_LIMITS_CALLS_H
#define ISOMER_TESTS_LIMITS_CALLS_H

#include <isomer/isomer.h>

typedef struct calls_scene {
    const char *spec; /* of the device */
    uint32_t flags;   /* of the stream */
    iso_device device;
    iso_stream stream;
    iso_buffer memory;
    int done, refused; /* calls that succeeded, or returned NO_MEMORY or UNAVAILABLE */
    int wrong;         /* undocumented statuses, or failures without a text */
} calls_scene;

enum { CALLS_NEED_DEVICE = 1, CALLS_NEED_ALL = 2 };

typedef struct calls_group {
    const char *name;
    int needs; /* CALLS_NEED_..., or nothing */
    void (*run)(calls_scene *scene);
} calls_group;

/* In an order that works: the first opens the device, the last closes it. */
extern const calls_group calls_groups[];
extern const int calls_group_count;

/* Whether the objects that the group needs exist. */
int calls_possible(const calls_scene *scene, const calls_group *group);

#endif
