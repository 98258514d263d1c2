/* SPDX-License-Identifier: Apache-2.0 */
/* own_memory.c - sums numbers in the program's own memory, and exports the result as a DLPack
 * tensor. */
#include <isomer/isomer.h>
#include <stdio.h>

static void released(void *context)
{
    printf("%s may be freed\n", (const char *)context);
}

static int failed(void)
{
    return fprintf(stderr, "%s\n", iso_last_error()), 1;
}

int main(void)
{
    static double numbers[] = {1, 2, 3, 4};
    iso_reduce_args sum = ISO_REDUCE_ARGS_INIT;
    iso_tensor tensor = ISO_TENSOR_INIT;
    iso_dlpack_managed_versioned *managed;
    iso_device device;
    iso_stream stream;
    iso_buffer in, out;
    void *exported;

    if (iso_device_open("openmp", &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_import(device, numbers, sizeof numbers, ISO_IMPORT_READ_ONLY, released,
                          "numbers", &in) ||
        iso_buffer_create(device, sizeof(double), &out)) {
        return failed();
    }
    sum.op = ISO_SUM, sum.dtype = ISO_F64, sum.cols = 4;
    sum.x.buffer = in, sum.result.buffer = out;
    tensor.dtype = ISO_F64, tensor.buffer = out;
    if (iso_reduce(stream, &sum) ||
        iso_dlpack_export(stream, (iso_stream){0}, &tensor, &exported) ||
        iso_device_close(device)) {
        return failed();
    }
    managed = exported; /* still valid, although the device was closed */
    printf("sum %g\n", *(double *)managed->tensor.data);
    managed->deleter(managed);
    return 0;
}
