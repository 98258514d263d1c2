/* SPDX-License-Identifier: Apache-2.0 */
/* tune_asker.c - prints what an f32 product of SPEC N is by auto and by tiled, and what the device
 * says of its table of measured choices. */
#include "tests/property.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    iso_device device;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info by_auto = ISO_OP_INFO_INIT, by_tiled = ISO_OP_INFO_INIT;

    args.dtype = ISO_F32;
    args.m = args.n = args.k = argc == 3 ? strtoll(argv[2], NULL, 10) : 0;
    if (argc != 3 || iso_device_open(argv[1], &device) ||
        iso_describe(device, ISO_OP_GEMM, &args, &by_auto)) {
        printf("%s\n", iso_last_error());
        return 1;
    }
    args.variant = ISO_VARIANT_TILED;
    if (iso_describe(device, ISO_OP_GEMM, &args, &by_tiled)) {
        by_tiled = (iso_op_info)ISO_OP_INFO_INIT;
    }
    printf("auto %s %s\ntiled %s\n", iso_variant_name(by_auto.variant), by_auto.kernel,
           by_tiled.kernel);
    printf("tuned for %s\n", property_of(device, "tuned for"));
    printf("tuned with %s\n", property_of(device, "tuned with"));
    printf("%s\n", property_of(device, "tuned table")); /* auto depended on the library */
    return iso_device_close(device);
}
