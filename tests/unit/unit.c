/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - helpers of the core's unit tests. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void unit_judge(const char *what, iso_status is, iso_status expected, const char *const *words)
{
    const char *text = iso_last_error();

    if (is != expected) {
        fail_msg("%s: answered %s, not %s: %s", what, iso_status_name(is),
                 iso_status_name(expected), text);
    }
    if (iso_last_status() != expected) {
        fail_msg("%s: iso_last_status is %s, not %s", what, iso_status_name(iso_last_status()),
                 iso_status_name(expected));
    }
    for (int i = 0; words[i]; i++) {
        if (!strstr(text, words[i])) {
            fail_msg("%s: \"%s\" is not in: %s", what, words[i], text);
        }
    }
}

void unit_open(unit_session *session, const char *spec)
{
    *session = (unit_session){0};
    works(iso_device_open(spec, &session->device));
    works(iso_stream_create(session->device, 0, &session->stream));
    works(iso_stream_create(session->device, 0, &session->other));
    works(iso_buffer_create(session->device, UNIT_BYTES, &session->buffer));
    works(iso_fill(session->stream, (iso_operand){session->buffer, 0}, &(uint32_t){0}, 4,
                   UNIT_BYTES));
    works(iso_stream_sync(session->stream));
}

void unit_close(unit_session *session)
{
    works(iso_device_close(session->device));
}

iso_gemm_args unit_gemm(iso_buffer buffer, int64_t n)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = ISO_F32;
    args.m = args.n = args.k = n;
    args.a = (iso_operand){buffer, 0};
    args.b = (iso_operand){buffer, n * n * 4};
    args.c = (iso_operand){buffer, n * n * 8};
    return args;
}

iso_gemv_args unit_gemv(iso_buffer buffer, int64_t n)
{
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;

    args.dtype = ISO_F32;
    args.m = args.k = n;
    args.a.buffer = args.x.buffer = args.y.buffer = buffer;
    args.x.offset = n * n * 4;
    args.y.offset = (n * n + n) * 4;
    return args;
}

iso_spmv_args unit_spmv(iso_device device, iso_buffer buffer, int64_t n)
{
    static int32_t offsets[33], columns[32 * 32];
    static float values[32 * 32];
    iso_sparse_args of = ISO_SPARSE_ARGS_INIT;
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;

    assert_true(n <= 32);
    for (int32_t i = 0; i < n * n; i++) {
        columns[i] = i % (int32_t)n;
        values[i] = 1;
        offsets[i / n + 1] = i + 1;
    }
    of.dtype = ISO_F32;
    of.index = ISO_I32;
    of.flags = ISO_SPARSE_NO_TRANSPOSE;
    of.rows = of.cols = n;
    of.entries = n * n;
    of.offsets = offsets;
    of.columns = columns;
    of.values = values;
    works(iso_sparse_create(device, &of, &args.matrix));
    args.x.buffer = args.y.buffer = buffer;
    args.y.offset = n * 4;
    return args;
}

iso_reduce_args unit_sum(iso_buffer buffer, int64_t count)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.cols = count;
    args.x = (iso_operand){buffer, 0};
    args.result = (iso_operand){buffer, count * 4};
    return args;
}

iso_map_args unit_add(iso_buffer buffer, int64_t n)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;

    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.n = n;
    args.x = (iso_operand){buffer, 0};
    args.y = (iso_operand){buffer, n * 4};
    args.z = (iso_operand){buffer, n * 8};
    return args;
}

iso_transpose_args unit_transpose(iso_buffer buffer, int64_t n)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;

    args.element_bytes = 4;
    args.rows = args.cols = n;
    args.from = (iso_operand){buffer, 0};
    args.to = (iso_operand){buffer, n * n * 4};
    return args;
}

void unit_make_folder(char *path, size_t room)
{
    const char *base = getenv("TMPDIR");

    snprintf(path, room, "%s/isomer-unit-XXXXXX", base && base[0] ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

void unit_remove_folder(const char *path)
{
    char file[4096];
    DIR *open = opendir(path);
    struct dirent *entry;

    (void)chmod(path, 0700);
    while (open && (entry = readdir(open))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) {
            continue;
        }
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (unlink(file)) {
            unit_remove_folder(file);
        }
    }
    if (open) {
        closedir(open);
    }
    (void)rmdir(path);
}

void unit_check_rows(iso_stream stream, iso_op_kind kind, const void *good, size_t size,
                     const unit_row *rows, size_t count)
{
    unsigned char *bad = malloc(size);

    assert_non_null(bad);
    for (size_t i = 0; i < count; i++) {
        iso_clear_error();
        memcpy(bad, good, size);
        memcpy(bad + rows[i].offset, &rows[i].value, rows[i].bytes); /* little-endian */
        unit_judge(rows[i].words[0], iso_execute(stream, kind, bad), ISO_INVALID, rows[i].words);
    }
    free(bad);
    works(iso_execute(stream, kind, good));
    works(iso_stream_sync(stream));
}
