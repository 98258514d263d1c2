/* SPDX-License-Identifier: Apache-2.0 */
/* check_words.c - what the judge's program found, in words, with the lines of the text. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *what, *advice;
} kinds[JUDGE_KINDS] = {
    [JUDGE_RACE] = {"a race inside a region on %s",
                    "write it in one region and read it in the next, or use atomics for both"},
    [JUDGE_RACE_GROUPS] = {"a race between groups on %s",
                           "give each group places of its own, or use atomics for both; a second "
                           "launch sees what the first one wrote"},
    [JUDGE_BOUNDS] = {"an access out of bounds: %s",
                      "test the index before the access, or give the array more elements"},
    [JUDGE_OTHER_OWN] = {"an own value of another item: %s",
                         "use iso_mine(), or a shared array to pass values between items"},
    [JUDGE_UNSET] = {"%s is read before it is set", "set it in an earlier region or statement"},
    [JUDGE_WRITE_BETWEEN] = {"code between regions writes %s",
                             "write it in a region, by one item: if (i == 0)"},
    [JUDGE_READ_BETWEEN] = {"a non-uniform branch or value: code before a region reads %s, which "
                            "the region writes",
                            "some items would see the new value and leave the others waiting: read "
                            "it in a region, or write another place"},
    [JUDGE_OVERFLOW] = {"an integer overflow: %s",
                        "use i64, or unsigned integers, which wrap around"},
    [JUDGE_SHIFT] = {"a shift out of range: %s", "shift by less than the width"},
    [JUDGE_DIVISION] = {"a division that has no result: %s", "test the divisor before"},
    [JUDGE_CONVERSION] = {"a conversion out of range",
                          "test the value before: the type that it is converted to lacks it"},
    [JUDGE_INDEX] = {"an index outside of an array: %s", "test the index before"},
    [JUDGE_CRASH] = {"the kernel crashes", "look for an address that is far out of bounds"},
    [JUDGE_HANG] = {"the kernel does not end within the time", "look for a loop without an end"}};

/* ".z" of a vector, or a byte of a struct. */
static void member_of(const describe_parameter *p, int64_t offset, char text[32])
{
    text[0] = '\0';
    if (p->scalar == DESCRIBE_STRUCT) {
        snprintf(text, 32, " (byte %lld of it)", (long long)offset);
    } else if (p->lanes > 1) {
        snprintf(text, 32, ".%c", "xyzw"[offset / describe_scalar_bytes(p->scalar)]);
    }
}

static char *place_of(const check_scene *s, const judge_finding *found)
{
    char member[32];
    if (found->param < 0) {
        return strdup(found->note);
    }
    const describe_parameter *p = &s->item->of->parameters[found->param];
    member_of(p, found->offset, member);
    if (p->is.role == ISO_PARAMETER_OWN) {
        return check_text("the own value %s%s", p->is.name, member);
    }
    char *place = check_text("%s[%lld]%s", p->is.name, (long long)found->index, member);
    if (found->kind == JUDGE_BOUNDS) {
        char *more =
            check_text("%s[%lld], and %s has %lld element%s", p->is.name, (long long)found->index,
                       p->is.name, (long long)p->usable, p->usable == 1 ? "" : "s");
        free(place);
        place = more;
    }
    return place;
}

static char *who(const check_scene *s, const judge_access *access)
{
    const int32_t *size = s->item->of->kernel->info.items;
    const iso_groups *groups = &s->item->of->groups;
    const long long x = access->group % groups->x, y = access->group / groups->x % groups->y;
    const long long z = access->group / groups->x / groups->y;
    if (access->item < 0) {
        return check_text("code between regions, in group (%lld, %lld, %lld)", x, y, z);
    }
    return check_text("item (%d, %d, %d) of group (%lld, %lld, %lld)", access->item % size[0],
                      access->item / size[0] % size[1], access->item / size[0] / size[1], x, y, z);
}

static const char *does(const judge_access *access)
{
    return access->atomic ? "changes it by an atomic" : access->writes ? "writes it" : "reads it";
}

static char *details_of(const check_scene *s, const judge_finding *found, int line, int before)
{
    char *now = who(s, &found->now), *other = who(s, &found->before), *made;
    char region[64] = "", size[300] = "";
    if (found->now.item >= 0 && found->now.region) {
        snprintf(region, sizeof region, ", in the region of line %d", found->now.region);
    }
    if (s->item->of->size[0]) {
        snprintf(size, sizeof size, "\nwith %s", s->item->of->size);
    }
    if (found->before.pc) {
        made = check_text("%s %s on line %d%s;\n%s %s on line %d%s", now, does(&found->now), line,
                          region, other, does(&found->before), before, size);
    } else if (found->param >= 0) {
        made = check_text("%s %s%s%s", now, does(&found->now), region, size);
    } else {
        made = check_text("%s%s%s", now, region, size);
    }
    free(now);
    free(other);
    return made;
}

/* The table's texts have at most one %s. */
static char *what_of(judge_kind kind, const char *place)
{
    const char *text = kinds[kind].what, *mark = strstr(text, "%s");
    return mark ? check_text("%.*s%s%s", (int)(mark - text), text, place, mark + 2) : strdup(text);
}

/* The array of a sum over a group or a team is what is wrong, and no index of the text. */
static const char *advice_of(const check_scene *s, const judge_finding *found, int line)
{
    static const char *const advice[] = {
        "ISO_GROUP_SUM needs an element for each item of the group",
        "ISO_GROUP_MIN needs an element for each item of the group",
        "ISO_GROUP_MAX needs an element for each item of the group",
        "ISO_TEAM_SUM needs an element for each item of the group",
        "ISO_TEAM_MIN needs an element for each item of the group",
        "ISO_TEAM_MAX needs an element for each item of the group"};
    const char *text = s->run->unit->args.text;
    for (int i = 1; i < line && text; i++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    const size_t length = text ? strcspn(text, "\n") : 0;
    const bool shared = found->kind == JUDGE_BOUNDS && found->param >= 0 &&
                        s->item->of->parameters[found->param].is.role == ISO_PARAMETER_SHARED;
    for (size_t i = 0; i < sizeof advice / sizeof advice[0] && shared && line; i++) {
        const size_t word = strcspn(advice[i], " ");
        for (size_t at = 0; at + word <= length; at++) {
            if (strncmp(text + at, advice[i], word) == 0) {
                return advice[i];
            }
        }
    }
    return kinds[found->kind].advice;
}

static void add(const check_scene *s, const judge_finding *found, int line, int before)
{
    const describe_kernel *kernel = s->item->of->kernel;
    const int low = before && before < line ? before : line;
    const int high = before > line ? before : line;
    char *key = check_text("%s %d %d %d %d", kernel->name, found->kind, found->param, low,
                           found->before.pc ? high : 0);
    check_finding *known = check_known(s->run, key);
    if (known && !s->reversed) {
        known->count += found->count;
    }
    check_finding *made = known ? NULL : check_find(s->run, check_judge, key, line, kernel->name);
    if (made) {
        char *place = place_of(s, found);
        made->kind = found->kind;
        made->param = found->param;
        made->what = what_of((judge_kind)found->kind, place);
        made->details = details_of(s, found, line, before);
        made->advice = advice_of(s, found, line);
        made->count = found->count;
        free(place);
    }
    free(key);
}

void check_add_findings(const check_scene *s, const char *program, const judge_end *end,
                        const judge_finding *findings)
{
    const int count = end->finding_count;
    uint64_t *pcs = tool_alloc((size_t)count * 2 + 1, sizeof *pcs, "the findings");
    int *lines = tool_alloc((size_t)count * 2 + 1, sizeof *lines, "the findings");
    for (int i = 0; i < count; i++) {
        pcs[2 * i] = findings[i].now.pc;
        pcs[2 * i + 1] = findings[i].before.pc ? findings[i].before.pc : findings[i].now.pc;
    }
    check_lines(s->run, program, pcs, 2 * count, lines);
    for (int i = 0; i < count; i++) {
        add(s, &findings[i], lines[2 * i], findings[i].before.pc ? lines[2 * i + 1] : 0);
    }
    free(pcs);
    free(lines);
}
