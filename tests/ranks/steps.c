/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - runs the steps of sums over ranks through a backend's entries, and compares each with
 * the model: steps BACKEND ROUNDS [mistakes]. With `mistakes` the model then makes its mistakes,
 * one after another, and each must be found.
 */
#include "tests/ranks/model.h"

#include <isomer/isomer.h>

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

enum { COUNT_MOST = 11, ROOM = 1 << 22, GUARD = 64, SHOWN = 5 };

/* Memory of the device, and its contents here. */
typedef struct array {
    void *memory;
    unsigned char *host;
} array;

static const iso_backend *backend;
static void *device, *stream;
static array x, y, z, exponents, limbs;
static int64_t compared, wrong;
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

/* ---- data ------------------------------------------------------------------------------------ */

/* Numbers of a shape that an element's sources share. */
typedef enum shape {
    ANY,     /* all bits are random */
    NEAR,    /* similar exponents */
    SPECIAL, /* zeros, infinities, NaN, limits */
    CANCEL,  /* a term and its opposite, and small ones */
    SUBNORMAL,
    TIES, /* whole numbers that end with a half, for a large term */
    SHAPES
} shape;

static uint64_t special_of(iso_dtype dtype)
{
    int least, most;
    model_exponents(dtype, &least, &most);
    const double values[] = {0,
                             -0.0,
                             INFINITY,
                             -INFINITY,
                             NAN,
                             ldexp(1, least - 1),
                             -ldexp(1, least - 1),
                             ldexp(0.75, most),
                             1,
                             -1,
                             0,
                             -0.0};
    const int64_t which = between(0, 11);
    if (which == 7) { /* the largest number: one below infinity */
        return model_encode(dtype, INFINITY) - 1;
    }
    return model_encode(dtype, values[which]);
}

/* An element: its shape, and the exponent of its first number. */
typedef struct element {
    shape kind;
    int e;
} element;

static uint64_t number_of(iso_dtype dtype, const element *it, int s, uint64_t previous)
{
    int least, most;
    model_exponents(dtype, &least, &most);
    const double sign = next_random() % 2 ? 1 : -1;
    const double part = 0.5 + (double)(next_random() >> 12) / 0x1p53;
    switch (it->kind) {
    case NEAR:
        return model_encode(dtype, sign * ldexp(part, it->e - (int)between(0, 4)));
    case SPECIAL:
        return special_of(dtype);
    case CANCEL:
        return s % 3 == 1 ? model_encode(dtype, -model_decode(dtype, previous))
                          : model_encode(dtype, sign * ldexp(part, it->e - (int)between(0, 60)));
    case SUBNORMAL:
        return model_encode(dtype, sign * ldexp(part, least + (int)between(-1, 24)));
    case TIES:
        return model_encode(dtype, s == 0 ? ldexp(part, it->e)
                                          : sign * ldexp((double)(2 * between(0, 40) + 1),
                                                         it->e - model_exponent_bits(dtype) - 1));
    default:
        return next_random();
    }
}

static void fill(iso_dtype dtype, int64_t n, int count, int64_t stride, int own, int64_t at)
{
    int least = 0, most = 0;
    if (model_is_floating(dtype)) {
        model_exponents(dtype, &least, &most);
    }
    for (int64_t i = 0; i < n; i++) {
        const element it = {.kind = model_is_floating(dtype) ? (shape)between(0, SHAPES - 1) : ANY,
                            .e = (int)between(next_random() % 4 ? least : most - 3, most)};
        uint64_t bits = 0;
        for (int s = 0; s < count; s++) {
            bits = number_of(dtype, &it, s, bits);
            if (s == own) {
                model_set(dtype, y.host, at + i, bits);
            } else {
                model_set(dtype, x.host, at + s * stride + i, bits);
            }
        }
    }
}

static uint64_t source_of(iso_dtype dtype, int s, int64_t stride, int own, int64_t i)
{
    return s == own ? model_get(dtype, y.host, i) : model_get(dtype, x.host, s * stride + i);
}

/* ---- the device ------------------------------------------------------------------------------ */

static void move(array *a, iso_transfer_kind kind, int64_t bytes)
{
    iso_transfer t = {.size = (uint32_t)sizeof t, .kind = kind, .width = bytes, .height = 1};
    t.to_pitch = t.from_pitch = bytes;
    if (kind == ISO_TRANSFER_WRITE) {
        t.to.memory = a->memory;
        t.host_from = a->host;
    } else {
        t.from.memory = a->memory;
        t.host_to = a->host;
    }
    must(backend->transfer(stream, &t), "transfer");
    must(backend->stream_sync(stream), "stream_sync");
}

static void execute(const iso_ranks_op *args)
{
    const iso_op op = {
        .kind = (iso_op_kind)ISO_OP_RANKS, .ranks = args, .args_size = (uint32_t)sizeof *args};
    iso_op_info info = ISO_OP_INFO_INIT;
    int64_t bytes = -1;
    must(backend->supports(device, &op), "supports");
    must(backend->workspace(device, &op, &bytes), "workspace");
    must(backend->describe(device, &op, &info), "describe");
    must(backend->prepare(stream, &op), "prepare");
    if (bytes != 0 || !info.kernel[0]) {
        printf("a step needs %" PRId64 " bytes of scratch memory, or has no name\n", bytes);
        exit(1);
    }
    must(backend->execute(stream, &op), "execute");
    must(backend->stream_sync(stream), "stream_sync");
}

static void differs(const char *what, iso_dtype dtype, int64_t i, int count, uint64_t got,
                    uint64_t expected)
{
    if (wrong++ < SHOWN && model_is == MODEL_RIGHT) {
        printf("FAIL: %s of %s, element %" PRId64 " of %d: %016" PRIx64 ", expected %016" PRIx64
               "\n",
               what, iso_dtype_name(dtype), i, count, got, expected);
    }
}

/* ---- folds ----------------------------------------------------------------------------------- */

static void check_fold(iso_dtype dtype, iso_reduce_op reduce, int64_t n, int count, int own)
{
    const int64_t size = iso_dtype_size(dtype), at = next_random() % 2 ? 0 : between(1, 3);
    const int64_t stride = n + (next_random() % 2 ? (-n & 15) : between(0, 3));
    const int in_place = own >= 0 && next_random() % 2;
    const iso_ref to = {.memory = in_place ? y.memory : z.memory, .offset = at * size};
    array *result = in_place ? &y : &z;
    iso_ranks_op op = {.step = ISO_RANKS_FOLD,
                       .dtype = dtype,
                       .reduce = reduce,
                       .count = count,
                       .own = own,
                       .n = n,
                       .stride = stride,
                       .z = to};
    fill(dtype, n, count, stride, own, at);
    if (count > 1 || own != 0) {
        op.x = (iso_ref){.memory = x.memory, .offset = at * size};
    }
    if (own >= 0) {
        op.y = (iso_ref){.memory = y.memory, .offset = at * size};
    }
    uint64_t *expected = malloc((size_t)n * sizeof *expected);
    for (int64_t i = 0; expected && i < n; i++) {
        uint64_t terms[COUNT_MOST];
        for (int s = 0; s < count; s++) {
            terms[s] = source_of(dtype, s, stride, own, at + i);
        }
        expected[i] = model_fold(dtype, reduce, terms, count);
    }
    memset(result->host + (at + n) * size, 0x5a, GUARD);
    move(&x, ISO_TRANSFER_WRITE, (at + count * stride) * size + GUARD);
    move(&y, ISO_TRANSFER_WRITE, (at + n) * size + GUARD);
    move(&z, ISO_TRANSFER_WRITE, (at + n) * size + GUARD);
    execute(&op);
    move(result, ISO_TRANSFER_READ, (at + n) * size + GUARD);
    for (int64_t i = 0; expected && i < n; i++) {
        const uint64_t got = model_get(dtype, result->host, at + i);
        if (!model_same(dtype, got, expected[i])) {
            differs(iso_reduce_op_name(reduce), dtype, i, count, got, expected[i]);
        }
    }
    for (int i = 0; i < GUARD; i++) {
        if (result->host[(at + n) * size + i] != 0x5a) {
            differs("a byte after the end", dtype, i, count, 0, 0x5a);
        }
    }
    compared += n;
    free(expected);
}

/* ---- exact sums ------------------------------------------------------------------------------ */

static iso_ranks_op step_of(iso_ranks_step step, iso_dtype dtype, int64_t n, int count,
                            int64_t stride)
{
    return (iso_ranks_op){.step = step,
                          .dtype = dtype,
                          .reduce = ISO_SUM,
                          .count = count,
                          .own = -1,
                          .n = n,
                          .stride = stride,
                          .limb_stride = n + 5,
                          .x = {.memory = x.memory, .offset = 2 * iso_dtype_size(dtype)},
                          .z = {.memory = z.memory, .offset = iso_dtype_size(dtype)},
                          .exponents = {.memory = exponents.memory, .offset = 4},
                          .limbs = {.memory = limbs.memory, .offset = 16}};
}

static int32_t *codes(void)
{
    return (int32_t *)(void *)exponents.host + 1;
}

static int64_t *digits(void)
{
    return (int64_t *)(void *)limbs.host + 2;
}

/* What the contract says of the limbs of element i of terms [first, end). */
static void check_limbs(iso_dtype dtype, int64_t n, int64_t stride, int first, int end)
{
    const int64_t mask = (INT64_C(1) << 40) - 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t low = 0, rest = 0;
        const int32_t code = codes()[i];
        for (int t = first; t < end; t++) {
            const uint64_t bits = model_get(dtype, x.host, 2 + t * stride + i);
            if (code == ISO_RANKS_INFINITY && model_code(dtype, bits) == code) {
                low += model_decode(dtype, bits) > 0 ? 1 : INT64_C(1) << 31;
            } else if (code < ISO_RANKS_INFINITY) {
                const __int128 whole = model_whole(dtype, bits, code);
                low += dtype == ISO_F64 ? (int64_t)whole & mask : (int64_t)whole;
                rest += (int64_t)(whole >> 40);
            }
        }
        if (digits()[i] != low) {
            differs("limb 0", dtype, i, end - first, (uint64_t)digits()[i], (uint64_t)low);
        }
        if (dtype == ISO_F64 && digits()[n + 5 + i] != rest) {
            differs("limb 1", dtype, i, end - first, (uint64_t)digits()[n + 5 + i], (uint64_t)rest);
        }
    }
    compared += n;
}

static void check_exponents(iso_dtype dtype, int64_t n, int count, int64_t stride)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t most = ISO_RANKS_ZERO;
        for (int t = 0; t < count; t++) {
            const int32_t code = model_code(dtype, model_get(dtype, x.host, 2 + t * stride + i));
            most = code > most ? code : most;
        }
        if (codes()[i] != most) {
            differs("exponent", dtype, i, count, (uint64_t)codes()[i], (uint64_t)most);
        }
    }
    compared += n;
}

/* All terms' exponents, then the limbs of two ranks that share the terms, added up here. */
static void check_fixed(iso_dtype dtype, int64_t n, int count)
{
    const int64_t stride = n + between(0, 3), size = iso_dtype_size(dtype);
    const int shared = count / 2;
    const int64_t limb_bytes = (2 * n + 7) * 8;
    fill(dtype, n, count, stride, -1, 2);
    move(&x, ISO_TRANSFER_WRITE, (2 + count * stride) * size);
    iso_ranks_op op = step_of(ISO_RANKS_EXPONENTS, dtype, n, count, stride);
    execute(&op);
    move(&exponents, ISO_TRANSFER_READ, (n + 1) * 4);
    check_exponents(dtype, n, count, stride);
    int64_t *total = calloc((size_t)(2 * n + 5), sizeof *total);
    for (int rank = 0; total && rank < 2; rank++) {
        const int first = rank ? shared : 0, end = rank ? count : shared;
        if (first == end) {
            continue;
        }
        op = step_of(ISO_RANKS_LIMBS, dtype, n, end - first, stride);
        op.x.offset += first * stride * size;
        memset(limbs.host, 0x33, (size_t)limb_bytes);
        move(&limbs, ISO_TRANSFER_WRITE, limb_bytes);
        execute(&op);
        move(&limbs, ISO_TRANSFER_READ, limb_bytes);
        check_limbs(dtype, n, stride, first, end);
        for (int64_t i = 0; i < 2 * n + 5; i++) {
            total[i] += i < n || (i >= n + 5 && dtype == ISO_F64) ? digits()[i] : 0;
        }
    }
    memcpy(digits(), total, (size_t)(2 * n + 5) * sizeof *total);
    free(total);
    move(&limbs, ISO_TRANSFER_WRITE, limb_bytes);
    op = step_of(ISO_RANKS_JOIN, dtype, n, 0, 0);
    execute(&op);
    move(&z, ISO_TRANSFER_READ, (1 + n) * size);
    for (int64_t i = 0; i < n; i++) {
        uint64_t terms[COUNT_MOST];
        for (int t = 0; t < count; t++) {
            terms[t] = model_get(dtype, x.host, 2 + t * stride + i);
        }
        const uint64_t got = model_get(dtype, z.host, 1 + i);
        const uint64_t expected = model_fixed(dtype, terms, count);
        if (!model_same(dtype, got, expected)) {
            differs("fixed sum", dtype, i, count, got, expected);
        }
    }
    compared += n;
}

/* Sums of up to 2^22 terms, among them halves of the last bit that is kept. */
static void check_join(iso_dtype dtype, int64_t n)
{
    const int p = model_exponent_bits(dtype);
    const int fraction = dtype == ISO_F64 ? 52 : dtype == ISO_F32 ? 23 : dtype == ISO_F16 ? 10 : 7;
    int least, most;
    model_exponents(dtype, &least, &most);
    __int128 *sums = malloc((size_t)n * sizeof *sums);
    for (int64_t i = 0; sums && i < n; i++) {
        const int length = (int)between(0, p + 22);
        unsigned __int128 s = (unsigned __int128)next_random() << 64 | next_random();
        s = length ? s >> (128 - length) : 0;
        if (next_random() % 2 && length > fraction + 3) { /* a half, or almost */
            const int cut = length - fraction - 1;
            s = (s >> cut << cut) + ((unsigned __int128)1 << (cut - 1));
            s = s + (unsigned __int128)between(0, 2) - 1;
        }
        sums[i] = next_random() % 2 ? -(__int128)s : (__int128)s;
        codes()[i] = (int32_t)between(least, most);
        if (next_random() % 4 == 0) {
            codes()[i] =
                (int32_t)(next_random() % 2 ? most - between(0, 22) : least + between(0, 60));
            codes()[i] = codes()[i] < least ? least : codes()[i] > most ? most : codes()[i];
        }
        if (dtype == ISO_F64) { /* the low limb may have carries */
            const int64_t carry = between(0, 1 << 21);
            digits()[i] = (int64_t)(sums[i] & ((INT64_C(1) << 40) - 1)) + (carry << 40);
            digits()[n + 5 + i] = (int64_t)(sums[i] >> 40) - carry;
        } else {
            digits()[i] = (int64_t)sums[i];
        }
    }
    iso_ranks_op op = step_of(ISO_RANKS_JOIN, dtype, n, 0, 0);
    move(&exponents, ISO_TRANSFER_WRITE, (n + 1) * 4);
    move(&limbs, ISO_TRANSFER_WRITE, (2 * n + 7) * 8);
    execute(&op);
    move(&z, ISO_TRANSFER_READ, (1 + n) * iso_dtype_size(dtype));
    for (int64_t i = 0; sums && i < n; i++) {
        const uint64_t got = model_get(dtype, z.host, 1 + i);
        const uint64_t expected = model_join(dtype, sums[i], codes()[i]);
        if (got != expected) {
            differs("join", dtype, i, codes()[i], got, expected);
        }
    }
    compared += n;
    free(sums);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int is_defined(iso_reduce_op reduce, iso_dtype dtype)
{
    return reduce <= ISO_MAX || reduce == (model_is_floating(dtype) ? ISO_MEAN : ISO_XOR);
}

static int64_t size_of(int round)
{
    static const int64_t sizes[] = {1, 3, 17, 64, 100, 257, 1000, 2051};
    return sizes[round % 8] + (round >= 8 && next_random() % 2 ? between(0, 40) : 0);
}

static void check_refused(iso_dtype dtype, iso_reduce_op reduce, iso_ranks_step step)
{
    iso_ranks_op args = {.step = step, .dtype = dtype, .reduce = reduce, .count = 2, .own = -1};
    const iso_op op = {
        .kind = (iso_op_kind)ISO_OP_RANKS, .ranks = &args, .args_size = (uint32_t)sizeof args};
    if (backend->supports(device, &op) != ISO_UNSUPPORTED) {
        differs("not refused", dtype, (int64_t)reduce, (int)step, 0, 0);
    }
}

static void run(int rounds)
{
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
        for (iso_reduce_op reduce = ISO_SUM; reduce <= ISO_ARGAMAX; reduce++) {
            if (!is_defined(reduce, dtype)) {
                check_refused(dtype, reduce, ISO_RANKS_FOLD);
                continue;
            }
            for (int round = 0; round < rounds; round++) {
                const int count = (int)between(1, COUNT_MOST);
                check_fold(dtype, reduce, size_of(round), count, round % (count + 1) - 1);
            }
        }
        if (!model_is_floating(dtype)) {
            check_refused(dtype, ISO_SUM, ISO_RANKS_LIMBS);
            continue;
        }
        for (int round = 0; round < rounds; round++) {
            check_fixed(dtype, size_of(round), (int)between(1, COUNT_MOST));
            check_join(dtype, size_of(round));
        }
    }
    if (strcmp(backend->name, "openmp") == 0) { /* enough for several threads */
        for (iso_dtype dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
            check_fold(dtype, ISO_SUM, 100003, 3, 1);
        }
        check_fixed(ISO_F32, 100003, 4);
        check_fixed(ISO_F64, 100003, 4);
    }
}

static void open_array(array *a)
{
    must(backend->memory_alloc(device, ROOM, &a->memory), "memory_alloc");
    a->host = calloc(1, ROOM);
    if (!a->host) {
        exit(1);
    }
}

static void close_array(array *a)
{
    backend->memory_free(device, a->memory);
    free(a->host);
}

static int find_mistakes(int rounds)
{
    int missed = 0;
    for (int mistake = 1; mistake < MODEL_MISTAKES; mistake++) {
        model_is = (model_mistake)mistake;
        seed = 1;
        compared = wrong = 0;
        run(rounds);
        printf("mistake %d: %" PRId64 " differences\n", mistake, wrong);
        missed += wrong == 0;
    }
    return missed;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? atoi(argv[2]) : 8;
    const iso_backend_query query = strcmp(name, "cuda") == 0     ? isomer_builtin_cuda_query
                                    : strcmp(name, "hip") == 0    ? isomer_builtin_hip_query
                                    : strcmp(name, "opencl") == 0 ? isomer_builtin_opencl_query
                                                                  : isomer_builtin_openmp_query;
    static iso_probe probe = {.size = (uint32_t)sizeof probe};
    backend = query(ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &core_host);
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
    array *const arrays[] = {&x, &y, &z, &exponents, &limbs};
    for (int a = 0; a < 5; a++) {
        open_array(arrays[a]);
    }
    run(rounds);
    printf("%s: %" PRId64 " elements, %" PRId64 " differ\n", name, compared, wrong);
    const int failed = wrong != 0 || (argc > 3 && find_mistakes(rounds) != 0);
    for (int a = 0; a < 5; a++) {
        close_array(arrays[a]);
    }
    backend->stream_destroy(stream);
    backend->device_close(device);
    return failed;
}
