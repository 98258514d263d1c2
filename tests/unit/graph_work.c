/* SPDX-License-Identifier: Apache-2.0 */
/* graph_work.c - work of every kind: operations, transfers and a kernel of the program's own. */
#include "tests/unit/graph_work.h"

#include <string.h>

const char *graph_spec = "openmp";
bool graph_few;

static const char text[] =
    "ISO_KERNEL(grow, 64, 1, 1)(f32 by, ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)\n"
    "{\n"
    "    ISO_REGION(i)\n"
    "    {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            y[at] = y[at] + by;\n"
    "        }\n"
    "    }\n"
    "}\n";

int graph_setup(void **state)
{
    static graph_session made;
    graph_session *t = &made;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;

    unit_open(&t->s, graph_spec);
    works(iso_buffer_create(t->s.device, BIG_BYTES, &t->big));
    args.text = text;
    works(iso_program_create(t->s.device, &args, &t->program));
    works(iso_kernel_get(t->program, "grow", &t->grow));
    t->spmv = unit_spmv(t->s.device, t->s.buffer, 16);
    t->spmv.variant = ISO_VARIANT_TILED;
    *state = t;
    return 0;
}

int graph_teardown(void **state)
{
    graph_session *t = *state;

    unit_close(&t->s);
    return 0;
}

iso_operand graph_at(iso_buffer buffer, int64_t number)
{
    return (iso_operand){buffer, number * 4};
}

iso_map_args graph_scale(iso_operand x, iso_operand z, double factor)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;

    args.op = ISO_MAP_SCALE;
    args.dtype = ISO_F32;
    args.n = NUMBERS;
    args.alpha = factor;
    args.x = x;
    args.z = z;
    return args;
}

float graph_number(const unit_session *s, iso_buffer buffer, int64_t index)
{
    float value = -1;

    works(iso_read(s->stream, &value, graph_at(buffer, index), sizeof value));
    works(iso_stream_sync(s->stream));
    return value;
}

void graph_set(const unit_session *s, iso_buffer buffer, int64_t index, float value)
{
    works(iso_write(s->stream, graph_at(buffer, index), &value, sizeof value));
    works(iso_stream_sync(s->stream));
}

/* Records y = 2x, from number 0 on to number NUMBERS on. */
iso_graph graph_doubling(const unit_session *s)
{
    const iso_map_args args = graph_scale(graph_at(s->buffer, 0), graph_at(s->buffer, NUMBERS), 2);
    iso_graph graph;

    works(iso_graph_begin(s->stream));
    works(iso_map(s->stream, &args));
    works(iso_graph_end(s->stream, &graph));
    return graph;
}

/* ---- every kind of work ---------------------------------------------------------------------- */

iso_status graph_launch_kernel(const graph_session *t, iso_stream stream)
{
    const iso_argument args[] = {iso_arg_float(1.5), iso_arg_buffer(graph_at(t->s.buffer, 600)),
                                 iso_arg_integer(100)};

    return iso_launch(stream, t->grow, (iso_groups){2, 1, 1}, args, 3);
}

/* A product that needs scratch memory. */
iso_gemm_args graph_long_product(const graph_session *t)
{
    iso_gemm_args args = unit_gemm(t->big, 8);

    args.k = LONG_K;
    args.variant = ISO_VARIANT_TILED;
    args.b.offset = 8 * LONG_K * 4;
    args.c.offset = 16 * LONG_K * 4;
    return args;
}

static void submit_operations(graph_session *t, iso_stream stream)
{
    const iso_buffer buffer = t->s.buffer;
    iso_map_args map = graph_scale(graph_at(buffer, 0), graph_at(buffer, 256), 3);
    iso_gemm_args gemm = unit_gemm(buffer, 8), product = graph_long_product(t);
    iso_gemv_args gemv = unit_gemv(buffer, 12);
    iso_reduce_args sum = unit_sum(buffer, 100), none = unit_sum(buffer, 0);
    iso_transpose_args transpose = unit_transpose(buffer, 12);

    gemm.c = graph_at(buffer, 1024);
    gemv.y = graph_at(buffer, 1200);
    sum.result = graph_at(buffer, 1300);
    none.result = graph_at(buffer, 1301);
    transpose.to = graph_at(buffer, 1400);
    t->spmv.x = graph_at(buffer, 0);
    t->spmv.y = graph_at(buffer, 1600);
    works(iso_map(stream, &map));
    works(iso_gemm(stream, &product));
    works(iso_reduce(stream, &none));
    works(iso_execute(stream, ISO_OP_MAP, &map));
    if (!graph_few) {
        works(iso_gemm(stream, &gemm));
        works(iso_gemv(stream, &gemv));
        works(iso_reduce(stream, &sum));
        works(iso_transpose(stream, &transpose));
    }
    works(iso_spmv(stream, &t->spmv));
    gemm.m = 0; /* nothing to do */
    works(iso_gemm(stream, &gemm));
}

void graph_submit(graph_session *t, iso_stream stream)
{
    const iso_buffer buffer = t->s.buffer;
    uint32_t pattern = 0x3fc00000; /* 1.5f */

    works(iso_write(stream, graph_at(buffer, 0), t->in, sizeof t->in));
    works(iso_write_2d(stream, graph_at(t->big, 0), 2048, t->in, 64, 64, 16));
    works(iso_fill(stream, graph_at(buffer, 600), &pattern, 4, 400));
    works(iso_fill_2d(stream, graph_at(buffer, 2000), 64, &pattern, 4, 8, 10));
    works(iso_copy(stream, graph_at(buffer, 2400), graph_at(buffer, 0), 400));
    works(iso_copy_2d(stream, graph_at(buffer, 2600), 48, graph_at(buffer, 0), 64, 32, 5));
    works(graph_launch_kernel(t, stream));
    pattern = 0; /* patterns are recorded by value */
    submit_operations(t, stream);
    works(iso_read(stream, t->out, graph_at(buffer, 1024), 256));
    works(iso_read_2d(stream, t->out + 64, 64, graph_at(buffer, 600), 128, 32, 3));
    works(iso_write(stream, graph_at(buffer, 0), t->in, 0));
}

/* Sets the inputs, and everything that is written to 0. */
void graph_reset(graph_session *t, float first)
{
    const uint32_t zero = 0;

    works(iso_stream_sync(t->s.stream));
    for (int i = 0; i < NUMBERS; i++) {
        t->in[i] = first + (float)(i % 13) * 0.25f;
        t->out[i] = 0;
    }
    works(iso_fill(t->s.stream, graph_at(t->s.buffer, 0), &zero, 4, UNIT_BYTES));
    works(iso_fill(t->s.stream, graph_at(t->big, 0), &zero, 4, BIG_BYTES));
    works(iso_stream_sync(t->s.stream));
}

void graph_get(const graph_session *t, graph_result *r)
{
    works(iso_stream_sync(t->s.stream));
    memcpy(r->out, t->out, sizeof r->out);
    works(iso_read(t->s.stream, r->buffer, graph_at(t->s.buffer, 0), UNIT_BYTES));
    works(iso_read(t->s.stream, r->big, graph_at(t->big, 0), BIG_BYTES));
    works(iso_stream_sync(t->s.stream));
}
