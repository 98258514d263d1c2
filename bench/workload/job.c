/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - a case on a target: finds out whether it can run, prepares it, runs it and reads its
 * result. */
#include "bench/workload/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct work_job {
    work_target *target;
    bench_case item;
    bench_needs needs;
    bool is_operation; /* else a transfer, or of its own */
    bool is_own;
    work_own own;
    int64_t own_bytes;
    iso_op_kind kind;
    bench_args args;
    work_object *object; /* that the arguments name; NULL: none */
    int64_t workspace;
    iso_operand inputs[2], result; /* as locate() last found them */
    const void *from;              /* the host's side of a transfer */
    void *to;
};

static bool is_transfer(const work_job *job)
{
    return !job->is_operation && !job->is_own;
}

/* A call failed. If there is not enough memory, or the device lacks support, the case is
 * unsupported, because it would fail in the same way every time. */
static bool call_failed(bench_result *result, const char *call, iso_status status)
{
    check_call_failed(result, call, status);
    if (status == ISO_NO_MEMORY || status == ISO_UNSUPPORTED) {
        result->status = BENCH_UNSUPPORTED;
    }
    return false;
}

/* A call on the stream failed, so later cases get a new stream. */
static bool stream_failed(work_job *job, bench_result *result, const char *call, iso_status status)
{
    call_failed(result, call, status);
    work_target_revive(job->target);
    return false;
}

/* ---- support and memory ---------------------------------------------------------------------- */

static bool ask_operation(work_job *job, bench_result *result)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_device device = job->target->device;
    iso_status status = iso_supports(device, job->kind, &job->args);
    if (status == ISO_OK) {
        status = iso_describe(device, job->kind, &job->args, &info);
    }
    if (status == ISO_OK) {
        status = iso_workspace(device, job->kind, &job->args, &job->workspace);
    }
    if (status == ISO_UNSUPPORTED) {
        return check_unsupported(result, "%s", tool_reason());
    }
    if (status != ISO_OK) {
        return call_failed(result, "iso_describe", status);
    }
    memcpy(result->library, info.library, sizeof result->library);
    memcpy(result->kernel, info.kernel, sizeof result->kernel);
    result->how = job->item.how = info.variant; /* checks use the variant that runs */
    job->item.same_bits = !job->item.by->has_bits || job->item.by->has_bits(&job->item);
    if (job->item.op->maths) {
        result->math = job->item.math = info.math; /* checks use the mode that runs */
        memcpy(result->math_reason, info.math_reason, sizeof result->math_reason);
    }
    return true;
}

static bool ask_transfer(const work_job *job, bench_result *result)
{
    if (strcmp(job->item.variant, "pinned") == 0 && !work_target_can_pin(job->target)) {
        return check_unsupported(result, "the device has no pinned host memory");
    }
    snprintf(result->library, sizeof result->library, "isomer %s", iso_version());
    return true;
}

static bool ask_time(const work_job *job, bench_result *result)
{
    double seconds = work_case_seconds(&job->item, &job->target->info);
    if (job->item.longest <= 0 || seconds <= job->item.longest) {
        return true;
    }
    return check_unsupported(result, "too slow on a CPU: one call would take about %.2g s",
                             seconds);
}

static bool ask_memory(const work_job *job, bench_result *result)
{
    const work_target *target = job->target;
    const bench_needs *needs = &job->needs;
    int64_t there, total = needs->end + needs->result + job->workspace + job->own_bytes;
    const bench_object *object = job->item.by->object;
    char inputs[32], output[32], scratch[32], sum[32], room[32];
    if (needs->apart) {
        total += needs->bytes[0] + needs->bytes[1];
    }
    total += object ? object->bytes(&job->item) : 0;
    if (job->item.cold) {
        total += 2 * work_cache_bytes(&target->info);
    }
    tool_bytes(inputs, sizeof inputs, needs->end);
    tool_bytes(output, sizeof output, needs->result);
    tool_bytes(scratch, sizeof scratch, total - needs->end - needs->result);
    tool_bytes(sum, sizeof sum, total);
    tool_bytes(room, sizeof room, target->available);
    if (total > target->available) {
        return check_unsupported(
            result,
            "does not fit: it needs %s of the device's memory (%s of inputs, %s of "
            "results, %s for other uses), but only %s may be used (%s)",
            sum, inputs, output, scratch, room,
            target->limited ? "the memory limit" : "nine tenths of what was free");
    }
    work_inputs_block(target->inputs, needs->type, &there);
    if (needs->end > there) {
        return check_unsupported(
            result,
            "does not fit: its inputs need %s of the host's memory, but all inputs "
            "together may take only a sixth of it",
            inputs);
    }
    return true;
}

/* Notes how much memory a case needs. All cases share this memory, so it is allocated only once,
 * large enough for the largest case. */
static void want(int64_t *wanted, int64_t bytes)
{
    if (bytes > *wanted) {
        *wanted = bytes;
    }
}

static void note_wishes(const work_job *job)
{
    work_target *target = job->target;
    want(&target->input[job->needs.type].wanted, job->needs.end);
    want(&target->result.wanted, job->needs.result);
    for (int i = 0; i < 2 && job->needs.apart; i++) {
        want(&target->apart[i].wanted, job->needs.bytes[i]);
    }
    if (job->item.parts) {
        want(&target->sink_wanted, job->needs.result);
    }
    if (!is_transfer(job) || job->item.transfer.move == TRANSFER_COPY) {
        return;
    }
    if (strcmp(job->item.variant, "pinned") == 0) {
        want(&target->pinned_wanted, job->needs.end);
    } else if (job->item.transfer.move == TRANSFER_READ) {
        want(&target->sink_wanted, job->item.transfer.width);
    }
}

/* Makes the object that the operation's arguments name, if it fits. */
static bool take_object(work_job *job, bench_result *result)
{
    if (!job->item.by->object) {
        return true;
    }
    if (!ask_memory(job, result)) {
        return false;
    }
    iso_status status = work_object_take(job->target, &job->item, &job->object);
    if (status != ISO_OK) {
        return call_failed(result, "making the operation's object", status);
    }
    job->item.by->object->set(&job->args, work_object_id(job->object));
    return true;
}

static bool ask(work_job *job, bench_result *result)
{
    return job->is_operation  ? ask_operation(job, result)
           : is_transfer(job) ? ask_transfer(job, result)
                              : true;
}

work_job *work_job_create(work_target *target, const bench_case *item, int32_t library,
                          bench_result *result)
{
    work_job *job = calloc(1, sizeof *job);
    if (!job) {
        return NULL;
    }
    *result = (bench_result){.status = BENCH_OK};
    job->target = target;
    job->item = *item;
    if (item->vast) {
        check_unsupported(result,
                          "does not fit: its operands need more memory than any device has");
        return job;
    }
    bench_case_needs(item, &job->needs);
    job->item.library = library;
    job->is_operation = item->by->arguments != NULL;
    job->is_own = item->by->own != NULL;
    if (job->is_own) {
        job->own_bytes = work_own_open(&job->own, target, &job->item);
    }
    if (job->is_operation) {
        job->kind = item->by->arguments(&job->item, &job->args);
    }
    if (take_object(job, result) && ask(job, result) && ask_time(job, result) &&
        ask_memory(job, result)) {
        note_wishes(job);
    }
    return job;
}

void work_job_destroy(work_job *job)
{
    if (job) {
        work_own_close(&job->own, job->target);
        work_object_leave(job->target, job->object);
    }
    free(job);
}

int32_t work_job_inputs(const work_job *job)
{
    return work_target_crowded(job->target) ? (int32_t)job->needs.type : 0;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Finds where the operands are now. Another job may have freed or enlarged their memory. */
static iso_status locate(work_job *job)
{
    work_target *target = job->target;
    const bench_needs *needs = &job->needs;
    iso_buffer inputs, result = {0};
    iso_status status = work_target_input(target, needs->type, needs->end, &inputs);
    if (status == ISO_OK && needs->result > 0) {
        status = work_target_result(target, needs->result, &result);
    }
    /* Making room for the result may have freed the inputs. If so, this moves them back. */
    if (status == ISO_OK) {
        status = work_target_input(target, needs->type, needs->end, &inputs);
    }
    if (status != ISO_OK) {
        return status;
    }
    for (int i = 0; i < needs->inputs && status == ISO_OK; i++) {
        job->inputs[i] = (iso_operand){inputs, needs->at[i]};
        if (!needs->apart) {
            continue;
        }
        job->inputs[i].offset = 0;
        status = work_target_apart(target, i, needs->type, needs->at[i], needs->bytes[i],
                                   &job->inputs[i].buffer);
    }
    if (status != ISO_OK) {
        return status;
    }
    job->result = (iso_operand){result, 0};
    if (job->is_operation) {
        job->item.by->operands(&job->item, &job->args, job->inputs, job->result);
    }
    return ISO_OK;
}

/* Finds the host memory of a transfer. It belongs to the inputs or to the target. */
static iso_status locate_host(work_job *job)
{
    work_target *target = job->target;
    bool from = job->item.transfer.move == TRANSFER_WRITE,
         pinned = strcmp(job->item.variant, "pinned") == 0;
    int64_t at = job->needs.at[0], there;
    void *block = NULL;
    iso_status status = ISO_OK;
    if (pinned) {
        status = work_target_pinned(target, from, from ? job->needs.end : job->item.transfer.width,
                                    &block);
    } else if (!from) {
        status = work_target_sink(target, job->item.transfer.width, &block);
    }
    if (status != ISO_OK) {
        return status;
    }
    const unsigned char *inputs =
        pinned ? block : work_inputs_block(target->inputs, ISO_F32, &there);
    if (from) {
        job->from = inputs + at;
    } else {
        job->to = block;
    }
    return ISO_OK;
}

iso_status work_job_renew(work_job *job)
{
    return job->is_own ? work_own_renew(&job->own, job->target, false) : ISO_OK;
}

iso_status work_job_ready(work_job *job)
{
    if (job->is_own) {
        return work_own_ready(&job->own, job->target);
    }
    iso_status status = locate(job);
    void *sink;
    if (status == ISO_OK && !job->is_operation && job->item.transfer.move != TRANSFER_COPY) {
        status = locate_host(job);
    }
    if (status == ISO_OK && job->item.parts) {
        status = work_target_sink(job->target, job->needs.result, &sink);
    }
    return status;
}

bool work_job_prepare(work_job *job, double *nanoseconds, bench_result *result)
{
    *nanoseconds = 0;
    if (job->is_own && !job->is_operation) {
        double began = 1e9 * tool_seconds();
        bool good = job->own.by->prepare(job->own.self, result);
        *nanoseconds = 1e9 * tool_seconds() - began;
        return good;
    }
    iso_status status = work_job_ready(job);
    if (status != ISO_OK) {
        return stream_failed(job, result, "making room for the operands", status);
    }
    if (!job->is_operation) {
        return true;
    }
    if (job->is_own) {
        job->item.by->operands(&job->item, &job->args, job->own.arrays, job->own.arrays[1]);
    }
    double start = 1e9 * tool_seconds();
    status = iso_prepare(job->target->stream, job->kind, &job->args);
    *nanoseconds = 1e9 * tool_seconds() - start;
    return status == ISO_OK || stream_failed(job, result, "iso_prepare", status);
}

iso_status work_job_submit(work_job *job)
{
    iso_stream stream = job->target->stream;
    iso_status status = work_job_ready(job);
    if (status != ISO_OK) {
        return status;
    }
    if (job->is_own) {
        return job->own.by->submit(job->own.self, stream);
    }
    if (job->is_operation) {
        return iso_execute(stream, job->kind, &job->args);
    }
    if (job->item.transfer.move == TRANSFER_WRITE) {
        return iso_write(stream, job->result, job->from, job->item.transfer.width);
    }
    if (job->item.transfer.move == TRANSFER_READ) {
        return iso_read(stream, job->to, job->inputs[0], job->item.transfer.width);
    }
    return iso_copy(stream, job->result, job->inputs[0], job->item.transfer.width);
}

/* Writes each operand over itself, so that its bytes stay the same. */
iso_status work_job_copy_in(work_job *job)
{
    int64_t there;
    iso_status status = work_job_ready(job);
    const unsigned char *block = work_inputs_block(job->target->inputs, job->needs.type, &there);
    for (int i = 0; i < job->needs.inputs && status == ISO_OK; i++) {
        status = iso_write(job->target->stream, job->inputs[i], block + job->needs.at[i],
                           job->needs.bytes[i]);
    }
    return status;
}

iso_status work_job_copy_out(work_job *job)
{
    void *sink;
    iso_status status = work_job_ready(job);
    if (status == ISO_OK) {
        status = work_target_sink(job->target, job->needs.result, &sink);
    }
    if (status == ISO_OK) {
        status = iso_read(job->target->stream, sink, job->result, job->needs.result);
    }
    return status;
}

bool work_job_spoil(work_job *job, bench_result *result)
{
    static const unsigned char pattern = 0xff; /* NaN, and -1 */
    if (job->is_own) { /* what results begin with is part of a round's inputs */
        iso_status loaded = work_own_renew(&job->own, job->target, true);
        return loaded == ISO_OK || stream_failed(job, result, "writing the inputs", loaded);
    }
    iso_status status = work_job_ready(job);
    if (status == ISO_OK && !job->is_operation && job->item.transfer.move == TRANSFER_READ) {
        status = iso_stream_sync(job->target->stream);
        if (status == ISO_OK) {
            memset(job->to, pattern, (size_t)job->item.transfer.width);
        }
    } else if (status == ISO_OK) {
        status = iso_fill(job->target->stream, job->result, &pattern, 1, job->needs.result);
    }
    return status == ISO_OK || stream_failed(job, result, "overwriting the result", status);
}

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct judged {
    uint64_t digest[2];
    const char *method;
    double error, bound;
} judged;

static bool judge(const work_job *job, const void *data, bench_result *result)
{
    work_inputs *inputs = job->target->inputs;
    int64_t bytes = job->needs.result > 0 ? job->needs.result : job->item.transfer.width;
    uint64_t digest[2], key = XXH3_64bits(job->item.id, strlen(job->item.id));
    bool fresh;
    check_hash(data, bytes, digest);
    key = arith_mix(arith_mix(key, digest[0]), (uint64_t)job->item.how); /* auto differs */
    judged *j = check_cache_get(work_inputs_judged(inputs), key, sizeof *j, &fresh);
    if (!j) {
        return check_no_memory(result);
    }
    if (!fresh && memcmp(j->digest, digest, sizeof digest) == 0) {
        result->method = j->method;
        result->error = j->error;
        result->bound = j->bound;
    } else {
        if (!work_check(&job->item, inputs, data, result)) {
            check_cache_forget(work_inputs_judged(inputs), key);
            return false;
        }
        *j = (judged){{digest[0], digest[1]}, result->method, result->error, result->bound};
    }
    result->has_digest = job->item.same_bits;
    memcpy(result->digest, digest, sizeof digest);
    return true;
}

iso_status work_job_spoil_parts(work_job *job)
{
    static const unsigned char pattern = 0xff; /* NaN, and -1 */
    iso_stream stream = job->target->stream;
    void *sink;
    iso_status status = work_job_ready(job);
    if (status == ISO_OK) {
        status = work_target_sink(job->target, job->needs.result, &sink);
    }
    for (int i = 0; i < job->needs.inputs && status == ISO_OK; i++) {
        status = iso_fill(stream, job->inputs[i], &pattern, 1, job->needs.bytes[i]);
    }
    if (status == ISO_OK) {
        status = iso_fill(stream, job->result, &pattern, 1, job->needs.result);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(stream);
    }
    if (status == ISO_OK) {
        memset(sink, pattern, (size_t)job->needs.result);
    }
    return status;
}

bool work_job_check_parts(work_job *job, bench_result *result)
{
    return judge(job, job->target->sink, result);
}

static bool check_own(work_job *job, bench_result *result)
{
    if (!job->own.by->check(job->own.self, job->target->stream, job->own.arrays, result)) {
        return false;
    }
    result->checks++;
    return true;
}

bool work_job_check(work_job *job, bench_result *result)
{
    if (job->is_own) {
        return check_own(job, result);
    }
    iso_stream stream = job->target->stream;
    const void *data = job->to;
    iso_status status = iso_stream_sync(stream);
    if (status == ISO_OK && job->needs.result > 0) {
        void *back = work_inputs_scratch(job->target->inputs, job->needs.result);
        if (!back) {
            return check_no_memory(result);
        }
        status = iso_read(stream, back, job->result, job->needs.result);
        if (status == ISO_OK) {
            status = iso_stream_sync(stream);
        }
        data = back;
    }
    if (status != ISO_OK) {
        return stream_failed(job, result, "reading the result", status);
    }
    result->checks++;
    return judge(job, data, result);
}
