/* SPDX-License-Identifier: Apache-2.0 */
/* property.h - finds a property of a device by its name. */
#ifndef ISOMER_TESTS_PROPERTY_H
#define ISOMER_TESTS_PROPERTY_H

#include <isomer/isomer.h>

#include <string.h>

/* The value, until the next call; "" if the device has no property of that name. */
static inline const char *property_of(iso_device device, const char *name)
{
    static iso_property found;

    found = (iso_property)ISO_PROPERTY_INIT;
    for (int32_t i = 0; iso_device_get_property(device, i, &found) == ISO_OK; i++) {
        if (strcmp(found.name, name) == 0) {
            return found.value;
        }
    }
    return "";
}

#endif
