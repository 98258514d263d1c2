/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the known backends, and the backend and device that a spec names. */
#ifndef ISOMER_CORE_REGISTRY_H
#define ISOMER_CORE_REGISTRY_H

#include "core/error.h"

#include <pthread.h>

typedef struct core_backend {
    char name[ISO_NAME_MAX];
    const char *origin;      /* "built in" or the path */
    iso_backend_query query; /* NULL for a plug-in */
    bool is_plugin;
    bool is_last; /* the last built-in, to which `auto` falls back */
    pthread_mutex_t lock;
    /* The fields below are guarded by the lock. */
    bool loaded;
    bool touched; /* probing it reached a driver in this process */
    bool forked;  /* the parent reached the driver before fork(), so this process cannot use it */
    iso_backend table; /* the core's copy, extended with zeros */
    iso_probe probe;   /* the last answer; its state is 0 before the first */
    struct core_backend *next;
} core_backend;

typedef struct core_builtin {
    const char *name;
    iso_backend_query query;
} core_builtin;
extern const core_builtin core_builtins[]; /* ends with a NULL name */
/* Names of plug-ins with engines that join the processes that mpirun started; ends with NULL. */
extern const char *const core_engines[];
/* One for each built-in. They are static, so that a lack of memory cannot hide any. */
extern core_backend core_builtin_backends[];

core_backend *core_backend_builtin(int i);
/* Finds a backend without loading it; *out is NULL if no backend has that name. NO_MEMORY if the
 * search could not be completed. */
iso_status core_backend_find(const char *call, const char *name, core_backend **out);
/* All backends: built-ins in order, then plug-ins by name. The caller frees the list. NULL if there
 * is no memory. */
core_backend **core_backend_list(int *count);
/* Loads and probes a backend. Unless its state is ISO_STATE_OK, the answer has a reason. NO_MEMORY
 * if the state could not be found out. */
iso_status core_backend_probe(const char *call, core_backend *backend, iso_probe *out);
/* Loads and probes a backend; UNAVAILABLE, with the reason, unless it is usable. */
iso_status core_backend_ready(const char *call, core_backend *backend, int32_t *devices);
/* Loads a plug-in or built-in into backend->table. If it returns false, *out says why. */
bool core_backend_load(core_backend *backend, iso_probe *out);
/* Implements iso_host.open_part. */
void *core_plugin_part(const char *path, char *problem, size_t room);
bool core_name_valid(const char *name);
/* Calls `visit` with each folder to search, until it returns false. Returns false only if there is
 * no memory to list the folders. */
bool core_plugin_folders(bool (*visit)(const char *folder, void *context), void *context);
/* Checks the entries of ISOMER_BACKEND_PATH and the library's own folder. If one is ignored, sets
 * `problem` to the reason for the first; otherwise leaves `problem` unchanged. */
void core_plugin_path_problem(const char *path, char *problem, size_t room);
/* The device's description, completed by the core. */
iso_status core_backend_device_info(const char *call, core_backend *backend, int32_t index,
                                    iso_device_info *out);
/* UNAVAILABLE, with the reason, if the device is broken. */
iso_status core_backend_device_usable(const char *call, core_backend *backend, int32_t index);

/* ---- specs ----------------------------------------------------------------------------------- */

struct core_physical;

typedef struct core_choice {
    struct core_physical *physical; /* opened */
    core_text story;                /* how the device was chosen */
    core_text passed;               /* the backend's devices that were skipped, and why */
} core_choice;

iso_status core_select(const char *call, const char *spec, core_choice *out);
/* Sets `problem` to the reason why a spec is malformed, or "". Loads nothing. */
void core_spec_problem(const char *spec, char *problem, size_t room);
/* The same for a list of required backends, which must not contain `auto`. */
void core_require_problem(const char *list, char *problem, size_t room);

int core_edit_distance(const char *a, const char *b);

#endif
