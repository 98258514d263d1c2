/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - matrices in memory with watched bytes all around. */
#include "bench/suite/internal.h"

#include <stdlib.h>
#include <string.h>

void *suite_grow(suite_block *block, int64_t bytes)
{
    if (block->data && bytes <= block->bytes) {
        return block->data;
    }
    int64_t room = bytes + bytes / 2 + 4096;
    void *larger = aligned_alloc(64, (size_t)((room + 63) / 64 * 64));
    if (!larger) {
        return NULL;
    }
    free(block->data);
    *block = (suite_block){larger, room};
    return larger;
}

static void fill_random(unsigned char *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i += 8) {
        uint64_t mix = arith_mix(0x9a9d, (uint64_t)i);
        memcpy(bytes + i, &mix, (size_t)(count - i < 8 ? count - i : 8));
    }
}

void suite_region_within(suite_region *block, const suite_region *shape, int64_t offset)
{
    suite_region laid = *shape;
    laid.start = SUITE_GUARD + offset * shape->element;
    laid.bytes = 0;
    laid.image = block->image; /* of an earlier case; not this one's */
    laid.capacity = block->capacity;
    *block = laid;
}

bool suite_region_lay(suite_region *region, const suite_region *shape, int64_t offset,
                      int64_t elements, bool input)
{
    int64_t one = shape->rows > 0 ? (shape->rows - 1) * shape->ld + shape->cols : 0;
    int64_t span = shape->batch > 0 ? (shape->batch - 1) * shape->stride + one : 0;
    suite_region_within(region, shape, offset);
    if (elements == 0) {
        elements = offset + span;
    }
    region->bytes = SUITE_GUARD + elements * region->element + SUITE_GUARD;
    suite_block image = {region->image, region->capacity};
    if (!suite_grow(&image, region->bytes)) {
        return false;
    }
    region->image = image.data;
    region->capacity = image.bytes;
    if (input) {
        memset(region->image, 0xff, (size_t)region->bytes);
    } else {
        fill_random(region->image, region->bytes);
    }
    return true;
}

bool suite_region_init(suite_region *region, int64_t element, int64_t rows, int64_t cols,
                       int64_t pad, int64_t offset, int64_t batch, int64_t stride, bool input)
{
    suite_region shape = {.element = element,
                          .rows = rows,
                          .cols = cols,
                          .ld = cols + pad,
                          .batch = batch,
                          .stride = stride};
    if (stride < 0) { /* as close as padding allows */
        shape.stride = rows * shape.ld + pad;
    }
    return suite_region_lay(region, &shape, offset, 0, input);
}

void suite_region_free(suite_region *region)
{
    free(region->image);
    *region = (suite_region){0};
}

int64_t suite_region_at(const suite_region *region, int64_t b, int64_t i, int64_t j)
{
    return region->start + (b * region->stride + i * region->ld + j) * region->element;
}

/* With a stride of 0 there is one matrix, whatever the batch. */
static int64_t copies(const suite_region *region)
{
    return region->stride == 0 && region->batch > 1 ? 1 : region->batch;
}

void suite_region_scatter_into(suite_region *region, const suite_region *block, const void *dense)
{
    int64_t row = block->cols * block->element;
    const char *from = dense;
    if (row == 0) {
        return;
    }
    for (int64_t b = 0; b < copies(block); b++) {
        for (int64_t i = 0; i < block->rows; i++, from += row) {
            memcpy(region->image + suite_region_at(block, b, i, 0), from, (size_t)row);
        }
    }
}

void suite_region_scatter(suite_region *region, const void *dense)
{
    suite_region_scatter_into(region, region, dense);
}

void suite_region_gather(const suite_region *region, const unsigned char *image, void *dense)
{
    int64_t row = region->cols * region->element;
    char *to = dense;
    if (row == 0) {
        return;
    }
    for (int64_t b = 0; b < copies(region); b++) {
        for (int64_t i = 0; i < region->rows; i++, to += row) {
            memcpy(to, image + suite_region_at(region, b, i, 0), (size_t)row);
        }
    }
}

static int64_t differs(const suite_region *region, const unsigned char *image, int64_t from,
                       int64_t to)
{
    if (from >= to || memcmp(region->image + from, image + from, (size_t)(to - from)) == 0) {
        return -1;
    }
    while (region->image[from] == image[from]) {
        from++;
    }
    return from;
}

/* Rows are looked at in the order in which they lie: those of a batch side by side alternate. */
int64_t suite_region_changed(const suite_region *region, const unsigned char *image)
{
    int64_t row = region->cols * region->element, at = 0, found = -1;
    int64_t members = copies(region), rows = row > 0 ? members * region->rows : 0;
    bool beside = region->stride < region->ld;
    for (int64_t r = 0; r < rows; r++) {
        int64_t member = beside ? r % members : r / region->rows;
        int64_t begin = suite_region_at(region, member, beside ? r / members : r % region->rows, 0);
        found = differs(region, image, at, begin);
        if (found >= 0) {
            return found;
        }
        at = begin + row;
    }
    return differs(region, image, at, region->bytes);
}
