/* SPDX-License-Identifier: Apache-2.0 */
/* interop_adopt.c - the program's own contexts and streams, with a plug-in that supports them. */
#include "tests/unit/plugin_adopt.h"
#include "tests/unit/unit.h"

#include <string.h>

static void *native_of(iso_native_kind kind, uint64_t id)
{
    void *native = NULL;

    works(iso_native_get(kind, id, &native));
    return native;
}

static iso_device adopt(void *context, void *device)
{
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;
    iso_device made;

    native.context = context;
    native.device = device;
    works(iso_device_adopt("unit-adopt", &native, NULL, &made));
    return made;
}

static int64_t used(iso_device device)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;

    works(iso_device_get_memory_use(device, &use));
    return use.used;
}

static void test_contexts(void **state)
{
    adopt_context mine = {1, 0}, other = {1, 0}, bad = {2, 0};
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;
    iso_device first, second, third, ordinary;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_buffer buffer;

    (void)state;
    works(iso_device_open("unit-adopt:1", &ordinary));
    first = adopt(&mine, (void *)1);
    second = adopt(&mine, NULL); /* the context determines the device */
    third = adopt(&other, (void *)1);
    assert_int_equal(mine.opens, 1); /* shared */
    assert_int_equal(other.opens, 1);
    assert_ptr_equal(native_of(ISO_NATIVE_CONTEXT, second.id), &mine);
    assert_ptr_equal(native_of(ISO_NATIVE_DEVICE, third.id), (void *)1);
    works(iso_device_get_info(first, &info));
    assert_string_equal(info.spec, "unit-adopt:1");
    works(iso_buffer_create(first, 100, &buffer));
    assert_int_equal(used(second), 100);
    assert_int_equal(used(third), 0);
    assert_int_equal(used(ordinary), 0);
    works(iso_device_close(first));
    assert_int_equal(mine.opens, 1);
    works(iso_device_close(second));
    assert_int_equal(mine.opens, 0); /* left to the program */
    works(iso_device_close(third));
    first = adopt(&mine, (void *)1); /* again, with a new count */
    assert_int_equal(used(first), 0);
    works(iso_device_close(first));
    works(iso_device_close(ordinary));
    native.context = &bad;
    fails(iso_device_adopt("unit-adopt", &native, NULL, &first), ISO_INVALID, "iso_device_adopt",
          "unit-adopt", "of device 2");
    assert_int_equal(first.id, 0);
}

/* The backend's own context is the ordinary device. */
static void test_own_context(void **state)
{
    iso_device ordinary, adopted, named;
    iso_buffer buffer;

    (void)state;
    works(iso_device_open("unit-adopt:0", &ordinary));
    adopted = adopt(NULL, NULL);
    named = adopt(native_of(ISO_NATIVE_CONTEXT, ordinary.id), NULL);
    works(iso_buffer_create(ordinary, 64, &buffer));
    assert_int_equal(used(adopted), 64);
    assert_int_equal(used(named), 64);
    assert_int_equal(((adopt_context *)native_of(ISO_NATIVE_CONTEXT, adopted.id))->opens, 1);
    works(iso_device_close(ordinary));
    works(iso_device_close(adopted));
    works(iso_device_close(named));
    adopted = adopt(NULL, (void *)1); /* the first to open it */
    works(iso_device_open("unit-adopt:1", &ordinary));
    works(iso_buffer_create(ordinary, 64, &buffer));
    assert_int_equal(used(adopted), 64);
    works(iso_device_close(adopted));
    works(iso_device_close(ordinary));
}

static void test_streams(void **state)
{
    adopt_queue queue = {0};
    iso_stream stream, again;
    iso_buffer buffer;
    iso_device device;

    (void)state;
    works(iso_device_open("unit-adopt", &device));
    works(iso_stream_adopt(device, &queue, &stream));
    assert_int_equal(queue.adopted, 1);
    assert_ptr_equal(native_of(ISO_NATIVE_STREAM, stream.id), &queue);
    works(iso_buffer_create(device, 64, &buffer));
    works(iso_fill(stream, (iso_operand){buffer, 0}, "x", 1, 64));
    works(iso_stream_destroy(stream));
    assert_true(queue.synced >= 1);
    assert_int_equal(queue.forgotten, 1);
    fails(iso_stream_destroy(stream), ISO_INVALID, "destroyed");
    works(iso_stream_adopt(device, &queue, &again));
    fails(iso_stream_adopt(device, NULL, &stream), ISO_INVALID, "iso_stream_adopt", "unit-adopt",
          "native is NULL");
    assert_int_equal(stream.id, 0);
    works(iso_device_close(device));
    assert_int_equal(queue.forgotten, 2);
}

static void test_import_fails(void **state)
{
    iso_device device;
    iso_buffer buffer;
    char mine[16] = {0};

    (void)state;
    works(iso_device_open("unit-adopt", &device));
    fails(iso_buffer_import(device, mine, 2000, 0, NULL, NULL, &buffer), ISO_INVALID,
          "iso_buffer_import", "unit-adopt", "2000 bytes");
    works(iso_buffer_import(device, mine + 1, 15, 0, NULL, NULL, &buffer));
    assert_non_null(strstr(iso_last_error(), "2000 bytes")); /* a success does not change it */
    assert_int_equal(iso_last_status(), ISO_INVALID);
    assert_ptr_equal(native_of(ISO_NATIVE_MEMORY, buffer.id), mine + 1);
    mine[0] = 'r';
    fails(iso_buffer_import(device, mine, 16, 0, NULL, NULL, &buffer), ISO_INVALID,
          "iso_buffer_import", "may only be read", "ISO_IMPORT_READ_ONLY");
    works(iso_buffer_import(device, mine, 16, ISO_IMPORT_READ_ONLY, NULL, NULL, &buffer));
    works(iso_device_close(device));
}

/* If memory is an object, the offset is kept separately; a consumer's stream waits. */
static void test_dlpack(void **state)
{
    int64_t shape[] = {2, 2}, strides[] = {-2, 1};
    iso_dlpack_managed_versioned *managed;
    adopt_queue queue = {0};
    iso_tensor tensor = ISO_TENSOR_INIT;
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    iso_stream stream, consumer;
    iso_dlpack_managed legacy;
    iso_device device;
    char mine[256] = {0};
    void *out;

    (void)state;
    works(iso_device_open("unit-adopt:1", &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_stream_adopt(device, &queue, &consumer));
    legacy = (iso_dlpack_managed){.tensor = {.data = mine,
                                             .device_type = 12,
                                             .device_id = 1,
                                             .ndim = 2,
                                             .code = 2,
                                             .bits = 32,
                                             .lanes = 1,
                                             .shape = shape,
                                             .strides = strides,
                                             .byte_offset = 16}};
    works(iso_dlpack_import(stream, &legacy, 0, &tensor));
    works(iso_buffer_get_info(tensor.buffer, &info));
    assert_int_equal(info.bytes, 24);
    assert_int_equal(tensor.offset, 16);
    assert_ptr_equal(native_of(ISO_NATIVE_MEMORY, tensor.buffer.id), mine);
    works(iso_dlpack_export(stream, consumer, &tensor, &out));
    managed = out;
    assert_int_equal(queue.waits, 1);
    assert_ptr_equal(managed->tensor.data, mine);
    assert_int_equal(managed->tensor.byte_offset, 16);
    assert_int_equal(managed->tensor.device_type, 12);
    assert_int_equal(managed->tensor.strides[0], -2);
    works(iso_device_close(device));
    managed->deleter(managed);
    works(iso_device_open("unit-adopt:0", &device));
    works(iso_stream_create(device, 0, &stream));
    fails(iso_dlpack_import(stream, &legacy, 0, &tensor), ISO_MISMATCH, "kDLExtDev (12) device 1",
          "kDLExtDev (12) device 0", "unit-adopt:0");
    legacy.tensor.device_id = 0;
    legacy.tensor.byte_offset = 4;
    fails(iso_dlpack_import(stream, &legacy, 0, &tensor), ISO_INVALID, "begins before its memory");
    legacy.tensor.byte_offset = 18;
    fails(iso_dlpack_import(stream, &legacy, 0, &tensor), ISO_INVALID, "byte_offset is 18",
          "4 bytes");
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_own_context),
        cmocka_unit_test(test_streams),  cmocka_unit_test(test_import_fails),
        cmocka_unit_test(test_dlpack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
