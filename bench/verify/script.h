/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - what the files of the scripts share. */
#ifndef ISOMER_VERIFY_SCRIPT_H
#define ISOMER_VERIFY_SCRIPT_H

#include "bench/verify/verify.h"

/* What a script owns. It all belongs to the device that the script opened, so closing that device
 * frees everything. */
typedef struct stage {
    iso_device device;
    iso_stream streams[4];
    iso_buffer a, b;
    iso_event events[2];
    verify_runner *runner;
    bench_result *result;
} stage;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        iso_status try_status = (call);                                                            \
        if (try_status != ISO_OK)                                                                  \
            return check_call_failed(s->result, #call, try_status);                                \
    } while (0)

/* Checks that a call is refused with this status and a reason in words. */
#define REFUSED(call, wanted)                                                                      \
    do {                                                                                           \
        iso_clear_error();                                                                         \
        iso_status refused_status = (call);                                                        \
        if (refused_status != (wanted))                                                            \
            return check_fail(s->result, "%s returned %s, expected %s", #call,                     \
                              iso_status_name(refused_status), iso_status_name(wanted));           \
        if ((wanted) != ISO_NOT_READY && iso_last_error()[0] == '\0')                              \
            return check_fail(s->result, "%s returned %s without a reason", #call,                 \
                              iso_status_name(refused_status));                                    \
    } while (0)

static inline iso_operand at(iso_buffer buffer, int64_t offset)
{
    return (iso_operand){buffer, offset};
}

/* Sets `*variant` (a member of `args`) to the first of the variants that the device supports. If
 * the device supports none of them, the case is unsupported, with the reason that the device gives
 * for the first variant. */
bool script_choose(stage *s, iso_op_kind kind, const void *args, iso_variant *variant,
                   const iso_variant *variants, int count);

/* script_graph.c */
bool script_graph(stage *s);

/* script_products.c */
bool script_refuse_products(stage *s);
bool script_refuse_syrk(stage *s);
bool script_refuse_trsm(stage *s);

/* ---- script_large.c: sizes that do not fit 32 bits ------------------------------------------- */

bool script_large_reduce(stage *s);
bool script_large_map(stage *s);
bool script_large_transpose(stage *s);

#endif
