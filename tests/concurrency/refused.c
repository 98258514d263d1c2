/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused.c - the system refuses threads: those beyond n at a time, or only the n-th, for every n.
 * The second case also refuses threads that were available when the runtime sized its team, which
 * makes an OpenMP runtime call exit() in the middle of a call, and OpenBLAS with its own threads
 * raise SIGINT. Each process must end within its deadline.
 */
#include "tests/concurrency/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 160, CHILD_SECONDS = 120, MOST = 64, SAID = 65536 };

static atomic_int created, alive, refused;
static int refuse_number = -1, most_alive = -1;

typedef struct start {
    void *(*body)(void *);
    void *argument;
} start;

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

static void ended(void *count)
{
    (void)atomic_fetch_sub((atomic_int *)count, 1);
}

static void make_end_key(void)
{
    CHECK(pthread_key_create(&end_key, ended) == 0);
}

static void *begin(void *argument)
{
    start from = *(start *)argument;
    free(argument);
    (void)pthread_setspecific(end_key, &alive);
    return from.body(from.argument);
}

/* Overrides the C library's function for every library of the process. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*body)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    (void)pthread_once(&end_once, make_end_key);
    int number = atomic_fetch_add(&created, 1);
    if (number == refuse_number || atomic_fetch_add(&alive, 1) == most_alive) {
        (void)atomic_fetch_sub(&alive, number != refuse_number);
        (void)atomic_fetch_add(&refused, 1);
        return EAGAIN;
    }
    start *from = check_alloc(sizeof *from);
    *from = (start){body, argument};
    return real(thread, attributes, begin, from);
}

static iso_device device;
static check_product product;

static void close_late(void)
{
    if (device.id) {
        (void)iso_device_close(device);
    }
}

static int may_refuse(iso_status status)
{
    CHECK(status == ISO_OK || (status == ISO_NO_MEMORY && iso_last_error()[0]));
    return status == ISO_OK;
}

static void multiply(uint32_t flags, iso_variant variant)
{
    iso_stream stream = {0};
    if (!may_refuse(iso_stream_create(device, flags, &stream))) {
        return;
    }
    iso_gemm_args args = check_product_args(&product, variant);
    if (iso_supports(device, ISO_OP_GEMM, &args) == ISO_OK) {
        check_product_submit(&product, stream, variant);
        CHECK_OK(iso_stream_sync(stream));
        check_product_result(&product);
    }
    CHECK_OK(iso_stream_destroy(stream));
}

/* Runs in a child process. */
static void work(void)
{
    (void)alarm(CHILD_SECONDS);
    CHECK(atexit(close_late) == 0);
    if (!may_refuse(iso_device_open("openmp", &device))) {
        exit(0);
    }
    product = check_product_make(device, SIZE, 3);
    for (uint32_t flags = 0; flags <= ISO_STREAM_INLINE; flags++) {
        multiply(flags, ISO_VARIANT_VENDOR);
        multiply(flags, ISO_VARIANT_TILED);
    }
    iso_device gone = device;
    device.id = 0;
    CHECK_OK(iso_device_close(gone));
    exit(atomic_load(&refused) ? 0 : 2); /* 2: no thread was refused */
}

/* How the process ended, and what it wrote to standard error. */
static int run(int number, int most, char *said)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        refuse_number = number;
        most_alive = most;
        work();
    }
    (void)close(ends[1]);
    size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < SAID - 1; length += got > 0 ? (size_t)got : 0) {
        got = read(ends[0], said + length, SAID - 1 - length);
    }
    said[length] = '\0';
    (void)close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    int one = strcmp(argv[1], "one") == 0;
    char *said = check_alloc(SAID);
    int told = 0;
    CHECK(setenv("ISOMER_NUM_THREADS", "3", 1) == 0);
    for (int n = 0; n < MOST; n++) {
        int status = run(one ? n : -1, one ? -1 : n, said);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        int by_runtime = (code == 1 && strstr(said, "libgomp: Thread creation failed")) ||
                         (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT &&
                          strstr(said, "OpenBLAS blas_thread_init: pthread_create failed"));
        told += by_runtime;
        if ((code != 0 && code != 2 && !by_runtime) || (!one && by_runtime)) {
            (void)fprintf(stderr, "%s %d: %s %d\n%s\n", one ? "refused is number" : "at most", n,
                          WIFSIGNALED(status) ? "ended by signal" : "exit code",
                          WIFSIGNALED(status) ? WTERMSIG(status) : code, said);
            return 1;
        }
        if (code == 2) {
            (void)printf("%s 0 to %d; %d times a library said so and ended\n",
                         one ? "refused was number" : "granted were at most", n - 1, told);
            free(said);
            return 0;
        }
    }
    (void)fprintf(stderr, "more than %d\n", (int)MOST);
    return 1;
}
