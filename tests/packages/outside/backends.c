/* SPDX-License-Identifier: Apache-2.0 */
/* backends.c - prints a line for each built-in backend: whether it opens a device, or why not.
 * Fails if the library does not know one of them. */
#include <isomer/isomer.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const names[] = {"cuda", "hip", "opencl", "openmp"};
    int unknown = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        iso_device device;
        const iso_status status = iso_device_open(names[i], &device);
        const char *why = status ? iso_last_error() : "opened";
        unknown += strstr(why, "is not a known backend") != NULL;
        printf("%s: %s\n", names[i], why);
        if (!status) {
            (void)iso_device_close(device);
        }
    }
    return unknown != 0;
}
