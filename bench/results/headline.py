#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headline.py [--check | --write] FILE.md: the tables of a page that come from results files.

A page marks a table's place, and from which file it is, by

    <!-- headline bench/results/NAME.json -->
    <!-- /headline -->

--write puts the table between the marks, --check ends with 1 where it is another one. A row is an
operation at the largest size that every device has which has the operation at all; a cell is the
rate and its share of the device's roof. Results that are not `ok` are a dash, and unverified ones
do not exist.
"""
import json
import os
import re
import sys

ROWS = [
    ("copy on the device", "transfer", "copy", None, ("device",), "gbps"),
    ("triad f64", "stream", "triad", "f64", ("tiled", "naive"), "gbps"),
    ("sum f32", "reduce", "sum", "f32", ("tiled",), "gbps"),
    ("transpose f32", "transpose", None, "e4", ("tiled",), "gbps"),
    ("product f32, isomer's", "gemm", None, "f32", ("tiled",), "gflops"),
    ("product f32, the vendor's", "gemm", None, "f32", ("vendor",), "gflops"),
    ("product f64, isomer's", "gemm", None, "f64", ("tiled",), "gflops"),
    ("product f64, the vendor's", "gemm", None, "f64", ("vendor",), "gflops"),
    ("product f16, the vendor's", "gemm", None, "f16", ("vendor",), "gflops"),
]


def matching(results, op, kind, dtype, variants):
    for r in results:
        if r["op"] != op:
            continue
        shape = r["shape"]
        square = op != "gemm" or shape["m"] == shape["n"] == shape["k"] and shape["batch"] == 1
        whole = r["layout"].get("axis", "all") == "all"
        straight = r["layout"].get("trans_a", "n") + r["layout"].get("trans_b", "n") == "nn"
        if (r["variant"] in variants and r["status"] == "ok" and square and whole
                and straight and r["math"] == "strict" and r["cache"] == "hot"
                and (kind is None or r["kind"] == kind) and (dtype is None or r["dtype"] == dtype)):
            yield r


def digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rate(value, unit):
    if unit == "gflops":
        return f"{digits(value / 1000)} TFLOP/s" if value >= 1000 else f"{digits(value)} GFLOP/s"
    return f"{digits(value)} GB/s"


def size(result):
    shape = result["shape"]
    if "m" in shape:
        return f"N = {shape['m']}"
    if "rows" in shape and result["op"] == "transpose":
        return f"N = {shape['rows']}"
    count = shape.get("bytes") or shape.get("elements") or shape["rows"] * shape["cols"]
    for power, unit in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
        if count % (1 << power) == 0:
            return f"{count >> power}{unit}{'B' if 'bytes' in shape else ''}"
    return str(count)


def table(path):
    with open(path) as file:
        document = json.load(file)
    devices, results = document["devices"], document["results"]
    lines = ["| | size | " + " | ".join(f"`{d['spec']}` {d['name']}" for d in devices) + " |",
             "|---|---|" + "---|" * len(devices)]
    for title, op, kind, dtype, variants, unit in ROWS:
        found = list(matching(results, op, kind, dtype, variants))
        have = {r["device"] for r in found}
        common = [s for s in {r["size"] for r in found}
                  if {r["device"] for r in found if r["size"] == s} == have]
        if not common:
            continue
        cells, at = [], None
        for device in devices:
            rows = [r for r in found if r["device"] == device["spec"] and r["size"] == max(common)]
            if not rows:
                cells.append("–")
                continue
            at = best = max(rows, key=lambda r: r["rates"][unit]["value"])
            share = f", {best['roof']['percent']:.0f} %" if best["roof"] else ""
            by = f" ({best['library']})" if "vendor" in variants else ""
            cells.append(f"{rate(best['rates'][unit]['value'], unit)}{share}{by}")
        lines.append(f"| {title} | {size(at)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--check", "--write"):
        sys.exit(__doc__)
    page = sys.argv[2]
    root = os.path.dirname(os.path.abspath(page))
    with open(page) as file:
        text = file.read()
    mark = re.compile(r"(<!-- headline (\S+) -->\n).*?(<!-- /headline -->)", re.S)
    made, count = mark.subn(
        lambda m: m.group(1) + table(os.path.join(root, m.group(2))) + "\n" + m.group(3), text)
    if count == 0:
        sys.exit(f"{page} has no place for a headline")
    if sys.argv[1] == "--write":
        with open(page, "w") as file:
            file.write(made)
    elif made != text:
        sys.exit(f"{page} does not show what its results files hold: run {sys.argv[0]} --write {page}")


main()
