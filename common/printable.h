/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printable.h - escapes text from outside so that a terminal shows it and does not obey it. The
 * library and the tool share it.
 *
 * Escaped are control characters (C0, DEL, C1), bytes that are not UTF-8, and invisible characters
 * that reorder or hide the text around them: direction marks, line and paragraph separators, tags.
 * A tab becomes a space.
 */
#ifndef ISOMER_PRINTABLE_H
#define ISOMER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTABLE_MOST = 16 }; /* the most bytes that one character becomes */

typedef enum printable_form {
    PRINTABLE_TEXT, /* \x1b, \u202e, \xff; a newline is kept */
    PRINTABLE_JSON  /* \u001b, \u202e: JSON readers get the original text; a newline is kept */
} printable_form;

/* Whether the character controls a terminal, or changes how the text around it looks. */
bool printable_acts(uint32_t character);

/* Writes the escaped form of the first character of `text` to `out`, without a terminating 0, and
 * returns its length; `*taken` is the number of bytes consumed from the text. 0 and 0: the text
 * ends within a character that more bytes may complete. `length` is not 0. */
size_t printable_next(const char *text, size_t length, printable_form form,
                      char out[PRINTABLE_MOST], size_t *taken);

/* Escapes the whole text, cut between characters if there is no room. Each further line begins with
 * a space, so that none looks like a separate message; a final newline is dropped. `text` must not
 * overlap `out`. */
void printable_copy(char *out, size_t room, const char *text);

/* The same, with a space for each newline. */
void printable_line(char *out, size_t room, const char *text);

#endif
