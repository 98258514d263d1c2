/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_exact.c - runs the checks of fixed_exact_of.c, for each type and number of moduli. */
#include "fixed_exact_rows.h"

#include <stdio.h>

#define DECLARE(name) int name(void);
FIXED_EXACT(DECLARE)
#undef DECLARE

int main(void)
{
#define ROW(name) {#name, name},
    static const struct {
        const char *name;
        int (*run)(void);
    } rows[] = {FIXED_EXACT(ROW)};
    int bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int failed = rows[i].run();
        printf("%s: %s\n", rows[i].name, failed ? "FAILED" : "passed");
        bad |= failed;
    }
    return bad;
}
