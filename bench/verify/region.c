/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - matrices in host memory, surrounded by bytes that must not change. */
#include "bench/verify/verify.h"

#include <stdlib.h>
#include <string.h>

void *verify_grow(verify_block *block, int64_t bytes)
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
    *block = (verify_block){larger, room};
    return larger;
}

static void fill_random(unsigned char *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i += 8) {
        uint64_t mix = arith_mix(0x9a9d, (uint64_t)i);
        memcpy(bytes + i, &mix, (size_t)(count - i < 8 ? count - i : 8));
    }
}

/* Copies all members except the memory. The region keeps its memory, so that it is not allocated
 * again for each problem. */
static void take_shape(verify_region *region, const verify_region *shape)
{
    verify_block image = region->image;
    *region = *shape;
    region->image = image;
    region->ld = shape->ld ? shape->ld : shape->cols;
    region->start = VERIFY_GUARD + shape->offset * shape->element;
}

void verify_region_within(verify_region *region, const verify_region *shape,
                          const verify_region *other)
{
    take_shape(region, shape);
    region->within = other;
}

bool verify_region_lay(verify_region *region, const verify_region *shape)
{
    take_shape(region, shape);
    int64_t one = region->rows > 0 ? (region->rows - 1) * region->ld + region->cols : 0;
    int64_t span = region->batch > 0 ? (region->batch - 1) * region->stride + one : 0;
    int64_t elements = region->least ? region->least : region->offset + span;
    region->bytes = VERIFY_GUARD + elements * region->element + VERIFY_GUARD;
    if (!verify_grow(&region->image, region->bytes)) {
        return false;
    }
    if (region->ones) {
        memset(region->image.data, 0xff, (size_t)region->bytes);
    } else {
        fill_random(region->image.data, region->bytes);
    }
    return true;
}

const verify_region *verify_region_owner(const verify_region *region)
{
    return region->within ? region->within : region;
}

/* The byte offset of an element. */
static int64_t place(const verify_region *region, int64_t b, int64_t i, int64_t j)
{
    return region->start + (b * region->stride + i * region->ld + j) * region->element;
}

/* The number of different matrices. With a stride of 0, all members of the batch are the same
 * matrix. */
static int64_t copies(const verify_region *region)
{
    return region->stride == 0 && region->batch > 1 ? 1 : region->batch;
}

void verify_region_scatter(const verify_region *region, const void *dense)
{
    int64_t row = region->cols * region->element;
    unsigned char *image = verify_region_owner(region)->image.data;
    const char *from = dense;
    for (int64_t b = 0; row > 0 && b < copies(region); b++) {
        for (int64_t i = 0; i < region->rows; i++, from += row) {
            memcpy(image + place(region, b, i, 0), from, (size_t)row);
        }
    }
}

void verify_region_gather(const verify_region *region, const unsigned char *image, void *dense)
{
    int64_t row = region->cols * region->element;
    char *to = dense;
    for (int64_t b = 0; row > 0 && b < copies(region); b++) {
        for (int64_t i = 0; i < region->rows; i++, to += row) {
            memcpy(to, image + place(region, b, i, 0), (size_t)row);
        }
    }
}

static int64_t differs(const verify_region *region, const unsigned char *image, int64_t from,
                       int64_t to)
{
    const unsigned char *before = region->image.data;
    if (from >= to || memcmp(before + from, image + from, (size_t)(to - from)) == 0) {
        return -1;
    }
    while (before[from] == image[from]) {
        from++;
    }
    return from;
}

/* Compares the gaps between rows in memory order. If the members of a batch lie side by side,
 * memory order alternates between their rows. */
int64_t verify_region_changed(const verify_region *region, const unsigned char *image)
{
    int64_t row = region->cols * region->element, at = 0, found = -1;
    int64_t members = copies(region), rows = row > 0 ? members * region->rows : 0;
    bool beside = region->stride < region->ld;
    for (int64_t r = 0; r < rows; r++) {
        int64_t member = beside ? r % members : r / region->rows;
        int64_t begin = place(region, member, beside ? r / members : r % region->rows, 0);
        found = differs(region, image, at, begin);
        if (found >= 0) {
            return found;
        }
        at = begin + row;
    }
    return differs(region, image, at, region->bytes);
}
