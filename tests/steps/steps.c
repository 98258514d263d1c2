/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - runs iso_finish_op and iso_solve_op through a backend's entries, and compares each with
 * the model: steps BACKEND ROUNDS [mistakes]. A BACKEND with a "/" is a plug-in's file. With
 * `mistakes` the model then makes its mistakes, one after another, and each must be found.
 */
#include "tests/steps/model.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const iso_host core_host;
const iso_backend *isomer_builtin_openmp_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_cuda_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_hip_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_opencl_query(uint32_t host_abi, const iso_host *host);

enum { ROOM = 1 << 23, GUARD = 64, SHOWN = 5, MOST = ISO_SOLVE_MOST };

/* Memory of the device, and its contents here. */
typedef struct array {
    void *memory;
    unsigned char *host;
} array;

static const iso_backend *backend;
static void *device, *stream;
static array a, x, factors;
static unsigned char *expected;
static int64_t compared, wrong, refused;
static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t r = seed;
    r = (r ^ (r >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    r = (r ^ (r >> 27)) * UINT64_C(0x94d049bb133111eb);
    return r ^ (r >> 31);
}

/* From `least` to `most`. */
static int64_t between(int64_t least, int64_t most)
{
    return least + (int64_t)(next_random() % (uint64_t)(most - least + 1));
}

static void must(iso_status status, const char *what)
{
    if (status != ISO_OK) {
        printf("%s: %s: %s\n", what, iso_status_name(status), iso_last_error());
        exit(1);
    }
}

static double number(int special)
{
    static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-140, 1, -1};
    if (special && next_random() % 16 == 0) {
        return odd[between(0, 7)];
    }
    const double part = 0.5 + (double)(next_random() >> 12) / 0x1p53;
    return (next_random() % 2 ? part : -part) * (double)(1 << between(0, 3));
}

/* ---- the device ------------------------------------------------------------------------------ */

static void move(array *of, iso_transfer_kind kind, int64_t bytes)
{
    iso_transfer t = {.size = (uint32_t)sizeof t, .kind = kind, .width = bytes, .height = 1};
    t.to_pitch = t.from_pitch = bytes;
    if (kind == ISO_TRANSFER_WRITE) {
        t.to.memory = of->memory;
        t.host_from = of->host;
    } else {
        t.from.memory = of->memory;
        t.host_to = of->host;
    }
    must(backend->transfer(stream, &t), "transfer");
    must(backend->stream_sync(stream), "stream_sync");
}

/* Returns 0 if the device does not compute in the type. */
static int execute(const iso_op *op)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    int64_t bytes = -1;
    if (backend->supports(device, op) == ISO_UNSUPPORTED) {
        refused++;
        return 0;
    }
    must(backend->supports(device, op), "supports");
    must(backend->workspace(device, op, &bytes), "workspace");
    must(backend->describe(device, op, &info), "describe");
    if (backend->prepare) {
        must(backend->prepare(stream, op), "prepare");
    }
    if (bytes != 0 || !info.kernel[0]) {
        printf("a step needs %" PRId64 " bytes of scratch memory, or has no name\n", bytes);
        exit(1);
    }
    must(backend->execute(stream, op), "execute");
    must(backend->stream_sync(stream), "stream_sync");
    return 1;
}

/* Compares one part of an element, and takes over what is there. */
static void compare(const char *what, iso_dtype part, int64_t at, int64_t i, int64_t j)
{
    const double got = step_load(part, x.host, at), right = step_load(part, expected, at);
    const int same = isnan(got) ? isnan(right) : got == right && !signbit(got) == !signbit(right);
    compared++;
    if (!same && wrong++ < SHOWN && step_is == STEP_RIGHT) {
        printf("FAIL: %s, element %" PRId64 ", %" PRId64 ": %a, expected %a\n", what, i, j, got,
               right);
    }
    const size_t bytes = (size_t)iso_dtype_size(part);
    memcpy(expected + (size_t)at * bytes, x.host + (size_t)at * bytes, bytes);
}

static void compare_rest(const char *what, int64_t bytes)
{
    if (memcmp(expected, x.host, (size_t)bytes) != 0 && wrong++ < SHOWN && step_is == STEP_RIGHT) {
        printf("FAIL: %s wrote where it must not\n", what);
    }
}

/* ---- finish ---------------------------------------------------------------------------------- */

static const char *text_of_finish(const iso_finish_op *op)
{
    static char text[200];
    (void)snprintf(text, sizeof text,
                   "finish type %d planes %d triangle %d factors %u of %d, %" PRId64 " x %" PRId64
                   " x %" PRId64 ", steps %" PRId64 " %" PRId64,
                   (int)op->dtype, (int)op->planes, (int)op->triangle, op->factors,
                   (int)op->factor_dtype, op->m, op->n, op->batch, op->c_row, op->c_col);
    return text;
}

static double factor_part(const iso_finish_op *op, int device_has)
{
    static const double usual[] = {0, 1, -1, -0.0};
    const double some = next_random() % 2 ? usual[between(0, 3)] : number(0);
    if (op->dtype == ISO_I32) {
        return device_has ? some * 1000 : (double)between(-70000, 70000) * (double)between(0, 1);
    }
    return some;
}

/* A factor for the operation; on the device it is at `at` bytes. What the type of the device's
 * factors cannot hold is rounded to it. */
static step_number make_factor(const iso_finish_op *op, int on_device, int64_t at)
{
    const int complex = step_is_complex(op->dtype);
    step_number f = {factor_part(op, on_device), 0};
    if (complex && next_random() % 2) {
        f.im = factor_part(op, on_device);
    }
    if (on_device) {
        const iso_dtype type = op->factor_dtype;
        unsigned char *to = factors.host + at;
        step_store(type, to, 0, f.re);
        f.re = step_load(type, to, 0);
        if (complex) {
            step_store(type, to, 1, f.im);
            f.im = step_load(type, to, 1);
        }
    } else if (step_real(op->dtype) == ISO_F32) {
        f.re = (double)(float)f.re, f.im = (double)(float)f.im;
    }
    return f;
}

static void choose_steps(int64_t m, int64_t n, int64_t *row, int64_t *col)
{
    const int64_t gap = between(0, 3);
    switch (between(0, 3)) {
    case 0:
        *row = n + gap, *col = 1;
        break;
    case 1:
        *row = 1, *col = m + gap;
        break;
    case 2:
        *row = 2 * n + gap, *col = 2;
        break;
    default:
        *row = 3, *col = 3 * m + gap;
        break;
    }
}

static iso_finish_op make_finish(iso_dtype dtype, int round)
{
    static const int64_t sizes[] = {1, 3, 16, 17, 33, 64, 65, 130};
    const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64};
    const int complex = step_is_complex(dtype);
    iso_finish_op op = {.dtype = dtype,
                        .variant = ISO_VARIANT_TILED,
                        .planes = round % 5 == 4 ? 0
                                  : complex      ? 4
                                                 : 1,
                        .sign_ii = next_random() % 2 ? 1 : -1,
                        .sign_ri = next_random() % 2 ? 1 : -1,
                        .sign_ir = next_random() % 2 ? 1 : -1,
                        .triangle = (iso_triangle)(round % 3),
                        .factors = (uint32_t)between(0, 3),
                        .m = sizes[between(0, 7)],
                        .n = sizes[between(0, 7)],
                        .batch = between(1, 3)};
    op.factor_dtype = op.factors ? types[complex ? between(2, 3) : between(0, 3)] : 0;
    op.ldt = op.n + between(0, 5);
    op.plane = (op.m + 1) * op.ldt;
    op.stride_t = (op.planes ? op.planes : 1) * op.plane + between(0, 3);
    choose_steps(op.m, op.n, &op.c_row, &op.c_col);
    op.stride_c = (op.m - 1) * op.c_row + (op.n - 1) * op.c_col + 1 + between(0, 4);
    return op;
}

/* T, and C with something between its elements. */
static void fill_finish(const iso_finish_op *op, int64_t t_first, int64_t c_first, int64_t bytes)
{
    const iso_dtype part = step_part(op->dtype), real = step_real(op->dtype);
    const int parts = step_is_complex(op->dtype) ? 2 : 1;
    for (int64_t i = 0; i < op->batch * op->stride_t; i++) {
        const double whole = (double)(int64_t)(next_random() & ~UINT64_C(0x3ff)) / 2;
        step_store(real, a.host, t_first + i,
                   op->dtype != ISO_I32     ? number(1)
                   : next_random() % 2 != 0 ? trunc(whole)
                                            : (double)between(-100000, 100000));
    }
    for (int64_t i = 0; i < bytes; i++) {
        x.host[i] = (unsigned char)next_random();
    }
    for (int64_t b = 0; b < op->batch; b++) {
        for (int64_t i = 0; i < op->m; i++) {
            for (int64_t j = 0; j < op->n; j++) {
                const int64_t at = c_first + b * op->stride_c + i * op->c_row + j * op->c_col;
                for (int p = 0; p < parts; p++) {
                    step_store(part, x.host, parts * at + p,
                               op->dtype == ISO_I32 ? (double)(int32_t)next_random() : number(1));
                }
            }
        }
    }
    memcpy(expected, x.host, (size_t)bytes);
}

static int in_triangle(const iso_finish_op *op, int64_t i, int64_t j)
{
    if (step_is == STEP_NO_DIAGONAL && op->triangle && i == j) {
        return 0;
    }
    return op->triangle == ISO_LOWER ? j <= i : op->triangle == ISO_UPPER ? j >= i : 1;
}

/* Finds the expected elements, or compares. */
static void each_finish(const iso_finish_op *op, int64_t t_first, int64_t c_first,
                        step_number alpha, step_number beta, int comparing)
{
    const iso_dtype part = step_part(op->dtype), real = step_real(op->dtype);
    const int complex = step_is_complex(op->dtype), parts = complex ? 2 : 1;
    for (int64_t cell = 0; cell < op->batch * op->m * op->n; cell++) {
        const int64_t b = cell / (op->m * op->n), i = cell / op->n % op->m, j = cell % op->n;
        const int64_t at = parts * (c_first + b * op->stride_c + i * op->c_row + j * op->c_col);
        if (comparing) {
            for (int p = 0; p < parts && in_triangle(op, i, j); p++) {
                compare(text_of_finish(op), part, at + p, i, j);
            }
        } else if (in_triangle(op, i, j)) {
            double t[4] = {0};
            for (int p = 0; p < op->planes; p++) {
                t[p] = step_load(real, a.host,
                                 t_first + b * op->stride_t + p * op->plane + i * op->ldt + j);
            }
            const step_number c = {step_load(part, x.host, at),
                                   complex ? step_load(part, x.host, at + 1) : 0};
            const step_number v = step_finish(op, alpha, beta, t, c);
            step_store(part, expected, at, v.re);
            if (complex) {
                step_store(part, expected, at + 1, v.im);
            }
        }
    }
}

static void check_finish(iso_dtype dtype, int round)
{
    iso_finish_op op = make_finish(dtype, round);
    const iso_op of = {
        .kind = (iso_op_kind)ISO_OP_FINISH, .finish = &op, .args_size = (uint32_t)sizeof op};
    const int64_t t_first = between(0, 3), c_first = between(0, 3), size = step_bytes(dtype);
    const int64_t bytes = (c_first + op.batch * op.stride_c) * size + GUARD;
    const step_number alpha = make_factor(&op, op.factors & 1, 32);
    const step_number beta = make_factor(&op, (op.factors & 2) != 0, 64);
    if (!(op.factors & 1)) {
        op.alpha = alpha.re, op.alpha_imag = alpha.im;
    } else {
        op.alpha = 7, op.alpha_at = (iso_ref){.memory = factors.memory, .offset = 32};
    }
    if (!(op.factors & 2)) {
        op.beta = beta.re, op.beta_imag = beta.im;
    } else {
        op.beta = 7, op.beta_at = (iso_ref){.memory = factors.memory, .offset = 64};
    }
    const int64_t real = iso_dtype_size(step_real(dtype));
    if (op.planes) {
        op.t = (iso_ref){.memory = a.memory, .offset = t_first * real};
    }
    op.c = (iso_ref){.memory = x.memory, .offset = c_first * size};
    fill_finish(&op, t_first, c_first, bytes);
    each_finish(&op, t_first, c_first, alpha, beta, 0);
    move(&a, ISO_TRANSFER_WRITE, (t_first + op.batch * op.stride_t) * real);
    move(&x, ISO_TRANSFER_WRITE, bytes);
    move(&factors, ISO_TRANSFER_WRITE, 128);
    if (execute(&of)) {
        move(&x, ISO_TRANSFER_READ, bytes);
        each_finish(&op, t_first, c_first, alpha, beta, 1);
        compare_rest(text_of_finish(&op), bytes);
    }
}

/* ---- solve ----------------------------------------------------------------------------------- */

static const char *text_of_solve(const iso_solve_op *op)
{
    static char text[200];
    (void)snprintf(text, sizeof text,
                   "solve type %d unit %d conj %d, %" PRId64 " of %" PRId64 " x %" PRId64
                   ", steps %" PRId64 " %" PRId64,
                   (int)op->dtype, (int)op->unit, (int)op->conj, op->n, op->count, op->batch,
                   op->x_row, op->x_col);
    return text;
}

static void turn_step(int64_t *step, int64_t count, int64_t *first)
{
    if (next_random() % 2) {
        *first += (count - 1) * *step;
        *step = -*step;
    }
}

/* `special`: A has zeros, infinities and NaN, too. What must not be read is NaN. */
static void fill_solve(const iso_solve_op *op, int64_t a_first, int64_t x_first, int64_t a_count,
                       int64_t bytes, int special)
{
    const iso_dtype part = step_part(op->dtype);
    const int parts = step_is_complex(op->dtype) ? 2 : 1;
    for (int64_t i = 0; i < a_count * parts; i++) {
        step_store(part, a.host, i, NAN);
    }
    for (int64_t b = 0; b < (op->stride_a ? op->batch : 1); b++) {
        for (int64_t i = 0; i < op->n; i++) {
            for (int64_t k = 0; k < i + !op->unit; k++) {
                const int64_t at = a_first + b * op->stride_a + i * op->a_row + k * op->a_col;
                const double re = number(special) / (k < i ? 16 : 1);
                const double im = k == i && next_random() % 4 == 0 ? re : number(special) / 16;
                step_store(part, a.host, parts * at, re);
                if (parts == 2) {
                    step_store(part, a.host, parts * at + 1, im);
                }
            }
        }
    }
    for (int64_t i = 0; i < bytes; i++) {
        x.host[i] = (unsigned char)next_random();
    }
    for (int64_t cell = 0; cell < op->batch * op->count * op->n; cell++) {
        const int64_t i = cell % op->n, s = cell / op->n % op->count;
        const int64_t b = cell / op->n / op->count;
        for (int p = 0; p < parts; p++) {
            const int64_t at = x_first + b * op->stride_x + i * op->x_row + s * op->x_col;
            step_store(part, x.host, parts * at + p, number(special));
        }
    }
    memcpy(expected, x.host, (size_t)bytes);
}

static void each_solve(const iso_solve_op *op, int64_t a_first, int64_t x_first, int comparing)
{
    static step_number triangle[MOST * MOST];
    const iso_dtype part = step_part(op->dtype);
    const int complex = step_is_complex(op->dtype), parts = complex ? 2 : 1;
    for (int64_t system = 0; system < op->batch * op->count; system++) {
        const int64_t b = system / op->count, s = system % op->count;
        const int64_t first = x_first + b * op->stride_x + s * op->x_col;
        step_number unknowns[MOST];
        for (int64_t i = 0; i < op->n && !comparing; i++) {
            const int64_t at = parts * (first + i * op->x_row);
            unknowns[i].re = step_load(part, x.host, at);
            unknowns[i].im = complex ? step_load(part, x.host, at + 1) : 0;
            for (int64_t k = 0; k <= i && s == 0; k++) {
                const int64_t from =
                    parts * (a_first + b * op->stride_a + i * op->a_row + k * op->a_col);
                triangle[i * MOST + k].re = step_load(part, a.host, from);
                triangle[i * MOST + k].im = complex ? step_load(part, a.host, from + 1) : 0;
            }
        }
        if (!comparing) {
            step_solve(op, triangle, unknowns);
        }
        for (int64_t i = 0; i < op->n; i++) {
            const int64_t at = parts * (first + i * op->x_row);
            for (int p = 0; p < parts; p++) {
                if (comparing) {
                    compare(text_of_solve(op), part, at + p, i, s);
                } else {
                    step_store(part, expected, at + p, p ? unknowns[i].im : unknowns[i].re);
                }
            }
        }
    }
}

static void check_solve(iso_dtype dtype, int round)
{
    static const int64_t sizes[] = {1, 2, 5, 8, 9, 31, 63, 64};
    static const int64_t counts[] = {1, 2, 7, 16, 33, 64, 129};
    iso_solve_op op = {.dtype = dtype,
                       .variant = ISO_VARIANT_TILED,
                       .unit = round % 4 == 3,
                       .conj = step_is_complex(dtype) && next_random() % 2,
                       .n = round % 9 == 8 ? between(1, MOST) : sizes[between(0, 7)],
                       .count = counts[between(0, 6)],
                       .batch = between(1, 3)};
    const iso_op of = {
        .kind = (iso_op_kind)ISO_OP_SOLVE, .solve = &op, .args_size = (uint32_t)sizeof op};
    int64_t a_first = between(0, 2), x_first = between(0, 2);
    choose_steps(op.n, op.n, &op.a_row, &op.a_col);
    choose_steps(op.n, op.count, &op.x_row, &op.x_col);
    const int64_t a_last = (op.n - 1) * (op.a_row + op.a_col);
    op.stride_a = next_random() % 2 ? a_last + 1 + between(0, 3) : 0;
    op.stride_x = (op.n - 1) * op.x_row + (op.count - 1) * op.x_col + 1 + between(0, 3);
    const int64_t a_count = a_first + (op.batch - 1) * op.stride_a + a_last + 1;
    const int64_t size = step_bytes(dtype);
    const int64_t bytes = (x_first + op.batch * op.stride_x) * size + GUARD;
    turn_step(&op.a_row, op.n, &a_first);
    turn_step(&op.a_col, op.n, &a_first);
    turn_step(&op.x_row, op.n, &x_first);
    turn_step(&op.x_col, op.count, &x_first);
    op.a = (iso_ref){.memory = a.memory, .offset = a_first * size};
    op.x = (iso_ref){.memory = x.memory, .offset = x_first * size};
    fill_solve(&op, a_first, x_first, a_count, bytes, round % 5 == 4);
    each_solve(&op, a_first, x_first, 0);
    move(&a, ISO_TRANSFER_WRITE, a_count * size);
    move(&x, ISO_TRANSFER_WRITE, bytes);
    if (execute(&of)) {
        move(&x, ISO_TRANSFER_READ, bytes);
        each_solve(&op, a_first, x_first, 1);
        compare_rest(text_of_solve(&op), bytes);
    }
}

/* Quotients of any two f32: a triangle of one unknown, or a complex one that has only a real part.
 */
static void check_quotients(int64_t count)
{
    iso_solve_op op = {.dtype = ISO_F32, .n = 1, .count = 1, .batch = count};
    const iso_op of = {
        .kind = (iso_op_kind)ISO_OP_SOLVE, .solve = &op, .args_size = (uint32_t)sizeof op};
    op.variant = ISO_VARIANT_TILED;
    op.a_row = op.a_col = op.stride_a = op.x_row = op.x_col = op.stride_x = 1;
    op.a.memory = a.memory, op.x.memory = x.memory;
    float *const top = (float *)(void *)x.host, *const below = (float *)(void *)a.host;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits[] = {(uint32_t)next_random(), (uint32_t)next_random()};
        memcpy(top + i, &bits[0], sizeof bits[0]);
        memcpy(below + i, &bits[1], sizeof bits[1]);
        if (i % 3 == 0) { /* a subnormal quotient, perhaps half-way between two */
            top[i] = (float)ldexp(1 + (double)between(0, 1 << 8) / (1 << 8), -140);
            below[i] = (float)between(1, 64);
        }
        ((float *)(void *)expected)[i] = top[i] / below[i];
    }
    const int64_t bytes = count * (int64_t)sizeof(float);
    move(&a, ISO_TRANSFER_WRITE, bytes);
    move(&x, ISO_TRANSFER_WRITE, bytes);
    if (execute(&of)) {
        move(&x, ISO_TRANSFER_READ, bytes);
        for (int64_t i = 0; i < count; i++) {
            compare("a quotient", ISO_F32, i, i, 0);
        }
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void check_refused(void)
{
    iso_finish_op finish = {.dtype = ISO_I64, .planes = 1, .m = 1, .n = 1, .batch = 1};
    iso_solve_op solve = {.dtype = ISO_F16, .n = 1, .count = 1, .batch = 1};
    iso_op op = {.kind = (iso_op_kind)ISO_OP_FINISH,
                 .finish = &finish,
                 .args_size = (uint32_t)sizeof finish};
    finish.variant = solve.variant = ISO_VARIANT_TILED;
    wrong += backend->supports(device, &op) != ISO_UNSUPPORTED;
    finish.dtype = ISO_C64; /* a real T and a complex C */
    wrong += backend->supports(device, &op) != ISO_UNSUPPORTED;
    op.kind = (iso_op_kind)ISO_OP_SOLVE, op.solve = &solve, op.args_size = (uint32_t)sizeof solve;
    wrong += backend->supports(device, &op) != ISO_UNSUPPORTED;
    solve.dtype = ISO_F32, solve.n = MOST + 1;
    wrong += backend->supports(device, &op) != ISO_UNSUPPORTED;
}

static void run(int rounds)
{
    static const iso_dtype types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64,
                                      ISO_I32, ISO_C64,  ISO_C128};
    for (int t = 0; t < 7; t++) {
        for (int round = 0; round < rounds; round++) {
            check_finish(types[t], round);
            if (types[t] != ISO_F16 && types[t] != ISO_BF16 && types[t] != ISO_I32) {
                check_solve(types[t], round);
            }
        }
    }
    check_quotients((int64_t)rounds * 1000);
    check_refused();
}

static int find_mistakes(int rounds)
{
    int missed = 0;
    for (int mistake = 1; mistake < STEP_MISTAKES; mistake++) {
        step_is = (step_mistake)mistake;
        seed = 1;
        compared = wrong = 0;
        run(rounds);
        printf("mistake %d: %" PRId64 " differences\n", mistake, wrong);
        missed += wrong == 0;
    }
    return missed;
}

static void open_array(array *of)
{
    must(backend->memory_alloc(device, ROOM, &of->memory), "memory_alloc");
    of->host = calloc(1, ROOM);
    if (!of->host) {
        exit(1);
    }
}

static void close_array(array *of)
{
    backend->memory_free(device, of->memory);
    free(of->host);
}

static iso_backend_query query_of(const char *name)
{
    iso_backend_query query = NULL;
    if (strchr(name, '/')) {
        void *plugin = dlopen(name, RTLD_NOW);
        void *found = plugin ? dlsym(plugin, "isomer_backend_query") : NULL;
        memcpy(&query, &found, sizeof query);
        return query;
    }
    return strcmp(name, "cuda") == 0     ? isomer_builtin_cuda_query
           : strcmp(name, "hip") == 0    ? isomer_builtin_hip_query
           : strcmp(name, "opencl") == 0 ? isomer_builtin_opencl_query
                                         : isomer_builtin_openmp_query;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "openmp";
    const int rounds = argc > 2 ? atoi(argv[2]) : 8;
    const iso_backend_query query = query_of(name);
    static iso_probe probe = {.size = (uint32_t)sizeof probe};
    backend = query ? query(ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &core_host) : NULL;
    if (!backend || backend->probe(&probe) != ISO_OK || probe.state != ISO_STATE_OK) {
        printf("%s has no device here: %s\n", name, probe.reason);
        return 77;
    }
    const iso_status opened = backend->device_open(0, &device);
    if (opened != ISO_OK) {
        printf("%s does not open: %s\n", name, iso_last_error());
        return 77;
    }
    must(backend->stream_create(device, 0, &stream), "stream_create");
    open_array(&a);
    open_array(&x);
    open_array(&factors);
    expected = calloc(1, ROOM);
    if (!expected) {
        return 1;
    }
    run(rounds);
    printf("%s: %" PRId64 " parts of elements, %" PRId64 " differ; %" PRId64
           " operations refused\n",
           name, compared, wrong, refused);
    const int failed = wrong != 0 || (argc > 3 && find_mistakes(rounds) != 0);
    close_array(&a);
    close_array(&x);
    close_array(&factors);
    free(expected);
    backend->stream_destroy(stream);
    backend->device_close(device);
    return failed;
}
