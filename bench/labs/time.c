/* SPDX-License-Identifier: Apache-2.0 */
/* time.c - times of calls: the device's, by events, and the host's. */
#include "bench/labs/internal.h"

enum { MOST_SAMPLES = 200, MOST_CALLS = 1000 };

iso_status lab_once(lab *l, lab_work *work, void *context, double *seconds)
{
    double began = tool_seconds();
    iso_status status = work(l, context);
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    *seconds = tool_seconds() - began;
    return status;
}

typedef struct sample {
    double kernel, submit, wall;
} sample;

/* A sample is several calls between two events. */
static iso_status take(lab *l, lab_work *work, void *context, int32_t calls, sample *out)
{
    int64_t nanoseconds = 0;
    double began = tool_seconds();
    iso_status status = iso_event_record(l->begin, l->stream);
    for (int32_t i = 0; i < calls && status == ISO_OK; i++) {
        status = work(l, context);
    }
    out->submit = (tool_seconds() - began) / calls;
    status = status == ISO_OK ? iso_event_record(l->end, l->stream) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    out->wall = (tool_seconds() - began) / calls;
    status = status == ISO_OK ? iso_event_elapsed(l->begin, l->end, &nanoseconds) : status;
    out->kernel = 1e-9 * (double)nanoseconds / calls;
    return status;
}

iso_status lab_time(lab *l, lab_work *work, void *context, lab_times *out)
{
    static double kernel[MOST_SAMPLES], submit[MOST_SAMPLES], wall[MOST_SAMPLES];
    const double least = 0.0005, whole = l->scale == LAB_SMALL ? 0.01 : 0.25;
    double second = 0;
    iso_status status = lab_once(l, work, context, &out->first);
    status = status == ISO_OK ? lab_once(l, work, context, &second) : status;
    int32_t calls = second > least ? 1 : (int32_t)(least / (second + 1e-7)) + 1, count = 0;
    calls = calls > MOST_CALLS ? MOST_CALLS : calls;
    for (double began = tool_seconds(); status == ISO_OK && count < MOST_SAMPLES; count++) {
        double spent = tool_seconds() - began;
        sample one;
        if (spent > whole && (count >= 5 || spent > 2 * whole)) {
            break;
        }
        status = take(l, work, context, calls, &one);
        kernel[count] = one.kernel;
        submit[count] = one.submit;
        wall[count] = one.wall;
    }
    if (status == ISO_OK) {
        out->kernel = lab_spread_of(kernel, count);
        out->submit = lab_spread_of(submit, count);
        out->wall = lab_spread_of(wall, count);
    }
    return status;
}
