#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errors.py --check | --write FILE.md: a page's tables of errors, from files of `isomer errors`.

A page marks a table's place by

    <!-- errors FILE MEASURE K TYPE:VARIANT... -->
    <!-- /errors -->

FILE is beside this script, MEASURE a member of `errors` in the file, K the number of terms. A row is an
input, a cell the largest error of all elements. VARIANT is one of `isomer errors --variant`, with the
first of the vendor's libraries. --write puts the table between the marks, --check ends
with 1 if it is another one. What was not measured is a dash.
"""
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def title(result, kind, variant):
    library = (result["library"] or "").split("(")[0].strip()
    return {"vendor": f"{library} {kind}", "tf32": f"{library} TF32",
            "model": "TF32, a model"}.get(variant, f"`{variant}` {kind}")


def is_of(result, kind, variant):
    by = "tf32" if (result["variant"], result["math"]) == ("vendor", "tf32") else result["variant"]
    return (result["dtype"], by) == (kind, variant)


def number(value):
    return "–" if value is None else re.sub("e-0", "e-", f"{value:.1e}").replace("e+00", "")


def table(name, measure, terms, columns):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        results = [r for r in json.load(file)["results"] if r["shape"]["k"] == terms]
    inputs = list(dict.fromkeys(r["input"] for r in results))
    titles, cells = [], {}
    for column in columns:
        kind, variant = column.split(":")
        found = [r for r in results if is_of(r, kind, variant)]
        if not found:
            sys.exit(f"{name} has no results of {column} with K = {terms}")
        titles.append(title(found[0], kind, variant))
        for r in found:
            value = r["errors"][measure]["largest"] if r["status"] == "ok" else None
            cells.setdefault((r["input"], column), number(value))
    return "\n".join(["| input | " + " | ".join(titles) + " |", "|---|" + "---:|" * len(columns)] +
                     [f"| `{i}` | " + " | ".join(cells[i, c] for c in columns) + " |" for i in inputs])


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--check", "--write"):
        sys.exit(__doc__)
    page = sys.argv[2]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    mark = re.compile(r"(<!-- errors (\S+) (\S+) (\d+) ([^>]*) -->\n).*?(<!-- /errors -->)", re.S)
    made, count = mark.subn(
        lambda m: m.group(1) + table(m.group(2), m.group(3), int(m.group(4)), m.group(5).split()) +
        "\n" + m.group(6), text)
    if count == 0:
        sys.exit(f"{page} has no place for a table of errors")
    if sys.argv[1] == "--write":
        with open(page, "w", encoding="utf-8") as file:
            file.write(made)
    elif made != text:
        sys.exit(f"{page} does not show what its results files hold: run {sys.argv[0]} --write {page}")


main()
