/* SPDX-License-Identifier: Apache-2.0 */
/* isa.c - describes this processor, and chooses among the build's instruction sets. */
#include "backends/loader/files.h"
#include "backends/openmp/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

static cpu_facts facts;
static pthread_once_t facts_once = PTHREAD_ONCE_INIT;

/* ---- facts ----------------------------------------------------------------------------------- */

/* The value of the first line of /proc/cpuinfo that begins with this name. */
static int cpuinfo(const char *text, const char *name, char *value, size_t capacity)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0) {
            continue;
        }
        const char *at = line + length;
        at += strspn(at, " \t");
        if (*at != ':') {
            continue;
        }
        at++;
        at += strspn(at, " \t");
        (void)snprintf(value, capacity, "%.*s", (int)strcspn(at, "\n"), at);
        return 1;
    }
    return 0;
}

static int cache_text(int index, const char *file, char *text, size_t capacity)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
    return files_read(path, text, capacity);
}

static void find_caches(cpu_facts *out)
{
    char level[16], type[32], size[32];
    for (int i = 0; cache_text(i, "level", level, sizeof level); i++) {
        if (!cache_text(i, "type", type, sizeof type) ||
            !cache_text(i, "size", size, sizeof size) || strcmp(type, "Instruction") == 0) {
            continue;
        }
        char *unit;
        int64_t bytes = strtoll(size, &unit, 10);
        bytes *= *unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1;
        if (level[0] == '1') {
            out->l1_bytes = bytes;
        } else if (level[0] == '2') {
            out->l2_bytes = bytes;
        } else {
            out->l3_bytes = bytes;
        }
    }
    if (out->l1_bytes <= 0) {
        long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
        out->l1_bytes = bytes > 0 ? bytes : 32 * 1024;
    }
    if (out->l2_bytes <= 0) {
        long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
        out->l2_bytes = bytes > 0 ? bytes : 256 * 1024;
    }
    if (out->l3_bytes <= 0) {
        long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
        out->l3_bytes = bytes > 0 ? bytes : 0;
    }
    out->cache_bytes = out->l3_bytes > 0 ? out->l3_bytes : out->l2_bytes;
}

static void find_clock(const char *text, cpu_facts *out)
{
    char value[64];
    if (files_read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", value, sizeof value)) {
        out->clock_mhz = (int32_t)(strtol(value, NULL, 10) / 1000);
    } else if (cpuinfo(text, "cpu MHz", value, sizeof value)) {
        out->clock_mhz = (int32_t)strtol(value, NULL, 10);
    }
}

static void find_features(cpu_facts *out)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    __builtin_cpu_init();
    /* F16C too may be used only if the system saves the AVX registers.
     * __builtin_cpu_supports("avx") checks that. */
    int avx = __builtin_cpu_supports("avx") != 0;
    out->has_fma = __builtin_cpu_supports("fma") != 0;
    out->has_avx2 = __builtin_cpu_supports("avx2") != 0;
    out->has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    out->has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
    out->has_f16c = avx && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
#elif defined(__aarch64__)
    out->has_fma = 1;
    const int length = getauxval(AT_HWCAP) & HWCAP_SVE ? prctl(PR_SVE_GET_VL) : 0;
    out->sve_bytes = length > 0 ? length & PR_SVE_VL_LEN_MASK : 0;
#elif defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
    out->has_fma = 1;
#else
    (void)out;
#endif
}

static void find_names(const char *text)
{
    char value[64];
    if (!cpuinfo(text, "model name", facts.name, sizeof facts.name)) {
        (void)snprintf(facts.name, sizeof facts.name, "CPU");
    }
    if (!cpuinfo(text, "vendor_id", facts.vendor, sizeof facts.vendor)) {
        (void)cpuinfo(text, "CPU implementer", facts.vendor, sizeof facts.vendor);
    }
    if (cpuinfo(text, "cpu family", value, sizeof value)) {
        facts.family = (int32_t)strtol(value, NULL, 10);
    }
    if (cpuinfo(text, "model", value, sizeof value)) {
        facts.model = (int32_t)strtol(value, NULL, 10);
    }
}

static void find_facts(void)
{
    static char text[8192];
    if (!files_read("/proc/cpuinfo", text, sizeof text)) {
        text[0] = '\0';
    }
    find_names(text);
    if (cpu_emulator(facts.emulator, sizeof facts.emulator)) {
        /* The system describes the processor below the emulator. */
        (void)snprintf(facts.name, sizeof facts.name, "CPU emulated by %s", facts.emulator);
        (void)snprintf(facts.vendor, sizeof facts.vendor, "%s", facts.emulator);
    }
    facts.cores = cpu_cores_get();
    find_clock(text, &facts);
    find_caches(&facts);
    find_features(&facts);
}

const cpu_facts *cpu_facts_get(void)
{
    (void)pthread_once(&facts_once, find_facts);
    return &facts;
}

/* ---- instruction sets ------------------------------------------------------------------------ */

/* What an instruction set requires of the processor. SVE's kernels are for one length of vectors.
 */
enum {
    NEEDS_NOTHING,
    NEEDS_AVX2,   /* with FMA and F16C */
    NEEDS_AVX512, /* F, BW, DQ, VL, and all of AVX2 */
    NEEDS_VNNI,   /* and VNNI */
    NEEDS_SVE256,
    NEEDS_SVE512
};

extern const cpu_kernels cpu_kernels_generic, cpu_kernels_neon, cpu_kernels_sve256,
    cpu_kernels_sve512, cpu_kernels_avx2, cpu_kernels_avx512, cpu_kernels_avx512vnni;

/* The sets in this build, the best last. */
static const struct {
    const cpu_kernels *kernels;
    int needs;
} sets[] = {
#if defined(CPU_HAS_GENERIC)
    {&cpu_kernels_generic, NEEDS_NOTHING},
#endif
#if defined(CPU_HAS_NEON)
    {&cpu_kernels_neon, NEEDS_NOTHING},
#endif
#if defined(CPU_HAS_SVE256)
    {&cpu_kernels_sve256, NEEDS_SVE256},
#endif
#if defined(CPU_HAS_SVE512)
    {&cpu_kernels_sve512, NEEDS_SVE512},
#endif
#if defined(CPU_HAS_AVX2)
    {&cpu_kernels_avx2, NEEDS_AVX2},
#endif
#if defined(CPU_HAS_AVX512)
    {&cpu_kernels_avx512, NEEDS_AVX512},
#endif
#if defined(CPU_HAS_AVX512VNNI)
    {&cpu_kernels_avx512vnni, NEEDS_VNNI},
#endif
};

enum { SETS = sizeof sets / sizeof sets[0] };

/* Whether this processor has what a set needs. */
static int has(int needs)
{
    const cpu_facts *known = cpu_facts_get();
    const int avx2 = known->has_avx2 && known->has_fma && known->has_f16c;
    switch (needs) {
    case NEEDS_AVX2:
        return avx2;
    case NEEDS_AVX512:
        return avx2 && known->has_avx512;
    case NEEDS_VNNI:
        return avx2 && known->has_avx512 && known->has_vnni;
    case NEEDS_SVE256:
        return known->sve_bytes == 32;
    case NEEDS_SVE512:
        return known->sve_bytes == 64;
    default:
        return 1;
    }
}

/* Whether this processor supports the kernels of sets[i]. */
static int runs(int i)
{
    return has(sets[i].needs);
}

const cpu_kernels *cpu_isa_best(void)
{
    int best = SETS - 1;
    while (!runs(best)) { /* the first set always runs */
        best--;
    }
    return sets[best].kernels;
}

/* The sets that embedded kernels may have, the best last: also those that this build has not. */
static const struct {
    const char *name;
    int needs;
} embedded_sets[] = {{"generic", NEEDS_NOTHING}, {"neon", NEEDS_NOTHING}, {"sve256", NEEDS_SVE256},
                     {"sve512", NEEDS_SVE512},   {"avx2", NEEDS_AVX2},    {"avx512", NEEDS_AVX512},
                     {"avx512vnni", NEEDS_VNNI}};

const iso_embedded_set *cpu_isa_embedded(const cpu_kernels *kernels, const iso_embedded *table)
{
    int allowed = 0;
    for (int i = sizeof embedded_sets / sizeof embedded_sets[0] - 1; i >= 0; i--) {
        allowed = allowed || strcmp(embedded_sets[i].name, kernels->name) == 0;
        for (int32_t k = 0; allowed && has(embedded_sets[i].needs) && k < table->set_count; k++) {
            if (strcmp(table->sets[k].name, embedded_sets[i].name) == 0) {
                return &table->sets[k];
            }
        }
    }
    return NULL;
}

const cpu_kernels *cpu_isa_at(int32_t index)
{
    return index >= 0 && index < SETS ? sets[index].kernels : NULL;
}

void cpu_isa_list(char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < SETS && used < capacity; i++) {
        if (runs(i)) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                                     sets[i].kernels->name);
        }
    }
}

int cpu_isa_forced(void)
{
    return cpu_host->setting("ISOMER_CPU_ISA") != NULL;
}

iso_status cpu_isa_choose(const cpu_kernels **out)
{
    const char *name = cpu_host->setting("ISOMER_CPU_ISA");
    if (!name) {
        *out = cpu_isa_best();
        return ISO_OK;
    }
    int i = 0;
    while (i < SETS && strcmp(name, sets[i].kernels->name) != 0) {
        i++;
    }
    if (i < SETS && runs(i)) {
        *out = sets[i].kernels;
        return ISO_OK;
    }
    char list[128];
    cpu_isa_list(list, sizeof list);
    return cpu_host->fail(
        ISO_INVALID, "ISOMER_CPU_ISA is \"%s\", which %s: use one of %s, or leave it unset", name,
        i < SETS ? "this processor does not have" : "this build does not contain", list);
}
