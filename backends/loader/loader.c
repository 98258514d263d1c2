/* SPDX-License-Identifier: Apache-2.0 */
/* loader.c - opening a vendor's library at run time. */
#include "backends/loader/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LOADER_OWN_SEARCH "the loader's path"

static void note(loader_search *search, const char *path, const char *why)
{
    if (!search->tried || search->tried_capacity < 1) {
        return;
    }
    size_t capacity = (size_t)search->tried_capacity;
    size_t used = strlen(search->tried);
    if (used + 1 < capacity) {
        (void)snprintf(search->tried + used, capacity - used, "%s%s (%s)", used > 0 ? ", " : "",
                       path, why);
    }
}

static void tell_path(void *handle, const char *fallback, char *out, int64_t capacity)
{
    if (!out || capacity < 1) {
        return;
    }
    struct link_map *map = NULL;
    const char *path = fallback;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && map->l_name[0]) {
        path = map->l_name;
    }
    (void)snprintf(out, (size_t)capacity, "%s", path);
}

/* dlerror begins with the path, which the list shows already. */
static const char *without_path(const char *text, const char *path)
{
    size_t length = strlen(path);
    if (strncmp(text, path, length) == 0 && text[length] == ':') {
        text += length + 1;
        while (*text == ' ') {
            text++;
        }
    }
    return text;
}

/* Whether the text ends as the system's for a file that is not there, in whatever language. */
static int is_missing(const char *text)
{
    char room[256];
    const char *missing = strerror_r(ENOENT, room, sizeof room);
    size_t length = strlen(missing);
    size_t whole = strlen(text);
    return whole >= length && strcmp(text + whole - length, missing) == 0;
}

/* One file by its path, or (with own_search) one name through the loader's own search. */
static void *open_one(loader_search *search, const char *path, int own_search)
{
    if (!own_search && access(path, F_OK) != 0) {
        note(search, path, "no such file");
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
        return handle;
    }
    const char *text = dlerror();
    const char *why = text ? without_path(text, path) : "dlopen failed";
    /* The loader names a file that it could not use by its path, a missing dependency by that one's
     * name, and what it found nowhere by the name that it was given; so too a file that it found
     * and has no memory for. */
    int absent = own_search && text && why != text && is_missing(why);
    if (absent) {
        note(search, path, LOADER_OWN_SEARCH ": not found");
        return NULL;
    }
    search->refused++;
    note(search, path, why);
    return NULL;
}

static void *open_in_folder(loader_search *search, const char *folder, char *path_opened,
                            int64_t capacity)
{
    for (int i = 0; i < search->name_count; i++) {
        const char *name = search->names[i];
        if (strchr(name, '/')) {
            continue;
        }
        int own_search = folder[0] == '\0';
        char path[1024]; /* not allocated: what is not found once is not looked for again */
        const int length =
            snprintf(path, sizeof path, "%s%s%s", folder, own_search ? "" : "/", name);
        if (length < 0 || length >= (int)sizeof path) {
            note(search, folder, "its path is too long");
            continue;
        }
        void *handle = open_one(search, path, own_search);
        if (handle) {
            tell_path(handle, path, path_opened, capacity);
            return handle;
        }
    }
    return NULL;
}

void *loader_open(loader_search *search, char *path_opened, int64_t capacity)
{
    search->refused = 0;
    void *handle = NULL;
    for (int i = 0; i < search->name_count && !handle; i++) {
        if (strchr(search->names[i], '/')) {
            handle = open_one(search, search->names[i], 0);
            if (handle) {
                tell_path(handle, search->names[i], path_opened, capacity);
            }
        }
    }
    int searched = 0;
    for (int i = 0; i < search->folder_count && !handle; i++) {
        const char *folder = search->folders[i];
        if (folder) {
            searched |= folder[0] == '\0';
            handle = open_in_folder(search, folder, path_opened, capacity);
        }
    }
    if (!handle && !searched) {
        handle = open_in_folder(search, "", path_opened, capacity);
    }
    return handle;
}

void loader_place(loader_places *places, const char *prefix, const char *below)
{
    if (!prefix || prefix[0] == '\0' || places->count == LOADER_PLACES_MAX) {
        return;
    }
    size_t room = sizeof places->text - (size_t)places->used;
    char *text = places->text + places->used;
    int length = snprintf(text, room, "%s%s%s", prefix, below[0] != '\0' ? "/" : "", below);
    if (length > 0 && (size_t)length < room) {
        places->folders[places->count++] = text;
        places->used += length + 1;
    }
}

void loader_place_own_search(loader_places *places)
{
    if (places->count < LOADER_PLACES_MAX) {
        places->folders[places->count++] = "";
    }
}

/* Of these no library loads or writes anything. */
static int is_harmless(const char *variable)
{
    static const char *const names[] = {"LANG", "LANGUAGE", "TERM", "USER", "LOGNAME"};
    static const char *const beginnings[] = {"ISOMER_", "LC_"};
    static const char ending[] = "_VISIBLE_DEVICES";
    const size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (length == strlen(names[i]) && strncmp(variable, names[i], length) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0) {
            return 1;
        }
    }
    return length >= sizeof ending &&
           strncmp(variable + length - (sizeof ending - 1), ending, sizeof ending - 1) == 0;
}

int loader_environment_allows(char *why, int64_t capacity)
{
    const char *first = NULL;
    int count = 0;
    for (char **at = environ; getauxval(AT_SECURE) && at && *at; at++) {
        if (!is_harmless(*at)) {
            first = first ? first : *at;
            count++;
        }
    }
    if (count > 0) {
        (void)snprintf(
            why, (size_t)capacity,
            "this program has more rights than its caller (set-uid, set-gid or file "
            "capabilities), who made its environment, and vendors' libraries load and "
            "write what variables name: %.*s and %d others are set. They are opened "
            "after the program has emptied it: clearenv() before the first call of isomer",
            (int)strcspn(first, "="), first, count - 1);
    }
    return count == 0;
}

int loader_symbol(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int loader_already_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!handle) {
        return 0;
    }
    (void)dlclose(handle);
    return 1;
}
