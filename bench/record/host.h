/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the machine that measures. */
#ifndef ISOMER_RECORD_HOST_H
#define ISOMER_RECORD_HOST_H

#include <jansson.h>

/* What docs/results.md says of "host". NULL: no memory. */
json_t *host_json(void);

#endif
