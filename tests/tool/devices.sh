# SPDX-License-Identifier: Apache-2.0
# devices.sh REFERENCE: `isomer bench --against-backend`: two devices of one process in pairs.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
ISOMER_BACKEND_PATH=$1
export ISOMER_BACKEND_PATH
cd "$scratch" || exit

bench() { # bench CODE OPTIONS...
    wanted=$1
    shift
    expect "$wanted" bench --no-roofs --op gemm --size 16 --dtype f32 --variant tiled "$@"
}

bench 0 --backend openmp --against-backend reference --rounds 9 --budget 600 --json pairs.json
says out "A openmp:0:" "B reference:0:" ":0 is faster than " "9 pairs a case, enough for an interval of 95 %" \
    "of 1 comparable cases"
says pairs.json '"command": "against"' '"this": "openmp:0:' '"program": "reference:0:' \
    '"device_b": "reference:0"' '"without_b": 0' '"lost": 0'
"$tool" compare pairs.json >again || fail "the pairs cannot be read again"
says again ":0 is faster than " "9 pairs a case"
"$tool" report pairs.json -o pairs.html || fail "the report cannot read the pairs"
# Each ratio is of two rounds with the same number.
if have python3; then
    python3 - <<'END' || fail "the pairs are wrong"
import json, statistics
d = json.load(open("pairs.json"))
pair = d["pairs"][0]
rounds = {r["device"]: [statistics.median(x) for x in r["times"]["samples"]] for r in d["results"]}
wanted = [b / a for a, b in zip(rounds["openmp:0"], rounds["reference:0"])]
assert len(pair["pairs"]) == len(wanted) == pair["made"] == 9, pair
assert all(abs(x / y - 1) < 1e-9 for x, y in zip(pair["pairs"], wanted)), (pair, wanted)
END
fi

# The gate; a device that cannot be compared with itself; options that do not go together.
bench 0 --backend reference --against-backend openmp --rounds 9 --fail-on 900
says out "A reference:0:" "Gate of 900 %"
bench 2 --backend openmp --against-backend openmp
says err "--against-backend openmp must name one device"
bench 2 --backend openmp --against-backend reference --self-check
says err "cannot be combined"
bench 2 --backend openmp --against-backend none
