# SPDX-License-Identifier: Apache-2.0
"""forms.py FORMS [LOCALE]: writes a document as CSV, Markdown and the table, and checks these."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

import document

forms, locale = sys.argv[1], (sys.argv[2:] + [None])[0]
bad = 0


def fail(text):
    global bad
    bad += 1
    print("FAIL: " + text)


def made(what, path, *words):
    environment = dict(os.environ, LC_ALL=locale or "C.UTF-8")
    return subprocess.run([forms, what, path, *words], env=environment, stdout=subprocess.PIPE,
                          check=True).stdout.decode()


def shown(text):
    """The text as CSV shows it: control sequences are escaped, a spreadsheet formula gets a '."""
    text = re.sub("[\x00-\x09\x0b-\x1f\x7f]", lambda m: "\\x%02x" % ord(m[0]), text)
    text = re.sub("[\x80-\x9f\u202a-\u202e]", lambda m: "\\u%04x" % ord(m[0]), text)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def check_csv(path, root):
    text = made("csv", path)
    if text.count("\r\n") != len(root["results"]) + 1:
        fail("CSV has lines that do not end as they should")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    if len(rows) != len(root["results"]):
        fail("CSV has %d rows, not %d" % (len(rows), len(root["results"])))
    names = {d["spec"]: d["name"] for d in root["devices"]}
    numbers = 0
    for row, result in zip(rows, root["results"]):
        if None in row or None in row.values():
            fail("a row has another number of fields than the header: %s" % row)
        times, rates = result["times"] or {}, result["rates"] or {}
        for name, value in [("gflops", (rates.get("gflops") or {}).get("value")),
                            ("gbps", (rates.get("gbps") or {}).get("value")),
                            ("median_ns", times.get("median")), ("low_ns", times.get("low")),
                            ("max_ns", times.get("max")), ("flops", result["work"]["flops"]),
                            ("bound", (result["verified"] or {}).get("bound")),
                            ("roof_percent", (result["roof"] or {}).get("percent"))]:
            if (float(row[name]) if row[name] else None) != value:
                fail("%s of %s is %r, not %r" % (name, result["id"], row[name], value))
            numbers += value is not None and value != int(value)
        for name in ("id", "kind", "dtype", "device", "library", "status", "reason"):
            if row[name] != (result[name] or ""):
                fail("%s is %r, not %r" % (name, row[name], result[name]))
        if row["device_name"] != shown(names[result["device"]]):
            fail("device_name is %r" % row["device_name"])
        if row["flags"].split() != result["flags"]:
            fail("flags are %r" % row["flags"])
        if row["layout"].split() != ["%s=%s" % pair for pair in result["layout"].items()]:
            fail("layout is %r" % row["layout"])
    if numbers < 100:
        fail("only %d numbers have decimals: the locale was not tried" % numbers)


def check_markdown(path, root):
    text = made("markdown", path)
    width = None
    for line in text.split("\n"):
        bars = len(re.findall(r"(?<!\\)\|", line))
        if line.startswith("|"):
            if width not in (None, bars):
                fail("a row of Markdown has %d bars, not %d: %s" % (bars, width, line))
            width = bars
        else:
            width = None
    rows = [line for line in text.split("\n") if line.startswith("|")]
    for word in ("**FAILED**", "error", "unsupported", "FAKE"):
        if not any(word in row for row in rows):
            fail("Markdown does not say " + word)
    results = [row for row in rows if re.match(r"\| [a-z]* \| [a-z]*\d* \| [0-9x]", row)]
    if len(results) != len(root["results"]):
        fail("Markdown has %d results, not %d" % (len(results), len(root["results"])))
    if re.search(r"\d,\d", re.sub(r"blas, ", "", text)):
        fail("a number of the Markdown has a comma")


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def check_table(path, root):
    for width in [40, 47, 60, 80, 100, 120, 160, 200, 300]:
        plain, colour = made("table", path, str(width)), made("table", path, str(width), "colour")
        bare = re.sub(r"\x1b\[[0-9;]*m", "", colour)
        for line in (plain + bare).split("\n"):
            if columns(line) > width:
                fail("a line of %d columns at %d: %s" % (columns(line), width, line))
            if any(unicodedata.category(c) == "Cc" for c in line):
                fail("a control character in the table: %r" % line)
        if colour.count("\x1b[0m") * 2 != colour.count("\x1b["):
            fail("a colour that does not end, at %d" % width)
        for word in ("FAILED", "FAKE", "Without a number", "Devices and their roofs"):
            if word not in plain:
                fail("the table does not say %s at %d" % (word, width))
        if any(line.count("*") > 1 for line in plain.split("\n")):
            fail("two are the fastest of a row at %d" % width)
        check_best(plain, root, width)


def check_best(text, root, width):
    """The number marked with * is the largest of each product, not counting fake devices."""
    fakes = [d["spec"] for d in root["devices"] if d["fake"]]
    best = {}
    for r in root["results"]:
        if r["op"] == "gemm" and r["status"] == "ok" and r["device"] not in fakes:
            best[r["size"]] = max(best.get(r["size"], 0), r["rates"]["gflops"]["value"])
    found = {}
    part = text.split("\nProducts")[1].split("\n\nSigns")[0]
    for line in part.split("\n"):
        size = re.match(r" (?:f32 +| +)(\d+) nt", line)
        star = re.search(r"([0-9.]+)(?: +[<>]?\d+%)?\*", line)
        if size and star:
            found[int(size.group(1))] = float(star.group(1))
    if set(found) != set(best):
        fail("at %d columns %s have a fastest, not %s" % (width, sorted(found), sorted(best)))
    for size, value in found.items():
        if abs(value - best[size]) > .006 * best[size]:
            fail("at %d columns the fastest of %d is %g, not %g" % (width, size, value, best[size]))


def main():
    for seed, scale in ((1, 1), (2, 1000)):
        root = document.document(seed, "bench", scale)
        root["devices"][3]["name"] = "\x1b[2J\r\u202ename\u009b\u0301"
        root["devices"][2]["name"] = "=cmd()|a name"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(root, file)
            file.flush()
            check_csv(file.name, root)
            check_markdown(file.name, root)
            if not locale:
                check_table(file.name, root)


main()
sys.exit(bad > 0)
