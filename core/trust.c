/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c - finds out which users could replace the file or folder at a path.
 *
 * It trusts root, the user of this process, and the owner of any folder above this library, because
 * that owner could replace the library itself.
 */
#include "core/fork.h"
#include "core/settings.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_USER = 1000 }; /* smaller ids belong to system users */

/* Static, because it is too large for a small stack. If it were allocated and memory ran out, a
 * good path would look as if it had been refused. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct room {
    char copy[PATH_MAX], real[PATH_MAX], place[PATH_MAX];
} room_of;

void core_trust_fork(int stage)
{
    core_fork_lock(&lock, stage);
}

static bool is_above_library(const char *folder)
{
    const size_t length = strlen(folder);
    const char *place = core_place();

    return !strncmp(place, folder, length) && (place[length] == '/' || !strcmp(folder, "/"));
}

static bool owns_library(uid_t user)
{
    char *folder = room_of.place, *slash;
    struct stat found;
    bool owns = false;

    snprintf(folder, sizeof room_of.place, "%s", core_place());
    while (!owns && (slash = strrchr(folder, '/'))) {
        *slash = 0;
        owns = !lstat(slash == folder ? "/" : folder, &found) && found.st_uid == user;
    }
    return owns;
}

/* Many systems create a group for each user, with no other member. Write access for such a group
 * gives other users no access. */
static bool others_may_write(const struct stat *found)
{
    const bool own_group = found->st_gid == found->st_uid && found->st_uid >= FIRST_USER;

    return (found->st_mode & S_IWOTH) || ((found->st_mode & S_IWGRP) && !own_group);
}

/* Judges one part of a path. In a folder with the sticky bit, others can create files but cannot
 * replace existing ones, so such a folder is harmless if the path continues below it (`leads_on`).
 */
static bool judge_part(const char *part, const struct stat *found, bool leads_on, char *problem,
                       size_t room)
{
    const bool sticky = S_ISDIR(found->st_mode) && (found->st_mode & S_ISVTX);

    if (found->st_uid && found->st_uid != geteuid() && !owns_library(found->st_uid)) {
        snprintf(problem, room, "%s belongs to user %u, who is neither root nor user %u", part,
                 (unsigned)found->st_uid, (unsigned)geteuid());
        return false;
    }
    if (!S_ISLNK(found->st_mode) && others_may_write(found) && !(sticky && leads_on) &&
        (sticky || !is_above_library(part))) {
        snprintf(problem, room,
                 "%s can be written to by others (user %u, mode %04o): chmod go-w it", part,
                 (unsigned)found->st_uid, (unsigned)(found->st_mode & 07777));
        return false;
    }
    return true;
}

static bool judge_path(char *path, bool follow, char *problem, size_t room);

/* Judges the target of a link, after resolving all links on the way to it. */
static bool judge_link(const char *link, char *problem, size_t room)
{
    if (!realpath(link, room_of.real)) {
        snprintf(problem, room, "%s is a link that cannot be followed: %s", link, strerror(errno));
        return false;
    }
    return judge_path(room_of.real, false, problem, room);
}

/* Judges every part of a path, beginning with the root. A missing part is not a problem. */
static bool judge_path(char *path, bool follow, char *problem, size_t room)
{
    struct stat found;
    char *end = path;
    bool good = !lstat("/", &found) && judge_part("/", &found, true, problem, room);

    while (good && *end) {
        const char *next = end + strspn(end, "/");

        end += (next - end) + (ptrdiff_t)strcspn(next, "/");
        const char cut = *end;
        *end = 0;
        if (lstat(path, &found)) {
            return true;
        }
        good = judge_part(path, &found, cut != 0, problem, room);
        if (good && follow && S_ISLNK(found.st_mode)) {
            good = judge_link(path, problem, room);
        }
        *end = cut;
    }
    return good;
}

void core_path_problem(const char *path, char *problem, size_t room)
{
    problem[0] = 0;
    if (strlen(path) >= sizeof room_of.copy) {
        snprintf(problem, room, "its path is longer than %d bytes", PATH_MAX - 1);
        return;
    }
    pthread_mutex_lock(&lock);
    strcpy(room_of.copy, path);
    (void)judge_path(room_of.copy, true, problem, room);
    pthread_mutex_unlock(&lock);
}
