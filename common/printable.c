/* SPDX-License-Identifier: Apache-2.0 */
/* printable.c - escapes untrusted text so that a terminal shows it and does not obey it. */
#include "common/printable.h"

#include <stdio.h>
#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

bool printable_acts(uint32_t character)
{
    static const range ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

enum { INVALID = 0, CUT = -1 };

/* Returns the length in bytes of the first character; INVALID if it is not UTF-8; CUT if the text
 * ends in the middle of it. */
static int decode(const unsigned char *text, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int bytes = text[0] < 0x80   ? 1
                : text[0] < 0xc2 ? 0
                : text[0] < 0xe0 ? 2
                : text[0] < 0xf0 ? 3
                                 : 4;

    if (bytes == 0 || text[0] > 0xf4) {
        return INVALID;
    }
    *character = bytes == 1 ? text[0] : text[0] & (0x7fu >> bytes);
    for (int i = 1; i < bytes; i++) {
        if ((size_t)i == length) {
            return CUT;
        }
        if ((text[i] & 0xc0) != 0x80) {
            return INVALID;
        }
        *character = *character << 6 | (text[i] & 0x3fu);
    }
    if (*character < least[bytes] || (*character >= 0xd800 && *character < 0xe000) ||
        *character > 0x10ffff) {
        return INVALID;
    }
    return bytes;
}

/* JSON writes characters over 0xffff as a surrogate pair. */
static int escape(char out[PRINTABLE_MOST], uint32_t character, printable_form form)
{
    if (form == PRINTABLE_TEXT && character < 0x80) {
        return snprintf(out, PRINTABLE_MOST, "\\x%02x", (unsigned)character);
    }
    if (character < 0x10000) {
        return snprintf(out, PRINTABLE_MOST, "\\u%04x", (unsigned)character);
    }
    if (form == PRINTABLE_TEXT) {
        return snprintf(out, PRINTABLE_MOST, "\\U%08x", (unsigned)character);
    }
    return snprintf(out, PRINTABLE_MOST, "\\u%04x\\u%04x",
                    (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
                    (unsigned)(0xdc00 + ((character - 0x10000) & 0x3ff)));
}

size_t printable_next(const char *text, size_t length, printable_form form,
                      char out[PRINTABLE_MOST], size_t *taken)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t character = 0;
    int count = decode(bytes, length, &character);

    *taken = count > 0 ? (size_t)count : count == INVALID ? 1 : 0;
    if (count == CUT) {
        return 0;
    }
    if (count == INVALID && form == PRINTABLE_JSON) {
        return (size_t)snprintf(out, PRINTABLE_MOST, "\\ufffd");
    }
    if (count == INVALID) {
        return (size_t)snprintf(out, PRINTABLE_MOST, "\\x%02x", bytes[0]);
    }
    if (character == '\t' && form == PRINTABLE_TEXT) {
        out[0] = ' ';
        return 1;
    }
    if (character == '\n' || !printable_acts(character)) {
        memcpy(out, text, (size_t)count);
        return (size_t)count;
    }
    return (size_t)escape(out, character, form);
}

static void copy(char *out, size_t room, const char *text, const char *line)
{
    char one[PRINTABLE_MOST];
    size_t used = 0, length = strlen(text), taken;

    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    for (size_t at = 0; at < length; at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        if (taken == 0) { /* cut off at the end of the text */
            taken = 1;
            bytes = (size_t)snprintf(one, sizeof one, "\\x%02x", (unsigned char)text[at]);
        } else if (text[at] == '\n') {
            bytes = (size_t)snprintf(one, sizeof one, "%s%s", line,
                                     line[0] == '\n' && text[at + 1] != ' ' ? "  " : "");
        }
        if (used + bytes >= room) {
            break;
        }
        memcpy(out + used, one, bytes);
        used += bytes;
    }
    out[used] = '\0';
}

void printable_copy(char *out, size_t room, const char *text)
{
    copy(out, room, text, "\n");
}

void printable_line(char *out, size_t room, const char *text)
{
    copy(out, room, text, " ");
}
