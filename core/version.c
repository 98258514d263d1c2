/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - the version of the library. */
#include <isomer/isomer.h>

const char *iso_version(void)
{
    return ISO_VERSION_STRING;
}
