/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - the memory that the process's limits leave to it; used by the library and by isomer-try.
 */
#ifndef ISOMER_TRIAL_ROOM_H
#define ISOMER_TRIAL_ROOM_H

#include <stdint.h>

enum { ROOM_ADDRESS = 0, ROOM_DATA = 1, ROOM_KINDS = 2 };

typedef struct room {
    int64_t limit[ROOM_KINDS]; /* bytes; -1: none */
    int64_t used[ROOM_KINDS];  /* 0 if /proc does not report it */
} room;

room room_get(void);
/* Lowers the limits so that this process has this much left of each; -1 leaves one unchanged. */
void room_leave(const int64_t left[ROOM_KINDS]);

#endif
