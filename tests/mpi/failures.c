/* SPDX-License-Identifier: Apache-2.0 */
/* failures.c - ranks that do not arrive, are aborted or killed, or make mistakes. */
#include "tests/mpi/job.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *join_for(const job *at, const char *name, int64_t timeout)
{
    void *made = NULL;

    JOB_WORKS(job_try_join(at, name, 0, at->rank, at->ranks, timeout, &made));
    return made;
}

static iso_status sum(const job *at, void *rank, double *value)
{
    return job_run(at, rank, ISO_COMM_ALL_REDUCE, ISO_F64, ISO_SUM, 0, 1, value, value);
}

/* The file with which a rank says that it has waited in vain. */
static const char *gone(char *name, size_t room, int32_t rank)
{
    snprintf(name, room, "gone.%d", rank);
    return name;
}

/* The last rank arrives too late: the others have the timeout, and it learns of that. */
void test_timeout(const job *at)
{
    const bool late = at->rank == at->ranks - 1;
    void *rank = join_for(at, "timeout", JOB_SHORT);
    double value = 1;
    char first[512], name[32];
    int64_t took;

    JOB_WORKS(sum(at, rank, &value));
    for (int32_t i = 0; i < at->ranks - 1 && late; i++) {
        job_await(at, gone(name, sizeof name, i));
    }
    took = -job_now();
    /* The late one may have all that it needs for this call. */
    if (late && !sum(at, rank, &value)) {
        JOB_CHECK(value == at->ranks * at->ranks);
        while (!at->engine->query(rank) && took + job_now() < JOB_LONG) {
            usleep(1000);
        }
    }
    JOB_FAILS(sum(at, rank, &value), ISO_TIMEOUT, "all_reduce on rank");
    took += job_now();
    /* The second to wait hears of the first, and so may wait for less. */
    JOB_CHECK(late || took > JOB_SHORT / 4);
    JOB_CHECK(late ? strstr(job_error(), "has failed") : strstr(job_error(), " s, the timeout"));
    snprintf(first, sizeof first, "%s", job_error());
    JOB_FAILS(sum(at, rank, &value), ISO_TIMEOUT, first);
    JOB_FAILS(at->engine->query(rank), ISO_TIMEOUT, first);
    job_announce(at, late ? "late" : gone(name, sizeof name, at->rank));
    job_await(at, "late"); /* the first process that ends, ends the job */
    at->engine->leave(rank);
}

/* The last rank never joins; the others say which one is missing. */
void test_absent(const job *at)
{
    void *made = NULL;
    int64_t took = -job_now();
    iso_comm_id id = {{'x'}};
    const iso_engine_seat seat = {.rank = at->rank};

    JOB_FAILS(at->engine->join(&seat, 1, &id, at->ranks, JOB_LONG, &made), ISO_INVALID,
              "not an id");
    if (at->rank == at->ranks - 1) {
        job_await(at, "absent");
        return;
    }
    JOB_CHECK(job_try_join(at, "absent", 0, at->rank, at->ranks, JOB_SHORT, &made) == ISO_TIMEOUT);
    took += job_now();
    JOB_CHECK(took < JOB_LONG && !made);
    if (at->rank == 0) {
        char missing[64];

        snprintf(missing, sizeof missing, "missing rank %d", at->ranks - 1);
        JOB_CHECK(strstr(job_error(), missing));
    }
}

typedef struct target {
    const job *at;
    void *rank;
} target;

static void *interrupt(void *data)
{
    const target *what = data;

    usleep(300000);
    what->at->engine->abort(what->rank);
    what->at->engine->abort(what->rank);
    return NULL;
}

/* A thread of rank 0 aborts while all ranks wait for a message that nobody sends. */
void test_interrupted(const job *at)
{
    void *rank = join_for(at, "interrupted", JOB_LONG);
    target what = {.at = at, .rank = rank};
    int64_t took = -job_now();
    char first[512];
    pthread_t thread;
    double value = 0;

    if (at->rank == 0) {
        JOB_CHECK(!pthread_create(&thread, NULL, interrupt, &what));
    }
    JOB_FAILS(job_run(at, rank, ISO_COMM_RECEIVE, ISO_F64, 0, (at->rank + 1) % at->ranks, 1, NULL,
                      &value),
              ISO_UNAVAILABLE, "was aborted");
    took += job_now();
    JOB_CHECK(took < JOB_LONG / 2);
    snprintf(first, sizeof first, "%s", job_error());
    JOB_FAILS(sum(at, rank, &value), ISO_UNAVAILABLE, first);
    if (at->rank == 0) {
        pthread_join(thread, NULL);
    }
    at->engine->leave(rank);
}

/* Rank 1 dies in the middle; the others never see the end of it. */
void test_killed(const job *at)
{
    void *rank = join_for(at, "killed", JOB_LONG);
    double values[1000] = {0};

    for (int i = 0; i < 100; i++) {
        JOB_WORKS(
            job_run(at, rank, ISO_COMM_ALL_REDUCE, ISO_F64, ISO_SUM, 0, 1000, values, values));
    }
    if (at->rank == 1) {
        (void)kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < 1000000; i++) {
        const iso_status status =
            job_run(at, rank, ISO_COMM_ALL_REDUCE, ISO_F64, ISO_SUM, 0, 1000, values, values);

        if (status) {
            printf("FAIL: %s\n", job_error());
            exit(3);
        }
    }
}

/* Ranks that do not agree when they join; for three ranks or more. */
void test_mistakes(const job *at)
{
    const iso_engine_seat seats[2] = {{.rank = 0}, {.rank = 1}};
    const iso_engine_seat outside = {.rank = at->ranks};
    iso_comm_id id = {{0}};
    void *made[2] = {NULL, NULL};

    JOB_FAILS(at->engine->join(seats, 2, NULL, 2, JOB_LONG, made), ISO_UNSUPPORTED, "threads");
    JOB_FAILS(at->engine->join(&outside, 1, &id, at->ranks, JOB_LONG, made), ISO_INVALID, "rank");
    JOB_FAILS(at->engine->join(seats, 1, &id, at->ranks + 1, JOB_LONG, made), ISO_INVALID, "zeros");
    JOB_FAILS(job_try_join(at, "same", 0, at->rank % (at->ranks - 1), at->ranks, JOB_LONG, made),
              ISO_INVALID, "two processes join as rank");
    JOB_FAILS(job_try_join(at, "number", 0, at->rank, at->ranks - (at->rank == 1), JOB_LONG, made),
              ISO_INVALID, "same number");
    JOB_CHECK(!made[0] && !made[1]);
}

/* A receive of another count than was sent. */
void test_counts(const job *at)
{
    void *rank = join_for(at, "counts", JOB_LONG);
    double values[5] = {0};

    if (at->rank == 0) {
        JOB_WORKS(job_run(at, rank, ISO_COMM_SEND, ISO_F64, 0, 1, 3, values, NULL));
        while (!at->engine->query(rank)) {
            usleep(1000);
        }
        JOB_FAILS(at->engine->query(rank), ISO_BACKEND, "rank 1 has failed");
    } else if (at->rank == 1) {
        JOB_FAILS(job_run(at, rank, ISO_COMM_RECEIVE, ISO_F64, 0, 0, 5, NULL, values), ISO_BACKEND,
                  "rank 0 sent 3 elements, not 5");
    }
    at->engine->leave(rank);
}
