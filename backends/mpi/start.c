/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - the MPI library of this process: which one it is, who started the process, and when MPI
 * is initialised and finalised. */
#include "backends/mpi/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_WAIT = 1000000000 /* ns */, LINGER = 3 /* s */ };

atomic_int mpi_busy;
static mpi_rank *ranks_first; /* guarded by the lock, as the next one */
static bool started;
static atomic_int tainted;
static atomic_int owner; /* the process that uses MPI; 0: not yet */

/* ---- the library ----------------------------------------------------------------------------- */

/* "Open MPI v4.1.4, package: ..." or "MPICH Version:\t4.0.2\n..." to "NAME VERSION". */
static void shorten(const char *text, char *label, size_t room)
{
    const char *version = strpbrk(text, "0123456789");
    int name = version ? (int)(version - text) : 0;
    const char *colon = strchr(text, ':');

    if (!version || name > 40) {
        snprintf(label, room, "%.*s", (int)strcspn(text, ",\n"), text);
        return;
    }
    if (colon && colon < version && !strncmp(colon - strlen(" Version"), " Version", 8)) {
        name = (int)(colon - text) - (int)strlen(" Version");
    } else if (name > 0 && version[-1] == 'v') {
        name--;
    }
    while (name > 0 && text[name - 1] == ' ') {
        name--;
    }
    snprintf(label, room, "%.*s %.*s", name, text, (int)strcspn(version, ", \t\n"), version);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char library_text[MPI_MAX_LIBRARY_VERSION_STRING + 1], library_label[ISO_NAME_MAX];

/* If another MPI was loaded for the whole process, the function is that one's. Its form is the same
 * in all of them. */
static void ask_library(void)
{
    int length = 0;

    if (MPI_Get_library_version(library_text, &length)) {
        library_text[0] = 0;
    }
    shorten(library_text, library_label, sizeof library_label);
}

iso_status mpi_library(char *label, size_t room)
{
    pthread_once(&once, ask_library);
    snprintf(label, room, "%s", library_label);
    if (!strstr(library_text, MPI_PLUGIN_LIBRARY) &&
        !(MPI_PLUGIN_OTHER[0] && strstr(library_text, MPI_PLUGIN_OTHER))) {
        return MPI_FAIL(ISO_UNAVAILABLE,
                        "%s needs %s, but the MPI that this process has loaded is \"%s\": use the "
                        "engine of that MPI",
                        MPI_PLUGIN, MPI_PLUGIN_LIBRARY, library_label);
    }
    return ISO_OK;
}

/* ---- the launcher ---------------------------------------------------------------------------- */

/* Why no launcher of this MPI started the process; "" if one did. Written once, before MPI is
 * initialised: Open MPI then sets these variables by itself. Guarded by the lock. */
static char launcher_problem[MPI_WHY_MAX];
static bool launcher_known;

static void look_for_launcher(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_SIZE");
    const char *hydra = getenv("MPI_LOCALNRANKS");
    const char *other = MPI_PLUGIN_IS_OPEN ? (open_mpi ? NULL : hydra) : open_mpi;

    if (launcher_known) {
        return;
    }
    launcher_known = true;
    if (other) {
        snprintf(launcher_problem, sizeof launcher_problem,
                 "this process was started by the launcher of %s (%s is set), and %s would see one "
                 "process alone: use the engine %s, or start it with %s",
                 MPI_PLUGIN_IS_OPEN ? "MPICH" : "Open MPI",
                 MPI_PLUGIN_IS_OPEN ? "MPI_LOCALNRANKS" : "OMPI_COMM_WORLD_SIZE",
                 MPI_PLUGIN_LIBRARY, MPI_PLUGIN_IS_OPEN ? "mpich" : "openmpi", MPI_PLUGIN_LAUNCHER);
    } else if (!open_mpi && !getenv("PMI_RANK") && !getenv("PMI_SIZE") && !getenv("PMIX_RANK")) {
        snprintf(launcher_problem, sizeof launcher_problem,
                 "this process was not started by %s (OMPI_COMM_WORLD_SIZE, PMI_RANK, PMI_SIZE and "
                 "PMIX_RANK are unset): start the program with `%s -np 2 PROGRAM`",
                 MPI_PLUGIN_LIBRARY, MPI_PLUGIN_LAUNCHER);
    }
}

static iso_status check_launcher(void)
{
    return launcher_problem[0] ? MPI_FAIL(ISO_UNAVAILABLE, "%s", launcher_problem) : ISO_OK;
}

/* The launcher's number of processes; 1 if it does not say. */
static int launched(void)
{
    const char *text = getenv(MPI_PLUGIN_IS_OPEN ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE");
    const long number = text ? strtol(text, NULL, 10) : 1;

    return number > 1 && number < 1 << 30 ? (int)number : 1;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void mpi_taint(void)
{
    tainted = 1;
}

void mpi_add(mpi_rank *rank)
{
    rank->next = ranks_first;
    ranks_first = rank;
}

void mpi_remove(mpi_rank *rank)
{
    mpi_rank **at = &ranks_first;

    while (*at && *at != rank) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = rank->next;
    }
}

static void *finalise(void *unused)
{
    (void)MPI_Finalize();
    return unused;
}

/* Finalising waits for the other processes, and a launcher ends the job if one ends without it. But
 * after a failure, or while a thread is still in MPI, it could wait for ever: then it gets a while,
 * in which the other processes hear of the failure and report it too. The lock is kept, so that no
 * thread calls MPI any more. */
static void at_exit(void)
{
    struct timespec end = {0};
    pthread_t thread;
    int over = 0;

    if (owner != getpid() || !mpi_lock_within(EXIT_WAIT) || MPI_Finalized(&over) || over) {
        return;
    }
    for (mpi_rank *at = ranks_first; at; at = at->next) {
        (void)mpi_cancel(&at->listen);
    }
    if (!tainted && !mpi_busy) {
        (void)MPI_Finalize();
    } else if (!clock_gettime(CLOCK_REALTIME, &end) &&
               !pthread_create(&thread, NULL, finalise, NULL)) {
        end.tv_sec += LINGER;
        (void)pthread_timedjoin_np(thread, NULL, &end);
    }
}

static iso_status initialise(void)
{
    int granted = MPI_THREAD_SINGLE;
    const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &granted);

    if (code) {
        char text[MPI_WHY_MAX];

        mpi_explain(text, sizeof text, "MPI_Init_thread", code);
        return MPI_FAIL(ISO_UNAVAILABLE, "%s: %s", MPI_PLUGIN, text);
    }
    owner = getpid();
    (void)atexit(at_exit);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return ISO_OK;
}

/* Called with the lock. MPI is initialised. */
static iso_status check_started(bool alone)
{
    int size = 1, level = MPI_THREAD_SINGLE;

    if (MPI_Query_thread(&level) || level < MPI_THREAD_SERIALIZED) {
        return MPI_FAIL(ISO_UNAVAILABLE,
                        "%s: MPI grants thread level %d, but isomer calls it from threads of its "
                        "own: the program has to initialise it with MPI_Init_thread and "
                        "MPI_THREAD_MULTIPLE (%d), or not at all",
                        MPI_PLUGIN, level, MPI_THREAD_MULTIPLE);
    }
    if (alone) {
        return ISO_OK;
    }
    if (MPI_Comm_size(MPI_COMM_WORLD, &size) || size > 1) {
        return ISO_OK; /* whoever started them, they are one world */
    }
    if (launched() > 1) {
        return MPI_FAIL(ISO_UNAVAILABLE,
                        "%s: the launcher started %d processes, but %s sees one alone: start them "
                        "with the launcher of the same MPI (%s)",
                        MPI_PLUGIN, launched(), MPI_PLUGIN_LIBRARY, MPI_PLUGIN_LAUNCHER);
    }
    return check_launcher();
}

/* Called with the lock. */
static iso_status start(bool alone)
{
    iso_status status = ISO_OK;
    char label[ISO_NAME_MAX];
    int over = 0, begun = 0;

    if (!started) {
        status = mpi_library(label, sizeof label);
    }
    if (status) {
        return status;
    }
    if (MPI_Finalized(&over) || over) {
        return MPI_FAIL(ISO_UNAVAILABLE,
                        "%s: MPI was finalised, and cannot begin again in this process",
                        MPI_PLUGIN);
    }
    look_for_launcher();
    if (MPI_Initialized(&begun) || !begun) {
        status = alone ? ISO_OK : check_launcher();
        if (!status) {
            status = initialise();
        }
    }
    if (!status) {
        owner = getpid();
        started = true;
        status = check_started(alone);
    }
    return status;
}

static iso_status check_fork(void)
{
    const int first = owner;

    return first && first != getpid()
               ? MPI_FAIL(ISO_UNAVAILABLE,
                          "%s: the parent process used MPI before fork(), and a child cannot use "
                          "it: start a new program instead",
                          MPI_PLUGIN)
               : ISO_OK;
}

iso_status mpi_start(bool alone)
{
    iso_status status = check_fork();

    if (!status) {
        mpi_lock();
        status = start(alone);
        mpi_unlock();
    }
    return status;
}

iso_status mpi_alive(void)
{
    const iso_status status = check_fork();
    int over = 0;

    if (!status && (MPI_Finalized(&over) || over)) {
        return MPI_FAIL(ISO_UNAVAILABLE,
                        "%s: MPI was finalised before the last call of a communicator", MPI_PLUGIN);
    }
    return status;
}

iso_status mpi_world(int32_t *rank, int32_t *ranks)
{
    iso_status status = mpi_start(false);
    int number = 0, size = 0, code = 0;

    if (status) {
        return status;
    }
    mpi_lock();
    code = MPI_Comm_rank(MPI_COMM_WORLD, &number);
    if (!code) {
        code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    if (code) {
        char text[MPI_WHY_MAX];

        mpi_explain(text, sizeof text, "MPI_Comm_rank", code);
        status = MPI_FAIL(ISO_BACKEND, "%s: %s", MPI_PLUGIN, text);
    } else {
        *rank = number;
        *ranks = size;
    }
    mpi_unlock();
    return status;
}
