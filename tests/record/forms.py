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
                            ("joules", (result["energy"] or {}).get("joules")),
                            ("watts", (result["energy"] or {}).get("watts")),
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
    for word in ("**FAILED**", "error", "unsupported", "FAKE", "| 400 |"):
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
    check_answers(root, made("table", path, "200"))
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
        for word in ("FAILED", "FAKE", "Without a number", "Devices and their roofs", "Energy"):
            if word not in plain:
                fail("the table does not say %s at %d" % (word, width))
        if any(line.count("*") > 1 for line in plain.split("\n")):
            fail("two are the fastest of a row at %d" % width)
        if width >= 80 and not re.search(r"\n cuda:0 +copy tiled f32 1Mi +400 +[0-9.]+ [mu]?J +[0-9.]+ GB/J\n", plain):
            fail("the table has no energy at %d" % width)
        if "cuda:0: 102 W at rest" not in plain:
            fail("the table does not say the power at rest at %d" % width)
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


def check_answers(root, text):
    """The sentence about f32 products names the fastest device with its rate and the ratios."""
    rates = {}
    for r in root["results"]:
        if r["op"] == "gemm" and r["status"] == "ok" and r["device"] != "hip:0":
            key = (r["device"], r["size"])
            rates[key] = max(rates.get(key, 0), r["rates"]["gflops"]["value"])
    (device, size), top = max(rates.items(), key=lambda item: item[1])
    said = " ".join(text.split("\nIn short")[1].split())
    found = re.search(r"(\S+) is fastest at f32 products nt: ([0-9.]+) ([GT])FLOP/s at N = (\d+)", said)
    shown_rate = float(found[2]) * (1000 if found[3] == "T" else 1) if found else 0
    if abs(shown_rate - top) > .006 * top or (found[1], int(found[4])) != (device, size):
        fail("the fastest at products is %s at %d: %g; the table says: %s"
             % (device, size, top, said))
    sentence = said.split("f32 products", 1)[1].split(" is fastest", 1)[0]
    others = re.findall(r"([0-9.]+) times (\S+?:\d)(?: \(at (\d+)\))?", sentence)
    for ratio, other, at in others:
        at = int(at or size)
        if abs(float(ratio) - rates[device, at] / rates[other, at]) > .006 * float(ratio):
            fail("the ratio of %s at %d is said to be %s" % (other, at, ratio))
    if len(others) < 2 or said.count(". ") > 4 or "hip:0" in said.split("Fastest of")[0]:
        fail("the answers: " + said)


def check_signs():
    """A caution has one sign, an invalid number is not shown, and what most results of a device
    have is said once."""
    root = document.document()
    root["run"].update(noise=.23)
    for result in root["results"]:
        result["flags"] = ["fake"] if "fake" in result["flags"] else []
    ok = [r for r in root["results"]
          if r["op"] == "gemm" and r["device"] == "cuda:0" and r["status"] == "ok"]
    best = max(ok, key=lambda r: r["rates"]["gflops"]["value"])
    wide, plain, once = [r for r in ok if r is not best][:3]
    wide["flags"] = ["in-cache", "noisy"]
    wide["times"].update(low=.7 * wide["times"]["median"], high=1.3 * wide["times"]["median"])
    best["flags"] = ["clock-wrong"]
    plain["flags"] = ["submit-bound", "few-rounds", "power-limited"]
    once["times"].update(low=None, high=None, confidence=None, samples=[[once["times"]["median"]]])

    def written(what, *words):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(root, file)
            file.flush()
            return made(what, file.name, *words)
    text = written("table", "160")
    head, part = text.split("\n\n")[0], text.split("\nProducts")[1].split("\nSigns")[0]
    if part.count("!") != 1 or part.count("invalid") != 1:
        fail("not one ! and one invalid number: " + part)
    if " ".join(text.split()).count("noisy: the interval reaches") != 1 or "in-cache" in text:
        fail("the signs are not explained: " + text)
    for words in ("used 23 % of the processors", "hip:0 is a stand-in", "(intervals of 95 %)"):
        if words not in " ".join(head.split()):
            fail("the head does not say %s: %s" % (words, head))
    rows = list(csv.DictReader(io.StringIO(written("csv"), newline=""), strict=True))
    levels = {row["id"]: row["level"] for row in rows if row["device"] == "cuda:0"}
    if [levels[r["id"]] for r in (wide, best, plain, once)] != ["caution", "invalid", "info", ""]:
        fail("the levels of CSV are %s" % levels)
    lines = [x for x in written("markdown").split("\n") if "| cuda:0 |" in x and "| nt |" in x]
    if sum(" ! |" in x for x in lines) != 1 or sum("| invalid |" in x for x in lines) != 1:
        fail("the signs of Markdown: %s" % lines)
    if not any(re.search(r"us \| \| ", x) for x in lines):
        fail("Markdown shows an interval of one round: %s" % lines)
    for result in root["results"]:
        if result["device"] == "openmp:0" and result["times"]:
            result["flags"] = ["noisy"]
            t = result["times"]
            t.update(low=.7 * t["median"], high=1.3 * t["median"])
    text = written("table", "160")
    if not re.search(r"openmp:0: (\d+) of \1 results are unsteady", text) or text.count("!") != 2:
        fail("what a device's results have in common is not said once: " + text)
    for result in root["results"]:
        if result["op"] == "transpose":
            result.update(status="skipped", reason="no time", verified=None, times=None, rates=None,
                          roof=None, parts=None, clocks=None, flags=[])
    text = written("table", "160")
    if text.count("no time") != 1 or "4 results were not measured: no time (transpose/" not in text or (
            "Transposes" in text):
        fail("what was skipped is not said in one line: " + text)
    if any("| skipped |" in x for x in written("markdown").split("\n")):
        fail("Markdown has rows of what was skipped")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../bench/results/bench-full-h200.json")
    results, cautions, invalid = map(int, made("signs", path).split())
    if results < 800 or cautions * 10 > results or cautions == 0 or invalid:
        fail("of %d results of an H200 %d have a sign" % (results, cautions))
    with open(path) as file:
        rounds = [len(r["times"]["samples"]) for r in json.load(file)["results"] if r["times"]]
    if min(rounds) < 6:
        fail("a result of an H200 has %d rounds" % min(rounds))


def main():
    check_signs()
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
