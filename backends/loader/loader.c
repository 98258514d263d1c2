/* SPDX-License-Identifier: Apache-2.0 */
/* loader.c - implements loader.h. */
#include "backends/loader/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what was tried -------------------------------------------------------------------------- */

void loader_note(loader_library *library, const char *what, const char *why)
{
    const size_t used = strlen(library->tried);
    (void)snprintf(library->tried + used, sizeof library->tried - used, "%s%s (%s)",
                   used > 0 ? ", " : "", what, why);
}

static const char *trouble(const loader_library *library)
{
    return library->refused > 0 ? "was found but cannot be used" : "was not found";
}

iso_status loader_fail(const loader_library *library, iso_status status, const char *purpose)
{
    return (*library->where->host)
        ->fail(status, "%s%s %s; tried: %s%s", purpose, library->title, trouble(library),
               library->tried, library->where->advice);
}

void loader_describe(const loader_library *library, const char *version, char *text,
                     size_t capacity)
{
    (void)snprintf(text, capacity, "%s%s%s",
                   version ? version : "none; tried: ", version ? ", " : "",
                   version ? library->path : library->tried);
}

/* ---- where to search ------------------------------------------------------------------------- */

enum { PLACES_MAX = 24 };

/* The folders in the order of the search. The first `named` of them are the user's. */
typedef struct places {
    const char *folders[PLACES_MAX];
    int count;
    int named;
    size_t used;
    char text[8192];
} places;

/* Adds a folder to the list. Leaves it out if it is missing or does not fit. A missing folder is
 * noted here, so that the message names it once, and not once for each library name. */
static void place(loader_library *library, places *list, const char *prefix, const char *below)
{
    struct stat about;
    const size_t room = sizeof list->text - list->used;
    char *text = list->text + list->used;
    const int length = snprintf(text, room, "%s%s%s", prefix, below[0] ? "/" : "", below);
    if (list->count == PLACES_MAX || length < 0 || (size_t)length >= room) {
        return;
    }
    if (length > 0 && (stat(text, &about) != 0 || !S_ISDIR(about.st_mode))) {
        loader_note(library, text, "no such folder");
        return;
    }
    list->folders[list->count++] = text;
    list->used += (size_t)length + 1;
}

static void place_matches(loader_library *library, places *list, const char *pattern)
{
    glob_t found = {.gl_pathc = 0};
    const size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = library->where->newest_anywhere ? i : count - 1 - i;
        place(library, list, found.gl_pathv[at], "");
    }
    globfree(&found);
}

static void list_places(loader_library *library, places *list)
{
    const loader_where *where = library->where;
    list->count = 0;
    list->used = 0;
    for (size_t i = 0; i < sizeof where->named / sizeof where->named[0]; i++) {
        const loader_named *named = &where->named[i];
        char why[256] = "";
        const char *prefix = named->variable
                                 ? (*where->host)->path(named->variable, why, (int64_t)sizeof why)
                                 : NULL;
        if (why[0]) {
            loader_note(library, named->variable, why);
        }
        for (int j = 0; prefix && prefix[0] && j < LOADER_FOLDERS_MAX && named->below[j]; j++) {
            place(library, list, prefix, named->below[j]);
        }
    }
    list->named = list->count;
    for (int i = 0; i < LOADER_FOLDERS_MAX && where->folders[i]; i++) {
        if (strchr(where->folders[i], '*')) {
            place_matches(library, list, where->folders[i]);
        } else {
            place(library, list, where->folders[i], "");
        }
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

/* dlerror begins with the path, which the list already shows. */
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

/* Whether the text ends with the system's message for a missing file, in any language. */
static bool is_missing(const char *text)
{
    char room[256];
    const char *missing = strerror_r(ENOENT, room, sizeof room);
    size_t length = strlen(missing);
    size_t whole = strlen(text);
    return whole >= length && strcmp(text + whole - length, missing) == 0;
}

static bool open_path(loader_library *library, bool own_search)
{
    const char *path = library->path;
    if (!own_search && access(path, F_OK) != 0) {
        loader_note(library, path, "no such file");
        return false;
    }
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) {
        const char *text = dlerror();
        const char *why = text ? without_path(text, path) : "dlopen failed";
        /* The text of dlerror begins with the path of a file that could not be used, or with the
         * name of a missing dependency. If it begins with the requested name, the file was not
         * found, or there was no memory to load it. */
        if (own_search && text && why != text && is_missing(why)) {
            loader_note(library, path, "not found in the loader's path");
        } else {
            library->refused++;
            loader_note(library, path, why);
        }
        return false;
    }
    struct link_map *map = NULL;
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name &&
        map->l_name[0]) {
        (void)snprintf(library->path, sizeof library->path, "%s", map->l_name);
    }
    return true;
}

/* Notes the missing function, the oldest version that has it and, if it can be asked, the version
 * of this file. */
static void note_missing(loader_library *library, const char *function)
{
    char version[64] = "";
    char why[256];
    if (library->version) {
        library->version(library, version, sizeof version);
    }
    (void)snprintf(why, sizeof why, "has no function %s%s%s%s%s", function,
                   version[0] ? "; it supports " : "", version,
                   library->since ? "; the oldest usable version is " : "",
                   library->since ? library->since : "");
    loader_note(library, library->path, why);
    library->refused++;
}

static bool find_functions(loader_library *library)
{
    void *address = NULL;
    for (int i = 0; i < library->function_count; i++) {
        const loader_function *function = &library->functions[i];
        if (!loader_get(library, function->name, &address) && function->required) {
            note_missing(library, function->name);
            loader_close(library);
            return false;
        }
        memcpy((char *)library->table + (size_t)i * sizeof address, &address, sizeof address);
    }
    return true;
}

/* Tries one file, by folder and name. If `open` is false, only checks that the file can be read. A
 * name without a folder is opened even then, because only the dynamic loader knows where it would
 * find the file. */
static bool try_file(loader_library *library, const char *folder, const char *name, bool open)
{
    const bool own_search = !folder[0] && !strchr(name, '/');
    const int length =
        snprintf(library->path, sizeof library->path, "%s%s%s", folder, folder[0] ? "/" : "", name);
    if (length < 0 || (size_t)length >= sizeof library->path) {
        loader_note(library, folder[0] ? folder : name, "its path is too long");
    } else if (!open && !own_search) {
        if (access(library->path, R_OK) == 0) {
            return true;
        }
    } else if (open_path(library, own_search) && (!open || find_functions(library))) {
        return true;
    }
    library->path[0] = '\0';
    return false;
}

static bool search_in(loader_library *library, const places *list, bool open)
{
    const loader_where *where = library->where;
    const char *names[LOADER_NAMES_MAX];
    int count = 0;
    for (int i = 0; i < LOADER_NAMES_MAX && library->names[i]; i++) {
        const char *name = library->names[i];
        char why[96];
        if (strchr(name, '/')) {
            if (try_file(library, "", name, open)) {
                return true;
            }
        } else if (where->refuses && where->refuses(name, why, sizeof why)) {
            loader_note(library, name, why);
        } else {
            names[count++] = name;
        }
    }
    const int by_folder = where->newest_anywhere ? list->named : list->count;
    for (int i = 0; i < by_folder; i++) {
        for (int name = 0; name < count; name++) {
            if (try_file(library, list->folders[i], names[name], open)) {
                return true;
            }
        }
    }
    for (int name = 0; name < count; name++) {
        for (int i = by_folder; i < list->count; i++) {
            if (try_file(library, list->folders[i], names[name], open)) {
                return true;
            }
        }
    }
    return false;
}

static bool search(loader_library *library, bool open)
{
    /* Static, because the list is too large for a small stack, and an allocation could fail. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static places list;
    static const places own_search = {.folders = {""}, .count = 1};
    library->path[0] = '\0';
    if (!library->where->folders[0]) {
        return search_in(library, &own_search, open);
    }
    (void)pthread_mutex_lock(&lock);
    list_places(library, &list);
    const bool found = search_in(library, &list, open);
    (void)pthread_mutex_unlock(&lock);
    return found;
}

bool loader_open(loader_library *library)
{
    return search(library, true);
}

bool loader_find(loader_library *library)
{
    if (library->handle) {
        return true;
    }
    const bool found = search(library, false);
    library->handle = NULL;   /* opened without looking up its functions */
    library->tried[0] = '\0'; /* loader_open notes everything again */
    return found;
}

bool loader_get(const loader_library *library, const char *name, void *function)
{
    void *address = dlsym(library->handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

void loader_close(loader_library *library)
{
    (void)dlclose(library->handle);
    library->handle = NULL;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* Returns true if the variable is safe: it does not make any library load or write a file. */
static bool is_harmless(const char *variable)
{
    static const char *const names[] = {"LANG", "LANGUAGE", "TERM", "USER", "LOGNAME"};
    static const char *const beginnings[] = {"ISOMER_", "LC_"};
    static const char ending[] = "_VISIBLE_DEVICES";
    const size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (length == strlen(names[i]) && strncmp(variable, names[i], length) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return length >= sizeof ending &&
           strncmp(variable + length - (sizeof ending - 1), ending, sizeof ending - 1) == 0;
}

static bool environment_allows(char *why, size_t capacity)
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
            why, capacity,
            "this program has more rights than its caller (set-uid, set-gid or file capabilities), "
            "and its environment comes from that caller. Vendors' libraries load and write files "
            "that environment variables name; %.*s and %d others are set. The libraries are opened "
            "only if the program calls clearenv() before the first call of isomer",
            (int)strcspn(first, "="), first, count - 1);
    }
    return count == 0;
}

bool loader_open_driver(loader_library *library, iso_probe *out)
{
    out->state = ISO_STATE_LOAD_FAILED;
    if (!environment_allows(out->reason, sizeof out->reason)) {
        return false;
    }
    if (!loader_open(library)) {
        out->state = library->refused > 0 ? ISO_STATE_LOAD_FAILED : ISO_STATE_NOT_FOUND;
        (void)snprintf(out->reason, sizeof out->reason, "%s %s; tried: %s%s", library->title,
                       trouble(library), library->tried, library->where->advice);
        return false;
    }
    return true;
}

bool loader_already_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!handle) {
        return false;
    }
    (void)dlclose(handle);
    return true;
}
