# SPDX-License-Identifier: Apache-2.0
# times.sh BACKEND: what events say of a library's routines, which are several commands and have an event only where
# one is asked for: from the first routine's beginning to the last one's end, as the host's clock has it.
. "$ISOMER_TEST_COMMON"
backend=$1
need python3 python3
"$tool" info --backend "$backend" >/dev/null 2>"$scratch/why" || skip "$(head -n 1 "$scratch/why")"
# A routine of some milliseconds, so that handing it over is no great part of it.
"$tool" bench --backend "$backend" --no-roofs --budget 2 --op sum --variant vendor --dtype f32 --size 4Mi \
    --json "$scratch/times.json" >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    grep -q '"status": "ok"' "$scratch/times.json" || skip "no device has a library for sums here"
    fail "bench does not end well"
}
python3 - "$scratch/times.json" <<'END' || fail "the device's times are not the host's"
import json, sys
rows = [row for row in json.load(open(sys.argv[1]))["results"] if row["status"] == "ok"]
wrong = not rows
for row in rows:
    times = row["times"]
    ratio = times["median"] / times["host"]
    print(row["device"], row["library"], times["clock"], f"{ratio:.3f} of the host's time")
    wrong |= times["clock"] != "device" or not 0.5 <= ratio <= 1.05
sys.exit(wrong)
END
