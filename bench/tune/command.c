/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer tune`: measures a device's choices, and keeps them for the library. */
#include "bench/tune/tune.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: isomer tune [OPTIONS]\n"
    "       isomer tune --show [--backend SPEC] [--op, --dtype, --layout, --size LIST]\n"
    "       isomer tune --reset [--backend SPEC]\n"
    "\n"
    "Measures on one device which variant of a product is the fastest, and how tiled products are\n"
    "best divided, and keeps that in a table. From then on the library chooses by it. Each result\n"
    "is checked; no choice changes the bits of tiled. What is interrupted, or has no time, is\n"
    "measured by the next run.\n"
    "\n"
    "  --backend SPEC    the device (default: ISOMER_BACKEND)\n"
    "  --budget SECONDS  how long to measure (default 300)\n"
    "  --op LIST         gemm (products), gemv (products with a vector); default: both\n"
    "  --dtype LIST      f32, f64, f16, bf16; default: all\n"
    "  --layout LIST     nn, nt, tn, tt, and n, t for gemv: A and B as stored, or transposed\n"
    "  --size LIST       shapes instead of the usual ones: N or MxNxK (gemv: MxK), and *BATCH\n"
    "                    after it, such as 256,64x64x4096,32*100\n"
    "  --again           measures what the table has, too\n"
    "  --seed N          changes the inputs and the order of the cases (default 1)\n"
    "  --show            shows the table instead; with a shape: which row covers it\n"
    "  --reset           removes the table instead\n"
    "  --help            shows this text\n";

typedef struct request {
    const char *backend, *budget_text, *seed_text;
    tune_choice choice;
    uint64_t budget, seed;
    bool again, show, reset, help;
} request;

static int read_request(int argc, char **argv, request *r)
{
    const tool_option options[] = {{"backend", &r->backend, NULL},
                                   {"budget", &r->budget_text, NULL},
                                   {"op", &r->choice.op, NULL},
                                   {"dtype", &r->choice.dtype, NULL},
                                   {"layout", &r->choice.layout, NULL},
                                   {"size", &r->choice.size, NULL},
                                   {"seed", &r->seed_text, NULL},
                                   {"again", NULL, &r->again},
                                   {"show", NULL, &r->show},
                                   {"reset", NULL, &r->reset},
                                   {"help", NULL, &r->help}};
    int code = tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), NULL);
    code = code == TOOL_OK ? tool_whole("budget", r->budget_text, 1, 1000000, &r->budget) : code;
    code = code == TOOL_OK ? tool_whole("seed", r->seed_text, 0, INT64_MAX, &r->seed) : code;
    const bool chooses = r->choice.op || r->choice.dtype || r->choice.layout || r->choice.size;
    if (code == TOOL_OK && r->show && r->reset) {
        code = tool_error(TOOL_USAGE, "--show and --reset are two things: give one of them");
    } else if (code == TOOL_OK && (r->show || r->reset) &&
               ((r->reset && chooses) || r->again || r->budget_text || r->seed_text)) {
        code = tool_error(TOOL_USAGE, "--%s takes no option but --backend%s",
                          r->show ? "show" : "reset",
                          r->show ? ", --op, --dtype, --layout and --size" : "");
    }
    return code;
}

/* The vendor's library in use, as the table names it; "": there is none. */
static int find_library(const tune_device *device, char *name, size_t room)
{
    char names[1][ISO_NAME_MAX];
    iso_device open = {0};
    name[0] = '\0';
    if (iso_device_open(device->info.spec, &open) != ISO_OK) {
        return tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    if (tool_libraries(open, names, 1) > 0) {
        snprintf(name, room, "%s", names[0]);
    }
    iso_device_close(open);
    return TOOL_OK;
}

static const char *library_text(const char *name)
{
    return name[0] != '\0' ? name : "no vendor's library";
}

/* Says it if the vendor's library is another one than the table's. */
static int compare_library(const tune_device *device, const tuned_table *table, bool packaged)
{
    char library[TUNED_LINE] = "";
    const int code = find_library(device, library, sizeof library);
    if (code != TOOL_OK || strcmp(table->library, library) == 0) {
        return code;
    }
    const char *then = library_text(table->library), *now = library_text(library);
    if (library[0] == '\0') {
        tool_error(TOOL_OK, "%s is of %s, now there is %s: auto chooses among the others by it",
                   device->path, then, now);
    } else if (packaged && tuned_same_major(table->library, library)) {
        tool_error(TOOL_OK, "%s is of %s, now there is %s: auto chooses by it all the same",
                   device->path, then, now);
    } else {
        tool_error(TOOL_OK, "auto does not choose by %s: it is of %s, now there is %s",
                   device->path, then, now);
    }
    return code;
}

/* Shows the whole table, or which rows cover the shapes that are asked for. */
static int show(const request *r, tune_device *device)
{
    const tune_choice *c = &r->choice;
    tune_grid *grid = tool_alloc(1, sizeof *grid, "the shapes");
    tuned_table *table = NULL;
    bool packaged = false;
    const bool chooses = c->op || c->dtype || c->layout || c->size;
    int code = chooses ? tune_grid_make(c, grid) : TOOL_OK;
    code = code == TOOL_OK ? tune_load(device, &table) : code;
    if (code == TOOL_OK && !table) {
        code = tune_load_packaged(device, &table);
        packaged = table;
    }
    if (code == TOOL_OK && table) {
        code = compare_library(device, table, packaged);
    }
    if (code == TOOL_OK && !table) {
        code = tool_error(TOOL_NOTHING, "there is no valid table at %s; isomer tune makes one",
                          device->path);
    } else if (code == TOOL_OK && chooses) {
        tune_show_cover(stdout, table, grid);
    } else if (code == TOOL_OK) {
        tune_show(stdout, device, table, packaged);
    }
    free(table);
    free(grid);
    return code;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Makes the table that is filled: with the rows of the one that is there, and room for all shapes.
 * The times of a library say nothing about another one, so its rows are measured again. */
static int begin(const tune_device *device, tuned_table **out)
{
    char library[TUNED_LINE];
    tuned_table *before = NULL;
    int code = tune_probe(device);
    code = code == TOOL_OK ? find_library(device, library, sizeof library) : code;
    code = code == TOOL_OK ? tune_load(device, &before) : code;
    if (code != TOOL_OK) {
        return code;
    }
    if (before && strcmp(before->library, library) != 0) {
        tool_error(TOOL_OK, "%s is measured again: it is of %s, now there is %s", device->path,
                   library_text(before->library), library_text(library));
        free(before);
        before = NULL;
    }
    const size_t rows = TUNE_PROBLEMS + (before ? (size_t)before->count : 0);
    tuned_table *table = tool_alloc(1, sizeof *table + rows * sizeof table->rows[0], "the table");
    snprintf(table->key, sizeof table->key, "%s", device->key);
    snprintf(table->versions, sizeof table->versions, "%s", device->versions);
    snprintf(table->library, sizeof table->library, "%s", library);
    if (before) {
        memcpy(table, before, sizeof *before + (size_t)before->count * sizeof before->rows[0]);
    }
    free(before);
    *out = table;
    return code;
}

/* Measures batch by batch, and stores the table after each. The time that is left is shared by the
 * batches that are left. */
static int measure_all(tune_run *run, const tune_grid *grid, double seconds)
{
    const double end = tool_seconds() + seconds;
    int code = TOOL_OK;
    for (int32_t b = 0; b < grid->batch_count && code == TOOL_OK && !run->full; b++) {
        const tune_batch *batch = &grid->batches[b];
        const int32_t before = run->measured;
        if (end - tool_seconds() < TUNE_LEAST || tool_interrupted()) {
            break;
        }
        code = tune_batch_run(run, &grid->shapes[batch->first], batch->count, end,
                              grid->batch_count - b);
        if (run->measured > before) {
            const int stored = tune_store(run->device, run->table);
            code = stored != TOOL_OK ? stored : code;
        }
    }
    code = code == TOOL_OK && tool_interrupted() ? TOOL_INTERRUPTED : code;
    return code == TOOL_OK && run->full ? TOOL_IO : code;
}

/* Says what came of the run. Returns the exit code. */
static int finish(const tune_run *run, int32_t shapes, int code)
{
    const int32_t left = shapes - run->measured - run->impossible - run->failed;
    tool_error(TOOL_OK, "%d of %d shapes measured%s", (int)run->measured, (int)shapes,
               left > 0 ? ": run isomer tune again to go on" : "");
    if (run->impossible > 0) {
        tool_error(TOOL_OK, "%d shapes do not run on %s", (int)run->impossible,
                   run->device->info.spec);
    }
    if (run->failed > 0) {
        tool_error(TOOL_OK, "%d shapes have no row, see above", (int)run->failed);
    }
    if (run->table->count > 0 && run->measured > 0) {
        tune_show(stdout, run->device, run->table, false);
    }
    if (run->wrong > 0) {
        return tool_error(TOOL_FAILED, "%d results were wrong, see above", (int)run->wrong);
    }
    if (code == TOOL_OK && run->failed > 0) {
        return tool_error(TOOL_FAILED, "%d shapes could not be measured", (int)run->failed);
    }
    if (code != TOOL_OK || run->measured > 0) {
        return code;
    }
    return left > 0
               ? tool_error(TOOL_NOTHING, "no shape had time for its rounds: give more --budget")
               : tool_error(TOOL_NOTHING, "nothing runs on %s", run->device->info.spec);
}

static int tune_locked(const request *r, const tune_device *device, tune_grid *grid)
{
    tune_run run = {.device = device, .seed = r->seed};
    int code = begin(device, &run.table);
    if (code == TOOL_OK && tune_grid_rest(grid, r->again ? NULL : run.table) == 0) {
        printf("%s has all of these shapes; --again measures them again\n", device->path);
    } else if (code == TOOL_OK) {
        code = measure_all(&run, grid, (double)r->budget);
        code = finish(&run, grid->count, code);
    }
    free(run.table);
    return code;
}

/* The watch includes the files, so that an interrupted run leaves none but the table. */
static int tune(const request *r, const tune_device *device)
{
    tune_grid *grid = tool_alloc(1, sizeof *grid, "the shapes");
    int lock = -1;
    int code = tune_grid_make(&r->choice, grid);
    code = code == TOOL_OK ? tune_guard(device) : code;
    code = code == TOOL_OK ? tune_make_folder(device) : code;
    if (code == TOOL_OK) {
        tool_signals_watch();
        tool_stop_watch(true);
        code = tune_lock(device, &lock);
        code = code == TOOL_OK ? tune_locked(r, device, grid) : code;
        tune_unlock(device, lock);
        tool_stop_watch(false);
    }
    free(grid);
    return code;
}

int tool_tune(int argc, char **argv)
{
    request r = {.budget = 300, .seed = 1};
    int code = read_request(argc, argv, &r);
    if (code != TOOL_OK || r.help) {
        fputs(code == TOOL_OK ? help : "", stdout);
        return code;
    }
    tune_device *device = tool_alloc(1, sizeof *device, "the device");
    code = tune_device_find(r.backend, device);
    if (code == TOOL_OK) {
        code = r.show ? show(&r, device) : r.reset ? tune_remove(device) : tune(&r, device);
    }
    free(device);
    return code;
}
