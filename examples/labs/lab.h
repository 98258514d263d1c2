/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - what the programs of all labs need: a device with a stream and the lab's kernels, clocks,
 * the inputs, and words for tables. Each program is one file that includes this one.
 */
#ifndef LAB_H
#define LAB_H

#include "numbers.h"

#include <isomer/isomer.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* ---- Errors ---------------------------------------------------------------------------------- */

/* exit() may be called by one thread only; the ranks of ranks.h are several. */
static inline void lab_quit(void)
{
    (void)fflush(NULL);
    _Exit(1);
}

/* Ends the program with a message. Every call of the library returns a status; OK(call) looks at
 * it. */
#define OK(call) lab_ok((call), __FILE__, __LINE__)

static inline void lab_ok(iso_status status, const char *file, int line)
{
    if (status != ISO_OK) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s:%d: %s\n", file, line, iso_last_error());
        lab_quit();
    }
}

/* Ends the program if a result is not what it should be. */
ISO_PRINTF(2, 3) static inline void lab_check(bool right, const char *format, ...)
{
    if (!right) {
        va_list words;
        va_start(words, format);
        (void)fflush(stdout);
        flockfile(stderr);
        (void)fprintf(stderr, "WRONG: ");
        (void)vfprintf(stderr, format, words);
        (void)fprintf(stderr, "\n");
        funlockfile(stderr);
        va_end(words);
        lab_quit();
    }
}

/* Zeros. */
static inline void *lab_alloc(int64_t bytes)
{
    void *made = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    lab_check(made, "this computer has no memory for %lld bytes", (long long)bytes);
    return made;
}

/* ---- A device, a stream, kernels ------------------------------------------------------------- */

typedef struct lab {
    iso_device device;
    iso_stream stream;   /* runs what it is given one after another */
    iso_program program; /* the lab's kernels; unset if it has none */
    iso_event begin, end;
    iso_device_info info;
    bool small; /* --small: sizes for a test */
    bool gpu;   /* the sizes of the lab; a CPU takes smaller ones */
} lab;

/* Opens the device that `spec` names; NULL: that of ISOMER_BACKEND, or the best one. */
static inline lab lab_open_device(const char *spec, const iso_embedded *kernels)
{
    lab l = {.info = ISO_DEVICE_INFO_INIT};
    OK(iso_device_open(spec, &l.device));
    OK(iso_device_get_info(l.device, &l.info));
    OK(iso_stream_create(l.device, 0, &l.stream));
    OK(iso_event_create(l.device, &l.begin));
    OK(iso_event_create(l.device, &l.end));
    if (kernels) {
        iso_program_args args = ISO_PROGRAM_ARGS_INIT;
        args.embedded = kernels;
        OK(iso_program_create(l.device, &args, &l.program));
    }
    l.gpu = l.info.type == ISO_DEVICE_GPU &&
            !(l.info.features & (ISO_FEATURE_FAKE | ISO_FEATURE_SIMULATED));
    return l;
}

/* Reads the options, opens the device and says which one it is. */
static inline lab lab_open(int count, char **words, const iso_embedded *kernels)
{
    const bool small = count == 2 && strcmp(words[1], "--small") == 0;
    if (count > 1 && !small) {
        (void)fprintf(stderr,
                      "usage: %s [--small]\n"
                      "  --small        small sizes, to see whether it works\n"
                      "  ISOMER_BACKEND the device: cuda, hip, opencl or openmp (the CPU)\n",
                      words[0]);
        exit(2);
    }
    lab l = lab_open_device(NULL, kernels);
    l.small = small;
    printf("Device %s: %s\n", l.info.spec, l.info.name);
    if (l.info.features & (ISO_FEATURE_FAKE | ISO_FEATURE_SIMULATED)) {
        printf("It is a stand-in for tests: the results are right, but its times mean nothing.\n");
    }
    return l;
}

static inline void lab_close(lab *l)
{
    OK(iso_device_close(l->device)); /* with everything that belongs to it */
}

static inline bool lab_is_cpu(const lab *l)
{
    return l->info.type == ISO_DEVICE_CPU;
}

/* Whether to run the vendor's library. For an OpenCL device that is a CPU it compiles its own
 * kernels for many seconds, which --small leaves out. */
static inline bool lab_vendor(const lab *l)
{
    return !(l->small && lab_is_cpu(l) && strcmp(l->info.backend, "opencl") == 0);
}

/* One of three sizes: for a test, for a CPU, for a GPU. */
static inline int64_t lab_size(const lab *l, int64_t small, int64_t cpu, int64_t gpu)
{
    return l->small ? small : l->gpu ? gpu : cpu;
}

static inline iso_kernel lab_kernel(const lab *l, const char *name)
{
    iso_kernel kernel;
    OK(iso_kernel_get(l->program, name, &kernel));
    return kernel;
}

static inline iso_operand lab_buffer(const lab *l, int64_t bytes)
{
    iso_operand made = {{0}, 0};
    OK(iso_buffer_create(l->device, bytes, &made.buffer));
    return made;
}

static inline void lab_free(iso_operand memory)
{
    OK(iso_buffer_destroy(memory.buffer));
}

/* A buffer with the host's data. */
static inline iso_operand lab_upload(const lab *l, const void *from, int64_t bytes)
{
    const iso_operand made = lab_buffer(l, bytes);
    OK(iso_write(l->stream, made, from, bytes));
    OK(iso_stream_sync(l->stream));
    return made;
}

static inline void lab_download(const lab *l, void *to, iso_operand from, int64_t bytes)
{
    OK(iso_read(l->stream, to, from, bytes));
    OK(iso_stream_sync(l->stream));
}

static inline void lab_sync(const lab *l)
{
    OK(iso_stream_sync(l->stream));
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* Seconds on the host's clock. */
static inline double lab_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What lies between these two is timed on the device's own clock. The second waits for it. */
static inline void lab_begin(const lab *l)
{
    OK(iso_event_record(l->begin, l->stream));
}

static inline double lab_end(const lab *l)
{
    int64_t nanoseconds;
    OK(iso_event_record(l->end, l->stream));
    OK(iso_event_sync(l->end));
    OK(iso_event_elapsed(l->begin, l->end, &nanoseconds));
    return 1e-9 * (double)nanoseconds;
}

/* Statistics of repeated measurements. */
typedef struct lab_spread {
    double median, mean, deviation, low, high;
} lab_spread;

static inline int lab_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples. */
static inline lab_spread lab_spread_of(double *samples, int count)
{
    lab_spread s = {0};
    double squares = 0;
    qsort(samples, (size_t)count, sizeof *samples, lab_compare);
    for (int i = 0; i < count; i++) {
        s.mean += samples[i] / count;
    }
    for (int i = 0; i < count; i++) {
        squares += (samples[i] - s.mean) * (samples[i] - s.mean);
    }
    s.median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
    s.deviation = count > 1 ? sqrt(squares / (count - 1)) : 0;
    s.low = samples[0];
    s.high = samples[count - 1];
    return s;
}

/* ---- Timing a launch or an operation of the library ------------------------------------------ */

enum { LAB_REPEATS = 100 }; /* the most */

/* A launch, with its arguments. */
typedef struct lab_launch {
    iso_kernel kernel;
    iso_groups groups;
    const iso_argument *arguments;
    int32_t count;
} lab_launch;

/* The arguments are an array. */
#define LAB_LAUNCH(lab, name, groups, arguments)                                                   \
    ((lab_launch){lab_kernel(lab, name), groups, arguments,                                        \
                  (int32_t)(sizeof(arguments) / sizeof *(arguments))})

static inline void lab_run(const lab *l, const lab_launch *launch)
{
    OK(iso_launch(l->stream, launch->kernel, launch->groups, launch->arguments, launch->count));
}

/* Seconds on the device. The first run is not counted: it finds caches empty. */
static inline lab_spread lab_time(const lab *l, const lab_launch *launch, int repeats)
{
    double seconds[LAB_REPEATS] = {0};
    lab_run(l, launch);
    for (int i = 0; i < repeats; i++) {
        lab_begin(l);
        lab_run(l, launch);
        seconds[i] = lab_end(l);
    }
    return lab_spread_of(seconds, repeats);
}

/* The same for a launch that takes less time than to submit it. The device is kept busy meanwhile:
 * otherwise it would wait for the host, and that is what would be measured. */
static inline lab_spread lab_time_short(const lab *l, const lab_launch *launch, int repeats)
{
    const int64_t bytes = lab_size(l, 16 * MIB, 16 * MIB, 256 * MIB);
    const iso_operand other = lab_buffer(l, bytes);
    double seconds[LAB_REPEATS] = {0};
    for (int i = -1; i < repeats; i++) {
        OK(iso_fill(l->stream, other, "", 1, bytes));
        lab_begin(l);
        lab_run(l, launch);
        seconds[i < 0 ? 0 : i] = lab_end(l);
    }
    lab_free(other);
    return lab_spread_of(seconds, repeats);
}

static inline lab_spread lab_time_op(const lab *l, iso_op_kind kind, const void *args, int repeats)
{
    double seconds[LAB_REPEATS] = {0};
    OK(iso_execute(l->stream, kind, args));
    for (int i = 0; i < repeats; i++) {
        lab_begin(l);
        OK(iso_execute(l->stream, kind, args));
        seconds[i] = lab_end(l);
    }
    return lab_spread_of(seconds, repeats);
}

/* Groups of edge x edge items for one item an element of a matrix. */
static inline iso_groups lab_groups_2(int64_t cols, int64_t rows, int64_t edge)
{
    return (iso_groups){(cols + edge - 1) / edge, (rows + edge - 1) / edge, 1};
}

/* Groups of `items` along x for n items. */
static inline iso_groups lab_groups(int64_t n, int64_t items)
{
    return (iso_groups){(n + items - 1) / items, 1, 1};
}

/* ---- Inputs: of the numbers of numbers.h ----------------------------------------------------- */

/* Whether a sparse matrix has an element there; its value is lab_uniform(seed + 1, i * cols + j).
 */
static inline bool lab_present(uint64_t seed, int64_t cols, int64_t i, int64_t j, double density)
{
    return (double)(lab_bits(seed, i * cols + j) >> 11) * 0x1p-53 < density;
}

enum { LAB_SEED_A = 1, LAB_SEED_B = 2, LAB_SEED_SPARSE = 3, LAB_SEED_RIGHT = 5 };

/* Element i of an array of either type. */
static inline double lab_get(const void *array, iso_dtype dtype, int64_t i)
{
    return dtype == ISO_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static inline void lab_set(void *array, iso_dtype dtype, int64_t i, double value)
{
    if (dtype == ISO_F64) {
        ((double *)array)[i] = value;
    } else {
        ((float *)array)[i] = (float)value;
    }
}

/* An array on the host with the numbers of a seed. */
static inline void *lab_random(iso_dtype dtype, uint64_t seed, int64_t count)
{
    void *made = lab_alloc(count * iso_dtype_size(dtype));
    for (int64_t i = 0; i < count; i++) {
        lab_set(made, dtype, i, lab_uniform(seed, i));
    }
    return made;
}

/* The number of TF32 that is nearest: 8 bits of exponent as f32, but 10 bits of mantissa, not 23.
 */
static inline float lab_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0xfffu + (bits >> 13 & 1); /* to the nearest, ties to even */
    bits &= ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Some rows of a product, computed on the host in f64: all rows would take long there. */
typedef struct lab_rows {
    int64_t count, m, n;
    double *right; /* count x n */
} lab_rows;

static inline int64_t lab_row(const lab_rows *r, int64_t index)
{
    return index * r->m / r->count;
}

/* Of a * b, where a is m x k and b is k x n. */
static inline lab_rows lab_product(const void *a, const void *b, iso_dtype dtype, int64_t m,
                                   int64_t n, int64_t k)
{
    lab_rows r = {.count = m < 64 ? m : 64, .m = m, .n = n};
    double *line = lab_alloc(n * (int64_t)sizeof *line);
    r.right = lab_alloc(r.count * n * (int64_t)sizeof *r.right);
    for (int64_t l = 0; l < k; l++) {
        for (int64_t j = 0; j < n; j++) {
            line[j] = lab_get(b, dtype, l * n + j);
        }
        for (int64_t index = 0; index < r.count; index++) {
            const double left = lab_get(a, dtype, lab_row(&r, index) * k + l);
            double *to = r.right + index * n;
            for (int64_t j = 0; j < n; j++) {
                to[j] += left * line[j];
            }
        }
    }
    free(line);
    return r;
}

/* How far the matrix c is from these rows: the sum of |c - right| over the sum of |right|. */
static inline double lab_error(const lab_rows *r, const void *c, iso_dtype dtype)
{
    double off = 0, size = 0;
    for (int64_t index = 0; index < r->count; index++) {
        for (int64_t j = 0; j < r->n; j++) {
            const double right = r->right[index * r->n + j];
            off += fabs(lab_get(c, dtype, lab_row(r, index) * r->n + j) - right);
            size += fabs(right);
        }
    }
    return size > 0 ? off / size : off;
}

/* Seconds that the CPU takes for a product of square matrices, without copies, by its best variant;
 * 0 if the device is that CPU. */
static inline double lab_cpu_product(const lab *l, iso_gemm_args args, const void *a, const void *b)
{
    const int64_t bytes = args.n * args.n * iso_dtype_size(args.dtype);
    if (strcmp(l->info.backend, "openmp") == 0) {
        return 0;
    }
    lab cpu = lab_open_device("openmp", NULL);
    args.a = lab_upload(&cpu, a, bytes), args.b = lab_upload(&cpu, b, bytes);
    args.c = lab_buffer(&cpu, bytes);
    const double seconds = lab_time_op(&cpu, ISO_OP_GEMM, &args, 3).median;
    lab_close(&cpu);
    return seconds;
}

/* ---- Words for tables ------------------------------------------------------------------------ */

typedef struct lab_word {
    char text[32];
} lab_word;

/* A number with three digits and the prefix that suits it: 1.23 m, 45.6 G. */
static inline lab_word lab_scaled(double value, const char *unit)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
    lab_word word;
    int at = 3;
    while (value != 0 && fabs(value) < 0.9995 && at > 0) {
        value *= 1000;
        at--;
    }
    while (fabs(value) >= 999.5 && at < 8) {
        value /= 1000;
        at++;
    }
    const int digits = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    (void)snprintf(word.text, sizeof word.text, "%.*f %s%s", digits, value, prefixes[at], unit);
    return word;
}

/* printf("%10s", lab_seconds(t).text) */
static inline lab_word lab_seconds(double seconds)
{
    return lab_scaled(seconds, "s");
}

static inline lab_word lab_rate(double work, double seconds, const char *unit)
{
    return lab_scaled(seconds > 0 ? work / seconds : 0, unit);
}

static inline lab_word lab_bytes(int64_t bytes)
{
    lab_word word;
    const char *const unit = bytes >= GIB ? "GiB" : bytes >= MIB ? "MiB" : "KiB";
    const double scale = (double)(bytes >= GIB ? GIB : bytes >= MIB ? MIB : KIB);
    (void)snprintf(word.text, sizeof word.text, "%.4g %s", (double)bytes / scale, unit);
    return word;
}

#endif
