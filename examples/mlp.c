/* SPDX-License-Identifier: Apache-2.0 */
/* mlp.c - a network of three layers gives each sample a score for each of ten classes. All work is
 * submitted at once, in f32, and the scores have the same bits on every device. */
#include <isomer/isomer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) ((call) ? (fprintf(stderr, "%s\n", iso_last_error()), exit(1)) : (void)0)

enum { SAMPLES = 32, INPUTS = 64, CLASSES = 10, LAYERS = 3, NUMBERS = 20000 /* enough */ };

/* The next `count` numbers of the memory. */
static iso_operand next(iso_operand *memory, int64_t count)
{
    const iso_operand place = *memory;
    memory->offset += count * (int64_t)sizeof(float);
    return place;
}

int main(void)
{
    const int64_t width[LAYERS + 1] = {INPUTS, 96, 48, CLASSES};
    static float numbers[NUMBERS], scores[SAMPLES * CLASSES];
    uint32_t digest = 0, bits;
    iso_device device;
    iso_stream stream;
    iso_operand memory = {{0}, 0};
    iso_gemm_args product = ISO_GEMM_ARGS_INIT; /* c = a b */
    iso_map_args add = ISO_MAP_ARGS_INIT;       /* c = c + y, where y is one row for all of c's */
    iso_map_args relu = ISO_MAP_ARGS_INIT;      /* c = max(c, 0) */
    for (int i = 0; i < NUMBERS; i++) {         /* made up: samples, weights and biases */
        numbers[i] = (float)(i * 37 % 101 - 50) / 256;
    }
    CHECK(iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream));
    CHECK(iso_buffer_create(device, sizeof numbers, &memory.buffer));
    CHECK(iso_write(stream, memory, numbers, sizeof numbers));
    product.dtype = add.dtype = relu.dtype = ISO_F32, product.keep = ISO_KEEP_BITS;
    add.op = ISO_MAP_ADD, add.spread_y = ISO_SPREAD_ROW, relu.op = ISO_MAP_RELU;
    product.m = add.rows = relu.rows = SAMPLES;
    product.a = next(&memory, SAMPLES * INPUTS);
    for (int layer = 0; layer < LAYERS; layer++) {
        product.k = width[layer], product.n = add.n = relu.n = width[layer + 1];
        product.b = next(&memory, product.k * product.n);
        product.c = add.x = add.z = relu.x = relu.z = next(&memory, SAMPLES * product.n);
        add.y = next(&memory, product.n);
        CHECK(iso_gemm(stream, &product) || iso_map(stream, &add));
        CHECK(layer + 1 < LAYERS && iso_map(stream, &relu)); /* scores may be negative */
        product.a = product.c; /* what this layer gives is the next one's input */
    }
    CHECK(iso_read(stream, scores, product.c, sizeof scores));
    CHECK(iso_stream_sync(stream));
    for (int i = 0; i < SAMPLES * CLASSES; i++) {
        memcpy(&bits, &scores[i], sizeof bits);
        digest = digest * 31 + bits;
    }
    printf("first scores: %.4f %.4f, digest %08x\n", scores[0], scores[1], (unsigned)digest);
    return iso_device_close(device) != ISO_OK;
}
