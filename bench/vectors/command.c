/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer vectors`: writes test vectors for other implementations of docs/bits.md. */
#include "bench/tool.h"
#include "bench/vectors/vectors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer vectors --out FILE [OPTIONS]\n"
    "\n"
    "Writes test vectors of the arithmetic that docs/bits.md defines, one JSON object on a line. "
    "A\n"
    "plain model computes them: no device is used.\n"
    "\n"
    "  --out FILE    the file; - is standard output\n"
    "  --level LIST  levels, default all:\n"
    "                %s\n"
    "  --count N     vectors in all (default 101000); the levels get fixed shares\n"
    "  --seed N      makes other cases (default 1)\n"
    "  --help        shows this text\n";

typedef struct request {
    const char *out, *level, *count_text, *seed_text;
    bool help;
    uint64_t seed, count;
    bool wanted[VECTORS_LEVELS];
} request;

/* ---- options --------------------------------------------------------------------------------- */

static int read_levels(request *r)
{
    tool_words words;
    tool_names names = {0};
    if (!tool_split(r->level, &words)) {
        tool_no_memory("the command line");
    }
    for (int i = 0; i < VECTORS_LEVELS; i++) {
        const char *name = vectors_level_name((vectors_level)i);
        tool_names_add(&names, name);
        r->wanted[i] = !r->level || tool_words_have(&words, name);
    }
    int code = tool_words_check("level", &words, &names);
    tool_words_free(&words);
    return code;
}

static int read_request(int argc, char **argv, request *r)
{
    const tool_option options[] = {{"out", &r->out, NULL},
                                   {"level", &r->level, NULL},
                                   {"count", &r->count_text, NULL},
                                   {"seed", &r->seed_text, NULL},
                                   {"help", NULL, &r->help}};
    int code = tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), NULL);
    if (code != TOOL_OK || r->help) {
        return code;
    }
    code = tool_whole("count", r->count_text, 1, 1000000000, &r->count);
    code = code == TOOL_OK ? tool_whole("seed", r->seed_text, 0, UINT64_MAX, &r->seed) : code;
    code = code == TOOL_OK ? read_levels(r) : code;
    if (code == TOOL_OK && !r->out) {
        code = tool_error(TOOL_USAGE, "--out is missing: give it a file, or - for standard output");
    }
    return code;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put(FILE *out, json_t *line)
{
    if (json_dumpf(line, out, JSON_COMPACT) == 0) {
        fputc('\n', out);
    }
    json_decref(line);
}

/* The number of vectors of each level: fixed shares, of which the last wanted level gets what
 * rounding left. */
static void share(const request *r, int64_t counts[VECTORS_LEVELS])
{
    static const int64_t shares[VECTORS_LEVELS] = {15, 25, 40, 20};
    int64_t all = 0, left = (int64_t)r->count;
    for (int i = 0; i < VECTORS_LEVELS; i++) {
        all += r->wanted[i] ? shares[i] : 0;
    }
    for (int i = 0; i < VECTORS_LEVELS; i++) {
        int64_t mine = r->wanted[i] ? shares[i] : 0;
        counts[i] = mine > 0 ? left * mine / all : 0;
        left -= counts[i];
        all -= mine;
    }
}

static void write_all(const request *r, const int64_t counts[VECTORS_LEVELS], FILE *out)
{
    bool shown = isatty(STDERR_FILENO) != 0;
    int64_t done = 0;
    put(out, vectors_first_line(r->seed, (int64_t)r->count));
    for (int i = 0; i < VECTORS_LEVELS; i++) {
        vectors_level level = (vectors_level)i;
        for (int64_t at = 1; at <= counts[i] && !ferror(out); at++) {
            bench_case item;
            vectors_result result;
            vectors_case(level, r->seed, at, &item);
            vectors_compute(&item, &result);
            put(out, vectors_line(level, at, &item, &result));
            free(result.elements);
            done++;
            if (shown) {
                tool_progress((double)done / (double)r->count, " %lld/%llu", (long long)done,
                              (unsigned long long)r->count);
            }
        }
    }
    if (shown) {
        tool_progress_end();
    }
}

int tool_vectors(int argc, char **argv)
{
    request r = {.seed = 1, .count = 101000};
    tool_file file;
    int64_t counts[VECTORS_LEVELS];
    char names[128] = "";
    int code = read_request(argc, argv, &r);
    if (r.help && code == TOOL_OK) {
        for (int i = 0; i < VECTORS_LEVELS; i++) {
            tool_join(names, sizeof names, ", ", vectors_level_name((vectors_level)i));
        }
        printf(help, names);
    }
    if (r.help || code != TOOL_OK) {
        return code;
    }
    code = tool_file_open(&file, r.out);
    if (code != TOOL_OK) {
        return code;
    }
    share(&r, counts);
    FILE *text = file.stream == tool_data() ? stderr : stdout;
    write_all(&r, counts, file.stream);
    code = tool_file_commit(&file);
    for (int i = 0; i < VECTORS_LEVELS && code == TOOL_OK; i++) {
        if (r.wanted[i]) {
            fprintf(text, "%8lld %s\n", (long long)counts[i], vectors_level_name((vectors_level)i));
        }
    }
    return code;
}
