/* SPDX-License-Identifier: Apache-2.0 */
/* nth_session.c - the session of nth.h and its checks. */
#include "tests/faults/nth.h"

#include "tests/faults/starve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000, BYTES = COUNT * 4, ROWS = 20, COLS = 30 };

typedef struct objects {
    nth_session *session;
    int step;
    bool over; /* stop: try nothing more */
    uint64_t value;
    iso_device device;
    iso_stream streams[2];
    iso_event event;
    iso_buffer buffers[3];
} objects;

/* ---- results of a call ----------------------------------------------------------------------- */

static void see(objects *o, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) {
        o->value = (o->value ^ at[i]) * 0x100000001b3u;
    }
}

static void see_text(objects *o, const char *text)
{
    see(o, text, strlen(text) + 1);
}

static void see_bool(objects *o, bool value)
{
    see(o, &value, sizeof value);
}

static void wrong(objects *o, const char *name, const char *what)
{
    nth_session *s = o->session;
    if (!s->problem[0]) {
        snprintf(s->problem, sizeof s->problem, "%s %s; its text: %.600s", name, what,
                 iso_last_error());
    }
    o->over = true;
}

/* Without memory, the text of an unrelated failure is cut. */
static void see_error(objects *o)
{
    char text[100];
    snprintf(text, sizeof text, "%s", iso_last_error());
    see_text(o, text);
}

/* ---- one step -------------------------------------------------------------------------------- */

static void judge_no_memory(objects *o, const char *name, bool refused)
{
    const char *text = iso_last_error();
    o->session->failed++;
    if (!refused) {
        wrong(o, name, "answers NO_MEMORY although nothing was refused");
    } else if (iso_last_status() != ISO_NO_MEMORY || !strstr(text, "memory")) {
        wrong(o, name, "answers NO_MEMORY and does not say for what");
    } else if (strncmp(text, "iso_", 4) != 0) {
        wrong(o, name, "answers NO_MEMORY and does not name the call");
    }
    o->over = o->over || o->session->onwards;
}

static void judge(objects *o, const char *name, iso_status status)
{
    nth_record *record = o->session->record;
    char text[160];
    if (o->step == NTH_STEPS) {
        wrong(o, name, "is one step too many");
        return;
    }
    if (!record->known) {
        snprintf(record->steps[o->step].name, NTH_NAME, "%s", name);
        record->steps[o->step].status = status;
        record->steps[o->step].value = o->value;
        record->count = o->step + 1;
    }
    if (strcmp(record->steps[o->step].name, name) != 0) {
        snprintf(text, sizeof text, "is made where %s was", record->steps[o->step].name);
        wrong(o, name, text);
    } else if (record->steps[o->step].status != status) {
        snprintf(text, sizeof text, "answers %s, and %s where nothing fails",
                 iso_status_name(status), iso_status_name(record->steps[o->step].status));
        wrong(o, name, text);
    } else if (record->steps[o->step].value != o->value) {
        wrong(o, name, "answers OK and gives something else");
    }
}

typedef iso_status (*call)(objects *o);

static void try_it(objects *o, const char *name, call make)
{
    if (o->over) {
        return;
    }
    for (int i = 0; i < 2 && !o->over; i++) {
        const long before = starve_refused();
        iso_clear_error();
        o->value = 0;
        const iso_status status = make(o);
        if (status != ISO_NO_MEMORY || i > 0) {
            judge(o, name, status);
            break;
        }
        judge_no_memory(o, name, starve_refused() > before);
    }
    o->step++;
}

#define STEP(make) try_it(o, #make, make)

/* ---- queries --------------------------------------------------------------------------------- */

static iso_status enumerate(objects *o)
{
    enum { ROOM = 24 };
    static iso_entry entries[ROOM];
    int32_t count = 0;
    entries[0].size = (uint32_t)sizeof entries[0];
    const iso_status status = iso_enumerate(entries, ROOM, &count);
    see(o, &count, sizeof count);
    for (int32_t i = 0; status == ISO_OK && i < count && i < ROOM; i++) {
        see_text(o, entries[i].backend);
        see_text(o, entries[i].reason);
        see(o, &entries[i].state, sizeof entries[i].state);
    }
    return status;
}

static iso_status settings(objects *o)
{
    static iso_setting setting;
    iso_status status = ISO_OK;
    for (int32_t i = 0; status == ISO_OK; i++) {
        setting.size = (uint32_t)sizeof setting;
        status = iso_get_setting(i, &setting);
        if (status == ISO_OK) {
            see_text(o, setting.name);
            see_text(o, setting.value);
        }
    }
    return status;
}

static iso_status open_unknown(objects *o)
{
    iso_device device;
    const iso_status status = iso_device_open("nowhere", &device);
    see(o, &device, sizeof device);
    if (status == ISO_INVALID) {
        see_error(o);
    }
    return status;
}

static iso_status list_unknown(objects *o)
{
    static iso_spec entry;
    char spec[128];
    entry.size = (uint32_t)sizeof entry;
    snprintf(spec, sizeof spec, "%s, nowhere:0", o->session->spec);
    const iso_status status = iso_spec_get(spec, 0, &entry);
    if (status == ISO_INVALID) {
        see_error(o);
    }
    return status;
}

static iso_status open_list(objects *o)
{
    char spec[128], text[2048] = "";
    iso_device device;
    snprintf(spec, sizeof spec, "%s:999,%s", o->session->spec, o->session->spec);
    const iso_status status = iso_device_open(spec, &device);
    if (status == ISO_OK) {
        (void)iso_device_get_choice(device, text, sizeof text);
        see_text(o, text);
        (void)iso_device_close(device);
    }
    return status;
}

static iso_status open_device(objects *o)
{
    return iso_device_open(o->session->spec, &o->device);
}

static iso_status choice(objects *o)
{
    char text[2048] = "";
    const iso_status status = iso_device_get_choice(o->device, text, sizeof text);
    see_text(o, text);
    return status;
}

static iso_status info(objects *o)
{
    iso_device_info about = ISO_DEVICE_INFO_INIT;
    const iso_status status = iso_device_get_info(o->device, &about);
    see_text(o, about.name);
    see_text(o, about.driver);
    see_text(o, about.runtime);
    see_bool(o, about.memory_total > 0); /* PoCL's depends on what other processes use */
    return status;
}

static iso_status properties(objects *o)
{
    static iso_property property;
    iso_status status = ISO_OK;
    for (int32_t i = 0; status == ISO_OK; i++) {
        property.size = (uint32_t)sizeof property;
        status = iso_device_get_property(o->device, i, &property);
        if (status == ISO_OK) {
            see_text(o, property.name);
            see_text(o, property.value);
        }
    }
    return status;
}

static iso_status telemetry(objects *o)
{
    iso_telemetry sensors = ISO_TELEMETRY_INIT;
    const iso_status status = iso_device_get_telemetry(o->device, &sensors);
    if (status == ISO_OK) {
        see_text(o, sensors.source);
    }
    return status;
}

static iso_status memory_use(objects *o)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    const iso_status status = iso_device_get_memory_use(o->device, &use);
    see(o, &use.limit, sizeof use.limit);
    see(o, &use.used, sizeof use.used);
    return status;
}

static iso_status adopt(objects *o)
{
    iso_native_device native = ISO_NATIVE_DEVICE_INIT;
    iso_device device;
    iso_status status = iso_native_get(ISO_NATIVE_CONTEXT, o->device.id, &native.context);
    if (status == ISO_OK) {
        status = iso_native_get(ISO_NATIVE_DEVICE, o->device.id, &native.device);
    }
    if (status == ISO_OK) {
        status = iso_device_adopt(o->session->spec, &native, NULL, &device);
    }
    return status ? status : iso_device_close(device);
}

/* ---- objects --------------------------------------------------------------------------------- */

static iso_status stream_one(objects *o)
{
    return iso_stream_create(o->device, 0, &o->streams[0]);
}

static iso_status stream_two(objects *o)
{
    return iso_stream_create(o->device, 0, &o->streams[1]);
}

static iso_status stream_inline(objects *o)
{
    iso_stream stream;
    const iso_status status = iso_stream_create(o->device, ISO_STREAM_INLINE, &stream);
    return status ? status : iso_stream_destroy(stream);
}

static iso_status event(objects *o)
{
    return iso_event_create(o->device, &o->event);
}

static iso_status buffer_one(objects *o)
{
    return iso_buffer_create(o->device, BYTES, &o->buffers[0]);
}

static iso_status buffer_two(objects *o)
{
    return iso_buffer_create(o->device, BYTES, &o->buffers[1]);
}

static iso_status buffer_three(objects *o)
{
    return iso_buffer_create(o->device, BYTES, &o->buffers[2]);
}

static iso_status host_block(objects *o)
{
    void *block = NULL;
    const iso_status status = iso_host_alloc(o->device, BYTES, &block, NULL);
    return status ? status : iso_host_free(o->device, block);
}

static iso_status host_pinned(objects *o)
{
    static _Alignas(4096) char block[8192];
    const iso_status status = iso_host_register(o->device, block, sizeof block, NULL);
    return status ? status : iso_host_unregister(o->device, block);
}

static iso_status imported(objects *o)
{
    void *native = NULL;
    iso_buffer buffer;
    iso_status status = iso_native_get(ISO_NATIVE_MEMORY, o->buffers[0].id, &native);
    if (status == ISO_OK) {
        status = iso_buffer_import(o->device, native, BYTES, 0, NULL, NULL, &buffer);
    }
    return status ? status : iso_buffer_destroy(buffer);
}

static iso_status tensor(objects *o)
{
    iso_tensor given = ISO_TENSOR_INIT, back = ISO_TENSOR_INIT;
    void *managed = NULL;
    given.buffer = o->buffers[0];
    given.dtype = ISO_F32;
    given.ndim = 1;
    given.shape[0] = COUNT;
    iso_status status = iso_dlpack_export(o->streams[0], (iso_stream){0}, &given, &managed);
    if (status != ISO_OK) {
        return status;
    }
    status = iso_dlpack_import(o->streams[0], managed, ISO_DLPACK_VERSIONED, &back);
    if (status == ISO_OK) {
        return iso_buffer_destroy(back.buffer);
    }
    ((iso_dlpack_managed_versioned *)managed)->deleter(managed);
    return status;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static iso_operand at(const objects *o, int which)
{
    return (iso_operand){o->buffers[which], 0};
}

/* A result that a vendor's routine may round differently is not compared. */
static iso_status come_back(objects *o, int which, bool same_bits)
{
    static float data[COUNT];
    iso_status status = iso_read(o->streams[0], data, at(o, which), BYTES);
    if (status == ISO_OK) {
        status = iso_stream_sync(o->streams[0]);
    }
    if (status == ISO_OK && same_bits) {
        see(o, data, sizeof data);
    }
    return status;
}

static iso_status write_all(objects *o)
{
    static float data[COUNT];
    iso_status status = ISO_OK;
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)(i % 17) - 8;
    }
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = iso_write(o->streams[0], at(o, i), data, BYTES);
    }
    return status ? status : come_back(o, 2, true);
}

static iso_status fill(objects *o)
{
    const iso_status status = iso_fill(o->streams[0], at(o, 2), "\0\0\200?", 4, BYTES);
    return status ? status : come_back(o, 2, true);
}

static iso_status move_2d(objects *o)
{
    const int64_t pitch = COLS * 4;
    iso_status status =
        iso_copy_2d(o->streams[0], at(o, 2), pitch, at(o, 0), pitch, COLS * 2, ROWS);
    if (status == ISO_OK) {
        status = iso_fill_2d(o->streams[0], at(o, 2), pitch, "\0\0\200?", 4, COLS * 2, 3);
    }
    return status ? status : come_back(o, 2, true);
}

static iso_status between_streams(objects *o)
{
    iso_path path = ISO_PATH_SAME;
    const iso_status status =
        iso_copy_between(o->streams[0], at(o, 2), o->streams[1], at(o, 1), BYTES, &path);
    see(o, &path, sizeof path);
    return status ? status : come_back(o, 2, true);
}

static iso_status between_devices(objects *o)
{
    const bool own = strcmp(o->session->spec, "reference") == 0;
    iso_device device;
    iso_stream stream;
    iso_buffer buffer = {0};
    iso_path path = ISO_PATH_SAME;
    iso_status status = iso_device_open(own ? "openmp" : "reference", &device);
    if (status != ISO_OK) {
        return status;
    }
    status = iso_stream_create(device, 0, &stream);
    if (status == ISO_OK) {
        status = iso_buffer_create(device, BYTES, &buffer);
    }
    if (status == ISO_OK) {
        status = iso_copy_between(stream, (iso_operand){buffer, 0}, o->streams[0], at(o, 0), BYTES,
                                  &path);
    }
    see(o, &path, sizeof path);
    const iso_status closed = iso_device_close(device);
    return status ? status : closed;
}

static iso_status marked(objects *o)
{
    iso_status status = iso_event_record(o->event, o->streams[0]);
    if (status == ISO_OK) {
        status = iso_stream_wait(o->streams[1], o->event);
    }
    return status ? status : iso_event_sync(o->event);
}

/* ---- operations ------------------------------------------------------------------------------ */

static iso_status run(objects *o, iso_op_kind kind, const void *args, bool same_bits)
{
    iso_op_info about = ISO_OP_INFO_INIT;
    iso_status status = iso_describe(o->device, kind, args, &about);
    see_text(o, about.library);
    if (status == ISO_OK) {
        status = iso_prepare(o->streams[0], kind, args);
    }
    if (status == ISO_OK) {
        status = iso_execute(o->streams[0], kind, args);
    }
    return status ? status : come_back(o, 2, same_bits);
}

static iso_status product(objects *o, iso_variant variant, iso_dtype dtype)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = dtype;
    args.variant = variant;
    args.m = args.n = args.k = 32;
    args.a = at(o, 0);
    args.b = at(o, 1);
    args.c = at(o, 2);
    return run(o, ISO_OP_GEMM, &args, variant != ISO_VARIANT_VENDOR);
}

static iso_status product_tiled(objects *o)
{
    return product(o, ISO_VARIANT_TILED, ISO_F32);
}

static iso_status product_vendor(objects *o)
{
    return product(o, ISO_VARIANT_VENDOR, ISO_F32);
}

static iso_status product_vendor_half(objects *o)
{
    return product(o, ISO_VARIANT_VENDOR, ISO_F16);
}

static iso_status reduce(objects *o, iso_variant variant)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.cols = COUNT;
    args.x = at(o, 0);
    args.result = at(o, 2);
    return run(o, ISO_OP_REDUCE, &args, variant == ISO_VARIANT_TILED);
}

static iso_status reduce_tiled(objects *o)
{
    return reduce(o, ISO_VARIANT_TILED);
}

static iso_status reduce_vendor(objects *o)
{
    return reduce(o, ISO_VARIANT_VENDOR);
}

static iso_status turn(objects *o, iso_variant variant)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.variant = variant;
    args.element_bytes = 4;
    args.rows = ROWS;
    args.cols = COLS;
    args.from = at(o, 0);
    args.to = at(o, 2);
    return run(o, ISO_OP_TRANSPOSE, &args, true);
}

static iso_status turn_tiled(objects *o)
{
    return turn(o, ISO_VARIANT_TILED);
}

static iso_status turn_vendor(objects *o)
{
    return turn(o, ISO_VARIANT_VENDOR);
}

static iso_status map_add(objects *o)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.n = COUNT;
    args.x = at(o, 0);
    args.y = at(o, 1);
    args.z = at(o, 2);
    return run(o, ISO_OP_MAP, &args, true);
}

/* Whether the device launches the graph as a whole never depends on memory. */
static iso_status use_graph(objects *o, iso_graph graph)
{
    iso_graph_info about = ISO_GRAPH_INFO_INIT;
    iso_status status = iso_graph_get_info(graph, &about);
    see(o, &about.whole, sizeof about.whole);
    see(o, &about.works, sizeof about.works);
    for (int i = 0; i < 2 && status == ISO_OK; i++) {
        status = iso_graph_launch(graph, o->streams[i]);
    }
    return status ? status : iso_stream_sync(o->streams[1]);
}

static iso_status graph(objects *o)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_graph made = {0};
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = args.k = 32;
    args.a = at(o, 0);
    args.b = at(o, 1);
    args.c = at(o, 2);
    iso_status status = iso_graph_begin(o->streams[0]);
    if (status == ISO_OK) {
        status = iso_fill(o->streams[0], at(o, 2), "\0\0\200?", 4, BYTES);
        if (status == ISO_OK) {
            status = iso_gemm(o->streams[0], &args);
        }
        const iso_status ended = iso_graph_end(o->streams[0], status == ISO_OK ? &made : NULL);
        status = status ? status : ended;
    }
    if (made.id) {
        status = use_graph(o, made);
        const iso_status gone = iso_graph_destroy(made);
        status = status ? status : gone;
    }
    return status ? status : come_back(o, 2, true);
}

/* ---- the whole session ----------------------------------------------------------------------- */

static void work(objects *o)
{
    STEP(stream_one);
    STEP(stream_two);
    STEP(stream_inline);
    STEP(event);
    STEP(buffer_one);
    STEP(buffer_two);
    STEP(buffer_three);
    STEP(host_block);
    STEP(host_pinned);
    STEP(imported);
    STEP(tensor);
    STEP(memory_use);
    STEP(write_all);
    STEP(fill);
    STEP(move_2d);
    STEP(between_streams);
    STEP(between_devices);
    STEP(marked);
    STEP(product_tiled);
    STEP(product_vendor);
    STEP(product_vendor_half);
    STEP(reduce_tiled);
    STEP(reduce_vendor);
    STEP(turn_tiled);
    STEP(turn_vendor);
    STEP(map_add);
    STEP(graph);
}

void nth_run(nth_session *session)
{
    objects all = {.session = session}, *o = &all;
    session->failed = 0;
    session->problem[0] = '\0';
    STEP(settings);
    STEP(enumerate);
    STEP(open_unknown);
    STEP(list_unknown);
    STEP(open_list);
    STEP(open_device);
    STEP(choice);
    STEP(info);
    STEP(properties);
    STEP(telemetry);
    STEP(adopt);
    work(o);
    if (o->device.id && iso_device_close(o->device) != ISO_OK) {
        wrong(o, "iso_device_close", "fails");
    }
    session->record->known = true;
}
