/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - what every other header needs: the version, export macros and limits.
 *
 * Conventions of the whole library:
 *
 * - A call that can fail returns an iso_status. Out-parameters come last and are written on
 *   success. On failure a handle out-parameter is set to zero and any other is left unchanged.
 * - Sizes, counts, leading dimensions and offsets are int64_t. Every product of them is checked for
 *   overflow.
 * - A handle is a small value. Zero is never a valid handle. A handle that was destroyed, that
 *   belongs to another kind of object, or that was opened before a fork() gives ISO_INVALID.
 * - Every public struct that may grow begins with `uint32_t size`, which its ISO_..._INIT macro
 *   sets. The macro is an initialiser in C11, and a value in C++11 and newer. A struct from a
 *   program built against an older header is shorter: the library extends it with zeros. A struct
 *   from a newer header is accepted if the part that this library does not know is all zero.
 * - A field `reserved` has no meaning. It must be 0 in a struct that the caller fills, or the call
 *   is INVALID; it is set to 0 in a struct that the library fills.
 * - Every function may be called from several threads at once unless its comment says otherwise.
 *   Operations submitted to one stream by several threads run one after another, in an unspecified
 *   order.
 * - The calling thread's floating-point settings (rounding, subnormals, traps) change no result and
 *   are left as they were.
 * - No call aborts, exits or prints (only ISOMER_LOG makes the library write to stderr).
 */
#ifndef ISOMER_BASE_H
#define ISOMER_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The only place that states the version: the build and the documents read it here. */
#define ISO_VERSION_MAJOR  0
#define ISO_VERSION_MINOR  2
#define ISO_VERSION_PATCH  0
#define ISO_VERSION_STRING "0.2.0-dev"

/* In front of each function that the library exports. */
#if defined(ISO_BUILDING_LIBRARY)
#define ISO_API __attribute__((visibility("default")))
#else
#define ISO_API
#endif

/* Around the declarations of a header, for C++. */
#ifdef __cplusplus
#define ISO_BEGIN_DECLS extern "C" {
#define ISO_END_DECLS   }
#else
#define ISO_BEGIN_DECLS
#define ISO_END_DECLS
#endif

/* Lets compilers check the arguments of a function that formats as printf does. */
#if defined(__GNUC__)
#define ISO_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define ISO_PRINTF(format_index, first_argument)
#endif

/* What an ISO_..._INIT macro expands to: the size, up to two defaults, and zeros. C++ needs a
 * function: it has no designated initialisers before C++20, and its compilers warn about members
 * that are left out. */
#ifdef __cplusplus
#define ISO_INIT_SIZED(type, set)                                                                  \
    ([]() -> type {                                                                                \
        type iso_made = type();                                                                    \
        iso_made.size = static_cast<uint32_t>(sizeof(type));                                       \
        set return iso_made;                                                                       \
    }())
#define ISO_INIT_OF(type)                  ISO_INIT_SIZED(type, )
#define ISO_INIT_OF_1(type, member, value) ISO_INIT_SIZED(type, iso_made.member = value;)
#define ISO_INIT_OF_2(type, member, value, other, its_value)                                       \
    ISO_INIT_SIZED(type, iso_made.member = value; iso_made.other = its_value;)
#else
#define ISO_INIT_OF(type)                  {.size = (uint32_t)sizeof(type)}
#define ISO_INIT_OF_1(type, member, value) {.size = (uint32_t)sizeof(type), .member = (value)}
#define ISO_INIT_OF_2(type, member, value, other, its_value)                                       \
    {.size = (uint32_t)sizeof(type), .member = (value), .other = (its_value)}
#endif

/* Sizes of text fields in public structs. Every text is NUL-terminated and cut to fit. */
enum {
    ISO_SPEC_MAX = 512,   /* an entry of a list of specs */
    ISO_NAME_MAX = 128,   /* names of backends, devices, libraries, kernels */
    ISO_NOTE_MAX = 256,   /* a note of one or two sentences */
    ISO_REASON_MAX = 4096 /* why something is not available, with every path that was tried */
};

ISO_BEGIN_DECLS

/* The version of the loaded library: "major.minor.patch", followed by "-dev" until it is released.
 * Static; never NULL. */
ISO_API const char *iso_version(void);

ISO_END_DECLS

#endif
