/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - how much memory the process's limits leave to it; for the library and for isomer-try. */
#ifndef ISOMER_TRIAL_ROOM_H
#define ISOMER_TRIAL_ROOM_H

#include <stdint.h>

enum { ROOM_ADDRESS = 0, ROOM_DATA = 1, ROOM_KINDS = 2 };

typedef struct room {
    int64_t limit[ROOM_KINDS]; /* bytes; -1: none */
    int64_t used[ROOM_KINDS];  /* 0 where /proc does not tell */
} room;

room room_get(void);
/* Lowers the limits so that this process has so much left of each; -1 leaves one as it is. */
void room_leave(const int64_t left[ROOM_KINDS]);

#endif
