/* SPDX-License-Identifier: Apache-2.0 */
/* systematic.c - the systematic cases: each word, type, dimension and shape of groups. */
#include "tests/kernels/conformance/conformance.h"

void conf_add_systematic(conf_suite *suite)
{
    conf_add_types(suite);
    conf_add_shapes(suite);
    conf_add_arithmetic(suite);
    conf_add_control(suite);
    conf_add_limits(suite);
}
