/* SPDX-License-Identifier: Apache-2.0 */
/* core_threads.c - one thread uses handles while another destroys them. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 4, ROUNDS = 300 };

static unit_session s;
static _Atomic uint64_t shared_buffer, shared_stream;
static atomic_int wrong, destroyed;
static atomic_bool over;

/* Uses whatever still exists: OK or INVALID, nothing else. */
static void *user(void *unused)
{
    unsigned char host[64] = {0};

    (void)unused;
    while (!atomic_load(&over)) {
        iso_stream stream = {atomic_load(&shared_stream)};
        iso_operand at = {{atomic_load(&shared_buffer)}, 0};
        iso_status status = iso_fill(stream, at, "z", 1, 256);

        if (status != ISO_OK && status != ISO_INVALID) {
            atomic_fetch_add(&wrong, 1);
        }
        status = iso_write(stream, at, host, sizeof host);
        if (status != ISO_OK && status != ISO_INVALID) {
            atomic_fetch_add(&wrong, 1);
        }
        if (status == ISO_OK) {
            status = iso_stream_sync(stream); /* `host` must live until then */
        }
        if (status != ISO_OK && status != ISO_INVALID) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    return NULL;
}

static void *destroyer(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        iso_buffer buffer = {atomic_load(&shared_buffer)}, made;
        iso_stream stream = {atomic_load(&shared_stream)}, next;

        if (iso_buffer_destroy(buffer) == ISO_OK) {
            atomic_fetch_add(&destroyed, 1);
            if (iso_buffer_create(s.device, 256, &made)) {
                atomic_fetch_add(&wrong, 1);
            }
            atomic_store(&shared_buffer, made.id);
        }
        if (i % 8 == 0 && iso_stream_destroy(stream) == ISO_OK) {
            if (iso_stream_create(s.device, i % 16 ? ISO_STREAM_INLINE : 0, &next)) {
                atomic_fetch_add(&wrong, 1);
            }
            atomic_store(&shared_stream, next.id);
        }
    }
    return NULL;
}

static void test_use_and_destroy(void **state)
{
    pthread_t users[THREADS], destroyers[2];
    iso_buffer buffer;

    (void)state;
    unit_open(&s, "openmp");
    works(iso_buffer_create(s.device, 256, &buffer));
    atomic_store(&shared_buffer, buffer.id);
    atomic_store(&shared_stream, s.other.id);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&users[i], NULL, user, NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&destroyers[i], NULL, destroyer, NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(destroyers[i], NULL);
    }
    works(iso_device_close(s.device)); /* while it is in use */
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(users[i], NULL);
    }
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&destroyed) > 0);
}

/* Each thread opens the one physical device, works, and closes it. */
static void *opener(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        iso_gemm_args args;
        iso_device device;
        iso_stream stream;
        iso_buffer buffer;
        float one = 1.0f, got = 0.0f;

        if (iso_device_open("openmp", &device) || iso_stream_create(device, 0, &stream) ||
            iso_buffer_create(device, UNIT_BYTES, &buffer) ||
            iso_fill(stream, (iso_operand){buffer, 0}, &one, 4, UNIT_BYTES)) {
            atomic_fetch_add(&wrong, 1);
            return NULL;
        }
        args = unit_gemm(buffer, 16);
        if (iso_gemm(stream, &args) || iso_read(stream, &got, args.c, 4) ||
            iso_stream_sync(stream) || got != 16.0f || iso_device_close(device)) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    return NULL;
}

static void test_open_and_close(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, opener, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&wrong), 0);
}

/* Two threads race to destroy one handle: one succeeds, the other gets INVALID. */
static void *rival(void *id)
{
    if (iso_buffer_destroy(*(iso_buffer *)id) == ISO_OK) {
        atomic_fetch_add(&destroyed, 1);
    }
    return NULL;
}

static void test_double_destroy(void **state)
{
    (void)state;
    unit_open(&s, "openmp");
    for (int i = 0; i < 100; i++) {
        pthread_t rivals[2];
        iso_buffer buffer;

        atomic_store(&destroyed, 0);
        works(iso_buffer_create(s.device, 64, &buffer));
        works(iso_fill(s.stream, (iso_operand){buffer, 0}, "q", 1, 64));
        for (int j = 0; j < 2; j++) {
            assert_int_equal(pthread_create(&rivals[j], NULL, rival, &buffer), 0);
        }
        for (int j = 0; j < 2; j++) {
            pthread_join(rivals[j], NULL);
        }
        assert_int_equal(atomic_load(&destroyed), 1);
    }
    unit_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_and_destroy),
        cmocka_unit_test(test_open_and_close),
        cmocka_unit_test(test_double_destroy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
