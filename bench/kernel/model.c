/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - runs a model: a command that computes a case's results from files. */
#include "bench/compare/compare.h"
#include "bench/kernel/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = PATH_MAX + 4 * ISO_NAME_MAX };

static const char case_file[] = "case.json";

/* "x.f32" */
static void file_name(const describe_parameter *p, char *text, size_t room)
{
    snprintf(text, room, "%s.%s", p->is.name, p->is.type);
}

static const char *path_of(const char *folder, const char *name, char *text)
{
    snprintf(text, PATH_ROOM, "%.4095s/%.300s", folder, name);
    return text;
}

static bool write_all(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, bytes, file) == bytes;
    return file && fclose(file) == 0 && good;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static json_t *arguments_json(const describe_case *item)
{
    const json_t *common = json_object_get(item->kernel->object, "arguments");
    json_t *all = json_is_object(common) ? json_deep_copy(common) : json_object();
    json_object_update(all, item->values);
    return all;
}

static json_t *case_json(const kernel_suite *suite, const describe_case *item, int64_t round)
{
    json_t *root = json_object(), *arrays = json_array();
    tool_set_text(root, "kernel", item->kernel->name);
    json_object_set_new(root, "arguments", arguments_json(item));
    json_object_set_new(root, "groups",
                        json_pack("[I, I, I]", (json_int_t)item->groups.x,
                                  (json_int_t)item->groups.y, (json_int_t)item->groups.z));
    tool_set_int(root, "seed", (int64_t)suite->seed);
    tool_set_int(root, "round", round);
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        char name[2 * ISO_NAME_MAX + 2];
        if (!p->is_buffer) {
            continue;
        }
        file_name(p, name, sizeof name);
        json_t *array = json_object();
        tool_set_text(array, "name", p->is.name);
        tool_set_text(array, "type", p->is.type);
        tool_set_text(array, "file", name);
        tool_set_int(array, "elements", p->elements);
        tool_set_int(array, "bytes", p->bytes);
        tool_set_bool(array, "read", p->is_read);
        tool_set_bool(array, "written", p->is_written);
        json_array_append_new(arrays, array);
    }
    json_object_set_new(root, "arrays", arrays);
    return root;
}

static bool fill_folder(const kernel_suite *suite, const describe_case *item, int64_t round,
                        const kernel_data *in, const char *folder)
{
    char path[PATH_ROOM], name[2 * ISO_NAME_MAX + 2];
    json_t *root = case_json(suite, item, round);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    bool good = text && write_all(path_of(folder, case_file, path), text, strlen(text));
    json_decref(root);
    free(text);
    for (int32_t i = 0; i < item->parameter_count && good; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (p->is_read) {
            file_name(p, name, sizeof name);
            good = write_all(path_of(folder, name, path), in->at[i], (size_t)p->bytes);
        }
    }
    return good;
}

static void remove_folder(const describe_case *item, const char *folder)
{
    char path[PATH_ROOM], name[2 * ISO_NAME_MAX + 2];
    unlink(path_of(folder, case_file, path));
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (item->parameters[i].is_buffer) {
            file_name(&item->parameters[i], name, sizeof name);
            unlink(path_of(folder, name, path));
        }
    }
    if (rmdir(folder) != 0) {
        tool_error(TOOL_OK, "the model's folder %s stays: %s", folder, strerror(errno));
    }
}

const char *kernel_model_name(const describe_kernel *kernel)
{
    const char *word = kernel->model[1] ? kernel->model[1] : kernel->model[0];
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool run_command(const kernel_suite *suite, const describe_case *item, const char *folder,
                        bench_result *result)
{
    static const char *const shell[] = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\""};
    char **words = item->kernel->model;
    size_t count = 0, before = sizeof shell / sizeof shell[0];
    const char *name = kernel_model_name(item->kernel);
    compare_child child;
    while (words[count]) {
        count++;
    }
    const char **argv = tool_alloc(before + count + 2, sizeof *argv, "a command");
    memcpy(argv, shell, sizeof shell);
    argv[before] = folder;
    memcpy(argv + before + 1, words, count * sizeof *words);
    bool ran = compare_run((char *const *)argv, suite->model_seconds, &child);
    free(argv);
    if (!ran) {
        check_fail(result, "the model %s cannot be started: %s", name, strerror(child.error));
    } else if (child.late) {
        check_fail(result,
                   "the model %s was stopped after %g s: make it faster, or the size smaller, or "
                   "give --model-seconds",
                   name, suite->model_seconds);
    } else if (WIFSIGNALED(child.status)) {
        check_fail(result, "the model %s was ended by signal %d (%s): %s", name,
                   WTERMSIG(child.status), strsignal(WTERMSIG(child.status)), child.err);
    } else if (WEXITSTATUS(child.status) != 0) {
        check_fail(result, "the model %s exits with %d: %s", name, WEXITSTATUS(child.status),
                   child.err[0] ? child.err : "it says nothing on standard error");
    }
    compare_child_free(&child);
    result->status = result->status == BENCH_OK ? BENCH_OK : BENCH_ERROR;
    return result->status == BENCH_OK;
}

static bool read_results(const describe_case *item, const char *folder, kernel_data *out,
                         bench_result *result)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        char path[PATH_ROOM], name[2 * ISO_NAME_MAX + 2];
        struct stat found;
        if (!p->is_written) {
            continue;
        }
        file_name(p, name, sizeof name);
        FILE *file = fopen(path_of(folder, name, path), "rb");
        bool good = file && fstat(fileno(file), &found) == 0 && found.st_size == p->bytes &&
                    fread(out->at[i], 1, (size_t)p->bytes, file) == (size_t)p->bytes;
        if (!file) {
            check_fail(result, "the model %s has not written %s", kernel_model_name(item->kernel),
                       name);
        } else if (!good) {
            check_fail(result,
                       "the model %s wrote %lld bytes to %s, which must have %lld (%lld elements "
                       "of %d)",
                       kernel_model_name(item->kernel), (long long)found.st_size, name,
                       (long long)p->bytes, (long long)p->elements, (int)p->is.bytes);
        }
        if (file) {
            (void)fclose(file);
        }
        if (!good) {
            result->status = BENCH_ERROR;
            return false;
        }
    }
    return true;
}

bool kernel_model(const kernel_suite *suite, const describe_case *item, int64_t round,
                  const kernel_data *in, kernel_data *out, bench_result *result)
{
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX];
    int length =
        snprintf(folder, sizeof folder, "%s/isomer-model-XXXXXX", base && base[0] ? base : "/tmp");
    if (length < 0 || (size_t)length >= sizeof folder || !mkdtemp(folder)) {
        check_fail(result, "no folder for the model can be made in %s: %s",
                   base && base[0] ? base : "/tmp", strerror(errno));
        result->status = BENCH_ERROR;
        return false;
    }
    bool good = fill_folder(suite, item, round, in, folder);
    if (!good) {
        check_fail(result, "the model's inputs cannot be written to %s: %s", folder,
                   strerror(errno));
        result->status = BENCH_ERROR;
    }
    good =
        good && run_command(suite, item, folder, result) && read_results(item, folder, out, result);
    remove_folder(item, folder);
    return good;
}
