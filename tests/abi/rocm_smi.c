/* SPDX-License-Identifier: Apache-2.0 */
/* rocm_smi.c - compiles if every entry of the HIP backend's list of functions for sensors has the
 * type that AMD's header declares, and its numbers are AMD's. With ABI_PLANT one entry is wrong,
 * and it must not compile. */
#include <rocm_smi/rocm_smi.h>

#include <stddef.h>

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is not as large as " #theirs)
#define SAME_PLACE(ours, field, theirs, their_field)                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&                       \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field),           \
                   #theirs "." #their_field " lies elsewhere")

/* The struct that changed: whichever the header has. */
#if RSMI_MAX_NUM_FREQUENCIES > 32
typedef rsmi_clocks_6 clocks_here;
SAME_PLACE(clocks_here, deep_sleep, rsmi_frequencies_t, has_deep_sleep);
#else
typedef rsmi_clocks_5 clocks_here;
#endif
SAME_SIZE(clocks_here, rsmi_frequencies_t);
SAME_PLACE(clocks_here, count, rsmi_frequencies_t, num_supported);
SAME_PLACE(clocks_here, current, rsmi_frequencies_t, current);
SAME_PLACE(clocks_here, hertz, rsmi_frequencies_t, frequency);
_Static_assert(sizeof(rsmi_frequencies_t) < sizeof(rsmi_clocks), "the clocks need more room");
SAME_SIZE(rsmi_release, rsmi_version_t);
SAME_PLACE(rsmi_release, major, rsmi_version_t, major);
SAME_PLACE(rsmi_release, minor, rsmi_version_t, minor);
SAME_PLACE(rsmi_release, patch, rsmi_version_t, patch);

#define SAME_NUMBER(ours, theirs)                                                                  \
    _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs);
#define SAME_ERROR(theirs, number) _Static_assert((theirs) == (number), #theirs " is another");
HIP_RSMI_NUMBERS(SAME_NUMBER)
HIP_RSMI_ERRORS(SAME_ERROR)

/* The vendor's structs have no tag: pointers to them are told apart by their own names. */
#define rsmi_clocks  rsmi_frequencies_t
#define rsmi_release rsmi_version_t

/* What is required has to be declared (taking its size needs that), and all has to agree with the
 * declaration: a second one of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

HIP_RSMI_SYMBOLS(DECLARED, NOTHING)
HIP_RSMI_SYMBOLS(AGREES, AGREES)

#if defined(ABI_PLANT)
AGREES(rsmi_code, rsmi_dev_busy_percent_get, (uint32_t device, double *percent))
#endif
