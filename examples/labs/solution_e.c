/* SPDX-License-Identifier: Apache-2.0 */
/* solution_e.c - lab E's exercise: an add in which an item adds four elements at a time, and the
 * number of groups that the device needs to be busy. */
#include "lab.h"
#include "solution_e.isk.h"

enum { REPEATS = 5, BLOCK = 1024, COUNTS = 16 };

int main(int count, char **words)
{
    lab l = lab_open(count, words, &solution_e_isk);
    const int64_t n = lab_size(&l, 100000, 20000000, 200000000), bytes = 8 * n;
    double *x = lab_random(ISO_F64, LAB_SEED_A, n), *y = lab_random(ISO_F64, LAB_SEED_B, n);
    double *z = lab_alloc(bytes), rates[COUNTS] = {0}, best = 0;
    const iso_operand on_x = lab_upload(&l, x, bytes), on_y = lab_upload(&l, y, bytes);
    const iso_operand on_z = lab_buffer(&l, bytes);
    const iso_argument arguments[] = {iso_arg_buffer(on_x), iso_arg_buffer(on_y),
                                      iso_arg_buffer(on_z), iso_arg_integer(n)};
    printf("\nz = x + y, %lld numbers in f64, on %d units\n%10s%12s\n", (long long)n, l.info.units,
           "groups", "rate");
    int tried = 0;
    for (; tried < COUNTS && (INT64_C(1) << tried) <= (n + BLOCK - 1) / BLOCK; tried++) {
        const lab_launch launch =
            LAB_LAUNCH(&l, "add_four_f64", lab_groups(INT64_C(1) << tried, 1), arguments);
        OK(iso_fill(l.stream, on_z, "\377", 1, bytes));
        rates[tried] = 24.0 * (double)n / lab_time(&l, &launch, REPEATS).median;
        best = rates[tried] > best ? rates[tried] : best;
        lab_download(&l, z, on_z, bytes);
        for (int64_t i = 0; i < n; i++) {
            lab_check(z[i] == x[i] + y[i], "z[%lld] is %g", (long long)i, z[i]);
        }
        printf("%10d%12s\n", 1 << tried, lab_scaled(rates[tried], "B/s").text);
    }
    for (int i = 0; i < tried; i++) {
        if (rates[i] >= 0.9 * best) {
            printf("Nine tenths of the best rate: from %d on.\n", 1 << i);
            break;
        }
    }
    free(x), free(y), free(z);
    lab_close(&l);
    return 0;
}
