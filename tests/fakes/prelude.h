/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelude.h - the keywords of CUDA C++ and HIP that kernel sources use, for the host's C++
 * compiler. It is put before every source that the fakes compile. It includes no header, because it
 * is read for every program.
 */
struct fake_dim3 {
    unsigned x, y, z;
};

/* Shared by a program and the engine, which has the same struct. */
struct fake_state {
    fake_dim3 thread, group, threads, groups;
    void (*barrier)(int line);
    unsigned (*shuffle)(unsigned value, int delta, int width, int line);
    void (*wait)(int line); /* at a gate, which is then tried again */
    void (*pass)();         /* what waited need not wait any longer */
    void (*land)();         /* the program's: ends copies, once no work-item can go on */
    unsigned long waited;   /* work-items that waited for the launch before */
};
static void fake_copies_land();
static fake_state fake_is = {{}, {}, {}, {}, 0, 0, 0, 0, fake_copies_land};
extern "C" __attribute__((visibility("default"))) fake_state *const fake_state_at;
fake_state *const fake_state_at = &fake_is;

#if !defined(__HIPCC_RTC__)
#define __CUDACC__ 1
#endif
#define threadIdx (fake_is.thread)
#define blockIdx  (fake_is.group)
#define blockDim  (fake_is.threads)
#define gridDim   (fake_is.groups)

/* The engine searches the preprocessed source for these words to find the kernels. */
#define __global__             __attribute__((fake_kernel))
#define __launch_bounds__(...) __attribute__((fake_bounds(__VA_ARGS__)))
#define __device__
#define __host__
#define __constant__    static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
/* A separate section, so that the engine can fill it with garbage before each group. */
#if defined(FAKE_SANITIZED)
#define __shared__ static
#else
#define __shared__ static __attribute__((section("fake_shared,\"aw\",@nobits#")))
extern "C" __attribute__((weak, visibility("hidden"))) char __start_fake_shared[],
    __stop_fake_shared[];
extern "C" __attribute__((visibility("default"))) char *const fake_shared_at[2];
char *const fake_shared_at[2] = {__start_fake_shared, __stop_fake_shared};
#endif

#define __syncthreads()      (fake_is.barrier(__LINE__))
#define ISO_AFTER_PREVIOUS() ((void)fake_is.waited++)

struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct __attribute__((aligned(16))) double2 {
    double x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) ulonglong2 {
    unsigned long long x, y;
};
static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return float4{x, y, z, w};
}
static inline double2 make_double2(double x, double y)
{
    return double2{x, y};
}
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return uint2{x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return ulonglong2{x, y};
}

static inline float fmaf(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
static inline double fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
static inline float rintf(float x)
{
    return __builtin_rintf(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline double sqrt(double x)
{
    return __builtin_sqrt(x);
}
static inline float sqrtf(float x)
{
    return __builtin_sqrtf(x);
}
#define __fsqrt_rn(x)   __builtin_sqrtf(x)
#define __fdiv_rn(a, b) ((float)(a) / (float)(b))
static inline double fabs(double x)
{
    return __builtin_fabs(x);
}
static inline float fabsf(float x)
{
    return __builtin_fabsf(x);
}

template <class To, class From> static inline To fake_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x)
{
    return fake_bits<int>(x);
}
static inline unsigned __float_as_uint(float x)
{
    return fake_bits<unsigned>(x);
}
static inline float __int_as_float(int x)
{
    return fake_bits<float>(x);
}
static inline float __uint_as_float(unsigned x)
{
    return fake_bits<float>(x);
}
static inline long long __double_as_longlong(double x)
{
    return fake_bits<long long>(x);
}
static inline double __longlong_as_double(long long x)
{
    return fake_bits<double>(x);
}

template <class T> static inline T atomicCAS(T *at, T expected, T wanted)
{
    __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <class T> static inline T atomicAdd(T *at, T value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <class T> static inline T fake_add(T *at, T value)
{
    T seen = *at, made = seen + value;
    while (
        !__atomic_compare_exchange(at, &seen, &made, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        made = seen + value;
    }
    return seen;
}
static inline float atomicAdd(float *at, float value)
{
    return fake_add(at, value);
}
static inline double atomicAdd(double *at, double value)
{
    return fake_add(at, value);
}
template <class T> static inline T atomicMax(T *at, T value)
{
    T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (value > seen && !__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
    return seen;
}
template <class T> static inline T atomicMin(T *at, T value)
{
    T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
    return seen;
}
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

template <class T> static inline T fake_shuffle(T value, int delta, int width, int line)
{
    static_assert(sizeof(T) == 4, "32-bit values are shuffled");
    return fake_bits<T, unsigned>(
        fake_is.shuffle(fake_bits<unsigned, T>(value), delta, width, line));
}
#if defined(FAKE_HIP)
#define warpSize                         FAKE_WAVE
#define __shfl_down(value, delta, width) fake_shuffle((value), (int)(delta), (width), __LINE__)
#else
#define warpSize 32
#define __shfl_down_sync(mask, value, delta, width)                                                \
    fake_shuffle((value), (int)(delta), ((mask) == 0xffffffffu ? (width) : -1), __LINE__)
#endif

/*
 * Copies that a kernel begins, as late as it allows: they are done when it waits for them. A kernel
 * that reads too early finds the garbage that shared memory begins with.
 */
struct fake_copy {
    char *to;
    const char *from;
    int bytes;
    unsigned set;
};
enum { FAKE_COPIES = 256 };
struct fake_copies {
    fake_copy of[FAKE_COPIES];
    unsigned begun, done, sets;
};
static fake_copies fake_copies_of[1024];
static inline void fake_copy_begin(char *to, const void *from, int bytes)
{
    fake_copies *own = &fake_copies_of[fake_is.thread.x];
    if (from && bytes == 0) {
        return; /* a copy that its condition prevents */
    }
    if (own->begun - own->done == FAKE_COPIES) {
        __builtin_trap();
    }
    own->of[own->begun++ % FAKE_COPIES] = fake_copy{to, (const char *)from, bytes, own->sets};
}
static inline void fake_copy_commit()
{
    fake_copies_of[fake_is.thread.x].sets++;
}
static inline void fake_copy_wait(unsigned sets)
{
    fake_copies *own = &fake_copies_of[fake_is.thread.x];
    while (own->done != own->begun && own->sets - own->of[own->done % FAKE_COPIES].set > sets) {
        const fake_copy *at = &own->of[own->done++ % FAKE_COPIES];
        for (int i = 0; i < at->bytes; i++) {
            at->to[i] = at->from[i];
        }
    }
}

/*
 * Gates: see dialect.h. A copy that no wait ends is done when no work-item can go on.
 */
struct fake_gate {
    short left, count;
    int round;
};
static inline void fake_gate_make(char *at, int count)
{
    const fake_gate gate = {(short)count, (short)count, 0};
    __builtin_memcpy(at, &gate, sizeof gate);
}
static inline void fake_gate_arrive(char *at)
{
    fake_gate *gate = (fake_gate *)at;
    if (--gate->left == 0) {
        gate->left = gate->count;
        gate->round++;
    }
}
static inline void fake_gate_copied(char *at)
{
    fake_copy_begin(at, nullptr, 0);
}
static inline void fake_gate_wait(char *at, int parity, int line)
{
    if ((((fake_gate *)at)->round & 1) == parity) {
        do {
            fake_is.wait(line);
        } while ((((fake_gate *)at)->round & 1) == parity);
        fake_is.pass();
    }
}
static void fake_copies_end(fake_copies *own)
{
    for (; own->done != own->begun; own->done++) {
        const fake_copy *at = &own->of[own->done % FAKE_COPIES];
        if (!at->from) {
            fake_gate_arrive(at->to);
        }
        for (int i = 0; i < at->bytes; i++) {
            at->to[i] = at->from[i];
        }
    }
}
static inline void fake_copy_end()
{
    fake_copies_end(&fake_copies_of[fake_is.thread.x]);
}
static void fake_copies_land()
{
    for (fake_copies &own : fake_copies_of) {
        fake_copies_end(&own);
    }
}

static inline void fake_take_1(double *x, const char *at)
{
    __builtin_memcpy(x, at, sizeof *x);
}
static inline void fake_take_2(double *x, double *y, const char *at)
{
    __builtin_memcpy(x, at, sizeof *x);
    __builtin_memcpy(y, at + sizeof *x, sizeof *y);
}

/* Shared memory that a launch adds: as much as a group may have, beside what the kernel declares.
 */
#if defined(ISO_ADDED)
__shared__ double fake_more[232448 / 8];
#elif defined(ISO_KEPT)
__shared__ double fake_more[(232448 - 49152) / 8];
#endif

/* The arrays of a program's own kernels whose size a launch says. */
#define ISO_SIZED_HERE_ __shared__ __attribute__((aligned(64))) unsigned char iso_sized_[65536];

/*
 * Models of matrix units, whose sums are chains of fma. FAKE_UNIT plants a fault: 1 the terms in
 * descending order, 2 subnormal results flushed, 3 a (+0) (+0) at the end.
 *
 * Each instruction exchanges a team's operands through one of two places in turn. A work-item that
 * is one instruction ahead of the others writes to the other place. No work-item can be two ahead.
 */
#if !defined(FAKE_UNIT)
#define FAKE_UNIT 0
#endif
static inline double fake_add(double a, double b, double sum)
{
    sum = __builtin_fma(a, b, sum);
    return FAKE_UNIT == 2 && __builtin_fabs(sum) < 0x1p-1022 ? sum * 0.0 : sum;
}
static inline float fake_add(float a, float b, float sum)
{
    sum = __builtin_fmaf(a, b, sum);
    return FAKE_UNIT == 2 && __builtin_fabsf(sum) < 0x1p-126f ? sum * 0.0f : sum;
}
#define FAKE_TERM(n, terms) (FAKE_UNIT == 1 ? (terms) - 1 - (n) : (n))
#define FAKE_LAST           (FAKE_UNIT == 3 ? 0.0f : -0.0f)
static unsigned char fake_turn[1024];

/* NVIDIA's: 32 work-items multiply 16 x k by k x 8 elements, each of them its four sums. See
 * dialect.h for which elements each has. */
struct fake_operands {
    double a[32][8], b[32][4];
};
static fake_operands fake_operands_of[32][2];
static inline void fake_matrix(double *c, const double *a, const double *b, int k, int line)
{
    const int lane = (int)fake_is.thread.x % 32;
    fake_operands *team =
        &fake_operands_of[fake_is.thread.x / 32][fake_turn[fake_is.thread.x] ^= 1];
    for (int i = 0; i < k / 2; i++) {
        team->a[lane][i] = a[i];
    }
    for (int i = 0; i < k / 4; i++) {
        team->b[lane][i] = b[i];
    }
    (void)fake_is.shuffle(0, 0, 32, line);
    for (int r = 0; r < 4; r++) {
        const int row = lane / 4;
        const int column = lane % 4 * 2 + r % 2;
        for (int n = 0; n < k; n++) {
            const int at = FAKE_TERM(n, k);
            c[r] = fake_add(team->a[row * 4 + at % 4][at / 4 * 2 + r / 2],
                            team->b[column * 4 + at % 4][at / 4], c[r]);
        }
        c[r] += FAKE_LAST;
    }
}
#define fake_matrix_f64(c, a, b, k) fake_matrix((c), (a), (b), (k), __LINE__)

/*
 * A model of an int8 matrix unit, and of the loads of its operands: see dialect.h. FAKE_UNIT plants
 * a fault: 4 B's bytes have no sign, 5 sums saturate, 6 the columns of the sums are reversed.
 */
struct fake_bytes {
    signed char a[16][32], b[8][32]; /* rows of A, columns of B, along k */
    const char *at[32];
};
static fake_bytes fake_bytes_of[32][2];
static inline fake_bytes *fake_bytes_here()
{
    return &fake_bytes_of[fake_is.thread.x / 32][fake_turn[fake_is.thread.x] ^= 1];
}
static inline void fake_load_rows_at(unsigned *to, const void *at, int line)
{
    const int lane = (int)fake_is.thread.x % 32;
    fake_bytes *team = fake_bytes_here();
    team->at[lane] = (const char *)at;
    (void)fake_is.shuffle(0, 0, 32, line);
    for (int j = 0; j < 4; j++) {
        __builtin_memcpy(&to[j], team->at[j * 8 + lane / 4] + lane % 4 * 4, sizeof to[j]);
    }
}
typedef signed char fake_bytes32 __attribute__((vector_size(32)));
typedef short fake_shorts32 __attribute__((vector_size(64)));
typedef int fake_words32 __attribute__((vector_size(128)));
static inline fake_shorts32 fake_line(const signed char *line)
{
    fake_bytes32 bytes;
    __builtin_memcpy(&bytes, line, sizeof bytes);
    return __builtin_convertvector(bytes, fake_shorts32);
}
static inline long long fake_dot(const signed char *a, const signed char *b)
{
    const fake_shorts32 x = fake_line(a);
    const fake_shorts32 y = FAKE_UNIT == 4 ? fake_line(b) & 255 : fake_line(b);
    const fake_words32 each =
        __builtin_convertvector(x, fake_words32) * __builtin_convertvector(y, fake_words32);
    int sum = 0;
    for (int k = 0; k < 32; k++) {
        sum += each[k];
    }
    return sum;
}
static inline void fake_matrix_bytes_at(int *c, const unsigned *a, const unsigned *b, int line)
{
    const int lane = (int)fake_is.thread.x % 32;
    fake_bytes *team = fake_bytes_here();
    for (int i = 0; i < 4; i++) {
        __builtin_memcpy(team->a[lane / 4 + i % 2 * 8] + lane % 4 * 4 + i / 2 * 16, &a[i], 4);
    }
    for (int i = 0; i < 2; i++) {
        __builtin_memcpy(team->b[lane / 4] + lane % 4 * 4 + i * 16, &b[i], 4);
    }
    (void)fake_is.shuffle(0, 0, 32, line);
    for (int r = 0; r < 4; r++) {
        const int plain = lane % 4 * 2 + r % 2;
        const int column = FAKE_UNIT == 6 ? 7 - plain : plain;
        long long sum = c[r] + fake_dot(team->a[lane / 4 + r / 2 * 8], team->b[column]);
        if (FAKE_UNIT == 5) {
            sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffff - 1 ? -0x7fffffff - 1 : sum;
        }
        c[r] = (int)sum;
    }
}
/* AMD's, of 64 work-items; dialect.h has the type. */
struct fake_wave_bytes {
    signed char a[32][16], b[32][16];
};
static fake_wave_bytes fake_waves[16][2];
template <class T>
static inline void fake_matrix_waves_at(T *c, unsigned a0, unsigned a1, unsigned b0, unsigned b1,
                                        int line)
{
    const int lane = (int)fake_is.thread.x % 64;
    const unsigned a[2] = {a0, a1};
    const unsigned b[2] = {b0, b1};
    fake_wave_bytes *team = &fake_waves[fake_is.thread.x / 64][fake_turn[fake_is.thread.x] ^= 1];
    __builtin_memcpy(&team->a[lane % 32][lane / 32 * 8], a, 8);
    __builtin_memcpy(&team->b[lane % 32][lane / 32 * 8], b, 8);
    (void)fake_is.shuffle(0, 0, 64, line);
    for (int r = 0; r < 16; r++) {
        const int row = r / 4 * 8 + lane / 32 * 4 + r % 4;
        const int column = FAKE_UNIT == 6 ? 31 - lane % 32 : lane % 32;
        long long sum = (*c)[r];
        for (int k = 0; k < 16; k++) {
            const int y = team->b[column][k];
            sum += team->a[row][k] * (FAKE_UNIT == 4 ? y & 255 : y);
        }
        if (FAKE_UNIT == 5) {
            sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffff - 1 ? -0x7fffffff - 1 : sum;
        }
        (*c)[r] = (int)sum;
    }
}
#define fake_matrix_waves(c, a0, a1, b0, b1)                                                       \
    fake_matrix_waves_at((c), (a0), (a1), (b0), (b1), __LINE__)
#define fake_load_rows(to, at)     fake_load_rows_at((to), (at), __LINE__)
#define fake_matrix_bytes(c, a, b) fake_matrix_bytes_at((c), (a), (b), __LINE__)

/* AMD's: 64 work-items multiply 16 x 4 by 4 x 16 elements (wave.cl). Sums of f64 and of f32 are in
 * different rows. */
template <class T> struct fake_wave_operands {
    T a[64], b[64];
};
template <class T> static inline void fake_wave_of(T *c, T a, T b, int line)
{
    static fake_wave_operands<T> operands[16][2];
    const int lane = (int)fake_is.thread.x % 64;
    fake_wave_operands<T> *wave =
        &operands[fake_is.thread.x / 64][fake_turn[fake_is.thread.x] ^= 1];
    wave->a[lane] = a;
    wave->b[lane] = b;
    (void)fake_is.shuffle(0, 0, 64, line);
    for (int r = 0; r < 4; r++) {
        const int row = sizeof(T) == 8 ? lane / 16 + 4 * r : lane / 16 * 4 + r;
        for (int n = 0; n < 4; n++) {
            const int at = FAKE_TERM(n, 4) * 16;
            c[r] = fake_add(wave->a[at + row], wave->b[at + lane % 16], c[r]);
        }
        c[r] += (T)FAKE_LAST;
    }
}
#define fake_wave(c, a, b) fake_wave_of((c), (a), (b), __LINE__)

/* A kernel called with pointers to its arguments, as a launch has them. */
template <int... I> struct fake_indices {
};
template <int N, int... I> struct fake_count : fake_count<N - 1, N - 1, I...> {
};
template <int... I> struct fake_count<0, I...> {
    typedef fake_indices<I...> indices;
};
template <class... T, int... I>
static inline void fake_unpack(void (*kernel)(T...), void **arguments, fake_indices<I...>)
{
    kernel(*(T *)arguments[I]...);
}
template <class... T> static inline void fake_invoke(void (*kernel)(T...), void **arguments)
{
    fake_unpack(kernel, arguments, typename fake_count<sizeof...(T)>::indices());
}
template <class T> struct fake_sizes;
template <class... T> struct fake_sizes<void(T...)> {
    static constexpr int count = (int)sizeof...(T);
    static constexpr int bytes[sizeof...(T) + 1] = {(int)sizeof(T)..., 0};
};
template <class... T> constexpr int fake_sizes<void(T...)>::bytes[sizeof...(T) + 1];
static constexpr int fake_first(int first, ...)
{
    return first;
}
struct fake_entry {
    const char *name;
    void (*call)(void **arguments);
    int threads; /* of __launch_bounds__, or 0 */
    int count;
    const int *bytes;
};
