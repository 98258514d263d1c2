/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - matrices of the tests: their elements, their memory, and comparisons. */
#include "tests/vendor/model.h"

#include <math.h>

enum { AROUND = 256 }; /* bytes before and behind */

void bench_ran(bench *self, const char *what, iso_status status)
{
    if (status) {
        self->failures++;
        (void)printf("FAILED: %s: %s: %s\n", self->spec, what, iso_last_error());
    }
}

uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 20;
}

static int64_t cell(iso_dtype dtype)
{
    static const int64_t bytes[] = {
        [ISO_F16] = 2, [ISO_BF16] = 2, [ISO_F32] = 4, [ISO_F64] = 8,  [ISO_I32] = 4,
        [ISO_I64] = 8, [ISO_I8] = 1,   [ISO_C64] = 8, [ISO_C128] = 16};
    return bytes[dtype];
}

matrix matrix_make(const shape *of)
{
    const bool column = of->order == ISO_COLUMN_MAJOR;
    const int64_t line = column ? of->rows : of->cols, lines = column ? of->cols : of->rows;
    matrix m = {.dtype = of->dtype,
                .order = of->order,
                .rows = of->rows,
                .cols = of->cols,
                .ld = line + of->gap > 0 ? line + of->gap : 1,
                .batch = of->batch};
    const int64_t all = lines * m.ld + of->gap;
    m.stride = of->shared || of->batch == 1 ? 0 : all;
    m.start = AROUND + of->shift * cell(of->dtype);
    m.bytes = m.start + (m.stride ? of->batch : 1) * all * cell(of->dtype) + AROUND;
    m.host = check_alloc((size_t)m.bytes);
    m.before = check_alloc((size_t)m.bytes);
    memset(m.host, 0x5a, (size_t)m.bytes);
    return m;
}

void matrix_free(bench *self, matrix *m)
{
    (void)self;
    if (m->on_device.buffer.id) {
        CHECK_OK(iso_buffer_destroy(m->on_device.buffer));
    }
    free(m->host);
    free(m->before);
}

static int64_t place(const matrix *m, int64_t member, int64_t i, int64_t j)
{
    const int64_t at = m->order == ISO_COLUMN_MAJOR ? j * m->ld + i : i * m->ld + j;
    return m->start + (member * m->stride + at) * cell(m->dtype);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Of whole numbers of up to 2048, and NaN. */
static uint16_t to_half(double value)
{
    const double size = fabs(value);
    const int exponent = size > 0 ? ilogb(size) : 0;
    if (isnan(value)) {
        return 0x7e00;
    }
    return (uint16_t)((value < 0 ? 0x8000 : 0) |
                      (size > 0 ? ((exponent + 14) << 10) + (int)ldexp(size, 10 - exponent) : 0));
}

static double from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (double)NAN
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

number matrix_get(const matrix *m, int64_t member, int64_t i, int64_t j)
{
    const uint8_t *at = m->host + place(m, member, i, j);
    float f[2] = {0, 0};
    double d[2] = {0, 0};
    uint16_t h;
    uint32_t wide;
    int32_t word;
    switch (m->dtype) {
    case ISO_F16:
        memcpy(&h, at, sizeof h);
        return from_half(h);
    case ISO_BF16:
        memcpy(&h, at, sizeof h);
        wide = (uint32_t)h << 16;
        memcpy(f, &wide, sizeof wide);
        return (double)f[0];
    case ISO_I8:
        return (double)(int8_t)*at;
    case ISO_I32:
        memcpy(&word, at, sizeof word);
        return (double)word;
    case ISO_F32:
    case ISO_C64:
        memcpy(f, at, (size_t)cell(m->dtype));
        return CMPLX((double)f[0], (double)f[1]);
    default:
        memcpy(d, at, (size_t)cell(m->dtype));
        return CMPLX(d[0], d[1]);
    }
}

void matrix_set(matrix *m, int64_t member, int64_t i, int64_t j, number value)
{
    uint8_t *at = m->host + place(m, member, i, j);
    const float f[2] = {(float)creal(value), (float)cimag(value)};
    const double d[2] = {creal(value), cimag(value)};
    uint16_t h;
    uint32_t wide;
    int32_t word;
    switch (m->dtype) {
    case ISO_BF16:
        memcpy(&wide, f, sizeof wide);
        h = (uint16_t)(wide >> 16);
        memcpy(at, &h, sizeof h);
        break;
    case ISO_F16:
        h = to_half(d[0]);
        memcpy(at, &h, sizeof h);
        break;
    case ISO_I8:
        *at = (uint8_t)(int8_t)d[0];
        break;
    case ISO_I32:
        word = (int32_t)d[0];
        memcpy(at, &word, sizeof word);
        break;
    case ISO_F32:
    case ISO_C64:
        memcpy(at, f, (size_t)cell(m->dtype));
        break;
    default:
        memcpy(at, d, (size_t)cell(m->dtype));
    }
}

static double whole(int64_t most, uint64_t *state)
{
    return (double)((int64_t)(random_next(state) % (uint64_t)(2 * most + 1)) - most);
}

static void set_all(matrix *m, int64_t most, uint64_t *state)
{
    for (int64_t member = 0; member < (m->stride ? m->batch : 1); member++) {
        for (int64_t i = 0; i < m->rows; i++) {
            for (int64_t j = 0; j < m->cols; j++) {
                const double real = whole(most, state);
                const double imaginary = whole(most, state);
                matrix_set(m, member, i, j, CMPLX(real, imaginary));
            }
        }
    }
}

/* Words are so large that sums with other numbers wrap. */
static void set_words(matrix *m, uint64_t *state)
{
    for (int64_t member = 0; member < (m->stride ? m->batch : 1); member++) {
        for (int64_t i = 0; i < m->rows * m->cols; i++) {
            const double size = INT32_MAX - (double)(random_next(state) % 1000);
            matrix_set(m, member, i / m->cols, i % m->cols, random_next(state) % 2 ? size : -size);
        }
    }
}

void matrix_fill(matrix *m, int most, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (m->dtype == ISO_I32) {
        set_words(m, &state);
    } else {
        set_all(m, m->dtype == ISO_I8 ? 127 : most, &state);
    }
}

void matrix_spoil(matrix *m)
{
    for (int64_t member = 0; member < (m->stride ? m->batch : 1); member++) {
        for (int64_t i = 0; i < m->rows * m->cols; i++) {
            matrix_set(m, member, i / m->cols, i % m->cols, CMPLX((double)NAN, (double)NAN));
        }
    }
}

/* ---- on the device --------------------------------------------------------------------------- */

void matrix_upload(bench *self, matrix *m)
{
    memcpy(m->before, m->host, (size_t)m->bytes);
    CHECK_OK(iso_buffer_create(self->device, m->bytes, &m->on_device.buffer));
    CHECK_OK(iso_write(self->stream, m->on_device, m->host, m->bytes));
    CHECK_OK(iso_stream_sync(self->stream));
    m->on_device.offset = m->start;
}

void matrix_download(bench *self, matrix *m)
{
    const iso_operand all = {m->on_device.buffer, 0};
    CHECK_OK(iso_read(self->stream, m->host, all, m->bytes));
    CHECK_OK(iso_stream_sync(self->stream));
}

/* ---- comparisons ----------------------------------------------------------------------------- */

number matrix_op(const matrix *m, iso_trans trans, int64_t member, int64_t i, int64_t j)
{
    const number element =
        trans == ISO_NO_TRANS ? matrix_get(m, member, i, j) : matrix_get(m, member, j, i);
    return trans == ISO_CONJ_TRANS ? conj(element) : element;
}

bool in_triangle(iso_triangle triangle, int64_t i, int64_t j)
{
    return triangle == ISO_LOWER ? j <= i : triangle == ISO_UPPER ? j >= i : true;
}

/* How far the numbers are from the model, as a share of its largest magnitude. Elements that count
 * are replaced by what was uploaded, so that all others can be compared as bytes. */
static double compare(const matrix *is, const matrix *model, iso_triangle triangle, uint8_t *others)
{
    double most = 0, apart = 0;
    memcpy(others, is->host, (size_t)is->bytes);
    for (int64_t member = 0; member < is->batch; member++) {
        for (int64_t i = 0; i < is->rows; i++) {
            for (int64_t j = 0; j < is->cols; j++) {
                if (!in_triangle(triangle, i, j)) {
                    continue;
                }
                const int64_t at = place(is, member, i, j);
                const number a = matrix_get(is, member, i, j);
                const number b = matrix_get(model, member, i, j);
                const double difference = cabs(a - b);
                most = fmax(most, cabs(b));
                apart = isnan(difference) ? (double)INFINITY : fmax(apart, difference);
                memcpy(others + at, is->before + at, (size_t)cell(is->dtype));
            }
        }
    }
    return apart > 0 ? apart / (most > 0 ? most : 1) : 0;
}

void matrix_judge(bench *self, const matrix *is, const matrix *model, iso_triangle triangle,
                  double share, const char *what)
{
    uint8_t *others = check_alloc((size_t)is->bytes);
    const double apart = compare(is, model, triangle, others);
    const bool kept = memcmp(others, is->before, (size_t)is->bytes) == 0;
    self->runs++;
    if (apart > share || !kept) {
        self->failures++;
        if (self->failures <= 20) {
            (void)printf("WRONG: %s: %s: apart by %.3g of the largest, at most %.3g%s\n",
                         self->spec, what, apart, share,
                         kept ? "" : "; elements outside were changed");
        }
    }
    free(others);
}
