/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_adopt.h - the native objects of the plug-in unit-adopt. */
#ifndef ISOMER_PLUGIN_ADOPT_H
#define ISOMER_PLUGIN_ADOPT_H

/* A program's context; its devices are counted. */
typedef struct adopt_context {
    int index; /* of the device; over 1: refused */
    int opens;
} adopt_context;

/* A program's stream; every call of the backend with it is counted. */
typedef struct adopt_queue {
    int adopted, synced, waits, forgotten;
} adopt_queue;

#endif
