/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_peer.c - calls NCCL directly on the GPUs of one process and prints a JSON line for each
 * operation and size: what the engine `nccl` is compared with.
 *
 *   peer-nccl [--ranks N] [--mode threads|group] [--op LIST] [--size LIST] [--iterations N]
 *
 * A size is in bytes: of the longer of an operation's two arrays. `time_us` is the time of a call
 * by CUDA events, of the slowest rank, and `host_us` the time that the submitting thread needs.
 * algbw is bytes / time; busbw is what one rank must send, as NVIDIA's nccl-tests define both
 * (GB/s).
 */
#include "bench/peers/peer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS_MOST = 16, LIST_MOST = 32, F32 = 7, SUM = 0, ID_BYTES = 128, WARM_UP = 10 };

typedef struct unique_id {
    char bytes[ID_BYTES];
} unique_id;

/* CUdeviceptr is passed as a pointer here: both are 64 bits wide. */
static struct {
    int (*init)(unsigned);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*alloc)(void **, size_t);
    int (*fill)(void *, unsigned, size_t, void *);
    int (*read)(void *, void *, size_t, void *);
    int (*copy_peer)(void *, void *, void *, void *, size_t, void *);
    int (*can_access)(int *, int, int);
    int (*enable)(void *, unsigned);
    int (*stream)(void **, unsigned);
    int (*sync)(void *);
    int (*event)(void **, unsigned);
    int (*record)(void *, void *);
    int (*elapsed)(float *, void *, void *);
} cu;

static struct {
    int (*version)(int *);
    int (*id)(unique_id *);
    int (*init)(void **, int, unique_id, int);
    int (*destroy)(void *);
    int (*start)(void);
    int (*end)(void);
    int (*all_reduce)(const void *, void *, size_t, int, int, void *, void *);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, void *, void *);
    int (*all_gather)(const void *, void *, size_t, int, void *, void *);
    int (*broadcast)(const void *, void *, size_t, int, int, void *, void *);
    int (*send)(const void *, size_t, int, int, void *, void *);
    int (*receive)(void *, size_t, int, int, void *, void *);
} nccl;

static struct rank {
    int rank, device;
    void *context, *stream, *comm, *from, *to, *begun, *ended;
    float milliseconds;
    double host_us;
    pthread_t thread;
} all[RANKS_MOST];

typedef enum operation {
    ALL_REDUCE,
    ALL_GATHER,
    BROADCAST,
    SEND_RECEIVE,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    PEER_COPY,
    OPERATIONS
} operation;
static const char *const names[OPERATIONS] = {"all_reduce", "all_gather",     "broadcast",
                                              "send_recv",  "reduce_scatter", "all_to_all",
                                              "peer_copy"};

static int ranks;
static bool in_group;
static pthread_barrier_t barrier;

/* What the threads run now. */
static struct work {
    operation op;
    size_t bytes;
    int iterations;
} work;

static void need(int status, const char *what)
{
    if (status != 0) {
        peer_die("%s failed with status %d", what, status);
    }
}

/* ---- the libraries and the devices ----------------------------------------------------------- */

static void open_libraries(void)
{
    static const char *const driver[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                         NULL};
    static const char *const library[] = {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2",
                                          "/usr/local/cuda/lib/libnccl.so.2", NULL};
    static const peer_symbol of_driver[] = {{"cuInit", &cu.init},
                                            {"cuDeviceGetCount", &cu.count},
                                            {"cuDeviceGet", &cu.device},
                                            {"cuDevicePrimaryCtxRetain", &cu.retain},
                                            {"cuCtxSetCurrent", &cu.current},
                                            {"cuMemAlloc_v2", &cu.alloc},
                                            {"cuMemsetD32Async", &cu.fill},
                                            {"cuMemcpyDtoHAsync_v2", &cu.read},
                                            {"cuMemcpyPeerAsync", &cu.copy_peer},
                                            {"cuDeviceCanAccessPeer", &cu.can_access},
                                            {"cuCtxEnablePeerAccess", &cu.enable},
                                            {"cuStreamCreate", &cu.stream},
                                            {"cuStreamSynchronize", &cu.sync},
                                            {"cuEventCreate", &cu.event},
                                            {"cuEventRecord", &cu.record},
                                            {"cuEventElapsedTime", &cu.elapsed},
                                            {NULL, NULL}};
    static const peer_symbol of_library[] = {{"ncclGetVersion", &nccl.version},
                                             {"ncclGetUniqueId", &nccl.id},
                                             {"ncclCommInitRank", &nccl.init},
                                             {"ncclCommDestroy", &nccl.destroy},
                                             {"ncclGroupStart", &nccl.start},
                                             {"ncclGroupEnd", &nccl.end},
                                             {"ncclAllReduce", &nccl.all_reduce},
                                             {"ncclReduceScatter", &nccl.reduce_scatter},
                                             {"ncclAllGather", &nccl.all_gather},
                                             {"ncclBroadcast", &nccl.broadcast},
                                             {"ncclSend", &nccl.send},
                                             {"ncclRecv", &nccl.receive},
                                             {NULL, NULL}};
    peer_load(driver, of_driver);
    peer_load(library, of_library);
}

static void open_rank(struct rank *at, size_t bytes)
{
    enum { ONE = 0x3f800000 }; /* 1.0f */
    need(cu.current(at->context), "cuCtxSetCurrent");
    need(cu.stream(&at->stream, 1), "cuStreamCreate");
    need(cu.event(&at->begun, 0), "cuEventCreate");
    need(cu.event(&at->ended, 0), "cuEventCreate");
    need(cu.alloc(&at->from, bytes), "cuMemAlloc");
    need(cu.alloc(&at->to, bytes), "cuMemAlloc");
    need(cu.fill(at->from, ONE, bytes / 4, at->stream), "cuMemsetD32Async");
    need(cu.fill(at->to, 0, bytes / 4, at->stream), "cuMemsetD32Async");
}

/* Lets copies from rank 0 to rank 1 go directly, if they can. */
static void connect_peers(void)
{
    int can = 0;
    if (ranks > 1 && cu.can_access(&can, all[0].device, all[1].device) == 0 && can) {
        need(cu.current(all[0].context), "cuCtxSetCurrent");
        need(cu.enable(all[1].context, 0), "cuCtxEnablePeerAccess");
        need(cu.current(all[1].context), "cuCtxSetCurrent");
        need(cu.enable(all[0].context, 0), "cuCtxEnablePeerAccess");
    }
}

static void open_ranks(size_t bytes)
{
    unique_id id;
    for (int r = 0; r < ranks; r++) {
        all[r].rank = r;
        need(cu.device(&all[r].device, r), "cuDeviceGet");
        need(cu.retain(&all[r].context, all[r].device), "cuDevicePrimaryCtxRetain");
        open_rank(&all[r], bytes);
    }
    need(nccl.id(&id), "ncclGetUniqueId");
    need(nccl.start(), "ncclGroupStart");
    for (int r = 0; r < ranks; r++) {
        need(cu.current(all[r].context), "cuCtxSetCurrent");
        need(nccl.init(&all[r].comm, ranks, id, r), "ncclCommInitRank");
    }
    need(nccl.end(), "ncclGroupEnd");
    connect_peers();
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void exchange(const struct rank *at, size_t part)
{
    need(nccl.start(), "ncclGroupStart");
    for (int r = 0; r < ranks; r++) {
        const size_t place = (size_t)r * part * 4;
        need(nccl.send((char *)at->from + place, part, F32, r, at->comm, at->stream), "ncclSend");
        need(nccl.receive((char *)at->to + place, part, F32, r, at->comm, at->stream), "ncclRecv");
    }
    need(nccl.end(), "ncclGroupEnd");
}

static void call(const struct rank *at)
{
    const size_t n = work.bytes / 4;
    const size_t part = n / (size_t)ranks;
    switch (work.op) {
    case ALL_REDUCE:
        need(nccl.all_reduce(at->from, at->to, n, F32, SUM, at->comm, at->stream), "ncclAllReduce");
        break;
    case ALL_GATHER:
        need(nccl.all_gather(at->from, at->to, part, F32, at->comm, at->stream), "ncclAllGather");
        break;
    case BROADCAST:
        need(nccl.broadcast(at->from, at->to, n, F32, 0, at->comm, at->stream), "ncclBroadcast");
        break;
    case SEND_RECEIVE:
        if (at->rank == 0) {
            need(nccl.send(at->from, n, F32, 1, at->comm, at->stream), "ncclSend");
        } else if (at->rank == 1) {
            need(nccl.receive(at->to, n, F32, 0, at->comm, at->stream), "ncclRecv");
        }
        break;
    case REDUCE_SCATTER:
        need(nccl.reduce_scatter(at->from, at->to, part, F32, SUM, at->comm, at->stream),
             "ncclReduceScatter");
        break;
    case ALL_TO_ALL:
        exchange(at, part);
        break;
    default:
        if (at->rank == 0) {
            need(cu.copy_peer(all[1].to, all[1].context, at->from, at->context, work.bytes,
                              at->stream),
                 "cuMemcpyPeerAsync");
        }
        break;
    }
}

static double now_us(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void finish(struct rank *at)
{
    need(cu.current(at->context), "cuCtxSetCurrent");
    need(cu.sync(at->stream), "cuStreamSynchronize");
}

/* The calls of one rank, after all ranks are here. */
static void *run_thread(void *data)
{
    struct rank *at = data;
    need(cu.current(at->context), "cuCtxSetCurrent");
    for (int i = 0; i < WARM_UP; i++) {
        call(at);
    }
    finish(at);
    (void)pthread_barrier_wait(&barrier);
    need(cu.record(at->begun, at->stream), "cuEventRecord");
    const double begun = now_us();
    for (int i = 0; i < work.iterations; i++) {
        call(at);
    }
    at->host_us = (now_us() - begun) / work.iterations;
    need(cu.record(at->ended, at->stream), "cuEventRecord");
    finish(at);
    return NULL;
}

static void call_all(void)
{
    if (work.op != PEER_COPY) {
        need(nccl.start(), "ncclGroupStart");
    }
    for (int r = 0; r < ranks; r++) {
        call(&all[r]);
    }
    if (work.op != PEER_COPY) {
        need(nccl.end(), "ncclGroupEnd");
    }
}

static void record_all(bool end)
{
    for (int r = 0; r < ranks; r++) {
        need(cu.current(all[r].context), "cuCtxSetCurrent");
        need(cu.record(end ? all[r].ended : all[r].begun, all[r].stream), "cuEventRecord");
    }
    need(cu.current(all[0].context), "cuCtxSetCurrent");
}

static void run_group(void)
{
    need(cu.current(all[0].context), "cuCtxSetCurrent");
    for (int i = 0; i < WARM_UP; i++) {
        call_all();
    }
    for (int r = 0; r < ranks; r++) {
        finish(&all[r]);
    }
    record_all(false);
    const double begun = now_us();
    for (int i = 0; i < work.iterations; i++) {
        call_all();
    }
    all[0].host_us = (now_us() - begun) / work.iterations;
    record_all(true);
    for (int r = 0; r < ranks; r++) {
        finish(&all[r]);
    }
}

static void run_threads(void)
{
    need(pthread_barrier_init(&barrier, NULL, (unsigned)ranks), "pthread_barrier_init");
    for (int r = 0; r < ranks; r++) {
        need(pthread_create(&all[r].thread, NULL, run_thread, &all[r]), "pthread_create");
    }
    for (int r = 0; r < ranks; r++) {
        need(pthread_join(all[r].thread, NULL), "pthread_join");
    }
    (void)pthread_barrier_destroy(&barrier);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Every array was filled with ones. */
static void check(void)
{
    const bool sums = work.op == ALL_REDUCE || work.op == REDUCE_SCATTER;
    for (int r = 0; r < ranks; r++) {
        float first = 0;
        const bool gets = work.op == SEND_RECEIVE || work.op == PEER_COPY ? r == 1 : true;
        need(cu.current(all[r].context), "cuCtxSetCurrent");
        need(cu.read(&first, all[r].to, sizeof first, all[r].stream), "cuMemcpyDtoHAsync");
        need(cu.sync(all[r].stream), "cuStreamSynchronize");
        if (gets && first != (sums ? (float)ranks : 1.0f)) {
            peer_die("%s of %zu bytes: rank %d has %g", names[work.op], work.bytes, r,
                     (double)first);
        }
        need(cu.fill(all[r].to, 0, work.bytes / 4, all[r].stream), "cuMemsetD32Async");
        need(cu.sync(all[r].stream), "cuStreamSynchronize");
    }
}

static double bus_factor(operation op)
{
    const double r = ranks;
    return op == ALL_REDUCE                                               ? 2 * (r - 1) / r
           : op == ALL_GATHER || op == REDUCE_SCATTER || op == ALL_TO_ALL ? (r - 1) / r
                                                                          : 1;
}

static void measure(operation op, size_t bytes, int iterations)
{
    double slowest = 0;
    double host = 0;
    work = (struct work){op, bytes, iterations};
    if (in_group) {
        run_group();
    } else {
        run_threads();
    }
    for (int r = 0; r < ranks; r++) {
        const bool takes_part = (op != SEND_RECEIVE && op != PEER_COPY) || r < 2;
        need(cu.current(all[r].context), "cuCtxSetCurrent");
        need(cu.elapsed(&all[r].milliseconds, all[r].begun, all[r].ended), "cuEventElapsedTime");
        const double time = (double)all[r].milliseconds * 1e3 / iterations;
        slowest = takes_part && time > slowest ? time : slowest;
        host = (r == 0 || !in_group) && all[r].host_us > host ? all[r].host_us : host;
    }
    check();
    const double algbw = (double)bytes / slowest * 1e-3;
    printf("{\"op\": \"%s\", \"bytes\": %zu, \"ranks\": %d, \"mode\": \"%s\", \"time_us\": %.3f, "
           "\"host_us\": %.3f, \"algbw\": %.4f, \"busbw\": %.4f}\n",
           names[op], bytes, ranks, in_group ? "group" : "threads", slowest, host, algbw,
           algbw * bus_factor(op));
    (void)fflush(stdout);
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return otherwise;
}

/* Whether a list with commas has the word. */
static bool has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return strcmp(list, "all") == 0;
}

/* Sizes, rounded down to whole elements of every rank. */
static int parse_sizes(const char *text, size_t *sizes, size_t *largest)
{
    const size_t whole = 4 * (size_t)ranks;
    int count = 0;
    for (char *end = NULL; count < LIST_MOST; text = end + 1) {
        size_t bytes = (size_t)strtoull(text, &end, 10);
        if (end == text || bytes < 4) {
            peer_die("--size: '%s' is no list of bytes", text);
        }
        bytes = bytes < whole ? whole : bytes / whole * whole;
        *largest = bytes > *largest ? bytes : *largest;
        sizes[count++] = bytes;
        if (*end != ',') {
            break;
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    size_t sizes[LIST_MOST], largest = 0;
    int devices = 0, version = 0;
    open_libraries();
    need(cu.init(0), "cuInit");
    need(cu.count(&devices), "cuDeviceGetCount");
    need(nccl.version(&version), "ncclGetVersion");
    ranks = atoi(option(argc, argv, "--ranks", "0"));
    ranks = ranks > 0 ? ranks : devices;
    in_group = strcmp(option(argc, argv, "--mode", "threads"), "group") == 0;
    if (ranks > devices || ranks > RANKS_MOST) {
        peer_die("--ranks is %d, but there are %d devices (and at most %d ranks)", ranks, devices,
                 RANKS_MOST);
    }
    const int count = parse_sizes(
        option(argc, argv, "--size", "1024,65536,1048576,16777216,134217728,1073741824"), sizes,
        &largest);
    const int asked = atoi(option(argc, argv, "--iterations", "0"));
    const char *ops = option(argc, argv, "--op", "all");
    fprintf(stderr, "NCCL %d, %d ranks\n", version, ranks);
    open_ranks(largest);
    for (int op = 0; op < OPERATIONS; op++) {
        const bool pair = op == SEND_RECEIVE || op == PEER_COPY;
        for (int i = 0; i < count && has(ops, names[op]) && (!pair || ranks > 1); i++) {
            enum { SMALL = 1 << 20, MANY = 1000, FEW = 100 };
            measure((operation)op, sizes[i], asked > 0 ? asked : sizes[i] <= SMALL ? MANY : FEW);
        }
    }
    for (int r = 0; r < ranks; r++) {
        need(cu.current(all[r].context), "cuCtxSetCurrent");
        need(nccl.destroy(all[r].comm), "ncclCommDestroy");
    }
    return 0;
}
