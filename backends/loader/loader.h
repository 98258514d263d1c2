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

/* A folder that the user names in an environment variable, and its subfolders that may have the
 * libraries ("" is the folder itself). */
typedef struct loader_named {
    const char *variable;
    const char *below[LOADER_FOLDERS_MAX];
} loader_named;

/* Debian's folder of libraries for this processor. */
#ifdef __aarch64__
#define LOADER_SYSTEM_FOLDER "/usr/lib/aarch64-linux-gnu"
#else
#define LOADER_SYSTEM_FOLDER "/usr/lib/x86_64-linux-gnu"
#endif

/*
 * Where the libraries of one vendor are searched. The user's folders (`named`) come first, then
 * `folders`. In `folders`, "" is the dynamic loader's own search (LD_LIBRARY_PATH, the cache, the
 * system's folders), and a '*' stands for every matching folder. Normally all names are tried in
 * one folder before the next folder, and the last match of a '*' comes first. With
 * `newest_anywhere`, this is true only for the user's folders: each name is tried in all of
 * `folders` before the next name.
 */
typedef struct loader_where {
    const iso_host *const *host;
    loader_named named[2];
    const char *folders[LOADER_FOLDERS_MAX];
    bool newest_anywhere;
    bool (*refuses)(const char *name, char *why, size_t capacity); /* optional; true: skip it */
    const char *advice; /* what the user can do if it is not found: ". Install it" */
} loader_where;

typedef struct loader_function {
    const char *name;
    bool required;
} loader_function;

/* A library to open. The struct is static, so that opening needs no allocation that could fail: a
 * failed opening is not tried again. Only one thread at a time may open it. */
typedef struct loader_library {
    const char *title; /* in messages */
    const char *since; /* the oldest version that has every required function: "CUDA 11.0" */
    const loader_where *where;
    const char *names[LOADER_NAMES_MAX]; /* file names, newest first; a name with a '/' is a path,
                                            and is tried before the folders */
    const loader_function *functions;
    void *table; /* pointers that get the functions' addresses, in the same order */
    int function_count;
    void *handle;               /* NULL if it is not open; never closed */
    char path[LOADER_PATH_MAX]; /* of the file */
    char tried[LOADER_TRIED_MAX];
    int refused; /* number of files that were found but could not be used */
    /* Optional: writes the version of the open library, such as "CUDA 10.2"; called only if a
     * required function is missing. */
    void (*version)(const struct loader_library *library, char *text, size_t capacity);
} loader_library;

/* `list` is a macro LIST(REQUIRED, OPTIONAL) with an entry (result, name, parameters) for each
 * function. LOADER_TABLE defines a struct of pointers to the functions. LOADER_FUNCTIONS sets the
 * fields of a loader_library that fill such a struct. */
#define LOADER_MEMBER(result, name, parameters)   result(*name) parameters;
#define LOADER_REQUIRED(result, name, parameters) {#name, true},
#define LOADER_OPTIONAL(result, name, parameters) {#name, false},
#define LOADER_TABLE(list)                        {list(LOADER_MEMBER, LOADER_MEMBER)}
#define LOADER_FUNCTIONS(into, list)                                                               \
    .functions = (const loader_function[]){list(LOADER_REQUIRED, LOADER_OPTIONAL)},                \
    .table = &(into), .function_count = (int)(sizeof(into) / sizeof(void (*)(void)))

/* Opens the first file that has every required function. If there is none, returns false. Adds each
 * file that was not used, with the reason, to the text in `tried`. */
bool loader_open(loader_library *library);
/* Sets `path` to the file that loader_open would try first. Does not open the file, unless only the
 * dynamic loader can find it. */
bool loader_find(loader_library *library);
/* Stores the address of a function into the pointer at `function`. Returns false if the library
 * does not have the function. */
bool loader_get(const loader_library *library, const char *name, void *function);
void loader_close(loader_library *library);

/* Adds "WHAT (WHY)" to `tried`. */
void loader_note(loader_library *library, const char *what, const char *why);
/* Fails with a message: `purpose`, the title (with no space between these two), "was not found;
 * tried: ...", and what the user can do. */
iso_status loader_fail(const loader_library *library, iso_status status, const char *purpose);
/* Writes the value of a property: "VERSION, PATH", or "none; tried: ..." if the version is NULL. */
void loader_describe(const loader_library *library, const char *version, char *text,
                     size_t capacity);

/*
 * Opens the library that a backend needs to have any devices. If that fails, returns false, with
 * the state and the reason in `out`.
 *
 * A program may have more rights than its caller (set-uid, set-gid, file capabilities). Its
 * environment comes from that caller, and vendors' libraries load and write files that HOME, PATH
 * and many other variables name. Such a program must therefore clear its environment (clearenv)
 * before the libraries are opened. Variables that name no file may remain.
 */
bool loader_open_driver(loader_library *library, iso_probe *out);

/* Whether this library is already loaded in the process. */
bool loader_already_loaded(const char *name);

#endif
