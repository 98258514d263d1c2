/* SPDX-License-Identifier: Apache-2.0 */
/* crew.c - starts and ends the crew's members, and does their work. */
#include "bench/measure/internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Members print nothing, because the run itself reports the same problems. */
static void silence(void)
{
    int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && nowhere >= 0; i++) {
        dup2(nowhere, i);
    }
    if (nowhere > 2) {
        close(nowhere);
    }
}

static bool become_member(crew *self, int line)
{
    for (int32_t i = 0; i < self->count; i++) {
        close(self->lines[i]); /* otherwise the other members would never see their lines end */
    }
    silence();
    self->count = 0;
    self->tasks = fdopen(line, "r");
    self->answers = fdopen(dup(line), "w");
    if (!self->tasks || !self->answers) {
        crew_leave();
    }
    return true;
}

bool crew_start(crew *self, int32_t count)
{
    fflush(NULL); /* otherwise members would write the buffered text again */
    for (self->count = 0; self->count < count && self->count < CREW_MOST;) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            return false;
        }
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            return become_member(self, ends[1]);
        }
        close(ends[1]);
        if (pid < 0) {
            close(ends[0]);
            return false;
        }
        self->pids[self->count] = pid;
        self->lines[self->count++] = ends[0];
    }
    return false;
}

void crew_end(crew *self, bool now)
{
    for (int32_t i = 0; i < self->count; i++) {
        close(self->lines[i]);
        if (now) {
            kill(self->pids[i], SIGKILL);
        }
    }
    for (int32_t i = 0; i < self->count; i++) {
        waitpid(self->pids[i], NULL, 0);
    }
    self->count = 0;
}

/* ---- in a member ----------------------------------------------------------------------------- */

_Noreturn void crew_leave(void)
{
    _exit(0); /* skips the run's exit handlers */
}

bool crew_next(crew *self, char text[CREW_LINE])
{
    if (!fgets(text, CREW_LINE, self->tasks)) {
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    return true;
}

void crew_group(const bench_case *item, char text[BENCH_ID_MAX])
{
    char type[16];
    snprintf(type, sizeof type, "%d", (int)item->element);
    snprintf(text, BENCH_ID_MAX, "%s/%s/%s/%s", item->op->measured, item->kind, item->variant,
             item->dtype != 0 ? iso_dtype_name(item->dtype) : type);
}

/* Prepares the case and runs it once, because some devices compile at the first launch. */
static bool rehearse(work_target *target, const bench_case *item, int32_t library, double *prepare,
                     double *first)
{
    bench_result result;
    work_job *job = work_job_create(target, item, library, &result);
    bool done = job && result.status == BENCH_OK && work_job_prepare(job, prepare, &result);
    if (done) {
        double began = tool_seconds();
        done =
            work_job_submit(job) == ISO_OK && iso_stream_sync(work_target_stream(target)) == ISO_OK;
        *first = (tool_seconds() - began) * 1e9;
        if (!done) {
            work_target_revive(target);
        }
    }
    work_job_destroy(job);
    return done;
}

void crew_work(crew *self, const char *task, const work_list *list, work_target *const *targets,
               int32_t target_count)
{
    char spec[ISO_NAME_MAX], group[BENCH_ID_MAX], own[BENCH_ID_MAX];
    int library = 0;
    work_target *target = NULL;
    if (sscanf(task, "%127s %d %159s", spec, &library, group) == 3) {
        for (int32_t t = 0; t < target_count && !target; t++) {
            if (strcmp(work_target_info(targets[t])->spec, spec) == 0) {
                target = targets[t];
            }
        }
    }
    for (int32_t i = 0; i < list->count && target; i++) {
        const bench_case *item = &list->items[i];
        double prepare = 0, first = 0;
        crew_group(item, own);
        if (strcmp(own, group) == 0 && rehearse(target, item, library, &prepare, &first)) {
            fprintf(self->answers, "%s %.0f %.0f\n", item->id, prepare, first);
        }
    }
    fputc('\n', self->answers);
    fflush(self->answers);
}
