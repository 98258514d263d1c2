/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - opening a vendor's library at run time, and saying afterwards where it was looked for.
 */
#ifndef ISOMER_LOADER_H
#define ISOMER_LOADER_H

#include <stdint.h>

/*
 * Each folder is tried in order with each name in order. The folder "" stands for the loader's own
 * search (LD_LIBRARY_PATH, the cache, the system's folders); where it is not in the list it comes
 * last. NULL folders are skipped. A name with a '/' in it is a path and is tried alone, before the
 * folders.
 */
typedef struct loader_search {
    const char *const *names;
    int name_count;
    const char *const *folders;
    int folder_count;
    char *tried; /* gets a readable list of what was tried and why it failed; may be NULL */
    int64_t tried_capacity;
    int refused; /* set by loader_open: how many files were there and could not be used */
} loader_search;

/*
 * The handle (RTLD_NOW | RTLD_LOCAL, meant to be kept for the process's life), or NULL.
 * `path_opened` (may be NULL) gets the file's path. What is in `tried` already is kept and added
 * to, so that several searches can make one list: begin with an empty string.
 */
void *loader_open(loader_search *search, char *path_opened, int64_t capacity);

/* A list of folders for a search, made one by one. What does not fit is left out. */
enum { LOADER_PLACES_MAX = 24 };
typedef struct loader_places {
    const char *folders[LOADER_PLACES_MAX];
    int count;
    int used;
    char text[4096];
} loader_places;

/* Adds prefix/below, or prefix where below is "". Adds nothing where prefix (a setting, a variable
 * of the environment) is NULL or empty. */
void loader_place(loader_places *places, const char *prefix, const char *below);
/* Adds the loader's own search. */
void loader_place_own_search(loader_places *places);

/*
 * Whether vendors' libraries may be opened in the environment of this process. In a program with
 * more rights than its caller (set-uid, set-gid, file capabilities) the caller made the
 * environment, and these libraries load and write what many variables of theirs, HOME and PATH
 * name. So there they are not opened before the program has emptied it (clearenv); variables that
 * name no file may stay. Where they may not, `why` gets the reason.
 */
int loader_environment_allows(char *why, int64_t capacity);

/* The address of a symbol, stored into the function pointer at `function`; 0 if it is not there. */
int loader_symbol(void *library, const char *name, void *function);

/* Whether the process has this library loaded, by whomever. */
int loader_already_loaded(const char *name);

#endif
