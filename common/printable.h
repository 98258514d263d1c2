/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printable.h - text that others wrote, in a form that a terminal shows and does not obey. The
 * library and the tool share it.
 *
 * Escaped are control characters (C0, DEL, C1), bytes that are no UTF-8, and characters that show
 * nothing themselves but turn or hide what is around them: marks of direction, separators of lines
 * and paragraphs, tags. A tab becomes a space.
 */
#ifndef ISOMER_PRINTABLE_H
#define ISOMER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTABLE_MOST = 16 }; /* bytes that one character becomes at most */

typedef enum printable_form {
    PRINTABLE_TEXT, /* \x1b, \u202e, \xff; a new line stays */
    PRINTABLE_JSON  /* \u001b, \u202e: the same text to who reads JSON; a new line stays */
} printable_form;

/* Whether the character does something to a terminal, or to how the text around it looks. */
bool printable_acts(uint32_t character);

/* What stands for the first character of `text`: its bytes are written to `out`, without a 0
 * behind, and counted; `*taken` is how many of the text's it stands for. 0 and 0: the text ends
 * within a character that may be whole with more. `length` is not 0. */
size_t printable_next(const char *text, size_t length, printable_form form,
                      char out[PRINTABLE_MOST], size_t *taken);

/* The whole text, cut between characters where there is no room. Each further line begins with a
 * space, so that none looks like a message of its own; a new line at the end is left out. `text`
 * does not lie in `out`. */
void printable_copy(char *out, size_t room, const char *text);

/* The same, with a space for each new line. */
void printable_line(char *out, size_t room, const char *text);

#endif
