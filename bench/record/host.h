/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the machine on which isomer runs. */
#ifndef ISOMER_RECORD_HOST_H
#define ISOMER_RECORD_HOST_H

#include <jansson.h>

/* The member "host" of docs/results.md. */
json_t *host_json(void);

#endif
