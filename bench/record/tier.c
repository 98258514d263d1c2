/* SPDX-License-Identifier: Apache-2.0 */
/* tier.c - the tier of a device in a results file. */
#include "bench/record/record.h"

#include <string.h>

tool_tier record_tier(const json_t *device)
{
    const char *name = record_text(device, "tier");
    for (int i = 0; i < TOOL_TIERS; i++) {
        if (strcmp(name, tool_tiers[i].name) == 0) {
            return (tool_tier)i;
        }
    }
    /* Files of versions before 0.2 have no tier. */
    if (json_is_true(json_object_get(device, "fake"))) {
        return TOOL_STAND_IN;
    }
    bool driver = strcmp(record_text(device, "type"), "CPU") == 0 &&
                  record_lists(device, "features", "compiles");
    return driver ? TOOL_CPU_DRIVER : TOOL_HARDWARE;
}

bool record_is_timed(const json_t *device)
{
    return tool_tiers[record_tier(device)].timed;
}

bool record_may_compare(const json_t *a, const json_t *b)
{
    return record_tier(a) == record_tier(b) || (record_is_timed(a) && record_is_timed(b));
}

const char *record_untimed(const json_t *root)
{
    static const char *const commands[] = {"verify", "reveal", "errors", NULL};
    int at = tool_find(commands, record_text(root, "run.command"));
    return at < 0 ? NULL : commands[at];
}
