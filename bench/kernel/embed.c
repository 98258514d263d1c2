/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - `isomer kernel embed`: compiles a text for CPUs when a program is built, so that the
 * program needs no compiler when it runs. The result is one relocatable object and a header. */
#include "bench/kernel/kernel.h"
#include "common/kernel_flags.h"

#include <stdlib.h>
#include <string.h>

static const char options[] =
    "  --define NAME=VALUE  a macro for the text; may be given again\n"
    "  --output FOLDER      embed: where FILE.h and FILE.o go (default: the working directory)\n"
    "  --cc CC              embed: the C compiler (default: $CC, or cc)\n"
    "  --cflags FLAGS       embed: flags that it needs for its target, such as --sysroot\n"
    "  --name ID            embed: the table's name in C (default: FILE with _ for . and -)\n"
    "  --sets LIST          embed: instruction sets (default: all that the compiler has)\n";

enum { SETS_MAX = 8, PATH_ROOM = 4096 };

/* The sets of a processor family, by the first word of what the compiler calls its target. */
static const struct family {
    const char *machine;
    const char *sets[SETS_MAX];
} families[] = {
    {"x86_64", {"generic", "avx2", "avx512"}},
    {"aarch64", {"generic", "sve256", "sve512"}},
    {"", {"generic"}}, /* all others */
};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* The caller's own flags must not change the bits, nor what becomes of the object. */
static const char *const own_options[] = {
    "-fno-fast-math",
    "-fno-associative-math",
    "-fno-reciprocal-math",
    "-fno-finite-math-only",
    "-fsigned-zeros",
    "-fno-lto",
    "-fvisibility=hidden",
    "-Werror=implicit-function-declaration", /* or the program's linker would find it */
    NULL,
};

/* clang warns of options that only gcc has, unless it gets this one, which gcc has not. */
static const char quiet_option[] = "-Qunused-arguments";

typedef struct embedding {
    const char *output, *cc, *cflags, *name, *sets_text;
    const char *base; /* the file's name without folders */
    char symbol[256];
    kernel_source source;
    kernel_line compiler; /* with the caller's flags */
    bool gcc;             /* it takes kernel_gcc_options */
    const char *sets[SETS_MAX];
    int set_count;
    tool_words words; /* of sets_text */
    tool_file input, header, object, parts[SETS_MAX + 1];
    char paths[3][PATH_ROOM]; /* of input, header and object */
} embedding;

/* ---- names ----------------------------------------------------------------------------------- */

static int find_symbol(embedding *e)
{
    static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *slash = strrchr(e->source.args.name, '/');
    e->base = slash ? slash + 1 : e->source.args.name;
    const char *from = e->name ? e->name : e->base;
    snprintf(e->symbol, sizeof e->symbol, "%s", from);
    for (char *at = e->symbol; *at && !e->name; at++) {
        *at = *at == '.' || *at == '-' ? '_' : *at;
    }
    if (strlen(from) >= sizeof e->symbol || e->symbol[strspn(e->symbol, letters)] != '\0' ||
        e->symbol[0] == '\0' || strchr("0123456789", e->symbol[0])) {
        return tool_error(TOOL_USAGE,
                          "\"%s\" gives no name in C: it has letters, digits and _, and begins "
                          "with no digit: %s",
                          from, e->name ? "give --name another one" : "give one with --name");
    }
    if (strpbrk(e->source.args.name, "\"\\\n")) {
        return tool_error(
            TOOL_USAGE,
            "the path \"%s\" has a quote, a backslash or a line end, which a compiler "
            "takes for more than a name: rename the file",
            e->source.args.name);
    }
    return TOOL_OK;
}

static int make_paths(embedding *e)
{
    static const char *const endings[] = {"c", "h", "o"};
    for (int i = 0; i < 3; i++) {
        const int length = snprintf(e->paths[i], PATH_ROOM, "%s%s%s.%s", e->output ? e->output : "",
                                    e->output ? "/" : "", e->base, endings[i]);
        if (length < 0 || length >= PATH_ROOM) {
            return tool_error(TOOL_USAGE, "the paths of the output are longer than %d bytes",
                              PATH_ROOM - 1);
        }
    }
    return TOOL_OK;
}

/* Opens a file that is not there until it is whole. */
static int open_whole(tool_file *file, const char *path)
{
    int code = tool_file_open(file, path);
    if (code == TOOL_OK && !file->temporary) {
        tool_file_discard(file);
        code = tool_error(TOOL_IO, "cannot write %s: it is no regular file", path);
    }
    return code;
}

/* ---- the compiler ---------------------------------------------------------------------------- */

static void find_compiler(embedding *e)
{
    const char *variable = getenv("CC");
    if (e->cc) {
        kernel_line_add(&e->compiler, e->cc);
    } else if (variable && variable[strspn(variable, " \t\n")] != '\0') {
        kernel_line_split(&e->compiler, variable, strlen(variable));
    } else {
        kernel_line_add(&e->compiler, "cc");
    }
    if (e->cflags) {
        kernel_line_split(&e->compiler, e->cflags, strlen(e->cflags));
    }
}

static kernel_line begin_line(const embedding *e)
{
    kernel_line line = {0};
    for (int i = 0; i < e->compiler.count; i++) {
        kernel_line_add(&line, e->compiler.words[i]);
    }
    return line;
}

static void add_options(kernel_line *line, const char *const *list)
{
    for (; *list; list++) {
        kernel_line_add(line, *list);
    }
}

/* A command that compiles its input for an instruction set. */
static kernel_line compile_line(const embedding *e, const char *set)
{
    kernel_line line = begin_line(e);
    const char *flags = kernel_set_flags(set);
    add_options(&line, kernel_options);
    if (e->gcc) {
        add_options(&line, kernel_gcc_options);
    }
    kernel_line_split(&line, flags, strcspn(flags, ","));
    add_options(&line, own_options);
    return line;
}

/* Runs a command and shows what it says, also warnings. */
static int run_line(kernel_line *line, const char *input, const char *doing, const char *name)
{
    char *said = NULL;
    const int code = kernel_line_run(line, input, &said);
    if (said && (code == TOOL_OK || code == TOOL_FAILED)) {
        fputs(said, stderr);
    }
    if (code == TOOL_FAILED) {
        (void)tool_error(code, "%s fails %s %s", line->words[0], doing, name);
    }
    free(said);
    kernel_line_free(line);
    return code;
}

static int find_family(embedding *e, const struct family **out)
{
    kernel_line line = begin_line(e);
    char *said = NULL;
    int at = 0;
    kernel_line_add(&line, "-dumpmachine");
    const int code = kernel_line_run(&line, "/dev/null", &said);
    while (code == TOOL_OK && said &&
           strncmp(said, families[at].machine, strlen(families[at].machine)) != 0) {
        at++;
    }
    if (code == TOOL_FAILED) {
        (void)tool_error(code, "%s -dumpmachine fails, so its target is not known: %s",
                         line.words[0], said ? said : "");
    }
    *out = &families[said ? at : FAMILIES - 1];
    free(said);
    kernel_line_free(&line);
    return code;
}

/* TOOL_OK if the compiler takes the flags of a set, with `option` if that is not NULL, TOOL_FAILED
 * if it does not. */
static int try_flags(const embedding *e, const char *set, const char *option)
{
    kernel_line line = compile_line(e, set);
    char *said = NULL;
    if (option) {
        kernel_line_add(&line, option);
    }
    kernel_line_add(&line, "-fsyntax-only");
    kernel_line_add(&line, "-");
    const int code = kernel_line_run(&line, "/dev/null", &said);
    free(said);
    kernel_line_free(&line);
    return code;
}

/* Chooses the sets: those of --sets, or of the family. */
static int choose_sets(embedding *e, const struct family *family)
{
    for (int i = 0; i < SETS_MAX && family->sets[i]; i++) {
        const char *set = family->sets[i];
        if (e->sets_text && !tool_words_have(&e->words, set) && strcmp(set, "generic") != 0) {
            continue;
        }
        const int code = try_flags(e, set, NULL);
        if (code == TOOL_OK) {
            e->sets[e->set_count++] = set;
        } else if (code != TOOL_FAILED) {
            return code;
        } else if (e->sets_text || i == 0) {
            return tool_error(TOOL_FAILED, "%s does not compile for the instruction set %s: %s",
                              e->compiler.words[0], set,
                              i == 0 ? "are the flags right?" : "leave it out of --sets");
        } else {
            (void)tool_error(TOOL_OK, "%s does not compile for %s, which is left out",
                             e->compiler.words[0], set);
        }
    }
    return TOOL_OK;
}

static int find_sets(embedding *e)
{
    const struct family *family = NULL;
    tool_names names = {0};
    int code = find_family(e, &family);
    e->gcc = code == TOOL_OK && try_flags(e, "generic", kernel_gcc_options[0]) == TOOL_OK;
    for (int i = 0; code == TOOL_OK && i < SETS_MAX; i++) {
        tool_names_add(&names, family->sets[i]);
    }
    if (code == TOOL_OK && !tool_split(e->sets_text, &e->words)) {
        tool_no_memory("the command line");
    }
    if (code == TOOL_OK) {
        code = tool_words_check("sets", &e->words, &names);
    }
    return code == TOOL_OK ? choose_sets(e, family) : code;
}

static int find_quiet(embedding *e)
{
    const int code = try_flags(e, "generic", quiet_option);
    if (code == TOOL_OK) {
        kernel_line_add(&e->compiler, quiet_option);
    }
    return code == TOOL_FAILED ? TOOL_OK : code;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* A loop over items that is not for vectors is no fault of the text. */
static const char quiet[] = "#if defined(__clang__)\n"
                            "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
                            "#endif\n";

/* Writes what the next command reads. */
static int write_input(embedding *e, const char *text)
{
    int code = open_whole(&e->input, e->paths[0]);
    if (code == TOOL_OK && (fputs(quiet, e->input.stream) == EOF ||
                            fputs(text, e->input.stream) == EOF || fflush(e->input.stream) != 0)) {
        code = tool_error(TOOL_IO, "cannot write %s: the disk may be full", e->paths[0]);
    }
    return code;
}

/* `define` may be NULL. */
static int compile(embedding *e, const char *set, const char *define, tool_file *part)
{
    int code = open_whole(part, e->paths[2]);
    if (code != TOOL_OK) {
        return code;
    }
    kernel_line line = compile_line(e, set);
    if (define) {
        kernel_line_add(&line, define);
    }
    kernel_line_add(&line, "-c");
    kernel_line_add(&line, "-o");
    kernel_line_add(&line, part->temporary);
    kernel_line_add(&line, "-");
    return run_line(&line, e->input.temporary, "with", e->source.args.name);
}

static int compile_sets(embedding *e)
{
    int code = TOOL_OK;
    char define[sizeof e->symbol + 64];
    char *text = kernel_complete(&e->source, &code);
    if (text) {
        code = write_input(e, text);
    }
    for (int i = 0; code == TOOL_OK && i < e->set_count; i++) {
        snprintf(define, sizeof define, "-DISO_EMBEDDED_ENTRIES=%s_%s", e->symbol, e->sets[i]);
        code = compile(e, e->sets[i], define, &e->parts[i]);
    }
    free(text);
    tool_file_discard(&e->input);
    return code;
}

static int compile_table(embedding *e)
{
    iso_program_args args = e->source.args;
    int64_t bytes = 0;
    char *text = NULL;
    args.name = e->base;
    iso_status status = iso_embedded_text(&args, e->symbol, e->sets, e->set_count, NULL, 0, &bytes);
    if (!status) {
        text = tool_alloc((size_t)bytes, 1, "the table");
        status = iso_embedded_text(&args, e->symbol, e->sets, e->set_count, text, bytes, &bytes);
    }
    int code = status ? tool_error(kernel_code(status), "%s", tool_reason()) : TOOL_OK;
    if (code == TOOL_OK) {
        code = write_input(e, text);
    }
    if (code == TOOL_OK) {
        code = compile(e, "generic", NULL, &e->parts[e->set_count]);
    }
    free(text);
    return code;
}

static int join(embedding *e)
{
    kernel_line line = begin_line(e);
    kernel_line_add(&line, "-r");
    kernel_line_add(&line, "-nostdlib");
    kernel_line_add(&line, "-o");
    kernel_line_add(&line, e->object.temporary);
    for (int i = 0; i <= e->set_count; i++) {
        kernel_line_add(&line, e->parts[i].temporary);
    }
    return run_line(&line, "/dev/null", "to join the objects of", e->source.args.name);
}

static void write_header(const embedding *e)
{
    fprintf(e->header.stream,
            "/* Made from %s by isomer kernel embed. */\n"
            "#ifndef ISO_EMBEDDED_%s\n#define ISO_EMBEDDED_%s\n\n"
            "#include <isomer/program.h>\n\nISO_BEGIN_DECLS\n\n"
            "extern const iso_embedded %s;\n\nISO_END_DECLS\n\n#endif\n",
            e->base, e->symbol, e->symbol, e->symbol);
}

static int embed(embedding *e)
{
    int code = open_whole(&e->header, e->paths[1]);
    code = code == TOOL_OK ? open_whole(&e->object, e->paths[2]) : code;
    code = code == TOOL_OK ? find_sets(e) : code;
    code = code == TOOL_OK ? find_quiet(e) : code;
    code = code == TOOL_OK ? compile_sets(e) : code;
    code = code == TOOL_OK ? compile_table(e) : code;
    code = code == TOOL_OK ? join(e) : code;
    if (code == TOOL_OK) {
        write_header(e);
        code = tool_file_commit(&e->header);
    }
    code = code == TOOL_OK ? tool_file_commit(&e->object) : code;
    for (int i = 0; i <= SETS_MAX; i++) {
        tool_file_discard(&e->parts[i]);
    }
    tool_file_discard(&e->input);
    tool_file_discard(&e->header);
    tool_file_discard(&e->object);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
    embedding *e = tool_alloc(1, sizeof *e, "the command");
    const char *define = NULL;
    const tool_option known[] = {{"define", &define, NULL}, {"output", &e->output, NULL},
                                 {"cc", &e->cc, NULL},      {"cflags", &e->cflags, NULL},
                                 {"name", &e->name, NULL},  {"sets", &e->sets_text, NULL}};
    tool_words files = {0};
    int code = kernel_defines(&argc, argv, &e->source);
    if (code == TOOL_OK) {
        code = tool_options(argc, argv, known, (int)(sizeof known / sizeof known[0]), &files);
    }
    code = code == TOOL_OK ? kernel_open(&files, "embed", &e->source) : code;
    code = code == TOOL_OK ? find_symbol(e) : code;
    code = code == TOOL_OK ? make_paths(e) : code;
    if (code == TOOL_OK) {
        tool_stop_watch(true);
        find_compiler(e);
        code = embed(e);
        tool_stop_watch(false);
    }
    kernel_line_free(&e->compiler);
    tool_words_free(&e->words);
    tool_words_free(&files);
    kernel_source_free(&e->source);
    free(e);
    return code;
}

const kernel_command kernel_embed = {
    .name = "embed",
    .about = "compiles a text for CPUs into an object and a header, for a program's build",
    .usage = "embed FILE [--define NAME=VALUE]... [--output FOLDER] [--cc CC] [--cflags FLAGS]\n"
             "                    [--name ID] [--sets LIST]",
    .options = options,
    .run = run,
};
