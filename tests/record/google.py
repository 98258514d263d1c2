# SPDX-License-Identifier: Apache-2.0
"""google.py RESULTS EXPORTED: what was exported has the members that Google Benchmark writes, and the
values of the results."""
import json
import statistics
import sys

CONTEXT = {"date": str, "host_name": str, "executable": str, "num_cpus": int, "mhz_per_cpu": int,
           "cpu_scaling_enabled": bool, "caches": list, "load_avg": list, "library_version": str,
           "library_build_type": str, "json_schema_version": int}
ROW = {"name": str, "family_index": int, "per_family_instance_index": int, "run_name": str,
       "run_type": str, "repetitions": int, "threads": int, "iterations": int,
       "real_time": (int, float), "cpu_time": (int, float), "time_unit": str}

ours, theirs = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
assert list(theirs) == ["context", "benchmarks"], list(theirs)
for table, rows in ((CONTEXT, [theirs["context"]]), (ROW, theirs["benchmarks"])):
    for row in rows:
        for name, kind in table.items():
            assert isinstance(row.get(name), kind), (name, row)
for device in ours["devices"]:
    assert (device["name"] or "") in theirs["context"][device["spec"]], device["spec"]


def close(a, b):
    return abs(a - b) <= 1e-12 * abs(b)


rows = {}
for row in theirs["benchmarks"]:
    assert row["time_unit"] == "ns" and row["cpu_time"] == row["real_time"], row
    rows.setdefault(row["run_name"], []).append(row)
instances = {}
for result in ours["results"]:
    mine = rows.pop("%s/%s" % (result["id"], result["device"]), None)
    if result["status"] in ("unsupported", "skipped"):
        assert mine is None, mine
        continue
    key = (mine[0]["family_index"], mine[0]["per_family_instance_index"])
    assert instances.setdefault(key, result) is result, key
    if result["status"] != "ok":
        assert [r["error_message"] for r in mine] == [result["reason"]], mine
        assert mine[0]["error_occurred"] is True and mine[0]["run_type"] == "iteration", mine
        continue
    rounds = [statistics.median(r) for r in result["times"]["samples"] if r]
    work = {"bytes_per_second": result["rates"]["gbps"] and
            result["work"]["bytes_read"] + result["work"]["bytes_written"],
            "flops_per_second": result["rates"]["gflops"] and result["work"]["flops"]}
    made = [r for r in mine if r["run_type"] == "iteration"]
    assert [r["repetition_index"] for r in made] == list(range(len(rounds))), made
    for row, time, samples in zip(made, rounds, result["times"]["samples"]):
        assert row["name"] == row["run_name"] and row["repetitions"] == len(rounds), row
        assert close(row["real_time"], time), (row, time)
        assert row["iterations"] == len(samples) * result["times"]["calls"], row
        for name, amount in work.items():
            assert not amount or close(row[name], amount / time * 1e9), (name, row)
            assert amount or name not in row, (name, row)
    figures = {r["aggregate_name"]: r for r in mine if r["run_type"] == "aggregate"}
    if len(rounds) == 1:
        assert not figures, figures
        continue
    mean, deviation = statistics.mean(rounds), statistics.stdev(rounds)
    wanted = {"mean": mean, "median": statistics.median(rounds), "stddev": deviation,
              "cv": deviation / mean}
    assert list(figures) == list(wanted), figures
    for name, value in wanted.items():
        row = figures[name]
        assert row["name"] == "%s_%s" % (row["run_name"], name), row
        assert row["aggregate_unit"] == ("percentage" if name == "cv" else "time"), row
        assert abs(row["real_time"] - value) <= 1e-9 * abs(value), (row, value)
assert not rows, list(rows)
