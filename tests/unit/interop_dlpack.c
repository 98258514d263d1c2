/* SPDX-License-Identifier: Apache-2.0 */
/* interop_dlpack.c - tensors imported from and exported to other libraries. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A 2 x 3 tensor of f32 whose deleter counts. */
typedef struct producer {
    iso_dlpack_managed_versioned managed;
    iso_dlpack_managed legacy;
    _Alignas(64) float data[64];
    int64_t shape[9], strides[9];
    int deleted;
} producer;

static void delete_versioned(iso_dlpack_managed_versioned *self)
{
    ++((producer *)self->context)->deleted;
}

static void delete_legacy(iso_dlpack_managed *self)
{
    ++((producer *)self->context)->deleted;
}

static void produce(producer *made)
{
    *made = (producer){.shape = {2, 3}};
    for (int i = 0; i < 64; i++) {
        made->data[i] = (float)(i + 1);
    }
    made->managed.major = 1;
    made->managed.context = made->legacy.context = made;
    made->managed.deleter = delete_versioned;
    made->legacy.deleter = delete_legacy;
    made->managed.tensor = (iso_dlpack_tensor){
        .data = made->data, .device_type = 1, .ndim = 2, .code = 2, .bits = 32, .lanes = 1};
    made->managed.tensor.shape = made->shape;
    made->legacy.tensor = made->managed.tensor;
}

static void *native_of(iso_buffer buffer)
{
    void *native = NULL;

    works(iso_native_get(ISO_NATIVE_MEMORY, buffer.id, &native));
    return native;
}

static void test_import(void **state)
{
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    iso_tensor tensor = ISO_TENSOR_INIT;
    unit_session session;
    producer made;

    (void)state;
    unit_open(&session, "openmp");
    produce(&made);
    made.managed.tensor.byte_offset = 8;
    made.managed.flags = 3;
    works(iso_dlpack_import(session.stream, &made.managed, ISO_DLPACK_VERSIONED, &tensor));
    assert_int_equal(tensor.dtype, ISO_F32);
    assert_int_equal(tensor.ndim, 2);
    assert_int_equal(tensor.flags, ISO_TENSOR_READ_ONLY | ISO_TENSOR_COPIED);
    assert_int_equal(tensor.strides[0], 3);
    assert_int_equal(tensor.strides[1], 1);
    assert_int_equal(tensor.offset, 0);
    assert_ptr_equal(native_of(tensor.buffer), made.data + 2);
    works(iso_buffer_get_info(tensor.buffer, &info));
    assert_int_equal(info.bytes, 24);
    fails(iso_fill(session.stream, (iso_operand){tensor.buffer, 0}, "x", 1, 1), ISO_INVALID,
          "read-only");
    works(iso_buffer_destroy(tensor.buffer));
    assert_int_equal(made.deleted, 1);
    fails(iso_buffer_destroy(tensor.buffer), ISO_INVALID, "destroyed");

    made.legacy.deleter = NULL; /* allowed */
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    works(iso_buffer_destroy(tensor.buffer));
    made.legacy.deleter = delete_legacy;
    made.legacy.tensor.device_type = 3; /* pinned host memory */
    made.legacy.tensor.device_id = 5;
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    assert_int_equal(tensor.flags, 0);
    works(iso_fill(session.stream, (iso_operand){tensor.buffer, 0}, "\0", 1, 24));
    unit_close(&session);
    assert_int_equal(made.deleted, 2);
    assert_float_equal(made.data[5], 0, 0);
    assert_float_equal(made.data[6], 7, 0);
}

static void test_strides(void **state)
{
    iso_tensor tensor = ISO_TENSOR_INIT;
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    int64_t rows, cols, ld;
    iso_operand operand;
    unit_session session;
    iso_trans trans;
    producer made;

    (void)state;
    unit_open(&session, "openmp");
    produce(&made);
    made.legacy.tensor.strides = made.strides;
    made.strides[0] = -8; /* rows from the last to the first */
    made.strides[1] = 1;
    made.legacy.tensor.byte_offset = 10 * 4;
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    assert_int_equal(tensor.offset, 32);
    assert_ptr_equal(native_of(tensor.buffer), made.data + 2);
    works(iso_buffer_get_info(tensor.buffer, &info));
    assert_int_equal(info.bytes, 44);
    fails(iso_tensor_matrix(&tensor, &operand, &rows, &cols, &ld, &trans), ISO_UNSUPPORTED,
          "iso_tensor_matrix", "-8 and 1", "2 x 3", "copy it");
    works(iso_buffer_destroy(tensor.buffer));

    made.strides[0] = 8;
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    works(iso_tensor_matrix(&tensor, &operand, &rows, &cols, &ld, &trans));
    assert_true(rows == 2 && cols == 3 && ld == 8 && trans == ISO_NO_TRANS);
    assert_true(operand.buffer.id == tensor.buffer.id && operand.offset == 0);
    works(iso_buffer_destroy(tensor.buffer));

    made.strides[0] = 1;
    made.strides[1] = 4;
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    works(iso_tensor_matrix(&tensor, &operand, &rows, &cols, &ld, &trans));
    assert_true(rows == 2 && cols == 3 && ld == 4 && trans == ISO_TRANS);
    works(iso_buffer_destroy(tensor.buffer));

    made.strides[1] = 1; /* overlaps itself */
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    fails(iso_tensor_matrix(&tensor, &operand, &rows, &cols, &ld, &trans), ISO_UNSUPPORTED,
          "1 and 1");
    fails(iso_tensor_matrix(&tensor, &operand, &rows, &cols, NULL, &trans), ISO_INVALID,
          "ld is NULL");
    tensor.ndim = 1;
    fails(iso_tensor_matrix(&tensor, &operand, &rows, &cols, &ld, &trans), ISO_UNSUPPORTED,
          "ndim is 1");
    fails(iso_tensor_matrix(NULL, &operand, &rows, &cols, &ld, &trans), ISO_INVALID,
          "tensor is NULL");
    made.legacy.tensor.ndim = 0; /* one element */
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    works(iso_buffer_get_info(tensor.buffer, &info));
    assert_int_equal(info.bytes, 4);
    made.legacy.tensor.ndim = 2;
    made.shape[1] = 0; /* no elements */
    made.legacy.tensor.data = NULL;
    works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
    works(iso_buffer_get_info(tensor.buffer, &info));
    assert_int_equal(info.bytes, 0);
    unit_close(&session);
    assert_int_equal(made.deleted, 6);
}

static void test_types(void **state)
{
    static const struct {
        uint8_t code, bits;
        iso_dtype dtype;
        const char *name;
    } types[] = {
        {2, 16, ISO_F16, NULL},   {4, 16, ISO_BF16, NULL}, {2, 32, ISO_F32, NULL},
        {2, 64, ISO_F64, NULL},   {0, 32, ISO_I32, NULL},  {0, 64, ISO_I64, NULL},
        {0, 8, ISO_I8, NULL},     {5, 64, ISO_C64, NULL},  {5, 128, ISO_C128, NULL},
        {1, 8, 0, "uint8"},       {0, 16, 0, "int16"},     {5, 32, 0, "complex32"},
        {6, 8, 0, "bool8"},       {2, 8, 0, "float8"},     {3, 64, 0, "opaque handle64"},
        {9, 8, 0, "type code 9"}, {1, 64, 0, "uint64"},
    };
    iso_tensor tensor = ISO_TENSOR_INIT;
    unit_session session;
    producer made;

    (void)state;
    unit_open(&session, "openmp");
    produce(&made);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        made.legacy.tensor.code = types[i].code;
        made.legacy.tensor.bits = types[i].bits;
        if (types[i].name) {
            fails(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor), ISO_UNSUPPORTED,
                  types[i].name, "float16, bfloat16");
        } else {
            works(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor));
            assert_int_equal(tensor.dtype, types[i].dtype);
        }
    }
    unit_close(&session);
    assert_int_equal(made.deleted, 9);
}

static void test_import_arguments(void **state)
{
    iso_tensor tensor = ISO_TENSOR_INIT;
    unit_session session;
    producer made;

    (void)state;
    unit_open(&session, "openmp");
#define REFUSED(change, status, ...)                                                               \
    do {                                                                                           \
        produce(&made);                                                                            \
        change;                                                                                    \
        fails(iso_dlpack_import(session.stream, &made.managed, ISO_DLPACK_VERSIONED, &tensor),     \
              status, "iso_dlpack_import", __VA_ARGS__);                                           \
        assert_int_equal(made.deleted, 0);                                                         \
    } while (0)
    REFUSED(made.managed.major = 2, ISO_UNSUPPORTED, "version 2.0", "caller still owns");
    REFUSED(made.managed.major = 0, ISO_UNSUPPORTED, "version 0.0");
    REFUSED(made.managed.tensor.device_type = 2, ISO_MISMATCH, "kDLCUDA (2) device 0", "openmp:0",
            "kDLCPU (1) device 0");
    REFUSED(made.managed.tensor.device_id = 1, ISO_MISMATCH, "kDLCPU (1) device 1");
    REFUSED(made.managed.tensor.device_type = 99, ISO_MISMATCH, "unknown type (99)");
    REFUSED(made.managed.tensor.lanes = 4, ISO_UNSUPPORTED, "4 lanes");
    REFUSED(made.managed.tensor.ndim = 9, ISO_INVALID, "ndim is 9");
    REFUSED(made.managed.tensor.ndim = -1, ISO_INVALID, "ndim is -1");
    REFUSED(made.managed.tensor.shape = NULL, ISO_INVALID, "shape is NULL");
    REFUSED(made.managed.tensor.data = NULL, ISO_INVALID, "data is NULL");
    REFUSED(made.shape[1] = -2, ISO_INVALID, "shape[1] is -2");
    REFUSED(made.shape[0] = made.shape[1] = INT64_MAX, ISO_INVALID, "64 bits");
    REFUSED((made.managed.tensor.strides = made.strides, made.strides[0] = INT64_MIN,
             made.strides[1] = INT64_MIN),
            ISO_INVALID, "64 bits");
    REFUSED((made.managed.tensor.strides = made.strides, made.strides[0] = INT64_MAX / 4,
             made.strides[1] = -(INT64_MAX / 8)),
            ISO_INVALID, "64 bits");
    REFUSED((made.managed.tensor.strides = made.strides, made.strides[0] = -(INT64_MAX / 8)),
            ISO_INVALID, "outside of memory");
    REFUSED(made.managed.tensor.byte_offset = UINT64_MAX, ISO_INVALID, "byte_offset", "too large");
    REFUSED(made.managed.tensor.byte_offset = 2, ISO_INVALID, "byte_offset is 2", "4 bytes");
    REFUSED(made.managed.tensor.data = (char *)made.managed.tensor.data + 2, ISO_INVALID,
            "not aligned", "4 bytes");
    REFUSED(made.managed.tensor.data = (void *)(UINTPTR_MAX - 7), ISO_INVALID, "outside of memory");
#undef REFUSED
    produce(&made);
    fails(iso_dlpack_import(session.stream, NULL, 0, &tensor), ISO_INVALID, "managed is NULL");
    fails(iso_dlpack_import(session.stream, &made.legacy, 2, &tensor), ISO_INVALID, "flags is 0x2");
    fails(iso_dlpack_import(session.stream, &made.legacy, 0, NULL), ISO_INVALID, "out is NULL");
    tensor.size = 8;
    fails(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor), ISO_INVALID,
          "out->size is 8");
    tensor.size = sizeof tensor;
    unit_close(&session);
    fails(iso_dlpack_import(session.stream, &made.legacy, 0, &tensor), ISO_INVALID, "destroyed");
    assert_int_equal(made.deleted, 0);
}

static iso_tensor tensor_of(iso_buffer buffer)
{
    iso_tensor tensor = ISO_TENSOR_INIT;

    tensor.dtype = ISO_F32;
    tensor.buffer = buffer;
    tensor.offset = 4;
    tensor.ndim = 2;
    tensor.shape[0] = 2;
    tensor.shape[1] = 3;
    return tensor;
}

static void test_export(void **state)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_tensor tensor, again = ISO_TENSOR_INIT;
    iso_dlpack_managed_versioned *managed, *second;
    iso_device keeper;
    unit_session session;
    void *out = NULL;

    (void)state;
    unit_open(&session, "openmp");
    works(iso_device_open("openmp", &keeper));
    tensor = tensor_of(session.buffer);
    works(iso_fill(session.stream, (iso_operand){session.buffer, 0}, &(float){2.5f}, 4, 4096));
    works(iso_dlpack_export(session.stream, (iso_stream){0}, &tensor, &out));
    managed = out;
    assert_true(managed->major == 1 && managed->minor == 0 && managed->flags == 0);
    assert_true(managed->tensor.device_type == 1 && managed->tensor.device_id == 0);
    assert_true(managed->tensor.ndim == 2 && managed->tensor.lanes == 1);
    assert_true(managed->tensor.code == 2 && managed->tensor.bits == 32);
    assert_int_equal(managed->tensor.strides[0], 3);
    assert_int_equal(managed->tensor.strides[1], 1);
    assert_ptr_equal((char *)managed->tensor.data + managed->tensor.byte_offset,
                     (char *)native_of(session.buffer) + 4);
    /* The stream has been waited for. */
    assert_float_equal(((float *)managed->tensor.data)[5], 2.5, 0);
    /* An exported tensor is imported again, through another handle too. */
    works(iso_dlpack_export(session.stream, session.other, &tensor, &out));
    second = out;
    works(iso_dlpack_import(session.stream, second, ISO_DLPACK_VERSIONED, &again));
    works(iso_buffer_destroy(again.buffer));
    /* The memory outlives the buffer and the device, and is then freed. */
    works(iso_buffer_destroy(session.buffer));
    fails(iso_dlpack_export(session.stream, (iso_stream){0}, &tensor, &out), ISO_INVALID,
          "tensor->buffer", "destroyed");
    unit_close(&session);
    works(iso_device_get_memory_use(keeper, &use));
    assert_int_equal(use.used, UNIT_BYTES);
    works(iso_device_close(keeper));
    assert_float_equal(((float *)managed->tensor.data)[0], 2.5, 0);
    managed->deleter(managed);
    works(iso_device_open("openmp", &keeper));
    works(iso_device_get_memory_use(keeper, &use));
    assert_int_equal(use.used, 0);
    works(iso_device_close(keeper));
}

static void test_export_arguments(void **state)
{
    iso_device other_device;
    iso_stream other_stream;
    unit_session session;
    iso_tensor tensor;
    void *out = NULL;
    float mine[8];

    (void)state;
    unit_open(&session, "openmp");
#define REFUSED(change, status, ...)                                                               \
    do {                                                                                           \
        tensor = tensor_of(session.buffer);                                                        \
        change;                                                                                    \
        fails(iso_dlpack_export(session.stream, (iso_stream){0}, &tensor, &out), status,           \
              "iso_dlpack_export", __VA_ARGS__);                                                   \
        assert_null(out);                                                                          \
    } while (0)
    REFUSED(tensor.size = 12, ISO_INVALID, "tensor->size is 12");
    REFUSED(tensor.dtype = 99, ISO_INVALID, "dtype is 99");
    REFUSED(tensor.ndim = 9, ISO_INVALID, "ndim is 9");
    REFUSED(tensor.shape[1] = -1, ISO_INVALID, "shape[1] is -1");
    REFUSED(tensor.flags = 4, ISO_INVALID, "flags is 0x4");
    REFUSED(tensor.offset = -4, ISO_INVALID, "offset is -4");
    REFUSED(tensor.offset = 2, ISO_INVALID, "does not align");
    REFUSED(tensor.offset = UNIT_BYTES - 8, ISO_INVALID, "holds 65536 bytes");
    REFUSED(tensor.strides[0] = -3, ISO_INVALID, "negative strides");
    REFUSED(tensor.shape[0] = tensor.shape[1] = INT64_MAX, ISO_INVALID, "64 bits");
    REFUSED(tensor.buffer.id = 0, ISO_INVALID, "tensor->buffer is zero");
#undef REFUSED
    tensor = tensor_of(session.buffer);
    works(iso_device_open("openmp", &other_device));
    works(iso_stream_create(other_device, 0, &other_stream));
    fails(iso_dlpack_export(other_stream, (iso_stream){0}, &tensor, &out), ISO_MISMATCH,
          "tensor->buffer", "openmp:0");
    fails(iso_dlpack_export(session.stream, other_stream, &tensor, &out), ISO_MISMATCH, "consumer");
    fails(iso_dlpack_export(session.stream, (iso_stream){0}, &tensor, NULL), ISO_INVALID,
          "managed is NULL");
    works(iso_device_close(other_device));
    fails(iso_dlpack_export(session.stream, other_stream, &tensor, &out), ISO_INVALID, "consumer",
          "destroyed");
    assert_null(out);
    works(iso_buffer_import(session.device, mine, sizeof mine, ISO_IMPORT_READ_ONLY, NULL, NULL,
                            &tensor.buffer));
    works(iso_dlpack_export(session.stream, (iso_stream){0}, &tensor, &out));
    assert_int_equal(((iso_dlpack_managed_versioned *)out)->flags, ISO_TENSOR_READ_ONLY);
    ((iso_dlpack_managed_versioned *)out)->deleter(out);
    unit_close(&session);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { ROUNDS = 200, THREADS = 4 };

static void *delete_it(void *managed)
{
    ((iso_dlpack_managed_versioned *)managed)->deleter(managed);
    return NULL;
}

static void *exchange(void *context)
{
    const unit_session *session = context;

    for (int i = 0; i < ROUNDS; i++) {
        iso_tensor tensor, again = ISO_TENSOR_INIT;
        iso_buffer buffer;
        pthread_t thread;
        void *out, *loose;

        if (iso_buffer_create(session->device, 256, &buffer)) {
            return "iso_buffer_create";
        }
        tensor = tensor_of(buffer);
        if (iso_dlpack_export(session->stream, session->other, &tensor, &out) ||
            iso_dlpack_export(session->other, session->stream, &tensor, &loose)) {
            return "iso_dlpack_export";
        }
        if (iso_dlpack_import(session->stream, out, ISO_DLPACK_VERSIONED, &again)) {
            return "iso_dlpack_import";
        }
        if (iso_fill(session->stream, (iso_operand){again.buffer, 0}, "xyz", 1, 24)) {
            return "iso_fill";
        }
        if (pthread_create(&thread, NULL, delete_it, loose)) {
            return "pthread_create";
        }
        if (iso_buffer_destroy(i % 2 ? buffer : again.buffer) ||
            iso_buffer_destroy(i % 2 ? again.buffer : buffer)) {
            return "iso_buffer_destroy";
        }
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void test_threads(void **state)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    pthread_t threads[THREADS];
    unit_session session;

    (void)state;
    unit_open(&session, "openmp");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, exchange, &session), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        if (failed) {
            fail_msg("%s failed", (const char *)failed);
        }
    }
    works(iso_device_get_memory_use(session.device, &use));
    assert_int_equal(use.used, UNIT_BYTES);
    unit_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import),  cmocka_unit_test(test_strides),
        cmocka_unit_test(test_types),   cmocka_unit_test(test_import_arguments),
        cmocka_unit_test(test_export),  cmocka_unit_test(test_export_arguments),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
