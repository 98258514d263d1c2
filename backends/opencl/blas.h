/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - CLBlast, opened at the first question about it. */
#ifndef ISOMER_OPENCL_BLAS_H
#define ISOMER_OPENCL_BLAS_H

#include "backends/opencl/library.h"

typedef struct clblast_api {
    CLBLAST_SYMBOLS(OCL_MEMBER, OCL_MEMBER)
} clblast_api;

extern clblast_api clblast; /* complete where clblast_open answered true */

/* False: clblast_why() says why not. */
bool clblast_open(void);
const char *clblast_label(void); /* "CLBlast 1.5.3" */
const char *clblast_path(void);
const char *clblast_why(void);
const char *clblast_code_name(clblast_code code);

#endif
