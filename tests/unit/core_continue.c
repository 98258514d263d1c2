/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_continue.c - a product whose K is cut at multiples of 1024 into several calls, of which all
 * but the first continue, has the bits of one call, and nothing else is written.
 *
 *   core_continue COUNT SIZE DEVICE...   COUNT random products of each type, with M and N up to
 *                                        SIZE, on each device; skips if none of them is there
 */
#include <isomer/isomer.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 1024, DEEPEST = 5000, CUTS_MAX = DEEPEST / SEGMENT };

typedef struct problem {
    iso_gemm_args args;          /* of the whole product; A, B and C have the same offset */
    int64_t end_a, end_b, end_c; /* elements, with the offset */
    int64_t cuts[CUTS_MAX];
    int cut_count;
} problem;

typedef struct session {
    const char *spec;
    int64_t size;
    iso_device device;
    iso_stream stream;
    iso_buffer a, b, c[2];
    int64_t bytes;
    unsigned char *values;
} session;

static uint64_t random_state = 1;
static int failures, compared;

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

/* Values in [-1, 1). */
static void upload(const session *s, iso_dtype dtype, iso_buffer to)
{
    for (int64_t i = 0; i < s->bytes / iso_dtype_size(dtype); i++) {
        double value = (double)(next(1 << 24) - (1 << 23)) / (1 << 23);
        float narrow = (float)value;

        if (dtype == ISO_F64) {
            memcpy(s->values + i * 8, &value, 8);
        } else {
            memcpy(s->values + i * 4, &narrow, 4);
        }
    }
    must(iso_write(s->stream, (iso_operand){to, 0}, s->values, s->bytes), "iso_write");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
}

static problem draw(const session *s, iso_dtype dtype)
{
    problem p = {.args = ISO_GEMM_ARGS_INIT};
    iso_gemm_args *g = &p.args;
    int64_t at = next(3) ? 0 : next(9), rows_a, rows_b;

    g->dtype = dtype;
    g->trans_a = (iso_trans)next(2);
    g->trans_b = (iso_trans)next(2);
    g->m = 1 + next(s->size);
    g->n = 1 + next(s->size);
    g->k = SEGMENT + 1 + next(DEEPEST - SEGMENT);
    g->batch = next(4) ? 1 : 2;
    rows_a = g->trans_a ? g->k : g->m;
    rows_b = g->trans_b ? g->n : g->k;
    g->lda = g->m + g->k - rows_a + (next(2) ? 0 : next(9));
    g->ldb = g->k + g->n - rows_b + (next(2) ? 0 : next(9));
    g->ldc = g->n + (next(2) ? 0 : next(9));
    g->stride_a = next(4) ? rows_a * g->lda + next(5) : 0;
    g->stride_b = next(4) ? rows_b * g->ldb + next(5) : 0;
    g->stride_c = g->m * g->ldc + next(5);
    p.end_a = at + (g->batch - 1) * g->stride_a + rows_a * g->lda;
    p.end_b = at + (g->batch - 1) * g->stride_b + rows_b * g->ldb;
    p.end_c = at + g->batch * g->stride_c;
    g->a = (iso_operand){s->a, at * iso_dtype_size(dtype)};
    g->b = (iso_operand){s->b, at * iso_dtype_size(dtype)};
    g->c = (iso_operand){s->c[0], at * iso_dtype_size(dtype)};
    while (p.cut_count == 0) {
        for (int64_t k = SEGMENT; k < g->k; k += SEGMENT) {
            if (next(3) == 0) {
                p.cuts[p.cut_count++] = k;
            }
        }
    }
    return p;
}

/* Runs one part of K. */
static void run_part(const session *s, const problem *p, int64_t from, int64_t to)
{
    iso_gemm_args part = p->args;
    int64_t cell = iso_dtype_size(part.dtype);

    part.c.buffer = s->c[1];
    part.a.offset += from * (part.trans_a ? part.lda : 1) * cell;
    part.b.offset += from * (part.trans_b ? 1 : part.ldb) * cell;
    part.k = to - from;
    part.beta = from > 0 ? 1 : 0;
    part.continues = from > 0;
    must(iso_gemm(s->stream, &part), "iso_gemm");
}

static void report(const session *s, const problem *p, int64_t at)
{
    const iso_gemm_args *g = &p->args;

    failures++;
    fprintf(stderr, "%s %s %s %s%s m %lld n %lld k %lld ld %lld %lld %lld batch %lld, cut at",
            s->spec, iso_variant_name(g->variant), iso_dtype_name(g->dtype),
            iso_trans_name(g->trans_a), iso_trans_name(g->trans_b), (long long)g->m,
            (long long)g->n, (long long)g->k, (long long)g->lda, (long long)g->ldb,
            (long long)g->ldc, (long long)g->batch);
    for (int i = 0; i < p->cut_count; i++) {
        fprintf(stderr, " %lld", (long long)p->cuts[i]);
    }
    fprintf(stderr, ": byte %lld differs from one call\n", (long long)at);
}

static void compare(const session *s, problem *p, iso_variant variant)
{
    int64_t bytes = p->end_c * iso_dtype_size(p->args.dtype), from = 0;
    unsigned char *got = s->values, *want = s->values + s->bytes / 2;

    p->args.variant = variant;
    for (int i = 0; i < 2; i++) {
        must(iso_copy(s->stream, (iso_operand){s->c[i], 0}, (iso_operand){s->a, 0}, bytes), "copy");
    }
    must(iso_gemm(s->stream, &p->args), "iso_gemm");
    for (int i = 0; i < p->cut_count; i++) {
        run_part(s, p, from, p->cuts[i]);
        from = p->cuts[i];
    }
    run_part(s, p, from, p->args.k);
    must(iso_read(s->stream, want, (iso_operand){s->c[0], 0}, bytes), "read");
    must(iso_read(s->stream, got, (iso_operand){s->c[1], 0}, bytes), "read");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
    compared++;
    for (int64_t i = 0; i < bytes; i++) {
        if (got[i] != want[i]) {
            report(s, p, i);
            break;
        }
    }
}

static bool try_device(const char *spec, int count, int64_t size)
{
    session s = {.spec = spec, .size = size};

    if (iso_device_open(spec, &s.device)) {
        fprintf(stderr, "%s: %s\n", spec, iso_last_error());
        return false;
    }
    s.bytes = (size + 20) * (DEEPEST + 20) * 2 * 8;
    s.values = malloc((size_t)s.bytes);
    if (!s.values) {
        exit(1);
    }
    must(iso_stream_create(s.device, 0, &s.stream), "iso_stream_create");
    must(iso_buffer_create(s.device, s.bytes, &s.a), "iso_buffer_create");
    must(iso_buffer_create(s.device, s.bytes, &s.b), "iso_buffer_create");
    must(iso_buffer_create(s.device, s.bytes, &s.c[0]), "iso_buffer_create");
    must(iso_buffer_create(s.device, s.bytes, &s.c[1]), "iso_buffer_create");
    for (iso_dtype dtype = ISO_F32; dtype <= ISO_F64; dtype++) {
        upload(&s, dtype, s.a);
        upload(&s, dtype, s.b);
        for (int i = 0; i < count; i++) {
            problem p = draw(&s, dtype);
            int64_t end = s.bytes / iso_dtype_size(dtype);

            if (p.end_a > end || p.end_b > end || p.end_c > end / 2) {
                fprintf(stderr, "the buffers are too small\n");
                exit(1);
            }
            compare(&s, &p, ISO_VARIANT_TILED);
            compare(&s, &p, ISO_VARIANT_NAIVE);
        }
    }
    must(iso_device_close(s.device), "iso_device_close");
    free(s.values);
    return true;
}

int main(int argc, char **argv)
{
    int devices = 0;

    if (argc < 4) {
        fprintf(stderr, "core_continue COUNT SIZE DEVICE...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        devices += try_device(argv[i], atoi(argv[1]), atoi(argv[2]));
    }
    printf("%d compared, %d differ\n", compared, failures);
    return failures ? 1 : devices ? 0 : 77;
}
