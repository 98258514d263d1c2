/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - texts in memory, and formats whose arguments are escaped. */
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

void *record_need(void *block)
{
    if (!block) {
        tool_no_memory("the output");
    }
    return block;
}

void *record_grow(void *items, int count, size_t size)
{
    return record_need(realloc(items, (size_t)(count + 1) * size));
}

char *record_vformat(const char *format, va_list list)
{
    char *text = NULL;
    return record_need(vasprintf(&text, format, list) < 0 ? NULL : text);
}

char *record_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    return text;
}

void record_escaped(FILE *out, record_escape *escape, const char *format, va_list list)
{
    char one[16];
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, out);
        format += plain;
        if (*format == '\0') {
            break;
        }
        int length = 2 + (int)strspn(format + 1, "0123456789.");
        snprintf(one, sizeof one, "%.*s", length, format);
        format += length;
        switch (one[length - 1]) {
        case 's': {
            char *text = record_format(one, va_arg(list, const char *));
            escape(out, text);
            free(text);
            break;
        }
        case 'd':
            fprintf(out, one, va_arg(list, int));
            break;
        case '%':
            fputc('%', out);
            break;
        default:
            fprintf(out, one, va_arg(list, double));
            break;
        }
    }
}
