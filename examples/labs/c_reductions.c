/* SPDX-License-Identifier: Apache-2.0 */
/* c_reductions.c - lab C: what moving costs, one number out of many, limits of memory, uuids. */
#include "c_reductions.isk.h"
#include "lab.h"

enum { ITEMS = 256, REPEATS = 30, GROUPS_MOST = 1024 };
enum { PARTIALS, ATOMICS, TREE, VENDOR, WAYS };

/* Enough to fill a GPU. */
static iso_groups some_groups(int64_t n)
{
    return lab_groups(n < ITEMS * GROUPS_MOST ? n : ITEMS * GROUPS_MOST, ITEMS);
}

/* C1, C2: z = x * y, and what it costs to bring x to the device and z back. */
static void multiply(const lab *l)
{
    static const char *const what[] = {"submitting it", "on the device", "wrapping x", "writing x",
                                       "reading z"};
    const int64_t n = lab_size(l, 64 * 64, 4096 * 4096, 4096 * 4096), bytes = 4 * n;
    float *x = lab_random(ISO_F32, LAB_SEED_A, n), *z = lab_alloc(bytes);
    float *y = lab_random(ISO_F32, LAB_SEED_B, n);
    const iso_operand on_x = lab_upload(l, x, bytes), on_y = lab_upload(l, y, bytes);
    const iso_operand on_z = lab_buffer(l, bytes);
    double seconds[5][1 + REPEATS];
    void *native = x; /* a CPU wraps the host's array, a GPU memory that is there already */
    const iso_groups groups = lab_is_cpu(l) ? lab_groups(n, ITEMS) : some_groups(n);
    const iso_argument arguments[] = {iso_arg_buffer(on_x), iso_arg_buffer(on_y),
                                      iso_arg_buffer(on_z), iso_arg_integer(n)};
    const lab_launch launch = LAB_LAUNCH(l, "multiply_stride_f32", groups, arguments);
    if (strcmp(l->info.backend, "openmp") != 0) {
        OK(iso_native_get(ISO_NATIVE_MEMORY, on_x.buffer.id, &native));
    }
    for (int i = 0; i <= REPEATS; i++) { /* the first touches all memory, and does not count */
        iso_operand wrapped = {{0}, 0};
        lab_begin(l);
        double start = lab_now();
        lab_run(l, &launch);
        seconds[0][i] = lab_now() - start;
        seconds[1][i] = lab_end(l);
        start = lab_now();
        OK(iso_buffer_import(l->device, native, bytes, ISO_IMPORT_READ_ONLY, NULL, NULL,
                             &wrapped.buffer));
        seconds[2][i] = lab_now() - start;
        lab_free(wrapped);
        start = lab_now();
        OK(iso_write(l->stream, on_x, x, bytes));
        lab_sync(l);
        seconds[3][i] = lab_now() - start;
        start = lab_now();
        lab_download(l, z, on_z, bytes);
        seconds[4][i] = lab_now() - start;
    }
    for (int64_t i = 0; i < n; i++) {
        lab_check(z[i] == x[i] * y[i], "z[%lld] is %g", (long long)i, (double)z[i]);
    }
    printf("\nC1, C2. z = x * y, %lld numbers in f32 (%s each), %d times, all compared\n"
           "                             least    median      mean deviation      most\n",
           (long long)n, lab_bytes(bytes).text, REPEATS);
    for (int i = 0; i < 5; i++) {
        const lab_spread s = lab_spread_of(seconds[i] + 1, REPEATS);
        printf("  %-22s%10s%10s%10s%10s%10s\n", what[i], lab_seconds(s.low).text,
               lab_seconds(s.median).text, lab_seconds(s.mean).text, lab_seconds(s.deviation).text,
               lab_seconds(s.high).text);
    }
    printf("Look at: one write or read against the work. Submitting does not wait for it.\n");
    lab_free(on_x), lab_free(on_y), lab_free(on_z);
    free(x), free(y), free(z);
}

typedef struct numbers {
    float *x;
    int64_t n;
    double sum, size; /* of x and of its magnitudes: errors are relative to the second */
} numbers;

static numbers add_up(float *x, int64_t n)
{
    numbers v = {x, n, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        v.sum += (double)x[i];
        v.size += fabs((double)x[i]);
    }
    return v;
}

/* C3, C4: the whole sum in one group. */
static void one_group(const lab *l, const char *name, numbers v)
{
    float sum;
    const iso_operand on_x = lab_upload(l, v.x, 4 * v.n), on_sum = lab_buffer(l, 4);
    const iso_argument arguments[] = {iso_arg_buffer(on_x), iso_arg_buffer(on_sum),
                                      iso_arg_integer(v.n)};
    const lab_launch launch = LAB_LAUNCH(l, name, lab_groups(1, 1), arguments);
    const double seconds = lab_time_short(l, &launch, REPEATS).median;
    lab_download(l, &sum, on_sum, 4);
    const double error = fabs((double)sum - v.sum) / v.size;
    lab_check(error < 1e-6, "%s is off by %g", name, error);
    printf("  %-11s%9lld%14.8f%14.8f%14.8f%9.1e%10s\n", name, (long long)v.n, (double)sum, v.sum,
           v.size, error, lab_seconds(seconds).text);
    lab_free(on_x), lab_free(on_sum);
}

/* C5: one sum by one way, until the host has it. */
static double sum_by(const lab *l, int way, iso_reduce_args *args, const lab_launch *launch)
{
    static float partials[GROUPS_MOST];
    double sum = 0;
    if (way == ATOMICS) {
        OK(iso_fill(l->stream, args->result, &(float){0}, 4, 4));
    }
    if (way <= ATOMICS) {
        lab_run(l, launch);
    } else {
        OK(iso_reduce(l->stream, args));
    }
    const int64_t count = way == PARTIALS ? launch->groups.x : 1;
    lab_download(l, partials, args->result, 4 * count);
    for (int64_t i = 0; i < count; i++) {
        sum += (double)partials[i];
    }
    return sum;
}

static void many_groups(const lab *l, numbers v)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = ISO_SUM, args.dtype = ISO_F32, args.cols = v.n;
    args.x = lab_upload(l, v.x, 4 * v.n), args.result = lab_buffer(l, 4 * GROUPS_MOST);
    const iso_argument arguments[] = {iso_arg_buffer(args.x), iso_arg_buffer(args.result),
                                      iso_arg_integer(v.n)};
    double seconds[REPEATS], most = 0;
    printf("%12lld", (long long)v.n);
    for (int way = 0; way < WAYS; way++) {
        const lab_launch launch = LAB_LAUNCH(
            l, way == ATOMICS ? "sum_atomic_f32" : "sum_partials_f32", some_groups(v.n), arguments);
        args.variant = way == VENDOR ? ISO_VARIANT_VENDOR : ISO_VARIANT_TILED;
        if (way == VENDOR && (!lab_vendor(l) || iso_supports(l->device, ISO_OP_REDUCE, &args))) {
            printf("%12s", "-");
            continue;
        }
        for (int i = -1; i < REPEATS; i++) {
            const double start = lab_now();
            const double error = fabs(sum_by(l, way, &args, &launch) - v.sum) / v.size;
            seconds[i < 0 ? 0 : i] = lab_now() - start;
            lab_check(error < 1e-5, "the sum by way %d is off by %g", way, error);
            most = error > most ? error : most;
        }
        printf("%12s", lab_seconds(lab_spread_of(seconds, REPEATS).median).text);
    }
    printf("%14.1e\n", most);
    lab_free(args.x), lab_free(args.result);
}

/* C6. */
static void limits(const lab *l)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;
    iso_buffer buffer;
    options.memory_limit = 64 * MIB; /* ISOMER_MEMORY_LIMIT does it for all programs */
    OK(iso_device_open_with(l->info.spec, &options, &device));
    lab_check(iso_buffer_create(device, 65 * MIB, &buffer) == ISO_NO_MEMORY, "no refusal");
    printf("\nC6. 65 MiB where 64 MiB are allowed: refused with\n  %s\n", iso_last_error());
    OK(iso_device_close(device));
    if (!l->info.uuid[0]) {
        printf("%s has no uuid: it is chosen as ISOMER_BACKEND=%s\n", l->info.name, l->info.spec);
        return;
    }
    char spec[2 * ISO_NAME_MAX + 8];
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    (void)snprintf(spec, sizeof spec, "%s:uuid=%s", l->info.backend, l->info.uuid);
    OK(iso_device_open(spec, &device));
    OK(iso_device_get_info(device, &info));
    lab_check(!strcmp(info.uuid, l->info.uuid), "another device was opened");
    printf("By its uuid: ISOMER_BACKEND=%s opens %s, %s\n", spec, info.spec, info.name);
    OK(iso_device_close(device));
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, &c_reductions_isk);
    const int64_t most = lab_size(&l, 1 << 12, 1 << 24, 1 << 28);
    float *x = lab_random(ISO_F32, LAB_SEED_A, most);
    multiply(&l);
    printf("\nC3, C4. A sum in one group. The error is |sum - sum in f64| / sum of magnitudes\n"
           "               numbers           sum    sum in f64    magnitudes    error      time\n");
    one_group(&l, "sum_512_f32", add_up(x, 512));
    one_group(&l, "sum_192_f32", add_up(x, 192));
    printf("\nC5. A sum by many groups, until the host has it\n%12s%12s%12s%12s%12s%14s\n",
           "numbers", "partials", "atomics", "tree", "vendor", "largest error");
    for (int64_t n = 512; n <= most; n *= n == 512 ? 8 : 16) {
        many_groups(&l, add_up(x, n));
    }
    printf("Look at: how much less the times grow than the sizes. The launch and the read stay.\n");
    limits(&l);
    free(x), lab_close(&l);
    return 0;
}
