/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - words of bodies that are mistakes: those that begin with iso_ or ISO_ and are none of
 * the language, which a compiler would report at the link, and those of one compiler alone. */
#include "core/kernel/parse.h"

#include <string.h>

enum { NEAR_LEAST = 6 }; /* bytes that a word has in common with the one that is suggested */

static const char words[] =
    " iso_x iso_y iso_z iso_group_x iso_group_y iso_group_z iso_groups_x iso_groups_y iso_groups_z "
    "iso_mine iso_fma_f32 iso_fma_f64 iso_div_f32 iso_div_f64 iso_sqrt_f32 iso_sqrt_f64 "
    "iso_exp_f32 iso_exp_f64 iso_bits_f32 iso_bits_f64 iso_from_bits_f32 iso_from_bits_f64 "
    "iso_i32x2 iso_i32x4 iso_u32x2 iso_u32x4 iso_i64x2 iso_i64x4 iso_u64x2 iso_u64x4 iso_f32x2 "
    "iso_f32x4 iso_f64x2 iso_f64x4 iso_atomic_add_i32 iso_atomic_add_u32 iso_atomic_add_i64 "
    "iso_atomic_add_u64 iso_atomic_min_i32 iso_atomic_min_u32 iso_atomic_min_i64 "
    "iso_atomic_min_u64 iso_atomic_max_i32 iso_atomic_max_u32 iso_atomic_max_i64 "
    "iso_atomic_max_u64 iso_atomic_add_f32 iso_atomic_add_f64 ISO_REGION ISO_REGION_2 ISO_REGION_3 "
    "ISO_GROUP_SUM ISO_GROUP_MIN "
    "ISO_GROUP_MAX ISO_TEAM_SUM ISO_TEAM_MIN ISO_TEAM_MAX ISO_KERNEL ISO_FUNCTION ISO_STRUCT "
    "ISO_IN ISO_OUT ISO_INOUT ISO_SHARED ISO_OWN ISO_EXTENT ISO_AT_LAUNCH ";

static int64_t common(const char *a, int64_t a_length, const char *b, int64_t b_length)
{
    int64_t same = 0;

    while (same < a_length && same < b_length && a[same] == b[same]) {
        same++;
    }
    return same;
}

/* Whether the word begins with iso_ or ISO_ and is none of the language. `near` gets the one that
 * is meant, or NULL. */
static bool is_unknown(const kernel_reader *word, const char **near, int *near_length)
{
    const char *text = word->text + word->token.at;
    const int64_t length = word->token.length;
    int64_t best = NEAR_LEAST - 1;

    *near = NULL;
    *near_length = 0;
    if (!kernel_is_reserved(word) || text[length - 1] == '_') {
        return false;
    }
    for (const char *at = words + 1; *at; at += strcspn(at, " ") + 1) {
        const int64_t bytes = (int64_t)strcspn(at, " ");
        const int64_t same = common(text, length, at, bytes);

        if (same == length && same == bytes) {
            return false;
        }
        if (same > best) {
            best = same;
            *near = at;
            *near_length = (int)bytes;
        }
    }
    return true;
}

void kernel_check_word(kernel_reader *r, const kernel_reader *word, const char *user)
{
    kernel_reader given = *word;
    const char *near, *better = kernel_instead(word);
    int near_length;
    bool takes = false;

    given.defined = r->defined;
    if (word->token.kind != KERNEL_WORD || kernel_is_macro(&given, &takes)) {
        return;
    }
    if (is_unknown(word, &near, &near_length)) {
        kernel_fail(r, word->token.line, "%s uses %.*s, which is not in the language%s%.*s%s", user,
                    kernel_shown_length(word), kernel_shown(word), near ? "; did you mean " : "",
                    near_length, near ? near : "", near ? "?" : ": isomer/kernel.h has them");
    } else if (better) {
        kernel_fail(r, word->token.line, "%s uses %.*s, which is not in the language: %s", user,
                    kernel_shown_length(word), kernel_shown(word), better);
    }
}
