/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - lets the crew compile the kernels that the rows need. */
#include "bench/measure/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* One task stands for all rows with the same kernels. Otherwise several members would compile the
 * same kernels. */
typedef struct task {
    int32_t row; /* the first of these rows */
    int32_t weight;
    char group[BENCH_ID_MAX];
} task;

typedef struct member {
    const task *task; /* NULL: it is idle */
    char text[CREW_LINE];
    size_t length;
    bool gone;
} member;

typedef struct dispatch {
    measure_state *state;
    crew *crew;
    task *tasks;
    int32_t count, next, done;
    member members[CREW_MOST];
} dispatch;

static bool compiles(const measure_state *state, const measure_row *row)
{
    const work_target *target = state->plan->targets[row->target];
    return row->job && row->result.status == BENCH_OK && row->item->op->arguments &&
           (work_target_info(target)->features & ISO_FEATURE_COMPILES) != 0;
}

static bool same_task(const measure_state *state, const task *a, const measure_row *row,
                      const char *group)
{
    const measure_row *first = &state->rows[a->row];
    return first->target == row->target && first->library == row->library &&
           strcmp(a->group, group) == 0;
}

static void add_tasks(dispatch *self)
{
    const measure_state *state = self->state;
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        char group[BENCH_ID_MAX];
        int32_t t = 0;
        if (!compiles(state, row)) {
            continue;
        }
        crew_group(row->item, group);
        while (t < self->count && !same_task(state, &self->tasks[t], row, group)) {
            t++;
        }
        if (t < self->count) {
            continue;
        }
        self->tasks[t] =
            (task){.row = i,
                   .weight = 2 * row->item->op->libraries + (row->item->how == ISO_VARIANT_VENDOR)};
        memcpy(self->tasks[t].group, group, sizeof group);
        self->count++;
    }
}

/* Sorts the longest tasks first, so that the run does not wait for one of them at the end. Vendors'
 * products take by far the longest to compile, followed by our own. */
static int heavier(const void *a, const void *b)
{
    const task *x = a, *y = b;
    return x->weight != y->weight ? y->weight - x->weight : (x->row > y->row) - (x->row < y->row);
}

static void lose(dispatch *self, int32_t i)
{
    self->members[i].gone = true;
    self->done += self->members[i].task != NULL;
    self->members[i].task = NULL;
}

static void give(dispatch *self, int32_t i)
{
    const task *next = &self->tasks[self->next++];
    const measure_row *row = &self->state->rows[next->row];
    char text[CREW_LINE];
    int length = snprintf(text, sizeof text, "%s %d %s\n",
                          work_target_info(self->state->plan->targets[row->target])->spec,
                          (int)row->library, next->group);
    self->members[i].task = next;
    if (send(self->crew->lines[i], text, (size_t)length, MSG_NOSIGNAL) != length) {
        lose(self, i);
    }
}

/* Stores the times of compiling and of the first call in the rows of the case. */
static void note(dispatch *self, const task *of, const char *line)
{
    char id[BENCH_ID_MAX];
    double prepare, first;
    if (sscanf(line, "%159s %lf %lf", id, &prepare, &first) != 3) {
        return;
    }
    for (int32_t i = of->row; i < self->state->count; i++) {
        measure_row *row = &self->state->rows[i];
        if (strcmp(row->item->id, id) != 0 || row->target != self->state->rows[of->row].target ||
            row->library != self->state->rows[of->row].library) {
            continue;
        }
        row->prepare = prepare;
        row->first = first;
        row->ahead = true;
    }
}

static void take_line(dispatch *self, member *from, const char *line)
{
    if (!from->task) {
        return;
    }
    if (line[0] != '\0') {
        note(self, from->task, line);
        return;
    }
    self->done++;
    from->task = NULL;
}

/* Reads what a member sent and handles the complete lines. The rest is kept for the next call. */
static void listen_to(dispatch *self, int32_t i)
{
    member *from = &self->members[i];
    ssize_t got = recv(self->crew->lines[i], from->text + from->length,
                       sizeof from->text - 1 - from->length, 0);
    if (got < 0 && errno == EINTR) {
        return;
    }
    if (got <= 0) {
        lose(self, i);
        return;
    }
    from->length += (size_t)got;
    from->text[from->length] = '\0';
    char *at = from->text;
    for (char *end = strchr(at, '\n'); end; end = strchr(at, '\n')) {
        *end = '\0';
        take_line(self, from, at);
        at = end + 1;
    }
    from->length -= (size_t)(at - from->text);
    memmove(from->text, at, from->length);
    if (from->length == sizeof from->text - 1) {
        lose(self, i); /* a member never writes a line as long as this */
    }
}

/* Gives tasks to idle members and reads answers. False: no member is busy. */
static bool turn(dispatch *self)
{
    struct pollfd watched[CREW_MOST];
    int32_t busy = 0;
    for (int32_t i = 0; i < self->crew->count; i++) {
        if (!self->members[i].gone && !self->members[i].task && self->next < self->count) {
            give(self, i);
        }
        bool works = !self->members[i].gone && self->members[i].task;
        watched[i] = (struct pollfd){works ? self->crew->lines[i] : -1, POLLIN, 0};
        busy += works;
    }
    if (busy == 0 || poll(watched, (nfds_t)self->crew->count, 100) < 0) {
        return busy > 0;
    }
    for (int32_t i = 0; i < self->crew->count; i++) {
        if (watched[i].fd >= 0 && watched[i].revents != 0) {
            listen_to(self, i);
        }
    }
    return true;
}

void measure_ahead(measure_state *state)
{
    dispatch self = {.state = state, .crew = state->plan->crew};
    if (!self.crew || self.crew->count == 0) {
        return;
    }
    self.tasks = tool_alloc((size_t)state->count, sizeof *self.tasks, "the kernels to compile");
    add_tasks(&self);
    qsort(self.tasks, (size_t)self.count, sizeof *self.tasks, heavier);
    while (self.count > 0 && !tool_stop_asked() && turn(&self)) {
        int32_t shown = self.next > 0 ? self.next - 1 : 0;
        measure_progress(state, "compiling", (double)self.done / self.count, -1,
                         &state->rows[self.tasks[shown].row]);
    }
    free(self.tasks);
    crew_end(self.crew, tool_stop_asked());
    if (self.count > 0) {
        state->compiled = tool_seconds() - state->began;
    }
}
