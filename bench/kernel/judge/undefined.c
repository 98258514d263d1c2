/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undefined.c - arithmetic that the language does not define. The compiler calls these functions
 * because the text is compiled with -fsanitize=shift and its like; the sanitizer's own library is
 * not linked.
 */
#include "bench/kernel/judge/watch.h"

#include <stdio.h>
#include <string.h>

/* What the compiler says about an operation. */
typedef struct where {
    const char *file;
    uint32_t line, column;
} where;

typedef struct type {
    uint16_t kind; /* 0: an integer */
    uint16_t info; /* whether it is signed, and twice the logarithm of its bits */
    char name[];
} type;

typedef struct operation {
    where place;
    const type *left, *right;
} operation;

#define HERE_ (uintptr_t)__builtin_return_address(0)

static int bits_of(const type *of)
{
    return 1 << (of->info >> 1);
}

static int64_t value_of(const type *of, uintptr_t value)
{
    const int unused = 64 - bits_of(of);
    return of->info & 1 ? (int64_t)((uint64_t)value << unused) >> unused : (int64_t)value;
}

static judge_finding *found(judge_kind kind, uintptr_t pc)
{
    static judge_finding none = {.count = 2};
    return watch.on ? watch_find(kind, -1, pc, NULL) : &none;
}

static void arithmetic(const operation *data, uintptr_t a, uintptr_t b, const char *sign,
                       uintptr_t pc)
{
    judge_finding *at = found(JUDGE_OVERFLOW, pc);
    if (at->count == 1) {
        (void)snprintf(at->note, sizeof at->note, "%lld %s %lld leaves the range of i%d",
                       (long long)value_of(data->left, a), sign, (long long)value_of(data->left, b),
                       bits_of(data->left));
    }
}

/* Compilers write 'i32 [4]', 'const i32[4]' or 'i32[4]' (aka 'int[4]') for one type. */
static void name_of(const type *of, char *text, size_t room)
{
    const char *at = of->name + (of->name[0] == '\'');
    size_t used = 0;
    at += strncmp(at, "const ", 6) == 0 ? 6 : 0;
    for (; *at && *at != '\'' && used + 1 < room; at++) {
        if (*at != ' ') {
            text[used++] = *at;
        }
    }
    text[used] = '\0';
}

void __ubsan_handle_add_overflow(const operation *data, uintptr_t a, uintptr_t b);
void __ubsan_handle_sub_overflow(const operation *data, uintptr_t a, uintptr_t b);
void __ubsan_handle_mul_overflow(const operation *data, uintptr_t a, uintptr_t b);
void __ubsan_handle_negate_overflow(const operation *data, uintptr_t a);
void __ubsan_handle_divrem_overflow(const operation *data, uintptr_t a, uintptr_t b);
void __ubsan_handle_shift_out_of_bounds(const operation *data, uintptr_t a, uintptr_t by);
void __ubsan_handle_out_of_bounds(const operation *data, uintptr_t index);
void __ubsan_handle_float_cast_overflow(const void *data, uintptr_t from);

void __ubsan_handle_add_overflow(const operation *data, uintptr_t a, uintptr_t b)
{
    arithmetic(data, a, b, "+", HERE_);
}

void __ubsan_handle_sub_overflow(const operation *data, uintptr_t a, uintptr_t b)
{
    arithmetic(data, a, b, "-", HERE_);
}

void __ubsan_handle_mul_overflow(const operation *data, uintptr_t a, uintptr_t b)
{
    arithmetic(data, a, b, "*", HERE_);
}

void __ubsan_handle_negate_overflow(const operation *data, uintptr_t a)
{
    judge_finding *at = found(JUDGE_OVERFLOW, HERE_);
    if (at->count == 1) {
        (void)snprintf(at->note, sizeof at->note, "-(%lld) leaves the range of i%d",
                       (long long)value_of(data->left, a), bits_of(data->left));
    }
}

void __ubsan_handle_divrem_overflow(const operation *data, uintptr_t a, uintptr_t b)
{
    judge_finding *at = found(JUDGE_DIVISION, HERE_);
    if (at->count == 1) {
        (void)snprintf(at->note, sizeof at->note, "%lld by %lld",
                       (long long)value_of(data->left, a), (long long)value_of(data->left, b));
    }
    if (watch.on) {
        watch_stop(); /* the processor would stop the program */
    }
}

void __ubsan_handle_shift_out_of_bounds(const operation *data, uintptr_t a, uintptr_t by)
{
    judge_finding *at = found(JUDGE_SHIFT, HERE_);
    const int64_t bits = value_of(data->right, by);
    if (at->count == 1 && (bits < 0 || bits >= bits_of(data->left))) {
        (void)snprintf(at->note, sizeof at->note, "by %lld in %c%d", (long long)bits,
                       data->left->info & 1 ? 'i' : 'u', bits_of(data->left));
    } else if (at->count == 1) {
        (void)snprintf(at->note, sizeof at->note, "%lld by %lld leaves the range of i%d",
                       (long long)value_of(data->left, a), (long long)bits, bits_of(data->left));
    }
}

void __ubsan_handle_out_of_bounds(const operation *data, uintptr_t index)
{
    judge_finding *at = found(JUDGE_INDEX, HERE_);
    if (at->count == 1) {
        char name[64];
        name_of(data->left, name, sizeof name);
        (void)snprintf(at->note, sizeof at->note, "element %lld of %s",
                       (long long)value_of(data->right, index), name);
    }
    if (watch.on) {
        watch_stop();
    }
}

void __ubsan_handle_float_cast_overflow(const void *data, uintptr_t from)
{
    (void)data, (void)from; /* their layouts differ between compilers */
    (void)found(JUDGE_CONVERSION, HERE_);
}
