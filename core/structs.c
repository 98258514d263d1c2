/* SPDX-License-Identifier: Apache-2.0 */
/* structs.c - structs of programs that were built against an older or a newer header. */
#include "core/structs.h"
#include "core/error.h"

#include <string.h>

enum { SIZE_LIMIT = 65536 }; /* a larger `size` is garbage, and its tail is not read */

iso_status core_struct_check(const char *call, const char *name, const void *out, size_t least)
{
    uint32_t size;

    if (!out) {
        return core_fail(ISO_INVALID, "%s: %s is NULL: pass a struct whose size is set", call,
                         name);
    }
    memcpy(&size, out, sizeof size);
    if (size < least) {
        return core_fail(ISO_INVALID,
                         "%s: %s->size is %u, but its first fields take %zu bytes: begin with its "
                         "ISO_..._INIT macro",
                         call, name, size, least);
    }
    if (size > SIZE_LIMIT) {
        return core_fail(ISO_INVALID,
                         "%s: %s->size is %u, which is not a valid size: begin with its "
                         "ISO_..._INIT macro",
                         call, name, size);
    }
    return ISO_OK;
}

iso_status core_struct_read(const char *call, const char *name, const void *from, size_t least,
                            void *to, size_t known)
{
    const unsigned char *bytes = from;
    iso_status status = core_struct_check(call, name, from, least);
    uint32_t size;

    if (status) {
        return status;
    }
    memcpy(&size, from, sizeof size);
    for (size_t i = known; i < size; i++) {
        if (bytes[i]) {
            return core_fail(ISO_INVALID,
                             "%s: %s->size is %u, and byte %zu is %u: this library knows %zu bytes "
                             "of it (version %s), and what it does not know must be zero",
                             call, name, size, i, bytes[i], known, ISO_VERSION_STRING);
        }
    }
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return ISO_OK;
}

iso_status core_check_reserved(const char *call, const char *name, uint32_t value)
{
    if (value) {
        return core_fail(
            ISO_INVALID,
            "%s: %s->reserved is %u: leave it 0, for what later versions may put there", call, name,
            value);
    }
    return ISO_OK;
}

void core_struct_write(void *out, const void *from, size_t known)
{
    uint32_t size;

    memcpy(&size, out, sizeof size);
    memset(out, 0, size);
    memcpy(out, from, size < known ? size : known);
    memcpy(out, &size, sizeof size);
}
