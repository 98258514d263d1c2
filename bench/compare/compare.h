/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - two results files, or two programs, case by case. A is what is compared with, B what
 * is judged; ratios are B's time by A's.
 */
#ifndef ISOMER_COMPARE_H
#define ISOMER_COMPARE_H

#include "bench/ops/ops.h"
#include "bench/stats/stats.h"
#include "bench/tool.h"

/* What is said of one side of a case. All is borrowed from the document. */
typedef struct compare_side {
    const json_t *result; /* NULL: it has no such case */
    const char *device, *library, *status, *reason;
    double median; /* nanoseconds; NaN unless ok */
} compare_side;

typedef struct compare_row {
    const char *id, *op;
    const char *other; /* B's case, of another size; NULL: it is A's */
    double share;      /* A's work by B's, as B's times count; 1 where they are one case */
    compare_side a, b;
    bool judged;   /* both are ok */
    bool lost;     /* A is ok, and B, which measured such cases there, is not; or so in any pair */
    bool paired;   /* by pairs, not by rounds */
    bool worse;    /* what fails the gate */
    int32_t pairs; /* or the lesser number of rounds */
    int32_t made, without_a, without_b; /* pairs with this case, and those with a side not ok */
    double drift;
    stats_comparison c;
} compare_row;

typedef struct compare_rules {
    double least_effect, alpha;
    double fail_on; /* as a share; NaN: no gate */
    bool force;
    bool all; /* print rows that are the same, and whole lists */
    const char *device_a, *device_b;
    const tool_words *ops; /* NULL or empty: all */
} compare_rules;

typedef struct compare_set {
    const json_t *a, *b; /* documents, borrowed; the same one where a run is compared within */
    const char *path_a, *path_b;
    compare_rules rules;
    bool unpaired;
    json_t *forced; /* texts: what is unlike and was let pass */
    compare_row *rows;
    int32_t count;
} compare_set;

/* ---- match.c, unlike.c ----------------------------------------------------------------------- */

/* Fills the rows. TOOL_OK, or an exit code after saying which is unlike what. */
int compare_match(compare_set *set);
/* Judges by the rounds in the files. False: no memory. */
bool compare_judge(compare_set *set);
/* Marks the rows that fail the gate: SLOWER with a ratio over it, and those that were lost. */
void compare_gate(compare_set *set);
/* The rows of a document with "pairs", as they were judged. */
int compare_pairs_read(compare_set *set);
void compare_free(compare_set *set);

/* Says what the two runs may not differ in, or lists it in `set->forced`. How many. */
int compare_unlike(compare_set *set);
int compare_unlike_devices(compare_set *set); /* the same of the devices of matched rows */
/* Why nothing matches, said. TOOL_FILES. */
int compare_nothing(const compare_set *set);

/* Whether two results are of one case; `loose` lets math mode and fill differ. */
bool compare_same_case(const json_t *a, const json_t *b, bool loose);
/* Whether they would be, with that, if it were not for their sizes. */
bool compare_same_but_size(const json_t *a, const json_t *b);
/* Notes in `set->forced` which cases of other sizes were matched. */
void compare_note_sizes(compare_set *set);

/* ---- show.c, write.c ------------------------------------------------------------------------- */

void compare_show(FILE *out, const compare_set *set, int width, bool colour);

/* What a list of rows comes to; `op` NULL: all. */
typedef struct compare_sum {
    int32_t cases, verdicts[4], unjudged, worse;
    double mean; /* geometric, of the ratios; NaN where none */
} compare_sum;
compare_sum compare_summary(const compare_set *set, const char *op);

json_t *compare_json(const compare_set *set);
bool compare_csv(FILE *out, const compare_set *set);

/* The exit code of a finished comparison: TOOL_OK, TOOL_FAILED by the gate, TOOL_NOTHING. */
int compare_code(const compare_set *set);

/* ---- against.c, tally.c, child.c ------------------------------------------------------------- */

/* Fewer pairs cannot show a difference at STATS_ALPHA. */
enum { COMPARE_PAIRS_LEAST = 8 };

/* `isomer bench --against`: alternates fresh processes of this program (A) and of `program` (B;
 * NULL: this one again), until `rounds` pairs are made, or (0) until the budget ends. Both
 * get the options of argv that select what is measured. Judges by the pairs, prints the table, and
 * writes this program's results with the pairs to `json` (NULL: nowhere), also where it was
 * interrupted or a program failed after the first pair. A process that takes
 * longer than `limit` seconds is ended. `fail_on` is a percentage, or NaN. The exit
 * code. */
int compare_against(const char *program, int argc, char **argv, double budget, int32_t rounds,
                    double limit, double fail_on, const char *json);

/* Pairs as they come: cases in the order of the first one. */
typedef struct compare_tally compare_tally;
compare_tally *compare_tally_create(void);
void compare_tally_free(compare_tally *tally);
/* Adds a document of either program. TOOL_OK, or an exit code after saying why they do not match.
 */
int compare_tally_add(compare_tally *tally, const json_t *a, const json_t *b, const char *name_b);
/* The members "results" and "pairs". False: no memory. */
bool compare_tally_write(const compare_tally *tally, json_t *root);
/* Whether a case of either failed or ended in an error in any pair. */
bool compare_tally_wrong(const compare_tally *tally);

/* Runs a program with its stdout taken into memory. */
typedef struct compare_child {
    char *out; /* what it wrote, with a 0 behind; to be freed */
    size_t size;
    char *err;  /* the end of what it said */
    int status; /* of waitpid */
    int error;  /* errno where it could not be started, else 0 */
    bool late;  /* it was ended: its time was over ... */
    bool large; /* ... or it wrote more than a document has */
} compare_child;

/* Ends it, and what it has started, after `limit` seconds. False: no memory, pipe or process;
 * `error` says why. */
bool compare_run(char *const *argv, double limit, compare_child *child);
void compare_child_free(compare_child *child);

/* Whether --op lets it through; `op` as a document has it. */
bool compare_wants_op(const compare_set *set, const char *op);

#endif
