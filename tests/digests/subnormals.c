/* SPDX-License-Identifier: Apache-2.0 */
/* subnormals.c - exits with 0 if this process computes with subnormal numbers, else with 1. */
int main(void)
{
    volatile float smallest_normal = 1.17549435e-38f, half = 0.5f;
    volatile float product = smallest_normal * half;
    return product == 0.0f;
}
