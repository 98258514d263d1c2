/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.c - compiles if every entry of the OpenCL backend's symbol lists has the type that the
 * headers of Khronos and CLBlast declare, and its numbers match theirs. With ABI_PLANT one entry is
 * wrong, and it must not compile. ABI_CLBLAST adds CLBlast if its header is installed.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#if defined(ABI_CLBLAST)
#include <clblast_c.h>
#endif

#include "backends/opencl/symbols.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is not as large as " #theirs)
SAME_SIZE(ocl_code, cl_int);
SAME_SIZE(ocl_name, cl_uint);
SAME_SIZE(ocl_bits, cl_bitfield);
SAME_SIZE(intptr_t, cl_context_properties);

/* ---- numbers --------------------------------------------------------------------------------- */

#define SAME_VALUE(ours, number, theirs)                                                           \
    _Static_assert((long long)(theirs) == (number), #ours " is not " #theirs);
OPENCL_VALUES(SAME_VALUE)
#if defined(ABI_CLBLAST)
CLBLAST_VALUES(SAME_VALUE)
#endif
/* The header's constant is 32 bits wide; the parameter it is passed to has 64. */
_Static_assert(OCL_EVERY_TYPE == (ocl_bits)CL_DEVICE_TYPE_ALL, "OCL_EVERY_TYPE is another");

/* ---- functions ------------------------------------------------------------------------------- */

/* Required functions must be declared (taking the size needs that), and every one must match: a
 * second declaration of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

OPENCL_SYMBOLS(DECLARED, NOTHING)
OPENCL_SYMBOLS(AGREES, AGREES)

#if defined(ABI_CLBLAST)
/* The header's union of two numbers is passed like our pair. */
SAME_SIZE(clblast_narrow_pair, cl_float2);
#define clblast_narrow_pair cl_float2
SAME_SIZE(clblast_pair, cl_double2);
#define clblast_pair cl_double2
CLBLAST_SYMBOLS(DECLARED, NOTHING)
CLBLAST_SYMBOLS(AGREES, AGREES)
#endif

#if defined(ABI_PLANT)
AGREES(ocl_code, clFinish, (ocl_queue queue, unsigned flags))
#endif
