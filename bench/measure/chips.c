/* SPDX-License-Identifier: Apache-2.0 */
/* chips.c - peak rates of known chips' matrix units, from their makers' data sheets: dense, with
 * f32 accumulation for the smaller types. They are needed because no kernel of ours measures these
 * rates yet. */
#include "bench/measure/internal.h"

#include <math.h>
#include <string.h>

typedef struct chip {
    const char *name; /* part of the device's name; the first match counts */
    const char *line;
    double f16, bf16, tf32, f64; /* TFLOP/s; 0: not on this chip */
} chip;

static const chip chips[] = {
    {"GH200", "NVIDIA GH200 data sheet", 989.5, 989.5, 494.5, 67},
    {"H200 NVL", "NVIDIA H200 NVL data sheet", 835.5, 835.5, 417.5, 60},
    {"H200", "NVIDIA H200 SXM data sheet", 989.5, 989.5, 494.5, 67},
    {"H100 NVL", "NVIDIA H100 NVL data sheet", 835.5, 835.5, 417.5, 60},
    {"H100 PCIe", "NVIDIA H100 PCIe data sheet", 756.5, 756.5, 378, 51},
    {"H100", "NVIDIA H100 SXM data sheet", 989.5, 989.5, 494.5, 67},
    {"A100", "NVIDIA A100 data sheet", 312, 312, 156, 19.5},
    {"V100", "NVIDIA V100 SXM data sheet", 125, 0, 0, 0},
    {"MI300X", "AMD Instinct MI300X data sheet", 1307.4, 1307.4, 653.7, 163.4},
    {"MI300A", "AMD Instinct MI300A data sheet", 980.6, 980.6, 490.3, 122.6},
    {"MI250X", "AMD Instinct MI250X data sheet (both dies)", 383, 383, 0, 95.7},
    {"MI210", "AMD Instinct MI210 data sheet", 181, 181, 0, 45.3},
};

double measure_chip_peak(const char *device, const char *type, const char **line)
{
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (!strstr(device, chips[i].name)) {
            continue;
        }
        double peak = strcmp(type, "f16") == 0    ? chips[i].f16
                      : strcmp(type, "bf16") == 0 ? chips[i].bf16
                      : strcmp(type, "tf32") == 0 ? chips[i].tf32
                      : strcmp(type, "f64") == 0  ? chips[i].f64
                                                  : 0;
        *line = chips[i].line;
        return peak > 0 ? peak * 1000 : NAN;
    }
    return NAN;
}
