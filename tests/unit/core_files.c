/* SPDX-License-Identifier: Apache-2.0 */
/* core_files.c - the files that the library opens inside the program's process: their descriptors,
 * modes and sizes. Each case runs in a child process because it changes process-wide state. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char base[512];   /* removed at the end */
static char folder[800]; /* the cache */

static int setup(void **state)
{
    (void)state;
    unit_make_folder(base, sizeof base);
    snprintf(folder, sizeof folder, "%s/cache", base);
    setenv("ISOMER_CACHE_DIR", folder, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_remove_folder(base);
    return 0;
}

/* Runs in a child; its exit code is the line of the failed check. */
#define SO(condition)                                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static void in_child(void (*body)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        alarm(100);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        fail_msg("the child was ended by signal %d", WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
        fail_msg("line %d, or that and a multiple of 250: not so", WEXITSTATUS(status) - 1);
    }
}

/* Whether the plug-in gives this answer to a command. */
static bool answers(const char *order, const char *expected)
{
    iso_device device;

    setenv("UNIT_CACHE", order, 1);
    return iso_device_open("unit-cache", &device) == ISO_UNAVAILABLE &&
           strstr(iso_last_error(), expected);
}

/* The one entry in the cache. */
static void entry_path(char *path, size_t room)
{
    char command[1000];
    FILE *list;

    snprintf(command, sizeof command, "ls -d %s/????????????????????????????????", folder);
    list = popen(command, "r");
    SO(list && fgets(path, (int)room, list));
    pclose(list);
    path[strcspn(path, "\n")] = 0;
}

static bool all_closed(void)
{
    for (int i = 0; i < 3; i++) {
        if (fcntl(i, F_GETFD) >= 0 || errno != EBADF) {
            return false;
        }
    }
    return true;
}

static void with_outputs_closed(void)
{
    char path[700];
    iso_device device;
    iso_stream stream;
    iso_buffer buffer;

    snprintf(path, sizeof path, "%s/trace", base);
    setenv("ISOMER_TRACE", path, 1);
    setenv("ISOMER_LOG", "debug", 1);
    for (int i = 0; i < 3; i++) {
        close(i);
    }
    SO(!iso_device_open("openmp", &device) && all_closed());
    SO(answers("store closed data", "stored: 0") && all_closed());
    SO(answers("load closed", "loaded: data") && all_closed());
    SO(!iso_stream_create(device, 0, &stream) && !iso_buffer_create(device, 64, &buffer));
    SO(!iso_fill(stream, (iso_operand){buffer, 0}, "1234", 4, 64) && !iso_stream_sync(stream));
    SO(!iso_device_close(device) && all_closed());
}

static void test_closed(void **state)
{
    struct stat found;
    char path[700];

    (void)state;
    in_child(with_outputs_closed);
    snprintf(path, sizeof path, "%s/trace", base);
    assert_int_equal(stat(path, &found), 0);
}

static volatile sig_atomic_t signalled;

static void note(int number)
{
    signalled = number;
}

/* Our write raises no signal in the program, whether it has a handler of its own or not. */
static void with_short_files(void)
{
    struct rlimit limit = {4096, 4096};
    struct sigaction action = {.sa_handler = note}, after;
    sigset_t mask, pending;
    static char order[16384], path[700];
    iso_device device;
    int output;

    snprintf(path, sizeof path, "%s/output", base);
    output = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SO(output >= 0 && dup2(output, 2) == 2 && lseek(2, 4096, SEEK_SET) == 4096);
    snprintf(path, sizeof path, "%s/long-trace", base);
    setenv("ISOMER_TRACE", path, 1);
    setenv("ISOMER_LOG", "debug", 1);
    memset(order, 'x', sizeof order - 1);
    memcpy(order, "store long ", 11);
    SO(!setrlimit(RLIMIT_FSIZE, &limit));
    SO(answers(order, "stored: -1"));
    SO(answers("store short data", "stored: 0"));
    SO(!sigaction(SIGXFSZ, &action, NULL));
    SO(answers(order, "stored: -1") && !signalled);
    SO(!sigaction(SIGXFSZ, NULL, &after) && after.sa_handler == note);
    SO(!pthread_sigmask(SIG_BLOCK, NULL, &mask) && !sigismember(&mask, SIGXFSZ));
    SO(!sigpending(&pending) && !sigismember(&pending, SIGXFSZ));
    /* A signal that the program itself has pending stays pending. */
    SO(!sigemptyset(&mask) && !sigaddset(&mask, SIGXFSZ) &&
       !pthread_sigmask(SIG_BLOCK, &mask, NULL) && !raise(SIGXFSZ));
    SO(answers(order, "stored: -1"));
    SO(!sigpending(&pending) && sigismember(&pending, SIGXFSZ));
    SO(!iso_device_open("openmp", &device) && !iso_device_close(device));
}

static void test_short(void **state)
{
    (void)state;
    in_child(with_short_files);
}

/* An entry whose length is valid, but far larger than the program's memory. */
static void with_a_huge_entry(void)
{
    const int64_t huge = (int64_t)1 << 31;
    struct rusage before, after;
    char path[900];
    int64_t head[4];
    int file;

    SO(answers("store huge data", "stored: 0"));
    entry_path(path, sizeof path);
    file = open(path, O_RDWR);
    SO(file >= 0 && read(file, head, sizeof head) == sizeof head && head[2] == 4);
    head[2] = huge;
    SO(pwrite(file, head, sizeof head, 0) == sizeof head);
    SO(!ftruncate(file, (off_t)sizeof head + 4 + huge) && !close(file));
    SO(!getrusage(RUSAGE_SELF, &before));
    SO(answers("load huge", "loaded: nothing"));
    SO(!getrusage(RUSAGE_SELF, &after) && after.ru_maxrss - before.ru_maxrss < 256 << 10);
    SO(answers("store huge data", "stored: 0") && answers("load huge", "loaded: data"));
    SO(!unlink(path));
}

static void test_huge(void **state)
{
    (void)state;
    setenv("ISOMER_CACHE_DIR", folder, 1);
    unit_remove_folder(folder);
    in_child(with_a_huge_entry);
}

static void touch(const char *path, time_t age)
{
    struct timespec times[2];
    int file = open(path, O_WRONLY | O_CREAT, 0600);

    SO(file >= 0 && !clock_gettime(CLOCK_REALTIME, &times[0]));
    times[0].tv_sec -= age;
    times[1] = times[0];
    SO(!futimens(file, times) && !close(file));
}

static void with_an_entry(void)
{
    SO(answers("store key data", "stored: 0"));
}

/* Leftovers of other processes block nothing, and are removed when they are old; files that are not
 * temporary stay. */
static void with_stale_files(void)
{
    char path[900], stale[1000], notes[900], other[900];

    entry_path(path, sizeof path);
    for (int i = 0; i < 8; i++) {
        snprintf(stale, sizeof stale, "%s.%ld.%d", path, (long)getpid(), i);
        touch(stale, i % 2 ? 7200 : 60);
    }
    snprintf(notes, sizeof notes, "%s/notes.old", folder);
    touch(notes, 7200);
    touch(path, 7200); /* an entry is not removed, however old */
    snprintf(other, sizeof other, "%s/%.31s.x", folder, strrchr(path, '/') + 1);
    touch(other, 7200);
    SO(answers("store kez data", "stored: 0"));
    SO(answers("store key other", "stored: 0") && answers("load key", "loaded: other"));
    for (int i = 0; i < 8; i++) {
        snprintf(stale, sizeof stale, "%s.%ld.%d", path, (long)getpid(), i);
        SO((access(stale, F_OK) != 0) == (i % 2 != 0));
    }
    SO(!access(notes, F_OK) && !access(other, F_OK) && !access(path, F_OK));
}

static void test_stale(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    in_child(with_an_entry);
    in_child(with_stale_files);
}

/* Accessible only to its user, whatever the umask. */
static void with_umasks(void)
{
    static const mode_t masks[] = {0, 0777, 077};
    struct stat found;
    char path[900], above[700];

    for (int i = 0; i < 3; i++) {
        snprintf(above, sizeof above, "%s/mask%d", base, i);
        snprintf(folder, sizeof folder, "%s/cache", above);
        setenv("ISOMER_CACHE_DIR", folder, 1);
        umask(masks[i]);
        SO(answers("store key data", "stored: 0") && answers("load key", "loaded: data"));
        umask(077);
        entry_path(path, sizeof path);
        SO(!stat(path, &found) && (found.st_mode & 07777) == 0600);
        SO(!stat(folder, &found) && (found.st_mode & 07777) == 0700);
        SO(!stat(above, &found) && (found.st_mode & 07777) == 0700);
    }
}

static void test_umask(void **state)
{
    (void)state;
    in_child(with_umasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed), cmocka_unit_test(test_short), cmocka_unit_test(test_huge),
        cmocka_unit_test(test_stale),  cmocka_unit_test(test_umask),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
