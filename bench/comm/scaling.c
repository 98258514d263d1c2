/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.c - products over 1 rank to all: of one size (strong scaling), and of as many elements a
 * rank (weak scaling).
 */
#include "bench/comm/product.h"

#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTS = SCALE_LIST + 32, PROBE = 512, PROBE_MOST = 8192, N_LEAST = 256, N_MOST = 65536 };
/* Seconds of products on one rank that the run chooses, one of each variant. */
static const double longest = 3;
static const iso_variant variants[] = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR, ISO_VARIANT_FIXED};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* ---- communicators of some ranks ------------------------------------------------------------- */

typedef struct joining {
    product *p;
    const iso_comm_id *id;
    const iso_comm_options *options;
} joining;

static iso_status join(void *context, ranks_seat *seat)
{
    const joining *j = context;
    const int32_t number = scale_number(j->p->run, seat);
    iso_comm *comm = &j->p->comms[number];
    comm->id = 0;
    if (seat->rank >= j->p->ranks) {
        return ISO_OK;
    }
    iso_status status = j->p->ranks == 1 ? iso_comm_create(&seat->device, 1, j->options, comm)
                                         : iso_comm_join(seat->device, j->id, seat->rank,
                                                         j->p->ranks, j->options, comm);
    comm->id = status == ISO_OK ? comm->id : 0;
    return status;
}

/* A world's ranks join by an id that rank 0 makes. */
static bool make_in_world(product *p, const iso_comm_options *options, scale_outcome *outcomes)
{
    scale_run *run = p->run;
    iso_comm_id mine = {{0}};
    iso_comm_id *all = tool_alloc((size_t)run->ranks, sizeof *all, "the ids");
    memset(outcomes, 0, sizeof *outcomes);
    if (ranks_speaks(run->team) && p->ranks > 1 &&
        iso_comm_id_create(ranks_at(run->team, 0)->device, options, &mine) != ISO_OK) {
        outcomes[0].status = BENCH_UNSUPPORTED;
        snprintf(outcomes[0].reason, sizeof outcomes[0].reason, "a communicator of %d ranks: %s",
                 p->ranks, iso_last_error());
    }
    bool good =
        scale_agree(run, outcomes) && ranks_gather(run->team, &mine, (int64_t)sizeof mine, all);
    if (good) {
        joining j = {p, &all[0], options};
        memset(outcomes, 0, sizeof *outcomes);
        ranks_run(run->team, join, &j);
        scale_note(run, "iso_comm_join", outcomes);
        good = scale_agree(run, outcomes);
    }
    free(all);
    return good;
}

static bool make_comms(product *p, scale_outcome *outcomes)
{
    scale_run *run = p->run;
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_comm_info info = ISO_COMM_INFO_INIT;
    options.engine = run->options->ranks.engine;
    if (iso_comm_get_info(ranks_at(run->team, 0)->comm, &info) == ISO_OK) {
        options.timeout_nanoseconds = info.timeout_nanoseconds;
    }
    if (p->ranks == run->ranks) {
        for (int32_t i = 0; i < scale_here(run); i++) {
            p->comms[i] = ranks_at(run->team, i)->comm;
        }
        return true;
    }
    if (ranks_in_world(run->team)) {
        return make_in_world(p, &options, outcomes);
    }
    iso_device devices[RANKS_MOST];
    for (int32_t i = 0; i < p->ranks; i++) {
        devices[i] = ranks_at(run->team, i)->device;
    }
    for (int32_t i = 0; i < run->ranks; i++) {
        p->comms[i].id = 0;
    }
    if (iso_comm_create(devices, p->ranks, &options, p->comms) == ISO_OK) {
        return true;
    }
    outcomes[0].status = iso_last_status() == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR;
    snprintf(outcomes[0].reason, sizeof outcomes[0].reason, "a communicator of %d ranks: %s",
             p->ranks, iso_last_error());
    return false;
}

static void drop_comms(product *p)
{
    for (int32_t i = 0; i < scale_here(p->run) && p->ranks != p->run->ranks; i++) {
        if (p->comms[i].id != 0) {
            iso_comm_destroy(p->comms[i]);
        }
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct filling {
    iso_dtype dtype;
    int64_t n, element;
    uint64_t seed;
    unsigned char *out;
} filling;

static void fill_rows(void *context, int64_t begin, int64_t end)
{
    const filling *f = context;
    for (int64_t i = begin; i < end; i++) {
        arith_generate(f->dtype, ARITH_UNIFORM, arith_mix(f->seed, (uint64_t)i), f->n,
                       f->out + i * f->n * f->element);
    }
}

static double host_bytes(void)
{
    char line[128];
    double kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file) &&
           sscanf(line, "MemAvailable: %lf", &kilobytes) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return kilobytes > 0 ? 1024 * kilobytes
                         : (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Whether the host of rank 0 has room for three matrices, and for the parts that lie beside them.
 */
static bool has_room(product *p)
{
    double mine[RANKS_MOST] = {0};
    const double matrices = p->run->memory > 0 ? 6 : 3;
    const double bytes = (double)p->n * (double)p->n * (double)iso_dtype_size(p->dtype);
    if (ranks_speaks(p->run->team)) {
        mine[0] = matrices * bytes > 0.8 * host_bytes();
    }
    return scale_most(p->run, mine) == 0;
}

/* Makes the inputs on rank 0. False: its host has no room for them. */
static bool make_inputs(product *p)
{
    const int64_t element = iso_dtype_size(p->dtype);
    const size_t bytes = (size_t)(p->n * p->n * element);
    free(p->a);
    free(p->b);
    free(p->c);
    p->a = p->b = p->c = NULL;
    if (!has_room(p)) {
        return false;
    }
    if (!ranks_speaks(p->run->team)) {
        return true;
    }
    p->a = malloc(bytes);
    p->b = malloc(bytes);
    p->c = malloc(bytes);
    if (!p->a || !p->b || !p->c) {
        tool_no_memory("a product");
    }
    for (int i = 0; i < 2; i++) {
        filling f = {p->dtype, p->n, element, 2 * p->run->options->seed + (uint64_t)i,
                     i == 0 ? p->a : p->b};
        arith_parallel(p->n, 8, fill_rows, &f);
    }
    return true;
}

/* The largest product that the ranks and the host of rank 0 have room for. */
static int64_t largest(product *p)
{
    double mine[RANKS_MOST];
    const double element = (double)iso_dtype_size(p->dtype), ranks = p->run->ranks;
    const double device = (double)scale_memory_of(p->run);
    for (int32_t i = 0; i < scale_here(p->run); i++) {
        mine[i] = ranks_in_world(p->run->team) || i == 0 ? -host_bytes() : -INFINITY;
    }
    const double host = -scale_most(p->run, mine);
    /* Weak scaling has `ranks` times the elements. */
    const double by_host = sqrt(0.15 * host / (3 * element * ranks));
    const double by_device = p->run->memory > 0 ? by_host : sqrt(0.5 * device / (3 * element));
    return (int64_t)fmin(fmin(by_host, by_device), N_MOST);
}

static int64_t rounded(double n)
{
    const int64_t step = n >= 8192 ? 1024 : n >= 2048 ? 256 : 64;
    const int64_t down = (int64_t)(n / (double)step) * step;
    return down < N_LEAST ? N_LEAST : down;
}

/* ---- one product ----------------------------------------------------------------------------- */

static void set_grid(product *p, int32_t ranks)
{
    p->ranks = ranks;
    p->rows = (int32_t)sqrt((double)ranks);
    while (ranks % p->rows != 0) {
        p->rows--;
    }
    p->cols = ranks / p->rows;
    const int64_t eighth = p->n / 8 / 1024 * 1024;
    p->block_k = eighth < 1024 ? 1024 : eighth > 8192 ? 8192 : eighth;
}

/* Tiled and fixed products have the same bits, whatever the number of ranks. */
static void compare_bits(product *p, json_t *entry)
{
    size_t at;
    const json_t *other;
    const char *digest = record_text(entry, "verified.digest");
    if (p->how == ISO_VARIANT_VENDOR || !ranks_speaks(p->run->team) || digest[0] == '\0') {
        return;
    }
    json_array_foreach(p->run->entries, at, other)
    {
        const char *theirs = record_text(other, "verified.digest");
        bool same = record_comm_is_product(other) &&
                    strcmp(record_text(other, "variant"), record_text(entry, "variant")) == 0 &&
                    strcmp(record_text(other, "dtype"), record_text(entry, "dtype")) == 0 &&
                    record_number(other, "n") == record_number(entry, "n");
        if (same && theirs[0] != '\0' && strcmp(theirs, digest) != 0) {
            scale_outcome outcome = {.status = BENCH_FAILED};
            snprintf(outcome.reason, sizeof outcome.reason,
                     "C has the digest %s, and %s on %d ranks: its bits must not depend on them",
                     digest, theirs, (int)record_number(other, "ranks"));
            scale_set_outcome(entry, &outcome, NULL);
            return;
        }
    }
}

static void end(product *p)
{
    product_end(p);
    drop_comms(p);
    scale_mend(p->run);
}

/* Spreads the inputs over these ranks. False: outcome 0 says why not. */
static bool begin(product *p, int32_t ranks, scale_outcome *outcome)
{
    scale_outcome outcomes[RANKS_MOST];
    set_grid(p, ranks);
    if (!make_comms(p, outcomes)) {
        *outcome = outcomes[0];
        scale_mend(p->run);
        return false;
    }
    if (product_begin(p)) {
        return true;
    }
    *outcome = p->outcomes[0];
    end(p);
    return false;
}

/* The seconds of one product of each variant on one rank; negative: it failed. */
static double probe(product *p)
{
    scale_outcome outcome;
    double seconds = 0;
    if (!make_inputs(p) || !begin(p, 1, &outcome)) {
        return -1;
    }
    for (int v = 0; v < VARIANTS; v++) {
        p->how = variants[v];
        if (scale_wants(&p->run->variants, iso_variant_name(p->how))) {
            const double one = product_probe(p);
            seconds = one > 0 && seconds >= 0 ? seconds + one : -1;
        }
    }
    end(p);
    return seconds;
}

/* The size whose products take one rank about so many seconds: a small product on a GPU says little
 * about a large one. */
static int64_t suitable(product *p, double seconds)
{
    const int64_t most = largest(p);
    double all = 0, tried = PROBE;
    for (p->n = PROBE; p->n <= PROBE_MOST && p->n <= most && all < seconds; p->n *= 4) {
        all = probe(p);
        tried = (double)p->n;
        if (!(all > 0)) {
            return PROBE;
        }
    }
    const double n = all > 0 ? tried * cbrt(seconds / all) : (double)most;
    return rounded(fmin(n, (double)most));
}

/* ---- all of a type --------------------------------------------------------------------------- */

typedef struct counts {
    int32_t of[COUNTS], count;
} counts;

/* 1, 2, 4, ..., those that --ranks names, and all. */
static counts counts_of(const scale_run *run)
{
    counts c = {.count = 0};
    for (int32_t i = 1; i < run->ranks; i++) {
        bool named = (i & (i - 1)) == 0;
        for (int32_t j = 0; j < run->count_count && !named; j++) {
            named = run->counts[j] == i;
        }
        if (named) {
            c.of[c.count++] = i;
        }
    }
    c.of[c.count++] = run->ranks;
    return c;
}

static void set_efficiency(json_t *entry, const json_t *one)
{
    const double ranks = record_number(entry, "ranks"), base = record_number(one, "gflops");
    const double own = record_number(entry, "gflops");
    if (one && own > 0 && base > 0) {
        tool_set_number(entry, "efficiency", own / (ranks * base));
    }
}

/* A variant on ranks that have the inputs, or could not get them (`outcome`). */
static json_t *run_variant(product *p, bool *begun, scale_outcome *outcome)
{
    const double now = scale_now(p->run);
    if (p->run->over || now > p->until) {
        json_t *entry = product_entry(p);
        scale_skip(entry, p->run->over ? "the run ended before" : "the budget has no time for it");
        return entry;
    }
    if (p->homeless) {
        json_t *entry = product_entry(p);
        scale_skip(entry, "the host of rank 0 has no room for A, B and C");
        return entry;
    }
    *begun = *begun || begin(p, p->ranks, outcome);
    if (!*begun) {
        json_t *entry = product_entry(p);
        scale_set_outcome(entry, outcome, NULL);
        return entry;
    }
    json_t *entry = product_measure(p);
    compare_bits(p, entry);
    if (p->outcomes[0].status != BENCH_OK) {
        end(p); /* a communicator that failed does nothing more */
        *begun = false;
    }
    return entry;
}

/* All variants on these ranks. `ones` are the entries of one rank. */
static void run_ranks(product *p, int32_t ranks, json_t **ones)
{
    scale_outcome outcome = {0};
    bool begun = false;
    set_grid(p, ranks);
    for (int v = 0; v < VARIANTS && !p->run->over; v++) {
        if (!scale_wants(&p->run->variants, iso_variant_name(variants[v]))) {
            continue;
        }
        p->how = variants[v];
        json_t *entry = run_variant(p, &begun, &outcome);
        ones[v] = ranks == 1 ? entry : ones[v];
        set_efficiency(entry, ones[v]);
    }
    if (begun) {
        end(p);
    }
    scale_keep(p->run);
}

static void run_type(product *p, int64_t asked, double seconds)
{
    const counts c = counts_of(p->run);
    json_t *ones[VARIANTS] = {NULL};
    const int64_t n = asked > 0 ? asked : suitable(p, seconds);
    p->slice = seconds * 4 / VARIANTS;
    p->scaling = "strong";
    p->n = n;
    p->homeless = !make_inputs(p);
    for (int i = 0; i < c.count && !p->run->over; i++) {
        run_ranks(p, c.of[i], ones);
    }
    p->scaling = "weak";
    for (int i = 1; i < c.count && !p->run->over; i++) {
        p->n = rounded((double)n * sqrt(c.of[i]));
        if (p->n == n) {
            continue;
        }
        p->homeless = !make_inputs(p);
        run_ranks(p, c.of[i], ones);
    }
}

void scale_products(scale_run *run, double until)
{
    iso_comm comms[RANKS_MOST] = {{0}};
    const iso_dtype usual[] = {ISO_F64, ISO_F32};
    const iso_dtype *given = run->options->dtype ? run->dtypes : usual;
    const int32_t given_count = run->options->dtype ? run->dtype_count : 2;
    iso_dtype types[sizeof run->dtypes / sizeof run->dtypes[0]];
    int32_t type_count = 0;
    for (int32_t i = 0; i < given_count; i++) {
        if (scale_multiplies(given[i])) {
            types[type_count++] = given[i];
        }
    }
    const bool sized = run->options->size != NULL;
    /* Each product is also checked on the host, which takes longer than its samples. */
    const double left = until - scale_now(run);
    const double each = left / (15.0 * type_count * 2 * counts_of(run).count);
    const double seconds = fmin(fmax(each, 0.002), longest);
    product *p = tool_alloc(1, sizeof *p, "the products");
    p->run = run;
    p->comms = comms;
    p->cache = check_cache_create((int64_t)1 << 30);
    scale_release(run); /* products need its memory */
    for (int32_t t = 0; t < type_count && !run->over; t++) {
        for (int s = 0; s < (sized ? run->size_count : 1) && !run->over; s++) {
            p->dtype = types[t];
            p->until = until - left * (type_count - 1 - t) / type_count;
            run_type(p, sized ? run->sizes[s] : 0, seconds);
        }
    }
    check_cache_destroy(p->cache);
    free(p->a);
    free(p->b);
    free(p->c);
    free(p);
}
