/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names that a text may give. A word of one compiler's language is refused for all of
 * them: a text that one backend takes would fail on another. */
#include "core/kernel/parse.h"

#include <string.h>

/* Words that no name may be. */
static const struct words {
    const char *whose;
    const char *list; /* with a blank on both sides of each */
} words[] = {
    {"C",
     " auto break case char const continue default do double else enum extern float for goto if "
     "inline int long register restrict return short signed sizeof static struct switch typedef "
     "union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic "
     "_Imaginary _Noreturn _Static_assert _Thread_local asm NULL "},
    {"C++, which CUDA and HIP compile",
     " alignas alignof and and_eq bitand bitor bool catch char8_t char16_t char32_t class compl "
     "concept consteval constexpr constinit const_cast co_await co_return co_yield decltype delete "
     "dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr "
     "operator or or_eq private protected public reinterpret_cast requires static_assert "
     "static_cast template this thread_local throw true try typeid typename using virtual wchar_t "
     "xor xor_eq "},
    {"OpenCL C",
     " global local constant kernel read_only write_only read_write generic pipe half image1d_t "
     "image2d_t image3d_t image1d_array_t image2d_array_t image1d_buffer_t vec_step barrier "
     "get_local_id get_group_id M_PI M_E MAXFLOAT NAN INFINITY HUGE_VAL FLT_MAX INT_MAX CHAR_BIT "},
    {"CUDA and HIP", " threadIdx blockIdx blockDim gridDim warpSize "},
};

/* Words that no name outside of kernels may be; inside they hide what the compiler has. */
static const struct words outside[] = {
    {"C's headers",
     " main assert abort size_t ptrdiff_t intptr_t uintptr_t int8_t uint8_t int16_t uint16_t "
     "int32_t uint32_t int64_t uint64_t "},
    {"OpenCL C",
     " uchar ushort uint ulong sampler_t event_t as_int as_float printf float2 float4 float16 "
     "half4 int2 int4 uint4 long2 ulong4 double2 double4 char4 uchar4 short2 ushort4 "},
    {"CUDA and HIP", " std dim3 uint3 texture clock clock64 tex2D cudaError_t "
                     "cudaStream_t make_float4 atomicAdd atomicMin "},
    {"mathematical functions",
     " abs acos all any asin atan atan2 cbrt ceil copysign cos erf exp exp2 exp10 expf fabs floor "
     "fma fmaf fmax fmaxf fmin fminf fmod frexp hypot ilogb isinf isnan j0 j1 jn labs ldexp lgamma "
     "log log2 log10 max min nan pow remainder rint round rsqrt signbit sin sqrt sqrtf tan tgamma "
     "trunc y0 y1 free malloc memcpy memset "},
};

/* Words that no function may be. */
static const struct words functions[] = {
    {"OpenCL C",
     " abs_diff acosh acospi add_sat asinh asinpi async_work_group_copy atan2pi atanh atanpi "
     "bitselect clamp clz cosh cospi cross degrees distance dot erfc expm1 fast_distance "
     "fast_length fast_normalize fdim fract hadd isequal isfinite isgreater isgreaterequal isless "
     "islessequal islessgreater isnormal isnotequal isordered isunordered length log1p logb mad "
     "mad24 mad_hi mad_sat maxmag minmag mix modf mul24 mul_hi nextafter normalize popcount pown "
     "powr prefetch radians remquo rhadd rootn rotate select shuffle shuffle2 sign sincos sinh "
     "sinpi smoothstep step sub_sat tanh tanpi upsample "},
};

/* Words that mean something to one compiler alone, or whose bits differ, and what to write. */
static const struct words instead[] = {
    {"the end of a region waits for all items of the group",
     " __syncthreads __syncwarp __threadfence_block barrier work_group_barrier mem_fence "},
    {"the index of ISO_REGION is the item's place in its group",
     " threadIdx get_local_id get_local_linear_id "},
    {"iso_group_x() is the group's place in the launch", " blockIdx get_group_id "},
    {"iso_groups_x() is how many groups there are", " gridDim get_num_groups "},
    {"iso_x(i) is the item's place in the launch", " get_global_id get_global_linear_id "},
    {"a group has the sizes that ISO_KERNEL states", " blockDim get_local_size warpSize "},
    {"iso_sqrt_f32 and iso_sqrt_f64 are rounded correctly",
     " sqrt sqrtf __fsqrt_rn __dsqrt_rn native_sqrt rsqrt rsqrtf "},
    {"iso_exp_f32 and iso_exp_f64 have the same bits everywhere",
     " exp expf __expf native_exp exp2 exp2f exp10 exp10f expm1 expm1f "},
    {"iso_fma_f32 and iso_fma_f64 round once", " fma fmaf mad __fmaf_rn __fma_rn "},
    {"iso_div_f32 and iso_div_f64 are rounded correctly",
     " __fdiv_rn __ddiv_rn fdividef __fdividef native_divide "},
    {"iso_atomic_add_i32(&place, value) and its like are the same everywhere",
     " atomicAdd atomicSub atomicMin atomicMax atomicInc atomicDec atomicExch atomicCAS atomicAnd "
     "atomicOr atomicXor atomic_add atomic_sub atomic_min atomic_max atomic_inc atomic_dec "
     "atomic_xchg atomic_cmpxchg atom_add atom_inc __atomic_fetch_add __sync_fetch_and_add "},
    {"ISO_TEAM_SUM adds the values of items that follow each other",
     " __shfl_sync __shfl_down_sync __shfl_up_sync __shfl_xor_sync __ballot_sync "
     "sub_group_reduce_add "},
    {"a < b ? a : b is the same everywhere",
     " min max fmin fmax fminf fmaxf umin umax clamp fdim fdimf select "},
    {"a < 0 ? -a : a is the same everywhere", " abs labs llabs fabs fabsf "},
    {"a parameter ISO_SHARED(f32, 256) part is an array of the group",
     " __shared__ __local local "},
    {"its bits differ between devices: compute it from + - * and iso_fma_f32 (isomer/kernel.h has "
     "all words)",
     " sin sinf __sinf cos cosf __cosf tan tanf asin asinf acos acosf atan atanf atan2 atan2f sinh "
     "sinhf cosh coshf tanh tanhf log logf __logf log2 log2f log10 log10f log1p log1pf pow powf "
     "__powf pown powr hypot hypotf cbrt cbrtf erf erff erfc erfcf tgamma tgammaf lgamma lgammaf "
     "fmod fmodf remainder remainderf rcbrt sincos sincosf mix smoothstep native_sin native_cos "
     "native_log "},
    {"convert with (i64) and the like, which cuts off the fraction, and go on from there",
     " floor floorf ceil ceilf round roundf rint rintf trunc truncf nearbyint lround lroundf lrint "
     "lrintf "},
    {"x != x is true for NaN alone", " isnan isfinite isinf isnormal signbit "},
    {"iso_from_bits_f32(0x7f800000u) is infinity, and other limits are numbers",
     " INFINITY NAN HUGE_VAL HUGE_VALF FLT_MAX DBL_MAX "},
    {"a kernel does not print: write to a buffer", " printf puts assert "},
    {"a kernel has no memory of its own: use parameters and private arrays",
     " malloc free memcpy memset memmove alloca "},
};

static bool has(const char *list, const char *text, int64_t length)
{
    for (const char *at = list + 1; *at; at += strcspn(at, " ") + 1) {
        if ((int64_t)strcspn(at, " ") == length && !memcmp(at, text, (size_t)length)) {
            return true;
        }
    }
    return false;
}

static const char *find(const struct words *rows, size_t count, const char *text, int64_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (has(rows[i].list, text, length)) {
            return rows[i].whose;
        }
    }
    return NULL;
}

const char *kernel_instead(const kernel_reader *word)
{
    const char *text = word->text + word->token.at;
    const char *better = find(instead, sizeof instead / sizeof *instead, text, word->token.length);

    if (word->conditions > 0) {
        return NULL; /* code under #if is for one backend */
    }
    if (!better && word->token.length > 2 && !memcmp(text, "__", 2)) {
        better = "names that begin with __ are a compiler's own: put it under #if, such as #if "
                 "defined(__CUDACC__), with other code for the other backends";
    }
    return better;
}

static void check_reserved(kernel_reader *r, const kernel_reader *word, kernel_name_place place,
                           const char *what)
{
    const char *text = word->text + word->token.at;
    const int64_t length = word->token.length;
    /* The words of C may follow the type of a variable: `i64 const n`. */
    const size_t first = place == KERNEL_NAME_VARIABLE ? 1 : 0;
    const char *whose = find(words + first, sizeof words / sizeof *words - first, text, length);

    if (!whose && (place == KERNEL_NAME_OUTSIDE || place == KERNEL_NAME_FUNCTION)) {
        whose = find(outside, sizeof outside / sizeof *outside, text, length);
    }
    if (!whose && place == KERNEL_NAME_FUNCTION) {
        whose = find(functions, sizeof functions / sizeof *functions, text, length);
        whose = !whose && kernel_instead(word) ? "some compilers" : whose;
    }
    if (whose) {
        kernel_fail(r, word->token.line,
                    "the name %.*s of %s is a word of %s: use another, because a text is for every "
                    "backend",
                    kernel_shown_length(word), kernel_shown(word), what, whose);
    }
}

void kernel_check_variable(kernel_reader *r, const kernel_reader *word)
{
    check_reserved(r, word, KERNEL_NAME_VARIABLE, "a variable");
}

bool kernel_is_reserved(const kernel_reader *word)
{
    const char *text = word->text + word->token.at;

    return word->token.kind == KERNEL_WORD && word->token.length >= 4 &&
           (!memcmp(text, "iso_", 4) || !memcmp(text, "ISO_", 4));
}

bool kernel_check_name(kernel_reader *r, kernel_name_place place, const char *what)
{
    const char *text = r->text + r->token.at;
    int64_t length = r->token.length;
    bool plain = r->token.kind == KERNEL_WORD;

    for (int64_t i = 0; i < length && plain; i++) {
        plain = text[i] != '$' && !(text[i] & 0x80);
    }
    if (!plain) {
        kernel_fail(r, r->token.line,
                    "\"%.*s\" is no name of %s: use letters, digits and _, and no digit first",
                    kernel_shown_length(r), kernel_shown(r), what);
    } else if (length >= KERNEL_NAME_MAX) {
        kernel_fail(r, r->token.line, "the name %.*s of %s has %lld bytes: at most %d",
                    kernel_shown_length(r), kernel_shown(r), what, (long long)length,
                    KERNEL_NAME_MAX - 1);
    } else if (kernel_is_reserved(r)) {
        kernel_fail(r, r->token.line,
                    "the name %.*s of %s begins with iso_, which is kept for isomer: use another",
                    kernel_shown_length(r), kernel_shown(r), what);
    } else {
        check_reserved(r, r, place, what);
    }
    return !r->status;
}

void kernel_read_name(kernel_reader *r, kernel_name_place place, const char *what,
                      char name[KERNEL_NAME_MAX])
{
    if (kernel_check_name(r, place, what)) {
        memcpy(name, r->text + r->token.at, (size_t)r->token.length);
        name[r->token.length] = 0;
        kernel_next(r);
    }
}
