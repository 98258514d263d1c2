/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - the parts of a kernel's text: constant expressions, brackets and bodies. */
#ifndef ISOMER_CORE_KERNEL_PARSE_H
#define ISOMER_CORE_KERNEL_PARSE_H

#include "core/kernel/tokens.h"

/* A part of the reader's text. */
typedef struct kernel_range {
    int64_t at, length;
    int32_t line;
} kernel_range;

/* Evaluates with the definitions that the reader has met so far. `what` names the number in
 * messages. Returns 0 after a failure. */
int64_t kernel_number(kernel_reader *r, kernel_range range, const char *what,
                      const kernel_value *values, int32_t value_count);

/* Sets the steps of the kernel's extents, as far as that is possible. */
void kernel_set_steps(const kernel_reader *r, kernel_decl *kernel);

/* Whether a definition is of the reader's current word. */
bool kernel_names(const kernel_definition *row, const kernel_reader *r);
/* The macro that the current word of `word` is; NULL: it is none. `owner` has the definitions and
 * gets failures, for `what` on this line. */
const kernel_definition *kernel_find_macro(kernel_reader *owner, const kernel_reader *word,
                                           int32_t line, const char *what);

/* ---- types.c --------------------------------------------------------------------------------- */

/* Moves past a type, which may be a macro. */
void kernel_read_type(kernel_reader *r, const kernel_file *file, kernel_type *type);
/* Whether the current word is a type, or a macro for one. */
bool kernel_is_type(const kernel_reader *r, const kernel_file *file);
/* Whether the current word is a macro; `takes`: one with parameters. */
bool kernel_is_macro(const kernel_reader *r, bool *takes);
/* Moves past ISO_STRUCT(name) { members }; and adds the struct. */
void kernel_read_struct(kernel_reader *r, kernel_file *file);

/* ---- names.c --------------------------------------------------------------------------------- */

/* Where a name stands: outside of kernels it must be none of what compilers declare there. */
typedef enum kernel_name_place {
    KERNEL_NAME_OUTSIDE, /* a kernel, a struct */
    KERNEL_NAME_FUNCTION,
    KERNEL_NAME_INSIDE,  /* a parameter, a member, an index */
    KERNEL_NAME_VARIABLE /* of a body */
} kernel_name_place;

/* Whether the current word begins with iso_ or ISO_. */
bool kernel_is_reserved(const kernel_reader *word);
/* Checks that the current token may be the name of `what`. */
bool kernel_check_name(kernel_reader *r, kernel_name_place place, const char *what);
/* Moves past a name. */
void kernel_read_name(kernel_reader *r, kernel_name_place place, const char *what,
                      char name[KERNEL_NAME_MAX]);
/* ---- words.c --------------------------------------------------------------------------------- */

/* Checks the current word of `word`, which `user` ("kernel k") uses: it must be a macro, or neither
 * begin with iso_ and be unknown nor be one compiler's alone. `r` has the macros and gets the
 * failure. */
void kernel_check_word(kernel_reader *r, const kernel_reader *word, const char *user);

/* What to write instead of a compiler's word that a kernel must not use; NULL: it may. */
const char *kernel_instead(const kernel_reader *word);
/* Checks the name of a variable, the current token of `word`. `r` gets the failure. */
void kernel_check_variable(kernel_reader *r, const kernel_reader *word);

/* ---- body.c ---------------------------------------------------------------------------------- */

/* Whose a name in a body is. */
typedef enum kernel_name_kind {
    KERNEL_NAME_ITEM = 1, /* declared in a region */
    KERNEL_NAME_GROUP,    /* declared outside of regions, or a parameter that is a value */
    KERNEL_NAME_ARRAY,    /* a buffer or shared array */
    KERNEL_NAME_OWN
} kernel_name_kind;

typedef struct kernel_name {
    const char *text;
    int64_t length;
    kernel_name_kind kind;
} kernel_name;

/* The names that can be seen; a later one hides an earlier one. */
typedef struct kernel_variables {
    kernel_name *rows; /* from malloc */
    int64_t count, room;
} kernel_variables;

/* Different words outside of regions that are no variables, and the indices of regions. One that is
 * both is a mistake. Of many only the first are kept. */
enum { KERNEL_STRAYS_MAX = 64 };
typedef struct kernel_strays {
    struct kernel_stray {
        const char *text;
        int64_t length;
        int32_t line; /* of an index: its region's */
    } words[KERNEL_STRAYS_MAX], indices[KERNEL_STRAYS_MAX];
    int32_t word_count, index_count;
    bool off; /* the body has macros with parameters, which may declare anything */
} kernel_strays;

/* Where the reader is. */
typedef struct kernel_scope {
    kernel_reader *reader;
    const kernel_decl *kernel; /* NULL: outside of a kernel's body */
    const kernel_file *file;   /* of the kernel */
    kernel_variables *names;   /* of its body */
    int32_t depth;             /* open brackets and statements */
    bool in_region;
    bool in_loop;           /* inside the region, if there is one */
    int32_t scanned;        /* tokens of macros */
    int32_t statements;     /* of the body itself */
    kernel_name indices[3]; /* of the region along x, y and z; no text: it has none there */
    kernel_strays strays;
    int64_t last_region; /* where the body's last statement begins, if it is a region */
} kernel_scope;

/* Moves to the sign of `ends` that ends an argument, and keeps the argument's place. */
kernel_range kernel_read_argument(kernel_reader *r, const char *what, const char *ends);
/* Moves from a bracket past the one that closes it. */
void kernel_skip_brackets(kernel_scope *s);
/* Moves from the brace that opens a kernel's body past the one that closes it, checks it, and sets
 * the kernel's last_region_at and one_region. */
void kernel_skip_body(kernel_reader *r, const kernel_file *file, kernel_decl *kernel);
/* Moves past this word or sign, which must come now. `before` names what it follows. */
bool kernel_expect(kernel_reader *r, const char *text, const char *before);

/* ---- variables.c ----------------------------------------------------------------------------- */

/* Adds the kernel's parameters. */
void kernel_variables_begin(kernel_scope *s);
void kernel_variables_free(kernel_variables *names);
/* Adds the current word, the name of a region's index along an axis. */
void kernel_add_index(kernel_scope *s, int axis);
/* Of the region that begins: an earlier word outside of regions must not be one of its indices. */
void kernel_check_strays(kernel_scope *s, int32_t line);
/* Of the region that ends, which began on this line. */
void kernel_keep_indices(kernel_scope *s, int32_t line);
/* Checks how a word is used where the scope is, and adds the names that a declaration brings.
 * `word` is the scope's reader, or one in a macro's value. */
void kernel_check_use(kernel_scope *s, const kernel_reader *word);

#endif
