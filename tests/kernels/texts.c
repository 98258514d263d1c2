/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - reads texts of kernels by the core's files. */
#include "tests/kernels/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The core's files call this one: see CMakeLists.txt. */
#undef realloc
void *realloc(void *block, size_t bytes);
void *kernels_realloc(void *block, size_t bytes);

int texts_reallocs_left = -1;

void *kernels_realloc(void *block, size_t bytes)
{
    if (texts_reallocs_left == 0) {
        return NULL;
    }
    texts_reallocs_left -= texts_reallocs_left > 0;
    return realloc(block, bytes);
}

const kernel_macro texts_macros[TEXTS_MACROS] = {{"GIVEN", "32"}, {"TWICE", "2 * GIVEN"}};

iso_status texts_read(const char *text, kernel_file *file)
{
    return kernel_read("call", "t", text, texts_macros, TEXTS_MACROS, file);
}

void texts_accepted(const char *const *texts)
{
    for (; *texts; texts++) {
        kernel_file file;
        iso_status status = texts_read(*texts, &file);

        if (status) {
            fail_msg("%s\n%s", *texts, iso_last_error());
        }
        assert_true(file.count > 0);
        kernel_file_free(&file);
    }
}

void texts_refused(const refusal *rows)
{
    for (; rows->text; rows++) {
        kernel_file file;
        iso_status status = texts_read(rows->text, &file);
        char place[32];

        snprintf(place, sizeof place, "call: t:%d: ", rows->line);
        if (status != ISO_INVALID || strncmp(iso_last_error(), place, strlen(place)) != 0 ||
            !strstr(iso_last_error(), rows->word) ||
            (rows->more && !strstr(iso_last_error(), rows->more))) {
            fail_msg("%s\nexpected %s... %s ... %s, status %d: %s", rows->text, place, rows->word,
                     rows->more ? rows->more : "", (int)status, iso_last_error());
        }
        assert_null(file.kernels);
        assert_int_equal(file.count, 0);
    }
}
