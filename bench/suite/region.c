/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - matrices in memory with watched bytes all around. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

void *suite_grow(void **block, int64_t *capacity, int64_t bytes)
{
    if (bytes <= *capacity && *block != NULL)
        return *block;
    int64_t room = bytes + bytes / 2 + 4096;
    void *larger = aligned_alloc(64, (size_t)((room + 63) / 64 * 64));
    if (larger == NULL)
        return NULL;
    free(*block);
    *block = larger;
    *capacity = room;
    return larger;
}

static void fill_random(unsigned char *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i += 8) {
        uint64_t mix = suite_mix(0x9a9d, (uint64_t)i);
        memcpy(bytes + i, &mix, (size_t)(count - i < 8 ? count - i : 8));
    }
}

bool suite_region_init(suite_region *region, int64_t element, int64_t rows, int64_t cols,
                       int64_t pad, int64_t offset, int64_t batch, int64_t stride, bool input)
{
    int64_t ld = cols + pad;
    int64_t one = rows > 0 ? (rows - 1) * ld + cols : 0;
    if (stride < 0) /* as close as padding allows */
        stride = rows * ld + pad;
    int64_t span = batch > 0 ? (batch - 1) * stride + one : 0;
    region->element = element;
    region->rows = rows;
    region->cols = cols;
    region->ld = ld;
    region->batch = batch;
    region->stride = stride;
    region->start = SUITE_GUARD + offset * element;
    region->bytes = region->start + span * element + SUITE_GUARD;
    void *image = region->image;
    if (suite_grow(&image, &region->capacity, region->bytes) == NULL)
        return false;
    region->image = image;
    if (input)
        memset(image, 0xff, (size_t)region->bytes);
    else
        fill_random(image, region->bytes);
    return true;
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

void suite_region_scatter(suite_region *region, const void *dense)
{
    int64_t row = region->cols * region->element;
    const char *from = dense;
    if (row == 0)
        return;
    for (int64_t b = 0; b < copies(region); b++)
        for (int64_t i = 0; i < region->rows; i++, from += row)
            memcpy(region->image + suite_region_at(region, b, i, 0), from, (size_t)row);
}

void suite_region_gather(const suite_region *region, const unsigned char *image, void *dense)
{
    int64_t row = region->cols * region->element;
    char *to = dense;
    if (row == 0)
        return;
    for (int64_t b = 0; b < copies(region); b++)
        for (int64_t i = 0; i < region->rows; i++, to += row)
            memcpy(to, image + suite_region_at(region, b, i, 0), (size_t)row);
}

static int64_t differs(const suite_region *region, const unsigned char *image, int64_t from,
                       int64_t to)
{
    if (from >= to || memcmp(region->image + from, image + from, (size_t)(to - from)) == 0)
        return -1;
    while (region->image[from] == image[from])
        from++;
    return from;
}

int64_t suite_region_changed(const suite_region *region, const unsigned char *image)
{
    int64_t row = region->cols * region->element, at = 0, found = -1;
    for (int64_t b = 0; row > 0 && b < copies(region); b++) {
        for (int64_t i = 0; i < region->rows; i++) {
            int64_t begin = suite_region_at(region, b, i, 0);
            found = differs(region, image, at, begin);
            if (found >= 0)
                return found;
            at = begin + row;
        }
    }
    return differs(region, image, at, region->bytes);
}
