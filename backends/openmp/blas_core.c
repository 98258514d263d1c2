/* SPDX-License-Identifier: Apache-2.0 */
/* blas_core.c - which kernels a BLAS library should use. OpenBLAS and BLIS recognise processors by
 * model number. They treat a processor that is newer than the library as an old one without AVX.
 * This file goes by the instruction sets instead, because only they decide which kernels suit. */
#include "backends/openmp/blas.h"

#include <string.h>
#include <strings.h>

typedef enum core_level {
    LEVEL_OLD = 0,  /* SSE, or AVX without fma */
    LEVEL_AVX2 = 1, /* with fma */
    LEVEL_AVX512 = 2,
    LEVEL_UNKNOWN = 3 /* a name that is newer than this list: the library's choice is kept */
} core_level;

typedef struct core_name {
    const char *name;
    core_level level;
} core_name;

static const core_name openblas_cores[] = {
    {"Generic", LEVEL_OLD},     {"Katmai", LEVEL_OLD},        {"Coppermine", LEVEL_OLD},
    {"Northwood", LEVEL_OLD},   {"Prescott", LEVEL_OLD},      {"Banias", LEVEL_OLD},
    {"Core2", LEVEL_OLD},       {"Penryn", LEVEL_OLD},        {"Dunnington", LEVEL_OLD},
    {"Nehalem", LEVEL_OLD},     {"Sandybridge", LEVEL_OLD},   {"Atom", LEVEL_OLD},
    {"Athlon", LEVEL_OLD},      {"Opteron", LEVEL_OLD},       {"Opteron_SSE3", LEVEL_OLD},
    {"Barcelona", LEVEL_OLD},   {"Bobcat", LEVEL_OLD},        {"Bulldozer", LEVEL_OLD},
    {"Piledriver", LEVEL_OLD},  {"Steamroller", LEVEL_OLD},   {"Nano", LEVEL_OLD},
    {"Excavator", LEVEL_AVX2},  {"Haswell", LEVEL_AVX2},      {"Zen", LEVEL_AVX2},
    {"SkylakeX", LEVEL_AVX512}, {"Cooperlake", LEVEL_AVX512}, {"SapphireRapids", LEVEL_AVX512},
};

static const core_name blis_cores[] = {
    {"generic", LEVEL_OLD},    {"penryn", LEVEL_OLD},     {"sandybridge", LEVEL_OLD},
    {"bulldozer", LEVEL_OLD},  {"piledriver", LEVEL_OLD}, {"steamroller", LEVEL_OLD},
    {"excavator", LEVEL_AVX2}, {"haswell", LEVEL_AVX2},   {"zen", LEVEL_AVX2},
    {"zen2", LEVEL_AVX2},      {"zen3", LEVEL_AVX2},      {"skx", LEVEL_AVX512},
    {"zen4", LEVEL_AVX512},
};

static core_level level_of(cpu_blas_kind kind, const char *core)
{
    const core_name *names = kind == CPU_BLAS_OPENBLAS ? openblas_cores : blis_cores;
    const size_t count = kind == CPU_BLAS_OPENBLAS
                             ? sizeof openblas_cores / sizeof openblas_cores[0]
                             : sizeof blis_cores / sizeof blis_cores[0];
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(names[i].name, core) == 0) {
            return names[i].level;
        }
    }
    return LEVEL_UNKNOWN;
}

/* AMD's processors of family 25 with AVX-512 (Zen 4) execute a 512-bit vector in two halves. So
 * AVX2 is no slower there, and the libraries' AVX2 kernels for Zen are tuned for these processors.
 */
static int avx2_is_enough(const cpu_facts *facts)
{
    return !facts->has_avx512 ||
           (strcmp(facts->vendor, "AuthenticAMD") == 0 && facts->family == 25);
}

const char *cpu_blas_better_core(cpu_blas_kind kind, const cpu_facts *facts, const char *core)
{
    if ((kind != CPU_BLAS_OPENBLAS && kind != CPU_BLAS_BLIS) || !facts->has_avx2 ||
        !facts->has_fma) {
        return NULL;
    }
    const core_level level = level_of(kind, core);
    if (level >= (avx2_is_enough(facts) ? LEVEL_AVX2 : LEVEL_AVX512)) {
        return NULL;
    }
    if (facts->has_avx512) {
        return kind == CPU_BLAS_OPENBLAS ? "SkylakeX" : "skx";
    }
    return kind == CPU_BLAS_OPENBLAS ? "Haswell" : "haswell";
}
