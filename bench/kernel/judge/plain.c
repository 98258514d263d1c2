/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - reads a case and runs its groups in order, without watching: for a text that is
 * compiled as the CPU backend does and with the address sanitizer. plain CASE. */
#include "bench/kernel/judge/judge.h"

#include <stdio.h>
#include <stdlib.h>

/* Of the text: runs a group, given as its place and the number of groups along each axis. */
typedef void (*judge_entry)(const int64_t *here, void *const *places);
extern const judge_entry judge_entries[];

static judge_case what;
static void *places[JUDGE_PARAMS];

static size_t bytes_of(const judge_param *param)
{
    return (size_t)(param->count * param->bytes);
}

static int read_case(const char *path)
{
    FILE *in = fopen(path, "rb");
    int good = in && fread(&what, sizeof what, 1, in) == 1 && what.magic == JUDGE_MAGIC;
    for (int i = 0; good && i < what.param_count; i++) {
        const judge_param *param = &what.params[i];
        places[i] = malloc(bytes_of(param)); /* each alone, so that its borders are watched */
        good = places[i] && (param->role > JUDGE_INOUT ||
                             fread(places[i], 1, bytes_of(param), in) == bytes_of(param));
    }
    return in && fclose(in) == 0 && good;
}

int main(int count, char **arguments)
{
    if (count != 2 || !read_case(arguments[1])) {
        (void)fprintf(stderr, "the case cannot be read, or there is no memory for it\n");
        return 2;
    }
    const int64_t *groups = what.groups;
    for (int64_t i = 0; i < groups[0] * groups[1] * groups[2]; i++) {
        const int64_t here[] = {i % groups[0],
                                i / groups[0] % groups[1],
                                i / groups[0] / groups[1],
                                groups[0],
                                groups[1],
                                groups[2]};
        judge_entries[what.entry](here, places);
    }
    for (int i = 0; i < what.param_count; i++) {
        free(places[i]);
    }
    return 0;
}
