/* SPDX-License-Identifier: Apache-2.0 */
/* interop_memory.c - memory that the program owns, native objects, and which of them openmp
 * supports. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void count(void *context)
{
    ++*(int *)context;
}

static void *native_of(iso_native_kind kind, uint64_t id)
{
    void *native = &native;

    works(iso_native_get(kind, id, &native));
    return native;
}

static void test_import(void **state)
{
    _Alignas(64) float mine[12] = {1, 2, 3, 4, 5, 6, 7, 8};
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    iso_gemm_args args = unit_gemm((iso_buffer){0}, 2);
    unit_session session;
    iso_buffer buffer;
    int64_t used;
    int released = 0;

    (void)state;
    unit_open(&session, "openmp");
    works(iso_device_get_memory_use(session.device, &use));
    used = use.used;
    works(iso_buffer_import(session.device, mine, sizeof mine, 0, count, &released, &buffer));
    works(iso_device_get_memory_use(session.device, &use));
    assert_int_equal(use.used, used);
    works(iso_buffer_get_info(buffer, &info));
    assert_int_equal(info.bytes, sizeof mine);
    assert_ptr_equal(native_of(ISO_NATIVE_MEMORY, buffer.id), mine);
    args = unit_gemm(buffer, 2);
    works(iso_gemm(session.stream, &args));
    works(iso_buffer_destroy(buffer)); /* waits */
    assert_int_equal(released, 1);
    assert_float_equal(mine[8], 1 * 5 + 2 * 7, 0);
    assert_float_equal(mine[11], 3 * 6 + 4 * 8, 0);
    fails(iso_buffer_destroy(buffer), ISO_INVALID, "iso_buffer_destroy", "destroyed");
    assert_int_equal(released, 1);
    works(iso_buffer_import(session.device, mine, sizeof mine, 0, NULL, NULL, &buffer));
    works(iso_buffer_destroy(buffer));
    works(iso_buffer_import(session.device, NULL, 0, 0, count, &released, &buffer));
    assert_null(native_of(ISO_NATIVE_MEMORY, buffer.id));
    unit_close(&session); /* closing releases too */
    assert_int_equal(released, 2);
}

/* Memory may begin at any address; an operand that is not aligned to an element is reported. */
static void test_alignment(void **state)
{
    _Alignas(256) unsigned char mine[512] = {0};
    iso_reduce_args sum = ISO_REDUCE_ARGS_INIT;
    float numbers[3] = {1, 2, 4}, result;
    unit_session session;
    iso_buffer buffer;

    (void)state;
    unit_open(&session, "openmp");
    memcpy(mine + 4, numbers, sizeof numbers);
    works(iso_buffer_import(session.device, mine + 4, 32, 0, NULL, NULL, &buffer));
    sum = unit_sum(buffer, 3);
    works(iso_reduce(session.stream, &sum));
    works(iso_read(session.stream, &result, sum.result, 4));
    works(iso_copy(session.stream, (iso_operand){session.buffer, 0}, sum.result, 4));
    works(iso_fill(session.stream, (iso_operand){buffer, 0}, "abcd", 4, 4));
    fails(iso_fill(session.stream, (iso_operand){buffer, 0}, "abcdefgh", 8, 8), ISO_INVALID,
          "to.buffer", "4 bytes after a multiple", "pattern_bytes (8)");
    works(iso_stream_sync(session.stream));
    assert_float_equal(result, 7, 0);
    assert_memory_equal(mine + 16, &result, 4);
    assert_memory_equal(mine, "\0\0\0\0abcd", 8);
    sum = unit_sum(buffer, 1);
    sum.dtype = ISO_F64;
    sum.result.offset = 8;
    fails(iso_reduce(session.stream, &sum), ISO_INVALID, "x.buffer", "4 bytes after a multiple",
          "8 bytes");
    unit_close(&session);
}

static void test_read_only(void **state)
{
    _Alignas(64) float mine[64] = {0};
    iso_transpose_args transpose;
    iso_reduce_args sum;
    iso_operand place;
    unit_session session;
    iso_gemm_args gemm;
    iso_buffer buffer;
    iso_path path;
    float host[4];

    (void)state;
    unit_open(&session, "openmp");
    works(iso_buffer_import(session.device, mine, sizeof mine, ISO_IMPORT_READ_ONLY, NULL, NULL,
                            &buffer));
    place = (iso_operand){buffer, 0};
    fails(iso_write(session.stream, place, host, 4), ISO_INVALID, "iso_write", "to.buffer",
          "read-only");
    fails(iso_write_2d(session.stream, place, 8, host, 4, 4, 2), ISO_INVALID, "read-only");
    fails(iso_fill(session.stream, place, "x", 1, 4), ISO_INVALID, "iso_fill", "read-only");
    fails(iso_copy(session.stream, place, (iso_operand){session.buffer, 0}, 4), ISO_INVALID,
          "iso_copy", "read-only");
    fails(iso_copy_between(session.stream, place, session.other, (iso_operand){session.buffer, 0},
                           4, &path),
          ISO_INVALID, "iso_copy_between", "to.buffer", "read-only");
    works(iso_write(session.stream, place, host, 0)); /* nothing is written */
    works(iso_read(session.stream, host, place, 4));
    works(iso_copy(session.stream, (iso_operand){session.buffer, 0}, place, 4));
    gemm = unit_gemm(buffer, 2);
    fails(iso_gemm(session.stream, &gemm), ISO_INVALID, "iso_gemm", "c.buffer", "read-only");
    gemm.c = (iso_operand){session.buffer, 0};
    works(iso_gemm(session.stream, &gemm));
    transpose = unit_transpose(buffer, 2);
    fails(iso_transpose(session.stream, &transpose), ISO_INVALID, "to.buffer", "read-only");
    transpose.to = transpose.from; /* in place */
    fails(iso_transpose(session.stream, &transpose), ISO_INVALID, "to.buffer", "read-only");
    transpose.to = (iso_operand){session.buffer, 0};
    works(iso_transpose(session.stream, &transpose));
    sum = unit_sum(buffer, 4);
    fails(iso_reduce(session.stream, &sum), ISO_INVALID, "result.buffer", "read-only");
    sum.result = (iso_operand){session.buffer, 0};
    works(iso_reduce(session.stream, &sum));
    works(iso_stream_sync(session.stream));
    unit_close(&session);
}

static void test_import_arguments(void **state)
{
    unit_session session;
    iso_buffer buffer = {7};
    int released = 0;
    char mine[8];

    (void)state;
    unit_open(&session, "openmp");
    fails(iso_buffer_import(session.device, mine, 8, 0, count, &released, NULL), ISO_INVALID,
          "iso_buffer_import", "out is NULL");
    fails(iso_buffer_import(session.device, mine, -1, 0, count, &released, &buffer), ISO_INVALID,
          "bytes is -1");
    assert_int_equal(buffer.id, 0);
    fails(iso_buffer_import(session.device, mine, 8, 6, count, &released, &buffer), ISO_INVALID,
          "flags is 0x6");
    fails(iso_buffer_import(session.device, NULL, 8, 0, count, &released, &buffer), ISO_INVALID,
          "native is NULL with 8 bytes");
    fails(iso_buffer_import(session.device, mine, INT64_MAX, 0, count, &released, &buffer),
          ISO_INVALID, "past the end of memory");
    fails(iso_buffer_import(session.device, mine, INT64_MAX - 4096, 0, count, &released, &buffer),
          ISO_INVALID, "past the end of memory");
    fails(iso_buffer_import((iso_device){session.stream.id}, mine, 8, 0, count, &released, &buffer),
          ISO_INVALID, "device", "is a stream");
    unit_close(&session);
    fails(iso_buffer_import(session.device, mine, 8, 0, count, &released, &buffer), ISO_INVALID,
          "destroyed");
    assert_int_equal(released, 0);
}

static void test_native(void **state)
{
    unit_session session;
    iso_event event;
    void *out = NULL;

    (void)state;
    unit_open(&session, "openmp");
    works(iso_event_create(session.device, &event));
    assert_null(native_of(ISO_NATIVE_CONTEXT, session.device.id));
    assert_null(native_of(ISO_NATIVE_DEVICE, session.device.id));
    assert_non_null(native_of(ISO_NATIVE_MEMORY, session.buffer.id));
    fails(iso_native_get(ISO_NATIVE_STREAM, session.stream.id, &out), ISO_UNSUPPORTED,
          "iso_native_get", "openmp", "streams");
    fails(iso_native_get(ISO_NATIVE_EVENT, event.id, &out), ISO_NOT_READY, "iso_native_get",
          "never recorded");
    works(iso_event_record(event, session.stream));
    fails(iso_native_get(ISO_NATIVE_EVENT, event.id, &out), ISO_UNSUPPORTED, "openmp", "events");
    fails(iso_native_get(ISO_NATIVE_MEMORY, session.stream.id, &out), ISO_INVALID, "is a stream",
          "not a buffer");
    fails(iso_native_get((iso_native_kind)0, session.stream.id, &out), ISO_INVALID, "kind is 0");
    fails(iso_native_get((iso_native_kind)6, session.stream.id, &out), ISO_INVALID, "kind is 6");
    fails(iso_native_get(ISO_NATIVE_MEMORY, session.buffer.id, NULL), ISO_INVALID, "out is NULL");
    fails(iso_native_get(ISO_NATIVE_MEMORY, 0, &out), ISO_INVALID, "id is zero");
    assert_null(out);
    unit_close(&session);
    fails(iso_native_get(ISO_NATIVE_CONTEXT, session.device.id, &out), ISO_INVALID, "destroyed");
}

static void test_adopt(void **state)
{
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_device device, ordinary;
    iso_buffer buffer;
    iso_stream stream = {7};
    char text[256];

    (void)state;
    options.memory_limit = 1000;
    works(iso_device_adopt("openmp", &native, &options, &device));
    works(iso_device_open("openmp", &ordinary));
    works(iso_buffer_create(ordinary, 600, &buffer)); /* one physical device */
    fails(iso_buffer_create(device, 600, &buffer), ISO_NO_MEMORY, "600 used", "limit 1000");
    works(iso_device_get_memory_use(device, &use));
    assert_int_equal(use.used, 600);
    works(iso_device_get_choice(device, text, sizeof text));
    assert_non_null(strstr(text, "adopted"));
    fails(iso_stream_adopt(device, &native, &stream), ISO_UNSUPPORTED, "iso_stream_adopt", "openmp",
          "iso_stream_create");
    assert_int_equal(stream.id, 0);
    fails(iso_stream_adopt(device, NULL, NULL), ISO_INVALID, "out is NULL");
    works(iso_device_close(device));
    works(iso_device_close(ordinary));
    fails(iso_stream_adopt(device, NULL, &stream), ISO_INVALID, "destroyed");
    fails(iso_device_adopt("openmp", &native, NULL, NULL), ISO_INVALID, "out is NULL");
    fails(iso_device_adopt(NULL, &native, NULL, &device), ISO_INVALID, "backend is NULL");
    fails(iso_device_adopt("", &native, NULL, &device), ISO_INVALID, "backend is empty");
    fails(iso_device_adopt("nosuch", &native, NULL, &device), ISO_INVALID, "\"nosuch\"",
          "not a backend");
    fails(iso_device_adopt("openmp", NULL, NULL, &device), ISO_INVALID, "native is NULL");
    options.memory_limit = -2;
    fails(iso_device_adopt("openmp", &native, &options, &device), ISO_INVALID, "memory_limit");
    native.context = &native;
    fails(iso_device_adopt("openmp", &native, NULL, &device), ISO_INVALID, "iso_device_adopt",
          "no contexts");
    native.size = 4;
    fails(iso_device_adopt("openmp", &native, NULL, &device), ISO_INVALID, "native->size is 4");
    assert_int_equal(device.id, 0);
    native = (iso_native_device)ISO_NATIVE_DEVICE_INIT;
    fails(iso_device_adopt("unit-fork", &native, NULL, &device), ISO_UNSUPPORTED, "unit-fork",
          "does not adopt");
}

/* A backend that supports none of it. */
static void test_unsupported(void **state)
{
    iso_device device;
    iso_stream stream;
    iso_buffer buffer;
    char mine[8];
    void *out;

    (void)state;
    works(iso_device_open("unit-fork", &device));
    fails(iso_buffer_import(device, mine, 8, 0, NULL, NULL, &buffer), ISO_UNSUPPORTED,
          "iso_buffer_import", "unit-fork", "copy it");
    fails(iso_stream_adopt(device, NULL, &stream), ISO_UNSUPPORTED, "unit-fork",
          "does not adopt streams");
    fails(iso_native_get(ISO_NATIVE_DEVICE, device.id, &out), ISO_UNSUPPORTED, "unit-fork",
          "native objects");
    works(iso_device_close(device));
}

/* A block is pinned once, whichever handle is used. */
static void test_register(void **state)
{
    iso_device first, second;
    char *block = malloc(4096);

    (void)state;
    works(iso_device_open("openmp", &first));
    works(iso_device_open("openmp", &second));
    works(iso_host_register(first, block, 4096, NULL));
    fails(iso_host_register(second, block + 100, 8, NULL), ISO_INVALID, "overlaps",
          "another handle");
    fails(iso_host_unregister(second, block), ISO_INVALID, "not from iso_host_register");
    works(iso_host_unregister(first, block));
    works(iso_host_register(second, block, 4096, NULL));
    fails(iso_host_register(first, block, 1, NULL), ISO_INVALID, "another handle");
    works(iso_device_close(second));
    works(iso_host_register(first, block, 4096, NULL));
    works(iso_device_close(first));
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import),    cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_read_only), cmocka_unit_test(test_import_arguments),
        cmocka_unit_test(test_native),    cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_register),  cmocka_unit_test(test_unsupported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
