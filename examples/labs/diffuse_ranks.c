/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diffuse_ranks.c - diffusion of lab D over several devices, with the bits of one. The field is cut
 * into strips of rows. A strip also has copies of its neighbours' nearest rows, its halo, which
 * are exchanged before each launch.
 */
#include "arrays.h"
#include "lab.h"
#include "ranks.h"

#include "d_arrays.isk.h"

enum { WAYS = 2, SEED = 7 };

/* One device's results, on the host. Strips are compared with them. */
typedef struct results {
    int64_t n, steps;
    float *begin, *end[WAYS];
    double seconds[WAYS]; /* a step */
} results;

/* `rows` rows of the field, from `first` on. The array has `above` rows of halo before them and
 * `below` after them; what lies beyond an outer edge of the field is no halo. */
typedef struct strip {
    int64_t first, rows, above, below;
    array_field array;
} strip;

static int64_t line_bytes(const strip *s)
{
    return s->array.n * (int64_t)sizeof(float);
}

/* Strips differ by a row at most. */
static strip strip_make(const rank *r, int64_t n, int32_t halo)
{
    strip s = {.first = n * r->at / r->count};
    s.rows = n * (r->at + 1) / r->count - s.first;
    s.above = r->at > 0 ? halo : 0;
    s.below = r->at + 1 < r->count ? halo : 0;
    s.array.n = n;
    s.array.rows = s.above + s.rows + s.below;
    s.array.now = lab_buffer(&r->l, s.array.rows * line_bytes(&s));
    s.array.other = lab_buffer(&r->l, s.array.rows * line_bytes(&s));
    return s;
}

static iso_operand row_of(const strip *s, int64_t row)
{
    iso_operand at = s->array.now;
    at.offset += row * line_bytes(s);
    return at;
}

/* Sends the outer `rows` rows of the strip to the neighbours, and receives as many of theirs. */
static void exchange(const rank *r, const strip *s, int32_t rows)
{
    const iso_comm_op ops[] = {ISO_COMM_SEND, ISO_COMM_RECEIVE};
    const int64_t end = s->above + s->rows;
    /* To and from the rank above, then the same below. */
    const int64_t places[2][2] = {{s->above, s->above - rows}, {end - rows, end}};
    iso_comm_args args[4];
    iso_comm_call calls[4];
    int32_t count = 0;

    for (int below = 0; below < 2; below++) {
        const int32_t peer = below ? r->at + 1 : r->at - 1;
        for (int i = 0; i < 2 && peer >= 0 && peer < r->count; i++) {
            iso_comm_args *a = &args[count];
            *a = (iso_comm_args)ISO_COMM_ARGS_INIT;
            a->op = ops[i];
            a->dtype = ISO_F32;
            a->peer = peer;
            a->count = rows * s->array.n;
            *(i == 0 ? &a->from : &a->to) = row_of(s, places[below][i]);
            calls[count++] = (iso_comm_call){r->comm, r->l.stream, a};
        }
    }
    if (count > 0) {
        OK(iso_comm_run_group(calls, count));
    }
}

/* Steps that one launch computes make one row more of the halo wrong each; so as many rows are
 * exchanged as the launch has steps, and the strip stays right. */
static void advance(const rank *r, strip *s, int64_t steps, int32_t each)
{
    for (int64_t done = 0; done < steps; done += each) {
        const int32_t now = steps - done < each ? (int32_t)(steps - done) : each;
        exchange(r, s, now);
        OK(array_field_steps(r->l.stream, r->l.program, &s->array, now, now));
    }
}

static void begin(const lab *l, const strip *s, const float *field)
{
    OK(iso_write(l->stream, row_of(s, s->above), field + s->first * s->array.n,
                 s->rows * line_bytes(s)));
}

/* Steps of a launch in a way. A strip gives its neighbour so many rows, so it must have them. */
static int32_t steps_of(int way, int64_t least_rows)
{
    const int32_t most = least_rows < ARRAY_STEPS_MOST ? (int32_t)least_rows : ARRAY_STEPS_MOST;
    return way == 0 ? 1 : most;
}

static void check_size(int64_t n, int32_t ranks)
{
    if (n < ranks) {
        (void)fprintf(stderr,
                      "A field of %lld rows cannot be cut into %d strips: each rank needs a row. "
                      "Take fewer ranks, or a larger field with --size.\n",
                      (long long)n, (int)ranks);
        lab_quit();
    }
}

/* The whole field on one device. */
static void alone(const lab *l, const ranks_options *options, void *user)
{
    results *out = user;
    const int64_t n = options->size > 0 ? options->size : lab_size(l, 150, 500, 2000);
    const int64_t bytes = n * n * (int64_t)sizeof(float);
    const rank one = {.l = *l, .count = 1};

    check_size(n, options->world ? 1 : options->ranks);
    out->n = n;
    out->steps = lab_size(l, 100, 1000, 10000);
    out->begin = lab_random(ISO_F32, SEED, n * n);
    for (int way = 0; way < WAYS; way++) {
        const int32_t each = steps_of(way, n);
        strip s = strip_make(&one, n, each);
        out->end[way] = lab_alloc(bytes);
        begin(l, &s, out->begin);
        advance(&one, &s, each, each); /* prepares */
        begin(l, &s, out->begin);
        lab_begin(l);
        advance(&one, &s, out->steps, each);
        out->seconds[way] = lab_end(l) / (double)out->steps;
        lab_download(l, out->end[way], s.array.now, bytes);
        lab_free(s.array.now);
        lab_free(s.array.other);
    }
}

/* This rank's strip, compared with the same rows of one device. */
static void together(const rank *r)
{
    const results *right = r->user;
    const int64_t n = right->n;

    ranks_say(r);
    check_size(n, r->count);
    for (int way = 0; way < WAYS; way++) {
        const int32_t each = steps_of(way, n / r->count);
        strip s = strip_make(r, n, each);
        float *got = lab_alloc(s.rows * line_bytes(&s));
        begin(&r->l, &s, right->begin);
        advance(r, &s, each, each); /* prepares */
        begin(&r->l, &s, right->begin);
        lab_begin(&r->l);
        advance(r, &s, right->steps, each);
        const double seconds = lab_end(&r->l) / (double)right->steps;
        lab_download(&r->l, got, row_of(&s, s.above), s.rows * line_bytes(&s));
        for (int64_t i = 0; i < s.rows; i++) {
            lab_check(memcmp(got + i * n, right->end[way] + (s.first + i) * n,
                             (size_t)line_bytes(&s)) == 0,
                      "rank %d of %d, %d steps in a launch: row %lld of the field has other bits "
                      "than on one device",
                      (int)r->at, (int)r->count, (int)each, (long long)(s.first + i));
        }
        if (r->at == 0) {
            printf("%lld x %lld cells, steps in a launch: %d. A step: %s, one device %s\n",
                   (long long)n, (long long)n, (int)each, lab_seconds(seconds).text,
                   lab_seconds(right->seconds[way]).text);
        }
        free(got);
        lab_free(s.array.now);
        lab_free(s.array.other);
    }
    ranks_agree(r);
}

int main(int count, char **words)
{
    const ranks_options options = ranks_parse(count, words);
    results right = {0};
    ranks_run(&options, &d_arrays_isk, alone, together, &right);
    free(right.begin);
    for (int way = 0; way < WAYS; way++) {
        free(right.end[way]);
    }
    return 0;
}
