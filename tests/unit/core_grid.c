/* SPDX-License-Identifier: Apache-2.0 */
/* core_grid.c - products over grids of CPU ranks have the bits of one device, in device memory and
 * through blocks of host memory; and what is refused. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) /* it sees no order; the other programs look for it */
enum { TURNS = 2, SIDE = 40 };
#elif defined(TEST_THREAD_SANITIZER) /* it sees what is not ordered also if it does not meet */
enum { TURNS = 4, SIDE = 60 };
#else
enum { TURNS = 12, SIDE = 100 };
#endif
enum { RANKS_MOST = 6 };

/* A product, and the three matrices on the host. */
typedef struct problem {
    int32_t rows, cols; /* of the grid */
    iso_gemm_grid_args args;
    bool host;  /* parts in host memory */
    bool twice; /* in f64, one with twice the factor comes before, on a stream of its own */
    char *matrix[3], *result;
    int wrong; /* elements of that one which are not twice as large */
} problem;

typedef struct seat {
    problem *of;
    int rank;
    iso_device device;
    iso_comm comm;
    iso_status status;
    char text[512];
} seat;

static void layouts(const iso_gemm_grid_args *args, iso_grid_layout out[3])
{
    const int64_t rows[] = {args->m, args->k, args->m}, cols[] = {args->k, args->n, args->n};
    const int64_t row_blocks[] = {args->block_m, args->block_k, args->block_m};
    const int64_t col_blocks[] = {args->block_k, args->block_n, args->block_n};

    for (int i = 0; i < 3; i++) {
        out[i] = (iso_grid_layout)ISO_GRID_LAYOUT_INIT;
        out[i].dtype = args->dtype;
        out[i].rows = rows[i];
        out[i].cols = cols[i];
        out[i].block_rows = row_blocks[i];
        out[i].block_cols = col_blocks[i];
    }
}

#define STEP(expression)                                                                           \
    if (!status) {                                                                                 \
        status = (expression);                                                                     \
    }

/* Two products on two streams, several times: that they meet depends on the time. */
static iso_status run_twice(seat *self, iso_grid grid, iso_stream stream, iso_grid_layout layout,
                            const iso_gemm_grid_args *args)
{
    const size_t count = (size_t)(args->m * args->n);
    double *large = malloc(count * sizeof *large), *small = malloc(count * sizeof *small);
    iso_gemm_grid_args before = *args;
    iso_stream other = {0};
    iso_status status = iso_stream_create(self->device, 0, &other);

    before.alpha *= 2;
    STEP(iso_buffer_create(self->device, (int64_t)(count * sizeof *large), &before.c.buffer));
    for (int turn = 0; turn < TURNS; turn++) {
        STEP(iso_gemm_grid(grid, other, &before));
        STEP(iso_gemm_grid(grid, stream, args));
        STEP(iso_stream_sync(stream));
        STEP(iso_stream_sync(other));
        STEP(iso_grid_gather(grid, &layout, 0, large, 0, before.c, NULL));
        STEP(iso_grid_gather(grid, &layout, 0, small, 0, args->c, NULL));
        for (size_t i = 0; i < count && !status && self->rank == 0; i++) {
            self->of->wrong += large[i] != 2 * small[i];
        }
    }
    free(large);
    free(small);
    return status;
}

/* What a rank does: gets its parts, multiplies, gives its part of C back. */
static iso_status work(seat *self)
{
    const problem *of = self->of;
    const int64_t element = iso_dtype_size(of->args.dtype);
    iso_gemm_grid_args args = of->args;
    iso_grid_layout layout[3];
    iso_buffer buffer[3] = {{0}};
    void *host[3] = {NULL};
    iso_stream stream = {0};
    iso_grid grid = {0};
    iso_status status = iso_stream_create(self->device, 0, &stream);

    layouts(&of->args, layout);
    STEP(iso_grid_create(self->comm, of->rows, of->cols, &grid));
    for (int i = 0; i < 3; i++) {
        int64_t rows = 0, cols = 0;

        STEP(iso_grid_part(grid, &layout[i], -1, &rows, &cols));
        if (rows > 0 && cols > 0) { /* an empty part needs no buffer */
            STEP(iso_buffer_create(self->device, rows * cols * element, &buffer[i]));
        }
        host[i] = of->host ? malloc((size_t)(rows * cols * element + 1)) : NULL;
        STEP(iso_grid_scatter(grid, &layout[i], 0, of->matrix[i], 0, (iso_operand){buffer[i], 0},
                              host[i]));
    }
    args.a.buffer = buffer[0];
    args.b.buffer = buffer[1];
    args.c.buffer = buffer[2];
    args.a_host = host[0];
    args.b_host = host[1];
    args.c_host = host[2];
    if (of->twice) {
        STEP(run_twice(self, grid, stream, layout[2], &args));
    }
    STEP(iso_gemm_grid(grid, stream, &args));
    STEP(iso_stream_sync(stream));
    STEP(iso_grid_gather(grid, &layout[2], 0, of->result, 0, args.c, host[2]));
    for (int i = 0; i < 3; i++) {
        free(host[i]);
    }
    return status; /* the objects go with the device */
}

static void *run_seat(void *argument)
{
    seat *self = argument;

    self->status = work(self);
    snprintf(self->text, sizeof self->text, "%s", iso_last_error());
    return NULL;
}

/* Returns the status of the first rank that failed, or ISO_OK. */
static iso_status run_grid(problem *of, char text[512])
{
    const int32_t ranks = of->rows * of->cols;
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_device device[RANKS_MOST];
    iso_comm comm[RANKS_MOST];
    pthread_t thread[RANKS_MOST];
    seat seats[RANKS_MOST];
    iso_status status = ISO_OK;

    options.timeout_nanoseconds = INT64_C(20000000000);
    for (int i = 0; i < ranks; i++) {
        works(iso_device_open("openmp", &device[i]));
    }
    works(iso_comm_create(device, ranks, &options, comm));
    for (int i = 0; i < ranks; i++) {
        seats[i] = (seat){.of = of, .rank = i, .device = device[i], .comm = comm[i]};
        assert_int_equal(pthread_create(&thread[i], NULL, run_seat, &seats[i]), 0);
    }
    for (int i = 0; i < ranks; i++) {
        (void)pthread_join(thread[i], NULL);
        if (seats[i].status && !status) {
            status = seats[i].status;
            snprintf(text, 512, "%s", seats[i].text);
        }
    }
    for (int i = 0; i < ranks; i++) {
        (void)iso_device_close(device[i]);
    }
    return status;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static uint64_t random_state = 1;

static int64_t draw(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(random_state >> 33) % below;
}

static char *random_matrix(iso_dtype dtype, int64_t count)
{
    char *out = malloc((size_t)(count * iso_dtype_size(dtype) + 1));

    for (int64_t i = 0; i < count; i++) {
        const double value = (double)(draw(1 << 20) - (1 << 19)) / (1 << 17);

        if (dtype == ISO_F32) {
            ((float *)(void *)out)[i] = (float)value;
        } else {
            ((double *)(void *)out)[i] = value;
        }
    }
    return out;
}

/* The same product on one device. */
static void run_one(const problem *of, char *result)
{
    const iso_gemm_grid_args *from = &of->args;
    const int64_t element = iso_dtype_size(from->dtype);
    const int64_t bytes[] = {from->m * from->k * element, from->k * from->n * element,
                             from->m * from->n * element};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_buffer buffer[3];
    iso_device device;
    iso_stream stream;

    works(iso_device_open("openmp", &device));
    works(iso_stream_create(device, 0, &stream));
    for (int i = 0; i < 3; i++) {
        works(iso_buffer_create(device, bytes[i], &buffer[i]));
        works(iso_write(stream, (iso_operand){buffer[i], 0}, of->matrix[i], bytes[i]));
    }
    args.dtype = from->dtype;
    args.variant = from->variant;
    args.m = from->m;
    args.n = from->n;
    args.k = from->k;
    args.alpha = from->alpha;
    args.beta = from->beta;
    args.a.buffer = buffer[0];
    args.b.buffer = buffer[1];
    args.c.buffer = buffer[2];
    works(iso_gemm(stream, &args));
    works(iso_read(stream, result, args.c, bytes[2]));
    works(iso_stream_sync(stream));
    works(iso_device_close(device));
}

static void compare(problem *of)
{
    const iso_gemm_grid_args *args = &of->args;
    const size_t bytes = (size_t)(args->m * args->n * iso_dtype_size(args->dtype));
    char *want = malloc(bytes), text[512];

    of->matrix[0] = random_matrix(args->dtype, args->m * args->k);
    of->matrix[1] = random_matrix(args->dtype, args->k * args->n);
    of->matrix[2] = random_matrix(args->dtype, args->m * args->n);
    of->result = malloc(bytes);
    run_one(of, want);
    if (run_grid(of, text)) {
        fail_msg("%s", text);
    }
    if (memcmp(of->result, want, bytes) != 0) {
        fail_msg("%s %s %dx%d m %d n %d k %d blocks %d %d %d alpha %g beta %g host %d memory %d",
                 iso_dtype_name(args->dtype), iso_variant_name(args->variant), of->rows, of->cols,
                 (int)args->m, (int)args->n, (int)args->k, (int)args->block_m, (int)args->block_n,
                 (int)args->block_k, args->alpha, args->beta, of->host, (int)args->memory);
    }
    assert_int_equal(of->wrong, 0);
    for (int i = 0; i < 3; i++) {
        free(of->matrix[i]);
    }
    free(of->result);
    free(want);
}

static problem random_problem(int32_t rows, int32_t cols, iso_variant variant, bool host)
{
    problem of = {.rows = rows, .cols = cols, .host = host};
    iso_gemm_grid_args *args = &of.args;

    *args = (iso_gemm_grid_args)ISO_GEMM_GRID_ARGS_INIT;
    args->dtype = draw(2) ? ISO_F64 : ISO_F32;
    args->variant = variant;
    args->m = 1 + draw(70);
    args->n = 1 + draw(70);
    args->k = 1 + draw(3500);
    args->block_m = 1 + draw(40);
    args->block_n = 1 + draw(60);
    args->block_k = draw(3) ? 1024 : 4096;
    if (draw(3)) {
        args->alpha = 1.5;
        args->beta = -0.7;
    }
    /* Room for panels of few rows: C passes in several blocks. */
    args->memory = host ? args->block_k * 8 * 40 : 0;
    return of;
}

static void same_bits(void **state)
{
    static const int32_t grids[][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {2, 2}, {2, 3}};
    static const iso_variant variants[] = {ISO_VARIANT_TILED, ISO_VARIANT_FIXED};

    (void)state;
    for (int g = 0; g < 6; g++) {
        for (int i = 0; i < 4; i++) {
            problem of = random_problem(grids[g][0], grids[g][1], variants[i / 2], i % 2);

            compare(&of);
        }
    }
}

static void edges(void **state)
{
    static const int64_t sizes[][3] = {{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {1, 1, 1}, {2, 3, 1024}};

    (void)state;
    for (int i = 0; i < 5; i++) {
        for (int zero = 0; zero < 2; zero++) {
            problem of = random_problem(2, 2, ISO_VARIANT_TILED, i % 2);

            of.args.m = sizes[i][0];
            of.args.n = sizes[i][1];
            of.args.k = sizes[i][2];
            of.args.alpha = zero ? 0 : 2;
            compare(&of);
        }
    }
}

/* Products of one grid share its memory, whatever their streams. */
static void two_streams(void **state)
{
    static const iso_variant variants[] = {ISO_VARIANT_TILED, ISO_VARIANT_FIXED};

    (void)state;
    for (int i = 0; i < 4; i++) {
        problem of = random_problem(1, 1 + i / 2, variants[i % 2], false);

        of.twice = true;
        of.args.dtype = ISO_F64;
        of.args.m = of.args.n = SIDE;
        of.args.k = 3 * 1024;
        of.args.block_k = 1024;
        of.args.alpha = 1.5;
        of.args.beta = 0;
        compare(&of);
    }
}

/* The memory of a product counts as free for the next one. */
static void memory_is_used_again(void **state)
{
    enum { N = 60, K = 2 * 1024, LIMIT = 600000 };
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_gemm_grid_args args = ISO_GEMM_GRID_ARGS_INIT;
    char *matrix = random_matrix(ISO_F64, N * K), *c = random_matrix(ISO_F64, N * N);
    int64_t used = 0;
    iso_device device;
    iso_stream stream;
    iso_comm comm;
    iso_grid grid;

    (void)state;
    options.memory_limit = LIMIT;
    works(iso_device_open_with("openmp", &options, &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_comm_create(&device, 1, NULL, &comm));
    works(iso_grid_create(comm, 1, 1, &grid));
    args.dtype = ISO_F64;
    args.m = args.n = N;
    args.k = K;
    args.block_m = args.block_n = N;
    args.block_k = 1024;
    args.a_host = args.b_host = matrix;
    args.c_host = c;
    for (int i = 0; i < 4; i++) {
        iso_memory_use use = ISO_MEMORY_USE_INIT;

        /* Other buffers are needed every second time. */
        args.variant = i % 2 ? ISO_VARIANT_FIXED : ISO_VARIANT_TILED;
        works(iso_gemm_grid(grid, stream, &args));
        works(iso_device_get_memory_use(device, &use));
        assert_true(use.used > LIMIT / 4);
        if (i % 2 == 0) {
            assert_true(!used || used == use.used);
            used = use.used;
        }
    }
    works(iso_device_close(device));
    free(matrix);
    free(c);
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define REFUSED(change, status, words)                                                             \
    do {                                                                                           \
        iso_gemm_grid_args args = good;                                                            \
        change;                                                                                    \
        fails(iso_gemm_grid(grid, stream, &args), status, words);                                  \
    } while (0)

static void refusals(void **state)
{
    iso_grid_layout layout = ISO_GRID_LAYOUT_INIT;
    iso_device device;
    iso_stream stream;
    iso_comm comm;
    iso_grid grid;
    int64_t rows, cols;

    (void)state;
    works(iso_device_open("openmp", &device));
    works(iso_stream_create(device, 0, &stream));
    works(iso_comm_create(&device, 1, NULL, &comm));
    fails(iso_grid_create(comm, 2, 1, &grid), ISO_INVALID, "the number of ranks, 1");
    fails(iso_grid_create(comm, 0, 1, &grid), ISO_INVALID, "rows is 0");
    fails(iso_grid_create((iso_comm){0}, 1, 1, &grid), ISO_INVALID, "comm is zero");
    fails(iso_grid_create(comm, 1, 1, NULL), ISO_INVALID, "out is NULL");
    works(iso_grid_create(comm, 1, 1, &grid));

    iso_gemm_grid_args good = ISO_GEMM_GRID_ARGS_INIT;
    good.dtype = ISO_F64;
    good.variant = ISO_VARIANT_TILED;
    good.m = good.n = 4;
    good.k = 2048;
    good.block_m = good.block_n = 2;
    good.block_k = 1024;
    REFUSED(args.dtype = ISO_F16, ISO_INVALID, "dtype is 1 (f16)");
    REFUSED(args.m = -1, ISO_INVALID, "m is -1");
    REFUSED(args.block_n = 0, ISO_INVALID, "block_n is 0");
    REFUSED(args.m = args.n = INT64_MAX / 4, ISO_INVALID, "do not fit 64 bits");
    REFUSED(args.block_k = 1000, ISO_INVALID, "multiple of 1024");
    REFUSED(args.reserved = 1, ISO_INVALID, "reserved");
    REFUSED(args.size = 2, ISO_INVALID, "size");
    REFUSED((args.c_host = &good, args.memory = 100), ISO_NO_MEMORY, "block_k = 1024");
    fails(iso_gemm_grid((iso_grid){0}, stream, &good), ISO_INVALID, "grid is zero");
    fails(iso_gemm_grid(grid, (iso_stream){0}, &good), ISO_INVALID, "stream is zero");

    layout.dtype = ISO_F32;
    layout.rows = 7;
    layout.cols = 5;
    layout.block_rows = layout.block_cols = 2;
    works(iso_grid_part(grid, &layout, -1, &rows, &cols));
    assert_int_equal(rows, 7);
    assert_int_equal(cols, 5);
    fails(iso_grid_part(grid, &layout, 1, &rows, &cols), ISO_INVALID, "rank is 1");
    float values[35];
    fails(iso_grid_scatter(grid, &layout, 99, values, 0, (iso_operand){0}, values), ISO_INVALID,
          "root is 99");
    fails(iso_grid_gather(grid, NULL, 0, values, 0, (iso_operand){0}, values), ISO_INVALID,
          "layout");
    works(iso_comm_query(comm)); /* what was refused aborts nothing */
    layout.block_rows = layout.block_cols = INT64_MAX;
    works(iso_grid_part(grid, &layout, -1, &rows, &cols));
    assert_int_equal(rows * cols, 35);
    works(iso_grid_scatter(grid, &layout, 0, values, 0, (iso_operand){0}, values));
    layout.block_cols = 0;
    fails(iso_grid_part(grid, &layout, 0, &rows, &cols), ISO_INVALID, "layout.block_cols 0");
    works(iso_grid_destroy(grid));
    fails(iso_grid_destroy(grid), ISO_INVALID, "was destroyed");
    works(iso_comm_destroy(comm));
    works(iso_device_close(device));
}

enum { STREAMS = 12 };

/* The last rank never multiplies: on the others the caller's own streams have the error. */
static iso_status of_others(iso_device device, iso_comm comm, iso_stream stream[STREAMS])
{
    iso_gemm_grid_args args = ISO_GEMM_GRID_ARGS_INIT;
    iso_grid grid = {0};
    iso_status status = ISO_OK;

    args.dtype = ISO_F64;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = 8;
    args.k = 2048;
    args.block_m = args.block_n = 4;
    args.block_k = 1024;
    STEP(iso_grid_create(comm, 1, 2, &grid));
    STEP(iso_buffer_create(device, 8 * 1024 * 8, &args.a.buffer));
    STEP(iso_buffer_create(device, 2048 * 4 * 8, &args.b.buffer));
    STEP(iso_buffer_create(device, 8 * 4 * 8, &args.c.buffer));
    for (int i = 0; i < STREAMS; i++) {
        STEP(iso_stream_create(device, 0, &stream[i]));
        STEP(iso_gemm_grid(grid, stream[i], &args));
    }
    return status;
}

static void missing_rank(void **state)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    iso_device device[2];
    iso_comm comm[2];
    iso_stream stream[STREAMS];

    (void)state;
    options.timeout_nanoseconds = INT64_C(2000000000);
    for (int i = 0; i < 2; i++) {
        works(iso_device_open("openmp", &device[i]));
    }
    works(iso_comm_create(device, 2, &options, comm));
    works(of_others(device[0], comm[0], stream));
    for (int i = 0; i < STREAMS; i++) {
        fails(iso_stream_sync(stream[i]), ISO_TIMEOUT, "rank 1 of 2");
    }
    for (int i = 0; i < 2; i++) {
        (void)iso_device_close(device[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),   cmocka_unit_test(edges),
        cmocka_unit_test(two_streams), cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(refusals),    cmocka_unit_test(missing_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
