/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - the statements of a kernel's body, as far as the rules of regions need them. */
#include "core/kernel/parse.h"

#include <string.h>

enum { NEST_MOST = 100, MACROS_MOST = 16, SCANNED_MOST = 65536 };

static void skip_statement(kernel_scope *s);

/* ---- single tokens --------------------------------------------------------------------------- */

bool kernel_expect(kernel_reader *r, const char *text, const char *before)
{
    if (!kernel_is(r, text)) {
        kernel_fail(r, r->token.line, "%s has \"%.*s\" after it, and needs %s there", before,
                    kernel_shown_length(r), kernel_shown(r), text);
        return false;
    }
    kernel_next(r);
    return !r->status;
}

/* The indices of a region; 0 if the current token begins none. */
static int region_indices(const kernel_reader *r)
{
    static const char *const names[] = {"ISO_REGION", "ISO_REGION_2", "ISO_REGION_3"};

    for (int i = 0; i < 3; i++) {
        if (kernel_is(r, names[i])) {
            return i + 1;
        }
    }
    return 0;
}

/* Whether it is ISO_GROUP_SUM or its like, which have regions in them. */
static bool is_sum(const kernel_reader *r)
{
    static const char *const names[] = {"ISO_GROUP_SUM", "ISO_GROUP_MIN", "ISO_GROUP_MAX",
                                        "ISO_TEAM_SUM",  "ISO_TEAM_MIN",  "ISO_TEAM_MAX"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (kernel_is(r, names[i])) {
            return true;
        }
    }
    return false;
}

/* The word, if no kernel may contain it; else NULL. */
static const char *refused_word(const kernel_reader *r)
{
    static const char *const refused[] = {"return", "goto", "asm", "__asm", "__asm__"};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (kernel_is(r, refused[i])) {
            return refused[i];
        }
    }
    return NULL;
}

static bool is_loop(const kernel_reader *r)
{
    return kernel_is(r, "for") || kernel_is(r, "while") || kernel_is(r, "do") ||
           kernel_is(r, "switch");
}

/* What a macro's value contains, and the values of macros in it. */
typedef struct hidden {
    const char *refused;
    bool loop, region, block; /* block: a { after the region */
    bool sum;
    bool leaves; /* a break outside of a loop in it */
} hidden;

static void look_into(kernel_scope *s, const kernel_reader *word, int depth, hidden *found)
{
    const kernel_definitions *defined = s->reader->defined;

    for (int64_t i = 0; i < defined->count && depth < MACROS_MOST; i++) {
        const kernel_definition *row = &defined->rows[i];
        kernel_reader value = {.call = s->reader->call,
                               .name = s->reader->name,
                               .text = row->value,
                               .end = row->value_length,
                               .line = word->token.line,
                               .one_line = true};

        if (!kernel_names(row, word)) {
            continue;
        }
        for (kernel_next(&value); value.token.kind != KERNEL_END; kernel_next(&value)) {
            if (++s->scanned > SCANNED_MOST) {
                kernel_fail(s->reader, s->reader->token.line,
                            "the macros of kernel %s have more than %d tokens: shorten them",
                            s->kernel->name, SCANNED_MOST);
                return;
            }
            if (!row->takes) { /* names of a macro's own parameters may be others */
                kernel_check_use(s, &value);
            }
            found->refused = found->refused ? found->refused : refused_word(&value);
            found->loop = found->loop || is_loop(&value);
            found->leaves = found->leaves || (kernel_is(&value, "break") && !found->loop);
            found->region = found->region || region_indices(&value);
            found->sum = found->sum || is_sum(&value);
            found->block = found->block || (found->region && kernel_is(&value, "{"));
            look_into(s, &value, depth + 1, found);
        }
    }
}

static void fail_sum(kernel_scope *s, const char *which)
{
    kernel_reader *r = s->reader;

    kernel_fail(r, r->token.line,
                "kernel %s has %.*s%s inside of a region, but it is a step of the whole group: end "
                "the region before it, and begin another one after it",
                s->kernel->name, kernel_shown_length(r), kernel_shown(r), which);
}

static hidden check_macro(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    hidden found = {0};

    if (r->token.kind != KERNEL_WORD) {
        return found;
    }
    look_into(s, r, 0, &found);
    if (found.refused) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses the macro %.*s, which has %s: a kernel must not leave its "
                    "statements that way",
                    s->kernel->name, kernel_shown_length(r), kernel_shown(r), found.refused);
    } else if (found.leaves && (found.region || (s->in_region && !s->in_loop))) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses the macro %.*s, which has a break that leaves a region: use "
                    "continue, which ends the item's part of the region",
                    s->kernel->name, kernel_shown_length(r), kernel_shown(r));
    } else if (found.sum && s->in_region) {
        fail_sum(s, ", a macro with a sum over the group or its teams,");
    } else if (found.region && (!found.block || s->in_region)) {
        kernel_fail(r, r->token.line,
                    "kernel %s uses the macro %.*s, which begins a region%s: write it out",
                    s->kernel->name, kernel_shown_length(r), kernel_shown(r),
                    s->in_region ? " inside of a region" : " without its { }");
    }
    return found;
}

static const kernel_param *find_param(const kernel_scope *s, const kernel_reader *word)
{
    for (int32_t i = 0; i < s->kernel->param_count; i++) {
        if (kernel_is(word, s->kernel->params[i].name)) {
            return &s->kernel->params[i];
        }
    }
    return NULL;
}

/* A sum that stands between regions: its array and its values, if they are named. */
static void check_sum(kernel_scope *s)
{
    kernel_reader *r = s->reader, word = *r;
    const int64_t items = (int64_t)s->kernel->size[0] * s->kernel->size[1] * s->kernel->size[2];
    const kernel_param *part, *own;
    const char last = r->past > 0 ? r->text[r->past - 1] : ';';
    const bool after_else = r->past >= 4 && !memcmp(r->text + r->past - 4, "else", 4);

    word.defined = NULL;
    kernel_next(&word);
    kernel_next(&word);
    part = find_param(s, &word);
    if (!strchr(";{}):", last) && !after_else) {
        kernel_fail(
            r, r->token.line,
            "kernel %s has %.*s inside of an expression: write it as a statement by itself, "
            "and read what it makes from its array, %s[0], in the next region",
            s->kernel->name, kernel_shown_length(r), kernel_shown(r), part ? part->name : "part");
        return;
    }
    kernel_next(&word);
    kernel_next(&word);
    own = find_param(s, &word);
    if (part && part->role == KERNEL_SHARED && part->count > 0 && part->count < items) {
        kernel_fail(r, r->token.line,
                    "kernel %s: %s has %lld elements, but %.*s needs one for each of the group's "
                    "%lld items",
                    s->kernel->name, part->name, (long long)part->count, kernel_shown_length(r),
                    kernel_shown(r), (long long)items);
    } else if (part && own && strcmp(part->type.name, own->type.name) != 0) {
        kernel_fail(r, r->token.line,
                    "kernel %s: %.*s adds values of type %s (%s) in an array of %s (%s): give both "
                    "one type",
                    s->kernel->name, kernel_shown_length(r), kernel_shown(r), own->type.name,
                    own->name, part->type.name, part->name);
    }
}

/* Whether the word before a ( at `at` may take an address: an atomic, or a macro. */
static bool takes_place(const kernel_scope *s, int64_t at)
{
    static const char atomic[] = "iso_atomic_";
    const char *text = s->reader->text;
    int64_t end = at, begin;
    kernel_reader word = *s->reader;
    bool takes = false;

    while (end > 0 && strchr(" \t\n", text[end - 1])) {
        end--;
    }
    for (begin = end; begin > 0 && (text[begin - 1] == '_' ||
                                    (text[begin - 1] >= '0' && text[begin - 1] <= '9') ||
                                    (text[begin - 1] >= 'a' && text[begin - 1] <= 'z') ||
                                    (text[begin - 1] >= 'A' && text[begin - 1] <= 'Z'));
         begin--) {
    }
    word.token = (kernel_token){.kind = KERNEL_WORD, .at = begin, .length = end - begin};
    return (end - begin > (int64_t)sizeof atomic - 1 &&
            !memcmp(text + begin, atomic, sizeof atomic - 1)) ||
           kernel_is_macro(&word, &takes);
}

/* A * or & that is not between two values. */
static void check_pointer(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    const char last = r->past > 0 ? r->text[r->past - 1] : ';';
    const char next = r->token.at + 1 < r->end ? r->text[r->token.at + 1] : 0;

    if (r->one_line || !strchr("(=+-*/%|^!~?:;{}<>[", last)) {
        return;
    }
    if (kernel_is(r, "*")) {
        kernel_fail(
            r, r->token.line,
            "kernel %s reads through a pointer, with *: write x[index], because backends differ "
            "in pointers",
            s->kernel->name);
    } else if (kernel_is(r, "&") && next != '&' && !(last == '(' && takes_place(s, r->past - 1))) {
        kernel_fail(r, r->token.line,
                    "kernel %s takes an address, with &: only atomics do, as in "
                    "iso_atomic_add_i32(&x[index], 1)",
                    s->kernel->name);
    }
}

/* What no kernel may contain. */
static void check_token(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    const char *refused = refused_word(r);

    if (refused) {
        kernel_fail(r, r->token.line,
                    "kernel %s has %s: a kernel must not leave its statements that way; use "
                    "if, or continue in a region",
                    s->kernel->name, refused);
    }
    if (kernel_is(r, "break") && s->in_region && !s->in_loop) {
        kernel_fail(r, r->token.line,
                    "kernel %s has break in a region, outside of a loop: use continue, which ends "
                    "the item's part of the region",
                    s->kernel->name);
    } else if (is_sum(r) && s->in_region) {
        fail_sum(s, "");
    } else if (is_sum(r)) {
        check_sum(s);
    } else if (kernel_is_sign(r, "*&")) {
        check_pointer(s);
    } else if (region_indices(r)) {
        kernel_fail(r, r->token.line,
                    "kernel %s has %.*s inside of an expression: it must begin a statement",
                    s->kernel->name, kernel_shown_length(r), kernel_shown(r));
    } else {
        check_macro(s);
        kernel_check_use(s, r);
    }
}

static void take(kernel_scope *s)
{
    kernel_reader *r = s->reader;

    if (s->kernel) {
        check_token(s);
    }
    if (kernel_is(r, "ISO_KERNEL")) {
        kernel_fail(r, r->token.line,
                    "ISO_KERNEL stands inside of brackets: close them before it, a kernel is "
                    "outside of all braces");
    }
    kernel_next(r);
}

/* ---- brackets -------------------------------------------------------------------------------- */

static bool enter(kernel_scope *s)
{
    if (++s->depth > NEST_MOST) {
        kernel_fail(s->reader, s->reader->token.line,
                    "brackets and statements nest more than %d deep: move the inner ones out",
                    NEST_MOST);
    }
    return !s->reader->status;
}

static void fail_open(kernel_reader *r, char open, char close, int32_t line)
{
    if (r->token.kind == KERNEL_END) {
        kernel_fail(r, line, "the %c that stands here is never closed: add its %c", open, close);
    } else {
        kernel_fail(r, r->token.line,
                    "\"%.*s\" does not close the %c of line %ld: add the %c before it",
                    kernel_shown_length(r), kernel_shown(r), open, (long)line, close);
    }
}

/* From the brace that opens a block past the one that closes it. */
static void skip_block(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    int32_t line = r->token.line;
    const int64_t seen = s->names->count;

    if (!enter(s)) {
        return;
    }
    kernel_next(r);
    while (r->token.kind != KERNEL_END && !kernel_is_sign(r, "})]")) {
        if (s->depth == 1) {
            s->last_region = region_indices(r) ? r->token.at : 0;
            s->statements++;
        }
        skip_statement(s);
    }
    if (kernel_is(r, "}")) {
        kernel_next(r);
    } else {
        fail_open(r, '{', '}', line);
    }
    s->names->count = seen;
    s->depth--;
}

void kernel_skip_brackets(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    int32_t line = r->token.line;
    char open = r->text[r->token.at];
    char close = (char)(open == '(' ? ')' : open == '[' ? ']' : '}');

    if (!enter(s)) {
        return;
    }
    kernel_next(r);
    while (r->token.kind != KERNEL_END && !kernel_is_sign(r, ")]}")) {
        if (s->kernel && kernel_is(r, "{")) {
            skip_block(s);
        } else if (kernel_is_sign(r, "([{")) {
            kernel_skip_brackets(s);
        } else {
            take(s);
        }
    }
    if (kernel_is_sign(r, (char[]){close, 0})) {
        kernel_next(r);
    } else {
        fail_open(r, open, close, line);
    }
    s->depth--;
}

kernel_range kernel_read_argument(kernel_reader *r, const char *what, const char *ends)
{
    kernel_range range = {.at = r->token.at, .line = r->token.line};
    kernel_scope s = {.reader = r};
    int64_t end = range.at;

    while (r->token.kind != KERNEL_END && !kernel_is_sign(r, ")]}") && !kernel_is_sign(r, ends)) {
        if (kernel_is_sign(r, "([{")) {
            kernel_skip_brackets(&s);
        } else {
            kernel_next(r);
        }
        end = r->past;
    }
    range.length = end - range.at;
    if (!kernel_is_sign(r, ends)) {
        kernel_fail(r, range.line, "%s is not closed: add the %c after it", what,
                    ends[strlen(ends) - 1]);
    } else if (!range.length) {
        kernel_fail(r, range.line, "%s is empty: write a number or an expression", what);
    }
    return range;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* A word and the parentheses that it needs. */
static void skip_head(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    kernel_token word = r->token;

    take(s);
    if (kernel_is(r, "(")) {
        kernel_skip_brackets(s);
    } else {
        kernel_fail(r, word.line, "%.*s has no ( after it: add one", (int)word.length,
                    r->text + word.at);
    }
}

static void skip_loop(kernel_scope *s)
{
    bool in_loop = s->in_loop;
    const int64_t seen = s->names->count;

    skip_head(s);
    s->in_loop = true;
    skip_statement(s);
    s->in_loop = in_loop;
    s->names->count = seen;
}

static void skip_do(kernel_scope *s)
{
    int32_t line = s->reader->token.line;
    bool in_loop = s->in_loop;

    take(s);
    s->in_loop = true;
    skip_statement(s);
    s->in_loop = in_loop;
    if (kernel_is(s->reader, "while")) {
        skip_head(s);
    } else {
        kernel_fail(s->reader, line, "the do that stands here has no while: add while (...);");
    }
    if (kernel_is(s->reader, ";")) {
        take(s);
    }
}

/* A chain of else if is one loop here: it may be long. */
static void skip_if(kernel_scope *s)
{
    while (kernel_is(s->reader, "if")) {
        skip_head(s);
        skip_statement(s);
        if (!kernel_is(s->reader, "else")) {
            return;
        }
        take(s);
    }
    skip_statement(s);
}

/* The names of a region's indices, with their parentheses. */
static void read_indices(kernel_scope *s, int count)
{
    static const char *const names[] = {"ISO_REGION", "ISO_REGION_2", "ISO_REGION_3"};
    kernel_reader *r = s->reader;
    const char *before = names[count - 1];

    kernel_next(r);
    if (!kernel_expect(r, "(", before)) {
        return;
    }
    for (int i = 0; i < count; i++) {
        if (!kernel_check_name(r, KERNEL_NAME_INSIDE, "a region's index")) {
            return;
        }
        kernel_add_index(s, i);
        kernel_next(r);
        if (!kernel_is(r, i + 1 < count ? "," : ")")) {
            kernel_fail(r, r->token.line,
                        "%s has \"%.*s\" after %d of its indices: it takes the names of %d", before,
                        kernel_shown_length(r), kernel_shown(r), i + 1, count);
            return;
        }
        kernel_next(r);
    }
    if (!kernel_is(r, "{")) {
        kernel_fail(r, r->token.line,
                    "%s has \"%.*s\" after it: a region is a block, put it in { }", before,
                    kernel_shown_length(r), kernel_shown(r));
    }
}

static void skip_region(kernel_scope *s, int count)
{
    kernel_reader *r = s->reader;
    const int32_t *size = s->kernel->size;
    int needed = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    bool in_loop = s->in_loop;
    const int64_t seen = s->names->count;
    const int32_t line = r->token.line;

    if (s->in_region) {
        kernel_fail(r, r->token.line,
                    "kernel %s has a region inside of a region: close the outer one first",
                    s->kernel->name);
    } else if (count < needed) {
        kernel_fail(r, r->token.line,
                    "kernel %s has a region of %d ind%s, and groups of %ld x %ld x %ld items: use "
                    "ISO_REGION_%d",
                    s->kernel->name, count, count > 1 ? "ices" : "ex", (long)size[0], (long)size[1],
                    (long)size[2], needed);
    }
    memset(s->indices, 0, sizeof s->indices);
    read_indices(s, count);
    if (r->status) {
        return;
    }
    kernel_check_strays(s, line);
    s->in_region = true;
    s->in_loop = false;
    skip_block(s);
    s->in_region = false;
    s->in_loop = in_loop;
    kernel_keep_indices(s, line);
    s->names->count = seen;
}

static bool begins_statement(const kernel_reader *r)
{
    static const char *const words[] = {"for", "while", "do", "if", "switch", "else"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (kernel_is(r, words[i])) {
            return true;
        }
    }
    return region_indices(r) > 0;
}

/* An expression, a declaration, or what stands before a statement: a label, or a macro. A block is
 * part of it, because an initialiser has braces too. */
static void skip_expression(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    int questions = 0;

    while (r->token.kind != KERNEL_END && !kernel_is_sign(r, "})];")) {
        if (begins_statement(r)) {
            skip_statement(s);
            return;
        }
        if (kernel_is_sign(r, "([")) {
            kernel_skip_brackets(s);
        } else if (kernel_is(r, "{")) {
            skip_block(s);
            if (r->token.kind != KERNEL_SIGN || kernel_is(r, "{")) {
                return;
            }
        } else if (kernel_is(r, ":") && !questions) {
            take(s);
            skip_statement(s);
            return;
        } else {
            questions += kernel_is(r, "?") - kernel_is(r, ":");
            take(s);
        }
    }
    if (kernel_is(r, ";")) {
        take(s);
    }
}

static void skip_statement(kernel_scope *s)
{
    kernel_reader *r = s->reader;
    const bool in_loop = s->in_loop;

    if (!enter(s)) {
        return;
    }
    if (kernel_is(r, "{")) {
        skip_block(s);
    } else if (kernel_is(r, "for") || kernel_is(r, "while") || kernel_is(r, "switch")) {
        skip_loop(s);
    } else if (kernel_is(r, "do")) {
        skip_do(s);
    } else if (kernel_is(r, "if")) {
        skip_if(s);
    } else if (kernel_is(r, "else")) {
        take(s);
        skip_statement(s);
    } else if (region_indices(r)) {
        skip_region(s, region_indices(r));
    } else {
        s->in_loop = in_loop || check_macro(s).loop; /* the macro may be the loop's head */
        skip_expression(s);
        s->in_loop = in_loop;
    }
    s->depth--;
}

void kernel_skip_body(kernel_reader *r, const kernel_file *file, kernel_decl *kernel)
{
    kernel_variables names = {0};
    kernel_scope s = {.reader = r, .kernel = kernel, .file = file, .names = &names};

    kernel_variables_begin(&s);
    skip_block(&s);
    kernel_variables_free(&names);
    kernel->last_region_at = s.last_region;
    kernel->one_region = s.last_region > 0 && s.statements == 1;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_role role = kernel->params[i].role;
        kernel->one_region = kernel->one_region && role != KERNEL_SHARED && role != KERNEL_OWN;
    }
}
