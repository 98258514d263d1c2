/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - plans transposes: which kernel of kernels/transpose.cl, with which tile. */
#include "backends/simt/simt.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    GROUPS_MOST = 1 << 20, /* beyond this a group handles several tiles */
    SIZES = 5              /* of elements: 1, 2, 4, 8 and 16 bytes */
};

/* The kernels of the source, by index. */
enum { KERNEL_TILED, KERNEL_SWAP, KERNEL_NAIVE, KERNEL_NAIVE_SWAP };

static const char *const transpose_parts[] = {kernel_text_dialect, kernel_text_transpose};

static const simt_text transpose_text = {
    .name = "transpose",
    .parts = transpose_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "?ISO_DTYPE", "CELL_BYTES", "WORD_BYTES", "TILE_ROWS", "TILE_COLS",
                "SWAP_TILE", "?AT_ONCE", "?NAIVE_COLS", "?DIRECT"},
    .kernels = {"transpose_tiled", "transpose_swap", "transpose_naive", "transpose_naive_swap"},
};

/* ---- tiles ----------------------------------------------------------------------------------- */

/*
 * The parameters of a program. The sides of tiles are powers of two. A tile consists of squares of
 * SPAN x SPAN elements, where SPAN is the number of elements in a word. If shared memory is used,
 * each work-item gets the same number of squares, at least one. The same holds for the tiles of a
 * transpose in place.
 */
typedef struct shape {
    int32_t threads, word;
    int32_t side; /* of a tile */
    int32_t swap; /* the side of a tile in a transpose in place */
} shape;

/* Indexed by element size. `plain` is for operands of any alignment. `wide` is for operands that
 * are aligned to words of several elements; elements of 16 bytes have no such words. */
typedef struct shapes {
    shape plain[SIZES], wide[SIZES];
    int32_t band, direct;
} shapes;

static const shapes gpu = {
    {{256, 1, 64, 64}, {256, 2, 64, 64}, {256, 4, 64, 32}, {256, 8, 32, 32}, {256, 16, 32, 32}},
    {{256, 4, 128, 128}, {256, 8, 64, 64}, {256, 16, 64, 64}, {256, 16, 64, 32}, {256, 16, 32, 32}},
    .band = 16,
};
static const shapes cpu = {
    {{64, 1, 64, 64}, {64, 2, 64, 64}, {64, 4, 64, 64}, {32, 8, 32, 32}, {32, 16, 32, 32}},
    {{16, 4, 64, 64}, {16, 8, 64, 64}, {16, 16, 64, 64}, {16, 16, 32, 32}, {32, 16, 32, 32}},
    .band = 1,
    .direct = 1,
};
static const shapes small = {
    {{4, 1, 4, 4}, {4, 2, 4, 4}, {4, 4, 4, 4}, {4, 8, 4, 4}, {4, 16, 4, 4}},
    {{4, 4, 8, 8}, {4, 8, 8, 8}, {4, 16, 8, 8}, {4, 16, 4, 4}, {4, 16, 4, 4}},
    .band = 2,
};

/* Kinds of programs: `plain` and `wide` as above. FEW is for operands whose wide tiles would be too
 * few for the device. */
enum { PLAIN, WIDE, FEW, KINDS };

/* What was found for a class. */
typedef struct found {
    shape few[SIZES]; /* without threads there is none */
    struct {
        int32_t once; /* groups that should fit a unit; 0: what the compiler leaves room for */
        int32_t band; /* rows of tiles in a band; 1: row by row; 0: as in `shapes` */
        int32_t far;  /* the same if the rows of the result are FAR apart; 0: no other */
    } order[KINDS][SIZES];
} found;

/* Measured on an H200, for 4 and 8 bytes (docs/performance.md):
 * - Row by row was fastest, with registers for four groups a unit.
 * - With 8 bytes and rows of the result that are 128 KiB apart, bands of 32 were 5 % faster: they
 *   write longer pieces of fewer rows at a time.
 * - With two tiles for each unit, tiles of a quarter of the size were 9 to 16 % faster. */
static const found nvidia = {
    .few = {[2] = {64, 16, 32, 32}, [3] = {64, 16, 32, 32}},
    .order = {[WIDE] = {[2] = {.once = 4, .band = 1}, [3] = {.once = 4, .band = 1, .far = 32}},
              [FEW] = {[2] = {.once = 12, .band = 32}, [3] = {.once = 12, .band = 32}}},
};
static const found nothing;

/* `naive`: how many columns a group of the naive kernel handles, but never more than it has
 * work-items. */
static const struct {
    const shapes *shapes;
    int32_t naive;
    const found *found;
} classes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {&gpu, 32, &nvidia},  [SIMT_CLASS_WAVE32] = {&gpu, 32, &nothing},
    [SIMT_CLASS_WAVE64] = {&gpu, 64, &nothing}, [SIMT_CLASS_CPU] = {&cpu, 64, &nothing},
    [SIMT_CLASS_SMALL] = {&small, 2, &nothing},
};

static int32_t size_index(int64_t element_bytes)
{
    int32_t index = 0;
    while ((INT64_C(1) << index) < element_bytes) {
        index++;
    }
    return index;
}

static bool fits(const simt_limits *limits, const shape *s, int64_t element_bytes)
{
    const int64_t tile = (int64_t)s->side * s->side, swap = 2 * (int64_t)s->swap * s->swap;
    return s->threads <= limits->threads_max &&
           (tile > swap ? tile : swap) * element_bytes <= limits->local_bytes;
}

/* A program, and how many rows of its tiles are in a band. */
typedef struct choice {
    simt_spec spec;
    int32_t band, far;
} choice;

/* The index of each value in a spec of this source. */
enum { VALUE_WORD = 3, VALUE_ROWS, VALUE_COLS, VALUE_SWAP, VALUE_ONCE, VALUE_NAIVE };

static bool has_few(const simt_limits *limits, int64_t element_bytes)
{
    const shape *s = &classes[limits->device_class].found->few[size_index(element_bytes)];
    return s->threads > 0 && fits(limits, s, element_bytes);
}

/* The naive kernels are only in programs whose word is one element. */
static choice choice_for(const simt_limits *limits, int64_t element_bytes, int kind)
{
    const int32_t index = size_index(element_bytes);
    simt_class device_class = limits->device_class;
    const shapes *all = classes[device_class].shapes;
    const shape *s = kind == FEW    ? &classes[device_class].found->few[index]
                     : kind == WIDE ? &all->wide[index]
                                    : &all->plain[index];
    if (all->direct ? s->threads > limits->threads_max : !fits(limits, s, element_bytes)) {
        device_class = SIMT_CLASS_SMALL;
        all = &small;
        s = kind == PLAIN ? &all->plain[index] : &all->wide[index];
    }
    const found *extra = classes[device_class].found;
    const int32_t naive = (int32_t)simt_least(classes[device_class].naive, s->threads);
    const int32_t own = extra->order[kind][index].band, far = extra->order[kind][index].far;
    const int32_t band = own > 0 ? own : all->band;
    return (choice){.spec = {.text = &transpose_text,
                             .values = {s->threads, 0, (int32_t)element_bytes, s->word, s->side,
                                        s->side, s->swap, extra->order[kind][index].once,
                                        s->word == element_bytes ? naive : 0, all->direct}},
                    .band = band,
                    .far = far > 0 ? far : band};
}

/* ---- planning -------------------------------------------------------------------------------- */

static bool aligned(const simt_device *device, iso_ref ref, int64_t ld_bytes, int64_t word)
{
    return simt_alignment(device, ref) >= word && ld_bytes % word == 0;
}

/* Whether tiles of this program are so few that some units get twice as many as others. */
static bool too_few(const simt_limits *limits, const iso_transpose_op *op, const simt_spec *spec)
{
    enum { EACH = 4 };
    const double down = (double)simt_pieces(op->rows, spec->values[VALUE_ROWS]);
    const double across = (double)simt_pieces(op->cols, spec->values[VALUE_COLS]);
    return down * across < (double)EACH * limits->units;
}

/* The program that suits the size and the alignment of the operands. */
static choice choice_of(const simt_device *device, const iso_transpose_op *op)
{
    enum { FAR = 128 << 10 }; /* bytes */
    const simt_limits *limits = &device->limits;
    const int64_t bytes = op->element_bytes;
    choice best = choice_for(limits, bytes, WIDE);
    const int64_t word = best.spec.values[VALUE_WORD];
    if (op->variant != ISO_VARIANT_TILED || !aligned(device, op->from, op->ld_from * bytes, word) ||
        !aligned(device, op->to, op->ld_to * bytes, word)) {
        best = choice_for(limits, bytes, PLAIN);
    } else if (has_few(limits, bytes) && too_few(limits, op, &best.spec)) {
        best = choice_for(limits, bytes, FEW);
    }
    best.band = op->ld_to * bytes % FAR == 0 ? best.far : best.band;
    return best;
}

static iso_status run_apart(simt_stream *stream, const iso_transpose_op *op, const choice *how,
                            const simt_kernel *kernel)
{
    const int32_t *values = how->spec.values;
    bool naive = op->variant == ISO_VARIANT_NAIVE;
    int64_t cols = naive ? values[VALUE_NAIVE] : values[VALUE_COLS];
    int64_t rows = naive ? kernel->threads / cols : values[VALUE_ROWS];
    int64_t high = how->band;
    int64_t down = simt_pieces(op->rows, rows), across = simt_pieces(op->cols, cols);
    int64_t from_offset = op->from.offset / op->element_bytes;
    int64_t to_offset = op->to.offset / op->element_bytes;
    const simt_arg args[] = {
        SIMT_MEMORY(op->from.memory),
        SIMT_ARG(from_offset),
        SIMT_MEMORY(op->to.memory),
        SIMT_ARG(to_offset),
        SIMT_ARG(op->rows),
        SIMT_ARG(op->cols),
        SIMT_ARG(op->ld_from),
        SIMT_ARG(op->ld_to),
        SIMT_ARG(down),
        SIMT_ARG(across),
        SIMT_ARG(high), /* the last, because the naive kernel has none */
    };
    const int32_t count = (int32_t)(sizeof args / sizeof *args);
    return simt_launch(stream, kernel, simt_least(down * across, GROUPS_MOST), args,
                       naive ? count - 1 : count);
}

static iso_status run_in_place(simt_stream *stream, const iso_transpose_op *op,
                               const simt_spec *spec, const simt_kernel *kernel)
{
    int64_t offset = op->to.offset / op->element_bytes;
    if (op->variant == ISO_VARIANT_NAIVE) {
        int64_t cols = spec->values[VALUE_NAIVE];
        int64_t down = simt_pieces(op->rows, kernel->threads / cols),
                across = simt_pieces(op->cols, cols);
        const simt_arg args[] = {
            SIMT_MEMORY(op->to.memory), SIMT_ARG(offset), SIMT_ARG(op->rows),
            SIMT_ARG(op->ld_to),        SIMT_ARG(down),   SIMT_ARG(across),
        };
        return SIMT_LAUNCH(stream, kernel, simt_least(down * across, GROUPS_MOST), args);
    }
    int64_t tiles = simt_pieces(op->rows, spec->values[VALUE_SWAP]);
    const simt_arg args[] = {
        SIMT_MEMORY(op->to.memory), SIMT_ARG(offset), SIMT_ARG(op->rows),
        SIMT_ARG(op->ld_to),        SIMT_ARG(tiles),
    };
    return SIMT_LAUNCH(stream, kernel, simt_least(tiles * (tiles + 1) / 2, GROUPS_MOST), args);
}

static int32_t kernel_of(const iso_transpose_op *op, bool in_place)
{
    if (op->variant == ISO_VARIANT_NAIVE) {
        return in_place ? KERNEL_NAIVE_SWAP : KERNEL_NAIVE;
    }
    return in_place ? KERNEL_SWAP : KERNEL_TILED;
}

/* ---- entries --------------------------------------------------------------------------------- */

static iso_status transpose_execute(simt_stream *stream, const iso_op *op)
{
    const iso_transpose_op *transpose = op->transpose;
    bool in_place = transpose->from.memory == transpose->to.memory &&
                    transpose->from.offset == transpose->to.offset;
    const choice how = choice_of(stream->device, transpose);
    const simt_kernel *kernel = NULL;
    iso_status status =
        simt_kernel_get(stream->device, &how.spec, kernel_of(transpose, in_place), &kernel);
    if (status != ISO_OK) {
        return status;
    }
    return in_place ? run_in_place(stream, transpose, &how.spec, kernel)
                    : run_apart(stream, transpose, &how, kernel);
}

static iso_status prepare_spec(simt_device *device, const iso_transpose_op *op,
                               const simt_spec *spec)
{
    const simt_kernel *kernel = NULL;
    iso_status status = simt_kernel_get(device, spec, kernel_of(op, false), &kernel);
    if (status == ISO_OK && op->rows == op->cols && op->ld_from == op->ld_to) {
        status = simt_kernel_get(device, spec, kernel_of(op, true), &kernel);
    }
    return status;
}

/* The operands' addresses are not known yet. Even if the leading dimensions allow words of several
 * elements, an offset may rule them out, so the program with words of one element is always built
 * too. */
static iso_status transpose_prepare(simt_stream *stream, const iso_op *op)
{
    simt_device *device = stream->device;
    simt_spec best = choice_of(device, op->transpose).spec;
    simt_spec plain = choice_for(&device->limits, op->transpose->element_bytes, PLAIN).spec;
    iso_status status = prepare_spec(device, op->transpose, &best);
    if (status == ISO_OK && best.values[VALUE_WORD] != plain.values[VALUE_WORD]) {
        status = prepare_spec(device, op->transpose, &plain);
    }
    return status;
}

static void transpose_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    simt_spec spec = choice_of(device, op->transpose).spec;
    if (op->transpose->variant == ISO_VARIANT_NAIVE) {
        (void)snprintf(out->kernel, sizeof out->kernel, "transpose_naive, %" PRId32 " work-items",
                       spec.values[0]);
        return;
    }
    (void)snprintf(out->kernel, sizeof out->kernel,
                   "transpose_tiled %" PRId32 "x%" PRId32 ", words of %" PRId32 " bytes, %" PRId32
                   " work-items",
                   spec.values[VALUE_ROWS], spec.values[VALUE_COLS], spec.values[VALUE_WORD],
                   spec.values[0]);
}

static void transpose_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (int64_t bytes = 1; bytes <= INT64_C(1) << (SIZES - 1); bytes *= 2) {
        simt_spec wide = choice_for(limits, bytes, WIDE).spec;
        simt_spec plain = choice_for(limits, bytes, PLAIN).spec;
        visit(&plain, context);
        if (wide.values[VALUE_WORD] != plain.values[VALUE_WORD]) {
            visit(&wide, context);
        }
        if (has_few(limits, bytes)) {
            const simt_spec few = choice_for(limits, bytes, FEW).spec;
            visit(&few, context);
        }
    }
}

const simt_operation simt_transpose = {
    .variant_at = offsetof(iso_transpose_op, variant),
    .execute = transpose_execute,
    .prepare = transpose_prepare,
    .describe = transpose_describe,
    .each = transpose_each,
};
