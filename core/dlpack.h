/* SPDX-License-Identifier: Apache-2.0 */
/* dlpack.h - tensors in DLPack's terms. */
#ifndef ISOMER_CORE_DLPACK_H
#define ISOMER_CORE_DLPACK_H

#include "core/physical.h"

#include <isomer/interop.h>

/* The device's DLPack type and id; UNSUPPORTED if it has none. */
iso_status core_dlpack_device(const char *call, const core_physical *physical, int32_t *type,
                              int32_t *id);
/* Whether the native object of its memory is an address. */
bool core_dlpack_is_address(int32_t type);

/* Checks the fields of a tensor that the caller filled, and nothing else. */
iso_status core_tensor_read(const char *call, const iso_tensor *given, iso_tensor *out);
/* The bytes that it touches; `low` (0 or less) is their start relative to its offset. */
iso_status core_tensor_span(const char *call, const iso_tensor *tensor, int64_t *low,
                            int64_t *bytes);

#endif
