/* SPDX-License-Identifier: Apache-2.0 */
/* tuned.h - the table of measured choices of a device: found and checked when the device is opened,
 * and then only looked up. */
#ifndef ISOMER_CORE_TUNED_H
#define ISOMER_CORE_TUNED_H

#include "common/tuned.h"
#include "core/op.h"

#include <stdatomic.h>

/* Whether the vendor's library is one that the table's times count for. */
enum { CORE_LIBRARY_UNKNOWN = 0, CORE_LIBRARY_SAME = 1, CORE_LIBRARY_OTHER = 2 };

struct core_tuned {
    char key[TUNED_LINE];
    char *note;         /* which table is used, or why none is */
    tuned_table *table; /* NULL: none */
    bool packaged;      /* it is beside the library */
    atomic_int library; /* found out when a choice first depends on it */
};

/* Finds the device's table. A table that cannot be used is no error: a warning says why. NO_MEMORY:
 * it could not be read. */
iso_status core_tuned_open(const char *call, const core_device *device, const iso_device_info *info,
                           core_tuned **out);
void core_tuned_free(core_tuned *tuned);

/* The row for an operation that was read; NULL: none. It counts with the length of sums that the
 * caller gave, so that alpha makes no difference. *library: which of the vendor's libraries the
 * caller chose. */
const tuned_row *core_tuned_row(const core_device *device, const core_op *op, int32_t *library);

/* The index-th property of a device that concerns tables; NOT_READY: there are no more. */
iso_status core_tuned_property(const char *call, const core_device *device, int32_t index,
                               iso_property *out);

/* The folder or file for tables, not inspected; "" if there is none. */
void core_tuned_where(char *path, size_t room);

#endif
