# SPDX-License-Identifier: Apache-2.0
# compare.sh: `isomer compare` on documents made here: matching, refusals, verdicts, the gate, the
# files.
. "$ISOMER_TEST_COMMON"

# document TIME DEVICE LIBRARY FACTOR [NOISE]: results with five cases; FACTOR multiplies the tiled
# f32 product of 512, whose rounds are about 1000 ns; NOISE multiplies the deviations.
document() {
    awk -v at="$1" -v device="$2" -v library="$3" -v factor="$4" -v noise="${5:-1}" '
        function row(variant, dtype, n, times, status, reason,    rounds, r, t, id) {
            id = "gemm/" variant "/" dtype "/" n "x" n "x" n "/nn/strict/uniform/hot"
            printf "%s{\"id\":\"%s\",\"op\":\"gemm\",\"kind\":null,\"variant\":\"%s\",\"dtype\":\"%s\",",
                comma, id, variant, dtype
            printf "\"shape\":{\"m\":%d,\"n\":%d,\"k\":%d,\"batch\":1},\"size\":%d,\"layout\":{},", n, n, n, n
            printf "\"math\":\"strict\",\"fill\":\"uniform\",\"cache\":\"hot\",\"backend\":\"openmp\","
            printf "\"device\":\"%s\",\"library\":\"%s\",\"kernel\":\"k\",\"status\":\"%s\",", device, library, status
            printf "\"reason\":%s,\"verified\":%s,", status == "ok" ? "null" : "\"" reason "\"",
                status == "ok" ? "{\"method\":\"bound\",\"error\":0,\"bound\":1,\"checks\":2}" : "null"
            printf "\"work\":{\"flops\":1,\"bytes_read\":1,\"bytes_written\":1},"
            if (status == "ok") {
                split("1 1.002 0.998 1.004 0.996 1.001", r, " ")
                for (i = 1; i <= 6; i++) {
                    t = 1000 * times * (1 + noise * (r[i] - 1))
                    rounds = rounds (i > 1 ? "," : "") "[" t "," t * 1.001 "," t * 0.999 "]"
                }
                printf "\"times\":{\"clock\":\"host\",\"median\":%s,\"low\":1,\"high\":2,", 1000 * times
                printf "\"confidence\":0.95,\"min\":1,\"max\":2,\"mean\":1,\"deviation\":1,\"converged\":true,"
                printf "\"samples\":[%s],\"calls\":1},\"rates\":{\"gbps\":null,\"gflops\":null},", rounds
            } else
                printf "\"times\":null,\"rates\":null,"
            printf "\"roof\":null,\"parts\":null,\"clocks\":null,\"flags\":%s}\n",
                status == "ok" && dtype == "f64" ? "[\"checked-once\"]" : "[]"
            comma = ","
        }
        BEGIN {
            printf "{\"schema\":\"isomer-results/1\",\"run\":{\"command\":\"bench\",\"version\":\"0.1.0\","
            printf "\"time\":\"%s\",\"seed\":1,\"math\":\"strict\"},\n", at
            printf "\"devices\":[{\"spec\":\"%s\",\"backend\":\"openmp\",\"name\":\"a device\",\"fake\":false}],\n", device
            printf "\"results\":[\n"
            row("naive", "f32", 256, 1, "ok")
            row("tiled", "f32", 256, 1, "ok")
            row("tiled", "f32", 512, factor, "ok")
            row("tiled", "f64", 512, 1, "ok")
            row("vendor", "f64", 512, 1, "unsupported", "no \\\"library\\\", here")
            printf "]}\n"
        }' </dev/null
}

compare() { # compare CODE ARGUMENTS...
    wanted=$1
    shift
    expect "$wanted" compare "$@"
}

judged() { # judged CASE VERDICT [RATIO]
    grep -qE "^ +$1 .* ${3:-[0-9.]+} .*  $2\$" out || {
        cat out
        fail "$1 is not $2 ${3:-}"
    }
}
tiled=tiled/f32/512x512x512/nn

cd "$scratch" || exit
document 2026-01-01T00:00:00Z openmp:0 "isomer 0.1.0" 1 >a.json
document 2026-01-02T00:00:00Z openmp:0 "isomer 0.2.0" 1.1 >slow.json
document 2026-01-02T00:00:00Z openmp:0 "isomer 0.1.0" 0.9 >fast.json
document 2026-01-01T00:00:00Z opencl:0 "isomer 0.1.0" 1.1 >other.json

# Verdicts; libraries with other names are matched; equal cases are shown on request.
compare 0 a.json slow.json
judged $tiled SLOWER 1.100
says out UNPAIRED "3 cases are the same" "no \"library\", here"
lacks out "tiled/f32/256"
compare 0 a.json slow.json --all
judged tiled/f32/256x256x256/nn SAME 1.000
says out "B checked-once" # only one row: the heading cannot say it for all
says out "below 1, B is FASTER. Differences below 3 %"
sed 's/"flags":\[\]/"flags":["checked-once"]/' slow.json >flagged.json
compare 0 flagged.json flagged.json --all
says out "All rows: A checked-once, B checked-once"
[ "$(grep -c checked-once out)" = 1 ] || fail "what all rows share is said more than once"
sed 's/"isomer 0.2.0"/"fastblas 1"/' slow.json >library.json
compare 0 a.json library.json
says out "A by isomer 0.1.0, B by fastblas 1"
compare 0 a.json fast.json
judged $tiled FASTER 0.900
compare 0 slow.json slow.json
lacks out UNPAIRED
compare 0 a.json slow.json --least-effect 20 --all
judged $tiled SAME 1.100
compare 0 a.json slow.json --device-a openmp --op gemm
# One device in each: they are compared whatever their names.
compare 0 a.json other.json
judged $tiled SLOWER 1.100
says out "A on openmp:0" "B on opencl:0"

# The gate: decided by the ratio, and by a lost result.
compare 1 a.json slow.json --fail-on 5
says out "Gate of 5 %: 1 of 5 cases fail"
compare 0 a.json slow.json --fail-on 15
compare 1 a.json slow.json --fail-on 9.9%
compare 0 a.json slow.json --fail-on 10.1
compare 0 slow.json a.json --fail-on 5
document 2026-01-02T00:00:00Z openmp:0 "isomer 0.1.0" 1 |
    sed '/tiled\/f32\/256/s/"status":"ok","reason":null/"status":"failed","reason":"wrong sum"/
         /tiled\/f32\/256/s/"times":{.*"calls":1},"rates":{[^}]*}/"times":null,"rates":null/' >lost.json
compare 1 a.json lost.json --fail-on 5
says out "B failed: wrong sum" "1 of 5 cases fail"
compare 0 a.json lost.json
compare 0 lost.json a.json --fail-on 5
says out "Measured in B, not in A"

# A case that was skipped for lack of time is not lost, and no error.
sed 's/"status":"failed","reason":"wrong sum"/"status":"skipped","reason":"no time"/' lost.json >skipped.json
compare 0 a.json skipped.json --fail-on 5
says out "0 of 5 cases fail" "skipped: no time"

# The same for a case that B no longer supports.
sed '/tiled\/f32\/256/s/"status":"ok","reason":null/"status":"unsupported","reason":"no such library"/
     /tiled\/f32\/256/s/"times":{.*"calls":1},"rates":{[^}]*}/"times":null,"rates":null/' a.json >gone.json
compare 1 a.json gone.json --fail-on 5 --json lost-by.json
says out "B unsupported: no such library" "1 of 5 cases fail"
[ "$(grep -c '"lost": true' lost-by.json)" = 1 ] || fail "the file does not say which case is lost"
compare 0 a.json gone.json
compare 0 gone.json a.json --fail-on 5

# Cases that only one file has. If B measured others of that operation there, it lost them.
grep -v 'tiled/f32/512' a.json >fewer.json
compare 0 fewer.json a.json --fail-on 5
says out "Only in B" "512x512x512/nn/strict/uniform/hot on openmp:0"
compare 1 a.json fewer.json --fail-on 5
says out "Measured in A, not in B" "B missing" "1 of 5 cases fail"
compare 0 a.json fewer.json
sed 's/openmp:0/cuda:0/g' fewer.json >fewer-other.json
compare 1 a.json fewer-other.json --fail-on 5
says out "B missing" "1 of 5 cases fail"
sed '/tiled\/f32\/512/{s/"id":"gemm/"id":"stream/
     s/"op":"gemm","kind":null/"op":"stream","kind":"copy"/
     }' a.json >more-ops.json
compare 0 more-ops.json fewer.json --fail-on 5
says out "Only in A" "stream/tiled/f32" "0 of 5 cases fail"

# Files with different settings are refused: the message names the setting. With --force they are
# compared, and the output says so.
refused() { # refused FILE WORD...: is compared with a.json only with --force
    input=$1
    shift
    compare 5 a.json "$input"
    says err "$@"
    [ ! -s out ] || fail "$input is refused, and shown"
    compare 0 a.json "$input" --force
    says out FORCED
}
sed 's/"math":"strict"/"math":"tf32"/g; s|/strict/|/tf32/|' a.json >tf32.json
refused tf32.json "math mode" strict tf32 --force
sed 's/"seed":1/"seed":2/' a.json >seed.json
refused seed.json "seed of a.json is 1" "seed.json is 2"
sed 's/"fake":false/"fake":true/' a.json >fake.json
refused fake.json "on the hardware itself" "on a stand-in made for tests"
sed 's/"fake":false/"fake":false,"tier":"simulator"/' a.json >simulator.json
refused simulator.json "on the hardware itself" "on a simulator of the hardware"
sed 's/"fake":false/"fake":false,"tier":"cpu-driver"/' a.json >driver.json
compare 0 a.json driver.json
compare 0 fake.json fake.json
# Other sizes: the same times for an eighth of the operations.
sed 's/256x256x256/128x128x128/; s/512x512x512/64x64x64/
     s/"m":[0-9]*/"m":1/; s/"flops":1,/"flops":0.125,/' a.json >size.json
compare 5 a.json size.json
says err "differ in size" 256x256x256 128x128x128
compare 0 a.json size.json --force --json sizes.json --csv sizes.csv
says out FORCED "5 cases are of another size in B" "B is gemm/tiled/f32/64x64x64/nn/strict/uniform/hot"
judged $tiled SLOWER 8.000
[ "$(grep -c '"id_b": "gemm/' sizes.json)" = 5 ] || fail "the file does not say which cases were matched"
grep -q '^gemm/tiled/f32/256x.*,gemm/tiled/f32/128x128x128/nn/strict/uniform/hot,.$' sizes.csv ||
    fail "the CSV does not say which cases were matched"
# If B also has a case of the same size, it is matched with that one. The gate covers the cases of
# another size too.
{ sed '/^\]}/d' size.json && grep 'tiled/f32/512' a.json && echo ']}'; } >one-more.json
compare 1 a.json one-more.json --force --fail-on 5 --all
says out "4 cases are of another size in B"
judged $tiled SAME 1.000
# Another operation or type is never matched.
sed 's|/f32/|/f16/|g; s/"dtype":"f32"/"dtype":"f16"/; s|/f64/|/bf16/|; s/"dtype":"f64"/"dtype":"bf16"/' size.json >type.json
compare 5 a.json type.json --force
# Another fill is refused without --force. Another cache state is refused, and so is a file of
# `isomer verify`, even with --force.
sed 's/"fill":"uniform"/"fill":"ones"/; s|/uniform/|/ones/|' a.json >fill.json
compare 5 a.json fill.json
says err "fill"
compare 0 a.json fill.json --force
sed 's/"cache":"hot"/"cache":"cold"/; s|/hot"|/cold"|' a.json >cold.json
compare 5 a.json cold.json
says err "cache state"
sed 's/"command":"bench"/"command":"verify"/' a.json >verify.json
compare 5 a.json verify.json
says err "verify.json" "isomer verify"
compare 5 a.json verify.json --force

# Several devices are matched by name. Devices of different names are compared only if selected.
sed 's/openmp:0/cuda:0/g' slow.json | grep -e tiled -e naive >rows
{ sed '/^\]}/d' a.json && sed 's/^{"id"/,{"id"/' rows && echo ']}'; } |
    sed 's|^"devices":\[|&{"spec":"cuda:0","backend":"cuda","name":"a GPU"},|' >two.json
compare 0 two.json two.json
says out "8 cases are the same"
compare 0 two.json a.json --fail-on 5 # B does not have the other device
says out "Only in A" "on cuda:0"
compare 0 two.json --device-a openmp:0 --device-b cuda --fail-on 20
judged $tiled SLOWER 1.100
says out "A on openmp:0" "B on cuda:0 (a GPU)"
compare 5 two.json other.json
says err openmp:0 cuda:0 opencl:0 --device-a
compare 0 two.json other.json --device-a cuda:0
compare 2 two.json two.json --device-a hip:0
says err hip:0 openmp:0 cuda:0

# What would decide a case. Three rounds that deviate by 0.2 %, like those of all other cases, give
# both medians 1.983 * 1.160 / sqrt(3) * 0.266 % = 0.353 % at either end, and the ratio 0.706 %.
few_rounds() { # few_rounds FACTOR: two devices of one run; B's product takes FACTOR times as long
    document 2026-01-02T00:00:00Z cuda:0 "isomer 0.1.0" "$1" | grep -e tiled -e naive >rows
    { sed '/^\]}/d' a.json && sed 's/^{"id"/,{"id"/' rows && echo ']}'; } |
        sed 's|^"devices":\[|&{"spec":"cuda:0","backend":"cuda","name":"a GPU"},|
             s/\("samples":\(.\[[^]]*\]\)\{3\}\)[^a-z]*,"calls"/\1],"calls"/'
}
few_rounds 1.1 >few.json
compare 0 few.json --device-a openmp --device-b cuda
judged $tiled SLOWER 1.100
# The sentences. The geometric mean of 1, 1, 1 and 1 / 1.1 is 0.976. All cases of a round deviate
# alike, so a side's mean is known to within 4.303 * 1.160 / sqrt(3) * 0.2 % = 0.58 %, and the ratio
# of the two within 1.15 %: 0.965 to 0.988.
answers() { # answers TEXT...: the output says each text, however it is wrapped
    tr -s '\n ' '  ' <out >line
    says line "$@"
}
answers "cuda:0 (a GPU) against openmp:0 (a device)" \
    "openmp:0 is faster than cuda:0 in 1 of 4 comparable cases, 1.02 times as fast in the geometric mean (1.01 to 1.04 at 95 %, of these cases; half of them lie between 1.00 and 1.00); the same in 3." \
    "Best case: gemm tiled f32 N = 512, 1.10 times as fast; worst: gemm naive f32 N = 256, 1.00 times as fast." \
    "Take it with care: 3 rounds in a case are too few (6 are needed). It has 3 rounds a case; a typical time is known to within 0.35 % for openmp:0 and 0.35 % for cuda:0." \
    "With the fastest variant of each (3 problems): 1.03 times as fast." "Use openmp:0 for gemm."
compare 0 few.json --device-a cuda --device-b openmp --json few-c.json
answers "openmp:0 is faster than cuda:0 in 1 of 4 comparable cases, 1.02 times as fast in the geometric mean (1.01 to 1.04 at 95 %, of these cases; half of them lie between 1.00 and 1.00); the same in 3."
says few-c.json '"a": "cuda:0"' '"times_as_fast": 1.024' 'the same in 3.'
# Several operations: the best first.
sed 's|gemm/tiled/f32/512|stream/tiled/f32/512|
     /stream\/tiled\/f32\/512/s/"op":"gemm","kind":null/"op":"stream","kind":"copy"/' few.json >ops.json
compare 0 ops.json --device-a openmp --device-b cuda
answers "By operation: map 1.10, gemm 1.00 times as fast. Best case: map copy tiled f32" \
    "Use openmp:0 for map."
compare 0 ops.json --device-a openmp --device-b cuda --op copy
lacks out "gemm/"
says out "in 1 of 1 comparable"
# Without devices: each pair, and a matrix of means.
compare 0 few.json --json few-c.json
says out "cuda:0 (a GPU)" "openmp:0 (a device)"
answers "how many times as fast the device at the left is as the device at the top" "openmp:0 is faster than cuda:0 in 1 of 4" "cuda:0 0.976 -"
compare 0 few.json --device-a openmp
answers "openmp:0 is faster than cuda:0 in 1 of 4"
compare 2 few.json --device-a openmp --fail-on 5
says err "--device-b"
few_rounds 1.01 >few.json
compare 0 few.json --device-a openmp --device-b cuda --least-effect 0.2
judged $tiled SLOWER 1.010
compare 0 few.json --device-a openmp --device-b cuda --least-effect 0.45
judged $tiled AMBIGUOUS 1.010
answers "Of the 4 undecided, about --rounds 8 would decide all 4."
says out "3 of 6 rounds: run with --rounds 6" # 3 * (0.706 / 0.546)^2 is 5.02
compare 0 few.json --device-a openmp --device-b cuda --least-effect 0.7
answers "Of the 4 undecided, about --rounds 6 would decide 3, and 17 rounds all 4."
says out "slower, but whether by more than 0.7 % is not known: about 17 rounds would decide it" # 3 * (0.706 / 0.297)^2 is 16.9
compare 0 few.json --device-a openmp --device-b cuda --least-effect 0.9 --json few-c.json
says out "about 13 rounds would decide it" # 3 * (0.706 / 0.349)^2 is 12.3
says few-c.json '"advice": "slower, but whether by more than 0.9 % is not known: about 13'
# Drift is 1.4826 * 30 * 0.002 / 1.015: a difference of 5 % may be chance, however many rounds.
document 2026-01-02T00:00:00Z openmp:0 "isomer 0.1.0" 1 30 >noisy.json
document 2026-01-03T00:00:00Z openmp:0 "isomer 0.1.0" 1.05 30 >noisier.json
compare 0 noisy.json noisier.json
says out "two runs may differ by 9 % by chance"
answers "Take it with care: a typical time is only known to within" \
    "the machine may differ by 8.8 % between the two runs"

# Each device wins somewhere: the small product and the large one. The vendor's variant has its own
# mean, and another math mode is not compared. Cases of one device are counted by the reason.
rounds() { # rounds CASE FACTOR: the times of a case of cuda:0 are FACTOR times as long
    awk -v id="$1" -v factor="$2" '
        index($0, "\"device\":\"cuda:0\"") && index($0, id) {
            at = index($0, "\"samples\":"); end = index($0, ",\"calls\"")
            list = substr($0, at, end - at); out = ""
            while (match(list, /[0-9]+\.?[0-9]*/)) {
                out = out substr(list, 1, RSTART - 1) substr(list, RSTART, RLENGTH) * factor
                list = substr(list, RSTART + RLENGTH)
            }
            $0 = substr($0, 1, at - 1) out list substr($0, end)
            match($0, /"median":[0-9.]+/)
            $0 = substr($0, 1, RSTART + 8) substr($0, RSTART + 9, RLENGTH - 9) * factor substr($0, RSTART + RLENGTH)
        }
        { print }'
}
few_rounds 1 | rounds tiled/f32/256 2 | rounds naive/f32/256 2 | rounds tiled/f32/512 0.5 |
    rounds tiled/f64/512 0.25 | sed 's|tiled\(.\)f64|vendor\1f64|; s/"variant":"tiled","dtype":"f64"/"variant":"vendor","dtype":"f64"/' >both.json
compare 0 both.json --device-a openmp --device-b cuda
answers "slower in 2: gemm naive f32 N = 256, gemm tiled f32 N = 256" \
    "By variant: the vendor's 4.0 times as fast; isomer's own takes 1.26 times as long." \
    "Use cuda:0 for gemm from N = 512; openmp:0 for gemm below N = 512."
sed '/"device":"cuda:0"/s/"math":"strict","fill"/"math":"strict","math_used":"strict","fill"/
     /tiled.f32.512.*openmp:0/d; /naive.*openmp:0/{s/"status":"ok","reason":null/"status":"unsupported","reason":"too slow on a CPU"/
     s/"times":{.*"calls":1},"rates":{[^}]*}/"times":null,"rates":null/
     }' both.json | sed '/cuda:0.*tiled.f32.256/s/"math_used":"strict",//; /tiled.f32.256.*cuda:0/s/"math_used":"strict",//' >gaps.json
compare 0 gaps.json --device-a openmp --device-b cuda
says out "not counted: B has no strict"
answers "in 1 of 1 comparable cases" "1 not compared, because the math mode differs" \
    "Only cuda:0 has 2 cases: openmp:0 is too slow for 1, did not measure 1."

# Small ratios keep three digits, tables say map, and a second library is named.
few_rounds 1 | rounds tiled/f32/512 0.000438 |
    sed 's|gemm/tiled/f32/512|stream/tiled/f32/512|
         /stream\/tiled\/f32\/512/s/"op":"gemm","kind":null/"op":"stream","kind":"copy"/' >tiny.json
compare 0 tiny.json --device-a openmp --device-b cuda
says out " 0.000438 " "map, A on openmp:0" " map 1 1 0 "
lacks out "  stream  "
{ sed '/^\]}/d' few.json && grep 'tiled/f32/512.*cuda:0' few.json | sed 's/^,*/,/; s/"isomer 0.1.0"/"fastblas 2"/' && echo ']}'; } >second.json
compare 0 second.json --device-a openmp --device-b cuda
says out "on cuda:0 by fastblas 2"
answers "Only cuda:0 has 1 case: openmp:0 has no second library for 1."

# Six rounds: nothing speaks against it. Noisy cases do, and the power limit does not.
two_devices() { # two_devices FILE: two devices of one run
    sed 's/openmp:0/cuda:0/g' "$1" | grep -e tiled -e naive >rows
    { sed '/^\]}/d' a.json && sed 's/^{"id"/,{"id"/' rows && echo ']}'; } |
        sed 's|^"devices":\[|&{"spec":"cuda:0","backend":"cuda","name":"a GPU"},|'
}
two_devices slow.json | sed 's/"checked-once"/"checked-once","power-limited"/' >power.json
compare 0 power.json
answers "It can be believed: 6 rounds a case, enough for an interval of 95 %; a typical time is known to within" \
    "; 1 of 4 cases ran at the power limit."
sed '0,/"flags":\[\]/s//"flags":["noisy"]/' power.json >loud.json
compare 0 loud.json
answers "Take it with care: 1 of 4 cases are noisy. It has 6 rounds a case, enough"

# Files: JSON and CSV parse; a failing comparison overwrites nothing.
compare 0 a.json slow.json --json c.json --csv c.csv
judged $tiled SLOWER 1.100
compare 0 a.json slow.json --json -
says err Summary
lacks out Summary
if have python3; then
    python3 - <<'END' || fail "the comparison's files are wrong"
import csv, json
c = json.load(open("c.json"))
assert c["schema"] == "isomer-comparison/1" and c["unpaired"] is True
rows = list(csv.DictReader(open("c.csv", newline="")))
assert len(rows) == len(c["cases"]) == 5
for row, case in zip(rows, c["cases"]):
    assert None not in row and None not in row.values(), row
    assert row["id"] == case["id"] and row["verdict"] == (case["verdict"] or "")
    if case["ratio"] is not None:
        assert float(row["ratio"]) == case["ratio"] and case["low"] < case["ratio"] < case["high"]
slow = [r for r in rows if r["verdict"] == "SLOWER"]
assert len(slow) == 1 and abs(float(slow[0]["ratio"]) - 1.1) < 1e-9
assert rows[4]["reason_b"] == 'no "library", here' and rows[4]["ratio"] == ""
assert c["summary"][-1]["slower"] == 1 and c["summary"][-1]["not_compared"] == 1
try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not here: the JSON is not held against its schema")
else:
    import os
    path = os.environ["ISOMER_TEST_SOURCE"] + "/docs/schema/isomer-comparison-1.json"
    schema = json.load(open(path))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(c, schema)
END
else
    say "python3 is not here: the files are not parsed"
fi
echo before >c.json
compare 5 a.json seed.json --json c.json
[ "$(cat c.json)" = before ] || fail "a refused comparison wrote over a file"
compare 6 a.json slow.json --json none/c.json
compare 6 a.json none.json
[ ! -c /dev/full ] || compare 6 a.json slow.json --csv /dev/full
for left in *.json.* *.csv.*; do
    [ ! -e "$left" ] || fail "a temporary file was left: $left"
done

# Pairs of `bench --against`.
pair='{"id":"gemm/tiled/f32/512x512x512/nn/strict/uniform/hot","device":"openmp:0",
    "backend":"openmp","library":"isomer 0.1.0","ratio":1.08,"low":1.07,"high":1.09,"p":0.004,
    "pairs":[1.08,1.09,1.07,1.08,1.081,1.079,1.085,1.075,1.08],"verdict":"SLOWER"}'
sed '$d; s/"command":"bench"/"command":"against"/' a.json >pairs.json
printf '],"pairs":[%s]}\n' "$pair" >>pairs.json
compare 0 pairs.json
judged $tiled SLOWER 1.080
lacks out UNPAIRED
compare 1 pairs.json --fail-on 5
compare 0 pairs.json --fail-on 8.5
# Files from before pair counts existed: the status says whether a case is lost.
for status in failed error unsupported; do
    sed "s/\"verdict\":\"SLOWER\"/\"status_b\":\"$status\",\"reason_b\":\"why not\",&/" pairs.json >old-pairs.json
    compare 1 old-pairs.json --fail-on 50
    says out "B $status: why not"
done
# Lost in some pairs, including those in which A had no result either.
sed 's/"verdict":"SLOWER"/"status_b":"ok","reason_b":null,"made":12,"without_a":0,"without_b":3,"lost":3,"why_a":null,"why_b":"now and then",&/' pairs.json >some-pairs.json
compare 1 some-pairs.json --fail-on 50
judged $tiled SLOWER 1.080
says out "B no result in 3 of 12 pairs: now and then" "1 of 1 cases fail"
compare 0 some-pairs.json
sed 's/"without_a":0/"without_a":4/; s/"lost":3/"lost":0/' some-pairs.json >both-pairs.json
compare 0 both-pairs.json --fail-on 50
says out "A no result in 4 of 12 pairs"

# Usage.
compare 2
compare 2 a.json
says err --device-a
compare 2 a.json slow.json fast.json
compare 2 a.json slow.json --fail-on much
compare 2 a.json slow.json --fail-on 2 --least-effect 3
compare 1 a.json slow.json --fail-on 2 # the gate also sets the least effect
compare 2 a.json slow.json --op gemn
says err gemm
compare 2 a.json slow.json --faster
compare 2 a.json slow.json --json - --csv -
compare 2 - -
compare 0 --help
says out "Usage: isomer compare"
compare 5 a.json a.json --op transfer
sed 's/"status":"ok","reason":null/"status":"error","reason":"lost"/
     s/"times":{.*"calls":1},"rates":{[^}]*}/"times":null,"rates":null/' a.json >none-ok.json
compare 4 none-ok.json none-ok.json
