/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - scalars, vectors and values in memory. */
#include "tests/kernels/conformance/parts.h"

#include <stdio.h>
#include <string.h>

const model_scalar_info model_scalars[MODEL_SCALARS] = {
    [MODEL_I8] = {.name = "i8", .bytes = 1, .is_signed = true},
    [MODEL_U8] = {.name = "u8", .bytes = 1},
    [MODEL_I16] = {.name = "i16", .bytes = 2, .is_signed = true},
    [MODEL_U16] = {.name = "u16", .bytes = 2},
    [MODEL_I32] = {.name = "i32", .bytes = 4, .is_signed = true, .has_vectors = true},
    [MODEL_U32] = {.name = "u32", .bytes = 4, .has_vectors = true},
    [MODEL_I64] = {.name = "i64", .bytes = 8, .is_signed = true, .has_vectors = true},
    [MODEL_U64] = {.name = "u64", .bytes = 8, .has_vectors = true},
    [MODEL_F32] = {.name = "f32", .bytes = 4, .is_float = true, .has_vectors = true},
    [MODEL_F64] = {.name = "f64", .bytes = 8, .is_float = true, .has_vectors = true},
};

const model_type *model_find_type(model_program *program, const char *name)
{
    for (struct model_type_list *at = program->types; at; at = at->next) {
        if (!strcmp(at->type.name, name)) {
            return &at->type;
        }
    }
    return NULL;
}

const model_type *model_scalar_type(model_program *program, model_scalar scalar)
{
    return model_find_type(program, model_scalars[scalar].name);
}

static void add_type(model_program *program, model_scalar scalar, int lanes)
{
    struct model_type_list *made = model_take(&program->blocks, sizeof *made);
    model_type *type = &made->type;
    const model_scalar_info *info = &model_scalars[scalar];
    (void)snprintf(type->name, sizeof type->name, lanes > 1 ? "%sx%d" : "%s", info->name, lanes);
    type->kind = lanes > 1 ? MODEL_VECTOR : MODEL_SCALAR;
    type->scalar = scalar;
    type->bytes = type->align = info->bytes * lanes;
    for (int i = 0; i < lanes && lanes > 1; i++) {
        model_member *member = &type->members[type->member_count++];
        *member = (model_member){.scalar = scalar, .offset = i * info->bytes};
        member->name[0] = "xyzw"[i];
    }
    made->next = program->types;
    program->types = made;
}

void model_add_types(model_program *program)
{
    for (int scalar = 0; scalar < MODEL_SCALARS; scalar++) {
        for (int lanes = 1; lanes <= (model_scalars[scalar].has_vectors ? 4 : 1); lanes *= 2) {
            add_type(program, (model_scalar)scalar, lanes);
        }
    }
}

model_value model_load(model_scalar scalar, const unsigned char *from)
{
    const model_scalar_info *info = &model_scalars[scalar];
    model_value value = {0};
    memcpy(&value, from, (size_t)info->bytes);
    if (info->is_signed) {
        const int unused = 64 - 8 * info->bytes;
        value.i = (int64_t)(value.u << unused) >> unused;
    }
    return value;
}

void model_store(model_scalar scalar, unsigned char *to, model_value value)
{
    memcpy(to, &value, (size_t)model_scalars[scalar].bytes);
}
