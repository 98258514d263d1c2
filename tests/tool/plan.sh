# SPDX-License-Identifier: Apache-2.0
# plan.sh: `isomer bench` with too little time. Every kept result has six rounds; the others are
# skipped by name and by priority, and none is an error. Without a terminal a line shows that the
# run is alive.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
need python3 python3
cd "$scratch" || exit
export ISOMER_NUM_THREADS=1

cat >read.py <<'END'
"""Checks what every results file promises, and prints: ok skipped."""
import json, sys

root = json.load(open(sys.argv[1]))
plan, results = root["run"]["plan"], root["results"]
assert root["run"]["confidence"] == 0.95
for r in results:
    assert r["status"] in ("ok", "skipped"), (r["id"], r["status"], r["reason"])
    if r["status"] == "skipped":
        assert r["reason"] == "no time" and not r["times"] and not r["rates"], r["id"]
    else:
        rounds = len(r["times"]["samples"])
        assert rounds >= plan["rounds"], (r["id"], rounds)
        assert r["times"]["confidence"] == 0.95, r["id"]
ok = [r for r in results if r["status"] == "ok"]
assert (plan["rounds"], plan["kept"], plan["skipped"]) == (6, len(ok), len(results) - len(ok)), plan
print(len(ok), len(results) - len(ok))
END

# How long a small product takes here; the sizes and budgets below follow it.
"$tool" bench --backend openmp --no-roofs --rounds 1 --budget 60 --op gemm --dtype f64 \
    --variant naive --size 520 --json probe.json >out 2>&1 || fail "the probe: $(cat out)"
seconds=$(python3 - <<'END'
import json
r = json.load(open("probe.json"))
t = r["results"][0]["times"]
# One round has no interval.
assert t["low"] is None and t["high"] is None and t["confidence"] is None, t
assert "few-rounds" in r["results"][0]["flags"] and r["run"]["plan"] is None
print(t["median"] * 1e-9)
END
) || fail "one round"
say "a product of 520 takes $seconds s"

# The dearest case is kept, because its priority is 1; many cheaper ones have 9.
cat >suite.json <<'END'
{"schema": "isomer-suite/1", "cases": [
  {"op": "gemm", "variant": "naive", "dtype": "f64", "priority": 9,
   "size": [488, 489, 490, 491, 492, 493, 494, 495, 496, 497, 498, 499, 500, 501, 502, 503,
            504, 505, 506, 507, 508, 509, 510, 511, 512, 513, 514, 515, 516, 517, 518, 519]},
  {"op": "gemm", "variant": "naive", "dtype": "f64", "size": 520, "priority": 1},
  {"op": "add", "dtype": "f32", "size": 64}
]}
END
kept() { # whether the most important case has figures
    python3 - <<'END'
import json
results = {r["shape"].get("m"): r["status"] for r in json.load(open("plan.json"))["results"]}
raise SystemExit(results[520] != "ok")
END
}
# A machine that stands still near the end may leave no time for the last round even of that case,
# so it has three tries. Every file must be right.
tries=0
while [ "$tries" -lt 3 ]; do
    "$tool" bench --backend openmp --no-roofs --suite suite.json --json plan.json --csv plan.csv \
        --markdown plan.md --report plan.html \
        --budget "$(python3 -c "print(max(45 * $seconds, 0.05))")" >out 2>err || fail "$(cat out err)"
    counts=$(python3 read.py plan.json) || fail "plan.json: $(cat err)"
    say "ok, skipped: $counts"
    tries=$((tries + 1))
    ! kept || break
done
kept || fail "the most important case was skipped: $(cat out)"
[ "${counts#* }" -gt 0 ] || fail "nothing was skipped"
grep -q "skipped" err || fail "the skipped results are not announced: $(cat err)"
for option in --budget --op --size; do
    grep -q -- "$option" err || fail "the advice lacks $option: $(cat err)"
done
grep -q "no time" out || fail "the table does not say why: $(cat out)"
grep -q ",skipped,no time" plan.csv || fail "the CSV does not say why"
grep -q "no time" plan.md || fail "the Markdown does not say it: $(cat plan.md)"
grep -q "no time" plan.html || fail "the report does not say why"

# No time at all: everything is skipped, and nothing was measured.
code=0
"$tool" bench --backend openmp --no-roofs --suite suite.json --json none.json --budget 0.01 \
    --op gemm >out 2>err || code=$?
[ "$code" -eq 4 ] || fail "no time at all: exit code $code: $(cat err)"
[ "$(python3 read.py none.json)" = "0 33" ] || fail "no time at all: $(cat out err)"
code=0
"$tool" compare plan.json none.json --fail-on 5 >out 2>err || code=$?
[ "$code" -ne 1 ] || fail "a skipped case counts as lost: $(cat out err)"

# Where the user chose cases, those that only measure roofs are dropped first, and no sentence is
# about them. The table names what was dropped. This has three tries too.
cat >chosen.py <<'END'
import json
results = json.load(open("chosen.json"))["results"]
chosen = [r for r in results if r.get("for") != "roof"]
assert chosen and all(r["op"] == "reduce" and r["status"] == "ok" for r in chosen), [r["id"] for r in chosen]
assert any(r["status"] == "skipped" for r in results), "nothing was skipped"
END
chosen() {
    "$tool" bench --backend openmp --op reduce --dtype f32 --variant tiled --size 4096 \
        --budget 0.3 --jobs 1 --json chosen.json >out 2>err && python3 chosen.py >wrong 2>&1
}
chosen || chosen || chosen ||
    fail "a case for roofs was kept longer than a chosen one: $(cat out err wrong)"
grep -q -- --no-roofs err || fail "the advice lacks --no-roofs: $(cat err)"
tr -s '\n ' ' ' <out >line
grep -Eq 'not measured: no time \(([a-z]+/[^ ]+,? ?){1,5}( and [0-9]+ more)?\)' line || fail "no names: $(cat out)"
grep -q 'f32 sum reductions' line || fail "nothing is said about what was asked for: $(cat out)"
! sed 's/.*In short//' line | grep -Eq 'product|triad' || fail "something is said about roofs: $(cat out)"

# Wrong priorities.
for value in 0 10 1.5 '"1"' '[1]'; do
    echo "{\"schema\": \"isomer-suite/1\", \"cases\": [{\"op\": \"add\", \"size\": 8, \"priority\": $value}]}" \
        >wrong.json
    code=0
    "$tool" bench --backend openmp --suite wrong.json --list >out 2>err || code=$?
    [ "$code" -eq 2 ] || fail "priority $value: exit code $code"
    grep -q 'cases\[0\].priority: .* from 1 (kept longest) to 9' err || fail "priority $value: $(cat err)"
done

# A line every ten seconds. The products take half a second each; the process stands still for the
# ten seconds, rather than compute.
sizes=$(python3 -c "
n = int(520 * (0.5 / $seconds) ** (1 / 3))
print(','.join(str(n + i) for i in range(12)))")
"$tool" bench --backend openmp --no-roofs --op gemm --variant naive --dtype f64 --size "$sizes" \
    --budget 200 --json beat.json >out 2>err &
pid=$! tries=0
sleep 1
kill -STOP "$pid" || fail "it ended at once: $(cat out err)"
sleep 10
kill -CONT "$pid"
while kill -0 "$pid" 2>/dev/null && ! grep -q "isomer: [a-z]*, " err && [ "$tries" -lt 6000 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM "$pid" || fail "no line came: $(cat err)"
wait "$pid" || true
grep -Eq '^isomer: (preparing|measuring), [0-9]+ % done,( about [0-9]+ s left,)? openmp:0 gemm/naive' err ||
    fail "no line shows that the run is alive: $(cat err)"
