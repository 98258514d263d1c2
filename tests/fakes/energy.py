# SPDX-License-Identifier: Apache-2.0
"""energy.py FILE EXPRESSION: checks an expression over a file of `bench --energy`, and that the
figures of its results follow from each other. `rows` are the results with an energy, `all_rows` all
results, `idle` and `run` those of the file."""
import json
import sys

root = json.load(open(sys.argv[1]))
run, all_rows = root["run"], root["results"]
idle = root["devices"][0].get("idle")
rows = [dict(r, **r["energy"]) for r in all_rows if r.get("energy")]


def near(value, wanted, share=0.03):
    return value is not None and abs(value - wanted) <= share * wanted


for r in rows:
    work, joules = r["work"], r["joules"]
    if joules is None:
        assert r["reason"].startswith("not measured: "), r
        assert r["gflop_per_joule"] is None and r["gb_per_joule"] is None, r
        continue
    moved = work["bytes_read"] + work["bytes_written"]
    assert r["reason"] is None, r
    assert near(joules * r["calls"], r["watts"] * r["seconds"], 1e-9), r
    assert near(r["gb_per_joule"] * joules, moved / 1e9, 1e-9), r
    assert work["flops"] == 0 or near(r["gflop_per_joule"] * joules, work["flops"] / 1e9, 1e-9), r
sys.exit(not eval(sys.argv[2]))
