/* SPDX-License-Identifier: Apache-2.0 */
/* check_process.c - temporary files, and programs that `isomer kernel check` runs. */
#include "bench/kernel/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAID_MIB = 16, PAUSE_LEAST = 500000, PAUSE_MOST = 10000000 };

/* ---- files ----------------------------------------------------------------------------------- */

bool check_folder_make(check_run *run)
{
    const char *above = getenv("TMPDIR");
    run->folder = check_text("%s/isomer-check-XXXXXX", above && above[0] ? above : "/tmp");
    if (!mkdtemp(run->folder)) {
        free(run->folder);
        run->folder = NULL;
        return false;
    }
    return true;
}

static int delete_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void check_folder_delete(check_run *run)
{
    enum { OPEN_MOST = 8 };
    if (run->folder) {
        (void)nftw(run->folder, delete_one, OPEN_MOST, FTW_DEPTH | FTW_PHYS);
    }
    free(run->folder);
    run->folder = NULL;
}

char *check_path(const check_run *run, const char *name)
{
    return check_text("%s/%s", run->folder, name);
}

bool check_write(const char *path, const void *data, size_t bytes)
{
    FILE *out = fopen(path, "wbe");
    const bool good = out && fwrite(data, 1, bytes, out) == bytes;
    return out && fclose(out) == 0 && good;
}

/* ---- programs -------------------------------------------------------------------------------- */

char *check_which(const char *name)
{
    if (strchr(name, '/')) {
        return access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
    }
    const char *at = getenv("PATH");
    while (at && *at) {
        const int length = (int)strcspn(at, ":");
        char *path = check_text("%.*s/%s", length, at, name);
        struct stat found;
        if (length > 0 && at[0] == '/' && access(path, X_OK) == 0 && stat(path, &found) == 0 &&
            S_ISREG(found.st_mode)) {
            return path;
        }
        free(path);
        at += length + (at[length] == ':');
    }
    return NULL;
}

/* Both of its outputs go to the file. It leads a group of its own, so that one signal ends it with
 * all that it started. */
static int start(char *const *words, const char *path, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error ? error
                  : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path,
                                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    error =
        error ? error : posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    error = error ? error : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    error = error ? error : posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void await(pid_t pid, double seconds, check_child *out)
{
    const double began = tool_seconds();
    struct timespec pause = {0, PAUSE_LEAST};
    while (waitpid(pid, &out->status, WNOHANG) == 0) {
        out->late = out->late || tool_seconds() - began > seconds;
        if (out->late || tool_stop_asked()) {
            (void)kill(-pid, SIGKILL);
        }
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < PAUSE_MOST ? 2 * pause.tv_nsec : PAUSE_MOST;
    }
    (void)kill(-pid, SIGKILL);
}

bool check_spawn(check_run *run, const char *const *words, double seconds, check_child *out)
{
    char *copy[CHECK_WORDS + 1], *path = check_path(run, "said");
    pid_t pid = 0;
    size_t length = 0;
    int count = 0;
    *out = (check_child){0};
    for (; words[count] && count < CHECK_WORDS; count++) {
        memcpy(&copy[count], &words[count], sizeof copy[count]);
    }
    copy[count] = NULL;
    out->error = start(copy, path, &pid);
    if (!out->error) {
        tool_signals_child(pid);
        await(pid, seconds, out);
        tool_signals_child(0);
    }
    char *said = out->error ? NULL : tool_read(path, SAID_MIB, &length);
    out->said = tool_resize(said, length + 1, 1, "what a program said");
    out->said[said ? length : 0] = '\0';
    free(path);
    return !out->error && !out->late && WIFEXITED(out->status) && WEXITSTATUS(out->status) == 0;
}

void check_child_free(check_child *child)
{
    free(child->said);
    *child = (check_child){0};
}

char *check_child_problem(const check_child *child, const char *name)
{
    if (child->error) {
        return check_text("%s does not start: %s", name, strerror(child->error));
    }
    if (child->late) {
        return check_text("%s did not end in time", name);
    }
    if (WIFSIGNALED(child->status)) {
        return check_text("%s was ended by signal %d", name, WTERMSIG(child->status));
    }
    return check_text("%s: %s", name, child->said[0] ? child->said : "it fails without a message");
}

bool check_again(check_run *run, char *const *settings, const char *const *more, double seconds,
                 check_child *out)
{
    const iso_program_args *given = &run->source.args;
    const char *words[CHECK_WORDS + 1] = {"env"};
    char *defines[CHECK_WORDS], self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int count = 1, used = 0;
    self[length > 0 ? length : 0] = '\0';
    for (; settings && *settings; settings++) {
        words[count++] = *settings;
    }
    words[count++] = self;
    words[count++] = "kernel";
    words[count++] = "check";
    words[count++] = given->name;
    for (; *more; more++) {
        words[count++] = *more;
    }
    if (run->with) {
        words[count++] = "--with";
        words[count++] = run->with;
    }
    for (int32_t i = 0; i < given->macro_count && count < CHECK_WORDS; i++) {
        defines[used] = check_text("--define=%s=%s", given->macros[i].name, given->macros[i].value);
        words[count++] = defines[used++];
    }
    words[count] = NULL;
    const bool good = check_spawn(run, words, seconds, out);
    for (int i = 0; i < used; i++) {
        free(defines[i]);
    }
    return good;
}
