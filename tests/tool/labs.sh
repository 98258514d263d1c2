# SPDX-License-Identifier: Apache-2.0
# labs.sh: `isomer bench --suite labs` runs all 24 rows on every backend and the stand-ins, right and
# with equal bits; its files, its report, and options and files that are refused.
. "$ISOMER_TEST_COMMON"
need python3 python3
export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip"
cd "$scratch" || exit
labs() { # labs CODE OPTIONS...
    code=$1
    shift
    expect "$code" bench --suite labs --lab-sizes small --no-roofs "$@"
}

# Wrong arguments lose nothing.
labs 2 --backend openmp --lab C7
says err "C7" "C6"
labs 2 --backend openmp --lab-sizes big
expect 2 bench --suite labs --lab-sizes big
says err "big" small full
expect 2 bench --suite quick --lab A1
says err "--suite labs"
expect 2 bench --lab A1 --against "$tool"
labs 6 --backend openmp --lab C3 --beside nowhere.json
says err nowhere.json
printf '{"schema": "isomer-labs-peers/2", "labs": []}' >other.json
labs 5 --backend openmp --lab C3 --beside other.json
says err isomer-labs-peers/1 isomer-labs-peers/2
printf '{"schema": "isomer-labs-peers/1", "labs": [{"row": "Z9"}]}' >wrong.json
labs 5 --backend openmp --lab C3 --beside wrong.json
says err 'labs[0].row' Z9

# Another program's entries stand beside ours, with a curve.
cat >peers.json <<'END'
{"schema": "isomer-labs-peers/1", "labs": [
 {"row": "C3", "device": "openmp:0", "by": "Other 1.0", "case": {"what": "sum", "n": 512}, "status": "ok",
  "checked": "by eye", "figures": [{"name": "error", "unit": "", "value": 0.5}],
  "curves": [{"name": "L-curve", "x": "x", "y": "y", "points": [[1, 2, "a"], [2, 1]]}]},
 {"row": "C3", "device": "openmp:0", "by": "Other 1.0", "case": {"what": "slow"}, "status": "skipped",
  "reason": "no time", "figures": []}]}
END
labs 0 --backend openmp --lab C3 --beside peers.json --json beside.json --markdown beside.md
says out "Other 1.0" "no time" "one group"
grep -q '| Other 1.0, openmp:0 .*by eye' beside.md || fail "the Markdown does not have the other program"

# Every row, on every backend that is here. The leak sanitizer does not know the fibers of the stand-ins'
# work-items, and stops at them now and then.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
devices=openmp
for backend in opencl cuda hip; do
    if "$tool" info --available "$backend" >/dev/null 2>&1; then
        devices=$devices,$backend
    fi
done
labs 0 --backend "$devices" --json all.json --report all.html
python3 - "$devices" <<'END' || fail "see above"
import json, re, sys
root = json.load(open("all.json"))
rows = [letter + str(i) for letter, count in zip("ABCDE", (5, 2, 6, 5, 6)) for i in range(1, count + 1)]
digests = set()
for device in root["devices"]:
    mine = [e for e in root["labs"] if e["device"] == device["spec"]]
    for row in rows:
        entries = [e for e in mine if e["row"] == row]
        assert entries, f"{row} is missing on {device['spec']}"
        for e in entries:
            assert e["status"] in ("ok", "unsupported", "skipped"), e
            assert (e["status"] == "ok") == bool(e.get("checked")) and (e["status"] == "ok" or e["reason"]), e
        if row != "E5":  # without roofs nothing can be placed
            assert any(e["status"] == "ok" for e in entries), (row, device["spec"])
    digests |= {line for e in mine for line in e.get("lines", [])
                if line.startswith("digest") and not e["case"]["what"].startswith("vendor")}
# The fields of D5, and the regressions of D4, apart or together.
assert sorted(line.rsplit(" ", 1)[0] for line in digests) == [
    "digest of residuals, norms, gradients and iterations", "digest of the last field"], digests
assert root["run"]["complete"] and root["run"]["suite"] == "labs"
page = open("all.html").read()
for word in ("Lab A: Matrices", "Lab E: First kernels", "row-lab-d4", "L-curve", "Laplacian", "1306 ms"):
    assert word in page, word
assert not re.search(r"<(script|img|link)[^>]+(src|href)=.?http", page)
END
say "rows on $devices"

# The report reads the file again.
expect 0 report all.json -o again.html --figures figures
[ -s figures/lab-d4-2col.svg ] || fail "the L-curve is no figure"

# Interrupted after the first rows: they are kept, and the file says which rows did not run.
"$tool" bench --suite labs --lab-sizes small --no-roofs --backend "$devices" --json kept.json --report kept.html >out 2>err &
pid=$!
stopped INT grep -qs '"row": *"A2"' kept.json
python3 - <<'END' || fail "see above"
import json
root = json.load(open("kept.json"))
assert root["run"]["complete"] is False, root["run"]
left = [e for e in root["labs"] if e["status"] == "skipped" and e["reason"] == "the run was interrupted before this row"]
assert root["labs"][0]["row"] == "A1" and root["labs"][0]["status"] == "ok", root["labs"][0]
assert left and left[-1]["device"] == root["devices"][-1]["spec"] and left[-1]["row"] == "E6", left[-1:]
done = {(e["device"], e["row"]) for e in root["labs"]} - {(e["device"], e["row"]) for e in left}
assert not done & {(e["device"], e["row"]) for e in left}
assert len(done) + len(left) == 24 * len(root["devices"]), (len(done), len(left))
END
[ -s kept.html ] || fail "interrupted: no report"
