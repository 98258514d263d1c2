/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_i8.c - what products of i8 need beside a call of gemm. In most layouts libraries refuse some
 * sizes by rules that they do not tell, and saturate sums. Only where the terms of a sum are
 * neighbours in both operands does cuBLAS 13.1 on an H100 take every size of whole words. So an
 * operand is first transposed by this backend's own kernel if they are not neighbours, and copied
 * if it does not consist of whole words.
 */
#include "backends/simt/blas.h"

enum { WORD = 4, LINE_ALIGN = 16, COPY_ALIGN = 256 };
/* Each term is at most 2^14, and sums have 31 bits. */
enum { MOST_TERMS = (1 << 17) - 1 };

iso_status simt_i8_supports(const iso_host *host, const iso_gemm_op *op, const char *library)
{
    const int64_t stride_c = op->batch > 1 ? op->stride_c : 0;
    const simt_size sizes[] = {
        {"m", op->m}, {"n", op->n}, {"k", op->k}, {"ldc", op->ldc}, {"stride_c", stride_c}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].value % WORD != 0) {
            return host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: %s is %lld, but %s has products of i8 only "
                              "with multiples of %d; use tiled",
                              sizes[i].name, (long long)sizes[i].value, library, WORD);
        }
    }
    if (op->k > MOST_TERMS) {
        return host->fail(ISO_UNSUPPORTED,
                          "gemm: variant vendor: k is %lld, but %s may saturate sums of more than "
                          "%d products of i8; use tiled, whose sums wrap",
                          (long long)op->k, library, MOST_TERMS);
    }
    return ISO_OK;
}

/* A or B: vectors whose elements are the terms of sums. */
typedef struct operand {
    iso_ref at;
    bool turned; /* the elements of a vector are `ld` apart, and not neighbours */
    int64_t vectors, terms, ld, members, stride;
} operand;

static operand operand_of(const iso_gemm_op *op, bool first)
{
    const int64_t stride = first ? op->stride_a : op->stride_b;
    const bool shared = op->batch == 1 || stride == 0;
    return (operand){
        .at = first ? op->a : op->b,
        .turned = first ? op->trans_a != ISO_NO_TRANS : op->trans_b == ISO_NO_TRANS,
        .vectors = first ? op->m : op->n,
        .terms = op->k,
        .ld = first ? op->lda : op->ldb,
        .members = shared ? 1 : op->batch,
        .stride = shared ? 0 : stride,
    };
}

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static int64_t copy_bytes(const operand *of)
{
    return round_up(of->members * of->vectors * round_up(of->terms, LINE_ALIGN), COPY_ALIGN);
}

int64_t simt_i8_bytes(const iso_gemm_op *op)
{
    const operand a = operand_of(op, true), b = operand_of(op, false);
    return op->k > 0 ? copy_bytes(&a) + copy_bytes(&b) : 0;
}

static iso_transpose_op transpose_of(const operand *of)
{
    return (iso_transpose_op){.variant = ISO_VARIANT_TILED,
                              .element_bytes = 1,
                              .rows = of->terms,
                              .cols = of->vectors,
                              .from = of->at,
                              .ld_from = of->ld,
                              .ld_to = round_up(of->terms, LINE_ALIGN)};
}

static iso_status transpose(simt_stream *stream, const operand *of, iso_ref to)
{
    iso_transpose_op args = transpose_of(of);
    const iso_op op = {.size = (uint32_t)sizeof op, .kind = ISO_OP_TRANSPOSE, .transpose = &args};
    args.to = to;
    return simt_operation_of(ISO_OP_TRANSPOSE)->execute(stream, &op);
}

static iso_status copy(simt_stream *stream, const operand *of, iso_ref to)
{
    const iso_transfer transfer = {.size = (uint32_t)sizeof transfer,
                                   .kind = ISO_TRANSFER_COPY,
                                   .from = of->at,
                                   .from_pitch = of->ld,
                                   .to = to,
                                   .to_pitch = round_up(of->terms, LINE_ALIGN),
                                   .width = of->terms,
                                   .height = of->vectors};
    return stream->device->driver->transfer(stream, &transfer);
}

/* Makes an operand one of neighbours and whole words. */
static iso_status settle(simt_stream *stream, operand of, iso_ref scratch, const void **place,
                         int64_t *ld, int64_t *stride)
{
    const int64_t pitch = round_up(of.terms, LINE_ALIGN);
    const bool words = ((int64_t)(uintptr_t)*place | of.ld | of.stride) % WORD == 0;
    iso_status status = ISO_OK;
    if (of.terms == 0) {
        *ld = LINE_ALIGN;
        return ISO_OK;
    }
    if (!of.turned && words) {
        return ISO_OK;
    }
    *place = simt_place(scratch);
    *ld = pitch;
    *stride = of.members > 1 ? of.vectors * pitch : 0;
    for (int64_t i = 0; i < of.members && !status; i++) {
        status = (of.turned ? transpose : copy)(stream, &of, scratch);
        of.at.offset += of.stride;
        scratch.offset += of.vectors * pitch;
    }
    return status;
}

iso_status simt_i8_settle(simt_stream *stream, const iso_gemm_op *op, iso_ref scratch,
                          simt_blas_product *product)
{
    const operand a = operand_of(op, true), b = operand_of(op, false);
    const simt_blas_numbers *numbers = simt_blas_of(stream->device)->numbers;
    product->trans_1 = numbers->trans;
    product->trans_2 = numbers->no_trans;
    const iso_status status =
        settle(stream, a, scratch, &product->two, &product->ld_2, &product->stride_2);
    scratch.offset += copy_bytes(&a);
    return status ? status
                  : settle(stream, b, scratch, &product->one, &product->ld_1, &product->stride_1);
}

iso_status simt_i8_prepare(simt_stream *stream, const iso_gemm_op *op)
{
    const operand both[] = {operand_of(op, true), operand_of(op, false)};
    iso_status status = ISO_OK;
    for (int i = 0; i < 2 && !status; i++) {
        const iso_transpose_op args = transpose_of(&both[i]);
        const iso_op turn = {
            .size = (uint32_t)sizeof turn, .kind = ISO_OP_TRANSPOSE, .transpose = &args};
        status =
            both[i].turned ? simt_operation_of(ISO_OP_TRANSPOSE)->prepare(stream, &turn) : ISO_OK;
    }
    return status;
}
