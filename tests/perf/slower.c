/* SPDX-License-Identifier: Apache-2.0 */
/* slower.c - preloaded into the tool, makes every product, map and sum about 5 % slower, so that
 * the right verdict of --against is known. Each operation is preceded by the same one over a part
 * of its terms or elements (one in SLOWER_PART, 32 by default), into the same place; with the cost
 * of a second call that is a twentieth. For maps and sums the part is the last one: the real call
 * reaches it when no cache holds it any more. The first part would be read from the cache the
 * second time and cost half as much. Bits do not change. */
#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef iso_status (*execute)(iso_stream, iso_op_kind, const void *);

static execute real(void)
{
    static execute found;
    if (!found) {
        void *symbol = dlsym(RTLD_NEXT, "iso_execute");
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

static int64_t part_of(int64_t whole)
{
    enum { LINE = 1024 }; /* elements: the part begins where a block of the kernels may begin */
    const char *text = getenv("SLOWER_PART");
    int64_t part = whole / (text ? atoi(text) : 32);
    return part > LINE ? part / LINE * LINE : part;
}

iso_status iso_execute(iso_stream stream, iso_op_kind kind, const void *args)
{
    iso_status status = ISO_OK;
    if (kind == ISO_OP_GEMM) {
        iso_gemm_args part = *(const iso_gemm_args *)args;
        part.lda = part.lda ? part.lda : part.trans_a == ISO_TRANS ? part.m : part.k;
        part.ldb = part.ldb ? part.ldb : part.trans_b == ISO_TRANS ? part.k : part.n;
        part.k = part_of(part.k);
        status = real()(stream, kind, &part);
    } else if (kind == ISO_OP_MAP) {
        iso_map_args part = *(const iso_map_args *)args;
        part.n = part_of(part.n);
        int64_t before = (((const iso_map_args *)args)->n - part.n) * iso_dtype_size(part.dtype);
        part.x.offset += before;
        part.y.offset += before;
        part.z.offset += before;
        status = real()(stream, kind, &part);
    } else if (kind == ISO_OP_REDUCE) {
        iso_reduce_args part = *(const iso_reduce_args *)args;
        if (part.axis == ISO_AXIS_ALL && part.rows == 1) {
            part.cols = part_of(part.cols);
            int64_t before =
                (((const iso_reduce_args *)args)->cols - part.cols) * iso_dtype_size(part.dtype);
            part.x.offset += before;
            part.y.offset += before;
            status = real()(stream, kind, &part);
        }
    }
    return status != ISO_OK ? status : real()(stream, kind, args);
}
