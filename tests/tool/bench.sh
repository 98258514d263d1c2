# SPDX-License-Identifier: Apache-2.0
# bench.sh MUTANTS FAULT: `isomer bench` as a whole: exit codes, places that cannot be written, a
# wrong kernel, a backend that ends the process, an interruption that keeps the results so far.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
faults=$2
ISOMER_BACKEND_PATH=$1:$2
export ISOMER_BACKEND_PATH
# shellcheck disable=SC3045 # if it is missing, a core file goes to a temporary folder
ulimit -c 0 2>/dev/null || true
cd "$scratch" || exit

bench() { # bench CODE OPTIONS...
    wanted=$1
    shift
    case " $* " in
    *" --size "*) ;;
    *) set -- --size 64 "$@" ;;
    esac
    expect "$wanted" bench --no-roofs --rounds 1 --budget 600 "$@"
}
clean() {
    for left in ./*.json.* ./*.csv.* ./*.html.*; do
        [ ! -e "$left" ] || fail "a temporary file was left: $left"
    done
}

# Wrong arguments.
bench 2 --backend openmp --op gem
says err '"gem"' '"gemm"'
bench 2 --backend openmp --op ,
says err --op "has no entry"
bench 2 --backend openmp --op copy --size ,
says err --size "has no entry"
bench 6 --backend openmp --suite "$scratch/"
says err "$scratch/ cannot be read" directory
bench 4 --backend openmp --op copy --dtype e4
says err "nothing was run" --list
bench 2 --backend openmp --op copy --json same --csv same
says err "same is given for two"

# Places that cannot be written are found before anything is measured.
for option in json csv markdown report; do
    bench 6 --backend openmp --op copy "--$option" none/x
    says err none/x "No such file"
    [ ! -s out ] || fail "--$option: there is a table"
done

# A device named twice is measured once.
bench 0 --backend openmp,openmp:0 --op copy --dtype f32 --variant tiled --json one.json
[ "$(grep -c '"device": "openmp:0"' one.json)" -eq 1 ] || fail "one device has two rows"

says one.json '"probe": null' '"left_out": []'
grep -q '"open": [0-9]*[1-9]' one.json || fail "one.json does not say how long the device took to open"

# A device that does not open is listed as skipped if all were selected, and is an error if it was
# named.
unopened() { # unopened CODE OPTIONS...
    ISOMER_BACKEND_PATH=$faults OCL_ICD_VENDORS=$scratch/none ISOMER_FAULT=open-fails \
        CUDA_VISIBLE_DEVICES="" bench "$@" --op copy --dtype f32 --variant tiled --json unopened.json
}
unopened 0 --backend all
says err "left out: fault:0:"
says out "left out:" fault:0
says unopened.json '"left_out": [ { "device": "fault:0", "reason": "' '"probe": ' '"spec": "openmp:0"'
grep -q '"probe": null' unopened.json && fail "finding the devices took no time"
rm unopened.json
unopened 3 --backend openmp,fault
[ ! -e unopened.json ] || fail "there are results though a device that was named did not open"

# The size beyond every cache is limited to a sixteenth of the memory that may be used. Elements
# have 8 bytes here.
ISOMER_MEMORY_LIMIT=256M "$tool" bench --backend openmp --op copy --dtype f64 --list >out
says out stream/copy/tiled/f64/2097152/uniform/hot

# A case that is too large for every device has a row, and the other cases run.
bench 0 --backend openmp --op gemm --dtype f32 --variant tiled --size 64,64Gi --json big.json
says out "does not fit"
says big.json '"status": "ok"' '"status": "unsupported"'

# The reader of the table may close its pipe: the file is still complete.
"$tool" bench --backend openmp --no-roofs --rounds 1 --budget 600 --size 64 --op copy --dtype f32 \
    --json piped.json 2>err | true
says piped.json '"complete": true'

# Fixed products are no multiply-adds: they have no roof, and are none.
"$tool" bench --backend openmp --op gemm --dtype f32 --variant tiled,fixed --size 256 --rounds 1 \
    --budget 6 --json roofs.json >out 2>err || fail "roofs: $(cat out err)"
python3 - <<'END' || fail "roofs: $(cat roofs.json)"
import json
run = json.load(open("roofs.json"))
roofs = {r["variant"]: r["roof"] for r in run["results"] if r["op"] == "gemm"}
assert roofs["fixed"] is None and roofs["tiled"]["percent"] > 0, roofs
assert not any("fixed" in (roof["by"] or "") for d in run["devices"] for roof in d["roofs"])
END

# A budget that is too short for one sample.
code=0
"$tool" bench --backend openmp --no-roofs --budget 0.01 --op gemm --dtype f64 --variant naive \
    --size 1024 >out 2>err || code=$?
[ "$code" -eq 4 ] || fail "a budget that is too short: exit code $code"
says err "skipped, because 0.01 s have no time for 6 rounds"
says out "no time"

# A wrong kernel has no number anywhere. Mutant 64 leaves out the last element of a map.
bench 1 --backend mutant64 --op add --dtype f32 --variant tiled --json wrong.json --csv wrong.csv \
    --markdown wrong.md --report wrong.html
says out FAILED "element [63]"
says wrong.json '"status": "failed"' '"times": null' '"rates": null' '"error": null'
says wrong.md FAILED
grep -q '"median"' wrong.json && fail "a wrong result has a time"
says wrong.csv ,failed,
says wrong.html "element [63]"

# `auto` says which variant ran.
ISOMER_BACKEND_PATH='' bench 0 --backend openmp --op gemm,transpose,add --dtype f32,e4 --variant auto --json auto.json --csv auto.csv
says auto.json '"variant": "auto"' '"variant_used": "tiled"'
says out "auto chose"
grep -qE ',(tiled|vendor).$' auto.csv || fail "CSV does not say which variant ran"
rm -f auto.*

# A device without TF32 runs the product as strict, and the row says so and why.
ISOMER_BACKEND_PATH='' bench 0 --backend openmp --op gemm --dtype f32 --variant vendor,tiled --math tf32 --json tf32.json \
    --csv tf32.csv --report tf32.html
says tf32.json '"math": "tf32"' '"math_used": "strict"' '"math_reason": "openmp: gemm: ' 'no TF32' '"ran-strict"'
grep -q '"status": "unsupported"' tf32.json && fail "permission to use TF32 takes the vendor's product away"
says out "openmp:0 has no TF32" "ran in full precision"
says tf32.csv ,math_used,math_reason 'no TF32'
says tf32.html ran-strict
bench 0 --backend openmp --op gemm --dtype f32 --variant vendor,tiled --json strict.json
[ "$(grep -c math_used strict.json)" -eq "$(grep -c '^  {.*"math": "tf32"' strict.json)" ] ||
    fail "a row that was asked for as strict says which mode was used instead"
rm -f tf32.* strict.json
ISOMER_MATH=tf32 "$tool" info --all --backend openmp >out || fail "info with ISOMER_MATH=tf32 exits with $?"
says out "TF32 not used, products are strict: openmp: gemm:" "no TF32"
"$tool" info --all --backend openmp >out || fail "info exits with $?"
grep -q "TF32 " out && fail "info speaks of TF32 where it was not asked for"

# A backend that ends the process.
code=0
ISOMER_FAULT=aborts "$tool" bench --backend fault --no-roofs --op add --dtype f32 --size 64 \
    --json dead.json --csv dead.csv >out 2>err || code=$?
[ "$code" -gt 128 ] || fail "a backend that aborts: exit code $code"
says err SIGABRT "stream/add/tiled/f32/64/uniform/hot on fault:0"
clean

# Interrupted after the first round, when the file exists: measured results are kept.
"$tool" bench --backend openmp --no-roofs --op gemm --dtype f64 --variant naive --size 800 \
    --budget 100 --json kept.json --report kept.html >out 2>err &
pid=$!
stopped TERM [ -e kept.json ]
says kept.json checked-once
says kept.json '"complete": false' '"status": "ok"' '"median"'
[ -s kept.html ] || fail "interrupted: no report"
clean
