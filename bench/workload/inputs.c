/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - the input data, which are the same on every device, and the checks of results. */
#include "bench/workload/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 }; /* the number of elements that are made from one seed */

struct work_inputs {
    uint64_t seed;
    unsigned char *blocks[WORK_TYPES];
    int64_t bytes[WORK_TYPES];
    void *scratch;
    int64_t scratch_bytes;
    check_cache *references;
    check_cache *judged;
};

typedef struct filling {
    iso_dtype type;
    uint64_t seed;
    int64_t count;
    unsigned char *to;
} filling;

/* Each chunk has its own seed. So threads can fill chunks in any order, and a short block has the
 * same data as the beginning of a longer one. */
static void fill(void *context, int64_t begin, int64_t end)
{
    const filling *f = context;
    int64_t size = iso_dtype_size(f->type);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK;
        int64_t count = f->count - first < CHUNK ? f->count - first : CHUNK;
        arith_generate(f->type, ARITH_UNIFORM, arith_mix(f->seed, (uint64_t)chunk), count,
                       f->to + first * size);
    }
}

/* Returns whole pages from the system, and large pages if possible. NULL: no memory. */
static void *map(int64_t bytes)
{
    void *block = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
    madvise(block, (size_t)bytes, MADV_HUGEPAGE);
    return block;
}

static int64_t host_memory(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

/* Sets the size of each type's block to what its largest case needs, ignoring cases that need more
 * than `most` bytes. Returns the sum of the sizes. */
static int64_t plan(work_inputs *inputs, const work_list *list, int64_t most)
{
    int64_t sum = 0;
    memset(inputs->bytes, 0, sizeof inputs->bytes);
    for (int32_t i = 0; i < list->count; i++) {
        bench_needs needs;
        bench_case_needs(&list->items[i], &needs);
        int64_t bytes = (needs.end + 7) / 8 * 8, *block = &inputs->bytes[needs.type];
        if (bytes > most || bytes <= *block) {
            continue;
        }
        sum += bytes - *block;
        *block = bytes;
    }
    return sum;
}

work_inputs *work_inputs_plan(uint64_t seed, const work_list *list)
{
    work_inputs *inputs = calloc(1, sizeof *inputs);
    check_cache *references = check_cache_create(host_memory() / 16);
    check_cache *judged = check_cache_create(1 << 20);
    if (!inputs || !references || !judged) {
        tool_error(TOOL_INTERNAL, "no memory for the inputs");
        check_cache_destroy(references);
        check_cache_destroy(judged);
        free(inputs);
        return NULL;
    }
    inputs->seed = seed;
    inputs->references = references;
    inputs->judged = judged;
    /* The inputs may take only a sixth of the host's memory, because each CPU device also keeps its
     * own copy of them, and its results, in that memory. If all inputs need more, the largest cases
     * are dropped first. They are reported as not fitting, and the other cases run. */
    int64_t room = host_memory() / 6, most = room;
    while (plan(inputs, list, most) > room) {
        most -= most / 8;
    }
    return inputs;
}

work_inputs *work_inputs_create(uint64_t seed, const work_list *list)
{
    work_inputs *inputs = work_inputs_plan(seed, list);
    for (int type = 1; inputs && type < WORK_TYPES; type++) {
        if (inputs->bytes[type] == 0) {
            continue;
        }
        inputs->blocks[type] = map(inputs->bytes[type]);
        if (!inputs->blocks[type]) {
            char text[32];
            tool_bytes(text, sizeof text, inputs->bytes[type]);
            tool_error(TOOL_INTERNAL, "no memory for %s of inputs; try smaller sizes", text);
            work_inputs_destroy(inputs);
            return NULL;
        }
        filling f = {.type = (iso_dtype)type,
                     .seed = arith_mix(seed, (uint64_t)type),
                     .count = inputs->bytes[type] / iso_dtype_size((iso_dtype)type),
                     .to = inputs->blocks[type]};
        arith_parallel((f.count + CHUNK - 1) / CHUNK, 1, fill, &f);
    }
    return inputs;
}

void work_inputs_destroy(work_inputs *inputs)
{
    if (!inputs) {
        return;
    }
    for (int type = 1; type < WORK_TYPES; type++) {
        if (inputs->blocks[type]) {
            munmap(inputs->blocks[type], (size_t)inputs->bytes[type]);
        }
    }
    check_cache_destroy(inputs->references);
    check_cache_destroy(inputs->judged);
    if (inputs->scratch) {
        munmap(inputs->scratch, (size_t)inputs->scratch_bytes);
    }
    free(inputs);
}

const unsigned char *work_inputs_block(const work_inputs *inputs, iso_dtype type, int64_t *bytes)
{
    *bytes = inputs->bytes[type];
    return inputs->blocks[type];
}

void *work_inputs_scratch(work_inputs *inputs, int64_t bytes)
{
    if (bytes > inputs->scratch_bytes) {
        if (inputs->scratch) {
            munmap(inputs->scratch, (size_t)inputs->scratch_bytes);
        }
        inputs->scratch = map(bytes);
        inputs->scratch_bytes = inputs->scratch ? bytes : 0;
    }
    return inputs->scratch;
}

/* ---- checks ---------------------------------------------------------------------------------- */

bool work_check(const bench_case *item, work_inputs *inputs, const void *got, bench_result *result)
{
    bench_needs needs;
    bench_case_needs(item, &needs);
    const unsigned char *block = inputs->blocks[needs.type];
    check_data data = {.x = block + needs.at[0],
                       .y = block + needs.at[needs.inputs - 1],
                       .cache = inputs->references};
    return item->by->check(item, &data, got, result);
}

check_cache *work_inputs_judged(work_inputs *inputs)
{
    return inputs->judged;
}
