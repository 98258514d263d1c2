/* SPDX-License-Identifier: Apache-2.0 */
/* d_arrays.c - lab D: a product whose columns are summed, in four ways; a regression with ten
 * coefficients; diffusion. With --dump DIR it also writes its results there, for comparison. */
#include "arrays.h"
#include "d_host.h"
#include "lab.h"
#include "ridge.h"

#include "d_arrays.isk.h"

enum { TIMES = 10 };

/* ---- D1 to D3: y[j] = the sum over i and l of a[i, l] b[l, j] -------------------------------- */

/* Seconds of a run. fused-product is made for GPUs and slow on a CPU, where one run must do. */
static double time_of(const lab *l, const array_sums *s, array_way way)
{
    const int times = way == ARRAY_FUSED_PRODUCT && !l->gpu ? 1 : TIMES;
    if (times > 1) {
        OK(array_sums_run(l->stream, l->program, s, way)); /* the first run prepares the others */
    }
    lab_begin(l);
    for (int i = 0; i < times; i++) {
        OK(array_sums_run(l->stream, l->program, s, way));
    }
    return lab_end(l) / times;
}

static void sums(const lab *l, iso_dtype dtype)
{
    array_sums s = {.dtype = dtype,
                    .words = !lab_is_cpu(l),
                    .m = lab_size(l, 150, 1000, 10000),
                    .k = lab_size(l, 70, 500, 5000),
                    .n = lab_size(l, 140, 700, 7000)};
    const int64_t each = iso_dtype_size(dtype);
    const double limit = dtype == ISO_F64 ? 1e-8 : 1e-4;
    void *a = lab_random(dtype, LAB_SEED_A, s.m * s.k);
    void *b = lab_random(dtype, LAB_SEED_B, s.k * s.n);
    void *y = lab_alloc(s.n * each);
    double *right = host_sums(a, b, &s), first = 0;
    s.a = lab_upload(l, a, s.m * s.k * each);
    s.b = lab_upload(l, b, s.k * s.n * each);
    s.c = lab_buffer(l, s.m * s.n * each);
    s.y = lab_buffer(l, s.n * each);
    s.work = lab_buffer(l, array_sums_work(&s));
    printf("\nD1 to D3. Column sums of a product (%lld x %lld) (%lld x %lld), %s\n", (long long)s.m,
           (long long)s.k, (long long)s.k, (long long)s.n, iso_dtype_name(dtype));
    printf("%-15s %10s %9s %9s\n", "", "a run", "speed-up", "error");
    for (array_way way = ARRAY_PRODUCT; way <= ARRAY_FUSED_SUMS; way++) {
        const double seconds = time_of(l, &s, way);
        double off = 0, size = 0;
        first = way == ARRAY_PRODUCT ? seconds : first;
        lab_download(l, y, s.y, s.n * each);
        for (int64_t j = 0; j < s.n; j++) {
            off += fabs(lab_get(y, dtype, j) - right[j]);
            size += fabs(right[j]);
        }
        printf("%-15s %10s %9.2f %9.1e\n", array_way_name(way), lab_seconds(seconds).text,
               first / seconds, off / size);
        lab_check(off <= limit * size, "%s in %s: the error %g is more than %g",
                  array_way_name(way), iso_dtype_name(dtype), off / size, limit);
        if (way == ARRAY_PRODUCT) {
            lab_begin(l);
            OK(array_sums_columns(l->stream, l->program, &s));
            printf("%-15s %10s\n", "  its sums", lab_seconds(lab_end(l)).text);
        }
    }
    printf("Look at: what it saves to add first and to multiply then.\n");
    for (size_t i = 0; i < 5; i++) {
        lab_free((const iso_operand[]){s.a, s.b, s.c, s.y, s.work}[i]);
        free((void *[]){a, b, y, right, NULL}[i]);
    }
}

/* ---- D4: ridge regression -------------------------------------------------------------------- */

/* Seconds of all points, `at_once` of them at a time. */
static double solve(const lab *l, iso_sparse matrix, const lsmr_args *args, ridge_point *points,
                    int at_once)
{
    lsmr *solver;
    OK(lsmr_create(l->device, l->stream, matrix, at_once, &solver));
    OK(ridge_run(l->device, l->stream, matrix, solver, args, points, 1, at_once)); /* prepares */
    const double start = lab_now();
    OK(ridge_run(l->device, l->stream, matrix, solver, args, points, RIDGE_POINTS, at_once));
    const double seconds = lab_now() - start;
    lsmr_destroy(solver);
    return seconds;
}

static void regression(const lab *l, iso_dtype dtype, const char *folder)
{
    const int64_t n = lab_size(l, 200, 2000, 15000);
    ridge_point points[RIDGE_POINTS];
    double curve[RIDGE_POINTS][4];
    lsmr_args args = lsmr_defaults();
    int64_t iterations = 0, shared = 0;
    ridge_input input;
    iso_sparse matrix;

    OK(ridge_input_make(n, n, 0.1, &input));
    OK(ridge_input_upload(l->device, l->stream, &input, dtype, &matrix, &args.b));
    args.x = lab_buffer(l, RIDGE_POINTS * n * iso_dtype_size(dtype));
    ridge_coefficients(points);
    const double apart = solve(l, matrix, &args, points, 1);
    const double together = solve(l, matrix, &args, points, RIDGE_POINTS);

    printf("\nD4. Ridge regression, %lld x %lld, %lld entries, %s\n", (long long)n, (long long)n,
           (long long)input.entries, iso_dtype_name(dtype));
    printf("%9s %10s %12s %12s  %s\n", "lambda", "iterations", "|A x - b|", "|x|", "because");
    for (int i = 0; i < RIDGE_POINTS; i++) {
        const ridge_point *p = &points[i];
        const lsmr_state *last = &p->result.state;
        printf("%9.4g %10lld %12.6g %12.6g  %s\n", p->lambda, (long long)last->iteration,
               p->residual, p->norm, lsmr_reason_text(p->result.reason));
        lab_check(p->gradient <= 2e-5 * last->norm_a * last->residual,
                  "lambda %g: the gradient is %g, and should be near 0", p->lambda, p->gradient);
        iterations += last->iteration;
        shared = last->iteration > shared ? last->iteration : shared;
        memcpy(curve[i], (double[]){p->lambda, p->residual, p->norm, (double)last->iteration},
               sizeof curve[i]);
    }
    printf("one after another %10s: %lld iterations, %s each\n", lab_seconds(apart).text,
           (long long)iterations, lab_seconds(apart / (double)iterations).text);
    printf("all together      %10s: %lld iterations, %s each\n", lab_seconds(together).text,
           (long long)shared, lab_seconds(together / (double)shared).text);
    printf("Look at: from where on |x| falls much faster than |A x - b| grows.\n");
    host_dump(folder, dtype == ISO_F64 ? "curve-f64" : "curve-f32", curve, sizeof curve);
    host_dump(folder, "regression.i64", &n, sizeof n);
    ridge_input_free(&input);
    lab_free(args.b);
    lab_free(args.x);
    OK(iso_sparse_destroy(matrix));
}

/* ---- D5: diffusion --------------------------------------------------------------------------- */

static void diffusion(const lab *l, const char *folder)
{
    const int64_t n = lab_size(l, 150, 500, 2000), steps = lab_size(l, 100, 1000, 10000);
    const int64_t bytes = n * n * (int64_t)sizeof(float), sizes[] = {n, steps};
    const char *const pictures = folder ? folder : l->small ? NULL : ".";
    const char *const names[][2] = {{"before.f32", "before.pgm"},
                                    {"after.f32", "after.pgm"},
                                    {"laplacian.f32", "laplacian.pgm"}};
    array_field field = {.n = n, .now = lab_buffer(l, bytes), .other = lab_buffer(l, bytes)};
    float *fields[] = {lab_alloc(bytes), lab_alloc(bytes), lab_alloc(bytes)};
    float *single = lab_alloc(bytes);
    double seconds[2];

    for (int way = 0; way < 2; way++) {
        const int32_t each = way == 0 ? 1 : ARRAY_STEPS_MOST;
        OK(array_field_steps(l->stream, l->program, &field, each, each)); /* prepares */
        OK(array_field_begin(l->stream, &field));
        lab_download(l, fields[0], field.now, bytes);
        lab_begin(l);
        OK(array_field_steps(l->stream, l->program, &field, steps, each));
        seconds[way] = lab_end(l) / (double)steps;
        lab_download(l, way == 0 ? single : fields[1], field.now, bytes);
    }
    OK(array_field_laplacian(l->stream, l->program, &field));
    lab_download(l, fields[2], field.other, bytes);
    printf("\nD5. Diffusion, %lld x %lld, %lld steps\n", (long long)n, (long long)n,
           (long long)steps);
    printf("a launch a step      %10s a step\n", lab_seconds(seconds[0]).text);
    printf("a launch for %d steps %10s a step\n", ARRAY_STEPS_MOST, lab_seconds(seconds[1]).text);
    printf("Look at: whether several steps in a launch, which read memory less often, pay here.\n");
    lab_check(memcmp(single, fields[1], (size_t)bytes) == 0,
              "several steps in a launch gave other bits than single ones");
    for (int i = 0; i < 3; i++) {
        host_dump(folder, names[i][0], fields[i], (size_t)bytes);
        if (pictures) {
            host_picture(pictures, names[i][1], fields[i], n);
        }
        free(fields[i]);
    }
    host_dump(folder, "diffusion.i64", sizes, sizeof sizes);
    free(single);
    lab_free(field.now);
    lab_free(field.other);
}

int main(int count, char **words)
{
    const char *folder = NULL;
    if (count > 2 && strcmp(words[count - 2], "--dump") == 0) {
        folder = words[count - 1];
        count -= 2;
    }
    lab l = lab_open(count, words, &d_arrays_isk);
    sums(&l, ISO_F32);
    sums(&l, ISO_F64);
    regression(&l, ISO_F32, folder);
    regression(&l, ISO_F64, folder);
    diffusion(&l, folder);
    lab_close(&l);
    return 0;
}
