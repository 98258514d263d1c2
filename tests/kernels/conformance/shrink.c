/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - a smaller random kernel that still fails. Each attempt is a process of its own,
 * because a compiler may crash. */
#include "tests/kernels/conformance/conformance.h"
#include "tests/kernels/conformance/random.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 600 };

/* A digit for each part: 1 if it is left out. */
void conf_read_parts(const char *digits, unsigned char without[CONF_PARTS])
{
    memset(without, 0, CONF_PARTS);
    for (int i = 0; i < CONF_PARTS && digits[i]; i++) {
        without[i] = digits[i] == '1';
    }
}

static void run_child(const char *spec, const char *seed, const char *index, const char *digits)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)alarm(SECONDS);
    (void)execl("/proc/self/exe", "isomer_kernels_conformance", spec, "--seed", seed, "--index",
                index, "--without", digits, (char *)NULL);
    _exit(0);
}

static bool fails(const char *spec, uint64_t seed, int index, const unsigned char *without)
{
    char digits[CONF_PARTS + 1], seed_text[32], index_text[16];
    int status = 0, count = CONF_PARTS;
    while (count > 0 && !without[count - 1]) {
        count--;
    }
    for (int i = 0; i < count; i++) {
        digits[i] = without[i] ? '1' : '0';
    }
    digits[count] = 0;
    (void)snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    (void)snprintf(index_text, sizeof index_text, "%d", index);
    const pid_t child = fork();
    if (child == 0) {
        run_child(spec, seed_text, index_text, digits);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

/* Leaves out `chunk` parts at a time. Returns whether one attempt succeeded. */
static bool leave_out(const char *spec, uint64_t seed, int index, unsigned char *without, int parts,
                      int chunk)
{
    bool found = false;
    for (int first = 0; first < parts; first += chunk) {
        unsigned char attempt[CONF_PARTS];
        memcpy(attempt, without, sizeof attempt);
        const int count = parts - first < chunk ? parts - first : chunk;
        memset(attempt + first, 1, (size_t)count);
        if (memcmp(attempt, without, sizeof attempt) != 0 && fails(spec, seed, index, attempt)) {
            memcpy(without, attempt, sizeof attempt);
            found = true;
        }
    }
    return found;
}

void conf_shrink(const char *spec, uint64_t seed, int index)
{
    unsigned char without[CONF_PARTS] = {0};
    conf_suite suite = {0};
    int parts = 0;
    conf_add_random(&suite, seed, index, without, &parts);
    conf_free(&suite);
    parts = parts < CONF_PARTS ? parts : CONF_PARTS;
    if (!fails(spec, seed, index, without)) {
        (void)printf("kernel %d of seed %llu does not fail alone\n", index,
                     (unsigned long long)seed);
        return;
    }
    for (int chunk = parts; chunk >= 1;) {
        const bool again = leave_out(spec, seed, index, without, parts, chunk);
        chunk = again && chunk == 1 ? 1 : chunk / 2;
    }
    conf_add_random(&suite, seed, index, without, NULL);
    (void)printf("shrunk:\n%s\n", suite.at[0].text);
    conf_free(&suite);
}
