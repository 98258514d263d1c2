/* SPDX-License-Identifier: Apache-2.0 */
/* common.c - makes lists from texts, and captures messages. */
#include "tests/workload/common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_name = "isomer";

void write_file(char *path, const char *text, size_t length)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_ROOM, "%s/isomer-suite-XXXXXX.json", folder ? folder : "/tmp");
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_true(write(file, text, length) == (ssize_t)length);
    close(file);
}

work_list list_of(const char *cases, uint64_t seed)
{
    char path[PATH_ROOM], text[8192];
    work_list list;
    int length =
        snprintf(text, sizeof text, "{\"schema\": \"isomer-suite/1\", \"cases\": %s}", cases);
    assert_true(length > 0 && (size_t)length < sizeof text);
    write_file(path, text, (size_t)length);
    work_request request = {
        .suite = path, .math = ISO_MATH_STRICT, .seed = seed, .cache_bytes = 1, .all_cpu = true};
    int code = work_list_make(&request, &list);
    unlink(path);
    assert_int_equal(code, TOOL_OK);
    int32_t kept = 0;
    for (int32_t i = 0; i < list.count; i++) {
        if (list.items[i].roof == BENCH_NO_ROOF) {
            list.items[kept++] = list.items[i];
        }
    }
    list.count = kept;
    return list;
}

int said(int (*body)(void *), void *context, char *text, size_t room)
{
    FILE *kept = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(kept);
    fflush(stderr);
    dup2(fileno(kept), STDERR_FILENO);
    int code = body(context);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(kept);
    size_t length = fread(text, 1, room - 1, kept);
    text[length] = '\0';
    fclose(kept);
    return code;
}
