/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - events. */
#ifndef ISOMER_CORE_EVENT_H
#define ISOMER_CORE_EVENT_H

#include "core/device.h"

#include <stdatomic.h>

typedef struct core_event {
    core_child child;
    void *handle;
    atomic_bool recorded;
} core_event;

/* The rest of destroying, after the handle was retired; frees the object. */
void core_event_finish(core_event *event);

#endif
