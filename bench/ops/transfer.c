/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - the row of transfers, which have no kernel. */
#include "bench/ops/ops.h"
#include "bench/suite/suite.h"
#include "bench/workload/workload.h"

#include <string.h>

static const char *const kinds[] = {"write", "read", "copy", NULL}; /* as work_move */
static const char *const variants[] = {"pageable", "pinned", "device", NULL};

static bool set_kind(work_case *item, const char *kind)
{
    int move = WORK_WRITE;
    while (strcmp(kinds[move], kind) != 0) {
        move++;
    }
    item->move = (work_move)move;
    return (item->move == WORK_COPY) == (strcmp(item->variant, "device") == 0);
}

static void set_size(work_case *item, const work_size *size)
{
    item->bytes = size->of[0];
}

static void shape(const work_case *item, work_shape *out)
{
    *out = (work_shape){
        .names = {"bytes"}, .sizes = {item->bytes}, .count = 1, .elements = (double)item->bytes};
}

static void needs(const work_case *item, work_needs *out)
{
    out->type = ISO_F32;
    out->bytes[0] = item->bytes;
    out->results = item->move == WORK_READ ? 0 : item->bytes;
}

static int32_t roof(const work_case *item)
{
    return item->move == WORK_COPY ? WORK_ROOF_COPY : WORK_NO_ROOF;
}

const bench_op bench_transfer = {
    .name = "transfer",
    .measured = "transfer",
    .verified = "transfer",
    .title = "Transfers",
    .size = "bytes",
    .moves = true,
    .kinds = kinds,
    .variants = variants,
    .usual_kinds = "write,read,copy",
    .usual_variants = "pageable,pinned,device",
    .counts = 1 << 0 | 1 << 1,
    .set_kind = set_kind,
    .set_size = set_size,
    .shape = shape,
    .needs = needs,
    .roof = roof,
    .check = work_check_transfer,
    .cases = suite_list_transfer,
    .run = suite_run_transfer,
    .describe = suite_describe_transfer,
};
