/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printable.h - escapes untrusted text so that a terminal shows it and does not obey it. The
 * library and the tool share it.
 *
 * It escapes control characters (C0, DEL, C1), bytes that are not UTF-8, and invisible characters
 * that reorder or hide the text around them: direction marks, line and paragraph separators, tags.
 * In plain text a tab becomes a space.
 */
#ifndef ISOMER_PRINTABLE_H
#define ISOMER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTABLE_MOST = 16 }; /* bytes of the longest escaped form of one character */

typedef enum printable_form {
    PRINTABLE_TEXT, /* \x1b, \u202e, \xff; a newline is kept */
    PRINTABLE_JSON  /* \u001b, \u202e, which JSON readers decode; a newline is kept */
} printable_form;

/* Whether the character controls a terminal, or changes how the text around it looks. */
bool printable_acts(uint32_t character);

/* Writes the escaped form of the first character of `text` to `out`, without a terminating 0, and
 * returns its length. Sets `*taken` to the number of bytes consumed from the text. Both are 0 if
 * the text ends in the middle of a character. `length` must not be 0. */
size_t printable_next(const char *text, size_t length, printable_form form,
                      char out[PRINTABLE_MOST], size_t *taken);

/* Escapes the whole text. If `out` is too small, the result is cut between characters. Every line
 * but the first is indented, so that none looks like a separate message. Newlines at the end are
 * dropped. `text` must not overlap `out`. */
void printable_copy(char *out, size_t room, const char *text);

/* The same, but each newline becomes a space. */
void printable_line(char *out, size_t room, const char *text);

#endif
