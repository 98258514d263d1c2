/* SPDX-License-Identifier: Apache-2.0 */
/* core_gemv.c - iso_gemv gives the bits of iso_gemm with one column, and writes nothing else. Takes
 * the devices to try; skips if none of them is there. */
#include <isomer/isomer.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    iso_dtype dtype;
    iso_trans trans;
    int64_t m, k, lda, inc_x, inc_y, batch, stride_a, stride_x, stride_y, offset;
    double alpha, beta;
} problem;

typedef struct session {
    const char *spec;
    iso_device device;
    iso_stream stream;
    iso_buffer a, x, y[2];
    int64_t bytes_a, bytes_x, bytes_y;
} session;

enum { LARGEST = 32 << 20 };

static uint64_t random_state = 1;
static int failures, compared;

static uint64_t next(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static void must(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}

/* Values in [-1, 1) of the type; f16 and bf16 by their bits, which are finite. */
static void fill(iso_dtype dtype, unsigned char *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double value = (double)(int64_t)(next(1u << 24) - (1u << 23)) / (1u << 23);
        float narrow = (float)value;
        uint16_t half =
            (uint16_t)((dtype == ISO_F16 ? next(0x3c00) : 0x3e80 + next(0x100)) | next(2) << 15);

        if (dtype == ISO_F64) {
            memcpy(to + i * 8, &value, 8);
        } else if (dtype == ISO_F32) {
            memcpy(to + i * 4, &narrow, 4);
        } else {
            memcpy(to + i * 2, &half, 2);
        }
    }
}

static iso_gemv_args gemv_of(const session *s, const problem *p)
{
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;
    int64_t at = p->offset * iso_dtype_size(p->dtype);

    args.dtype = p->dtype;
    args.trans = p->trans;
    args.m = p->m;
    args.k = p->k;
    args.alpha = p->alpha;
    args.beta = p->beta;
    args.a = (iso_operand){s->a, at};
    args.x = (iso_operand){s->x, at};
    args.y = (iso_operand){s->y[0], at};
    args.lda = p->lda;
    args.inc_x = p->inc_x;
    args.inc_y = p->inc_y;
    args.batch = p->batch;
    args.stride_a = p->stride_a;
    args.stride_x = p->stride_x;
    args.stride_y = p->stride_y;
    return args;
}

/* The definition. */
static void expect(const session *s, const problem *p, iso_variant variant)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    int64_t at = p->offset * iso_dtype_size(p->dtype);

    args.dtype = p->dtype;
    args.variant = variant;
    args.trans_a = p->trans;
    args.m = p->m;
    args.n = 1;
    args.k = p->k;
    args.alpha = p->alpha;
    args.beta = p->beta;
    args.a = (iso_operand){s->a, at};
    args.b = (iso_operand){s->x, at};
    args.c = (iso_operand){s->y[1], at};
    args.lda = p->lda;
    args.ldb = p->inc_x;
    args.ldc = p->inc_y;
    args.batch = p->batch;
    args.stride_a = p->stride_a;
    args.stride_b = p->stride_x;
    args.stride_c = p->stride_y;
    must(iso_gemm(s->stream, &args), "iso_gemm");
}

static problem draw(void)
{
    static const int64_t sizes[] = {1,    2,    3,    5,    15,   16,   17,   31,  33,   63,
                                    64,   65,   100,  127,  129,  255,  257,  500, 1000, 1023,
                                    1024, 1025, 1500, 2047, 2048, 2049, 2050, 3100};
    static const double factors[] = {0.0, 1.0, -1.0, 0.7};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    problem p = {.dtype = (iso_dtype)(ISO_F16 + next(4)),
                 .trans = (iso_trans)next(2),
                 .m = sizes[next(SIZES)],
                 .k = next(12) ? sizes[next(SIZES)] : 0,
                 .inc_x = next(3) ? 1 : 1 + (int64_t)next(4),
                 .inc_y = next(3) ? 1 : 1 + (int64_t)next(4),
                 .batch = next(4) ? 1 : 1 + (int64_t)next(4),
                 .offset = next(3) ? 0 : (int64_t)next(9),
                 .alpha = factors[1 + next(3)],
                 .beta = factors[next(4)]};
    int64_t rows = p.trans ? p.k : p.m, cols = p.trans ? p.m : p.k;

    p.lda = cols + (next(2) ? 0 : (int64_t)next(20));
    p.lda = p.lda ? p.lda : 1;
    p.stride_a = next(4) ? rows * p.lda + (int64_t)next(5) : 0;
    if (next(3) == 0) { /* aligned, however long its rows are */
        p.lda = (p.lda + 7) / 8 * 8;
        p.stride_a = rows * p.lda;
        p.offset = p.offset / 8 * 8;
    }
    p.stride_x = next(4) ? p.k * p.inc_x + (int64_t)next(5) : 0;
    p.stride_y = p.m * p.inc_y + (int64_t)next(5);
    return p;
}

static void compare(session *s, const problem *p, iso_variant variant)
{
    iso_gemv_args args = gemv_of(s, p);
    int64_t bytes = (p->offset + p->batch * p->stride_y + p->inc_y) * iso_dtype_size(p->dtype);
    unsigned char *got = malloc((size_t)bytes), *want = malloc((size_t)bytes);

    if (!got || !want) {
        exit(1);
    }
    args.variant = variant;
    must(iso_copy(s->stream, (iso_operand){s->y[0], 0}, (iso_operand){s->x, 0}, bytes), "copy");
    must(iso_copy(s->stream, (iso_operand){s->y[1], 0}, (iso_operand){s->x, 0}, bytes), "copy");
    expect(s, p, variant == ISO_VARIANT_FIXED ? variant : ISO_VARIANT_NAIVE);
    must(iso_gemv(s->stream, &args), "iso_gemv");
    must(iso_read(s->stream, got, (iso_operand){s->y[0], 0}, bytes), "read");
    must(iso_read(s->stream, want, (iso_operand){s->y[1], 0}, bytes), "read");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
    compared++;
    for (int64_t i = 0; i < bytes; i++) {
        if (got[i] != want[i]) {
            failures++;
            fprintf(stderr,
                    "%s %s %s trans %d m %lld k %lld lda %lld inc %lld %lld batch %lld offset %lld "
                    "alpha %g beta %g: byte %lld is %02x, not %02x\n",
                    s->spec, iso_variant_name(variant), iso_dtype_name(p->dtype), p->trans,
                    (long long)p->m, (long long)p->k, (long long)p->lda, (long long)p->inc_x,
                    (long long)p->inc_y, (long long)p->batch, (long long)p->offset, p->alpha,
                    p->beta, (long long)i, got[i], want[i]);
            break;
        }
    }
    free(got);
    free(want);
}

static bool try_device(const char *spec, int count)
{
    session s = {.spec = spec};
    unsigned char *values = malloc(LARGEST);

    if (!values || iso_device_open(spec, &s.device)) {
        fprintf(stderr, "%s: %s\n", spec, iso_last_error());
        free(values);
        return false;
    }
    must(iso_stream_create(s.device, 0, &s.stream), "iso_stream_create");
    must(iso_buffer_create(s.device, LARGEST, &s.a), "iso_buffer_create");
    must(iso_buffer_create(s.device, LARGEST, &s.x), "iso_buffer_create");
    must(iso_buffer_create(s.device, LARGEST, &s.y[0]), "iso_buffer_create");
    must(iso_buffer_create(s.device, LARGEST, &s.y[1]), "iso_buffer_create");
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_F64; dtype++) {
        int64_t elements = LARGEST / iso_dtype_size(dtype);

        fill(dtype, values, elements);
        must(iso_write(s.stream, (iso_operand){s.a, 0}, values, LARGEST), "iso_write");
        must(iso_stream_sync(s.stream), "iso_stream_sync");
        fill(dtype, values, elements);
        must(iso_write(s.stream, (iso_operand){s.x, 0}, values, LARGEST), "iso_write");
        must(iso_stream_sync(s.stream), "iso_stream_sync");
        for (int i = 0; i < count;) {
            problem p = draw();
            int64_t rows = p.trans ? p.k : p.m;

            p.dtype = dtype;
            if ((p.batch * p.stride_a + rows * p.lda + p.offset) < elements) {
                compare(&s, &p, ISO_VARIANT_TILED);
                compare(&s, &p, ISO_VARIANT_NAIVE);
                if (i % 8 == 0) { /* several programs for a GPU: a stand-in is slow to build them */
                    compare(&s, &p, ISO_VARIANT_FIXED);
                }
                i++;
            }
        }
    }
    iso_device_close(s.device);
    free(values);
    return true;
}

int main(int argc, char **argv)
{
    int devices = 0;

    for (int i = 2; i < argc; i++) {
        devices += try_device(argv[i], atoi(argv[1]));
    }
    printf("%d compared, %d differ\n", compared, failures);
    return failures ? 1 : devices ? 0 : 77;
}
