/* SPDX-License-Identifier: Apache-2.0 */
/* planted.c - one fault for each sanitizer, to prove that it is detected: planted NAME. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int overflow_heap(int n)
{
    char *block = malloc((size_t)n);
    if (!block) {
        return 0;
    }
    memset(block, 1, (size_t)n);
    const volatile char *past = block + n;
    int value = *past;
    free(block);
    return value;
}

static int leak(int n)
{
    char *volatile block = malloc((size_t)n);
    block = NULL;
    return block != NULL;
}

static int overflow_int(int n)
{
    volatile int value = INT_MAX;
    return value + n;
}

/* Every thread adds without a lock. */
static int race(int n)
{
    int sum = 0;
#pragma omp parallel for num_threads(2) shared(sum)
    for (int i = 0; i < n; i++) {
        sum += i;
    }
    return sum == 0;
}

/* The correct version: only OpenMP's own ordering shows the sanitizer that it is correct. */
static int ordered(int n)
{
    int sum = 0, parts[2] = {0, 0};
#pragma omp parallel num_threads(2) shared(sum, parts)
    {
#pragma omp for
        for (int i = 0; i < 2; i++) {
            parts[i] = n;
        }
#pragma omp single
        sum = parts[0] + parts[1];
#pragma omp critical
        sum += 1;
    }
    return sum == 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*fault)(int n);
    } faults[] = {{"overflow-heap", overflow_heap},
                  {"leak", leak},
                  {"overflow-int", overflow_int},
                  {"race", race},
                  {"ordered", ordered}};
    for (size_t i = 0; argc == 2 && i < sizeof faults / sizeof *faults; i++) {
        if (!strcmp(argv[1], faults[i].name)) {
            printf("%d\n", faults[i].fault(1000));
            return 0;
        }
    }
    fprintf(stderr, "usage: planted NAME\n");
    return 2;
}
