/* SPDX-License-Identifier: Apache-2.0 */
/* labs.h - the rows of the labs, as `isomer bench --suite labs` runs them. */
#ifndef ISOMER_LABS_H
#define ISOMER_LABS_H

#include "bench/bench.h"

extern const bench_labs labs_command;

#endif
