/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - what each access to an array means. The compiler calls __tsan_read4 and its like before
 * each access, because the text is compiled with -fsanitize=thread; they are defined here, and the
 * sanitizer's own library is not linked.
 */
#include "bench/kernel/judge/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

watch_state watch;

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each array has a slot of the address space. Around the array, NEAR bytes can be reached, so that
 * a launch goes on after an access just outside. */
enum { NEAR = 65536, SHIFT_MOST = 34, SHIFT_LEAST = 26 };

static unsigned char *space;
static int slot_shift;

bool watch_open(void)
{
    for (slot_shift = SHIFT_MOST; slot_shift >= SHIFT_LEAST; slot_shift--) {
        void *made = mmap(NULL, (size_t)JUDGE_PARAMS << slot_shift, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made != MAP_FAILED) {
            space = made;
            return true;
        }
    }
    return false;
}

bool watch_add(int index, const judge_param *param)
{
    watch_array *array = &watch.arrays[index];
    const size_t slot = (size_t)1 << slot_shift;
    unsigned char *at = space + slot * (size_t)index + slot / 2;
    const int64_t bytes = param->count * param->bytes;
    if (bytes < 0 || (size_t)bytes > slot / 4 ||
        mprotect(at - NEAR, (size_t)bytes + 2 * NEAR, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    array->param = param;
    array->at = at;
    array->bytes = bytes;
    if (param->role != JUDGE_VALUE) {
        array->cells = calloc((size_t)(bytes / param->grain) + 1, sizeof *array->cells);
    }
    return param->role == JUDGE_VALUE || array->cells;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

typedef struct epoch_row {
    int64_t group;
    int32_t line;
} epoch_row;

static epoch_row *epochs;
static uint32_t epoch_room;

static bool next_epoch(void)
{
    if (watch.epoch + 1 >= epoch_room) {
        const uint32_t room = epoch_room ? 2 * epoch_room : 1024;
        epoch_row *grown = realloc(epochs, room * sizeof *grown);
        if (!grown) {
            return false;
        }
        epochs = grown;
        epoch_room = room;
    }
    epochs[++watch.epoch] = (epoch_row){.group = watch.group};
    return true;
}

bool watch_group(int64_t group)
{
    watch.group = group;
    watch.item = -1;
    const bool good = next_epoch();
    watch.group_epoch = watch.epoch;
    return good;
}

int32_t iso_judge_first_(int32_t line, int32_t items);
int32_t iso_judge_next_(void);

int32_t iso_judge_first_(int32_t line, int32_t items)
{
    epochs[watch.epoch].line = line;
    watch.items = items;
    watch.item = watch.reversed ? items - 1 : 0;
    return watch.item;
}

int32_t iso_judge_next_(void)
{
    watch.item += watch.reversed ? -1 : 1;
    if (watch.item < 0 || watch.item >= watch.items) {
        watch.item = -1;
        if (!next_epoch()) {
            watch_stop();
        }
    }
    return watch.item;
}

/* ---- findings -------------------------------------------------------------------------------- */

judge_finding *watch_find(judge_kind kind, int param, uint64_t pc, const judge_access *before)
{
    static judge_finding none;
    const uint64_t other = before ? before->pc : 0;
    for (int i = 0; i < watch.end.finding_count; i++) {
        judge_finding *at = &watch.findings[i];
        if (at->kind == (int32_t)kind && at->param == param && at->now.pc == pc &&
            at->before.pc == other) {
            at->count++;
            return at;
        }
    }
    if (watch.end.finding_count == JUDGE_FINDINGS) {
        watch.end.lost++;
        none.count = 2;
        return &none;
    }
    judge_finding *made = &watch.findings[watch.end.finding_count++];
    *made = (judge_finding){.kind = (int32_t)kind, .param = param, .count = 1};
    made->now = (judge_access){
        .pc = pc, .group = watch.group, .item = watch.item, .region = epochs[watch.epoch].line};
    if (before) {
        made->before = *before;
    }
    return made;
}

typedef struct watched {
    const watch_array *array;
    int param;
    int64_t at; /* bytes from the array's first */
    size_t bytes;
    bool writes, atomic;
    uint64_t pc;
} watched;

static void report(const watched *now, judge_kind kind, int64_t at, const judge_access *before)
{
    judge_finding *found = watch_find(kind, now->param, now->pc, before);
    if (found->count == 1) {
        const int64_t bytes = now->array->param->bytes;
        found->index = at >= 0 ? at / bytes : -((bytes - 1 - at) / bytes);
        found->offset = at - found->index * bytes;
        found->now.writes = now->writes;
        found->now.atomic = now->atomic;
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Whether an earlier access and this one must not touch one place: they are of two groups, or of
 * two items in one region. */
static bool meets(const watch_touch *touch, uint32_t since)
{
    return touch->epoch && touch->epoch >= since &&
           (epochs[touch->epoch].group != watch.group ||
            (touch->epoch == watch.epoch && touch->item != watch.item));
}

static bool clash(const watched *now, int64_t at, const watch_touch *touch, uint32_t since,
                  bool writes, bool atomic)
{
    if (!meets(touch, since) || (atomic && now->atomic)) {
        return false;
    }
    const judge_access before = {.pc = touch->pc,
                                 .group = epochs[touch->epoch].group,
                                 .item = touch->item,
                                 .region = epochs[touch->epoch].line,
                                 .writes = writes,
                                 .atomic = atomic};
    report(now,
           before.group != watch.group ? JUDGE_RACE_GROUPS
           : touch->item < 0           ? JUDGE_READ_BETWEEN
                                       : JUDGE_RACE,
           at, &before);
    return true;
}

static void check_race(const watched *now, watch_cell *cell, int64_t at, uint32_t since)
{
    if (clash(now, at, &cell->write, since, true, false)) {
        return;
    }
    if (now->writes && (clash(now, at, &cell->read, since, false, false) ||
                        clash(now, at, &cell->read_now, since, false, false))) {
        return;
    }
    if (!now->atomic && !clash(now, at, &cell->atomic, since, true, true)) {
        (void)clash(now, at, &cell->atomic_now, since, true, true);
    }
}

static void note(const watched *now, watch_cell *cell, uint32_t since)
{
    const watch_touch touch = {watch.epoch, (uint32_t)now->pc, watch.item};
    watch_touch *first = now->atomic ? &cell->atomic : &cell->read;
    watch_touch *current = now->atomic ? &cell->atomic_now : &cell->read_now;
    if (now->writes && !now->atomic) {
        cell->write = touch;
        return;
    }
    if (first->epoch < since || !first->epoch) {
        *first = touch;
    }
    if (current->epoch != watch.epoch) {
        *current = touch;
    }
}

static bool is_unset(const watched *now, const watch_cell *cell, int64_t at, uint32_t since)
{
    const watch_array *array = now->array;
    const int32_t role = array->param->role;
    if (role == JUDGE_IN || role == JUDGE_INOUT || (cell->set && cell->set >= since) ||
        (now->writes && !now->atomic)) {
        return false;
    }
    return !array->padding || (int64_t)now->bytes < array->param->bytes ||
           array->padding[at % array->param->bytes];
}

static void check_cells(const watched *now)
{
    const watch_array *array = now->array;
    const int32_t role = array->param->role, grain = array->param->grain;
    const bool of_group = role == JUDGE_SHARED || role == JUDGE_OWN;
    const uint32_t since = of_group ? watch.group_epoch : 1;
    bool told = false, unset = false;
    for (int64_t at = now->at / grain * grain; at < now->at + (int64_t)now->bytes; at += grain) {
        watch_cell *cell = &array->cells[at / grain];
        if (!told && !unset && is_unset(now, cell, at, since)) {
            unset = true;
            report(now, JUDGE_UNSET, at, NULL);
        }
        if (now->writes) {
            if (!cell->set || cell->set < since) {
                cell->set = watch.epoch;
            }
            if (watch.item < 0) {
                if (!told) {
                    report(now, JUDGE_WRITE_BETWEEN, at, NULL);
                }
                told = true;
                continue;
            }
        }
        if (!told) {
            const int32_t before = watch.end.finding_count;
            check_race(now, cell, at, since);
            told = watch.end.finding_count != before;
        }
        note(now, cell, since);
    }
}

static void check_place(const watched *now)
{
    const watch_array *array = now->array;
    const int32_t role = array->param->role;
    if (now->at < 0 || now->at + (int64_t)now->bytes > array->bytes) {
        report(now, JUDGE_BOUNDS, now->at < 0 ? now->at : now->at + (int64_t)now->bytes - 1, NULL);
        if (now->at < -NEAR || now->at + (int64_t)now->bytes > array->bytes + NEAR) {
            watch_stop();
        }
        return;
    }
    if (role == JUDGE_OWN && watch.item >= 0 && now->at / array->param->bytes != watch.item) {
        report(now, JUDGE_OTHER_OWN, now->at, NULL);
        return;
    }
    check_cells(now);
}

static void touch(const volatile void *place, size_t bytes, bool writes, bool atomic, void *pc)
{
    const uintptr_t at = (uintptr_t)place - (uintptr_t)space;
    const uintptr_t slot = at >> slot_shift;
    if (!watch.on || !bytes) {
        return;
    }
    watch.last_pc = (uintptr_t)pc;
    if (slot >= JUDGE_PARAMS || !watch.arrays[slot].cells) {
        return;
    }
    watch.accesses++;
    const watched now = {.array = &watch.arrays[slot],
                         .param = (int)slot,
                         .at = (int64_t)((uintptr_t)place - (uintptr_t)watch.arrays[slot].at),
                         .bytes = bytes,
                         .writes = writes,
                         .atomic = atomic,
                         .pc = (uintptr_t)pc};
    check_place(&now);
}

/* ---- what the compiler calls ----------------------------------------------------------------- */

#define HERE __builtin_return_address(0)

#define PLAIN(bytes)                                                                               \
    void __tsan_read##bytes(void *at);                                                             \
    void __tsan_write##bytes(void *at);                                                            \
    void __tsan_unaligned_read##bytes(void *at);                                                   \
    void __tsan_unaligned_write##bytes(void *at);                                                  \
    void __tsan_read_write##bytes(void *at);                                                       \
    void __tsan_unaligned_read_write##bytes(void *at);                                             \
    void __tsan_read##bytes(void *at)                                                              \
    {                                                                                              \
        touch(at, bytes, false, false, HERE);                                                      \
    }                                                                                              \
    void __tsan_write##bytes(void *at)                                                             \
    {                                                                                              \
        touch(at, bytes, true, false, HERE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *at)                                                    \
    {                                                                                              \
        touch(at, bytes, false, false, HERE);                                                      \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *at)                                                   \
    {                                                                                              \
        touch(at, bytes, true, false, HERE);                                                       \
    }                                                                                              \
    void __tsan_read_write##bytes(void *at)                                                        \
    {                                                                                              \
        touch(at, bytes, false, false, HERE);                                                      \
        touch(at, bytes, true, false, HERE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read_write##bytes(void *at)                                              \
    {                                                                                              \
        touch(at, bytes, false, false, HERE);                                                      \
        touch(at, bytes, true, false, HERE);                                                       \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);
void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_vptr_update(void **at, void *to);
void __tsan_vptr_read(void **at);

void __tsan_read_range(void *at, size_t bytes)
{
    touch(at, bytes, false, false, HERE);
}

void __tsan_write_range(void *at, size_t bytes)
{
    touch(at, bytes, true, false, HERE);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void)
{
}

/* clang copies structs by these, or by the C library's functions, which the linker's --wrap turns
 * into the second ones. */
#define COPY(name, place)                                                                          \
    void *name(void *to, place, size_t bytes);                                                     \
    void *name(void *to, place, size_t bytes)
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int value, size_t bytes);

#define COPIES(name)                                                                               \
    COPY(name, const void *from)                                                                   \
    {                                                                                              \
        touch(from, bytes, false, false, HERE);                                                    \
        touch(to, bytes, true, false, HERE);                                                       \
        return memmove(to, from, bytes);                                                           \
    }
COPIES(__tsan_memcpy)
COPIES(__tsan_memmove)
COPIES(__wrap_memcpy)
COPY(__tsan_memset, int value)
{
    touch(to, bytes, true, false, HERE);
    return memset(to, value, bytes);
}

#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *at, int order);                           \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                            \
    {                                                                                              \
        (void)order;                                                                               \
        touch(at, sizeof *at, false, true, HERE);                                                  \
        return *at;                                                                                \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order);                \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        touch(at, sizeof *at, true, true, HERE);                                                   \
        const type old = *at;                                                                      \
        *at = (type)(old + value);                                                                 \
        return old;                                                                                \
    }                                                                                              \
    static int exchange##bits(volatile type *at, type *wanted, type value, void *pc)               \
    {                                                                                              \
        touch(at, sizeof *at, true, true, pc);                                                     \
        const type old = *at;                                                                      \
        const int same = old == *wanted;                                                           \
        *(same ? at : (volatile type *)wanted) = same ? value : old;                               \
        return same;                                                                               \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *wanted, type value,   \
                                                    int order, int failed);                        \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *wanted, type value,   \
                                                    int order, int failed)                         \
    {                                                                                              \
        (void)order, (void)failed;                                                                 \
        return exchange##bits(at, wanted, value, HERE);                                            \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *wanted, type value, \
                                                      int order, int failed);                      \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *wanted, type value, \
                                                      int order, int failed)                       \
    {                                                                                              \
        (void)order, (void)failed;                                                                 \
        return exchange##bits(at, wanted, value, HERE);                                            \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type wanted, type value,    \
                                                    int order, int failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type wanted, type value,    \
                                                    int order, int failed)                         \
    {                                                                                              \
        (void)order, (void)failed;                                                                 \
        (void)exchange##bits(at, &wanted, value, HERE);                                            \
        return wanted;                                                                             \
    }
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
