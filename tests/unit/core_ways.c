/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_ways.c - whichever way of tiled a table of measured choices names, the product has the bits
 * of naive.
 *
 *   core_ways COUNT SIZE DEPTH TYPES DEVICE...   COUNT random products of each of the types, with N
 *                                                up to SIZE, M up to SIZE or, of a few, three
 *                                                times that, and K up to DEPTH, by each way,
 * on each device; skips if none of them is there
 */
#include "tests/property.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBLEMS_MAX = 64, WAYS_MAX = 64, NAME = 128, PADDING = 8 };

typedef struct problem {
    iso_gemm_args args;
    int64_t results;
    unsigned char *right;
} problem;

typedef struct session {
    const char *spec;
    int64_t size, depth;
    iso_device device;
    iso_stream stream;
    iso_buffer a, b, c;
    int64_t bytes;
    unsigned char *values;
    char key[ISO_REASON_MAX], versions[ISO_REASON_MAX];
} session;

static uint64_t random_state = 1;
static int failures, compared;
static char path[512];

static int64_t next(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

static void must(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}

/* ---- a device -------------------------------------------------------------------------------- */

static void open_session(session *s)
{
    must(iso_device_open(s->spec, &s->device), "iso_device_open");
    must(iso_stream_create(s->device, 0, &s->stream), "iso_stream_create");
    must(iso_buffer_create(s->device, s->bytes, &s->a), "iso_buffer_create");
    must(iso_buffer_create(s->device, s->bytes, &s->b), "iso_buffer_create");
    must(iso_buffer_create(s->device, s->bytes, &s->c), "iso_buffer_create");
}

/* Bytes whose exponents are those of numbers near 1. The same bytes for every way. */
static void upload(session *s, iso_dtype dtype)
{
    const int64_t cell = iso_dtype_size(dtype);
    const int top = (int)cell - 1;
    uint64_t kept = random_state;

    random_state = 7;
    for (int64_t i = 0; i < s->bytes; i++) {
        s->values[i] = (unsigned char)next(256);
        if (i % cell == top) {
            s->values[i] = (unsigned char)((next(2) << 7) | (dtype == ISO_F16 ? 0x38 : 0x3f));
        }
    }
    random_state = kept;
    must(iso_write(s->stream, (iso_operand){s->a, 0}, s->values, s->bytes), "iso_write");
    must(iso_write(s->stream, (iso_operand){s->b, 0}, s->values, s->bytes), "iso_write");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
}

/* ---- products -------------------------------------------------------------------------------- */

static int64_t padding(void)
{
    return next(2) ? 0 : 1 + next(PADDING);
}

/* The first has all of K, so that there are several segments. Few have many rows: three times the
 * size, which is more than a block of the CPU's. What lies between rows and matrices of C has to
 * stay as it is. */
static problem draw(const session *s, iso_dtype dtype, int number)
{
    problem p = {.args = ISO_GEMM_ARGS_INIT};
    iso_gemm_args *g = &p.args;

    g->dtype = dtype;
    g->trans_a = (iso_trans)next(2);
    g->trans_b = (iso_trans)(next(3) == 0);
    g->batch = next(4) ? 1 : 3;
    g->m = next(4) ? 1 + next(s->size) : 1 + next(g->batch > 1 || next(2) ? 8 : 3 * s->size);
    g->n = next(8) ? 1 + next(s->size) : 1;
    g->k = next(2) ? 1 + next(128) : 1 + next(s->depth);
    g->k = number ? g->k : s->depth;
    g->continues = next(5) == 0 && (dtype == ISO_F32 || dtype == ISO_F64);
    g->lda = (g->trans_a == ISO_TRANS ? g->m : g->k) + padding();
    g->ldb = (g->trans_b == ISO_TRANS ? g->k : g->n) + padding();
    g->ldc = g->n + padding();
    g->stride_a = next(3) ? g->lda * (g->trans_a == ISO_TRANS ? g->k : g->m) : 0;
    g->stride_b = next(3) ? g->ldb * (g->trans_b == ISO_TRANS ? g->n : g->k) : 0;
    g->stride_c = g->m * g->ldc;
    g->alpha = g->continues || next(2) ? 1 : next(4) ? 0.75 : 0;
    g->beta = g->continues ? 1 : next(2) ? 0 : -0.5;
    p.results = g->batch * g->stride_c;
    return p;
}

/* The same with few elements and terms, as GPUs compute without a tile unless a way names one. */
static problem few_of(const problem *of)
{
    problem p = *of;
    iso_gemm_args *g = &p.args;

    g->m = 3;
    g->n = 5;
    g->k = 7;
    g->continues = 0;
    g->lda = (g->trans_a == ISO_TRANS ? g->m : g->k) + padding();
    g->ldb = (g->trans_b == ISO_TRANS ? g->k : g->n) + padding();
    g->ldc = g->n + padding();
    g->stride_a = g->lda * (g->trans_a == ISO_TRANS ? g->k : g->m);
    g->stride_b = g->ldb * (g->trans_b == ISO_TRANS ? g->n : g->k);
    g->stride_c = g->m * g->ldc;
    p.results = g->batch * g->stride_c;
    return p;
}

/* Computes a product; C begins with the same bytes as A. */
static void run(const session *s, const problem *p, iso_variant variant, unsigned char *out)
{
    iso_gemm_args args = p->args;
    const int64_t bytes = p->results * iso_dtype_size(args.dtype);

    args.variant = variant;
    args.a.buffer = s->a;
    args.b = (iso_operand){s->b, iso_dtype_size(args.dtype)};
    args.c.buffer = s->c;
    must(iso_copy(s->stream, args.c, args.a, bytes), "iso_copy");
    must(iso_gemm(s->stream, &args), "iso_gemm");
    must(iso_read(s->stream, out, args.c, bytes), "iso_read");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
}

static void compare(const session *s, const problem *p, const char *way)
{
    const iso_gemm_args *g = &p->args;
    const int64_t bytes = p->results * iso_dtype_size(g->dtype);

    run(s, p, ISO_VARIANT_TILED, s->values);
    compared++;
    if (memcmp(s->values, p->right, (size_t)bytes)) {
        failures++;
        fprintf(stderr,
                "%s %s by %s: %s%s m %lld n %lld k %lld batch %lld, lda %lld ldb %lld ldc %lld, "
                "strides "
                "%lld %lld, alpha %g beta %g continues %d: not the bits of naive\n",
                s->spec, iso_dtype_name(g->dtype), way, iso_trans_name(g->trans_a),
                iso_trans_name(g->trans_b), (long long)g->m, (long long)g->n, (long long)g->k,
                (long long)g->batch, (long long)g->lda, (long long)g->ldb, (long long)g->ldc,
                (long long)g->stride_a, (long long)g->stride_b, g->alpha, g->beta, g->continues);
    }
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* Finds the ways of a type in the property "ways": "f32: a b c; f64: d". Returns their number. */
static int ways_of(const session *s, iso_dtype dtype, char names[WAYS_MAX][32])
{
    char text[ISO_REASON_MAX], start[16];
    int count = 0;

    snprintf(text, sizeof text, "%s", property_of(s->device, "ways"));
    snprintf(start, sizeof start, "%s: ", iso_dtype_name(dtype));
    for (char *kept, *part = strtok_r(text, ";", &kept); part; part = strtok_r(NULL, ";", &kept)) {
        char *word;

        part += part[0] == ' ';
        if (strncmp(part, start, strlen(start))) {
            continue;
        }
        for (word = strtok(part + strlen(start), " "); word && count < WAYS_MAX;
             word = strtok(NULL, " ")) {
            snprintf(names[count++], 32, "%s", word);
        }
    }
    return count;
}

static void write_table(const session *s, const problem *problems, int count, const char *way)
{
    FILE *out = fopen(path, "w");
    int rows = 0;

    if (!out) {
        perror(path);
        exit(1);
    }
    fprintf(out, "isomer tuned 1\nkey %s\nversions %s\nlibrary -\n", s->key, s->versions);
    for (int i = 0; i < count; i++) {
        const iso_gemm_args *g = &problems[i].args;
        fprintf(out, "gemm %s %s%s %lld %lld %lld %lld - 1 - - %s\n", iso_dtype_name(g->dtype),
                iso_trans_name(g->trans_a), iso_trans_name(g->trans_b), (long long)g->m,
                (long long)g->n, (long long)g->k, (long long)g->batch, way);
        rows++;
    }
    fprintf(out, "end %d\n", rows);
    if (fclose(out)) {
        perror(path);
        exit(1);
    }
}

/* The kernels that compute one problem by one way or another. */
typedef struct kernels {
    int count;
    char names[WAYS_MAX][NAME];
} kernels;

static void see(const session *s, const problem *p, kernels *seen)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_gemm_args args = p->args;

    args.variant = ISO_VARIANT_TILED;
    must(iso_describe(s->device, ISO_OP_GEMM, &args, &info), "iso_describe");
    if (strstr(info.kernel, "naive")) {
        failures++;
        fprintf(stderr, "%s: a way is named, and the kernel is %s\n", s->spec, info.kernel);
    }
    for (int i = 0; i < seen->count; i++) {
        if (!strcmp(seen->names[i], info.kernel)) {
            return;
        }
    }
    snprintf(seen->names[seen->count++], NAME, "%s", info.kernel);
}

static bool is_drawn(const problem *problems, int count, const problem *p)
{
    for (int i = 0; i < count; i++) {
        const iso_gemm_args *x = &problems[i].args, *y = &p->args;
        if (x->m == y->m && x->n == y->n && x->k == y->k && x->batch == y->batch) {
            return true;
        }
    }
    return false;
}

static void check_type(session *s, iso_dtype dtype, int count)
{
    problem problems[PROBLEMS_MAX];
    char names[WAYS_MAX][32];
    kernels *seen = calloc((size_t)count, sizeof *seen);
    int ways, most = 0;

    setenv("ISOMER_TUNED", "off", 1);
    open_session(s);
    snprintf(s->key, sizeof s->key, "%s", property_of(s->device, "tuned for"));
    snprintf(s->versions, sizeof s->versions, "%s", property_of(s->device, "tuned with"));
    ways = ways_of(s, dtype, names);
    upload(s, dtype);
    for (int i = 0; i < count; i++) {
        do {
            problems[i] = i == 1 ? few_of(&problems[0]) : draw(s, dtype, i);
        } while (is_drawn(problems, i, &problems[i]));
        problems[i].right = malloc((size_t)(problems[i].results * iso_dtype_size(dtype)));
        run(s, &problems[i], ISO_VARIANT_NAIVE, problems[i].right);
    }
    must(iso_device_close(s->device), "iso_device_close");
    setenv("ISOMER_TUNED", path, 1);
    for (int w = 0; w < ways; w++) {
        write_table(s, problems, count, names[w]);
        open_session(s);
        if (!strstr(property_of(s->device, "tuned table"), " row")) {
            fprintf(stderr, "%s: the table is %s\n", s->spec,
                    property_of(s->device, "tuned table"));
            exit(1);
        }
        upload(s, dtype);
        for (int i = 0; i < count; i++) {
            see(s, &problems[i], &seen[i]);
            most = seen[i].count > most ? seen[i].count : most;
            compare(s, &problems[i], names[w]);
        }
        must(iso_device_close(s->device), "iso_device_close");
    }
    if (ways < 1 || (ways > 1 && most < 2)) {
        failures++;
        fprintf(stderr, "%s %s: %d ways, but no product with two kernels: tables change nothing\n",
                s->spec, iso_dtype_name(dtype), ways);
    }
    printf("%s %s: %d ways, up to %d kernels for a product\n", s->spec, iso_dtype_name(dtype), ways,
           most);
    free(seen);
    for (int i = 0; i < count; i++) {
        free(problems[i].right);
    }
}

static bool has(const char *spec)
{
    iso_device device;

    if (iso_device_open(spec, &device)) {
        printf("%s is not here: %s\n", spec, iso_last_error());
        return false;
    }
    must(iso_device_close(device), "iso_device_close");
    return true;
}

int main(int argc, char **argv)
{
    const char *base = getenv("TMPDIR");
    int count = argc > 5 ? atoi(argv[1]) : 0;
    static session s;

    if (count < 1 || count > PROBLEMS_MAX) {
        fprintf(stderr, "usage: core_ways COUNT SIZE DEPTH TYPES DEVICE...\n");
        return 2;
    }
    s.size = atoll(argv[2]);
    s.depth = atoll(argv[3]);
    s.bytes = 3 * ((s.depth > s.size ? s.depth : s.size) + PADDING) * (s.size + PADDING) * 8 + 4096;
    s.values = malloc((size_t)s.bytes);
    snprintf(path, sizeof path, "%s/isomer-ways-XXXXXX", base && base[0] ? base : "/tmp");
    if (!s.values || close(mkstemp(path))) {
        return 1;
    }
    for (int d = 5; d < argc; d++) {
        s.spec = argv[d];
        for (iso_dtype type = ISO_F16; type <= ISO_F64 && has(s.spec); type++) {
            if (strstr(argv[4], iso_dtype_name(type))) {
                check_type(&s, type, count);
            }
        }
    }
    unlink(path);
    free(s.values);
    printf("%d products, %d failures\n", compared, failures);
    return failures ? 1 : compared ? 0 : 77;
}
