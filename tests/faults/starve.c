/* SPDX-License-Identifier: Apache-2.0 */
/* starve.c - redirects malloc and its relatives in chosen objects, for starve.h. Patches the slots
 * through which an object calls them: unlike overriding malloc, that does not affect other objects
 * and sanitizers. */
#include "tests/faults/starve.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- accounting ------------------------------------------------------------------------------ */

enum { HELD_MAX = 1 << 17 };

typedef struct held {
    const void *pointer;
    const void *caller;
    long number;
} held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static held table[HELD_MAX]; /* open addressing; a freed place has the number -1 */
static long live, number;
static long fails_at, counted, refused;
static bool fails_on;

static size_t place_of(const void *pointer)
{
    return (size_t)(((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15u >> 32) % HELD_MAX;
}

static bool tracked = true;

static void keep(const void *pointer, const void *caller)
{
    if (!pointer || !tracked) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (live > HELD_MAX / 2) {
        fprintf(stderr, "starve: too many blocks are held\n");
        _exit(99);
    }
    size_t at = place_of(pointer);
    while (table[at].number > 0) {
        at = (at + 1) % HELD_MAX;
    }
    table[at] = (held){pointer, caller, ++number};
    live++;
    pthread_mutex_unlock(&lock);
}

/* A freed place before an empty one needs no mark: chains end there anyway. */
static void clear(size_t at)
{
    table[at].number = -1;
    if (table[(at + 1) % HELD_MAX].number) {
        return;
    }
    for (; table[at].number < 0; at = (at + HELD_MAX - 1) % HELD_MAX) {
        table[at].number = 0;
    }
}

/* Blocks that other objects allocated may be freed here too; they were never counted. */
static void forget(const void *pointer)
{
    if (!pointer || !tracked) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (size_t at = place_of(pointer); table[at].number; at = (at + 1) % HELD_MAX) {
        if (table[at].number > 0 && table[at].pointer == pointer) {
            clear(at);
            live--;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static bool refuse(void)
{
    pthread_mutex_lock(&lock);
    counted++;
    const bool now = fails_at && (counted == fails_at || (fails_on && counted > fails_at));
    refused += now;
    pthread_mutex_unlock(&lock);
    if (now) {
        errno = ENOMEM;
    }
    return now;
}

void starve_arm(long n, bool onwards)
{
    pthread_mutex_lock(&lock);
    fails_at = n;
    fails_on = onwards;
    counted = refused = 0;
    pthread_mutex_unlock(&lock);
}

long starve_count(void)
{
    return counted;
}

long starve_refused(void)
{
    return refused;
}

long starve_live(void)
{
    return live;
}

long starve_mark(void)
{
    return number;
}

void starve_show(long since)
{
    for (size_t i = 0; i < HELD_MAX; i++) {
        Dl_info from;
        if (table[i].number > since && dladdr(table[i].caller, &from)) {
            fprintf(stderr, "  held: number %ld, made at %s+0x%lx\n", table[i].number,
                    from.dli_fname,
                    (unsigned long)((const char *)table[i].caller - (char *)from.dli_fbase));
        }
    }
}

/* ---- the functions --------------------------------------------------------------------------- */

#define CALLER __builtin_return_address(0)

static void *kept(void *pointer, const void *caller)
{
    keep(pointer, caller);
    return pointer;
}

static void *own_malloc(size_t bytes)
{
    return refuse() ? NULL : kept(malloc(bytes), CALLER);
}

static void *own_calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : kept(calloc(count, bytes), CALLER);
}

static void *own_reallocarray(void *old, size_t count, size_t bytes)
{
    if (refuse()) {
        return NULL;
    }
    forget(old); /* before another thread can get the same address */
    void *made = reallocarray(old, count, bytes);
    keep(made ? made : old, CALLER);
    return made;
}

static void *own_realloc(void *old, size_t bytes)
{
    return own_reallocarray(old, 1, bytes);
}

static void own_free(void *pointer)
{
    forget(pointer);
    free(pointer);
}

static char *own_strdup(const char *text)
{
    return refuse() ? NULL : kept(strdup(text), CALLER);
}

static char *own_strndup(const char *text, size_t most)
{
    return refuse() ? NULL : kept(strndup(text, most), CALLER);
}

static int own_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (refuse()) {
        return ENOMEM;
    }
    const int error = posix_memalign(out, alignment, bytes);
    if (!error) {
        keep(*out, CALLER);
    }
    return error;
}

static void *own_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : kept(aligned_alloc(alignment, bytes), CALLER);
}

static int own_vasprintf(char **out, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

static int own_vasprintf(char **out, const char *format, va_list list)
{
    if (refuse()) {
        *out = NULL;
        return -1;
    }
    const int length = vasprintf(out, format, list);
    if (length >= 0) {
        keep(*out, CALLER);
    }
    return length;
}

static int own_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int own_asprintf(char **out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = own_vasprintf(out, format, list);
    va_end(list);
    return length;
}

static int own_vasprintf_chk(char **out, int flag, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

static int own_vasprintf_chk(char **out, int flag, const char *format, va_list list)
{
    (void)flag;
    return own_vasprintf(out, format, list);
}

static int own_asprintf_chk(char **out, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int own_asprintf_chk(char **out, int flag, const char *format, ...)
{
    va_list list;
    (void)flag;
    va_start(list, format);
    const int length = own_vasprintf(out, format, list);
    va_end(list);
    return length;
}

/* With a buffer for the answer nothing is allocated. */
static char *own_realpath(const char *path, char *out)
{
    if (out) {
        return realpath(path, out);
    }
    return refuse() ? NULL : kept(realpath(path, NULL), CALLER);
}

static char *own_realpath_chk(const char *path, char *out, size_t room)
{
    (void)room;
    return own_realpath(path, out);
}

static FILE *own_fopen(const char *path, const char *mode)
{
    return refuse() ? NULL : kept(fopen(path, mode), CALLER);
}

static FILE *own_fdopen(int file, const char *mode)
{
    return refuse() ? NULL : kept(fdopen(file, mode), CALLER);
}

static FILE *own_open_memstream(char **text, size_t *length)
{
    return refuse() ? NULL : kept(open_memstream(text, length), CALLER);
}

static int own_fclose(FILE *file)
{
    forget(file);
    return fclose(file);
}

static DIR *own_opendir(const char *path)
{
    return refuse() ? NULL : kept(opendir(path), CALLER);
}

static int own_closedir(DIR *folder)
{
    forget(folder);
    return closedir(folder);
}

#define OWN(name)           #name, (void (*)(void))own_##name
#define OWN_AS(name, taker) #name, (void (*)(void))own_##taker

static const struct {
    const char *name;
    void (*taker)(void);
} takers[] = {
    {OWN(malloc)},
    {OWN(calloc)},
    {OWN(realloc)},
    {OWN(reallocarray)},
    {OWN(free)},
    {OWN(strdup)},
    {OWN_AS(__strdup, strdup)},
    {OWN(strndup)},
    {OWN_AS(__strndup, strndup)},
    {OWN(posix_memalign)},
    {OWN(aligned_alloc)},
    {OWN_AS(memalign, aligned_alloc)},
    {OWN(asprintf)},
    {OWN(vasprintf)},
    {OWN_AS(__asprintf_chk, asprintf_chk)},
    {OWN_AS(__vasprintf_chk, vasprintf_chk)},
    {OWN(realpath)},
    {OWN_AS(__realpath_chk, realpath_chk)},
    {OWN(fopen)},
    {OWN_AS(fopen64, fopen)},
    {OWN(fdopen)},
    {OWN(open_memstream)},
    {OWN(fclose)},
    {OWN(opendir)},
    {OWN(closedir)},
};

/* ---- the slots ------------------------------------------------------------------------------- */

typedef struct object {
    const char *part;
    int found;
    ElfW(Addr) base;
    const char *strings;
    const ElfW(Sym) * symbols;
    uintptr_t page;
} object;

/* glibc has already added the object's base if the section is writable. */
static uintptr_t address(const object *in, ElfW(Addr) value)
{
    return value < in->base ? in->base + value : value;
}

static void take_slot(object *in, const ElfW(Rela) * entry)
{
    const size_t at = ELF64_R_SYM(entry->r_info);
    const char *name = in->strings + in->symbols[at].st_name;
    for (size_t i = 0; at && i < sizeof takers / sizeof *takers; i++) {
        if (strcmp(name, takers[i].name) != 0 || entry->r_addend) {
            continue;
        }
        char *slot = (char *)in->base + entry->r_offset;
        char *page = (char *)((uintptr_t)slot & ~(in->page - 1));
        /* Relocated data may be read-only by now. */
        if (!mprotect(page, in->page, PROT_READ | PROT_WRITE)) {
            memcpy(slot, &takers[i].taker, sizeof takers[i].taker);
            in->found++;
        }
    }
}

static void take_table(object *in, ElfW(Addr) from, size_t bytes)
{
    const ElfW(Rela) *entries = (const ElfW(Rela) *)address(in, from);
    for (size_t i = 0; from && i < bytes / sizeof *entries; i++) {
        take_slot(in, &entries[i]);
    }
}

static void take_dynamic(object *in, const ElfW(Dyn) * entry)
{
    ElfW(Addr) data = 0, calls = 0;
    size_t data_bytes = 0, call_bytes = 0;
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_STRTAB:
            in->strings = (const char *)address(in, entry->d_un.d_ptr);
            break;
        case DT_SYMTAB:
            in->symbols = (const ElfW(Sym) *)address(in, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            data = entry->d_un.d_ptr;
            break;
        case DT_RELASZ:
            data_bytes = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            calls = entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            call_bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (in->strings && in->symbols) {
        take_table(in, data, data_bytes);
        take_table(in, calls, call_bytes);
    }
}

static int take_object(struct dl_phdr_info *info, size_t size, void *context)
{
    object *in = context;
    (void)size;
    const bool program = info->dlpi_name[0] == '\0';
    if (in->part[0] == '\0' ? !program : program || !strstr(info->dlpi_name, in->part)) {
        return 0;
    }
    in->base = info->dlpi_addr;
    in->strings = NULL;
    in->symbols = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            take_dynamic(in, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        }
    }
    return 0;
}

int starve_take(const char *part)
{
    object in = {.part = part, .page = (uintptr_t)sysconf(_SC_PAGESIZE)};
    dl_iterate_phdr(take_object, &in);
    return in.found;
}

/* ---- preloaded ------------------------------------------------------------------------------- */

#ifdef STARVE_PRELOADED
static char log_path[4096];

__attribute__((constructor)) static void begin(void)
{
    const char *asked = getenv("ISOMER_TEST_STARVE"), *log = getenv("ISOMER_TEST_STARVE_LOG");
    const bool all = !getenv("ISOMER_TEST_STARVE_LIBRARY");
    if (!asked) {
        return;
    }
    char *end;
    const long n = strtol(asked, &end, 10);
    if (log) {
        snprintf(log_path, sizeof log_path, "%s", log);
    }
    /* Programs that this one starts are not affected. */
    unsetenv("ISOMER_TEST_STARVE");
    unsetenv("LD_PRELOAD");
    if ((all && !starve_take("")) || !starve_take("/libisomer.so")) {
        fprintf(stderr, "starve: the program or libisomer has no slots\n");
        _exit(99);
    }
    tracked = false; /* a program frees everything at its end */
    starve_arm(n, *end == '+');
}

__attribute__((destructor)) static void report(void)
{
    FILE *log = log_path[0] ? fopen(log_path, "w") : NULL;
    if (log) {
        fprintf(log, "allocations %ld refused %ld\n", counted, refused);
        fclose(log);
    }
}
#endif
