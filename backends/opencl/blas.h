/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - CLBlast, opened at the first query about it. */
#ifndef ISOMER_OPENCL_BLAS_H
#define ISOMER_OPENCL_BLAS_H

#include "backends/opencl/library.h"

typedef struct clblast_api LOADER_TABLE(CLBLAST_SYMBOLS) clblast_api;

extern clblast_api clblast; /* filled once clblast_open has returned true */

/* The library, opened at the first call; its handle is NULL if that failed. */
const loader_library *clblast_get(void);
const char *clblast_label(void); /* "CLBlast 1.5.3" */
const char *clblast_code_name(clblast_code code);

#endif
