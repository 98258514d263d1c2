/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - shared by the files of `isomer kernel check`, which finds mistakes in kernels. */
#ifndef ISOMER_KERNEL_CHECK_H
#define ISOMER_KERNEL_CHECK_H

#include "bench/kernel/describe.h"
#include "bench/kernel/judge/judge.h"
#include "bench/kernel/kernel.h"

/* What one check of one thing said. */
typedef enum check_verdict {
    CHECK_OK,
    CHECK_FOUND,       /* a mistake */
    CHECK_UNSUPPORTED, /* the device or chip lacks something that the text needs */
    CHECK_MISSING,     /* it could not be made */
    CHECK_VERDICTS
} check_verdict;

typedef struct check_row {
    const char *part;
    char *subject; /* a device, a chip, a kernel with its sizes */
    char *text;
    check_verdict verdict;
} check_row;

/* Equal findings are one, with a count. */
typedef struct check_finding {
    const char *part;
    const char *text; /* the name of the text that it is in */
    char *kernel;     /* "": none */
    char *what, *details;
    char *also; /* others that refuse the same line, with commas; NULL: none */
    const char *advice;
    char *key; /* what makes findings of a text equal */
    int64_t count;
    int line; /* of the text; 0: not known */
    int kind; /* of the judge; -1: none */
    int param;
    bool dropped;
} check_finding;

/* A kernel with one size, its inputs and the judge's results. */
typedef struct check_case {
    const describe_case *of;     /* NULL: the kernel has no reference, in check_run.references */
    const describe_kernel *user; /* the kernel whose reference this is; NULL: it is none */
    int32_t entry;               /* of the judge's table */
    unsigned char *
        *content; /* of each parameter with content: a value's bytes, a buffer's inputs */
    unsigned char **results; /* of each buffer that the kernel writes; NULL: not judged */
    unsigned char **counts;  /* an element of each such buffer, 0 in bytes that are padding */
    unsigned char **sets;    /* of each such buffer: whether the kernel wrote the scalar */
} check_case;

/* A program that the judge made. */
typedef struct check_program {
    char *path; /* NULL: it could not be made */
    char *why;
} check_program;

/* Of the compiler, on a variable that is read before it is set. */
typedef struct check_warning {
    int line;
    bool certain;
    char name[64];
} check_warning;

/* A text, and the judge's programs of it. */
typedef struct check_unit {
    iso_program_args args;   /* with all macros */
    iso_program program;     /* its declarations */
    int32_t index;           /* 0: the text that is checked; else of a reference */
    check_program judges[2]; /* the second fills private variables with a pattern */
    bool fills;              /* they do differ in that */
    check_warning *warnings;
    int32_t warning_count;
} check_unit;

/* A device of the machine, and the text compiled for it. */
typedef struct check_device {
    iso_device_info info;
    iso_device device; /* 0: it could not be opened */
    iso_program program;
    iso_status status; /* of opening or compiling */
    char *why;         /* NULL: both worked */
} check_device;

typedef struct check_run {
    /* options */
    const char *with, *cc, *json, *require, *only, *backend, *seconds, *kernel;
    uint64_t limit; /* seconds of a run */
    kernel_source source;
    tool_words required, parts, backends, kernels;

    tool_file json_file;
    FILE *out;
    describe_file file;
    bool described;      /* `file` was read */
    iso_device declared; /* the device for which declarations are read */
    check_unit own;      /* the text that is checked */
    check_unit *unit;    /* the one at hand: another is only while a reference is judged */
    check_unit **others; /* the texts of references */
    int32_t other_count;
    bool implied;           /* the check was not asked for, but another needs it */
    char *folder;           /* for temporary files */
    char *compiler;         /* path of the C compiler; NULL: there is none */
    char *compiler_version; /* the first line of its own words */
    bool is_clang;
    char *symbolizer; /* path of addr2line or its like; NULL: none */

    check_device *devices;
    int32_t device_count;
    check_case *cases, *references; /* of each case */
    int32_t case_count;
    check_row *rows;
    int32_t row_count;
    check_finding *findings;
    int32_t finding_count;
} check_run;

/* One of the checks, by the name that --only and --require take. */
typedef struct check_part {
    const char *name, *about;
    void (*run)(check_run *run);
    const char *needs; /* a check that is made before; NULL: none */
} check_part;

extern const char check_declarations[], check_compile[], check_chips[], check_judge[],
    check_address[], check_oclgrind[], check_results[];
extern const char check_c_compiler[]; /* what compiles the judge's programs, in messages */

/* ---- check_report.c -------------------------------------------------------------------------- */

/* The verdict of that name. */
check_verdict check_verdict_of(const char *name);
void check_say(check_run *run, const char *part, const char *subject, check_verdict verdict,
               const char *format, ...) ISO_PRINTF(5, 6);
/* The finding of the unit at hand with this key; NULL: none. */
check_finding *check_known(const check_run *run, const char *key);
/* Adds a finding, or counts it if one with the same key is there, and then returns NULL. */
check_finding *check_find(check_run *run, const char *part, const char *key, int line,
                          const char *kernel);
/* Removes the findings that the function says are a consequence of others. */
void check_drop(check_run *run, bool (*drops)(const check_run *run, const check_finding *at));
/* Whether a check has that name. */
bool check_is_part(const char *name);
/* Whether it is on the kernel of the unit at hand. */
bool check_is_on(const check_run *run, const check_finding *at, const char *kernel);
/* Whether there is a finding on the kernel. */
bool check_has(const check_run *run, const char *kernel);
/* ", " and a name more, in a text that is NULL or from malloc. */
void check_append(char **list, const char *name);
void check_report_free(check_run *run);
char *check_text(const char *format, ...) ISO_PRINTF(1, 2); /* allocated */
/* Prints findings and the summary, and returns the exit code. */
int check_report(check_run *run);
json_t *check_document(const check_run *run);

/* ---- check_process.c ------------------------------------------------------------------------- */

enum { CHECK_WORDS = 256 };

typedef struct check_child {
    int error; /* errno of a program that did not start; else 0 */
    bool late;
    int status; /* as from waitpid */
    char *said; /* what it wrote, from malloc */
} check_child;

/* Runs a program and waits for it. Returns whether it ended well. */
bool check_spawn(check_run *run, const char *const *words, double seconds, check_child *out);
/* Runs this command again on the same text, with settings ("NAME=VALUE", may be NULL) and more
 * words; both lists end with NULL. */
bool check_again(check_run *run, char *const *settings, const char *const *more, double seconds,
                 check_child *out);
void check_child_free(check_child *child);
/* What went wrong, in words. */
char *check_child_problem(const check_child *child, const char *name);
/* The absolute path of a program on PATH, from malloc; NULL: it is not there. */
char *check_which(const char *name);

bool check_folder_make(check_run *run);
void check_folder_delete(check_run *run);
char *check_path(const check_run *run, const char *name); /* in the folder, allocated */
bool check_write(const char *path, const void *data, size_t bytes);

/* ---- check_build.c: the C compiler ----------------------------------------------------------- */

/* Finds the compiler and the program that turns addresses into lines. */
void check_find_compiler(check_run *run);
/* Writes the text with the judge's entries as FOLDER/text.c. */
bool check_write_text(check_run *run);
/* Compiles and links sources that end with NULL to a program in the folder. */
bool check_build(check_run *run, const char *name, const char *const *options,
                 const char *const *link, const char *runtime, check_program *out);
/* The lines of the text for addresses in a program; 0: not known. */
void check_lines(check_run *run, const char *program, const uint64_t *pcs, int count, int *lines);
/* The base name of the unit's text. */
const char *check_name(const check_run *run);

/* ---- check_cases.c --------------------------------------------------------------------------- */

void check_cases_make(check_run *run);
void check_cases_free(check_run *run);
bool check_case_write(const check_case *item, bool reversed, int seconds, const char *path);
/* Reads the end of a run (judge.h). NULL: the file is not whole. The caller frees. */
judge_end *check_end_read(const char *path, judge_finding **findings, unsigned char **rest);
/* "stencil rows=33 cols=65" */
const char *check_case_name(const check_case *item, char *text, size_t room);
/* Whether it is the one of its kernel that suits a simulator best. */
bool check_case_is_small(const check_run *run, const check_case *item);
/* Whether the contents of written buffers are the judge's results. */
bool check_case_same(const check_case *item, unsigned char *const *contents);
/* Compares the contents of written buffers with the judge's results, and adds a finding. */
bool check_case_compare(check_run *run, const char *part, const char *who, const check_case *item,
                        unsigned char *const *contents);

/* ---- check_words.c --------------------------------------------------------------------------- */

/* A run of the judge. */
typedef struct check_scene {
    check_run *run;
    check_case *item;
    bool reversed;
    int program; /* of the run's judges */
} check_scene;

/* Puts what the judge's program found into words. */
void check_add_findings(const check_scene *s, const char *program, const judge_end *end,
                        const judge_finding *findings);

/* ---- check_judge.c and check_reference.c ----------------------------------------------------- */

/* Makes the judge's programs of the unit's text. Returns whether there are some. */
bool check_build_judges(check_run *run);
/* Runs a case of the unit at hand in both orders. */
void check_judge_case(check_run *run, check_case *item);
/* Runs the references of all cases, and compares which elements they write. */
void check_judge_references(check_run *run);
/* Frees a unit's programs and warnings. */
void check_unit_free(check_unit *unit);

/* ---- check_unset.c --------------------------------------------------------------------------- */

/* Asks the compiler for its warnings on the unit's text. */
void check_unset_begin(check_run *run);
/* Adds findings on a kernel's variables, because its results depend on one that is not set. */
void check_unset_confirm(check_run *run, const describe_kernel *kernel);

/* ---- check_devices.c ------------------------------------------------------------------------- */

/* Opens the devices, if they are not, and compiles the text for them. The part lists those that are
 * missing. */
void check_open_devices(check_run *run, const char *part);
/* Whether --backend allows it. */
bool check_is_wanted(const check_run *run, const char *backend);
void check_close_devices(check_run *run);
/* The first line of the text that a compiler's log names; 0: none. */
int check_line_in(const check_run *run, const char *log);
/* Reports what a compiler made of the text. Returns whether it compiles. */
bool check_compiled(check_run *run, const char *part, const char *subject, iso_status status,
                    const char *why);
/* One mistake is one finding, whatever the number of compilers that see it. */
void check_mistake(check_run *run, const char *subject, int line, const char *log);
/* Whether the text was found not to compile. */
bool check_is_broken(const check_run *run);

/* ---- the parts ------------------------------------------------------------------------------- */

void check_run_compile(check_run *run);
void check_run_chips(check_run *run);
void check_run_try(check_run *run);
void check_run_judge(check_run *run);
void check_run_address(check_run *run);
void check_run_oclgrind(check_run *run);
void check_run_results(check_run *run);
void check_run_launch(check_run *run);

#endif
