/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - how much memory the process may use under its limits. The library and isomer-try use
 * this. */
#ifndef ISOMER_TRIAL_ROOM_H
#define ISOMER_TRIAL_ROOM_H

#include <stdint.h>

enum { ROOM_ADDRESS = 0, ROOM_DATA = 1, ROOM_KINDS = 2 };

typedef struct room {
    int64_t limit[ROOM_KINDS]; /* bytes; -1 if there is no limit */
    int64_t used[ROOM_KINDS];  /* 0 if /proc does not report it */
} room;

room room_get(void);
/* Lowers the limits so that this process can use at most this much more of each kind. -1 leaves a
 * limit unchanged. */
void room_leave(const int64_t left[ROOM_KINDS]);

#endif
