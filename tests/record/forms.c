/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forms.c - calls the readers and writers of bench/record one by one:
 *
 *     forms load FILE            loads it, and writes it as JSON
 *     forms csv FILE
 *     forms markdown FILE
 *     forms table FILE WIDTH [colour]
 *     forms signs FILE           how many results have a number, a caution, an invalid number
 *     forms run WORD...          the output of record_run
 *     forms device SPEC          the output of record_device
 *     forms damage FILE TURNS    damages it at random, and writes what is accepted in every form
 *
 * The locale is the environment's, as in a program that calls setlocale.
 */
#include "bench/record/record.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

const char *tool_name = "forms";

static int print_json(json_t *root)
{
    int code = !root || json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
    return code;
}

static int device(const char *spec)
{
    iso_device opened;
    if (iso_device_open(spec, &opened) != ISO_OK) {
        return tool_error(TOOL_UNAVAILABLE, "%s", iso_last_error());
    }
    int code = print_json(record_device(opened));
    iso_device_close(opened);
    return code;
}

static int count_signs(const json_t *root)
{
    const json_t *results = json_object_get(root, "results");
    int counts[RECORD_INVALID + 1] = {0};
    record_signs signs;
    record_signs_make(root, &signs);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        counts[RECORD_NONE] += strcmp(record_text(result, "status"), "ok") == 0;
        counts[record_sign(&signs, result)] += record_sign(&signs, result) != RECORD_NONE;
    }
    printf("%d %d %d\n", counts[RECORD_NONE], counts[RECORD_CAUTION], counts[RECORD_INVALID]);
    record_signs_free(&signs);
    return TOOL_OK;
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static size_t below(size_t n)
{
    return n > 0 ? (size_t)(next_random() % n) : 0;
}

/* A random value, mostly of a type that the member must not have. */
static json_t *surprise(void)
{
    static const double numbers[] = {0, -1, 1e308, 5e-324, -1e308, 1e18, 9.3e18, 1e300};
    switch (below(8)) {
    case 0:
        return json_null();
    case 1:
        return json_integer((json_int_t)next_random());
    case 2:
        return json_real(numbers[below(sizeof numbers / sizeof numbers[0])]);
    case 3:
        return json_string("");
    case 4:
        return json_string("\033[2J型,\"|\n and a word that is longer than any column is wide");
    case 5:
        return json_array();
    case 6:
        return json_object();
    default:
        return json_boolean(below(2));
    }
}

/* Changes a random member. */
static void damage(json_t *at)
{
    for (;;) {
        size_t count = json_is_object(at) ? json_object_size(at) : json_array_size(at);
        size_t chosen = below(count), place = 0;
        json_t *inside = json_is_array(at) ? json_array_get(at, chosen) : NULL;
        const char *key = NULL;
        void *i = json_is_object(at) ? json_object_iter(at) : NULL;
        for (; i && place < chosen; place++) {
            i = json_object_iter_next(at, i);
        }
        if (i) {
            key = json_object_iter_key(i);
            inside = json_object_iter_value(i);
        }
        if (count == 0) {
            return;
        }
        bool deeper = json_array_size(inside) + json_object_size(inside) > 0;
        if (deeper && below(12) > 0) {
            at = inside;
            continue;
        }
        if (key && below(4) == 0) {
            json_object_del(at, key);
        } else if (key) {
            json_object_set_new(at, key, surprise());
        } else {
            json_array_set_new(at, chosen, surprise());
        }
        return;
    }
}

static int damage_all(const json_t *root, int turns)
{
    int passed = 0;
    FILE *null = fopen("/dev/null", "w");
    for (int t = 0; null && t < turns; t++) {
        json_t *copy = json_deep_copy(root);
        for (size_t n = 1 + below(2); n > 0; n--) {
            damage(copy);
        }
        char *fault = record_fault(copy);
        if (!fault) {
            passed++;
            record_csv(null, copy);
            record_markdown(null, copy);
            record_table(null, copy, (int)below(200), below(2) == 0, NULL);
        }
        free(fault);
        json_decref(copy);
    }
    if (null) {
        fclose(null);
    }
    printf("%d of %d passed\n", passed, turns);
    /* Both outcomes must have occurred, or nothing was tested. */
    return passed > turns / 100 && passed < turns ? TOOL_OK : TOOL_FAILED;
}

int main(int argc, char **argv)
{
    int code = TOOL_OK;
    if (argc < 3 || !setlocale(LC_ALL, "")) {
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "run") == 0) {
        return print_json(record_run(argv[2], argc - 2, argv + 2));
    }
    if (strcmp(argv[1], "device") == 0) {
        return device(argv[2]);
    }
    json_t *root = record_load(argv[2], &code);
    if (!root) {
        return code;
    }
    if (strcmp(argv[1], "load") == 0) {
        return print_json(root);
    }
    if (strcmp(argv[1], "table") == 0) {
        record_table(stdout, root, argc > 3 ? atoi(argv[3]) : 80, argc > 4, NULL);
    } else if (strcmp(argv[1], "signs") == 0) {
        code = count_signs(root);
    } else if (strcmp(argv[1], "damage") == 0) {
        code = damage_all(root, argc > 3 ? atoi(argv[3]) : 100);
    } else if (strcmp(argv[1], "csv") == 0) {
        code = record_csv(stdout, root) ? TOOL_OK : TOOL_IO;
    } else {
        code = record_markdown(stdout, root) ? TOOL_OK : TOOL_IO;
    }
    json_decref(root);
    return code;
}
