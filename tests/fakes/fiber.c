/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.c - runs the work-items of a group on one thread, each on its own stack, switching at
 * barriers and shuffles. Groups run one after another.
 *
 * Detected, and made a sticky error: a barrier that not every work-item reaches, a shuffle that
 * only some of its work-items reach (32, or as many as it names), a gate that never opens, an
 * access to unmapped memory.
 */
#include "tests/fakes/engine.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/* As in prelude.h. */
typedef struct fake_dim3 {
    unsigned x, y, z;
} fake_dim3;
struct fake_state {
    fake_dim3 thread, group, threads, groups;
    void (*barrier)(int line);
    unsigned (*shuffle)(unsigned value, int delta, int width, int line);
    void (*wait)(int line);
    void (*pass)(void);
    void (*land)(void);
    unsigned long waited;
};

enum { STACK_BYTES = 128 * 1024, GUARD_BYTES = 4096, THREADS_MAX = 1024, WIDTH_MAX = 64 };

typedef enum fiber_state { READY, AT_BARRIER, AT_SHUFFLE, AT_GATE, ENDED } fiber_state;

typedef struct fiber {
    fiber_state state;
    int line;
    unsigned value; /* of a shuffle: the value given, then the value received */
    int delta, width;
    char *stack; /* lowest address */
#if defined(__x86_64__)
    void *at;
#else
    ucontext_t at;
#endif
} fiber;

/* Kernels run one at a time: see fake_launch. */
static fiber fibers[THREADS_MAX];
static fiber *current;
static const fake_grid *running;
static struct {
    int ended, barriers, shuffles, gates;
    int stalled; /* times that gates were tried in a row without one that had opened */
} counts;

static _Thread_local sigjmp_buf *guard;
static _Thread_local void *volatile bad_address;

/* ---- switching ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static void *home;

void fake_switch(void **save, void *load);
__asm__(".text\n"
        ".globl fake_switch\n"
        ".hidden fake_switch\n"
        ".type fake_switch,@function\n"
        "fake_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fake_switch,.-fake_switch\n");

static void leave(void)
{
    fake_switch(&current->at, home);
}

static void enter(fiber *to)
{
    current = to;
    fake_switch(&home, to->at);
}
#else
static ucontext_t home;

static void leave(void)
{
    (void)swapcontext(&current->at, &home);
}

static void enter(fiber *to)
{
    current = to;
    (void)swapcontext(&home, &to->at);
}
#endif

static void work_item(void)
{
    running->call(running->arguments);
    current->state = ENDED;
    counts.ended++;
    leave();
    abort(); /* a finished fiber is never resumed */
}

/* The tops of the stacks are spread over a page; otherwise they would share the same cache lines.
 */
static void prepare(fiber *at, int index)
{
    if (!at->stack) {
        char *memory = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE)) {
            fprintf(stderr, "fake: no memory for a stack\n");
            abort();
        }
        at->stack = memory;
    }
    at->state = READY;
#if defined(__x86_64__)
    char *top = at->stack + GUARD_BYTES + STACK_BYTES - (size_t)(index * 448 % 8192);
    void **slots = (void **)(void *)((uintptr_t)top & ~(uintptr_t)63);
    void (*entry)(void) = work_item;
    *--slots = NULL; /* return address of work_item */
    slots--;
    memcpy(slots, &entry, sizeof entry);
    slots -= 6;
    memset(slots, 0, 6 * sizeof *slots);
    at->at = slots;
#else
    (void)index;
    (void)getcontext(&at->at);
    at->at.uc_stack.ss_sp = at->stack + GUARD_BYTES;
    at->at.uc_stack.ss_size = STACK_BYTES;
    at->at.uc_link = NULL;
    makecontext(&at->at, work_item, 0);
#endif
}

/* ---- what kernels call ----------------------------------------------------------------------- */

static void barrier(int line)
{
    current->state = AT_BARRIER;
    current->line = line;
    counts.barriers++;
    leave();
}

static unsigned shuffle(unsigned value, int delta, int width, int line)
{
    current->state = AT_SHUFFLE;
    current->line = line;
    current->value = value;
    current->delta = delta;
    current->width = width;
    counts.shuffles++;
    leave();
    return current->value;
}

static void wait_at_gate(int line)
{
    current->state = AT_GATE;
    current->line = line;
    counts.gates++;
    leave();
}

static void pass_gate(void)
{
    counts.stalled = 0;
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static int complain(int index, const char *what)
{
    fprintf(stderr, "fake: kernel %s, group %u, work-item %d (line %d): %s\n", running->name,
            running->state->group.x, index, fibers[index].line, what);
    return FAKE_LAUNCH_FAILED;
}

/* The work-items from `first` that shuffle together. */
static int shuffle_run(int first, int threads)
{
    unsigned given[WIDTH_MAX];
    const int width = fibers[first].width;
    if (width < 1 || width > WIDTH_MAX || (width & (width - 1))) {
        return complain(first, "a shuffle with a width or a mask that it cannot have");
    }
    const int from = first / width * width;
    for (int i = from; i < from + width && i < threads; i++) {
        if (fibers[i].state != AT_SHUFFLE || fibers[i].line != fibers[first].line ||
            fibers[i].width != width || fibers[i].delta != fibers[first].delta) {
            return complain(i, "others of its warp are at a shuffle that it did not reach");
        }
        given[i - from] = fibers[i].value;
    }
    for (int i = from; i < from + width && i < threads; i++) {
        const int source = i - from + fibers[i].delta;
        if (source >= 0 && source < width) { /* otherwise its own value */
            fibers[i].value = from + source < threads ? given[source] : 0xffffffffu;
        }
    }
    for (int i = from; i < from + width && i < threads; i++) {
        fibers[i].state = READY;
        counts.shuffles--;
    }
    return FAKE_OK;
}

static int try_gates(int threads)
{
    enum { LAND = 2, GIVE_UP = 4 };
    counts.stalled += counts.shuffles == 0;
    if (counts.stalled == LAND) {
        running->state->land();
    }
    for (int i = 0; i < threads; i++) {
        if (fibers[i].state == AT_GATE) {
            if (counts.stalled == GIVE_UP) {
                return complain(i, "it waits at a gate that does not open");
            }
            fibers[i].state = READY;
        }
    }
    counts.gates = 0;
    return FAKE_OK;
}

static int resolve(int threads)
{
    if (counts.ended == threads) {
        return FAKE_OK;
    }
    if (counts.gates > 0) {
        const int code = try_gates(threads);
        if (code || counts.shuffles == 0) {
            return code;
        }
    }
    if (counts.shuffles > 0) {
        for (int i = 0; i < threads; i++) {
            const int code = fibers[i].state == AT_SHUFFLE ? shuffle_run(i, threads) : FAKE_OK;
            if (code) {
                return code;
            }
        }
        return FAKE_OK;
    }
    for (int i = 0; i < threads; i++) {
        if (fibers[i].state == ENDED) {
            fibers[i].line = 0;
            return complain(i, "it ended while others wait at a barrier (a divergent barrier)");
        }
        if (fibers[i].line != fibers[0].line) {
            return complain(i, "it waits at another barrier than the first work-item (a divergent "
                               "barrier)");
        }
    }
    for (int i = 0; i < threads; i++) {
        fibers[i].state = READY;
    }
    counts.barriers = 0;
    return FAKE_OK;
}

static int run_group(const fake_grid *grid, bool reverse)
{
    const int threads = (int)grid->threads;
    memset(&counts, 0, sizeof counts);
    if (grid->shared_bytes > 0) {
        memset(grid->shared, 0xff, grid->shared_bytes);
    }
    for (int i = 0; i < threads; i++) {
        prepare(&fibers[i], i);
    }
    while (counts.ended < threads) {
        for (int n = 0; n < threads; n++) {
            const int i = reverse ? threads - 1 - n : n;
            if (fibers[i].state == READY) {
                grid->state->thread.x = (unsigned)i;
                enter(&fibers[i]);
            }
        }
        const int code = resolve(threads);
        if (code) {
            return code;
        }
    }
    return FAKE_OK;
}

static int run_groups(void *data)
{
    const fake_grid *grid = data;
    const char *order = getenv("FAKE_ORDER");
    const bool reverse = order && strcmp(order, "reverse") == 0;
    fake_state *state = grid->state;
    running = grid;
    *state = (fake_state){.threads = {grid->threads, 1, 1},
                          .groups = {grid->groups[0], grid->groups[1], grid->groups[2]},
                          .barrier = barrier,
                          .shuffle = shuffle,
                          .wait = wait_at_gate,
                          .pass = pass_gate,
                          .land = state->land};
    const uint64_t all = (uint64_t)grid->groups[0] * grid->groups[1] * grid->groups[2];
    for (uint64_t n = 0; n < all; n++) {
        const uint64_t at = reverse ? all - 1 - n : n, row = at / grid->groups[0];
        state->group =
            (fake_dim3){(unsigned)(at % grid->groups[0]), (unsigned)(row % grid->groups[1]),
                        (unsigned)(row / grid->groups[1])};
        const int code = run_group(grid, reverse);
        if (code) {
            return code;
        }
    }
    return FAKE_OK;
}

/* The sanitizer keeps state about abandoned stacks; it is cleared if the sanitizer is in the
 * process. */
static void forget_stacks(void)
{
    extern void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));
    if (__asan_unpoison_memory_region) {
        for (int i = 0; i < THREADS_MAX && fibers[i].stack; i++) {
            __asan_unpoison_memory_region(fibers[i].stack + GUARD_BYTES, STACK_BYTES);
        }
    }
}

int fake_grid_run(const fake_grid *grid)
{
    fake_grid copy = *grid;
    if (grid->threads < 1 || grid->threads > THREADS_MAX) {
        return FAKE_INVALID_VALUE;
    }
    const uint64_t items =
        (uint64_t)grid->groups[0] * grid->groups[1] * grid->groups[2] * grid->threads;
    grid->state->waited = 0;
    int code = fake_guarded(run_groups, &copy);
    if (code == FAKE_OK && grid->early && grid->state->waited < items) {
        fprintf(stderr,
                "fake: kernel %s may begin early, but only %llu of %llu work-items wait for the "
                "launch before it\n",
                grid->name, (unsigned long long)grid->state->waited, (unsigned long long)items);
        code = FAKE_ILLEGAL_ADDRESS;
    }
    if (code == FAKE_ILLEGAL_ADDRESS && bad_address) {
        fprintf(stderr,
                "fake: kernel %s, group %u, work-item %u: an access to %p, where there is "
                "no memory\n",
                grid->name, grid->state->group.x, grid->state->thread.x, bad_address);
    }
    if (code) {
        forget_stacks();
    }
    return code;
}

/* ---- accesses to unmapped memory ------------------------------------------------------------- */

static struct sigaction before[2];

static void on_fault(int number, siginfo_t *about, void *context)
{
    (void)context;
    if (guard) {
        bad_address = about->si_addr;
        siglongjmp(*guard, 1);
    }
    /* Not ours: it happens again, and the previous handler sees it. */
    (void)sigaction(number, &before[number == SIGBUS], NULL);
}

/* A thread's signal stack, and the previous one. */
typedef struct signal_stack {
    stack_t before;
    char room[64 * 1024];
} signal_stack;

static pthread_key_t signal_stacks;
static pthread_once_t signal_stacks_once = PTHREAD_ONCE_INIT;

static void end_thread(void *data)
{
    signal_stack *own = data;
    (void)sigaltstack(&own->before, NULL);
    free(own);
}

static void make_key(void)
{
    (void)pthread_key_create(&signal_stacks, end_thread);
}

static void prepare_thread(void)
{
    static bool installed;
    (void)pthread_once(&signal_stacks_once, make_key);
    if (pthread_getspecific(signal_stacks)) {
        return;
    }
    signal_stack *own = malloc(sizeof *own);
    if (!own) {
        return;
    }
    const stack_t stack = {.ss_sp = own->room, .ss_size = sizeof own->room};
    (void)sigaltstack(&stack, &own->before);
    (void)pthread_setspecific(signal_stacks, own);
    if (!__atomic_exchange_n(&installed, true, __ATOMIC_SEQ_CST)) {
        struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        action.sa_sigaction = on_fault;
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(SIGSEGV, &action, &before[0]);
        (void)sigaction(SIGBUS, &action, &before[1]);
    }
}

int fake_guarded(fake_work work, void *data)
{
    sigjmp_buf here;
    volatile int code = FAKE_ILLEGAL_ADDRESS;
    prepare_thread();
    sigjmp_buf *outer = guard;
    if (sigsetjmp(here, 0) == 0) {
        guard = &here;
        code = work(data);
    }
    guard = outer;
    return code;
}
