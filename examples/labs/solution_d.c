/* SPDX-License-Identifier: Apache-2.0 */
/* solution_d.c - the exercise of lab D: diffusion in a field with edges that let nothing through.
 * What is in the field stays there; with open edges some of it leaves. */
#include "arrays.h"
#include "lab.h"

#include "d_arrays.isk.h"
#include "solution_d.isk.h"

/* The sum of all cells. */
static double content(const lab *l, const array_field *field, iso_operand result)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    float sum;
    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.cols = field->n * field->n;
    args.x = field->now;
    args.result = result;
    OK(iso_reduce(l->stream, &args));
    lab_download(l, &sum, result, sizeof sum);
    return sum;
}

static void insulated_step(const lab *l, iso_kernel kernel, array_field *field)
{
    const iso_groups groups = {(field->n + 63) / 64, (field->n + 15) / 16, 1};
    const iso_argument arguments[] = {iso_arg_buffer(field->now), iso_arg_buffer(field->other),
                                      iso_arg_integer(field->n)};
    const iso_operand was = field->now;
    OK(iso_launch(l->stream, kernel, groups, arguments, 3));
    field->now = field->other;
    field->other = was;
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, &solution_d_isk);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program arrays;
    args.embedded = &d_arrays_isk;
    OK(iso_program_create(l.device, &args, &arrays));

    const int64_t n = lab_size(&l, 60, 200, 400), steps = n * n / 4;
    const int64_t bytes = n * n * (int64_t)sizeof(float);
    array_field field = {.n = n, .now = lab_buffer(&l, bytes), .other = lab_buffer(&l, bytes)};
    const iso_operand result = lab_buffer(&l, sizeof(float));
    const iso_kernel insulate = lab_kernel(&l, "insulate_f32");

    OK(array_field_begin(l.stream, &field));
    const double before = content(&l, &field, result);
    OK(array_field_steps(l.stream, arrays, &field, steps, 1));
    const double open = content(&l, &field, result);
    OK(array_field_begin(l.stream, &field));
    for (int64_t i = 0; i < steps; i++) {
        insulated_step(&l, insulate, &field);
    }
    const double closed = content(&l, &field, result);

    printf("What is in the field of %lld x %lld cells\n", (long long)n, (long long)n);
    printf("  before                     %12.3f\n", before);
    printf("  after %5lld steps, open    %12.3f\n", (long long)steps, open);
    printf("  after %5lld steps, closed  %12.3f\n", (long long)steps, closed);
    lab_check(fabs(closed - before) <= 1e-4 * before, "the closed field has lost %g",
              before - closed);
    lab_check(open < 0.9 * before, "the open field has lost only %g", before - open);
    lab_close(&l);
    return 0;
}
