/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - runs a trial, derives the verdict from the program's output and exit status, and stores
 * the verdict. */
#include "backends/trial/trial.h"

#include "backends/trial/process.h"
#include "backends/trial/room.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { TRIAL_WORDS = 10, TRIAL_KEY_MAX = 4096, TRIAL_SAID_MAX = 4096, TRIAL_SECONDS = 120 };

/* If memory is limited, a trial gets this much less memory than this process has left, because
 * memory use differs between processes. */
#define TRIAL_MARGIN ((int64_t)32 << 20)

/* The prefix of isomer-try's own lines, and their kinds. */
static const char own_line[] = "isomer-try: ";
static const char line_good[] = "ok";
static const char line_reason[] = "no: ";
static const char line_place[] = "at: ";
static const char line_cannot[] = "cannot: ";

/* The buffers of a trial, which are too large for a caller's stack. */
typedef struct scratch {
    char path[PATH_MAX];
    char said[TRIAL_SAID_MAX];
    char key[TRIAL_KEY_MAX];
} scratch;

const char *trial_library(void)
{
    return process_library();
}

/* ---- the program's output -------------------------------------------------------------------- */

/* Parts of the program's output; NULL if a part is missing. */
typedef struct words {
    const char *good, *reason, *place, *cannot; /* isomer-try's own lines, the last of each kind */
    const char *other;                          /* the first line that is not isomer-try's own */
} words;

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Cuts the text into lines and sorts them by kind. Control characters become spaces, so that they
 * cannot control a terminal. */
static void sort_lines(char *said, words *out)
{
    char *rest = NULL;
    *out = (words){.good = NULL};
    for (char *at = said; *at; at++) {
        if (*at != '\n' && iscntrl((unsigned char)*at)) {
            *at = ' ';
        }
    }
    for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *text = line + sizeof own_line - 1;
        if (!begins(line, own_line)) {
            out->other = out->other ? out->other : line;
        } else if (begins(text, line_reason)) {
            out->reason = text + sizeof line_reason - 1;
        } else if (begins(text, line_place)) {
            out->place = text + sizeof line_place - 1;
        } else if (begins(text, line_cannot)) {
            out->cannot = text + sizeof line_cannot - 1;
        } else if (strcmp(text, line_good) == 0) {
            out->good = text;
        }
    }
}

static trial_verdict judge(const trial *what, const words *said, const process_end *end,
                           int seconds, char *why, size_t capacity)
{
    const char *place = said->place ? said->place : "";
    const char *in = said->place && !said->good ? " in " : said->good ? " at its end" : "";
    const char *other = said->other ? said->other : "";
    place = said->good ? "" : place;
    if (said->good && (!(what->flags & TRIAL_WHOLE) ||
                       (end->in_time && !(end->known && WIFSIGNALED(end->status))))) {
        why[0] = '\0';
        return TRIAL_GOOD;
    }
    if (!end->in_time) {
        (void)snprintf(why, capacity, "it did not end within %d second%s%s%s%s%s", seconds,
                       seconds == 1 ? "" : "s", in, place, other[0] ? ": " : "", other);
    } else if (end->known && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGXCPU) {
        (void)snprintf(why, capacity, "it used all the processor time that it is allowed%s%s", in,
                       place);
    } else if (end->known && WIFSIGNALED(end->status)) {
        (void)snprintf(why, capacity, "it was ended by signal %d (%s)%s%s%s%s",
                       WTERMSIG(end->status), strsignal(WTERMSIG(end->status)), in, place,
                       other[0] ? ": " : "", other);
    } else if (said->cannot) {
        (void)snprintf(why, capacity, "%s", said->cannot);
        return TRIAL_NOT_MADE;
    } else {
        (void)snprintf(why, capacity, "it failed%s%s: %s", in, place,
                       said->reason ? said->reason : other);
    }
    return TRIAL_BAD;
}

/* ---- running the trial ----------------------------------------------------------------------- */

static int seconds_of(const trial *what)
{
    const char *setting = what->host->setting("ISOMER_TRIAL_SECONDS");
    const int set = setting ? atoi(setting) : 0; /* the core checks it when a device is opened */
    return what->seconds > 0 ? what->seconds : set > 0 ? set : TRIAL_SECONDS;
}

static trial_verdict run(const trial *what, scratch *work, char *why, size_t capacity)
{
    char *list[TRIAL_WORDS + 5] = {work->path};
    char left[ROOM_KINDS][32];
    static char version[] = ISO_VERSION_STRING;
    const int seconds = seconds_of(what);
    process_end end;
    words said;
    size_t count = 1;
    if (!process_find(work->path, sizeof work->path)) {
        (void)snprintf(why, capacity,
                       "the program isomer-try, which would try it, is neither beside the library "
                       "nor at %s: install isomer completely",
                       work->path[0] ? work->path : "any known place");
        return TRIAL_NOT_MADE;
    }
    if (!what->host->trusted(work->path, work->said, (int64_t)sizeof work->said)) {
        (void)snprintf(why, capacity, "%s, which would try it, is not started: %s", work->path,
                       work->said);
        return TRIAL_NOT_MADE;
    }
    list[count++] = version;
    const trial_room given = what->room ? *what->room : trial_room_now();
    for (int kind = 0; kind < ROOM_KINDS; kind++) {
        const int64_t rest = given.left[kind] - TRIAL_MARGIN;
        (void)snprintf(left[kind], sizeof left[kind], "%lld",
                       given.left[kind] < 0 ? -1
                       : rest < 0           ? 0
                                            : (long long)rest);
        list[count++] = left[kind];
    }
    for (size_t i = 0; what->arguments[i] && i < TRIAL_WORDS; i++) {
        memcpy(&list[count++], &what->arguments[i], sizeof list[0]);
    }
    const int failed = process_run(list, seconds, work->said, sizeof work->said, &end);
    if (failed) {
        (void)snprintf(why, capacity, "%s did not start: %s", work->path, strerror(failed));
        return TRIAL_NOT_MADE;
    }
    sort_lines(work->said, &said);
    return judge(what, &said, &end, seconds, why, capacity);
}

/* ---- stored verdicts ------------------------------------------------------------------------- */

typedef struct known_verdict {
    struct known_verdict *next;
    trial_verdict verdict;
    char *why;
    char key[]; /* followed by the reason */
} known_verdict;

static known_verdict *known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER; /* one trial at a time */

static const known_verdict *recall(const char *key)
{
    const known_verdict *at = known;
    while (at && strcmp(at->key, key) != 0) {
        at = at->next;
    }
    return at;
}

/* Keeps a verdict until the process ends. There is at most one for each library and device. */
static void remember(const trial *what, const char *key, trial_verdict verdict, const char *why)
{
    const size_t key_bytes = strlen(key) + 1;
    const size_t why_bytes = strlen(why) + 1;
    known_verdict *made = what->host->alloc((int64_t)(sizeof *made + key_bytes + why_bytes));
    if (made) {
        made->verdict = verdict;
        made->why = made->key + key_bytes;
        memcpy(made->key, key, key_bytes);
        memcpy(made->why, why, why_bytes);
        made->next = known;
        known = made;
    }
}

/* Writes the key of a stored verdict: everything that the verdict depends on, including the sizes
 * and times of the files. */
static void make_key(const trial *what, char *key, size_t capacity)
{
    int used = snprintf(key, capacity, "isomer " ISO_VERSION_STRING " trial, %s", what->besides);
    for (size_t i = 0; what->arguments[i] && used >= 0 && (size_t)used < capacity; i++) {
        struct stat about;
        const bool file = what->arguments[i][0] == '/' && stat(what->arguments[i], &about) == 0;
        used += snprintf(key + used, capacity - (size_t)used, "\n%s %lld %lld", what->arguments[i],
                         file ? (long long)about.st_size : 0,
                         file ? (long long)about.st_mtim.tv_sec : 0);
    }
}

/* The text of a verdict in the program cache: "good", or "bad" and the reason. The NUL at the end
 * is part of it. */
static const char kept_good[] = "good";
static const char kept_bad[] = "bad ";

/* Loads a verdict from the program cache. Returns false if there is none that can be read: the
 * trial then runs again. */
static bool load(const trial *what, const char *key, trial_verdict *verdict, char *why,
                 size_t capacity)
{
    int64_t bytes = 0;
    char *kept = what->host->cache_load(key, (int64_t)strlen(key), &bytes);
    bool found = kept && bytes > 0 && kept[bytes - 1] == '\0';
    if (found && (what->flags & TRIAL_KEEP_GOOD) && strcmp(kept, kept_good) == 0) {
        *verdict = TRIAL_GOOD;
        why[0] = '\0';
    } else if (found && (what->flags & TRIAL_KEEP_BAD) && begins(kept, kept_bad)) {
        *verdict = TRIAL_BAD;
        (void)snprintf(why, capacity, "%s", kept + sizeof kept_bad - 1);
    } else {
        found = false;
    }
    what->host->free(kept);
    return found;
}

static void store(const trial *what, const char *key, trial_verdict verdict, const char *why)
{
    const bool good = verdict == TRIAL_GOOD && what->flags & TRIAL_KEEP_GOOD;
    const bool bad = verdict == TRIAL_BAD && what->flags & TRIAL_KEEP_BAD;
    const size_t bytes = sizeof kept_bad + strlen(why);
    char *text = good || bad ? what->host->alloc((int64_t)bytes) : NULL;
    if (text) {
        (void)snprintf(text, bytes, "%s%s", good ? kept_good : kept_bad, good ? "" : why);
        (void)what->host->cache_store(key, (int64_t)strlen(key), text, (int64_t)strlen(text) + 1);
    }
    what->host->free(text);
}

static trial_verdict try_again(const trial *what, scratch *work, char *why, size_t capacity)
{
    trial_verdict verdict = TRIAL_NOT_MADE;
    if (!load(what, work->key, &verdict, why, capacity)) {
        verdict = run(what, work, why, capacity);
        what->host->log(verdict == TRIAL_GOOD ? ISO_LOG_DEBUG : ISO_LOG_WARN,
                        "isomer-try %s %s: %s", what->arguments[0], what->arguments[1],
                        verdict == TRIAL_GOOD ? "ok" : why);
        store(what, work->key, verdict, why);
    }
    return verdict;
}

static trial_verdict try_once(const trial *what, scratch *work, char *why, size_t capacity)
{
    (void)pthread_mutex_lock(&known_lock);
    trial_verdict verdict = TRIAL_NOT_MADE;
    const known_verdict *before = recall(work->key);
    if (before) {
        verdict = before->verdict;
        (void)snprintf(why, capacity, "%s", before->why);
    } else {
        verdict = try_again(what, work, why, capacity);
        remember(what, work->key, verdict, why);
    }
    (void)pthread_mutex_unlock(&known_lock);
    return verdict;
}

trial_room trial_room_now(void)
{
    const room now = room_get();
    trial_room out;
    for (int kind = 0; kind < ROOM_KINDS; kind++) {
        const int64_t rest = now.limit[kind] - now.used[kind];
        out.left[kind] = now.limit[kind] < 0 ? -1 : rest < 0 ? 0 : rest;
    }
    return out;
}

bool trial_limited(char *text, size_t capacity)
{
    static const char *const names[ROOM_KINDS] = {"address space", "data"};
    const room now = room_get();
    text[0] = '\0';
    for (int kind = 0; kind < ROOM_KINDS; kind++) {
        const size_t used = strlen(text);
        if (now.limit[kind] >= 0) {
            (void)snprintf(text + used, capacity - used, "%s%s is limited to %lld KiB, %lld in use",
                           used > 0 ? " and " : "the ", names[kind],
                           (long long)(now.limit[kind] / 1024), (long long)(now.used[kind] / 1024));
        }
    }
    return text[0] != '\0';
}

trial_verdict trial_make(const trial *given, char *why, size_t capacity)
{
    char limits[160];
    trial copy = *given;
    const trial *what = &copy;
    if (trial_limited(limits, sizeof limits)) {
        copy.flags &= ~(unsigned)(TRIAL_KEEP_GOOD | TRIAL_KEEP_BAD);
    }
    /* Static, because it is too large for a small stack. If it were allocated, lack of memory would
     * prevent the trial, which would look like a failed trial. */
    static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
    static scratch work;
    why[0] = '\0';
    (void)pthread_mutex_lock(&work_lock);
    make_key(what, work.key, sizeof work.key);
    const trial_verdict verdict = what->flags & TRIAL_KEEP_HERE
                                      ? try_once(what, &work, why, capacity)
                                      : try_again(what, &work, why, capacity);
    (void)pthread_mutex_unlock(&work_lock);
    return verdict;
}
