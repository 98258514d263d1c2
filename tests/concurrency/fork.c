/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - after fork the old handles are INVALID in the child, which opens the device again; the
 * parent continues. The argument says what the parent was doing: inline, asynchronous, pending. */
#include "tests/concurrency/check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 60 }; /* a child that hangs must end itself */

static iso_device device;
static iso_stream stream;
static check_product product;

static void use_anew(int seed)
{
    iso_device again = check_device();
    for (uint32_t flags = 0; flags <= ISO_STREAM_INLINE; flags++) {
        iso_stream fresh = check_stream(again, flags);
        check_product mine = check_product_make(again, 120, seed);
        check_product_submit(&mine, fresh, ISO_VARIANT_TILED);
        CHECK_OK(iso_stream_sync(fresh));
        check_product_result(&mine);
        check_product_free(&mine);
    }
    CHECK_OK(iso_device_close(again));
}

static void wait_for(pid_t child)
{
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
        (void)fprintf(stderr, "a child ended by signal %d\n", WTERMSIG(status));
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void be_child(void)
{
    (void)alarm(CHILD_SECONDS);
    iso_gemm_args args = check_product_args(&product, ISO_VARIANT_TILED);
    CHECK_STATUS(iso_gemm(stream, &args), ISO_INVALID);
    CHECK_STATUS(iso_stream_sync(stream), ISO_INVALID);
    CHECK_STATUS(iso_buffer_destroy(product.a.buffer), ISO_INVALID);
    CHECK_STATUS(iso_device_close(device), ISO_INVALID);
    use_anew(1);
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (grandchild == 0) {
        (void)alarm(CHILD_SECONDS);
        use_anew(2);
        _exit(0);
    }
    wait_for(grandchild);
    use_anew(3);
    /* Not exit: what the runtimes of sanitizers and OpenMP do there in a child is not tested. */
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    int is_inline = strcmp(argv[1], "inline") == 0, is_pending = strcmp(argv[1], "pending") == 0;
    CHECK(is_inline || is_pending || strcmp(argv[1], "asynchronous") == 0);
#ifdef __SANITIZE_ADDRESS__
    if (is_pending) {
        (void)puts(
            "the address sanitizer's malloc is not safe around fork in a process whose other "
            "threads allocate: a child was seen to wait for a lock of theirs for ever");
        return 77;
    }
#endif
    device = check_device();
    stream = check_stream(device, is_inline ? ISO_STREAM_INLINE : 0);
    product = check_product_make(device, 150, 4);
    check_product_submit(&product, stream, ISO_VARIANT_TILED);
    if (!is_pending) {
        CHECK_OK(iso_stream_sync(stream));
    }
    for (int i = 0; is_pending && i < 50; i++) {
        iso_gemm_args args = check_product_args(&product, ISO_VARIANT_NAIVE);
        CHECK_OK(iso_gemm(stream, &args));
    }
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            be_child();
        }
    }
    check_product_submit(&product, stream, ISO_VARIANT_TILED);
    CHECK_OK(iso_stream_sync(stream));
    check_product_result(&product);
    for (int i = 0; i < 3; i++) {
        wait_for(children[i]);
    }
    check_product_free(&product);
    CHECK_OK(iso_device_close(device));
    use_anew(5);
    return 0;
}
