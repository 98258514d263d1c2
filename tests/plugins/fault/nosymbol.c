/* SPDX-License-Identifier: Apache-2.0 */
/* nosymbol.c - a shared object that is not a plug-in: it lacks the required symbol. */

__attribute__((visibility("default"))) int isomer_backend_answer(void);

int isomer_backend_answer(void)
{
    return 42;
}
