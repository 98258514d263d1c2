/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot.c - finds gnuplot and runs it on a figure, in a private folder that is removed
 * afterwards. */
#include "bench/report/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 30, HANGS = 2, MOST_MIB = 4 };

/* ---- finding --------------------------------------------------------------------------------- */

static char *find_program(void)
{
    const char *path = getenv("PATH");
    char *copy = record_format("%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
    char *rest = copy, *folder, *found = NULL;
    while (!found && (folder = strsep(&rest, ":"))) {
        struct stat about;
        if (folder[0] != '/') { /* never run one from the working directory */
            continue;
        }
        found = record_format("%s/gnuplot", folder);
        if (stat(found, &about) != 0 || !S_ISREG(about.st_mode) || access(found, X_OK) != 0) {
            free(found);
            found = NULL;
        }
    }
    free(copy);
    return found;
}

/* Returns the path of "stem.ending" in a folder, to be freed. */
static char *path_of(const char *folder, const char *stem, const char *ending)
{
    return record_format("%s/%s.%s", folder, stem, ending);
}

/* Returns the content of a text file, to be freed. NULL: it is missing or empty. */
static char *read_file(const char *path)
{
    size_t length = 0;
    char *text = tool_read(path, MOST_MIB, &length);
    char *copy = text && length > 0 ? record_format("%.*s", (int)length, text) : NULL;
    free(text);
    return copy;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool wait_for(pid_t child, int *status, bool *hung)
{
    struct timespec begin, now, nap = {.tv_nsec = 2000000};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    *hung = false;
    for (;;) {
        pid_t done = waitpid(child, status, WNOHANG);
        if (done == child) {
            return true;
        }
        if (done < 0 && errno != EINTR) {
            return false;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec >= SECONDS && !*hung) {
            *hung = true;
            kill(-child, SIGKILL);
        }
        nanosleep(&nap, NULL);
    }
}

/* Starts gnuplot as the leader of a process group, so that its children can be ended with it.
 * Returns 0 or an errno. */
static int start(const report_plotter *plotter, char *const *arguments, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t before, defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGXFSZ); /* isomer ignores it; gnuplot should not */
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    tool_signals_hold(&before);
    if ((error =
             posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETSIGDEF)) == 0 &&
        (error = posix_spawnattr_setsigmask(&attributes, &before)) == 0 &&
        (error = posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
        (error = posix_spawn_file_actions_addchdir_np(&actions, plotter->folder)) == 0 &&
        (error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (error = posix_spawn_file_actions_addopen(&actions, 1, "gnuplot.said",
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0600)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, 1, 2)) == 0) {
        error = posix_spawn(child, plotter->program, &actions, &attributes, arguments, environ);
    }
    tool_signals_child(error == 0 ? *child : 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Runs gnuplot. Returns the last line of its output, to be freed; NULL: it wrote nothing. */
static char *run(report_plotter *plotter, char *const *arguments, bool *good, bool *hung)
{
    pid_t child;
    int status = 0, error = start(plotter, arguments, &child);
    *hung = false;
    *good = false;
    if (error != 0) {
        return record_format("%s", strerror(error));
    }
    *good =
        wait_for(child, &status, hung) && !*hung && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    tool_signals_child(0);
    char *path = path_of(plotter->folder, "gnuplot", "said");
    char *text = read_file(path);
    unlink(path);
    free(path);
    if (text) {
        size_t end = strlen(text);
        while (end > 0 && text[end - 1] == '\n') {
            text[--end] = '\0';
        }
        char *line = strrchr(text, '\n');
        if (line) {
            memmove(text, line + 1, strlen(line));
        }
    }
    return text;
}

void report_plotter_open(report_plotter *plotter, const char *data)
{
    const char *where = getenv("TMPDIR");
    *plotter = (report_plotter){.data = data, .program = find_program()};
    if (!plotter->program) {
        tool_error(0, "gnuplot is not on PATH: the report has tables instead of plots; install "
                      "gnuplot-nox for plots");
        return;
    }
    plotter->folder =
        record_format("%s/isomer-report.XXXXXX", where && where[0] == '/' ? where : "/tmp");
    sigset_t before;
    tool_signals_watch();
    tool_signals_hold(&before);
    bool made = mkdtemp(plotter->folder) != NULL;
    if (made) {
        tool_signals_folder(plotter->folder);
    }
    int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!made) {
        tool_error(0,
                   "cannot create the temporary folder %s: %s; the report has tables instead of "
                   "plots",
                   plotter->folder, strerror(why));
        free(plotter->folder);
        free(plotter->program);
        plotter->folder = plotter->program = NULL;
        return;
    }
    bool good, hung;
    char *arguments[] = {plotter->program, (char[]){"--version"}, NULL};
    plotter->version = run(plotter, arguments, &good, &hung);
    if (good && plotter->version) {
        return;
    }
    tool_error(0, "%s --version %s: the report has tables instead of plots", plotter->program,
               hung ? "does not end" : "fails");
    free(plotter->program);
    plotter->program = NULL;
}

void report_plotter_close(report_plotter *plotter)
{
    if (plotter->folder) {
        tool_folder_remove();
    }
    free(plotter->folder);
    free(plotter->program);
    free(plotter->version);
    *plotter = (report_plotter){0};
}

/* ---- figures --------------------------------------------------------------------------------- */

bool report_save(const char *folder, const char *name, void (*write)(FILE *out, const void *what),
                 const void *what)
{
    tool_file file = {0};
    char *path = record_format("%s/%s", folder, name);
    bool good = tool_file_open(&file, path) == TOOL_OK;
    if (good) {
        write(file.stream, what); /* an error of the stream makes the commit fail */
        good = tool_file_commit(&file) == TOOL_OK;
    }
    free(path);
    return good;
}

bool report_save_figure(const char *folder, const report_figure *figure)
{
    char *data = record_format("%s.dat", figure->name);
    char *script = record_format("%s.gp", figure->name);
    bool has_data = report_save(folder, data, report_figure_data, figure);
    bool has_script = report_save(folder, script, report_figure_script, figure);
    free(data);
    free(script);
    return has_data && has_script;
}

static void forget(const report_plotter *plotter, const report_figure *figure)
{
    static const char *const endings[] = {"dat", "gp", "svg"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path = path_of(plotter->folder, figure->name, endings[i]);
        unlink(path);
        free(path);
    }
}

char *report_plotter_run(report_plotter *plotter, const report_figure *figure)
{
    if (!plotter->program) {
        return NULL;
    }
    char *svg = NULL, *said = NULL, *script = record_format("%s.gp", figure->name);
    char *path = path_of(plotter->folder, figure->name, "svg");
    bool good = false, hung = false;
    if (report_save_figure(plotter->folder, figure)) {
        char *arguments[] = {plotter->program,     (char[]){"-d"}, (char[]){"-e"},
                             (char[]){"report=1"}, script,         NULL};
        said = run(plotter, arguments, &good, &hung);
        svg = good ? read_file(path) : NULL;
    }
    if (!svg) {
        plotter->hung += hung;
        tool_error(0, "gnuplot %s on the figure \"%s\"%s%s: the report has a table instead",
                   hung ? "did not end in 30 s" : "failed", figure->title, said ? ": " : "",
                   said ? said : "");
    }
    forget(plotter, figure);
    if (plotter->hung == HANGS) {
        tool_error(0, "gnuplot hung twice: all further figures are tables");
        free(plotter->program);
        plotter->program = NULL;
    }
    free(said);
    free(script);
    free(path);
    return svg;
}
