/* SPDX-License-Identifier: Apache-2.0 */
/* races.c - places that two items of a region, or two groups, use at once. */
#include "tests/kernels/conformance/parts.h"

/* Whether another item of this region, or another group, was the last. Groups never share what is
 * in a shared array. */
static bool is_other(const model_state *s, const model_symbol *symbol, const model_use *use)
{
    const bool other_group = symbol->role != MODEL_SHARED && use->group != s->group_number;
    return use->group && (other_group || (use->region == s->region && use->item != s->item));
}

static void keep(const model_state *s, model_use *use)
{
    const bool again = use->group && use->region == s->region && use->item != s->item;
    *use = (model_use){.group = s->group_number, .region = s->region, .item = again ? -2 : s->item};
}

static void fail(model_state *s, int line, const model_symbol *symbol, int64_t index,
                 const char *what)
{
    model_fail(s->escape, line, "%s[%lld] %s", symbol->name, (long long)index, what);
}

void model_touch(model_state *s, int line, const model_symbol *symbol, int64_t index,
                 model_access access)
{
    model_race *race = &s->races[symbol->index][index];
    const bool scratch = symbol->role == MODEL_SHARED || symbol->role == MODEL_OWN;
    if (access != ACCESS_READ && (s->item < 0 || symbol->role == MODEL_IN)) {
        fail(s, line, symbol, index, "is written between regions, or is only read");
    }
    if (access != ACCESS_WRITE && scratch && race->wrote.group != s->group_number) {
        fail(s, line, symbol, index, "is read before it is written");
    }
    if (s->item < 0 || symbol->role == MODEL_OWN) {
        if (access == ACCESS_WRITE) {
            keep(s, &race->wrote);
        }
        return;
    }
    if (is_other(s, symbol, &race->wrote)) {
        fail(s, line, symbol, index, "is used by one item and written by another at once");
    }
    if (access != ACCESS_READ && is_other(s, symbol, &race->read)) {
        fail(s, line, symbol, index, "is written by one item and read by another at once");
    }
    if (access != ACCESS_ATOMIC && is_other(s, symbol, &race->atomic)) {
        fail(s, line, symbol, index, "is used with and without atomics at once");
    }
    keep(s, access == ACCESS_READ    ? &race->read
            : access == ACCESS_WRITE ? &race->wrote
                                     : &race->atomic);
}

void model_mark(model_state *s, const model_symbol *symbol, int64_t index, bool written)
{
    const model_use use = {.group = written ? s->group_number : 0, .region = s->region, .item = -1};
    s->races[symbol->index][index] = (model_race){.wrote = use};
}
