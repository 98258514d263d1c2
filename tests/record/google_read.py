# SPDX-License-Identifier: Apache-2.0
"""google_read.py FORMS FILE: a file of Google Benchmark becomes a results document with its values,
and a malformed one is refused with the path of the member."""
import copy
import json
import statistics
import subprocess
import sys

forms, path = sys.argv[1:3]
with open(path, encoding="utf-8") as opened:
    text = opened.read()
theirs = json.loads(text)
assert ": NaN" in text, "the sample has no NaN"


def load(root):
    made = subprocess.run([forms, "load", "-"], input=root if isinstance(root, str) else json.dumps(root),
                          capture_output=True, encoding="utf-8", check=False)
    return made.returncode, made.stdout and json.loads(made.stdout), made.stderr


def good(root):
    code, made, err = load(root)
    assert code == 0 and not err, err
    return {r["id"]: r for r in made["results"]}, made


def close(a, b):
    return abs(a - b) <= 1e-12 * abs(b)


def rounds(name, member):
    return [r[member] for r in theirs["benchmarks"] if r["name"] == name]


results, whole = good(text)
assert list(results) == ["copy/4096/real_time", "missing", "wait/iterations:5/manual_time"], list(results)
run = whole["run"]
assert run["program"].startswith("Google Benchmark") and run["flags"] == ["foreign"], run
assert run["host"]["name"] == theirs["context"]["host_name"], run
assert [d["spec"] for d in whole["devices"]] == ["other:0"], whole["devices"]

one = results["copy/4096/real_time"]
times = rounds("copy/4096/real_time", "real_time")
assert one["op"] == "other" and one["kind"] == "copy/real_time" and one["size"] == 4096, one
assert one["times"]["samples"] == [[t] for t in times], one
assert close(one["times"]["median"], statistics.median(times)), one
assert one["times"]["low"] == min(times) and one["times"]["high"] == max(times), one
assert close(one["times"]["confidence"], .75), one
assert close(one["rates"]["gbps"]["value"],
             statistics.median(rounds("copy/4096/real_time", "bytes_per_second")) / 1e9), one
assert one["rates"]["gflops"] is None and one["kernel"] == "memcpy", one
one = results["missing"]
assert one["status"] == "error" and one["reason"] == "no device" and one["times"] is None, one
one = results["wait/iterations:5/manual_time"]
assert one["times"]["median"] == 1e6 and close(one["rates"]["gflops"]["value"], 2), one

for unit, factor in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
    one = good({"context": {}, "benchmarks": [{"name": "a", "real_time": 3, "time_unit": unit}]})[0]["a"]
    assert one["times"]["median"] == 3 * factor and one["times"]["low"] is None, one
    assert one["times"]["high"] is None and one["times"]["confidence"] is None, one
for date, utc in (("2026-11-22T22:44:30+00:00", "2026-11-22T22:44:30Z"),
                  ("2026-11-22T22:44:30+02:30", "2026-11-22T20:14:30Z"),
                  ("2026-12-31T22:44:30-05:00", "2027-01-01T03:44:30Z"), ("2016/10/1 9:00", "2016/10/1 9:00")):
    assert good({"context": {"date": date}, "benchmarks": []})[1]["run"]["time"] == utc, date

# Aggregates alone: the median is the only round. Files of old versions name them only in the name.
for drop in ((), ("run_type", "run_name", "aggregate_name")):
    rows = [{k: v for k, v in r.items() if k not in drop}
            for r in theirs["benchmarks"] if r["run_type"] == "aggregate"]
    made = good({"context": {}, "benchmarks": rows})[0]
    assert list(made) == ["copy/4096/real_time", "wait/iterations:5/manual_time"], list(made)
    one = made["copy/4096/real_time"]["times"]
    assert len(one["samples"]) == 1 and close(one["median"], statistics.median(times)), one
# A fit of complexity has no time; a benchmark without one is an error, and so is one of 0.
made = good({"context": {}, "benchmarks": [
    {"name": "a_BigO", "run_name": "a", "run_type": "aggregate", "aggregate_name": "BigO", "big_o": "N"},
    {"name": "b", "real_time": 0.0}, {"name": "c"},
    {"name": "d", "skipped": True, "skip_message": "not here", "real_time": 0.0}]})[0]
assert [(r["id"], r["status"]) for r in made.values()] == [
    ("b", "error"), ("c", "error"), ("d", "unsupported")], made
assert made["d"]["reason"] == "not here", made


def refused(change, *words):
    root = copy.deepcopy(theirs)
    change(root)
    code, made, err = load(json.dumps(root))
    assert code == 5 and not made and err.count("\n") == 1 and all(w in err for w in words), (words, err)


row = theirs["benchmarks"].index(next(r for r in theirs["benchmarks"] if r["name"] == "missing"))
here = "benchmarks[%d]" % row
refused(lambda r: r["benchmarks"][row].update(real_time="1"), here + ".real_time", "is a text")
refused(lambda r: r["benchmarks"][row].update(time_unit="h"), here + ".time_unit", '"h"', "ns, us, ms, s")
refused(lambda r: r["benchmarks"][row].pop("name"), here + ".name", "is missing")
refused(lambda r: r["benchmarks"][row].update(name=7), here + ".name", "is a number")
refused(lambda r: r["benchmarks"][row].update(error_occurred=1), here + ".error_occurred")
refused(lambda r: r["benchmarks"].__setitem__(row, []), here, "must be an object")
refused(lambda r: r.update(benchmarks={}), "benchmarks", "must be an array")
refused(lambda r: r.update(context=[]), "context", "must be an object")
refused(lambda r: r["context"].update(load_avg=["x"]), "context.load_avg[0]")
