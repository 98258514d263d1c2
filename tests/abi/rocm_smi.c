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

/* This struct changed between versions; the header has either form. */
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

/* The table of a chip's readings, of which the header has a part or a superset. */
SAME_PLACE(rsmi_metrics_7, bytes, rsmi_gpu_metrics_t, common_header.structure_size);
SAME_PLACE(rsmi_metrics_7, format, rsmi_gpu_metrics_t, common_header.format_revision);
SAME_PLACE(rsmi_metrics_7, content, rsmi_gpu_metrics_t, common_header.content_revision);
SAME_PLACE(rsmi_metrics_7, throttle, rsmi_gpu_metrics_t, throttle_status);
#if defined(RSMI_MAX_NUM_GFX_CLKS)
SAME_PLACE(rsmi_metrics_7, throttle_kinds, rsmi_gpu_metrics_t, indep_throttle_status);
#endif
#if defined(RSMI_MAX_NUM_XCP)
SAME_PLACE(rsmi_metrics_7, counted, rsmi_gpu_metrics_t, accumulation_counter);
SAME_PLACE(rsmi_metrics_7, held_by_board, rsmi_gpu_metrics_t, prochot_residency_acc);
SAME_PLACE(rsmi_metrics_7, held_by_power, rsmi_gpu_metrics_t, ppt_residency_acc);
SAME_PLACE(rsmi_metrics_7, held_by_heat, rsmi_gpu_metrics_t, socket_thm_residency_acc);
SAME_PLACE(rsmi_metrics_7, held_by_regulators, rsmi_gpu_metrics_t, vr_thm_residency_acc);
SAME_PLACE(rsmi_metrics_7, held_by_memory, rsmi_gpu_metrics_t, hbm_thm_residency_acc);
#endif
_Static_assert(sizeof(rsmi_gpu_metrics_t) < sizeof(rsmi_metrics), "the readings need more room");

#define SAME_NUMBER(ours, value, theirs)                                                           \
    _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs);
#define SAME_ERROR(theirs, number) _Static_assert((theirs) == (number), #theirs " is another");
HIP_RSMI_NUMBERS(SAME_NUMBER)
HIP_RSMI_ERRORS(SAME_ERROR)

/* The vendor's structs have no tags: these names keep pointers to them distinct. */
#define rsmi_clocks  rsmi_frequencies_t
#define rsmi_release rsmi_version_t
#define rsmi_metrics rsmi_gpu_metrics_t

/* Required functions must be declared (taking the size needs that), and every one must match: a
 * second declaration of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

HIP_RSMI_SYMBOLS(DECLARED, NOTHING)
HIP_RSMI_SYMBOLS(AGREES, AGREES)

#if defined(ABI_PLANT)
AGREES(rsmi_code, rsmi_dev_busy_percent_get, (uint32_t device, double *percent))
#endif
