/* SPDX-License-Identifier: Apache-2.0 */
/* core_memory.c - the memory limit, its accounting, host blocks, 2-D transfers, copies between
 * devices. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static iso_memory_use use_of(iso_device device)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;

    works(iso_device_get_memory_use(device, &use));
    return use;
}

static void test_limit(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device, second;
    iso_buffer a, b, c;

    (void)state;
    options.memory_limit = 10000;
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_device_open("openmp", &second));
    assert_int_equal(use_of(device).used, 0);
    assert_int_equal(use_of(device).limit, 10000);
    assert_int_equal(use_of(second).limit, -1);
    works(iso_buffer_create(device, 6000, &a));
    fails(iso_buffer_create(device, 4001, &b), ISO_NO_MEMORY, "iso_buffer_create",
          "4001 bytes requested", "6000 used", "limit 10000");
    assert_int_equal(b.id, 0);
    works(iso_buffer_create(device, 4000, &b));
    assert_int_equal(use_of(device).used, 10000);
    works(iso_buffer_create(device, 0, &c)); /* no bytes always fit */
    works(iso_buffer_destroy(c));
    works(iso_buffer_create(second, 500, &c)); /* counts for the physical device */
    assert_int_equal(use_of(device).used, 10500);
    assert_int_equal(use_of(second).peak, 10500);
    works(iso_buffer_destroy(b));
    fails(iso_buffer_create(device, 4000, &b), ISO_NO_MEMORY, "6500 used");
    works(iso_buffer_destroy(c));
    works(iso_buffer_create(device, 4000, &b));
    works(iso_device_close(device));
    assert_int_equal(use_of(second).used, 0);
    assert_int_equal(use_of(second).peak, 10500);
    fails(iso_buffer_create(second, INT64_MAX, &a), ISO_NO_MEMORY, "iso_buffer_create");
    assert_int_equal(use_of(second).used, 0);
    works(iso_device_close(second));
}

/* Scratch memory counts, and cannot be had if the limit is too low. */
static void test_scratch(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_gemm_args args = unit_gemm((iso_buffer){0}, 300);
    int64_t scratch = 0, bytes = 300 * 300 * 4 * 3;
    iso_device device;
    iso_stream stream;
    iso_buffer buffer;

    (void)state;
    args.variant = ISO_VARIANT_TILED;
    works(iso_device_open("openmp", &device));
    works(iso_workspace(device, ISO_OP_GEMM, &args, &scratch));
    works(iso_device_close(device));
    if (!scratch) {
        skip();
    }
    options.memory_limit = bytes + scratch - 1;
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_buffer_create(device, bytes, &buffer));
    args = unit_gemm(buffer, 300);
    args.variant = ISO_VARIANT_TILED;
    fails(iso_prepare(stream, ISO_OP_GEMM, &args), ISO_NO_MEMORY, "iso_prepare", "limit");
    fails(iso_gemm(stream, &args), ISO_NO_MEMORY, "iso_gemm", "limit");
    works(iso_stream_sync(stream));
    works(iso_device_close(device));
    options.memory_limit++;
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_prepare(stream, ISO_OP_GEMM, &args)); /* its operands are gone, and ignored */
    assert_int_equal(use_of(device).used, scratch);
    works(iso_buffer_create(device, bytes, &buffer));
    args = unit_gemm(buffer, 300);
    args.variant = ISO_VARIANT_TILED;
    works(iso_gemm(stream, &args));
    assert_int_equal(use_of(device).used, scratch + bytes);
    works(iso_stream_destroy(stream));
    assert_int_equal(use_of(device).used, bytes);
    works(iso_device_close(device));
}

static void test_limit_setting(void **state)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_device device;

    (void)state;
    setenv("ISOMER_MEMORY_LIMIT", "3M", 1);
    works(iso_device_open("openmp", &device));
    assert_int_equal(use_of(device).limit, 3 << 20);
    works(iso_device_close(device));
    options.memory_limit = -1;
    works(iso_device_open_with("openmp", &options, &device));
    assert_int_equal(use_of(device).limit, -1);
    works(iso_device_close(device));
    setenv("ISOMER_MEMORY_LIMIT", "50%", 1);
    works(iso_device_open("openmp", &device));
    works(iso_device_get_info(device, &info));
    assert_true(llabs(use_of(device).limit - info.memory_total / 2) < 4096);
    works(iso_device_close(device));
    unsetenv("ISOMER_MEMORY_LIMIT");
}

static void test_buffer_info(void **state)
{
    iso_buffer_info info = ISO_BUFFER_INFO_INIT;
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_buffer_get_info(s.buffer, &info));
    assert_int_equal(info.bytes, UNIT_BYTES);
    assert_int_equal(info.device.id, s.device.id);
    unit_close(&s);
}

static void test_host(void **state)
{
    unit_session s;
    int32_t pinned = 7;
    void *block, *empty;
    char *mine;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_host_alloc(s.device, 10000, &block, &pinned));
    assert_true(pinned == 0 || pinned == 1);
    assert_int_equal((uintptr_t)block % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    memset(block, 5, 10000);
    works(iso_write(s.stream, (iso_operand){s.buffer, 0}, block, 10000));
    works(iso_host_free(s.device, block)); /* waits for the write */
    fails(iso_host_free(s.device, block), ISO_INVALID, "pointer");
    works(iso_host_alloc(s.device, 0, &empty, NULL));
    works(iso_host_free(s.device, empty));
    mine = malloc(10000);
    assert_non_null(mine);
    works(iso_host_register(s.device, mine, 5000, &pinned));
    fails(iso_host_register(s.device, mine + 4999, 10, NULL), ISO_INVALID,
          "overlaps the registered");
    fails(iso_host_free(s.device, mine), ISO_INVALID, "iso_host_alloc");
    works(iso_host_register(s.device, mine + 5000, 5000, NULL));
    works(iso_read(s.stream, mine, (iso_operand){s.buffer, 0}, 10000));
    works(iso_host_unregister(s.device, mine)); /* waits for the read */
    assert_int_equal(mine[9999], 5);
    fails(iso_host_unregister(s.device, mine), ISO_INVALID, "iso_host_register");
    unit_close(&s); /* releases the second range */
    free(mine);
}

/* Bytes between rows do not change. */
static void test_2d(void **state)
{
    unsigned char from[7 * 5], to[11 * 5], all[64];
    unit_session s;

    (void)state;
    unit_open(&s, "openmp");
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (unsigned char)(i + 1);
    }
    memset(to, 0xee, sizeof to);
    works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, &(unsigned char){0xaa}, 1, 1024));
    works(iso_write_2d(s.stream, (iso_operand){s.buffer, 3}, 9, from, 7, 4, 5));
    works(iso_copy_2d(s.stream, (iso_operand){s.buffer, 512}, 8, (iso_operand){s.buffer, 3}, 9, 4,
                      5));
    works(iso_fill_2d(s.stream, (iso_operand){s.buffer, 520}, 8, "\x77\x78", 2, 2, 3));
    works(iso_read_2d(s.stream, to, 11, (iso_operand){s.buffer, 512}, 8, 4, 5));
    works(iso_read(s.stream, all, (iso_operand){s.buffer, 0}, 64));
    works(iso_stream_sync(s.stream));
    for (int row = 0; row < 5; row++) {
        for (int col = 0; col < 11; col++) {
            unsigned char expected = col >= 4                          ? 0xee
                                     : row >= 1 && row <= 3 && col < 2 ? (unsigned char)(0x77 + col)
                                                                       : from[row * 7 + col];

            assert_int_equal(to[row * 11 + col], expected);
        }
    }
    assert_int_equal(all[2], 0xaa);
    assert_int_equal(all[3], 1);
    assert_int_equal(all[6], 4);
    assert_int_equal(all[7], 0xaa);
    assert_int_equal(all[12], 8);
    unit_close(&s);
}

static void test_between(void **state)
{
    iso_path path = (iso_path)0;
    uint32_t got[256];
    unit_session s, t;

    (void)state;
    unit_open(&s, "openmp");
    unit_open(&t, "openmp");
    for (uint32_t i = 1; i <= 20; i++) {
        works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, &i, 4, 1024));
        works(iso_copy_between(t.stream, (iso_operand){t.buffer, 64}, s.stream,
                               (iso_operand){s.buffer, 0}, 1024, &path));
        /* Runs after the copy has read. */
        works(iso_fill(s.stream, (iso_operand){s.buffer, 0}, &(uint32_t){0}, 4, 1024));
        works(iso_read(t.stream, got, (iso_operand){t.buffer, 64}, 1024));
        works(iso_stream_sync(t.stream));
        assert_int_equal(path, ISO_PATH_SAME);
        assert_int_equal(got[0], i);
        assert_int_equal(got[255], i);
    }
    works(iso_copy_between(s.stream, (iso_operand){s.buffer, 2048}, s.stream,
                           (iso_operand){s.buffer, 0}, 1024, NULL));
    works(iso_stream_sync(s.stream));
    unit_close(&s); /* t still waits for nothing from it */
    works(iso_stream_sync(t.stream));
    unit_close(&t);
}

/* Blocks too large for any cache take another path: at odd offsets, with odd lengths, and the bytes
 * around them do not change. */
static void test_large(void **state)
{
    enum { PAD = 77, MOST = 256 << 20 };
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_device device;
    iso_stream stream;
    iso_buffer a, b;

    (void)state;
    works(iso_device_open("openmp", &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_device_get_info(device, &info));
    int64_t bytes = (info.cache_bytes < MOST ? info.cache_bytes : MOST) + (8 << 20) + 12345;
    works(iso_buffer_create(device, bytes + 2 * PAD, &a));
    works(iso_buffer_create(device, bytes + 2 * PAD, &b));
    unsigned char *from = malloc((size_t)bytes), *to = malloc((size_t)(bytes + 2 * PAD));
    unsigned char around = 0xa5;
    assert_non_null(from);
    assert_non_null(to);
    for (int64_t i = 0; i < bytes; i++) {
        from[i] = (unsigned char)((uint64_t)i * 0x9e3779b97f4a7c15u >> 56);
    }
    works(iso_fill(stream, (iso_operand){b, 0}, &around, 1, bytes + 2 * PAD));
    works(iso_write(stream, (iso_operand){a, 3}, from, bytes));
    works(iso_copy(stream, (iso_operand){b, PAD}, (iso_operand){a, 3}, bytes));
    works(iso_read(stream, to, (iso_operand){b, 0}, bytes + 2 * PAD));
    works(iso_stream_sync(stream));
    assert_memory_equal(to + PAD, from, (size_t)bytes);
    for (int i = 0; i < PAD; i++) {
        assert_true(to[i] == around && to[bytes + PAD + i] == around);
    }
    works(iso_device_close(device));
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),         cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_limit_setting), cmocka_unit_test(test_buffer_info),
        cmocka_unit_test(test_host),          cmocka_unit_test(test_2d),
        cmocka_unit_test(test_between),       cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
