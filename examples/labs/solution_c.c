/* SPDX-License-Identifier: Apache-2.0 */
/* solution_c.c - lab C's exercise: the largest number and where it is, by one group of 192. */
#include "lab.h"
#include "solution_c.isk.h"

int main(int count, char **words)
{
    lab l = lab_open(count, words, &solution_c_isk);
    const int64_t n = lab_size(&l, 1000, 100000, 100000);
    float *x = lab_random(ISO_F32, LAB_SEED_A, n), largest;
    int64_t index, right = 0;
    x[n / 2] = x[n / 3] = 1; /* twice the largest: the first one counts */
    for (int64_t i = 1; i < n; i++) {
        right = x[i] > x[right] ? i : right;
    }
    const iso_operand on_x = lab_upload(&l, x, 4 * n), on_largest = lab_buffer(&l, 4);
    const iso_operand on_index = lab_buffer(&l, 8);
    const iso_argument arguments[] = {iso_arg_buffer(on_x), iso_arg_integer(n),
                                      iso_arg_buffer(on_largest), iso_arg_buffer(on_index)};
    const lab_launch launch = LAB_LAUNCH(&l, "max_192_f32", lab_groups(1, 1), arguments);
    lab_run(&l, &launch);
    lab_download(&l, &largest, on_largest, 4);
    lab_download(&l, &index, on_index, 8);
    printf("\nThe largest of %lld numbers is x[%lld] = %g\n", (long long)n, (long long)index,
           (double)largest);
    lab_check(index == right && largest == x[right], "it is x[%lld]", (long long)right);
    free(x);
    lab_close(&l);
    return 0;
}
