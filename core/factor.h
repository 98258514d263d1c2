/* SPDX-License-Identifier: Apache-2.0 */
/* factor.h - rounds alpha and beta without floating-point arithmetic. */
#ifndef ISOMER_CORE_FACTOR_H
#define ISOMER_CORE_FACTOR_H

#include <isomer/isomer.h>

#include <stdbool.h>

/* A factor rounded to the type in which operations on `dtype` compute: to nearest even, with that
 * type's subnormals and overflow; a NaN stays a NaN. */
double core_round_factor(iso_dtype dtype, double factor);
bool core_is_zero(double factor);

#endif
