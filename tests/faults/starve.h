/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starve.h - allocations that fail on demand, in chosen objects alone: each call of theirs to
 * malloc and its kin goes through a counter. Vendors' libraries, some of which crash on a failed
 * allocation of their own, do not see it.
 *
 * Linked into a test, it is used through these functions. Preloaded (isomer_starve), it takes the
 * program and libisomer when they start, and ISOMER_TEST_STARVE says which allocation fails: "12"
 * the twelfth, "12+" that and all later ones, "0" none. With ISOMER_TEST_STARVE_LIBRARY only those
 * of libisomer count. At the end it writes a line "allocations N refused M" to the file that
 * ISOMER_TEST_STARVE_LOG names.
 */
#ifndef STARVE_H
#define STARVE_H

#include <stdbool.h>

/* Takes the loaded objects whose path has the text (""; the program itself). The number of calls
 * that were found in them; 0: no such object. May be called again after more was loaded. */
int starve_take(const char *part);

/* From now on the n-th allocation (1: the next one) fails; with `onwards` every later one as well.
 * 0: none. Counting starts again at 1. */
void starve_arm(long n, bool onwards);

long starve_count(void);   /* allocations since it was armed */
long starve_refused(void); /* ... of these, refused */
long starve_live(void);    /* blocks and files that are held now */

/* Writes where the live ones that are younger than `since` were made, as object+offset. */
long starve_mark(void); /* the youngest one's number */
void starve_show(long since);

#endif
