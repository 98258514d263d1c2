/* SPDX-License-Identifier: Apache-2.0 */
/* e_first.c - lab E: first kernels. A vector add and matrix-vector products: what a launch and a
 * transfer cost, and how near a kernel comes to what the device can do. */
#include "e_first.isk.h"
#include "lab.h"

enum { ITEMS = 256, REPEATS = 5 };

typedef struct roofs {
    double bytes, flops; /* a second, when the device only copies, or only computes */
} roofs;

static roofs measure_roofs(const lab *l)
{
    const int64_t n = lab_size(l, 1 << 14, 1 << 24, 1 << 28);
    iso_map_args map = ISO_MAP_ARGS_INIT;
    roofs r;
    map.op = ISO_MAP_COPY, map.dtype = ISO_F64, map.n = n;
    map.x = lab_buffer(l, 8 * n), map.z = lab_buffer(l, 8 * n);
    OK(iso_fill(l->stream, map.x, &(double){1}, 8, 8 * n));
    r.bytes = 16.0 * (double)n / lab_time_op(l, ISO_OP_MAP, &map, REPEATS).median;
    map.op = ISO_MAP_CHAIN, map.alpha = map.beta = 0.5;
    map.n = n / 16, map.steps = lab_size(l, 16, 256, 4096);
    r.flops = 2.0 * (double)(map.n * map.steps) / lab_time_op(l, ISO_OP_MAP, &map, REPEATS).median;
    lab_free(map.x), lab_free(map.z);
    return r;
}

/* The roof of a kernel is the lower one of two: the operations that the device can do, and those
 * for which it can bring the bytes. */
static void roofline(const char *name, double flops, double bytes, double seconds, roofs r)
{
    const double of_memory = flops / bytes * r.bytes;
    const double roof = of_memory < r.flops ? of_memory : r.flops;
    printf("%-22.22s%11s%12s%14s%12.3f%8.0f%%  %s\n", name, lab_seconds(seconds).text,
           lab_rate(bytes, seconds, "B/s").text, lab_rate(flops, seconds, "FLOP/s").text,
           flops / bytes, 100 * flops / seconds / roof,
           of_memory < r.flops ? "memory" : "arithmetic");
}

/* E2 and E1: z = x + y. */
static void add(const lab *l, roofs r, double compile)
{
    const int64_t n = lab_size(l, 100000, 20000000, 200000000), bytes = 8 * n;
    double *x = lab_random(ISO_F64, LAB_SEED_A, n), *y = lab_random(ISO_F64, LAB_SEED_B, n);
    double *z = lab_alloc(bytes), submit[REPEATS], done[REPEATS], first = 0;
    const iso_operand on_x = lab_upload(l, x, bytes), on_y = lab_upload(l, y, bytes);
    const iso_operand on_z = lab_buffer(l, bytes);
    iso_argument arguments[] = {iso_arg_buffer(on_x), iso_arg_buffer(on_y), iso_arg_buffer(on_z),
                                iso_arg_integer(n)};
    lab_launch launch = LAB_LAUNCH(l, "add_f64", lab_groups(n, ITEMS), arguments);
    for (int i = 0; i < REPEATS; i++) {
        const double start = lab_now();
        lab_run(l, &launch);
        submit[i] = lab_now() - start;
        lab_sync(l);
        done[i] = lab_now() - start;
        first = i == 0 ? done[i] : first;
    }
    lab_download(l, z, on_z, bytes);
    for (int64_t i = 0; i < n; i++) {
        lab_check(z[i] == x[i] + y[i], "z[%lld] is %g, not the sum", (long long)i, z[i]);
    }
    const double kernel = lab_time(l, &launch, REPEATS).median;
    arguments[3] = iso_arg_integer(1000); /* nearly no work */
    launch.groups = lab_groups(1000, ITEMS);
    const double few = lab_time(l, &launch, REPEATS).median;
    printf("\nE2. z = x + y, %lld numbers in f64 (every z was compared)\n", (long long)n);
    printf("  compiling the kernels, once%9s\n", lab_seconds(compile).text);
    printf("  the first call until done  %9s\n", lab_seconds(first).text);
    printf("  a later call until done    %9s\n",
           lab_seconds(lab_spread_of(done, REPEATS).median).text);
    printf("  a later call to submit     %9s\n",
           lab_seconds(lab_spread_of(submit, REPEATS).median).text);
    printf("  a later call on the device %9s\n", lab_seconds(kernel).text);
    printf("Look at: what the first call costs more, and that submitting does not wait.\n");
    printf("\nE1, E4, E5. Kernels in f64. Measured now: copying %s, multiplying and adding %s\n",
           lab_scaled(r.bytes, "B/s").text, lab_scaled(r.flops, "FLOP/s").text);
    printf("%-22s%11s%12s%14s%12s%9s  %s\n", "", "on device", "bytes", "operations", "FLOP/byte",
           "of roof", "the roof is");
    roofline("add, 1000", 1000, 24000, few, r);
    roofline("add", (double)n, 24.0 * (double)n, kernel, r);
    lab_free(on_x), lab_free(on_y), lab_free(on_z);
    free(x), free(y), free(z);
}

static void compare(const lab *l, const char *name, iso_operand y, double *right, int64_t n)
{
    const lab_rows rows = {1, 1, n, right};
    double *got = lab_alloc(8 * n);
    lab_download(l, got, y, 8 * n);
    const double error = lab_error(&rows, got, ISO_F64);
    lab_check(error < 1e-12, "%s is off by %g", name, error);
    free(got);
}

/* E4: y = 1.5 A x. Read column by column, the same numbers are another matrix: A transposed. */
static void products(const lab *l, roofs r)
{
    static const char *const names[] = {"gemv_rows_f64", "gemv_columns_f64", "gemv_shared_f64"};
    const int64_t n = lab_size(l, 300, 4096, 16384), bytes = 8 * n * n;
    const double flops = 2.0 * (double)(n * n), moved = (double)bytes;
    double *a = lab_random(ISO_F64, LAB_SEED_A, n * n), *x = lab_random(ISO_F64, LAB_SEED_B, n);
    double *right[2] = {lab_alloc(8 * n), lab_alloc(8 * n)}, seconds;
    for (int64_t i = 0; i < n * n; i++) {
        right[0][i / n] += 1.5 * a[i] * x[i % n];
        right[1][i % n] += 1.5 * a[i] * x[i / n];
    }
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    args.dtype = ISO_F64, args.m = args.k = n, args.alpha = 1.5;
    args.a = lab_upload(l, a, bytes), args.x = lab_upload(l, x, 8 * n);
    args.y = lab_upload(l, x, 8 * n);
    for (int way = 0; way < 3; way++) {
        const iso_argument arguments[] = {iso_arg_float(1.5),     iso_arg_buffer(args.a),
                                          iso_arg_buffer(args.x), iso_arg_float(0),
                                          iso_arg_buffer(args.y), iso_arg_integer(n),
                                          iso_arg_integer(n)};
        const lab_launch launch = LAB_LAUNCH(l, names[way], lab_groups(n, ITEMS), arguments);
        seconds = lab_time(l, &launch, REPEATS).median;
        compare(l, names[way], args.y, right[way > 0], n);
        roofline(names[way], flops, moved, seconds, r);
    }
    for (int v = 0; v < (lab_vendor(l) ? 2 : 1); v++) {
        args.variant = v == 0 ? ISO_VARIANT_TILED : ISO_VARIANT_VENDOR;
        if (iso_describe(l->device, ISO_OP_GEMV, &args, &info)) {
            printf("vendor: %s\n", iso_last_error());
            continue;
        }
        seconds = lab_time_op(l, ISO_OP_GEMV, &args, REPEATS).median;
        compare(l, info.library, args.y, right[0], n);
        roofline(v == 0 ? "iso_gemv, tiled" : info.library, flops, moved, seconds, r);
    }
    printf("N is %lld.\nLook at: rows against columns. Which order do neighbours read in?\n",
           (long long)n);
    free(a), free(x), free(right[0]), free(right[1]);
}

/* E3. */
static void transfers(const lab *l)
{
    const int64_t most = lab_size(l, MIB, 256 * MIB, 4 * GIB);
    void *pageable = lab_alloc(most), *pinned;
    int32_t is_pinned;
    OK(iso_host_alloc(l->device, most, &pinned, &is_pinned));
    memset(pageable, 1, (size_t)most);
    memset(pinned, 1, (size_t)most);
    printf("\nE3. Transfers\n%10s%15s%15s%15s%15s%12s\n", "", "write", "read", "write pinned",
           "read pinned", "allocate");
    for (int64_t bytes = KIB; bytes <= most; bytes *= bytes < MIB ? 32 : 16) {
        double seconds[5][REPEATS];
        for (int i = 0; i < REPEATS; i++) {
            double start = lab_now();
            const iso_operand buffer = lab_buffer(l, bytes);
            seconds[4][i] = lab_now() - start;
            OK(iso_write(l->stream, buffer, pageable, bytes)); /* first use */
            for (int way = 0; way < 4; way++) {
                void *const host = way < 2 ? pageable : pinned;
                lab_sync(l);
                start = lab_now();
                OK(way % 2 ? iso_read(l->stream, host, buffer, bytes)
                           : iso_write(l->stream, buffer, host, bytes));
                lab_sync(l);
                seconds[way][i] = lab_now() - start;
            }
            lab_free(buffer);
        }
        printf("%10s", lab_bytes(bytes).text);
        for (int way = 0; way < 4; way++) {
            printf(
                "%15s",
                lab_rate((double)bytes, lab_spread_of(seconds[way], REPEATS).median, "B/s").text);
        }
        printf("%12s\n", lab_seconds(lab_spread_of(seconds[4], REPEATS).median).text);
    }
    printf("%sLook at: from which size on the rate stays the same.\n",
           is_pinned ? "" : "Here pinned memory is ordinary memory. ");
    OK(iso_host_free(l->device, pinned));
    free(pageable);
}

int main(int count, char **words)
{
    lab l = lab_open(count, words, NULL);
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.embedded = &e_first_isk;
    const double start = lab_now();
    OK(iso_program_create(l.device, &args, &l.program));
    const double compile = lab_now() - start;
    const roofs r = measure_roofs(&l);
    add(&l, r, compile);
    products(&l, r);
    transfers(&l);
    printf("\nE6. %s\n", getenv("ISOMER_TRACE")
                             ? "The time line is written: open the file at ui.perfetto.dev."
                             : "ISOMER_TRACE=trace.json before the command writes a time line.");
    lab_close(&l);
    return 0;
}
