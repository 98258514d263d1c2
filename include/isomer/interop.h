/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.h - joining a program that already has contexts, streams and memory of a vendor's.
 */
#ifndef ISOMER_INTEROP_H
#define ISOMER_INTEROP_H

#include <isomer/memory.h>

ISO_BEGIN_DECLS

/* The vendor's own objects, as a pointer. */
typedef enum iso_native_kind {
    ISO_NATIVE_CONTEXT = 1, /* cuda: CUcontext; hip: none (NULL); opencl: cl_context */
    ISO_NATIVE_DEVICE = 2,  /* cuda, hip: the ordinal, as an integer; opencl: cl_device_id */
    ISO_NATIVE_STREAM = 3,  /* cuda: CUstream; hip: hipStream_t; opencl: cl_command_queue */
    ISO_NATIVE_EVENT = 4, /* cuda: CUevent; hip: hipEvent_t; opencl: cl_event of its last record */
    ISO_NATIVE_MEMORY = 5 /* cuda, hip, openmp: the address; opencl: cl_mem */
} iso_native_kind;

/* A device of a program's own. */
typedef struct iso_native_device {
    uint32_t size;
    uint32_t reserved;
    void *context; /* as ISO_NATIVE_CONTEXT; cuda: NULL means the device's primary context */
    void *device;  /* as ISO_NATIVE_DEVICE */
} iso_native_device;
#define ISO_NATIVE_DEVICE_INIT                                                                     \
    {                                                                                              \
        .size = (uint32_t)sizeof(iso_native_device)                                                \
    }

ISO_END_DECLS

#endif
