/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starve.h - allocations that fail on demand, only in chosen objects: each of their calls to malloc
 * and its relatives is counted. Vendors' libraries are not affected; some of them crash on a failed
 * allocation.
 *
 * A test that links this uses these functions. Preloaded (isomer_starve), it affects the program
 * and libisomer from the start, and ISOMER_TEST_STARVE selects the allocation that fails: "12" the
 * twelfth, "12+" that and all later ones, "0" none. With ISOMER_TEST_STARVE_LIBRARY only those of
 * libisomer count. At the end it writes a line "allocations N refused M" to the file that
 * ISOMER_TEST_STARVE_LOG names.
 */
#ifndef STARVE_H
#define STARVE_H

#include <stdbool.h>

/* Redirects the loaded objects whose path contains the text ("": the program itself). Returns the
 * number of redirected calls; 0: no such object. May be called again after more objects were
 * loaded. */
int starve_take(const char *part);

/* The n-th allocation from now (1: the next one) fails; with `onwards` every later one too. 0:
 * none. Counting restarts at 1. */
void starve_arm(long n, bool onwards);

long starve_count(void);   /* allocations since it was armed */
long starve_refused(void); /* ... of these, refused */
long starve_live(void);    /* blocks and files currently held */

/* Writes where the live ones newer than `since` were made, as object+offset. */
long starve_mark(void); /* the newest one's number */
void starve_show(long since);

#endif
