/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the similarity of names. */
#ifndef ISOMER_CORE_NAMES_H
#define ISOMER_CORE_NAMES_H

int core_edit_distance(const char *a, const char *b);

#endif
