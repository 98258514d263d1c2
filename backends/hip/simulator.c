/* SPDX-License-Identifier: Apache-2.0 */
/* simulator.c - recognises a simulator of AMD's GPUs. rocjitsu is preloaded into the program, where
 * it answers for the kernel's driver. So HIP reports a device with a real board's name, and the
 * files that describe the driver's devices are the simulator's. */
#include "backends/hip/library.h"
#include "backends/loader/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its launcher preloads it by its name. */
static bool preloaded(void)
{
    const char *libraries = getenv("LD_PRELOAD");
    return libraries && strstr(libraries, "librocjitsu");
}

/* What a file of the driver says about a device. */
typedef struct node {
    uint64_t location, domain;
    uint64_t simds;                   /* 0 for a processor */
    uint64_t firmware, copy_firmware; /* versions */
} node;

static bool read_node(int number, node *out)
{
    const struct {
        const char *name;
        uint64_t *value;
    } wanted[] = {{"location_id", &out->location},
                  {"domain", &out->domain},
                  {"simd_count", &out->simds},
                  {"fw_version", &out->firmware},
                  {"sdma_fw_version", &out->copy_firmware}};
    char path[80], line[128];
    files_lines lines;
    /* A version that cannot be read is not 0. */
    *out = (node){.firmware = UINT64_MAX, .copy_firmware = UINT64_MAX};
    (void)snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%d/properties", number);
    files_lines_open(&lines, path);
    const bool there = lines.file >= 0;
    while (files_lines_next(&lines, line, sizeof line)) {
        const size_t length = strcspn(line, " ");
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            if (line[length] && strlen(wanted[i].name) == length &&
                strncmp(line, wanted[i].name, length) == 0) {
                *wanted[i].value = strtoull(line + length, NULL, 10);
            }
        }
    }
    return there;
}

/* The driver shows the versions of the firmware that it loaded. A GPU does not run without
 * firmware; a simulator needs none, and shows 0. */
static bool without_firmware(uint64_t place)
{
    enum { NODES_MAX = 256 };
    const uint64_t bus_device = 0xfff8;
    node at;
    for (int i = 0; i < NODES_MAX && read_node(i, &at); i++) {
        if (at.simds > 0 && (at.domain << 32 | (at.location & bus_device)) == place) {
            return at.firmware == 0 && at.copy_firmware == 0;
        }
    }
    return false;
}

bool hip_simulated(int32_t index)
{
    uint64_t place = 0;
    return preloaded() || (!hip_place(index, &place) && without_firmware(place));
}
