/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_adopt.h - the native objects of the plug-in unit-adopt. */
#ifndef ISOMER_PLUGIN_ADOPT_H
#define ISOMER_PLUGIN_ADOPT_H

/* A program's context; counts its open devices. */
typedef struct adopt_context {
    int index; /* of the device; over 1 is refused */
    int opens;
} adopt_context;

/* A program's stream; counts every call of the backend that uses it. */
typedef struct adopt_queue {
    int adopted, synced, waits, forgotten;
} adopt_queue;

#endif
