/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forms.c - the readers and writers of bench/record, to be called one by one:
 *
 *     forms load FILE            loads it, and writes it as JSON
 *     forms csv FILE
 *     forms markdown FILE
 *     forms table FILE WIDTH [colour]
 *     forms run WORD...          what record_run says
 *     forms device SPEC          what record_device says
 *
 * The locale is the environment's, as in a program that calls setlocale.
 */
#include "record/record.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

const char *tool_name = "forms";

static int print_json(json_t *root)
{
    int code = root == NULL || json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(root);
    return code;
}

static int device(const char *spec)
{
    iso_device opened;
    if (iso_device_open(spec, &opened) != ISO_OK)
        return tool_error(TOOL_UNAVAILABLE, "%s", iso_last_error());
    int code = print_json(record_device(opened));
    iso_device_close(opened);
    return code;
}

int main(int argc, char **argv)
{
    int code = TOOL_OK;
    if (argc < 3 || setlocale(LC_ALL, "") == NULL)
        return TOOL_USAGE;
    if (strcmp(argv[1], "run") == 0)
        return print_json(record_run(argv[2], argc - 2, argv + 2));
    if (strcmp(argv[1], "device") == 0)
        return device(argv[2]);
    json_t *root = record_load(argv[2], &code);
    if (root == NULL)
        return code;
    if (strcmp(argv[1], "load") == 0)
        return print_json(root);
    if (strcmp(argv[1], "table") == 0)
        record_table(stdout, root, argc > 3 ? atoi(argv[3]) : 80, argc > 4);
    else if (strcmp(argv[1], "csv") == 0)
        code = record_csv(stdout, root) ? TOOL_OK : TOOL_IO;
    else
        code = record_markdown(stdout, root) ? TOOL_OK : TOOL_IO;
    json_decref(root);
    return code;
}
