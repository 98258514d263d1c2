/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - reads RLIMIT_AS and RLIMIT_DATA, and how much of them is used. */
#include "backends/trial/room.h"
#include "common/descriptor.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Each call names its constant directly. A variable would need one type, but the constants are
 * enumerators in one libc and ints in another. */
static int get_limit(int kind, struct rlimit *out)
{
    return kind == ROOM_ADDRESS ? getrlimit(RLIMIT_AS, out) : getrlimit(RLIMIT_DATA, out);
}

room room_get(void)
{
    room out = {.limit = {-1, -1}};
    long long pages[6] = {0};
    char text[256] = "";
    const int file = descriptor_open("/proc/self/statm", O_RDONLY, 0);
    if (file >= 0) {
        const ssize_t got = read(file, text, sizeof text - 1);
        (void)close(file);
        text[got > 0 ? got : 0] = '\0';
    }
    if (sscanf(text, "%lld %lld %lld %lld %lld %lld", &pages[0], &pages[1], &pages[2], &pages[3],
               &pages[4], &pages[5]) == 6) {
        const int64_t page = sysconf(_SC_PAGESIZE);
        out.used[ROOM_ADDRESS] = pages[0] * page;
        out.used[ROOM_DATA] = pages[5] * page;
    }
    for (int kind = 0; kind < ROOM_KINDS; kind++) {
        struct rlimit limit;
        if (get_limit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            limit.rlim_cur <= INT64_MAX) {
            out.limit[kind] = (int64_t)limit.rlim_cur;
        }
    }
    return out;
}

void room_leave(const int64_t left[ROOM_KINDS])
{
    const room now = room_get();
    for (int kind = 0; kind < ROOM_KINDS; kind++) {
        struct rlimit limit;
        const int64_t most = now.used[kind] + (left[kind] > 0 ? left[kind] : 0);
        if (left[kind] < 0 || now.used[kind] == 0 || get_limit(kind, &limit) != 0 ||
            (now.limit[kind] >= 0 && now.limit[kind] <= most)) {
            continue;
        }
        limit.rlim_cur = (rlim_t)most;
        if (kind == ROOM_ADDRESS) {
            (void)setrlimit(RLIMIT_AS, &limit);
        } else {
            (void)setrlimit(RLIMIT_DATA, &limit);
        }
    }
}
