/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.c - whether auto is the fastest variant that keeps what the program asked for:
 *
 *   perf-auto BACKEND [gemm|gemv|reduce...]
 *
 * For each shape, auto with each `keep` and every variant take part in the same rounds, in random
 * order, on random data. Each round repeats a call for at least ROUND seconds; device events on
 * CUDA and HIP, else the host's clock around finished calls; medians of ROUNDS. A variant that took
 * over FAR times as long as the fastest one before the rounds is left out of them. If auto takes
 * over MOST times as long as the best variant, there are more rounds, up to SAMPLES, before the
 * case is MISSED. If both run the same kernel, the choice itself takes long, or the machine is not
 * quiet. Exit code 1 if a case is missed, 77 if the device is not there.
 *
 * Without a table of measured choices (docs/tuning.md) misses are to be expected.
 */
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 15,
    AGAIN = 2,
    SAMPLES = ROUNDS * (1 + AGAIN),
    MANY = 20000,
    KEEPS = 3,
    JOBS = KEEPS + 4,
    KINDS = 3
};
static const double ROUND = 200e-6, MOST = 1.03, FAR = 3;

static const iso_keep keeps[KEEPS] = {ISO_KEEP_BITS, ISO_KEEP_TERMS, ISO_KEEP_SCALE};
static const char *const keep_names[KEEPS] = {"bits", "terms", "scale"};
static const iso_variant variants[] = {ISO_VARIANT_TILED, ISO_VARIANT_VENDOR, ISO_VARIANT_NAIVE,
                                       ISO_VARIANT_FIXED};
enum { VARIANTS = sizeof variants / sizeof variants[0] };
static const char *const kind_names[KINDS] = {"gemm", "gemv", "reduce"};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != ISO_OK) {                                                                    \
            fprintf(stderr, "perf-auto: %s\n", iso_last_error());                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef union any_args {
    iso_gemm_args gemm;
    iso_gemv_args gemv;
    iso_reduce_args reduce;
} any_args;

/* A variant, or auto with a keep. */
typedef struct job {
    any_args args;
    iso_op_info is;
    int out, calls; /* it takes no part; calls of a round */
    int rounds;
    double time, samples[SAMPLES]; /* of a call; the time is their median */
} job;

typedef struct bench {
    iso_device device;
    iso_stream stream;
    iso_event start, stop;
    int cpu, by_events;
    iso_buffer x, y, z;
    int64_t room; /* bytes of each of these */
    uint64_t random;
    int cases, missed, skipped;
} bench;

/* ---- data ------------------------------------------------------------------------------------ */

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Random numbers of both signs. Halves get a random exponent below 1. */
static void draw_all(void *to, iso_dtype dtype, int64_t count, uint64_t *state)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = draw(state);
        const double number = (double)(int64_t)(bits >> 11) / (double)(INT64_C(1) << 52) - 1;
        if (dtype == ISO_F64) {
            ((double *)to)[i] = number;
        } else if (dtype == ISO_F32) {
            ((float *)to)[i] = (float)number;
        } else if (dtype == ISO_F16) {
            ((uint16_t *)to)[i] = (uint16_t)((bits & 0x83ff) | (11 + (bits >> 32) % 4) << 10);
        } else {
            ((uint16_t *)to)[i] = (uint16_t)((bits & 0x807f) | (123 + (bits >> 32) % 4) << 7);
        }
    }
}

static void fill(bench *b, iso_buffer buffer, iso_dtype dtype, int64_t bytes, uint64_t seed)
{
    enum { PART = 1 << 20 };
    static double part[PART];
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof part) {
        const int64_t most = (int64_t)sizeof part, now = bytes - at < most ? bytes - at : most;
        draw_all(part, dtype, now / iso_dtype_size(dtype), &seed);
        CHECK(iso_write(b->stream, (iso_operand){buffer, at}, part, now));
        CHECK(iso_stream_sync(b->stream));
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The time of a call, from so many of them. */
static double timed(bench *b, iso_op_kind kind, const job *j, int calls)
{
    int64_t ns = 0;
    double from;
    CHECK(iso_stream_sync(b->stream));
    from = now();
    if (b->by_events) {
        CHECK(iso_event_record(b->start, b->stream));
    }
    for (int i = 0; i < calls; i++) {
        CHECK(iso_execute(b->stream, kind, &j->args));
    }
    if (!b->by_events) {
        CHECK(iso_stream_sync(b->stream));
        return (now() - from) / calls;
    }
    CHECK(iso_event_record(b->stop, b->stream));
    CHECK(iso_event_sync(b->stop));
    CHECK(iso_event_elapsed(b->start, b->stop, &ns));
    return (double)ns * 1e-9 / calls;
}

/* Compiles and warms up, and finds out how many calls a round has. */
static void warm(bench *b, iso_op_kind kind, job *j)
{
    CHECK(iso_prepare(b->stream, kind, &j->args));
    (void)timed(b, kind, j, 1);
    j->calls = 1;
    for (j->time = timed(b, kind, j, 1); j->time * j->calls < ROUND && j->calls < MANY;
         j->time = timed(b, kind, j, j->calls)) {
        const double most = 4.0 * j->calls, wanted = 1.2 * ROUND / (j->time > 0 ? j->time : ROUND);
        const int before = j->calls;
        j->calls = (int)(wanted < most ? wanted : most);
        j->calls = j->calls > before ? j->calls : before + 1;
    }
}

static double median_of(const double *samples, int count)
{
    double sorted[SAMPLES];
    memcpy(sorted, samples, (size_t)count * sizeof *samples);
    return median(sorted, count);
}

/* How many times as long as `best` a job takes. Both are compared within each round, so that what
 * slows all of a round counts little. */
static double ratio_of(const job *j, const job *best)
{
    double ratios[SAMPLES];
    for (int r = 0; r < j->rounds; r++) {
        ratios[r] = j->samples[r] / best->samples[r];
    }
    return median_of(ratios, j->rounds);
}

/* Adds ROUNDS rounds to the `done` that there are. */
static void rounds(bench *b, iso_op_kind kind, job *jobs, int done)
{
    int order[JOBS], count = 0;
    for (int i = 0; i < JOBS; i++) {
        if (!jobs[i].out) {
            order[count++] = i;
        }
    }
    for (int r = done; r < done + ROUNDS; r++) {
        for (int i = count - 1; i > 0; i--) {
            const int at = (int)(draw(&b->random) % (uint64_t)(i + 1)), swapped = order[i];
            order[i] = order[at];
            order[at] = swapped;
        }
        for (int i = 0; i < count; i++) {
            jobs[order[i]].samples[r] = timed(b, kind, &jobs[order[i]], jobs[order[i]].calls);
        }
    }
    for (int i = 0; i < count; i++) {
        jobs[order[i]].rounds = done + ROUNDS;
        jobs[order[i]].time = median_of(jobs[order[i]].samples, done + ROUNDS);
    }
}

/* ---- a shape --------------------------------------------------------------------------------- */

static void set(any_args *args, iso_op_kind kind, iso_variant variant, iso_keep keep)
{
    if (kind == ISO_OP_GEMM) {
        args->gemm.variant = variant;
        args->gemm.keep = keep;
    } else if (kind == ISO_OP_GEMV) {
        args->gemv.variant = variant;
        args->gemv.keep = keep;
    } else {
        args->reduce.variant = variant;
        args->reduce.keep = keep;
    }
}

/* Whether a variant may be auto. */
static int keeps_it(iso_variant variant, iso_keep keep)
{
    return variant == ISO_VARIANT_TILED ||
           (keep != ISO_KEEP_BITS && (variant != ISO_VARIANT_FIXED || keep == ISO_KEEP_SCALE));
}

static int is_same(const iso_op_info *a, const iso_op_info *b)
{
    return a->variant == b->variant && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->library, b->library) == 0;
}

/* Makes the jobs, auto first, and warms them up. The same auto for two keeps is one job: *of. */
static int begin(bench *b, iso_op_kind kind, const any_args *args, job *jobs, int *of)
{
    double least = -1;
    int possible = 0;
    for (int i = 0; i < JOBS; i++) {
        job *j = &jobs[i];
        memset(j, 0, sizeof *j);
        j->args = *args;
        j->is = (iso_op_info)ISO_OP_INFO_INIT;
        set(&j->args, kind, i < KEEPS ? ISO_VARIANT_AUTO : variants[i - KEEPS],
            i < KEEPS ? keeps[i] : ISO_KEEP_DEFAULT);
        j->out = iso_describe(b->device, kind, &j->args, &j->is) != ISO_OK;
        possible += i < KEEPS && !j->out;
        if (i < KEEPS) {
            of[i] = i;
        }
        for (int k = 0; k < i && i < KEEPS && !j->out; k++) {
            if (!jobs[k].out && is_same(&j->is, &jobs[k].is)) {
                of[i] = k;
                j->out = 1;
            }
        }
    }
    for (int i = 0; i < JOBS && possible; i++) {
        if (!jobs[i].out) {
            warm(b, kind, &jobs[i]);
            least = least < 0 || jobs[i].time < least ? jobs[i].time : least;
        }
    }
    for (int i = KEEPS; i < JOBS; i++) { /* the one that is the fastest for bits stays */
        jobs[i].out =
            jobs[i].out || (jobs[i].is.variant != ISO_VARIANT_TILED && jobs[i].time > FAR * least);
    }
    return possible;
}

static const job *best_of(const job *jobs, iso_keep keep)
{
    const job *best = NULL;
    for (int i = KEEPS; i < JOBS; i++) {
        if (!jobs[i].out && keeps_it(jobs[i].is.variant, keep) &&
            (!best || jobs[i].time < best->time)) {
            best = &jobs[i];
        }
    }
    return best;
}

static int misses(const job *jobs, const int *of)
{
    int count = 0;
    for (int i = 0; i < KEEPS; i++) {
        const job *best = best_of(jobs, keeps[i]), *chosen = &jobs[of[i]];
        count += best && chosen->calls && ratio_of(chosen, best) > MOST;
    }
    return count;
}

static void report(bench *b, const char *what, const job *jobs, const int *of)
{
    for (int i = 0; i < KEEPS; i++) {
        const job *best = best_of(jobs, keeps[i]), *chosen = &jobs[of[i]];
        if (!best || !chosen->calls) {
            printf("%-34s %-5s  auto is not supported\n", what, keep_names[i]);
            b->skipped++;
            continue;
        }
        const double ratio = ratio_of(chosen, best);
        printf("%-34s %-5s  auto %11.2f us %-6s  best %11.2f us %-6s  %.3f%s  %s\n", what,
               keep_names[i], chosen->time * 1e6, iso_variant_name(chosen->is.variant),
               best->time * 1e6, iso_variant_name(best->is.variant), ratio,
               ratio <= MOST                     ? ""
               : is_same(&chosen->is, &best->is) ? "  MISSED by the same kernel"
                                                 : "  MISSED",
               chosen->is.kernel);
        b->cases++;
        b->missed += ratio > MOST;
    }
    fflush(stdout);
}

static void measure(bench *b, iso_op_kind kind, const char *what, const any_args *args,
                    int64_t bytes)
{
    job jobs[JOBS];
    int of[KEEPS];
    if (bytes > b->room || !begin(b, kind, args, jobs, of)) {
        printf("%-34s        %s\n", what, bytes > b->room ? "no memory" : iso_last_error());
        b->skipped++;
        return;
    }
    rounds(b, kind, jobs, 0);
    for (int again = 1; again <= AGAIN && misses(jobs, of) > 0; again++) {
        rounds(b, kind, jobs, again * ROUNDS);
    }
    report(b, what, jobs, of);
}

/* ---- products -------------------------------------------------------------------------------- */

static const iso_dtype types[] = {ISO_F32, ISO_F64, ISO_F16, ISO_BF16};
enum { TYPES = sizeof types / sizeof types[0], LARGEST = 8192, LARGEST_CPU = 4096 };

static const struct {
    int64_t m, n, k, batch;
} shapes[] = {
    {64, 64, 64, 1},       {128, 128, 128, 1},    {256, 256, 256, 1},    {512, 512, 512, 1},
    {1000, 1000, 1000, 1}, {1024, 1024, 1024, 1}, {2048, 2048, 2048, 1}, {4096, 4096, 4096, 1},
    {4097, 4097, 4097, 1}, {8192, 8192, 8192, 1}, {1, 4096, 4096, 1},    {64, 64, 4096, 1},
    {16, 4096, 4096, 1},   {4096, 4096, 16, 1},   {16, 16, 16, 1000},    {32, 32, 32, 1000},
    {64, 64, 64, 1000},
};

static void products(bench *b, iso_dtype dtype)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        any_args args = {.gemm = ISO_GEMM_ARGS_INIT};
        iso_gemm_args *g = &args.gemm;
        char what[64], batch[32] = "";
        int64_t most;
        g->dtype = dtype;
        g->m = shapes[i].m, g->n = shapes[i].n, g->k = shapes[i].k, g->batch = shapes[i].batch;
        g->stride_a = g->m * g->k, g->stride_b = g->k * g->n, g->stride_c = g->m * g->n;
        g->a.buffer = b->x, g->b.buffer = b->y, g->c.buffer = b->z;
        if (b->cpu && g->m == g->n && g->n == g->k && g->m > 1024) {
            continue;
        }
        most = g->stride_a > g->stride_b ? g->stride_a : g->stride_b;
        most = (most > g->stride_c ? most : g->stride_c) * g->batch;
        if (g->batch > 1) {
            snprintf(batch, sizeof batch, "*%lld", (long long)g->batch);
        }
        snprintf(what, sizeof what, "gemm %s %lldx%lldx%lld%s", iso_dtype_name(dtype),
                 (long long)g->m, (long long)g->n, (long long)g->k, batch);
        measure(b, ISO_OP_GEMM, what, &args, most * iso_dtype_size(dtype));
    }
}

static void vectors(bench *b, iso_dtype dtype)
{
    for (int i = 0; i < 4; i++) {
        any_args args = {.gemv = ISO_GEMV_ARGS_INIT};
        iso_gemv_args *g = &args.gemv;
        char what[64];
        g->dtype = dtype;
        g->m = g->k = i < 2 ? 1024 : 4096;
        g->trans = i % 2 ? ISO_TRANS : ISO_NO_TRANS;
        g->a.buffer = b->x, g->x.buffer = b->y, g->y.buffer = b->z;
        snprintf(what, sizeof what, "gemv %s %s %lldx%lld", iso_dtype_name(dtype),
                 i % 2 ? "t" : "n", (long long)g->m, (long long)g->k);
        measure(b, ISO_OP_GEMV, what, &args, g->m * g->k * iso_dtype_size(dtype));
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reductions(bench *b, iso_dtype dtype)
{
    static const struct {
        iso_reduce_op op;
        const char *name;
    } ops[] = {{ISO_SUM, "sum"}, {ISO_DOT, "dot"}, {ISO_ARGMAX, "argmax"}};
    static const int logs[] = {16, 20, 26};
    for (int i = 0; i < 9; i++) {
        any_args args = {.reduce = ISO_REDUCE_ARGS_INIT};
        iso_reduce_args *r = &args.reduce;
        char what[64];
        r->dtype = dtype;
        r->op = ops[i / 3].op;
        r->cols = INT64_C(1) << logs[i % 3];
        r->x.buffer = b->x, r->y.buffer = b->y, r->result.buffer = b->z;
        snprintf(what, sizeof what, "reduce %s %s 2^%d", ops[i / 3].name, iso_dtype_name(dtype),
                 logs[i % 3]);
        measure(b, ISO_OP_REDUCE, what, &args, r->cols * iso_dtype_size(dtype));
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Buffers for the largest shape, or for what fits. */
static void make_room(bench *b, iso_dtype dtype, int64_t count)
{
    for (b->room = count * iso_dtype_size(dtype);; b->room /= 2) {
        iso_buffer *const all[] = {&b->x, &b->y, &b->z};
        int made = 0;
        while (made < 3 && iso_buffer_create(b->device, b->room, all[made]) == ISO_OK) {
            made++;
        }
        if (made == 3) {
            break;
        }
        while (made > 0) {
            CHECK(iso_buffer_destroy(*all[--made]));
        }
        if (b->room < 1 << 20) {
            CHECK(ISO_NO_MEMORY);
        }
    }
    fill(b, b->x, dtype, b->room, 1);
    fill(b, b->y, dtype, b->room, UINT64_C(1) << 40);
    fill(b, b->z, dtype, b->room, UINT64_C(1) << 41);
}

static void run(bench *b, const int *wanted)
{
    const int64_t side = b->cpu ? LARGEST_CPU : LARGEST, largest = side * side;
    for (int t = 0; t < TYPES; t++) {
        const int reduces = wanted[2] && (types[t] == ISO_F32 || types[t] == ISO_F64);
        int64_t count = wanted[0] || wanted[1] ? largest : 0;
        count = reduces && count < 1 << 26 ? 1 << 26 : count;
        if (count == 0) {
            continue;
        }
        make_room(b, types[t], count);
        if (wanted[0]) {
            products(b, types[t]);
        }
        if (wanted[1]) {
            vectors(b, types[t]);
        }
        if (reduces) {
            reductions(b, types[t]);
        }
        CHECK(iso_stream_sync(b->stream));
        CHECK(iso_buffer_destroy(b->x));
        CHECK(iso_buffer_destroy(b->y));
        CHECK(iso_buffer_destroy(b->z));
    }
}

/* Which table auto follows, if any. */
static void say_table(const bench *b, const char *spec, const char *name)
{
    iso_property property = ISO_PROPERTY_INIT;
    for (int32_t i = 0; iso_device_get_property(b->device, i, &property) == ISO_OK; i++) {
        if (strcmp(property.name, "tuned table") == 0) {
            printf("%s: %s; table: %s\n", spec, name, property.value);
        }
    }
}

int main(int argc, char **argv)
{
    bench b = {.random = 1};
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    int wanted[KINDS] = {0};
    for (int i = 2; i < argc; i++) {
        int known = 0;
        for (int k = 0; k < KINDS; k++) {
            if (strcmp(argv[i], kind_names[k]) == 0) {
                wanted[k] = known = 1;
            }
        }
        argc = known ? argc : 0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: perf-auto BACKEND [gemm|gemv|reduce...]\n");
        return 2;
    }
    if (argc == 2) {
        wanted[0] = wanted[1] = wanted[2] = 1;
    }
    if (iso_device_open(argv[1], &b.device) != ISO_OK) {
        fprintf(stderr, "perf-auto: %s\n", iso_last_error());
        return 77;
    }
    CHECK(iso_device_get_info(b.device, &info));
    b.cpu = info.type == ISO_DEVICE_CPU;
    b.by_events = strcmp(info.backend, "cuda") == 0 || strcmp(info.backend, "hip") == 0;
    CHECK(iso_stream_create(b.device, 0, &b.stream));
    if (b.by_events) {
        CHECK(iso_event_create(b.device, &b.start));
        CHECK(iso_event_create(b.device, &b.stop));
    }
    say_table(&b, argv[1], info.name);
    const double from = now();
    run(&b, wanted);
    if (b.by_events) {
        CHECK(iso_event_destroy(b.start));
        CHECK(iso_event_destroy(b.stop));
    }
    CHECK(iso_stream_destroy(b.stream));
    CHECK(iso_device_close(b.device));
    printf("%d cases, %d missed, %d skipped, %.0f s\n", b.cases, b.missed, b.skipped, now() - from);
    return b.missed > 0;
}
