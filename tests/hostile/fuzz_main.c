/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_main.c - a driver for use without libFuzzer:
 *
 *     fuzz replay FILE...               each file once
 *     fuzz mutate SECONDS SEED FILE...  mutations of the files, the same for a given seed
 *
 * If FUZZ_KEEP is set, the current input is stored there, so that it is available after a crash.
 */
#include "tests/hostile/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 1 << 16, FILES = 1024 };

static struct input {
    uint8_t *data;
    size_t size;
} files[FILES];
static int file_count;
static uint64_t state;

static uint64_t draw(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t below(size_t limit)
{
    return limit > 0 ? (size_t)(draw() % limit) : 0;
}

static int read_file(const char *path)
{
    static uint8_t room[LARGEST];
    FILE *in = fopen(path, "rb");
    if (!in || file_count == FILES) {
        perror(path);
        return 0;
    }
    struct input *f = &files[file_count++];
    f->size = fread(room, 1, sizeof room, in);
    f->data = malloc(f->size + 1);
    fclose(in);
    if (!f->data) {
        return 0;
    }
    memcpy(f->data, room, f->size);
    return 1;
}

/* ---- mutations ------------------------------------------------------------------------------- */

static void replace(uint8_t *data, size_t *size, size_t at, size_t gone, const void *with,
                    size_t length)
{
    if (*size - gone + length > LARGEST) {
        return;
    }
    memmove(data + at + length, data + at + gone, *size - at - gone);
    memcpy(data + at, with, length);
    *size = *size - gone + length;
}

/* What a parser may trip over. */
static const char *const words[] = {"null",
                                    "true",
                                    "-1",
                                    "0",
                                    "1e999",
                                    "-0.0",
                                    "9223372036854775807",
                                    "18446744073709551616",
                                    "[]",
                                    "{}",
                                    "\"\"",
                                    "\"\\u0000\"",
                                    "\"\\u001b[31m\"",
                                    "\"\\u202e\"",
                                    "\\",
                                    "\x1b[2J",
                                    "\xff",
                                    "\xc2\x9b",
                                    "\n",
                                    ",",
                                    ":",
                                    "=",
                                    "x",
                                    "%s%n",
                                    "1e-320",
                                    "NaN",
                                    "4Ki",
                                    "99999999999G",
                                    "101%",
                                    "openmp",
                                    "../",
                                    "isomer-results/1"};

/* Puts a word in place of the first number from `at` on. */
static void replace_number(uint8_t *data, size_t *size, size_t at, const char *word)
{
    size_t digit = at;
    while (digit < *size && (data[digit] < '0' || data[digit] > '9')) {
        digit++;
    }
    size_t end = digit;
    while (end < *size && data[end] >= '0' && data[end] <= '9') {
        end++;
    }
    replace(data, size, digit, end - digit, word, strlen(word));
}

static void change(uint8_t *data, size_t *size)
{
    const struct input *other = &files[below((size_t)file_count)];
    uint8_t piece[64];
    size_t at = below(*size + 1), left = *size - at, length = below(left < 64 ? left + 1 : 64);
    const char *word = words[below(sizeof words / sizeof words[0])];
    switch (below(8)) {
    case 0:
        if (left > 0) {
            data[at] ^= (uint8_t)(1u << below(8));
        }
        break;
    case 1:
        if (left > 0) {
            data[at] = (uint8_t)draw();
        }
        break;
    case 2:
        replace(data, size, at, length, "", 0);
        break;
    case 3: /* a repeated piece */
        memcpy(piece, data + at, length);
        replace(data, size, below(*size + 1), 0, piece, length);
        break;
    case 4:
        replace(data, size, at, below(2) ? length : 0, word, strlen(word));
        break;
    case 5: { /* a piece of another file */
        size_t from = below(other->size + 1), most = other->size - from;
        size_t taken = below(most < 4096 ? most + 1 : 4096);
        replace(data, size, at, length, other->data + from, taken);
        break;
    }
    case 6:
        replace_number(data, size, at, word);
        break;
    default:
        if (left > 0) {
            *size = at;
        }
        break;
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint8_t *kept; /* the size, and the input */

static void open_kept(void)
{
    const char *path = getenv("FUZZ_KEEP");
    int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0 || ftruncate(file, LARGEST + 8) != 0) {
        return;
    }
    kept = mmap(NULL, LARGEST + 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (kept == MAP_FAILED) {
        kept = NULL;
    }
}

/* In a block of its exact length, so that a sanitizer sees a read past its end. */
static void try(const uint8_t *data, size_t size)
{
    uint8_t *own = malloc(size > 0 ? size : 1);
    if (!own) {
        exit(2);
    }
    memcpy(own, data, size);
    if (kept) {
        uint64_t length = size;
        memcpy(kept, &length, sizeof length);
        memcpy(kept + 8, data, size);
    }
    LLVMFuzzerTestOneInput(own, size);
    free(own);
}

static long mutate(double seconds)
{
    static uint8_t data[LARGEST + 4096];
    struct timespec began, now;
    long count = 0;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        const struct input *f = &files[below((size_t)file_count)];
        size_t size = f->size;
        memcpy(data, f->data, size);
        for (size_t i = below(8) + 1; i > 0; i--) {
            change(data, &size);
        }
        try(data, size);
        count++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec) <
             seconds);
    return count;
}

int main(int argc, char **argv)
{
    int replay = argc > 2 && strcmp(argv[1], "replay") == 0;
    int first = replay ? 2 : 4;
    if (argc <= first || (!replay && strcmp(argv[1], "mutate") != 0)) {
        fprintf(stderr, "fuzz replay FILE... | fuzz mutate SECONDS SEED FILE...\n");
        return 2;
    }
    for (int i = first; i < argc; i++) {
        if (!read_file(argv[i])) {
            return 2;
        }
    }
    open_kept();
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 0; i < file_count; i++) {
        try(files[i].data, files[i].size);
    }
    long more = 0;
    if (!replay) {
        state = strtoull(argv[3], NULL, 0);
        more = mutate(strtod(argv[2], NULL));
    }
    dprintf(STDOUT_FILENO, "%d files and %ld changes of them\n", file_count, more);
    for (int i = 0; i < file_count; i++) {
        free(files[i].data);
    }
    return 0;
}
