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

static void check_reserved(kernel_reader *r, const kernel_reader *word, kernel_name_place place,
                           const char *what)
{
    const char *text = word->text + word->token.at;
    const int64_t length = word->token.length;
    /* The words of C may follow the type of a variable: `i64 const n`. */
    const size_t first = place == KERNEL_NAME_VARIABLE ? 1 : 0;
    const char *whose = find(words + first, sizeof words / sizeof *words - first, text, length);

    if (!whose && place == KERNEL_NAME_OUTSIDE) {
        whose = find(outside, sizeof outside / sizeof *outside, text, length);
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
    } else if (length >= 4 && (!memcmp(text, "iso_", 4) || !memcmp(text, "ISO_", 4))) {
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
