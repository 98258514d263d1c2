/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - compares two results files, or two programs, case by case. A is the reference and B
 * is judged; ratios are B's time divided by A's.
 */
#ifndef ISOMER_COMPARE_H
#define ISOMER_COMPARE_H

#include "bench/ops/ops.h"
#include "bench/stats/stats.h"
#include "bench/tool.h"

/* One side of a case. The texts belong to the document. */
typedef struct compare_side {
    const json_t *result; /* NULL: this side lacks the case */
    const char *device, *library, *status, *reason;
    double median; /* nanoseconds; NaN unless ok */
    bool ok;
} compare_side;

typedef struct compare_row {
    const char *id, *op;
    const char *other; /* B's case if its size differs, otherwise NULL */
    double share;      /* A's work divided by B's; B's times are multiplied by it */
    compare_side a, b;
    bool judged;   /* both are ok */
    bool lost;     /* B measured the operation, but only A is ok; with pairs: in at least one */
    bool paired;   /* judged by pairs, not by rounds */
    bool worse;    /* fails the gate */
    int32_t pairs; /* their number, or the smaller number of rounds */
    int32_t made, without_a, without_b; /* pairs with this case; those where A or B is not ok */
    double drift;
    double *rounds[2]; /* of A and of B, scaled; with pairs: NULL and the ratios */
    int32_t count[2];
    double half[2]; /* half the width of each side's interval, divided by its median */
    stats_comparison c;
} compare_row;

typedef struct compare_rules {
    double least_effect, alpha;
    double fail_on; /* 0.05 is 5 %; NaN: no gate */
    bool force;
    bool all; /* also print rows that are SAME, and do not shorten lists */
    const char *device_a, *device_b;
    const tool_words *ops; /* NULL or empty: all */
} compare_rules;

typedef struct compare_set {
    const json_t *a, *b; /* borrowed documents; one document if its devices are compared */
    const char *path_a, *path_b;
    compare_rules rules;
    bool unpaired;
    bool several;   /* rows of several pairs of devices of one file */
    json_t *forced; /* texts: the differences that --force accepted */
    compare_row *rows;
    int32_t count;
} compare_set;

/* ---- match.c, unlike.c, rounds.c, pairs.c ---------------------------------------------------- */

/* Fills the rows. Returns TOOL_OK, or prints a message about the difference and returns an exit
 * code. */
int compare_match(compare_set *set);
/* Compares every two devices of one file, or the one that is named with every other. A is the later
 * one in the file, because accelerators come first. Fills and judges the rows. */
int compare_every(compare_set *set);
/* Judges by the rounds in the files, which were not taken in pairs. */
void compare_judge(compare_set *set);
/* Marks the rows that fail the gate: those that are SLOWER with a ratio above the gate, and lost
 * ones. */
void compare_gate(compare_set *set);
/* Reads and judges the rows of a document with "pairs". */
void compare_pairs_read(compare_set *set);
void compare_free(compare_set *set);

/* Reports the settings of the two runs that differ and must not, or with --force adds them to
 * `set->forced`. Returns their number. */
int compare_unlike(compare_set *set);
int compare_unlike_devices(compare_set *set); /* the same for the devices of matched rows */
/* Reports why no case matches. Returns TOOL_FILES. */
int compare_nothing(const compare_set *set);

/* Whether two results have the same case; `loose`: math mode and fill may differ. */
bool compare_same_case(const json_t *a, const json_t *b, bool loose);
/* Whether two results differ in size, and otherwise at most in math mode and fill. */
bool compare_same_but_size(const json_t *a, const json_t *b);
/* Notes in `set->forced` that cases of different sizes were matched. */
void compare_note_sizes(compare_set *set);

/* Fewer pairs cannot show a difference at STATS_ALPHA. */
enum { COMPARE_PAIRS_LEAST = 8 };

/* ---- advice.c -------------------------------------------------------------------------------- */

enum { COMPARE_MOST_ROUNDS = 1000 }; /* more than anyone would wait for */

/* What would decide an AMBIGUOUS case. */
typedef struct compare_need {
    enum {
        COMPARE_DECIDED,  /* it is not AMBIGUOUS */
        COMPARE_TOO_FEW,  /* `rounds` would be enough */
        COMPARE_OVERLAPS, /* about `rounds` would be needed */
        COMPARE_TOO_NOISY,
        COMPARE_DRIFTS /* runs at different times differ too much */
    } kind;
    int32_t rounds; /* or pairs */
} compare_need;
compare_need compare_what_decides(const compare_set *set, const compare_row *row);
/* The same in words, in `text`, which it returns; "" if the case is decided. */
const char *compare_advice(const compare_set *set, const compare_row *row, char *text, size_t room);

/* ---- answer.c -------------------------------------------------------------------------------- */

/* What the rows of two devices say as a whole. */
typedef struct compare_answer {
    const compare_row *first; /* names the devices */
    int32_t cases, verdicts[4], invalid;
    double times, low, high; /* how many times as fast B is: the geometric mean, its interval */
    double quarter[2];       /* half of the cases lie between these */
    double by[2];            /* the means of our own kernels and of vendors' libraries; NaN: none */
    int32_t other_math;      /* cases that ran in another math mode on one side: not counted */
    const compare_row *most, *least; /* the cases that B gains most and least in */
    int32_t rounds_least, rounds_most;
    double half[2], drift; /* the medians over the rows */
} compare_answer;
/* `op` NULL: of all operations; the interval, the quarters, `by`, `half` and `drift` are only set
 * then. */
compare_answer compare_answer_of(const compare_set *set, const compare_row *first, const char *op);

/* Whether a row is in summaries: it is judged, ran in the same math mode on both sides, and neither
 * number is invalid. */
bool compare_counts(const compare_row *row);
bool compare_same_devices(const compare_row *x, const compare_row *y);
/* Whether row i is the first judged one of its two devices. */
bool compare_first_of_devices(const compare_set *set, int32_t i);

/* ---- sentences.c ----------------------------------------------------------------------------- */

/* The answer in words: what is compared, which is faster, where, whether to believe it, and, if
 * cases are AMBIGUOUS, what decides them. The caller frees the array. */
json_t *compare_sentences(const compare_set *set, const compare_row *first);
/* Appends a side's name, device and library. */
void compare_add_side(char *text, const compare_set *set, const compare_row *row, bool b);
/* What the sentences call a side; `text` has the result. */
const char *compare_name(const compare_set *set, const compare_row *row, bool b, char *text,
                         size_t room);

enum { COMPARE_ROOM = 1024 }; /* of a sentence */
/* Appends to a sentence. */
void compare_add(char *text, const char *format, ...) ISO_PRINTF(2, 3);
void compare_add_size(char *text, const char *size); /* 64x256Ki as "64 x 256 Ki" */
/* Whether two sides of a row ran in the same math mode. */
bool compare_same_math(const compare_row *row);

/* ---- trust.c --------------------------------------------------------------------------------- */

/* Appends whether to believe the answer, and why. */
void compare_trust(char *text, const compare_set *set, const compare_answer *answer);
/* Appends what would decide the cases that are AMBIGUOUS. */
void compare_needs(char *text, const compare_set *set, const compare_answer *answer);

/* ---- fastest.c, gaps.c ----------------------------------------------------------------------- */

/* A problem that both devices solved. */
typedef struct compare_problem {
    const json_t *result; /* any of its results */
    double times;         /* how many times as fast B's fastest variant is as A's */
} compare_problem;
/* Returns how many there are, and the list, which is the caller's. Documents of pairs have none. */
int32_t compare_fastest(const compare_set *set, const compare_row *first, compare_problem **out);
double compare_fastest_mean(const compare_problem *problems, int32_t count);
/* Appends what to use each device for; nothing if there are no problems. */
void compare_use(char *text, const compare_set *set, const compare_row *first,
                 const compare_problem *problems, int32_t count);
/* Appends how many cases only one side has, and why. */
void compare_gaps(char *text, const compare_set *set, const compare_row *first);

/* ---- show.c, table.c, write.c ---------------------------------------------------------------- */

/* The tables of the rows that have a ratio. */
void compare_table(FILE *out, const compare_set *set, int width, bool colour);
void compare_heading(FILE *out, bool colour, const char *text);
void compare_show(FILE *out, const compare_set *set, int width, bool colour);

/* Appends the flags of a result. */
void compare_flags(char *text, size_t room, const json_t *holder);
/* Whether row i is the first one of its operation. */
bool compare_first_of_op(const compare_set *set, int32_t i);

/* The totals of an operation's rows; `op` NULL: of all rows. */
typedef struct compare_sum {
    int32_t cases, verdicts[4], unjudged, worse;
    double mean; /* geometric mean of the ratios; NaN: none */
} compare_sum;
compare_sum compare_summary(const compare_set *set, const char *op);

json_t *compare_json(const compare_set *set);
bool compare_csv(FILE *out, const compare_set *set);

/* The exit code: TOOL_OK, TOOL_FAILED if a case fails the gate, or TOOL_NOTHING if nothing was
 * compared. */
int compare_code(const compare_set *set);

/* ---- orders.c -------------------------------------------------------------------------------- */

bool compare_has_orders(const json_t *root); /* a file of `isomer reveal` */
/* Says which orders of two such files differ. `files`: --json or --csv was given. Returns the exit
 * code: TOOL_FAILED if one changed and there is a gate. */
int compare_orders(const compare_set *set, bool files);

/* ---- against.c, tally.c, child.c ------------------------------------------------------------- */

/* `isomer bench --against`: runs fresh processes of this program (A) and of `program` (B; NULL:
 * this program again) in turn, until there are `rounds` pairs. If `rounds` is 0, it stops when the
 * budget is used up. Both programs get the options of argv that select what is measured. Then it
 * judges the pairs, prints the table, and writes this program's results with the pairs to `json`
 * (NULL: nowhere). It does so even after an interruption, or if a program failed after the first
 * pair. A process that takes longer than `limit` seconds is killed. `fail_on` is a percentage, or
 * NaN. Returns the exit code. */
int compare_against(const char *program, int argc, char **argv, double budget, int32_t rounds,
                    double limit, double fail_on, const char *json);

/* `isomer bench --against-backend`: sets "pairs" and the two sides in the document of a run whose
 * rounds visited two devices in pairs. A is the first device. Returns an exit code. */
int compare_pair_devices(json_t *root);
/* Judges and shows the pairs of a document, and returns the exit code. */
int compare_show_pairs(FILE *out, const json_t *root, double fail_on);

/* Collects pairs; the cases keep the order of the first pair. */
typedef struct compare_tally compare_tally;
compare_tally *compare_tally_create(void);
void compare_tally_free(compare_tally *tally);
/* Adds a pair: one document of each program. Returns TOOL_OK, or prints a message if they do not
 * match and returns an exit code. */
int compare_tally_add(compare_tally *tally, const json_t *a, const json_t *b, const char *name_b);
/* The pairs of two devices: their rounds one by one. */
json_t *compare_round_pairs(const compare_set *set);
/* Sets the members "results" and "pairs" of `root`. */
void compare_tally_write(const compare_tally *tally, json_t *root);
/* Whether a case failed or had an error, on either side and in any pair. */
bool compare_tally_wrong(const compare_tally *tally);

enum { COMPARE_MOST_MIB = 64 }; /* of a program's output */

/* How a program's run ended, and its output. */
typedef struct compare_child {
    char *out; /* its standard output, ended by a 0 */
    size_t size;
    char *err;  /* the end of its standard error */
    int status; /* from waitpid */
    int error;  /* errno if it could not be started, otherwise 0 */
    bool late;  /* it was killed because its time was over ... */
    bool large; /* ... or because its output was longer than that */
} compare_child;

/* Runs a program and waits until it ends. After `limit` seconds, or when this process is asked to
 * stop (tool_stop_watch), the program is ended with everything that it started. False if there was
 * no memory, pipe or process for it; `error` says why. */
bool compare_run(char *const *argv, double limit, compare_child *child);
void compare_child_free(compare_child *child);

/* Whether --op selects a result's operation or kind. */
bool compare_wants(const compare_set *set, const json_t *result);

#endif
