/* SPDX-License-Identifier: Apache-2.0 */
/* emulator.c - recognises an emulated processor. Its times mean nothing. */
#include "backends/openmp/cpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

static int link_of(const char *path, char *text, size_t capacity)
{
    const ssize_t length = readlink(path, text, capacity - 1);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    return 1;
}

/* The file that the kernel executes. An emulator of user programs shows its guest the guest's own
 * file at /proc/self/exe, and does so at that name only. */
static int by_program(char *name, size_t capacity)
{
    char guest[512], real[512];
    if (!link_of("/proc/self/exe", guest, sizeof guest) ||
        !link_of("/proc/thread-self/exe", real, sizeof real) || strcmp(guest, real) == 0) {
        return 0;
    }
    const char *slash = strrchr(real, '/');
    (void)snprintf(name, capacity, "%s", slash ? slash + 1 : real);
    return 1;
}

/* The processor's own registers. They also show an emulator of whole machines. */
static int by_processor(char *name, size_t capacity)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    char mark[13] = "";
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 31)) { /* in a virtual machine */
        __cpuid(0x40000000u, a, b, c, d);
        memcpy(mark, &b, 4);
        memcpy(mark + 4, &c, 4);
        memcpy(mark + 8, &d, 4);
    }
    if (strcmp(mark, "TCGTCGTCGTCG") == 0) {
        (void)snprintf(name, capacity, "QEMU");
        return 1;
    }
#elif defined(__aarch64__)
    /* The system lets programs read MIDR_EL1. Implementer 0 is reserved for software; QEMU's model
     * `max` has it. */
    if (getauxval(AT_HWCAP) & HWCAP_CPUID) {
        uint64_t id;
        __asm__("mrs %0, midr_el1" : "=r"(id));
        if ((id >> 24 & 0xff) == 0) {
            (void)snprintf(name, capacity, "software");
            return 1;
        }
    }
#endif
    (void)name;
    (void)capacity;
    return 0;
}

int cpu_emulator(char *name, size_t capacity)
{
    return by_program(name, capacity) || by_processor(name, capacity);
}
