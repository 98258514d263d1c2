# SPDX-License-Identifier: Apache-2.0
# times.sh BACKEND: event times of a library's routines, which are several commands and only have an
# event if one is requested: from the first routine's start to the last one's end, compared with the
# host's clock.
. "$ISOMER_TEST_COMMON"
backend=$1
need python3 python3
"$tool" info --backend "$backend" >/dev/null 2>"$scratch/why" || skip "$(head -n 1 "$scratch/why")"

# A routine of some milliseconds, so that submitting it is a small part. The device may be delayed
# by other work on the processors, so a bad ratio is measured again; a missing event gives a bad
# ratio every time.
attempt() {
    code=0
    "$tool" bench --backend "$backend" --no-roofs --budget 2 --op sum --variant vendor --dtype f32 --size 4Mi \
        --json "$scratch/times.json" >"$scratch/out" 2>&1 || code=$?
    [ "$code" != 4 ] || skip "no device has a library for sums here"
    [ "$code" = 0 ] || {
        cat "$scratch/out"
        fail "bench exits with $code"
    }
    python3 - "$scratch/times.json" <<'END'
import json, sys
rows = [row for row in json.load(open(sys.argv[1]))["results"] if row["status"] != "unsupported"]
wrong = not rows
for row in rows:
    times = row["times"] or {}
    if not times:
        print(row["device"], row["library"], row["status"], row["reason"])
        wrong = True
        continue
    ratio = times["median"] / times["host"]
    print(row["device"], row["library"], f"{ratio:.3f} of the {times['host'] * 1e-6:.3f} ms that the host's clock tells;",
          "times are the", times["clock"] + "'s")
    wrong |= times["clock"] != "device" or not 0.5 <= ratio <= 1.05
sys.exit(wrong)
END
}
attempt || attempt || attempt || fail "the device's times are not the host's"
