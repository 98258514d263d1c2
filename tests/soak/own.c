/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - a device of one thread's own. Every buffer has a copy on the host, on which each command
 * is repeated; some are compared after some commands, and all at the end. */
#include "tests/soak/soak.h"

enum { BUFFERS = 6, STREAMS = 2, BYTES = 4096, WORDS = BYTES / 4, KEPT_MAX = 64 };

typedef struct place {
    iso_buffer buffer;
    unsigned char expected[BYTES];
} place;

struct soak_own {
    soak_random random;
    soak_view view;
    iso_stream streams[STREAMS];
    int now; /* the stream for submissions; the other one is idle */
    place places[BUFFERS];
    void *kept[KEPT_MAX]; /* host memory that a transfer may still use */
    int kept_count;
    void *tensor; /* exported, of the buffer that it holds */
};

static int below(soak_own *own, int limit)
{
    return soak_below(&own->random, limit);
}

static place *any_place(soak_own *own)
{
    return &own->places[below(own, BUFFERS)];
}

static place *another(soak_own *own, const place *first)
{
    place *second = any_place(own);
    return second != first ? second : &own->places[(first - own->places + 1) % BUFFERS];
}

static iso_operand at(const place *in, int64_t offset)
{
    return (iso_operand){in->buffer, offset};
}

static iso_stream stream_of(const soak_own *own)
{
    return own->streams[own->now];
}

static void settle(soak_own *own)
{
    SOAK_OK(iso_stream_sync(stream_of(own)));
    while (own->kept_count > 0) {
        free(own->kept[--own->kept_count]);
    }
}

/* Host memory for a transfer. */
static unsigned char *keep(soak_own *own, size_t bytes)
{
    unsigned char *block = malloc(bytes ? bytes : 1);
    SOAK_CHECK(block != NULL);
    if (own->kept_count == KEPT_MAX) {
        settle(own);
    }
    own->kept[own->kept_count++] = block;
    return block;
}

static void compare(soak_own *own, const place *in)
{
    unsigned char *read = keep(own, BYTES);
    SOAK_OK(iso_read(stream_of(own), read, at(in, 0), BYTES));
    SOAK_OK(iso_stream_sync(stream_of(own)));
    SOAK_CHECK(memcmp(read, in->expected, BYTES) == 0);
    settle(own);
}

/* ---- commands -------------------------------------------------------------------------------- */

static void write_part(soak_own *own)
{
    place *to = any_place(own);
    const int64_t offset = below(own, BYTES), bytes = below(own, BYTES - (int)offset + 1);
    unsigned char *from = keep(own, (size_t)bytes);
    for (int64_t i = 0; i < bytes; i++) {
        from[i] = (unsigned char)soak_next(&own->random);
    }
    SOAK_OK(iso_write(stream_of(own), at(to, offset), from, bytes));
    memcpy(to->expected + offset, from, (size_t)bytes);
}

static void fill_part(soak_own *own)
{
    place *to = any_place(own);
    unsigned char pattern[16];
    const int64_t unit = INT64_C(1) << below(own, 5), units = BYTES / unit;
    const int64_t first = below(own, (int)units), count = below(own, (int)(units - first) + 1);
    for (int64_t i = 0; i < unit; i++) {
        pattern[i] = (unsigned char)soak_next(&own->random);
    }
    SOAK_OK(iso_fill(stream_of(own), at(to, first * unit), pattern, unit, count * unit));
    for (int64_t i = 0; i < count; i++) {
        memcpy(to->expected + (first + i) * unit, pattern, (size_t)unit);
    }
}

static void copy_rows(soak_own *own)
{
    const place *from = any_place(own);
    place *to = another(own, from);
    const int64_t width = 1 + below(own, 64), height = 1 + below(own, 30);
    const int64_t to_pitch = width + below(own, 64), from_pitch = width + below(own, 64);
    SOAK_OK(
        iso_copy_2d(stream_of(own), at(to, 8), to_pitch, at(from, 16), from_pitch, width, height));
    for (int64_t i = 0; i < height; i++) {
        memcpy(to->expected + 8 + i * to_pitch, from->expected + 16 + i * from_pitch,
               (size_t)width);
    }
}

static void map_words(soak_own *own)
{
    static const iso_map_op ops[] = {ISO_MAP_COPY, ISO_MAP_ADD, ISO_MAP_MULTIPLY};
    const place *x = any_place(own), *y = any_place(own);
    place *z = any_place(own);
    iso_map_args args = ISO_MAP_ARGS_INIT;
    uint32_t a[WORDS], b[WORDS];
    args.op = ops[below(own, 3)];
    args.dtype = ISO_I32;
    args.variant = below(own, 2) ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED;
    args.n = below(own, WORDS + 1);
    args.x = at(x, 0);
    args.y = args.op == ISO_MAP_COPY ? (iso_operand){{0}, 0} : at(y, 0);
    args.z = at(z, 0);
    SOAK_OK(iso_map(stream_of(own), &args));
    memcpy(a, x->expected, BYTES);
    memcpy(b, y->expected, BYTES);
    for (int64_t i = 0; i < args.n; i++) {
        a[i] = args.op == ISO_MAP_COPY ? a[i] : args.op == ISO_MAP_ADD ? a[i] + b[i] : a[i] * b[i];
    }
    memcpy(z->expected, a, (size_t)args.n * 4);
}

static void transpose(soak_own *own)
{
    const place *from = any_place(own);
    place *to = another(own, from);
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    const int64_t element = INT64_C(1) << below(own, 5);
    args.element_bytes = element;
    args.variant = below(own, 2) ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED;
    args.rows = 1 + below(own, 15);
    args.cols = 1 + below(own, 15);
    args.from = at(from, 0);
    args.to = at(to, 0);
    if (below(own, 2)) {
        SOAK_OK(iso_prepare(stream_of(own), ISO_OP_TRANSPOSE, &args));
    }
    SOAK_OK(iso_transpose(stream_of(own), &args));
    for (int64_t i = 0; i < args.rows; i++) {
        for (int64_t j = 0; j < args.cols; j++) {
            memcpy(to->expected + (j * args.rows + i) * element,
                   from->expected + (i * args.cols + j) * element, (size_t)element);
        }
    }
}

static uint64_t word(const place *in, int64_t i)
{
    uint64_t value;
    memcpy(&value, in->expected + 8 * i, sizeof value);
    return value;
}

static void reduce(soak_own *own)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_PARTIALS};
    const place *x = any_place(own);
    place *to = another(own, x);
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = below(own, 2) ? ISO_SUM : ISO_MAX;
    args.dtype = ISO_I64;
    args.variant = variants[below(own, 3)];
    args.cols = 1 + below(own, BYTES / 8);
    args.x = at(x, 0);
    args.result = at(to, 8 * below(own, BYTES / 8));
    int64_t scratch = -1;
    SOAK_OK(iso_workspace(own->view.device, ISO_OP_REDUCE, &args, &scratch));
    SOAK_CHECK(scratch >= 0);
    SOAK_OK(iso_reduce(stream_of(own), &args));
    uint64_t result = word(x, 0);
    for (int64_t i = 1; i < args.cols; i++) {
        const uint64_t next = word(x, i);
        result = args.op == ISO_SUM                ? result + next
                 : (int64_t)next > (int64_t)result ? next
                                                   : result;
    }
    memcpy(to->expected + args.result.offset, &result, sizeof result);
}

/* Small whole numbers, whose products and sums are exact in every variant. */
static void multiply(soak_own *own)
{
    static const iso_variant variants[] = {ISO_VARIANT_AUTO, ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};
    place *a = any_place(own), *b = another(own, a);
    place *c = &own->places[0];
    while (c == a || c == b) {
        c++;
    }
    float values[2][WORDS];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = variants[below(own, 3)];
    args.m = 1 + below(own, 31);
    args.n = 1 + below(own, 31);
    args.k = below(own, 32);
    args.a = at(a, 0);
    args.b = at(b, 0);
    args.c = at(c, 0);
    for (int i = 0; i < 2; i++) {
        place *in = i ? b : a;
        unsigned char *from = keep(own, BYTES);
        for (int j = 0; j < WORDS; j++) {
            values[i][j] = (float)(below(own, 7) - 3);
        }
        memcpy(from, values[i], BYTES);
        memcpy(in->expected, from, BYTES);
        SOAK_OK(iso_write(stream_of(own), at(in, 0), from, BYTES));
    }
    SOAK_OK(iso_supports(own->view.device, ISO_OP_GEMM, &args));
    SOAK_OK(iso_execute(stream_of(own), ISO_OP_GEMM, &args));
    for (int64_t i = 0; i < args.m; i++) {
        for (int64_t j = 0; j < args.n; j++) {
            float sum = 0;
            for (int64_t k = 0; k < args.k; k++) {
                sum += values[0][i * args.k + k] * values[1][k * args.n + j];
            }
            memcpy(c->expected + (i * args.n + j) * 4, &sum, sizeof sum);
        }
    }
}

/* Continues on the other stream, ordered behind this one. */
static void change_stream(soak_own *own)
{
    SOAK_OK(iso_event_record(own->view.event, stream_of(own)));
    own->now = !own->now;
    SOAK_OK(iso_stream_wait(stream_of(own), own->view.event));
    own->view.stream = stream_of(own);
}

/* A buffer and a tensor of it: either may be destroyed first. */
static void lend_tensor(soak_own *own)
{
    iso_dlpack_managed_versioned *old = own->tensor;
    iso_tensor tensor = ISO_TENSOR_INIT, back = ISO_TENSOR_INIT;
    own->tensor = NULL;
    if (old) {
        SOAK_CHECK(memcmp(old->tensor.data, "a tensor that outlives", 22) == 0);
        old->deleter(old);
    }
    iso_buffer made;
    SOAK_OK(iso_buffer_create(own->view.device, 64, &made));
    unsigned char *from = keep(own, 64);
    memcpy(from, "a tensor that outlives its buffer and its device's handle......", 64);
    SOAK_OK(iso_write(stream_of(own), (iso_operand){made, 0}, from, 64));
    tensor.buffer = made;
    tensor.dtype = ISO_I32;
    tensor.ndim = 1;
    tensor.shape[0] = 16;
    SOAK_OK(iso_dlpack_export(stream_of(own), (iso_stream){0}, &tensor, &own->tensor));
    SOAK_OK(iso_buffer_destroy(made));
    if (below(own, 2)) { /* imports it again, which takes ownership */
        SOAK_OK(iso_dlpack_import(stream_of(own), own->tensor, ISO_DLPACK_VERSIONED, &back));
        SOAK_CHECK(back.ndim == 1 && back.shape[0] == 16 && back.dtype == ISO_I32);
        SOAK_OK(iso_buffer_destroy(back.buffer));
        own->tensor = NULL;
    }
}

/* A new buffer in place of an old one, whose handle is stale from now on. */
static void replace(soak_own *own)
{
    place *in = any_place(own);
    own->view.stale[3] = in->buffer.id;
    SOAK_OK(iso_buffer_destroy(in->buffer));
    SOAK_OK(iso_buffer_create(own->view.device, BYTES, &in->buffer));
    SOAK_OK(iso_fill(stream_of(own), at(in, 0), "\0", 1, BYTES));
    memset(in->expected, 0, BYTES);
    iso_event event = {own->view.event.id};
    if (below(own, 4) == 0) {
        own->view.stale[2] = event.id;
        SOAK_OK(iso_event_destroy(event));
        SOAK_OK(iso_event_create(own->view.device, &own->view.event));
    }
    own->view.buffer = own->places[0].buffer;
}

static void between_devices(soak_own *own)
{
    const place *from = any_place(own);
    place *to = another(own, from);
    iso_path path = (iso_path)0;
    iso_stream far;
    iso_buffer middle;
    SOAK_OK(iso_stream_create(own->view.other, 0, &far));
    SOAK_OK(iso_buffer_create(own->view.other, BYTES, &middle));
    SOAK_OK(
        iso_copy_between(far, (iso_operand){middle, 0}, stream_of(own), at(from, 0), BYTES, &path));
    SOAK_CHECK(path >= ISO_PATH_SAME && path <= ISO_PATH_STAGED);
    SOAK_OK(
        iso_copy_between(stream_of(own), at(to, 0), far, (iso_operand){middle, 0}, BYTES, NULL));
    SOAK_OK(iso_buffer_destroy(middle));
    own->view.stale[1] = far.id;
    SOAK_OK(iso_stream_destroy(far));
    memcpy(to->expected, from->expected, BYTES);
}

static void pin(soak_own *own)
{
    void *block = NULL;
    int32_t pinned = -1;
    SOAK_OK(iso_host_alloc(own->view.device, BYTES, &block, &pinned));
    place *to = any_place(own);
    memset(block, below(own, 256), BYTES);
    memcpy(to->expected, block, BYTES);
    SOAK_OK(iso_write(stream_of(own), at(to, 0), block, BYTES));
    SOAK_OK(iso_host_free(own->view.device, block)); /* waits for the transfer */
}

static void look_at_all(soak_own *own)
{
    compare(own, any_place(own));
}

/* Some of the commands above, recorded and launched once, perhaps on the other stream. */
static void record(soak_own *own)
{
    static void (*const commands[])(soak_own *own) = {write_part, fill_part, copy_rows, map_words,
                                                      transpose,  reduce,    multiply};
    const int count = below(own, 6);
    iso_graph graph;
    settle(own); /* there is room to keep what the commands need: none may wait for the stream */
    SOAK_OK(iso_graph_begin(stream_of(own)));
    for (int i = 0; i < count; i++) {
        commands[below(own, (int)(sizeof commands / sizeof commands[0]))](own);
        (void)SOAK_CALL(iso_stream_sync(stream_of(own)), SOAK(INVALID));
    }
    SOAK_OK(iso_graph_end(stream_of(own), &graph));
    if (below(own, 2)) {
        change_stream(own);
    }
    SOAK_OK(iso_graph_launch(graph, stream_of(own)));
    SOAK_OK(iso_graph_destroy(graph));
}

void soak_own_step(soak_own *own)
{
    static void (*const commands[])(soak_own *own) = {
        write_part,      fill_part, copy_rows,     map_words,   transpose,
        reduce,          multiply,  change_stream, lend_tensor, replace,
        between_devices, pin,       record,        look_at_all, look_at_all};
    commands[below(own, (int)(sizeof commands / sizeof commands[0]))](own);
}

/* ---- its lifetime ---------------------------------------------------------------------------- */

static void open_all(soak_own *own)
{
    soak_view *view = &own->view;
    memset(view->stale, 0, sizeof view->stale);
    SOAK_OK(iso_device_open(soak_spec, &view->device));
    SOAK_OK(iso_device_open(soak_spec, &view->other));
    for (int i = 0; i < STREAMS; i++) {
        SOAK_OK(iso_stream_create(view->device, below(own, 2) ? ISO_STREAM_INLINE : 0,
                                  &own->streams[i]));
    }
    SOAK_OK(iso_event_create(view->device, &view->event));
    SOAK_OK(iso_buffer_create(view->other, BYTES, &view->others));
    for (int i = 0; i < BUFFERS; i++) {
        SOAK_OK(iso_buffer_create(view->device, BYTES, &own->places[i].buffer));
        SOAK_OK(iso_fill(stream_of(own), at(&own->places[i], 0), "\0", 1, BYTES));
        memset(own->places[i].expected, 0, BYTES);
    }
    view->stream = stream_of(own);
    view->buffer = own->places[0].buffer;
    view->bytes = BYTES;
}

soak_own *soak_own_open(uint64_t seed)
{
    soak_own *own = calloc(1, sizeof *own);
    SOAK_CHECK(own != NULL);
    own->random.state = seed;
    open_all(own);
    return own;
}

void soak_own_settle(soak_own *own)
{
    settle(own);
    SOAK_OK(iso_stream_sync(own->streams[!own->now]));
}

void soak_own_close(soak_own *own)
{
    for (int i = 0; i < BUFFERS; i++) {
        compare(own, &own->places[i]);
    }
    if (own->tensor) {
        iso_dlpack_managed_versioned *last = own->tensor;
        const int first = below(own, 2);
        if (first) {
            last->deleter(last);
        }
        SOAK_OK(iso_device_close(own->view.device));
        if (!first) {
            last->deleter(last);
        }
    } else {
        SOAK_OK(iso_device_close(own->view.device));
    }
    (void)SOAK_CALL(iso_stream_sync(own->streams[0]), SOAK(INVALID));
    (void)SOAK_CALL(iso_buffer_destroy(own->places[0].buffer), SOAK(INVALID));
    SOAK_OK(iso_device_close(own->view.other));
    free(own);
}

void soak_own_forked(soak_own *own)
{
    (void)SOAK_CALL(iso_stream_sync(own->streams[0]), SOAK(INVALID));
    (void)SOAK_CALL(iso_event_query(own->view.event), SOAK(INVALID));
    (void)SOAK_CALL(iso_buffer_destroy(own->places[0].buffer), SOAK(INVALID));
    (void)SOAK_CALL(iso_device_close(own->view.device), SOAK(INVALID));
    if (own->tensor) { /* frees no memory of the device, and is not an error */
        iso_dlpack_managed_versioned *parents = own->tensor;
        own->tensor = NULL;
        parents->deleter(parents);
    }
}

const soak_view *soak_own_view(soak_own *own)
{
    return &own->view;
}
