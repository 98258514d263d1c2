/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - helpers of a test that runs as several processes: it opens a plug-in with a host of its
 * own, as the core would. */
#ifndef TESTS_MPI_JOB_H
#define TESTS_MPI_JOB_H

#include <isomer/backend.h>

#include <stdbool.h>

enum { JOB_SECOND = 1000000000 };
/* Timeouts of what works, which a loaded machine must not reach, and of what fails because of them.
 */
#define JOB_LONG  (300LL * JOB_SECOND)
#define JOB_SHORT (4LL * JOB_SECOND)

typedef struct job {
    const iso_backend *backend;
    const iso_engine *engine;
    int32_t rank, ranks; /* of the world */
    const char *folder;  /* shared by all processes */
} job;

/* Opens the plug-in file and looks at its descriptor. */
void job_open(job *out, const char *plugin, const char *folder);
/* This thread's last error; "" if none. */
const char *job_error(void);

/* Prints what failed, with the place, and ends the process with 1. */
#define JOB_CHECK(condition) job_check(condition, #condition, __FILE__, __LINE__)
#define JOB_WORKS(call)      job_status((call), ISO_OK, "", #call, __FILE__, __LINE__)
/* The call fails with this status, and the text has the word. */
#define JOB_FAILS(call, status, word)                                                              \
    job_status((call), (status), (word), #call, __FILE__, __LINE__)
void job_check(bool good, const char *what, const char *file, int line);
void job_status(iso_status is, iso_status wanted, const char *word, const char *what,
                const char *file, int line);
int64_t job_now(void);

/* Joins with the id of this name, which the process `maker` of the world makes and leaves in the
 * folder. */
iso_status job_try_join(const job *at, const char *name, int32_t maker, int32_t rank, int32_t ranks,
                        int64_t timeout, void **out);
void *job_join(const job *at, const char *name, int32_t maker, int32_t rank, int32_t ranks);
/* Waits until a file of this name is in the folder. */
void job_await(const job *at, const char *name);

void job_announce(const job *at, const char *name);

/* One call. */
iso_status job_run(const job *at, void *rank, iso_comm_op op, iso_dtype dtype, iso_reduce_op reduce,
                   int32_t peer, int64_t count, void *from, void *to);

void test_operations(const job *at);
void test_short(const job *at);
void test_groups(const job *at);
void test_threads(const job *at);
void test_subgroups(const job *at);
void test_timeout(const job *at);
void test_absent(const job *at);
void test_interrupted(const job *at);
void test_killed(const job *at);
void test_mistakes(const job *at);
void test_counts(const job *at);

#endif
