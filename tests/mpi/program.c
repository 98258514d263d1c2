/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - PLUGIN LEVEL WORD: a program that uses MPI itself and initialises it with this thread
 * level. The plug-in works, or refuses with a text that has the word. */
#include <isomer/backend.h>

#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[2048];

static void *host_alloc(int64_t bytes)
{
    return malloc((size_t)bytes + 1);
}

static iso_status host_fail(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);
static iso_status host_fail(iso_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(error, sizeof error, format, list);
    va_end(list);
    return status;
}

static void host_log(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);
static void host_log(iso_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

static void *host_open_part(const char *path, char *problem, int64_t capacity)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!file) {
        snprintf(problem, (size_t)capacity, "%s", dlerror());
    }
    return file;
}

static const iso_host host = {.size = (uint32_t)sizeof(iso_host),
                              .alloc = host_alloc,
                              .free = free,
                              .fail = host_fail,
                              .log = host_log,
                              .open_part = host_open_part};

/* The plug-in and the program sum in turns. */
static iso_status use(const iso_engine *engine)
{
    iso_engine_seat seat = {0};
    int32_t ranks = 0;
    iso_comm_id zeros = {{0}};
    void *rank = NULL;
    char label[ISO_NAME_MAX];
    iso_status status = engine->open(label, sizeof label);

    if (!status) {
        status = engine->world(&seat.rank, &ranks);
    }
    if (!status) {
        status = engine->join(&seat, 1, &zeros, ranks, 300000000000, &rank);
    }
    for (int i = 0; i < 100 && !status; i++) {
        double mine = 1, ours = 0;
        iso_engine_call call = {.rank = rank,
                                .op = ISO_COMM_ALL_REDUCE,
                                .dtype = ISO_F64,
                                .reduce = ISO_SUM,
                                .count = 1,
                                .from = &mine,
                                .to = &mine};

        MPI_Allreduce(&mine, &ours, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        status = engine->submit(&call, 1);
        if (!status && (ours != ranks || mine != ranks)) {
            status = host_fail(ISO_INTERNAL, "the sums are %g and %g", ours, mine);
        }
    }
    if (rank) {
        engine->leave(rank);
    }
    return status;
}

int main(int argc, char **argv)
{
    const int level = argc == 4 ? atoi(argv[2]) : 0;
    int granted = 0;
    void *file = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    iso_backend_query query = NULL;
    iso_status status = ISO_INTERNAL;

    if (!file) {
        printf("FAIL: %s\n", argc == 4 ? dlerror() : "usage: PLUGIN LEVEL WORD");
        return 1;
    }
    MPI_Init_thread(&argc, &argv,
                    level == 3   ? MPI_THREAD_MULTIPLE
                    : level == 2 ? MPI_THREAD_SERIALIZED
                                 : MPI_THREAD_FUNNELED,
                    &granted);
    *(void **)&query = dlsym(file, ISO_BACKEND_QUERY_NAME);
    if (query) {
        status = use(query((uint32_t)ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &host)->engine);
    }
    MPI_Finalize();
    if (argv[3][0] ? status != ISO_UNAVAILABLE || !strstr(error, argv[3]) : status != ISO_OK) {
        printf("FAIL: status %d: %s\n", status, error);
        return 1;
    }
    printf("passed\n");
    return 0;
}
