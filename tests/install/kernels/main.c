/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - uses two libraries, each with its own copy of the same embedded kernels. */
void use_shared(void);
void use_static(void);

int main(void)
{
    use_shared();
    use_static();
    return 0;
}
