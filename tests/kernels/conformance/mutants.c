/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.c - faults planted in copies of the header's macros, which a text in front of the kernels
 * defines again. The suite has to find each. */
#include "tests/kernels/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES = 16, FOUND = 0, NOT_FOUND = 3, NOT_PLANTED = 4, SECONDS = 20 };

typedef struct mutant {
    const char *backend; /* where the macro is in use */
    const char *name;    /* of the macro or the function */
    int which;           /* its definition, of several in the header */
    const char *from, *to;
    const char *word; /* kernels with it are run */
} mutant;

static const mutant mutants[] = {
    {"openmp", "ISO_TEAM_FOLD_", 0, "(iso_n_ + 1) / 2 + iso_item_",
     "iso_n_ - 1 - iso_item_ + 2 * iso_first_", "ISO_TEAM_SUM"},
    {"openmp", "ISO_TEAM_FOLD_", 0, "iso_items_ - iso_first_ < (w) ? iso_items_ - iso_first_ : (w)",
     "(w)", "ISO_TEAM_"},
    {"openmp", "ISO_FOLD_STEP_", 0, "((n) + 1) / 2 + iso_item_", "(n) - 1 - iso_item_",
     "ISO_GROUP_SUM"},
    {"openmp", "ISO_GROUP_MIN", 0, "ISO_BETTER_MIN_", "ISO_BETTER_MAX_", "ISO_GROUP_MIN"},
    {"openmp", "ISO_BETTER_MIN_", 0, "(b) < (a) ? (b) : (a)", "(a) < (b) ? (a) : (b)",
     "ISO_GROUP_MIN"},
    {"openmp", "ISO_BETTER_MAX_", 0, "(b) > (a)", "(b) >= (a)", "_zeros_"},
    {"openmp", "iso_mine", 0, "iso_item_", "0", "iso_mine"},
    {"openmp", "ISO_REGION_3", 1, "(i, j, k)", "(i, k, j)", "ISO_REGION_3"},
    {"openmp", "ISO_ALONG_", 0, "((at) + 1) * (size)", "((at) + 1) * (size) - 1", "ISO_REGION_2"},
    {"openmp", "ISO_FOLD_FIRST_", 0, "iso_items_ % 2", "iso_items_ % 4 == 1", "ISO_GROUP_"},
    {"openmp", "iso_fma_f32", 2, "__builtin_fmaf((a), (b), (c))", "((a) * (b) + (c))",
     "iso_fma_f32"},
    {"openmp", "iso_div_f64", 2, "((double)(a) / (double)(b))",
     "((double)(a) * (1.0 / (double)(b)))", "iso_div_f64"},
    {"openmp", "iso_sqrt_f64", 2, "__builtin_sqrt(a)", "(double)__builtin_sqrtf((float)(a))",
     "iso_sqrt_f64"},
    {"openmp", "f32 iso_exp_f32", 0, "return p *",
     "return iso_from_bits_f32(iso_bits_f32(p) + 1u) *", "iso_exp_f32"},
    {"openmp", "f32 iso_exp_f32", 0, "0.16666667f", "0.16666666f", "iso_exp_f32"},
    {"openmp", "f64 iso_exp_f64", 0, "0.16666666666666666", "0.16666666666666669", "iso_exp_f64"},
    {"openmp", "iso_group_y", 0, "iso_at_.y", "iso_at_.z", "iso_group_y"},
    {"openmp", "iso_groups_z", 0, "iso_at_.groups_z", "iso_at_.groups_y", "iso_groups_z"},
    {"openmp", "ISO_GROUPS_", 0, "iso_at_.x;", "iso_at_.x + (iso_at_.y > 0);", "only_"},
    {"openmp", "ISO_INDEX_Z_", 0, "iso_size_z_", "iso_size_y_", "ISO_REGION_3"},
    {"openmp", "iso_atomic_add_u32", 2, "__atomic_fetch_add", "__atomic_add_fetch",
     "iso_atomic_add_u32"},
    {"cuda", "ISO_REGION", 2, ", ISO_BARRIER_()", "", "ISO_SHARED"},
    {"cuda", "ISO_EACH_", 2, ", ISO_BARRIER_()", "", "ISO_GROUP_SUM"},
    {"cuda", "ISO_AT_3_", 0, "/ iso_size_x_ % iso_size_y_", "/ iso_size_x_", "ISO_REGION_3"},
    {"cuda", "ISO_AT_2_", 0, "% iso_size_x_", "% (iso_size_x_ + 1)", "ISO_REGION_2"},
    {"cuda", "ISO_GROUP_Y_", 1, "blockIdx.y", "blockIdx.x", "iso_group_y"},
    {"cuda", "iso_fma_f64", 1, "fma((f64)(a), (f64)(b), (f64)(c))", "((a) * (b) + (c))",
     "iso_fma_f64"},
    {"cuda", "iso_atomic_min_i64", 2, "atomicMin((p), (i64)(v))",
     "((i64)atomicMin((u64 *)(p), (u64)(i64)(v)))", "iso_atomic_min_i64"},
    {"opencl", "ISO_PLACE_", 0, "(name + name##_at_)", "(name)", "ISO_EXTENT"},
    {"opencl", "iso_fma_f32", 0, "fma((f32)(a), (f32)(b), (f32)(c))", "((a) * (b) + (c))",
     "iso_fma_f32"},
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* The first byte after a definition: of a macro the end of its last line, of a function its brace.
 */
static const char *end_of(const char *begin, bool function)
{
    if (function) {
        return strstr(begin, "\n}\n") + 3;
    }
    const char *end = strchr(begin, '\n');
    while (end[-1] == '\\') {
        end = strchr(end + 1, '\n');
    }
    return end + 1;
}

static const char *begin_of(const char *header, const mutant *m, bool function)
{
    char head[128];
    (void)snprintf(head, sizeof head, function ? "ISO_FUNCTION_ %s" : "#define %s", m->name);
    const char *at = header;
    for (int which = 0; (at = strstr(at, head)); at++) {
        const char after = at[strlen(head)];
        if (strchr("( ", after) && which++ == m->which) {
            return at;
        }
    }
    return NULL;
}

/* A definition with the fault (or without it), which takes the place of the header's. */
static bool plant(const char *header, const mutant *m, bool fault, conf_text *out)
{
    const char *function = strchr(m->name, ' ');
    const char *begin = begin_of(header, m, function != NULL);
    const char *end = begin ? end_of(begin, function != NULL) : NULL;
    const char *at = begin ? strstr(begin, m->from) : NULL;
    if (!at || at >= end) {
        (void)printf("%s has no \"%s\" in definition %d: correct the mutant\n", m->name, m->from,
                     m->which);
        return false;
    }
    if (!function) {
        conf_add(out, "#undef %s\n", m->name);
    }
    const char *copy = begin;
    if (function) {
        /* The copy gets another name, which the old one becomes. */
        const int type = (int)(function - m->name);
        conf_add(out, "ISO_FUNCTION %.*s planted_", type, m->name);
        copy = strstr(begin, function + 1);
    }
    conf_add(out, "%.*s%s%.*s", (int)(at - copy), copy, fault ? m->to : m->from,
             (int)(end - at - (long)strlen(m->from)), at + strlen(m->from));
    if (function) {
        conf_add(out, "#define %s planted_%s\n", function + 1, function + 1);
    }
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* How many kernels with the word differ (NULL: of all); *agree is how many do not. */
static int count_differing(conf_run *run, const char *word, const char *before, int *agree)
{
    conf_suite all = {0}, some = {0};
    conf_add_systematic(&all);
    some.at = malloc((size_t)all.count * sizeof *some.at);
    if (!some.at) {
        exit(70);
    }
    for (int i = 0; i < all.count && (!word || some.count < CASES); i++) {
        if (!word || strstr(all.at[i].text, word)) {
            some.at[some.count++] = all.at[i];
        }
    }
    run->before = before;
    run->quiet = word != NULL;
    conf_run_cases(run, &some, 0, some.count);
    free(some.at);
    conf_free(&all);
    *agree = run->agree;
    return run->differ;
}

/* In a process of its own, because faults may end it. */
static void run_faulty(const char *spec, const char *header, const mutant *m)
{
    conf_run run = {0};
    conf_text faulty = {0};
    int agree = 0;
    (void)alarm(SECONDS); /* a fault may make a loop endless */
    if (!plant(header, m, true, &faulty) || !conf_open(&run, spec)) {
        _exit(NOT_PLANTED);
    }
    const int wrong = count_differing(&run, m->word, faulty.at, &agree);
    _exit(wrong ? FOUND : NOT_FOUND);
}

static bool is_found(const char *spec, const char *header, const mutant *m)
{
    int status = 0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_faulty(spec, header, m);
    }
    const bool ended = child > 0 && waitpid(child, &status, 0) == child;
    const bool found = ended && (WIFSIGNALED(status) || WEXITSTATUS(status) == FOUND);
    (void)printf("%s: %s with \"%s\" instead of \"%s\"%s\n", found ? "found" : "NOT FOUND", m->name,
                 m->to, m->from,
                 found && WIFSIGNALED(status) ? " (it crashes, or does not end)" : "");
    return found;
}

/* With copies that have no fault, all kernels agree. */
static bool check_sound(const char *spec, const char *header, const char *backend)
{
    conf_text sound = {0};
    conf_run run = {0};
    int agree = 0;
    bool good = true;
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants && good; i++) {
        const bool again = i > 0 && !strcmp(mutants[i].name, mutants[i - 1].name);
        if (!strcmp(mutants[i].backend, backend) && !again) {
            good = plant(header, &mutants[i], false, &sound);
        }
    }
    const int wrong =
        good && conf_open(&run, spec) ? count_differing(&run, NULL, sound.at, &agree) : 1;
    (void)printf("copies without a fault: %d kernels agree\n", agree);
    conf_close(&run);
    free(sound.at);
    return good && agree > 0 && !wrong;
}

/* The backend is the spec up to its colon. Nothing is opened before processes are made. */
int conf_mutants(const char *spec, const char *header)
{
    char *text = conf_read_file(header);
    char backend[32];
    int planted = 0, found = 0;
    (void)snprintf(backend, sizeof backend, "%.*s", (int)strcspn(spec, ":"), spec);
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        if (!strcmp(mutants[i].backend, backend)) {
            planted++;
            found += is_found(spec, text, &mutants[i]);
        }
    }
    const bool sound = check_sound(spec, text, backend);
    (void)printf("%s: %d of %d faults found\n", spec, found, planted);
    free(text);
    return planted && found == planted && sound ? 0 : 1;
}
