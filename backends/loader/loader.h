/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - opens a vendor's library at run time, and reports where it was searched. */
#ifndef ISOMER_LOADER_H
#define ISOMER_LOADER_H

#include <isomer/backend.h>

#include <stdbool.h>
#include <stddef.h>

enum {
    LOADER_NAMES_MAX = 8,
    LOADER_FOLDERS_MAX = 8,
    LOADER_PATH_MAX = 1024,
    LOADER_TRIED_MAX = ISO_REASON_MAX - 512
};

/* A folder that the user names in a variable, and its subfolder with libraries ("": the folder
 * itself). */
typedef struct loader_named {
    const char *variable;
    const char *below[LOADER_FOLDERS_MAX];
} loader_named;

/*
 * Where the libraries of one vendor are searched: first in the user's folders, one folder with all
 * names before the next, then in `folders`. There "" is the loader's own search (LD_LIBRARY_PATH,
 * the cache, the system's folders), and a '*' stands for every matching folder. These are also
 * searched folder by folder, the last match of a '*' first; but with `newest_anywhere` each name is
 * tried in all of them before the next name.
 */
typedef struct loader_where {
    const iso_host *const *host;
    loader_named named[2];
    const char *folders[LOADER_FOLDERS_MAX];
    bool newest_anywhere;
    bool (*refuses)(const char *name, char *why, size_t capacity); /* optional: names to skip */
    const char *advice; /* what the user can do if it is not found: ". Install it" */
} loader_where;

typedef struct loader_function {
    const char *name;
    bool required;
} loader_function;

/* A library to open: static, because opening may run out of memory and is not tried twice. One
 * thread at a time opens it. */
typedef struct loader_library {
    const char *title; /* in messages */
    const loader_where *where;
    const char *names[LOADER_NAMES_MAX]; /* of files, newest first; one with a '/' is a path, and is
                                          * tried before the folders */
    const loader_function *functions;
    void *table; /* gets their addresses, in the same order */
    int function_count;
    void *handle;               /* NULL if it is not open; never closed */
    char path[LOADER_PATH_MAX]; /* of the file */
    char tried[LOADER_TRIED_MAX];
    int refused; /* number of files that were found but could not be used */
} loader_library;

/* `list` is a list of functions, LIST(required, optional), each result, name, parameters. Defines a
 * struct of pointers to them, and the tables that fill such a struct. */
#define LOADER_MEMBER(result, name, parameters)   result(*name) parameters;
#define LOADER_REQUIRED(result, name, parameters) {#name, true},
#define LOADER_OPTIONAL(result, name, parameters) {#name, false},
#define LOADER_TABLE(list)                        {list(LOADER_MEMBER, LOADER_MEMBER)}
#define LOADER_FUNCTIONS(into, list)                                                               \
    .functions = (const loader_function[]){list(LOADER_REQUIRED, LOADER_OPTIONAL)},                \
    .table = &(into), .function_count = (int)(sizeof(into) / sizeof(void (*)(void)))

/* Opens the first file that has every required function. False: `tried` says what was tried and why
 * it was not used. Existing text in `tried` is kept. */
bool loader_open(loader_library *library);
/* Sets `path` to the file that loader_open tries first. Opens nothing if the file can be found
 * without. */
bool loader_find(loader_library *library);
/* Stores the address of a function into the pointer at `function`; false if it is missing. */
bool loader_get(const loader_library *library, const char *name, void *function);
void loader_close(loader_library *library);

/* Adds "WHAT (WHY)" to the list of what was tried. */
void loader_note(loader_library *library, const char *what, const char *why);
/* Fails with "PURPOSETITLE was not found; tried: ...", and what the user can do. */
iso_status loader_fail(const loader_library *library, iso_status status, const char *purpose);
/* "VERSION, PATH", or without a version (NULL) "none; tried: ...": for properties. */
void loader_describe(const loader_library *library, const char *version, char *text,
                     size_t capacity);

/*
 * Opens the library without which a backend has no devices. False: state and reason say why.
 *
 * In a program with more rights than its caller (set-uid, set-gid, file capabilities) the caller
 * made the environment, and vendors' libraries load and write what many variables, HOME and PATH
 * name. There they are opened only after the program has emptied it (clearenv); variables that name
 * no file may remain.
 */
bool loader_open_driver(loader_library *library, iso_probe *out);

/* Whether this library is already loaded in the process. */
bool loader_already_loaded(const char *name);

#endif
