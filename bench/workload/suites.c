/* SPDX-License-Identifier: Apache-2.0 */
/* suites.c - the suites that are built in. */
#include "line.h"

#define BIG "beyond-cache"

/* Few but telling cases: about a minute for two backends on two cores. */
static const work_line quick[] = {
    {.op = "transfer", .size = "64Ki,4Mi,64Mi"},
    {.op = "stream", .size = BIG},
    {.op = "stream", .kind = "triad", .variant = "naive", .size = BIG},
    {.op = "transpose", .size = "1024,4096"},
    {.op = "transpose", .size = "10240", .on = "gpu"},
    {.op = "reduce",
     .variant = "naive,tiled,vendor,partials",
     .dtype = "f32",
     .size = "64Ki,1Mi,16Mi"},
    {.op = "reduce", .variant = "tiled,vendor", .dtype = "f64", .size = "1Mi,16Mi"},
    {.op = "reduce",
     .kind = "dot",
     .variant = "tiled,vendor",
     .dtype = "f32",
     .size = "64Ki,1Mi,16Mi"},
    {.op = "reduce", .kind = "max,argmax", .dtype = "f32", .size = "64Ki,1Mi,16Mi"},
    {.op = "reduce",
     .variant = "naive,tiled,vendor,partials",
     .dtype = "f32",
     .size = "256Mi",
     .on = "gpu"},
    {.op = "gemm", .size = "256,512"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "1024", .parts = true},
    {.op = "gemm", .variant = "tiled,vendor", .size = "64x64x16384"},
    {.op = "gemm", .variant = "naive", .size = "1024,2048", .parts = true, .on = "gpu"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "2048,4096,8192", .parts = true, .on = "gpu"},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .dtype = "f16,bf16",
     .size = "1024,4096",
     .on = "gpu"},
    {.op = "gemm",
     .variant = "vendor",
     .dtype = "f32",
     .math = "tf32",
     .size = "1024,4096",
     .on = "gpu"},
};

static const work_line full[] = {
    {.op = "transfer", .size = "1Ki,4Ki,64Ki,1Mi,16Mi,256Mi,1Gi"},
    {.op = "stream", .size = "4Ki,64Ki,1Mi,16Mi," BIG},
    {.op = "stream", .kind = "copy,triad", .variant = "naive", .size = "1Mi," BIG},
    {.op = "stream", .kind = "multiply", .size = BIG},
    {.op = "stream", .kind = "triad", .dtype = "f16", .size = BIG},
    {.op = "stream", .kind = "add", .dtype = "i32", .size = BIG},
    {.op = "stream", .kind = "triad", .dtype = "f64", .size = "4Ki,64Ki,1Mi", .cache = "cold"},
    {.op = "transpose", .size = "256,1000,1024,4096,10240"},
    {.op = "transpose", .variant = "tiled", .dtype = "e2,e16", .size = "4096"},
    {.op = "transpose", .variant = "tiled", .size = "1024x16384,16384x1024"},
    {.op = "transpose", .variant = "tiled", .size = "1024", .cache = "cold"},
    {.op = "reduce",
     .variant = "naive,tiled,vendor,partials",
     .dtype = "f32",
     .size = "512,4Ki,64Ki,1Mi,16Mi,256Mi"},
    {.op = "reduce",
     .variant = "tiled,vendor",
     .dtype = "f64",
     .size = "512,4Ki,64Ki,1Mi,16Mi,256Mi"},
    {.op = "reduce", .variant = "naive,partials", .dtype = "f64", .size = "1Mi,256Mi"},
    {.op = "reduce", .dtype = "f16,i32", .size = "1Mi,256Mi"},
    {.op = "reduce", .kind = "dot", .variant = "tiled,vendor", .size = "64Ki,1Mi,16Mi,256Mi"},
    {.op = "reduce",
     .kind = "min,max,mean,asum,norm2,argmin,argmax",
     .dtype = "f32",
     .size = "1Mi,256Mi"},
    {.op = "reduce", .kind = "argmax", .dtype = "f64,i32", .size = "256Mi"},
    {.op = "reduce", .layout = "0,1", .size = "4096x4096,10000x7000"},
    {.op = "reduce", .variant = "naive", .dtype = "f32", .layout = "0,1", .size = "4096x4096"},
    {.op = "reduce", .kind = "max", .dtype = "f32", .layout = "0,1", .size = "4096x4096"},
    {.op = "reduce", .dtype = "f32", .size = "64Ki,1Mi", .cache = "cold"},
    {.op = "gemm", .variant = "naive", .size = "64,256,512"},
    {.op = "gemm", .variant = "naive", .size = "1024,2048,4096", .parts = true},
    {.op = "gemm", .variant = "tiled,vendor", .size = "64,128,256,512,1000"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "1024,2048,4096", .parts = true},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .size = "5120,8192,10240",
     .parts = true,
     .on = "gpu"},
    {.op = "gemm", .variant = "tiled,vendor", .dtype = "f16,bf16", .size = "256,1000,1024,4096"},
    {.op = "gemm", .variant = "tiled,vendor", .dtype = "f16,bf16", .size = "8192", .on = "gpu"},
    {.op = "gemm",
     .variant = "vendor",
     .dtype = "f32",
     .math = "tf32",
     .size = "1024,4096,8192,10240",
     .on = "gpu"},
    {.op = "gemm", .variant = "tiled,vendor", .layout = "nt,tn", .size = "1024,4096"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "64", .batch = "256"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "256", .batch = "64"},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .size = "64x64x16384,256x256x16384,64x4096x4096,4096x64x4096,4096x4096x64,1x4096x4096"},
    {.op = "gemm", .variant = "tiled,vendor", .dtype = "f32", .size = "256,1024", .cache = "cold"},
};

static const work_line stream[] = {
    {.op = "stream",
     .kind = "copy,scale,add,multiply,triad,dot",
     .variant = "naive,tiled",
     .size = "4Ki,16Ki,64Ki,256Ki,1Mi,4Mi,16Mi," BIG},
    {.op = "stream", .kind = "dot", .variant = "vendor,partials", .size = "64Ki,1Mi,16Mi," BIG},
    {.op = "stream", .kind = "copy,triad", .size = "4Ki,64Ki,1Mi,4Mi", .cache = "cold"},
    {.op = "stream", .kind = "copy,add,triad", .dtype = "f16,bf16", .size = "1Mi," BIG},
    {.op = "stream", .kind = "copy,add", .dtype = "i32,i64", .size = "1Mi," BIG},
    {.op = "stream", .kind = "chain", .size = "1Mi", .steps = "1,4,16,64,256,1024"},
};

static const work_line gemm[] = {
    {.op = "gemm", .variant = "naive", .size = "32,64,128,256,512"},
    {.op = "gemm", .variant = "naive", .size = "1000,1024,2048,4096", .parts = true},
    {.op = "gemm", .variant = "tiled,vendor", .size = "32,64,96,128,192,256,384,512,768,1000"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "1024,1536,2048,3072,4096", .parts = true},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .size = "5120,8192,10240,16384",
     .parts = true,
     .on = "gpu"},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .dtype = "f16,bf16",
     .size = "64,256,512,1000,1024,2048,4096"},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .dtype = "f16,bf16",
     .size = "8192,16384",
     .on = "gpu"},
    {.op = "gemm",
     .variant = "vendor",
     .dtype = "f32",
     .math = "tf32",
     .size = "256,512,1000,1024,2048,4096,8192,10240,16384",
     .on = "gpu"},
    {.op = "gemm", .variant = "tiled,vendor", .layout = "nt,tn,tt", .size = "256,1024,4096"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "32,64", .batch = "16,256"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "256", .batch = "16,64"},
    {.op = "gemm",
     .variant = "tiled,vendor",
     .size =
         "16x16x65536,64x64x4096,64x64x16384,64x64x65536,256x256x16384,1024x1024x8192,"
         "1x4096x4096,8x4096x4096,64x4096x4096,4096x64x4096,4096x4096x64,4096x4096x16,65536x32x32"},
    {.op = "gemm", .variant = "tiled,vendor", .size = "64,256,1024", .cache = "cold"},
};

static const work_line transfer[] = {
    {.op = "transfer",
     .size = "1Ki,2Ki,4Ki,8Ki,16Ki,32Ki,64Ki,128Ki,256Ki,512Ki,1Mi,2Mi,4Mi,8Mi,16Mi,32Mi,64Mi,"
             "128Mi,256Mi,512Mi,1Gi"},
    {.op = "transfer", .size = "4Ki,64Ki,1Mi", .cache = "cold"},
};

/* A processor's peak is reached by few elements, a GPU's by many. */
static const work_line roofs[] = {
    {.op = "reduce", .kind = "sum,dot", .size = BIG, .roof = WORK_ROOF_READ},
    {.op = "transfer", .kind = "copy", .variant = "device", .size = BIG, .roof = WORK_ROOF_COPY},
    {.op = "stream", .kind = "copy", .dtype = "f64", .size = BIG, .roof = WORK_ROOF_COPY},
    {.op = "stream", .kind = "chain", .size = "1Mi", .steps = "1024", .roof = WORK_ROOF_FMA},
    {.op = "stream",
     .kind = "chain",
     .size = "16Mi",
     .steps = "4096",
     .on = "gpu",
     .roof = WORK_ROOF_FMA},
};

#define SUITE(NAME)                                                                                \
    {                                                                                              \
        .name = #NAME, .lines = NAME, .count = (int32_t)(sizeof NAME / sizeof NAME[0])             \
    }

const work_suite work_suites[] = {SUITE(quick), SUITE(full), SUITE(stream), SUITE(gemm),
                                  SUITE(transfer)};
const int32_t work_suite_count = (int32_t)(sizeof work_suites / sizeof work_suites[0]);
const work_suite work_roofs = SUITE(roofs);
