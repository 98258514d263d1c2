/* SPDX-License-Identifier: Apache-2.0 */
/* tier.c - what the results of a device rest on. docs/results.md defines the tiers. */
#include "bench/tool.h"

#include <string.h>

const tool_tier_words tool_tiers[TOOL_TIERS] = {
    [TOOL_HARDWARE] = {"hardware", "the hardware itself", NULL, true},
    [TOOL_SIMULATOR] = {"simulator", "a simulator of the hardware", "SIMULATED", false},
    [TOOL_CPU_DRIVER] = {"cpu-driver", "a driver that runs on a CPU", NULL, true},
    [TOOL_COMPILED] = {"compiled", "compiled only", "COMPILED", false},
    [TOOL_STAND_IN] = {"stand-in", "a stand-in made for tests", "FAKE", false}};

bool tool_is_fake(const iso_device_info *info)
{
    /* Backends treat the stand-ins of tests/fakes like any device, so only the names show that they
     * are fake. */
    return (info->features & ISO_FEATURE_FAKE) != 0 || strstr(info->name, "test fake") ||
           strstr(info->name, "test stand-in");
}

tool_tier tool_tier_of(const iso_device_info *info)
{
    if (tool_is_fake(info)) {
        return TOOL_STAND_IN;
    }
    if (info->features & ISO_FEATURE_SIMULATED) {
        return TOOL_SIMULATOR;
    }
    /* The CPU backend is compiled in advance; a driver compiles kernels. */
    bool driver = info->type == ISO_DEVICE_CPU && (info->features & ISO_FEATURE_COMPILES);
    return driver ? TOOL_CPU_DRIVER : TOOL_HARDWARE;
}
