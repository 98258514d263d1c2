/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants.h - planted bugs. A reader of the example may skip them: MUTATE(n, wrong, right) is
 * `right`, and PLANT(n, statement) is nothing.
 *
 * The same sources are also built with -DMUTANT=n for each line of ../mutants.txt, and then contain
 * that one bug. The conformance suite must find every one of them, which shows that it checks.
 */
#ifndef REFERENCE_MUTANTS_H
#define REFERENCE_MUTANTS_H

#if defined(MUTANT)
#define MUTATE(n, wrong, right) (MUTANT == (n) ? (wrong) : (right))
#define PLANT(n, ...)                                                                              \
    do {                                                                                           \
        if (MUTANT == (n)) {                                                                       \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)
#else
#define MUTATE(n, wrong, right) (right)
#define PLANT(n, ...)           ((void)0)
#endif

/* Mutants may compute wrong results, but must stay inside their operands. */
#define LESSER(a, b) ((a) < (b) ? (a) : (b))

#endif
