/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - declarations shared by the files of the fake libcuda.so.1. */
#ifndef ISOMER_TESTS_FAKES_DRIVER_H
#define ISOMER_TESTS_FAKES_DRIVER_H

#include "tests/fakes/engine.h"

#include "backends/cuda/symbols.h"

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
CUDA_DRIVER_SYMBOLS(DECLARE, DECLARE)

enum { CHIP = 90 };             /* unless FAKE_CHIP says another */
enum { FAKE_FIRST_BUS = 0x3b }; /* the first device's bus number */

/* The current context and its error, or the reason why there is no usable one. */
cuda_code fake_enter(fake_context **context);
/* The same, and a stream: the context's own if the handle is NULL. */
cuda_code fake_enter_stream(cuda_stream handle, fake_stream **stream);

#endif
