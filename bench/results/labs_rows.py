#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""labs_rows.py --check | --write: the table of the labs' rows in docs/labs.md, from results files.

It stands between <!-- rows FILE... --> and <!-- /rows -->, where the files are in this folder. A line shows one
figure of a row for each device, at the size that its words name or else the largest, and what the labs' Python
programs took for it in the first file's run. Times of stand-ins mean nothing: there it says only whether the
row's results were right. --write puts the table there; --check ends with 1 if it is another one.
"""
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
PAGE = os.path.join(ROOT, "docs", "labs.md")

# A row: what is shown in words, the ways of isomer, the type, the figure, and the ways of the peers with
# their figure. The first way that a device has counts.
ROWS = [
    ("A1", "transpose f64, N = 10240, tiled", ["tiled"], "f64", "rate", ["transpose_item"], "rate"),
    ("A2", "product f32, N = 5120, naive", ["naive"], "f32", "rate", ["naive, as in Numba's guide", "naive"], "rate"),
    ("A3", "product f32, N = 5120, tiled", ["tiled"], "f32", "rate", ["tiled, as in Numba's guide", "tiled"], "rate"),
    ("A4", "product f32, N = 5120, with all copies", ["vendor"], "f32", "total", ["vendor"], "total"),
    ("A5", "wrapping a matrix, N = 5120", ["DLPack"], "f32", "wrap", ["PyTorch's memory in CuPy"], "wrap"),
    ("B1", "ten products in TF32, N = 15000", ["TF32", "strict"], "f32", "time", ["tf32", "strict"], "time"),
    ("B2", "asked for TF32", ["asked for TF32"], "f32", None, [], None),
    ("C1", "4096² products f32", ["the student's"], "f32", "kernel", ["multiply_stride"], "kernel"),
    ("C2", "64 MiB to the device", ["moving"], "f32", "write", ["pageable"], "write"),
    ("C3", "sum of 512 in one group: its error", ["one group"], "f32", "error", ["sum_512"], "error"),
    ("C4", "sum of 192 in one group: its error", ["one group"], "f32", "error", ["sum_192"], "error"),
    ("C5", "sum of 2²⁸ f32, the tree", ["tree"], "f32", "kernel", ["vendor"], "kernel"),
    ("C6", "a limit of 64 MiB", ["a limit of 64 MiB"], None, None, [], None),
    ("D1", "product and column sums f32, ten times", ["vendor", "tiled"], "f32", "total", ["product then sums"], "total"),
    ("D2", "the same without the product", ["sums first"], "f32", "total", ["einsum"], "total"),
    ("D3", "the same in one launch", ["sums first, in one launch"], "f32", "total", ["fused_product"], "total"),
    ("D4", "ridge regression, ten coefficients", ["tiled, together", "tiled"], "f32", "total", ["lsmr over [A; lambda I]", "lsmr"], "total"),
    ("D5", "diffusion 2000², a step", ["8 steps a launch", "a step a launch"], "f32", "step", ["diffuse"], "step"),
    ("E1", "200 million f64 added", ["the student's"], "f64", "rate", ["add"], "rate"),
    ("E2", "the first call", ["the student's"], "f64", "first", ["add"], "first"),
    ("E3", "pinned writes, the largest", ["pinned write", "pageable write"], None, "rate", ["pinned write"], "rate"),
    ("E4", "y = Ax, f64, N = 16384, by rows", ["tiled, by rows"], "f64", "rate", ["rows"], "rate"),
    ("E5", "roofline: rows placed", ["every row with flops and bytes"], None, "rows", [], None),
    ("E6", "time line: launches in it", ["a time line of E1"], None, "kernels", [], None),
]


def shown(unit, value):
    scales = {"s": [(1, "s"), (1e-3, "ms"), (1e-6, "µs"), (0, "ns")],
              "B/s": [(1e12, "TB/s"), (1e9, "GB/s"), (0, "MB/s")],
              "FLOP/s": [(1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (0, "MFLOP/s")]}
    divisors = {"ns": 1e-9, "MB/s": 1e6, "MFLOP/s": 1e6}
    for least, word in scales.get(unit, []):
        if value >= least:
            number = value / (least or divisors[word])
            return f"{number:.3g} {word}" if number < 1000 else f"{number:.0f} {word}"
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"


def size_of(entry):
    sizes = [v for k, v in entry["case"].items() if k not in ("what", "dtype", "steps") and not isinstance(v, str)]
    return max(sizes, default=0)


# The size that a line's words name, where they do not say "N = ...".
SIZES = {"B1": 15000, "C5": 1 << 28, "D1": 10000, "D2": 10000, "D3": 10000, "D4": 15000, "E1": 200000000, "E2": 200000000}


def smaller(row, text, entry):
    """Says so if the device had a smaller size."""
    named = re.search(r"N = (\d+)", text)
    wanted = int(named.group(1)) if named else SIZES.get(row, 0)
    name = "m" if "m" in entry["case"] else "n"
    return f" (at {name} = {size_of(entry)})" if size_of(entry) < wanted else ""


def cell(row, text, entries, ways, dtype, figure):
    for way in ways:
        found = [e for e in entries if e["case"]["what"] == way and (not dtype or e["case"].get("dtype") == dtype)]
        good = [e for e in found if e["status"] == "ok"]
        if not good:
            continue
        if not figure:
            return "ok"
        best = max(good, key=size_of)
        value = next((f for f in best["figures"] if f["name"] == figure), None)
        if value and value["value"] is not None:
            other = "" if way == ways[0] or row == "D1" else f" ({way})"
            return shown(value["unit"], value["value"]) + other + smaller(row, text, best)
    found = [e for e in entries if e["case"]["what"] in ways]
    return found[0]["status"] if found else "–"


def only(entries, row, text):
    """Of products with several sizes, the one that the line's words name, if it ran."""
    named = re.search(r"N = (\d+)", text)
    wanted = int(named.group(1)) if named else 0
    ran = {size_of(e) for e in entries if e["status"] == "ok"}
    return [e for e in entries if size_of(e) == wanted] if wanted in ran else entries


def verdict(entries):
    """Of a device whose times mean nothing."""
    if not entries:
        return "–"
    bad = [e for e in entries if e["status"] in ("failed", "error")]
    return "failed" if bad else "right" if any(e["status"] == "ok" for e in entries) else entries[0]["status"]


def column(device, entries, words):
    row, text, ways, dtype, figure = words
    mine = [e for e in entries if e["row"] == row and e["by"] == "isomer" and e["device"] == device["spec"]]
    timed = device.get("tier") not in ("stand-in", "simulator")
    return cell(row, text, only(mine, row, text), ways, dtype, figure) if timed else verdict(mine)


def peer(entries, row, text, ways, dtype, figure):
    theirs = [e for e in entries if e["row"] == row and e["by"] != "isomer" and "NumPy" not in e["by"]]
    theirs = only(theirs, row, text)
    if not ways or not theirs:
        return "–"
    by = next((e["by"].split()[0] + " " for e in theirs if e["case"]["what"] in ways and e["status"] == "ok"), "")
    return by + cell(row, text, theirs, ways, dtype, figure).split(" (")[0]


def table(files):
    roots = []
    for name in files:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            roots.append(json.load(file))
    columns = [(d, root["labs"]) for root in roots for d in root["devices"]
               if sum(e["device"] == d["spec"] and e["by"] == "isomer" for e in root["labs"]) > 1]
    lines = ["| row | what is shown | " + " | ".join(f"`{d['spec']}` {d['name']}" for d, _ in columns) + " | the labs' Python |",
             "|---|---|" + "---|" * (len(columns) + 1)]
    for row, text, ways, dtype, figure, theirs, their_figure in ROWS:
        cells = [column(d, entries, (row, text, ways, dtype, figure)) for d, entries in columns]
        cells.append(peer(roots[0]["labs"], row, text, theirs, dtype, their_figure))
        lines.append(f"| {row} | {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    made = re.sub(r"<!-- rows ([^\n]+) -->\n.*?<!-- /rows -->",
                  lambda m: f"<!-- rows {m.group(1)} -->\n{table(m.group(1).split())}\n<!-- /rows -->", page, flags=re.S)
    if sys.argv[1] == "--check":
        sys.exit(0 if made == page else "docs/labs.md: the table of rows is not that of its file: "
                                        "run bench/results/labs_rows.py --write")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main()
