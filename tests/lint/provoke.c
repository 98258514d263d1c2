/* SPDX-License-Identifier: Apache-2.0 */
/* provoke.c - makes one mistake, which its argument names, and prints the message about it: the
 * page docs/troubleshooting.md has these messages. */
#include <isomer/isomer.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static iso_device device, second;
static iso_stream stream;
static iso_gemm_args args = ISO_GEMM_ARGS_INIT;

static void need(iso_status status)
{
    if (status != ISO_OK) {
        (void)fprintf(stderr, "provoke: %s\n", iso_last_error());
        exit(2);
    }
}

static const char zeros[256];

static iso_status uninitialised(void)
{
    args.size = 0;
    return iso_gemm(stream, &args);
}

static iso_status zero_handle(void)
{
    const iso_buffer none = {0};
    args.a.buffer = none;
    return iso_gemm(stream, &args);
}

static iso_status stale_handle(void)
{
    need(iso_buffer_destroy(args.a.buffer));
    return iso_gemm(stream, &args);
}

static iso_status overlap(void)
{
    args.c = args.a;
    return iso_gemm(stream, &args);
}

static iso_status leading_dimension(void)
{
    args.lda = 4;
    return iso_gemm(stream, &args);
}

static iso_status outside(void)
{
    args.a.offset = 64;
    return iso_gemm(stream, &args);
}

static iso_status misaligned(void)
{
    args.a.offset = 2;
    args.m = 4;
    return iso_gemm(stream, &args);
}

static iso_status mismatch(void)
{
    need(iso_device_open("openmp", &second));
    need(iso_buffer_create(second, 256, &args.b.buffer));
    return iso_gemm(stream, &args);
}

static iso_status memory_limit(void)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_buffer buffer;
    options.memory_limit = 1 << 20;
    need(iso_device_open_with("openmp", &options, &second));
    return iso_buffer_create(second, 1 << 21, &buffer);
}

static iso_status unsupported_vendor(void)
{
    args.dtype = ISO_F16;
    args.variant = ISO_VARIANT_VENDOR;
    return iso_gemm(stream, &args);
}

static iso_status keep_and_variant(void)
{
    args.keep = ISO_KEEP_BITS;
    args.variant = ISO_VARIANT_VENDOR;
    return iso_gemm(stream, &args);
}

static iso_status type_of_c(void)
{
    args.dtype = ISO_F16;
    args.dtype_c = ISO_F64;
    return iso_gemm(stream, &args);
}

static iso_status fraction(void)
{
    args.dtype = ISO_I8;
    args.alpha = 0.5;
    return iso_gemm(stream, &args);
}

static iso_status no_triangle(void)
{
    iso_trsm_args solve = ISO_TRSM_ARGS_INIT;
    solve.dtype = ISO_F32;
    solve.m = solve.n = 8;
    solve.a = args.a;
    solve.b = args.b;
    return iso_trsm(stream, &solve);
}

static iso_status group(void)
{
    iso_gemm_args products[2] = {args, args};
    products[1].a = args.c;
    need(iso_buffer_create(device, 256, &products[1].c.buffer));
    return iso_gemm_group(stream, products, 2);
}

static iso_status program(const char *text)
{
    iso_program_args source = ISO_PROGRAM_ARGS_INIT;
    iso_program made;
    source.name = "axpy.isk";
    source.text = text;
    return iso_program_create(device, &source, &made);
}

static const char good[] = "ISO_KERNEL(axpy, 256, 1, 1)(ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)\n"
                           "{\n"
                           "    ISO_REGION(i)\n"
                           "    {\n"
                           "        if (iso_x(i) < n) {\n"
                           "            y[iso_x(i)] = 1;\n"
                           "        }\n"
                           "    }\n"
                           "}\n";

static iso_status no_compiler(void)
{
    return program(good);
}

static iso_status compile_log(void)
{
    char *text = strdup(good);
    memcpy(strstr(text, "= 1"), "= o", 3);
    const iso_status status = program(text);
    free(text);
    return status;
}

static iso_status refused_kernel(void)
{
    return program("ISO_KERNEL(stop, 256, 1, 1)(ISO_OUT(f32) y)\n"
                   "{\n"
                   "    ISO_REGION(i)\n"
                   "    {\n"
                   "        y[iso_x(i)] = 1;\n"
                   "        __syncthreads();\n"
                   "    }\n"
                   "}\n");
}

/* What the child says. */
static iso_status in_child(iso_status (*call)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        (void)call();
        (void)printf("%s\n", iso_last_error());
        (void)fflush(stdout);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
    return ISO_OK;
}

static iso_status use_stream(void)
{
    return iso_stream_sync(stream);
}

static iso_status forked_handle(void)
{
    return in_child(use_stream);
}

static iso_status open_opencl(void)
{
    return iso_device_open("opencl", &second);
}

static iso_status forked_driver(void)
{
    int32_t count = 0;
    need(iso_enumerate(NULL, 0, &count));
    return in_child(open_opencl);
}

static void *small_stack(void *unused)
{
    (void)unused;
    iso_buffer buffer;
    if (iso_buffer_create(second, 1024, &buffer) != ISO_OK) {
        (void)printf("%s\n", iso_last_error());
    }
    return NULL;
}

static iso_status stack(void)
{
    need(iso_device_open("opencl", &second));
    pthread_t thread;
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, (size_t)64 << 10);
    (void)pthread_create(&thread, &attributes, small_stack, NULL);
    (void)pthread_join(thread, NULL);
    return ISO_OK;
}

/* Work that takes long, over a stand-in for a driver. */
static iso_status time_limit(void)
{
    need(iso_device_open(NULL, &second));
    need(iso_stream_create(second, 0, &stream));
    need(iso_buffer_create(second, 256, &args.c.buffer));
    need(iso_write(stream, args.c, zeros, sizeof zeros));
    return iso_stream_sync_timeout(stream, 0);
}

/* A device that fails while it works. */
static iso_status lost(void)
{
    iso_gemm_args product = ISO_GEMM_ARGS_INIT;
    need(iso_device_open(NULL, &second));
    need(iso_stream_create(second, 0, &stream));
    product.dtype = ISO_F32;
    product.variant = ISO_VARIANT_TILED;
    product.m = product.n = product.k = 8;
    need(iso_buffer_create(second, 256, &product.a.buffer));
    need(iso_buffer_create(second, 256, &product.b.buffer));
    need(iso_buffer_create(second, 256, &product.c.buffer));
    need(iso_gemm(stream, &product));
    return iso_stream_sync(stream);
}

static const struct {
    const char *name;
    iso_status (*make)(void);
} mistakes[] = {
    {"uninitialised", uninitialised},
    {"zero-handle", zero_handle},
    {"stale-handle", stale_handle},
    {"overlap", overlap},
    {"leading-dimension", leading_dimension},
    {"outside", outside},
    {"misaligned", misaligned},
    {"mismatch", mismatch},
    {"memory-limit", memory_limit},
    {"unsupported-vendor", unsupported_vendor},
    {"keep-and-variant", keep_and_variant},
    {"type-of-c", type_of_c},
    {"fraction", fraction},
    {"no-triangle", no_triangle},
    {"group", group},
    {"no-compiler", no_compiler},
    {"compile-log", compile_log},
    {"refused-kernel", refused_kernel},
    {"forked-handle", forked_handle},
    {"forked-driver", forked_driver},
    {"stack", stack},
    {"time-limit", time_limit},
    {"lost", lost},
};

int main(int argc, char **argv)
{
    need(iso_device_open("openmp", &device));
    need(iso_stream_create(device, 0, &stream));
    args.dtype = ISO_F32;
    args.m = args.n = args.k = 8;
    need(iso_buffer_create(device, 256, &args.a.buffer));
    need(iso_buffer_create(device, 256, &args.b.buffer));
    need(iso_buffer_create(device, 256, &args.c.buffer));
    for (size_t i = 0; argc > 1 && i < sizeof mistakes / sizeof *mistakes; i++) {
        if (strcmp(argv[1], mistakes[i].name) == 0) {
            if (mistakes[i].make() != ISO_OK) {
                (void)printf("%s\n", iso_last_error());
            }
            return 0;
        }
    }
    (void)fprintf(stderr, "provoke: no such mistake\n");
    return 2;
}
