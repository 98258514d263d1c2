/* SPDX-License-Identifier: Apache-2.0 */
/* asynchronous.c - submitting returns long before the work is done; events report when it is done;
 * recording an event again does not affect earlier waits. */
#include "tests/concurrency/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(TEST_THREAD_SANITIZER) /* products take far longer */
enum { SIZE = 192 };
#else
enum { SIZE = 384 };
#endif
enum { PRODUCTS = 12, ATTEMPTS = 200 };

static iso_device device;

/* Keeps a stream busy for a while. */
static void submit_much(iso_stream stream, const check_product *product)
{
    iso_gemm_args args = check_product_args(product, ISO_VARIANT_NAIVE);
    for (int i = 0; i < PRODUCTS; i++) {
        CHECK_OK(iso_gemm(stream, &args));
    }
}

/* Whether submitting returned before the work was done: on a busy machine this thread may not run
 * in time to see it. */
static int submitting_is_short(iso_stream stream, const check_product *product)
{
    iso_event start = {0}, stop = {0};
    CHECK_OK(iso_event_create(device, &start));
    CHECK_OK(iso_event_create(device, &stop));
    CHECK_STATUS(iso_event_query(start), ISO_NOT_READY);
    CHECK_STATUS(iso_event_sync(start), ISO_NOT_READY);

    int64_t begin = check_now(), elapsed = -1;
    CHECK_OK(iso_event_record(start, stream));
    submit_much(stream, product);
    CHECK_OK(iso_event_record(stop, stream));
    int64_t submitted = check_now() - begin;
    int busy = iso_event_elapsed(start, stop, &elapsed) == ISO_NOT_READY && elapsed == -1 &&
               iso_stream_sync_timeout(stream, 0) == ISO_TIMEOUT &&
               iso_stream_query(stream) == ISO_NOT_READY && iso_event_query(stop) == ISO_NOT_READY;
    CHECK_OK(iso_event_sync(stop));
    CHECK_OK(iso_stream_sync(stream));
    int64_t total = check_now() - begin;
    CHECK_OK(iso_stream_query(stream));
    CHECK_OK(iso_event_elapsed(start, stop, &elapsed));
    (void)printf("submitted in %.3f ms, on the device %.3f ms, in all %.3f ms\n",
                 (double)submitted * 1e-6, (double)elapsed * 1e-6, (double)total * 1e-6);
    CHECK(elapsed > 0 && elapsed <= total);
    int64_t backwards = 0;
    CHECK_OK(iso_event_elapsed(stop, start, &backwards));
    CHECK(backwards == -elapsed);
    CHECK_OK(iso_event_destroy(start));
    CHECK_OK(iso_event_destroy(stop));
    return busy && submitted * 4 < total && elapsed * 2 > total;
}

/* Stream b waits for the event's record on a; recording the event elsewhere does not release it.
 * Returns whether b was seen waiting. */
static int waits_keep_their_record(iso_stream a, const check_product *product)
{
    iso_stream b = check_stream(device, 0), c = check_stream(device, 0);
    iso_event event = {0};
    CHECK_OK(iso_event_create(device, &event));
    CHECK_OK(iso_stream_wait(b, event)); /* never recorded: no wait */
    CHECK_OK(iso_stream_sync(b));

    int32_t before = 7, seven = 0;
    iso_operand word = check_buffer(device, (int64_t)sizeof before);
    submit_much(a, product);
    CHECK_OK(iso_write(a, word, &before, (int64_t)sizeof before));
    CHECK_OK(iso_event_record(event, a));
    CHECK_OK(iso_stream_wait(b, event));
    CHECK_OK(iso_read(b, &seven, word, (int64_t)sizeof seven));
    CHECK_OK(iso_event_record(event, c));
    CHECK_OK(iso_event_sync(event)); /* c has nothing to do */
    iso_status waiting = iso_stream_query(b);
    int seen = waiting == ISO_NOT_READY && iso_stream_query(a) == ISO_NOT_READY;
    CHECK_OK(iso_stream_sync(b));
    CHECK(seven == 7);
    CHECK_OK(iso_buffer_destroy(word.buffer));
    CHECK_OK(iso_stream_destroy(b));
    CHECK_OK(iso_stream_destroy(c));
    CHECK_OK(iso_event_destroy(event));
    return seen;
}

/* Destroys an event and a buffer while work that uses them is queued. */
static void destroyed_while_queued(iso_stream a, const check_product *product)
{
    iso_stream b = check_stream(device, 0);
    iso_event event = {0};
    int32_t before = 9, after = 0;
    iso_operand word = check_buffer(device, (int64_t)sizeof before);
    CHECK_OK(iso_event_create(device, &event));
    submit_much(a, product);
    CHECK_OK(iso_write(a, word, &before, (int64_t)sizeof before));
    CHECK_OK(iso_event_record(event, a));
    CHECK_OK(iso_stream_wait(b, event));
    CHECK_OK(iso_read(b, &after, word, (int64_t)sizeof after));
    CHECK_OK(iso_event_destroy(event));
    CHECK_OK(iso_buffer_destroy(word.buffer));
    CHECK_OK(iso_stream_destroy(b));
    CHECK(after == 9);
}

static void in_some_attempt(int (*test)(iso_stream stream, const check_product *product),
                            iso_stream stream, const check_product *product)
{
    int seen = 0;
    for (int attempt = 0; attempt < ATTEMPTS && !seen; attempt++) {
        seen = test(stream, product);
    }
    CHECK(seen);
}

/* More commands than a queue initially has room for. */
static void long_queue(iso_stream stream, const check_product *product)
{
    enum { WORDS = 1000 };
    int32_t words[WORDS], back[WORDS];
    iso_operand all = check_buffer(device, (int64_t)sizeof words);
    submit_much(stream, product);
    for (int i = 0; i < WORDS; i++) {
        words[i] = i * i;
        back[i] = -1;
        iso_operand one = {all.buffer, i * (int64_t)sizeof words[0]};
        CHECK_OK(iso_write(stream, one, &words[i], (int64_t)sizeof words[0]));
        CHECK_OK(iso_read(stream, &back[i], one, (int64_t)sizeof back[0]));
    }
    CHECK_OK(iso_stream_sync(stream));
    CHECK(memcmp(words, back, sizeof words) == 0);
    CHECK_OK(iso_buffer_destroy(all.buffer));
}

int main(void)
{
    device = check_device();
    iso_stream stream = check_stream(device, 0);
    check_product product = check_product_make(device, SIZE, 3);
    check_product_submit(&product, stream, ISO_VARIANT_NAIVE);
    CHECK_OK(iso_stream_sync(stream));
    check_product_result(&product);
    in_some_attempt(submitting_is_short, stream, &product);
    in_some_attempt(waits_keep_their_record, stream, &product);
    destroyed_while_queued(stream, &product);
    long_queue(stream, &product);
    check_product_free(&product);
    CHECK_OK(iso_device_close(device));
    return 0;
}
