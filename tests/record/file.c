/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - result files during a run: a file on disk is always a complete document.
 *
 *     file all FOLDER          the rules that need nothing from the system
 *     file full FOLDER         the rules for a full disk: FOLDER is on a separate disk of 1 MiB
 */
#include "bench/tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *tool_name = "file";

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL: %s:%d: %s\n", __FILE__, __LINE__, #condition);                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A document with a number and a text of `length` characters. */
static json_t *document(int number, size_t length)
{
    char *rest = malloc(length + 1);
    CHECK(rest != NULL);
    memset(rest, 'x', length);
    rest[length] = '\0';
    json_t *root = json_pack("{s:i, s:s}", "number", number, "rest", rest);
    free(rest);
    CHECK(root != NULL);
    return root;
}

/* The number of the document at `path`; -1: there is no file. Fails if the document is not
 * complete. */
static int number_at(const char *path)
{
    json_error_t error;
    if (access(path, F_OK) != 0) {
        return -1;
    }
    json_t *root = json_load_file(path, 0, &error);
    CHECK(root != NULL);
    int number = (int)json_integer_value(json_object_get(root, "number"));
    json_decref(root);
    return number;
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *open = opendir(folder);
    CHECK(open != NULL);
    for (struct dirent *e = readdir(open); e; e = readdir(open)) {
        count += e->d_name[0] != '.';
    }
    closedir(open);
    return count;
}

static int checkpoint(tool_file *file, int number, size_t length)
{
    json_t *root = document(number, length);
    int code = tool_file_checkpoint(file, root);
    json_decref(root);
    return code;
}

static int finish(tool_file *file, int number, size_t length)
{
    json_t *root = document(number, length);
    int code = tool_file_json(file, root);
    json_decref(root);
    return code;
}

/* The number of lines written to stderr since the last call. */
static int said(FILE *errors)
{
    static long before;
    int lines = 0;
    fflush(stderr);
    fseek(errors, before, SEEK_SET);
    for (int c = fgetc(errors); c != EOF; c = fgetc(errors)) {
        lines += c == '\n';
    }
    before = ftell(errors);
    return lines;
}

static void rules(const char *folder, const char *path)
{
    tool_file file = {0};
    CHECK(tool_file_checkpoint(&file, NULL) == TOOL_OK); /* not requested */

    CHECK(tool_file_open(&file, path) == TOOL_OK && number_at(path) == -1);
    for (int i = 1; i <= 3; i++) {
        CHECK(checkpoint(&file, i, 100000) == TOOL_OK);
        CHECK(number_at(path) == i && files_in(folder) == 2);
    }
    CHECK(checkpoint(&file, 4, 10) == TOOL_OK && number_at(path) == 4); /* shorter */
    struct stat found;
    CHECK(stat(path, &found) == 0 && (found.st_mode & 0777) == 0640);
    CHECK(finish(&file, 5, 10) == TOOL_OK && number_at(path) == 5 && files_in(folder) == 1);

    CHECK(tool_file_open(&file, path) == TOOL_OK && checkpoint(&file, 6, 10) == TOOL_OK);
    tool_file_discard(&file); /* an abandoned run keeps its file */
    CHECK(number_at(path) == 6 && files_in(folder) == 1);
}

/* Outputs other than regular files are written once, at the end. */
static void others(const char *folder)
{
    char pipe[512];
    tool_file file = {0};
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    CHECK(mkfifo(pipe, 0600) == 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *in = fopen(pipe, "r");
        json_t *root = in ? json_loadf(in, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
        bool right = json_integer_value(json_object_get(root, "number")) == 2;
        _exit(right && fgetc(in) == '\n' && fgetc(in) == EOF ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && tool_file_open(&file, pipe) == TOOL_OK);
    CHECK(checkpoint(&file, 1, 10) == TOOL_OK && finish(&file, 2, 10) == TOOL_OK);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(unlink(pipe) == 0);
    CHECK(tool_file_open(&file, "-") == TOOL_OK && checkpoint(&file, 1, 10) == TOOL_OK);
    tool_file_discard(&file);
}

/* A run that is killed at any moment leaves a complete document. */
static void killed(const char *path)
{
    for (int turn = 0; turn < 8; turn++) {
        pid_t child = fork();
        if (child == 0) {
            tool_file file;
            if (tool_file_open(&file, path) != TOOL_OK) {
                _exit(1);
            }
            for (int i = 10;; i++) {
                checkpoint(&file, i, 300000);
            }
        }
        CHECK(child > 0);
        usleep(5000 + 3000 * (useconds_t)turn);
        CHECK(kill(child, turn % 2 ? SIGTERM : SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        CHECK(number_at(path) >= 6);
    }
}

/* If a document is too large for the disk, this is reported once, the last complete document stays,
 * and the run continues. */
static void too_large(const char *path, FILE *errors, size_t length)
{
    tool_file file;
    CHECK(tool_file_open(&file, path) == TOOL_OK && checkpoint(&file, 50, 10) == TOOL_OK);
    said(errors);
    CHECK(checkpoint(&file, 51, length) == TOOL_IO && said(errors) == 1);
    CHECK(number_at(path) == 50);
    CHECK(checkpoint(&file, 52, length) == TOOL_IO && said(errors) == 0);
    CHECK(number_at(path) == 50);
    CHECK(checkpoint(&file, 53, 1000) == TOOL_OK && number_at(path) == 53 && said(errors) == 0);
    CHECK(checkpoint(&file, 54, length) == TOOL_IO && said(errors) == 1 && number_at(path) == 53);
    CHECK(finish(&file, 55, length) == TOOL_IO && said(errors) == 1 && number_at(path) == 53);
}

/* ---- other threads share the umask ----------------------------------------------------------- */

typedef struct maker {
    const char *folder;
    atomic_bool done;
    int wrong, made;
} maker;

static void *make_files(void *given)
{
    maker *m = given;
    char path[512];
    snprintf(path, sizeof path, "%s/.made", m->folder);
    while (!atomic_load(&m->done)) {
        struct stat found;
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        m->wrong += file < 0 || fstat(file, &found) != 0 || (found.st_mode & 0777) != 0640;
        m->made++;
        close(file);
        unlink(path);
    }
    return NULL;
}

/* Files that another thread creates in the meantime have the mode that the umask gives them. */
static void beside(const char *folder, const char *path)
{
    maker m = {.folder = folder};
    pthread_t thread;
    tool_file file;
    CHECK(pthread_create(&thread, NULL, make_files, &m) == 0);
    CHECK(tool_file_open(&file, path) == TOOL_OK);
    for (int i = 0; i < 1000; i++) {
        CHECK(checkpoint(&file, 7, 10) == TOOL_OK);
    }
    CHECK(finish(&file, 7, 10) == TOOL_OK);
    atomic_store(&m.done, true);
    CHECK(pthread_join(thread, NULL) == 0 && m.made > 0);
    if (m.wrong > 0) {
        printf("%d of %d files had another mode\n", m.wrong, m.made);
    }
    CHECK(m.wrong == 0);
}

int main(int argc, char **argv)
{
    char path[512];
    if (argc != 3) {
        return TOOL_USAGE;
    }
    snprintf(path, sizeof path, "%s/results.json", argv[2]);
    umask(027);
    int kept = dup(STDERR_FILENO);
    FILE *errors = tmpfile();
    CHECK(kept >= 0 && errors);
    if (strcmp(argv[1], "full") == 0) {
        CHECK(dup2(fileno(errors), STDERR_FILENO) >= 0);
        too_large(path, errors, 3000000);
        return 0;
    }
    rules(argv[2], path);
    others(argv[2]);
    beside(argv[2], path);
    killed(path);
    /* Exceeding a limit on file length is like a full disk, but has another errno. */
    struct rlimit limit = {.rlim_cur = 1000000, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(dup2(fileno(errors), STDERR_FILENO) >= 0);
    too_large(path, errors, 3000000);
    return 0;
}
