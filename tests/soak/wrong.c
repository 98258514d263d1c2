/* SPDX-License-Identifier: Apache-2.0 */
/* wrong.c - calls that break a rule, with otherwise valid arguments: each is refused with the
 * status of its rule and a text, and does nothing. */
#include "tests/soak/soak.h"

#define INVALID  SOAK(INVALID)
#define MISMATCH SOAK(MISMATCH)

typedef struct scene {
    const soak_view *view;
    soak_random *random;
    iso_operand good, other; /* of the device, and of another */
    char host[64];
} scene;

static void handles(scene *at)
{
    const uint64_t none = soak_below(at->random, 2) ? 0 : soak_next(at->random);
    iso_stream stream;
    iso_event event;
    iso_buffer buffer;
    (void)SOAK_CALL(iso_device_close((iso_device){none}), INVALID);
    (void)SOAK_CALL(iso_stream_sync((iso_stream){none}), INVALID);
    (void)SOAK_CALL(iso_stream_create((iso_device){none}, 0, &stream), INVALID);
    (void)SOAK_CALL(iso_event_create((iso_device){none}, &event), INVALID);
    (void)SOAK_CALL(iso_buffer_create((iso_device){none}, 64, &buffer), INVALID);
    (void)SOAK_CALL(iso_buffer_destroy((iso_buffer){none}), INVALID);
    (void)SOAK_CALL(iso_event_record((iso_event){none}, at->view->stream), INVALID);
}

/* An object's handle with another kind's tag. */
static void kinds(scene *at)
{
    const soak_view *v = at->view;
    void *native;
    (void)SOAK_CALL(iso_device_close((iso_device){v->stream.id}), INVALID);
    (void)SOAK_CALL(iso_stream_destroy((iso_stream){v->buffer.id}), INVALID);
    (void)SOAK_CALL(iso_event_destroy((iso_event){v->device.id}), INVALID);
    (void)SOAK_CALL(iso_buffer_destroy((iso_buffer){v->event.id}), INVALID);
    (void)SOAK_CALL(iso_native_get(ISO_NATIVE_MEMORY, v->event.id, &native), INVALID);
}

static void stale(scene *at)
{
    const uint64_t *gone = at->view->stale;
    (void)SOAK_CALL(iso_stream_sync((iso_stream){gone[1]}), INVALID);
    (void)SOAK_CALL(iso_event_query((iso_event){gone[2]}), INVALID);
    (void)SOAK_CALL(iso_buffer_destroy((iso_buffer){gone[3]}), INVALID);
    (void)SOAK_CALL(iso_write(at->view->stream, (iso_operand){{gone[3]}, 0}, at->host, 8), INVALID);
}

static void transfers(scene *at)
{
    const soak_view *v = at->view;
    const iso_operand past = {v->buffer, v->bytes - 7}, before = {v->buffer, -1};
    (void)SOAK_CALL(iso_write(v->stream, past, at->host, 8), INVALID);
    (void)SOAK_CALL(iso_read(v->stream, at->host, before, 8), INVALID);
    (void)SOAK_CALL(iso_write(v->stream, at->good, NULL, 8), INVALID);
    (void)SOAK_CALL(iso_copy(v->stream, at->good, at->good, 8), INVALID); /* overlap */
    (void)SOAK_CALL(iso_fill(v->stream, at->good, at->host, 3, 9), INVALID);
    (void)SOAK_CALL(iso_copy_2d(v->stream, at->good, 4, past, 8, 8, 2), INVALID);
    (void)SOAK_CALL(iso_read(v->stream, at->host, at->good, INT64_MIN), INVALID);
    (void)SOAK_CALL(iso_write(v->stream, at->other, at->host, 8), MISMATCH);
    (void)SOAK_CALL(iso_copy(v->stream, at->other, at->good, 8), MISMATCH);
}

static void operations(scene *at)
{
    const soak_view *v = at->view;
    iso_gemm_args gemm = ISO_GEMM_ARGS_INIT;
    iso_reduce_args reduce = ISO_REDUCE_ARGS_INIT;
    iso_map_args map = ISO_MAP_ARGS_INIT;
    int64_t bytes;
    gemm.dtype = ISO_F32;
    gemm.m = gemm.n = gemm.k = 4;
    gemm.a = gemm.b = at->good;
    gemm.c = (iso_operand){v->buffer, 1024};
    switch (soak_below(at->random, 8)) {
    case 0:
        gemm.m = -1;
        break;
    case 1:
        gemm.lda = 3;
        break;
    case 2:
        gemm.c.offset = 2;
        break;
    case 3:
        gemm.k = INT64_MAX / 2;
        break;
    case 4:
        gemm.c = gemm.a;
        break;
    case 5:
        gemm.dtype = (iso_dtype)99;
        break;
    case 6:
        gemm.size = 8;
        break;
    default:
        gemm.c.offset = v->bytes - 4;
    }
    (void)SOAK_CALL(iso_gemm(v->stream, &gemm), INVALID);
    (void)SOAK_CALL(iso_gemm(v->stream, NULL), INVALID);
    (void)SOAK_CALL(iso_execute(v->stream, (iso_op_kind)77, &gemm), INVALID);
    reduce.op = ISO_MAX;
    reduce.dtype = ISO_F32;
    reduce.cols = 0; /* over no elements */
    reduce.x = reduce.result = at->good;
    (void)SOAK_CALL(iso_reduce(v->stream, &reduce), INVALID);
    (void)SOAK_CALL(iso_workspace(v->device, ISO_OP_REDUCE, &reduce, NULL), INVALID);
    (void)SOAK_CALL(iso_workspace(v->device, ISO_OP_REDUCE, NULL, &bytes), INVALID);
    map.op = ISO_MAP_SCALE;
    map.dtype = ISO_I32; /* not supported */
    map.n = 4;
    map.x = at->good;
    map.z = (iso_operand){v->buffer, 1024};
    (void)SOAK_CALL(iso_map(v->stream, &map), INVALID);
    map.dtype = ISO_F32;
    map.z = at->other;
    (void)SOAK_CALL(iso_map(v->stream, &map), MISMATCH);
}

static void outputs(scene *at)
{
    const soak_view *v = at->view;
    iso_buffer buffer;
    iso_stream stream;
    iso_buffer_info about = ISO_BUFFER_INFO_INIT;
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;
    iso_dtype dtype;
    about.size = 3;
    (void)SOAK_CALL(iso_buffer_create(v->device, 64, NULL), INVALID);
    (void)SOAK_CALL(iso_buffer_create(v->device, -1, &buffer), INVALID);
    (void)SOAK_CALL(iso_buffer_create(v->device, INT64_MAX, &buffer), SOAK(NO_MEMORY));
    (void)SOAK_CALL(iso_stream_create(v->device, 1u << 30, &stream), SOAK(UNSUPPORTED) | INVALID);
    (void)SOAK_CALL(iso_buffer_get_info(v->buffer, &about), INVALID);
    options.memory_limit = -2;
    (void)SOAK_CALL(iso_device_open_with(soak_spec, &options, &device), INVALID);
    (void)SOAK_CALL(iso_device_open("no-such-backend", &device), INVALID);
    (void)SOAK_CALL(iso_dtype_parse("f31", &dtype), INVALID);
    (void)SOAK_CALL(iso_host_free(v->device, at->host), INVALID);
    (void)SOAK_CALL(iso_stream_sync_timeout(v->stream, -1), INVALID);
}

void soak_wrong_step(soak_own *own, soak_random *random)
{
    static void (*const groups[])(scene *at) = {handles,   kinds,      stale,
                                                transfers, operations, outputs};
    const soak_view *view = soak_own_view(own);
    scene at = {
        .view = view, .random = random, .good = {view->buffer, 0}, .other = {view->others, 0}};
    groups[soak_below(random, (int)(sizeof groups / sizeof groups[0]))](&at);
}
