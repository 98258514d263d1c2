/* SPDX-License-Identifier: Apache-2.0 */
/* dlpack.h - tensors in DLPack's terms. */
#ifndef ISOMER_CORE_DLPACK_H
#define ISOMER_CORE_DLPACK_H

#include "core/physical.h"

#include <isomer/interop.h>

/* How DLPack knows the device; UNSUPPORTED where it does not. */
iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id);
/* Whether a native object of its memory is an address. */
bool core_dlpack_is_address(int32_t type);

/* A tensor that the caller wrote, its fields checked alone. */
iso_status core_tensor_read(const char *call, const iso_tensor *given, iso_tensor *out);
/* The bytes that it touches, from `low` (0 or less) after its offset on. */
iso_status core_tensor_span(const char *call, const iso_tensor *tensor, int64_t *low,
                            int64_t *bytes);

#endif
