/* SPDX-License-Identifier: Apache-2.0 */
/* solution_a.c - lab A's exercise: a transpose that reads and writes along rows. */
#include "a_matrix.isk.h"
#include "lab.h"
#include "solution_a.isk.h"

enum { EDGE = 16, REPEATS = 5 };

/* Transposes with the program's kernel; every element is compared. */
static double transpose(const lab *l, const char *kernel, int64_t n)
{
    const int64_t bytes = 8 * n * n;
    double *from = lab_random(ISO_F64, LAB_SEED_A, n * n), *to = lab_alloc(bytes);
    const iso_operand on_from = lab_upload(l, from, bytes), on_to = lab_buffer(l, bytes);
    const iso_argument arguments[] = {iso_arg_buffer(on_from), iso_arg_buffer(on_to),
                                      iso_arg_integer(n), iso_arg_integer(n)};
    const lab_launch launch = LAB_LAUNCH(l, kernel, lab_groups_2(n, n, EDGE), arguments);
    const double seconds = lab_time(l, &launch, REPEATS).median;
    lab_download(l, to, on_to, bytes);
    for (int64_t i = 0; i < n * n; i++) {
        lab_check(to[i] == from[i % n * n + i / n], "%s: element %lld", kernel, (long long)i);
    }
    printf("  %-20s%10s%12s\n", kernel, lab_seconds(seconds).text,
           lab_rate(2.0 * (double)bytes, seconds, "B/s").text);
    lab_free(on_from), lab_free(on_to);
    free(from), free(to);
    return seconds;
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, &a_matrix_isk);
    const int64_t n = lab_size(&l, 100, 4096, 10240);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    printf("\nTransposes in f64, N is %lld\n", (long long)n);
    const double item = transpose(&l, "transpose_item_f64", n);
    OK(iso_program_destroy(l.program));
    args.embedded = &solution_a_isk;
    OK(iso_program_create(l.device, &args, &l.program));
    const double tile = transpose(&l, "transpose_tile_f64", n);
    printf("Through the tile it is %.2f times as fast.\n", item / tile);
    lab_close(&l);
    return 0;
}
