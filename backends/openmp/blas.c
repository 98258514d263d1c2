/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - opens OpenBLAS, BLIS or MKL, and makes it use the kernels that suit the processor.
 *
 * OpenBLAS chooses its core when it is loaded, BLIS at its first call, and neither can be changed
 * later. So the library is opened and queried. If it has chosen a bad core, it is closed and opened
 * again. Meanwhile a variable (OPENBLAS_CORETYPE, BLIS_ARCH_TYPE) names the better core; it is
 * unset right after. A variable that the user has set is respected, and a library that the program
 * had already loaded is left alone.
 */
#include "backends/openmp/blas.h"

#include "backends/loader/loader.h"
#include "backends/openmp/runtime.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLAS_NAMES = 4 };

typedef struct blas_library {
    const char *setting; /* value of ISOMER_BLAS */
    const char *name;
    const char *names[BLAS_NAMES]; /* file names, newest first */
    const char *mark;              /* a function that only this library has */
    const char *variable;          /* names the core; NULL if there is none */
} blas_library;

static const blas_library libraries[CPU_BLAS_KINDS] = {
    [CPU_BLAS_OPENBLAS] = {"openblas",
                           "OpenBLAS",
                           {"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so"},
                           "openblas_get_config",
                           "OPENBLAS_CORETYPE"},
    [CPU_BLAS_BLIS] = {"blis",
                       "BLIS",
                       {"libblis.so.4", "libblis.so.3", "libblis-mt.so.4"},
                       "bli_info_get_version_str",
                       "BLIS_ARCH_TYPE"},
    [CPU_BLAS_MKL] = {"mkl",
                      "MKL",
                      {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"},
                      "MKL_Get_Version_String",
                      NULL},
};

/* The library that was found, if any. */
static struct {
    pthread_once_t once;
    atomic_int looked; /* 1: the search is done, and the other fields no longer change */
    cpu_blas blas;
    int found;
    char threading[ISO_NAME_MAX];
    char remark[ISO_REASON_MAX];
    char reason[ISO_REASON_MAX]; /* why there is no library, with what was tried */
    void (*omat_s)(int, int, int, int, float, const float *, int, float *, int);
    void (*omat_d)(int, int, int, int, double, const double *, int, double *, int);
    void (*omat_z)(int, int, int, int, const double *, const double *, int, double *, int);
    void (*mkl_s)(char, char, size_t, size_t, float, const float *, size_t, float *, size_t);
    void (*mkl_d)(char, char, size_t, size_t, double, const double *, size_t, double *, size_t);
} vendor = {.once = PTHREAD_ONCE_INIT};

/* The members of cpu_blas from sgemm on. */
static const loader_function functions[] = {
    {"cblas_sgemm", true},
    {"cblas_dgemm", true},
    {"cblas_sgemv", false},
    {"cblas_dgemv", false},
    {"cblas_sdot", true},
    {"cblas_ddot", true},
    {"cblas_sasum", true},
    {"cblas_dasum", true},
    {"cblas_snrm2", true},
    {"cblas_dnrm2", true},
    {"cblas_cgemm", false},
    {"cblas_zgemm", false},
    {"cblas_ssyrk", false},
    {"cblas_dsyrk", false},
    {"cblas_csyrk", false},
    {"cblas_zsyrk", false},
    {"cblas_strsm", false},
    {"cblas_dtrsm", false},
    {"cblas_ctrsm", false},
    {"cblas_ztrsm", false},
    {"cblas_sbgemm", false},
    {"cblas_gemm_bf16bf16f32", false},
    {"cblas_gemm_f16f16f32", false},
};
static const loader_where where = {.host = &cpu_host, .advice = ""};
static loader_library opened = {
    .title = "BLAS",
    .where = &where,
    .functions = functions,
    .table = (char *)&vendor.blas + offsetof(cpu_blas, sgemm),
    .function_count = (int)(sizeof functions / sizeof functions[0]),
};

static void find(void *to, const char *name)
{
    (void)loader_get(&opened, name, to);
}

/* ---- transposes: two libraries, two signatures ----------------------------------------------- */

#define DEFINE_TRANSPOSE(name, call)                                                               \
    static void name(const void *from, int64_t ld_from, void *to, int64_t ld_to, int64_t rows,     \
                     int64_t cols, int stream, void *scratch)                                      \
    {                                                                                              \
        (void)stream;                                                                              \
        (void)scratch;                                                                             \
        call;                                                                                      \
    }
#define OPENBLAS(function, one)                                                                    \
    vendor.function(CPU_BLAS_ROW_MAJOR, CPU_BLAS_TRANS, (int)rows, (int)cols, one, from,           \
                    (int)ld_from, to, (int)ld_to)
#define MKL(function)                                                                              \
    vendor.function('R', 'T', (size_t)rows, (size_t)cols, 1, from, (size_t)ld_from, to,            \
                    (size_t)ld_to)

static const double one_pair[2] = {1, 0};

DEFINE_TRANSPOSE(openblas_4, OPENBLAS(omat_s, 1))
DEFINE_TRANSPOSE(openblas_8, OPENBLAS(omat_d, 1))
DEFINE_TRANSPOSE(openblas_16, OPENBLAS(omat_z, one_pair))
DEFINE_TRANSPOSE(mkl_4, MKL(mkl_s))
DEFINE_TRANSPOSE(mkl_8, MKL(mkl_d))

static const struct {
    cpu_blas_kind kind;
    int index; /* in cpu_blas */
    const char *symbol, *name;
    void *address; /* where to store it */
    cpu_transpose_block block;
} transposes[] = {
    {CPU_BLAS_OPENBLAS, 0, "cblas_somatcopy", "cblas_somatcopy", &vendor.omat_s, openblas_4},
    {CPU_BLAS_OPENBLAS, 1, "cblas_domatcopy", "cblas_domatcopy", &vendor.omat_d, openblas_8},
    {CPU_BLAS_OPENBLAS, 2, "cblas_zomatcopy", "cblas_zomatcopy", &vendor.omat_z, openblas_16},
    {CPU_BLAS_MKL, 0, "MKL_Somatcopy", "mkl_somatcopy", &vendor.mkl_s, mkl_4},
    {CPU_BLAS_MKL, 1, "MKL_Domatcopy", "mkl_domatcopy", &vendor.mkl_d, mkl_8},
};

static void find_transposes(void)
{
    cpu_blas *blas = &vendor.blas;
    for (size_t i = 0; i < sizeof transposes / sizeof transposes[0]; i++) {
        if (transposes[i].kind == blas->kind &&
            loader_get(&opened, transposes[i].symbol, transposes[i].address)) {
            blas->transpose[transposes[i].index].block = transposes[i].block;
            blas->transpose[transposes[i].index].name = transposes[i].name;
        }
    }
}

/* ---- What the library reports about itself --------------------------------------------------- */

static void copy_text(char *to, size_t capacity, const char *from)
{
    (void)snprintf(to, capacity, "%s", from ? from : "");
}

/* Writes the core in use, or "" if the library does not report it. */
static void ask_core(cpu_blas_kind kind, char *core, size_t capacity)
{
    core[0] = '\0';
    if (kind == CPU_BLAS_OPENBLAS) {
        char *(*get)(void) = NULL;
        find(&get, "openblas_get_corename");
        copy_text(core, capacity, get ? get() : "");
    } else if (kind == CPU_BLAS_BLIS) {
        int (*id)(void) = NULL;
        const char *(*name)(int) = NULL;
        find(&id, "bli_arch_query_id");
        find(&name, "bli_arch_string");
        void (*start)(void) =
            NULL; /* in some versions, querying before this call ends the process */
        find(&start, "bli_init");
        if (start) {
            start();
        }
        copy_text(core, capacity, id && name ? name(id()) : "");
    }
}

static const char *openblas_config(void)
{
    const char *(*get)(void) = NULL;
    find(&get, "openblas_get_config");
    const char *config = get ? get() : NULL;
    return config ? config : "";
}

/* Stops using ssum and dsum if they are wrong: some versions have kernels that are wrong for some
 * lengths (0.3.21 for SkylakeX and related cores: 31 elements are enough). Whole numbers of this
 * size add exactly in any order, so any difference is an error. */
static void drop_wrong_sums(void)
{
    enum { LONGEST = 600 };
    cpu_blas *blas = &vendor.blas;
    static float narrow[LONGEST]; /* static: this runs once */
    static double wide[LONGEST];
    double sum = 0;
    int wrong_narrow = 0;
    int wrong_wide = 0;
    for (int i = 0; i < LONGEST; i++) {
        narrow[i] = (float)(i * 7919 % 201 - 100);
        wide[i] = (double)narrow[i];
        sum += wide[i];
        wrong_narrow |= blas->ssum && (double)blas->ssum(i + 1, narrow, 1) != sum;
        wrong_wide |= blas->dsum && blas->dsum(i + 1, wide, 1) != sum;
    }
    if (wrong_narrow || wrong_wide) {
        const size_t used = strlen(vendor.remark);
        (void)snprintf(
            vendor.remark + used, sizeof vendor.remark - used,
            "%s%s of this library gives wrong sums with these kernels and is not used: a sum is "
            "computed as a dot product with one",
            used ? ". " : "", wrong_narrow ? "cblas_ssum" : "cblas_dsum");
    }
    blas->ssum = wrong_narrow ? NULL : blas->ssum;
    blas->dsum = wrong_wide ? NULL : blas->dsum;
}

static void ask_openblas(void)
{
    static const char *const models[] = {"sequential", "its own threads (pthreads)", "OpenMP"};
    const char *config = openblas_config();
    int (*parallel)(void) = NULL;
    int (*count)(void) = NULL;
    find(&parallel, "openblas_get_parallel");
    find(&vendor.blas.set_threads_int, "openblas_set_num_threads");
    (void)sscanf(config, "OpenBLAS %31s", vendor.blas.version);
    const int model = parallel ? parallel() : -1;
    copy_text(vendor.threading, sizeof vendor.threading,
              model >= 0 && model <= 2 ? models[model] : "unknown");
    vendor.blas.by_openmp = model == 2;
    find(&count, "openblas_get_num_threads");
    if (model == 1) {
        vendor.blas.own_threads = count ? count() : 1;
    }
    find(&vendor.blas.ssum, "cblas_ssum");
    find(&vendor.blas.dsum, "cblas_dsum");
    drop_wrong_sums();
}

static void ask_blis(void)
{
    const char *(*version)(void) = NULL;
    int (*openmp)(void) = NULL;
    int (*pthreads)(void) = NULL;
    find(&version, "bli_info_get_version_str");
    find(&openmp, "bli_info_get_enable_openmp");
    find(&pthreads, "bli_info_get_enable_pthreads");
    find(&vendor.blas.set_threads_long, "bli_thread_set_num_threads");
    copy_text(vendor.blas.version, sizeof vendor.blas.version, version ? version() : "");
    vendor.blas.by_openmp = openmp && openmp() != 0;
    vendor.blas.by_call = !vendor.blas.by_openmp && pthreads && pthreads() != 0;
    copy_text(vendor.threading, sizeof vendor.threading,
              vendor.blas.by_openmp ? "OpenMP"
              : vendor.blas.by_call ? "its own threads (pthreads)"
                                    : "sequential");
}

static void ask_mkl(void)
{
    /* The layers must be chosen before anything is computed: 32-bit integers, and the OpenMP
     * runtime that is already in the process. */
    enum { LP64 = 0, INTEL = 0, GNU = 3 };
    int (*interface)(int) = NULL;
    int (*threading)(int) = NULL;
    void (*version)(char *, int) = NULL;
    find(&interface, "MKL_Set_Interface_Layer");
    find(&threading, "MKL_Set_Threading_Layer");
    find(&version, "MKL_Get_Version_String");
    find(&vendor.blas.set_threads_local, "MKL_Set_Num_Threads_Local");
#if defined(__clang__)
    const int layer = INTEL;
#else
    const int layer = GNU;
#endif
    if (interface) {
        (void)interface(LP64);
    }
    if (threading) {
        (void)threading(layer);
    }
    char text[256] = "";
    if (version) {
        version(text, (int)sizeof text - 1);
    }
    const char *number = strstr(text, "Version ");
    if (number) {
        (void)sscanf(number, "Version %31s", vendor.blas.version);
    }
    vendor.blas.by_openmp = 1;
    copy_text(vendor.threading, sizeof vendor.threading, "OpenMP");
}

/* ---- The core -------------------------------------------------------------------------------- */

/* Whether the library has this core. This must not be wrong, because BLIS ends the process if the
 * variable names a core that is not built in. */
static int blis_has(const char *core)
{
    char initialiser[ISO_NAME_MAX];
    (void)snprintf(initialiser, sizeof initialiser, "bli_cntx_init_%s", core);
    void *address = NULL;
    return loader_get(&opened, initialiser, &address);
}

/* Returns the value of BLIS_ARCH_TYPE for a core: its number in this version, or -1. */
static int blis_number(const char *core)
{
    const char *(*name)(int) = NULL;
    find(&name, "bli_arch_string");
    if (!name) {
        return -1;
    }
    /* The list ends with "generic"; reading beyond it is not allowed. */
    for (int i = 0; i < 64; i++) {
        const char *text = name(i);
        if (!text || strcmp(text, "generic") == 0) {
            break;
        }
        if (strcmp(text, core) == 0) {
            return i;
        }
    }
    return -1;
}

static void set_names(const char *const *names, int count)
{
    memset(opened.names, 0, sizeof opened.names);
    memcpy(opened.names, names, (size_t)count * sizeof *names);
}

/* Opens the closed library again, with the variable set if `value` is not NULL. Returns 0 if the
 * library can no longer be used. */
static int open_again(const blas_library *library, const char *value)
{
    static char path[LOADER_PATH_MAX]; /* static: this runs once */
    /* If the variable is already set here, it is an empty string: correct_core() keeps any other
     * value that the user has set, and does not call this. */
    const int was_empty = getenv(library->variable) != NULL;
    if (value) {
        (void)setenv(library->variable, value, 1);
    }
    (void)snprintf(path, sizeof path, "%s", opened.path);
    set_names((const char *[]){path}, 1);
    if (loader_open(&opened)) {
        ask_core(vendor.blas.kind, vendor.blas.core,
                 sizeof vendor.blas.core); /* BLIS chooses its core only now */
    }
    if (value && was_empty) {
        (void)setenv(library->variable, "", 1);
    } else if (value) {
        (void)unsetenv(library->variable);
    }
    return opened.handle != NULL;
}

static void remark_fixed(const blas_library *library, const char *better, const char *why)
{
    (void)snprintf(vendor.remark, sizeof vendor.remark,
                   "%s uses the kernels for %s, which are slow here, and its core cannot be "
                   "changed: %s; set %s=%s before the program starts",
                   library->name, vendor.blas.core, why, library->variable, better);
}

/* Tries one core. 1: done, successful or not. 0: another core may be tried. */
static int try_core(const blas_library *library, const char *better, const char *chosen)
{
    char value[ISO_NAME_MAX];
    copy_text(value, sizeof value, better);
    if (vendor.blas.kind == CPU_BLAS_BLIS) {
        const int number = blis_number(better);
        if (number < 0) {
            return 0;
        }
        (void)snprintf(value, sizeof value, "%d", number);
        if (!blis_has(better)) {
            remark_fixed(library, value,
                         "it does not report whether it has better ones, and ends the process if "
                         "missing ones are selected");
            return 1;
        }
    }
    loader_close(&opened);
    if (loader_already_loaded(opened.path)) {
        if (open_again(library, NULL)) {
            remark_fixed(library, value, "it stays loaded when it is closed");
        }
        return 1;
    }
    if (!open_again(library, value)) {
        return 1;
    }
    if (strcmp(vendor.blas.core, chosen) == 0) {
        remark_fixed(library, value, "it was opened again with the variable set, but ignored it");
        return 0;
    }
    (void)snprintf(vendor.remark, sizeof vendor.remark,
                   "%s does not know this processor and took it for %s, whose kernels are slow "
                   "here: it was opened again with %s=%s",
                   library->name, chosen, library->variable, value);
    return 1;
}

/* Makes the library use a better core if there is one. Returns 0 if the library can no longer be
 * used. */
static int correct_core(const blas_library *library, int loaded_before)
{
    cpu_blas *blas = &vendor.blas;
    cpu_facts facts = *cpu_facts_get();
    char chosen[ISO_NAME_MAX];
    ask_core(blas->kind, blas->core, sizeof blas->core);
    copy_text(chosen, sizeof chosen, blas->core);
    const char *better = cpu_blas_better_core(blas->kind, &facts, chosen);
    if (!better) {
        return 1;
    }
    const char *set = getenv(library->variable);
    if (set && set[0]) {
        (void)snprintf(vendor.remark, sizeof vendor.remark,
                       "%s=%s was set by the user: without it %s may be faster here",
                       library->variable, set, library->name);
        return 1;
    }
    if (loaded_before) {
        remark_fixed(library, better, "the program had loaded it before");
        return 1;
    }
    if (blas->kind == CPU_BLAS_OPENBLAS && !strstr(openblas_config(), "DYNAMIC_ARCH")) {
        remark_fixed(library, better, "it was built for that core alone");
        return 1;
    }
    while (better && opened.handle && !try_core(library, better, chosen)) {
        facts.has_avx512 = 0;
        const char *next = cpu_blas_better_core(blas->kind, &facts, chosen);
        better = next && strcmp(next, better) != 0 ? next : NULL;
    }
    return opened.handle != NULL;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Whether the library has 32-bit integers. An OpenBLAS with 64-bit integers has functions of the
 * same names, so only its configuration shows the difference. */
static int usable(const blas_library *library)
{
    if (library != &libraries[CPU_BLAS_OPENBLAS] || !strstr(openblas_config(), "USE64BITINT")) {
        return 1;
    }
    loader_note(&opened, opened.path, "its integers have 64 bits");
    return 0;
}

static int accept(cpu_blas_kind kind, int loaded_before)
{
    const blas_library *library = &libraries[kind];
    cpu_blas *blas = &vendor.blas;
    if (!usable(library)) {
        loader_close(&opened);
        return 0;
    }
    blas->kind = kind;
    copy_text(blas->name, sizeof blas->name, library->name);
    if (!correct_core(library, loaded_before)) {
        return 0;
    }
    switch (kind) {
    case CPU_BLAS_OPENBLAS:
        ask_openblas();
        break;
    case CPU_BLAS_BLIS:
        ask_blis();
        break;
    default:
        ask_mkl();
        break;
    }
    find_transposes();
    (void)snprintf(blas->label, sizeof blas->label, "%.40s%s%.32s%s%.40s%s", blas->name,
                   blas->version[0] ? " " : "", blas->version, blas->core[0] ? " (" : "",
                   blas->core, blas->core[0] ? ")" : "");
    cpu_blas_settle(blas);
    vendor.found = 1;
    return 1;
}

/* Whether files of these names may be opened. If not, the reason is added to the list of what was
 * tried. */
static int may_open(const char *const *names, int count, int loaded_before)
{
    char why[ISO_REASON_MAX / 2];
    if (loaded_before || cpu_blas_may_open(names, count, why, sizeof why)) {
        return 1;
    }
    loader_note(&opened, names[0], why);
    return 0;
}

static int open_kind(cpu_blas_kind kind)
{
    const blas_library *library = &libraries[kind];
    int count = 0;
    int loaded_before = 0;
    while (count < BLAS_NAMES && library->names[count]) {
        loaded_before |= loader_already_loaded(library->names[count]);
        count++;
    }
    if (!may_open(library->names, count, loaded_before)) {
        return 0;
    }
    set_names(library->names, count);
    return loader_open(&opened) && accept(kind, loaded_before);
}

static void open_path(const char *path)
{
    const int loaded_before = loader_already_loaded(path);
    if (!may_open(&path, 1, loaded_before)) {
        return;
    }
    set_names(&path, 1);
    if (!loader_open(&opened)) {
        return;
    }
    for (int kind = 0; kind < CPU_BLAS_KINDS; kind++) {
        void *mark = NULL;
        if (loader_get(&opened, libraries[kind].mark, &mark)) {
            (void)accept((cpu_blas_kind)kind, loaded_before);
            return;
        }
    }
    loader_note(&opened, opened.path, "is neither OpenBLAS, BLIS nor MKL");
    loader_close(&opened);
}

static void open_library(void)
{
    const char *setting = cpu_host->setting("ISOMER_BLAS");
    cpu_blas_threads threads;
    int named = 0;
    cpu_blas_threads_limit(&threads);
    if (setting && strchr(setting, '/')) {
        open_path(setting);
        named = 1;
    }
    for (int kind = 0; kind < CPU_BLAS_KINDS && !named; kind++) {
        if (setting && setting[0] && strcmp(setting, libraries[kind].setting) == 0) {
            (void)open_kind((cpu_blas_kind)kind);
            named = 1;
        }
    }
    for (int kind = 0; kind < CPU_BLAS_KINDS && !named && !vendor.found; kind++) {
        (void)open_kind((cpu_blas_kind)kind);
    }
    cpu_blas_threads_restore(&threads);
    if (!vendor.found) {
        (void)snprintf(vendor.reason, sizeof vendor.reason,
                       "no BLAS library could be used; tried: %s", opened.tried);
    } else if (vendor.remark[0]) {
        cpu_host->log(ISO_LOG_INFO, "%s", vendor.remark);
    }
    atomic_store_explicit(&vendor.looked, 1, memory_order_release);
}

iso_status cpu_blas_check_setting(void)
{
    const char *setting = cpu_host->setting("ISOMER_BLAS");
    int known = !setting || !setting[0] || strchr(setting, '/');
    for (int kind = 0; kind < CPU_BLAS_KINDS && !known; kind++) {
        known = strcmp(setting, libraries[kind].setting) == 0;
    }
    if (setting && setting[0] != '/' && strchr(setting, '/')) {
        return cpu_host->fail(ISO_INVALID,
                              "ISOMER_BLAS is \"%.256s\", which is not an absolute path: nothing "
                              "is loaded from the working directory; give the whole path, or a "
                              "name: openblas, blis, mkl",
                              setting);
    }
    return known ? ISO_OK
                 : cpu_host->fail(ISO_INVALID,
                                  "ISOMER_BLAS is \"%.256s\": use openblas, blis, mkl or a path "
                                  "with a '/', or leave it unset",
                                  setting);
}

static void *open_once(void *unused)
{
    (void)unused;
    (void)pthread_once(&vendor.once, open_library);
    return NULL;
}

const cpu_blas *cpu_blas_get(void)
{
    if (!atomic_load_explicit(&vendor.looked, memory_order_acquire)) {
        if (cpu_host->stack_left() >= CPU_BLAS_STACK) {
            (void)open_once(NULL);
        } else {
            (void)cpu_run_apart(open_once, NULL);
        }
    }
    return vendor.found ? &vendor.blas : NULL;
}

const char *cpu_blas_reason(void)
{
    if (cpu_blas_get()) {
        return "";
    }
    return atomic_load_explicit(&vendor.looked, memory_order_acquire)
               ? vendor.reason
               : "opening it needs a thread with more stack, and the system grants none";
}

const cpu_blas *cpu_blas_need(const char *operation)
{
    const cpu_blas *blas = cpu_blas_get();
    if (!blas) {
        (void)cpu_host->fail(ISO_UNSUPPORTED, "%s: vendor needs a BLAS library: %s", operation,
                             cpu_blas_reason());
    }
    return blas;
}

void cpu_blas_describe(iso_op_info *out, const char *function)
{
    (void)snprintf(out->library, sizeof out->library, "%s", cpu_blas_get()->label);
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", function);
}

int cpu_blas_property(int32_t index, iso_property *out)
{
    const cpu_blas *blas = cpu_blas_get();
    const char *name = NULL;
    const char *value = NULL;
    if (!blas) {
        name = index == 0 ? "BLAS" : index == 1 ? "BLAS remark" : NULL;
        value = index == 0 ? "none" : vendor.reason;
    } else {
        /* Empty fields are left out. */
        const char *const names[] = {"BLAS", "BLAS core", "BLAS threading", "BLAS remark"};
        const char *const values[] = {opened.path, blas->core, vendor.threading, vendor.remark};
        for (int i = 0, shown = 0; i < 4; i++) {
            if (values[i][0] && shown++ == index) {
                name = names[i];
                value = values[i];
            }
        }
        if (name == names[0]) {
            (void)snprintf(out->value, sizeof out->value, "%.40s%s%.32s, %.3000s", blas->name,
                           blas->version[0] ? " " : "", blas->version, opened.path);
            value = NULL;
        }
    }
    if (!name) {
        return 0;
    }
    copy_text(out->name, sizeof out->name, name);
    if (value) {
        copy_text(out->value, sizeof out->value, value);
    }
    return 1;
}
