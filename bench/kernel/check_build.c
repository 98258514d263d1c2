/* SPDX-License-Identifier: Apache-2.0 */
/* check_build.c - the C compiler that the judge uses, the programs that it makes, and the lines
 * that addresses in them stand for. */
#include "bench/kernel/check.h"
#include "judge_texts.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

enum { COMPILE_SECONDS = 120, LINES_SECONDS = 60 };

/* ---- the compiler ---------------------------------------------------------------------------- */

static char *first_of(const char *const *names)
{
    char *path = NULL;
    for (int i = 0; names[i] && !path; i++) {
        path = check_which(names[i]);
    }
    return path;
}

void check_find_compiler(check_run *run)
{
    static const char *const compilers[] = {"cc", "gcc", "clang", NULL};
    static const char *const symbolizers[] = {"addr2line", "llvm-addr2line", NULL};
    const char *wanted = run->cc ? run->cc : getenv("ISOMER_CC");
    check_child child;
    run->symbolizer = first_of(symbolizers);
    run->compiler = wanted && wanted[0] ? check_which(wanted) : first_of(compilers);
    if (!run->compiler) {
        return;
    }
    const char *const words[] = {run->compiler, "--version", NULL};
    if (check_spawn(run, words, COMPILE_SECONDS, &child)) {
        run->is_clang = strstr(child.said, "clang") != NULL;
        child.said[strcspn(child.said, "\n")] = '\0';
        run->compiler_version = strdup(child.said);
    } else {
        free(run->compiler);
        run->compiler = NULL;
    }
    check_child_free(&child);
}

const char *check_name(const check_run *run)
{
    const char *slash = strrchr(run->unit->args.name, '/');
    return slash ? slash + 1 : run->unit->args.name;
}

/* ---- the text -------------------------------------------------------------------------------- */

static void add_call(FILE *out, iso_kernel kernel, const iso_kernel_info *info, int entry)
{
    fprintf(out,
            "static void iso_judge_%d(const i64 *iso_h_, void *const *iso_p_)\n{\n"
            "    const iso_here_ iso_at_ = {iso_h_[0], iso_h_[1], iso_h_[2], iso_h_[3], iso_h_[4], "
            "iso_h_[5], iso_h_[0] + 1};\n    (void)iso_p_;\n    %s(iso_at_",
            entry, info->name);
    for (int32_t i = 0; i < info->parameters; i++) {
        iso_parameter is = ISO_PARAMETER_INIT;
        tool_need_memory(iso_kernel_get_parameter(kernel, i, &is));
        fprintf(out,
                is.role == ISO_PARAMETER_VALUE ? ", *(const %s *)iso_p_[%d]" : ", (%s *)iso_p_[%d]",
                is.type, i);
    }
    fprintf(out, ");\n}\n");
}

static bool is_scalar(const char *type)
{
    return strchr("iuf", type[0]) && type[1] >= '0' && type[1] <= '9';
}

/* Where structs have padding, a copy of a whole one reads what nobody set. */
static void add_padding(FILE *out, iso_kernel kernel, const iso_kernel_info *info, int entry)
{
    for (int32_t i = 0; i < info->parameters; i++) {
        iso_parameter is = ISO_PARAMETER_INIT;
        tool_need_memory(iso_kernel_get_parameter(kernel, i, &is));
        if (!is_scalar(is.type)) {
            fprintf(out,
                    "    if (iso_entry_ == %d && iso_param_ == %d) {\n"
                    "        ISO_JUDGE_PADDING_(%s, iso_to_);\n        return ISO_JUDGE_KNOWN_;\n  "
                    "  }\n",
                    entry, i, is.type);
        }
    }
}

static const char padding[] =
    "#if defined(__has_builtin)\n#if __has_builtin(__builtin_clear_padding)\n"
    "#define ISO_JUDGE_KNOWN_ 1\n"
    "#define ISO_JUDGE_PADDING_(type, at) __builtin_memset(at, 255, sizeof(type)); "
    "__builtin_clear_padding((type *)(at))\n"
    "#endif\n#endif\n"
    "#if !defined(ISO_JUDGE_PADDING_) /* the first member has none in front of it */\n"
    "#define ISO_JUDGE_KNOWN_ 2\n"
    "#define ISO_JUDGE_PADDING_(type, at) *(at) = 255\n"
    "#endif\n"
    "int judge_padding(int iso_entry_, int iso_param_, unsigned char *iso_to_);\n"
    "int judge_padding(int iso_entry_, int iso_param_, unsigned char *iso_to_)\n{\n"
    "    (void)iso_entry_, (void)iso_param_, (void)iso_to_;\n";

static void add_entries(const check_run *run, FILE *out)
{
    iso_kernel kernel;
    iso_kernel_info info = ISO_KERNEL_INFO_INIT;
    int count = 0;
    fprintf(out, "\n#line 1 \"entries of the judge\"\n");
    for (; iso_kernel_at(run->unit->program, count, &kernel) == ISO_OK; count++) {
        tool_need_memory(iso_kernel_get_info(kernel, &info));
        add_call(out, kernel, &info, count);
    }
    fprintf(out, "void (*const judge_entries[])(const i64 *, void *const *) = {");
    for (int i = 0; i < count; i++) {
        fprintf(out, "iso_judge_%d, ", i);
    }
    fprintf(out, "};\n%s", padding);
    for (int i = 0; iso_kernel_at(run->unit->program, i, &kernel) == ISO_OK; i++) {
        tool_need_memory(iso_kernel_get_info(kernel, &info));
        add_padding(out, kernel, &info, i);
    }
    fprintf(out, "    return 0;\n}\n");
}

bool check_write_text(check_run *run)
{
    int64_t bytes = 0;
    char *path = check_path(run, "text.c"), *text = NULL;
    FILE *out = NULL;
    if (iso_program_text(&run->unit->args, NULL, 0, &bytes) == ISO_OK) {
        text = tool_alloc((size_t)bytes, 1, "the text");
        out = iso_program_text(&run->unit->args, text, bytes, &bytes) == ISO_OK ? fopen(path, "we")
                                                                                : NULL;
    }
    bool good = out && fputs(text, out) >= 0;
    if (good) {
        add_entries(run, out);
    }
    good = out && fclose(out) == 0 && good;
    free(text);
    free(path);
    return good;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Adds a text without the lines that include another of these sources. */
static void add_source(FILE *out, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char mark[] = "#include \"";
        if (strncmp(text, mark, sizeof mark - 1) != 0) {
            fprintf(out, "%.*s", (int)length, text);
        }
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static bool write_runtime(const char *path, const char *runtime)
{
    static const char *const watched[] = {judge_text_judge, judge_text_watch_h,
                                          judge_text_watch, judge_text_undefined,
                                          judge_text_run,   NULL};
    static const char *const plain[] = {judge_text_judge, judge_text_plain, NULL};
    const char *const *texts = strcmp(runtime, "plain") == 0 ? plain : watched;
    FILE *out = fopen(path, "we");
    for (int i = 0; out && texts[i]; i++) {
        add_source(out, texts[i]);
    }
    return out && fclose(out) == 0;
}

static int append(const char **words, int count, const char *const *more)
{
    for (; more && *more && count < CHECK_WORDS - 1; more++) {
        words[count++] = *more;
    }
    words[count] = NULL;
    return count;
}

static bool run_compiler(check_run *run, const char *const *words, check_program *out)
{
    check_child child;
    const bool good = check_spawn(run, words, COMPILE_SECONDS, &child);
    if (!good && !out->why) {
        out->why = check_child_problem(&child, "the C compiler");
    }
    check_child_free(&child);
    return good;
}

bool check_build(check_run *run, const char *name, const char *const *options,
                 const char *const *link, const char *runtime, check_program *out)
{
    static const char *const always[] = {"-x", "c", "-w", "-g", "-gdwarf-4", "-fno-pie", NULL};
    char *text = check_path(run, "text.c"), *source = check_path(run, "runtime.c");
    char *object = check_path(run, "text.o"), *other = check_path(run, "runtime.o");
    char *program = check_path(run, name);
    const char *words[CHECK_WORDS] = {run->compiler, NULL};
    int count = append(words, 1, always);
    count = append(words, count, options);
    (void)append(words, count, (const char *const[]){"-std=c11", "-c", text, "-o", object, NULL});
    bool good = write_runtime(source, runtime) && run_compiler(run, words, out);
    if (good) {
        count = append(words, 1, always);
        (void)append(words, count,
                     (const char *const[]){"-std=gnu11", "-O2", "-c", source, "-o", other, NULL});
        good = run_compiler(run, words, out);
    }
    if (good) {
        count =
            append(words, 1, (const char *const[]){"-no-pie", object, other, "-o", program, NULL});
        count = append(words, count, link);
        (void)append(words, count, (const char *const[]){"-lm", NULL});
        good = run_compiler(run, words, out);
    }
    out->path = good ? program : NULL;
    if (!good) {
        free(program);
    }
    free(text);
    free(source);
    free(object);
    free(other);
    return good;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Whether addr2line's "/folder/first.isk:12 (discriminator 3)" is in the text. */
static int line_of(const check_run *run, const char *answer)
{
    const char *name = check_name(run), *end = strchr(answer, '\n');
    const size_t length = strlen(name);
    for (const char *at = strstr(answer, name); at && (!end || at < end);
         at = strstr(at + 1, name)) {
        if ((at == answer || at[-1] == '/') && at[length] == ':') {
            return (int)strtol(at + length + 1, NULL, 10);
        }
    }
    return 0;
}

/* An address is followed by the lines of the function that it is in, of the one into which that was
 * inlined, and so on. The first of the text counts. */
static void read_lines(const check_run *run, const char *said, int count, int *lines)
{
    int index = -1;
    for (const char *at = said; at && *at;) {
        if (strncmp(at, "0x", 2) == 0) {
            index++;
        } else if (index >= 0 && index < count && lines[index] == 0) {
            lines[index] = line_of(run, at);
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
}

void check_lines(check_run *run, const char *program, const uint64_t *pcs, int count, int *lines)
{
    enum { AT_ONCE = CHECK_WORDS - 8 };
    memset(lines, 0, (size_t)count * sizeof *lines);
    for (int begin = 0; run->symbolizer && begin < count; begin += AT_ONCE) {
        char texts[AT_ONCE][24];
        const char *words[CHECK_WORDS] = {run->symbolizer, "-a", "-i", "-e", program, NULL};
        const int some = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        check_child child;
        for (int i = 0; i < some; i++) { /* a call's address is before the one it returns to */
            snprintf(texts[i], sizeof texts[i], "0x%llx", (unsigned long long)pcs[begin + i] - 1);
            words[5 + i] = texts[i];
        }
        words[5 + some] = NULL;
        if (check_spawn(run, words, LINES_SECONDS, &child)) {
            read_lines(run, child.said, some, lines + begin);
        }
        check_child_free(&child);
    }
}
