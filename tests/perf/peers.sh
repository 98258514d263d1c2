# SPDX-License-Identifier: Apache-2.0
# peers.sh FOLDER: isomer's figures against programs that call the libraries by themselves, turn by turn:
# the median of the pairs' ratios within 3 %. On a machine that is shared that of 60 pairs of a stream was
# itself seen anywhere from 0.92 to 1.04: where one is off, as many pairs are added, twice at most, and the
# median of all counts. What has no library or device here is left out by name.
. "$ISOMER_TEST_COMMON"
peers=$1
compared=0

# agrees NAME PEER OPTIONS...: every case that both have.
agrees() {
    name=$1 peer=$2
    shift 2
    if ! "$tool" info --backend "$name" >/dev/null 2>"$scratch/why"; then
        say "left out: $peer: $(head -n 1 "$scratch/why")"
        return
    fi
    if ! "$peers/$peer" --size 64 --dtype f32 >/dev/null 2>"$scratch/why"; then
        say "left out: $peer: $(tr '\n' ' ' <"$scratch/why")"
        return
    fi
    rm -f "$scratch"/pairs.*
    for try in 1 2 3; do
        code=0
        "$tool" bench --backend "$name" --against "$peers/$peer" --budget 600 \
            --json "$scratch/pairs.$try" "$@" >"$scratch/out" 2>&1 || code=$?
        [ "$code" -eq 0 ] || {
            cat "$scratch/out"
            fail "bench --against $peer ends with $code"
        }
        agree=0
        python3 - "$scratch"/pairs.* <<'END' || agree=$?
import collections, json, statistics, sys
ratios = collections.defaultdict(list)
for path in sys.argv[1:]:
    for pair in json.load(open(path))["pairs"]:
        ratios[pair["id"]] += pair["pairs"]
wrong = 0
for name, values in ratios.items():
    if values:
        middle = statistics.median(values)
        off = not 0.97 <= middle <= 1.03
        wrong += off
        print(f"{name:60} {middle:.4f}, {len(values)} pairs" + (" OFF" if off else ""))
sys.exit(wrong > 0 or not any(ratios.values()))
END
        [ "$agree" -ne 0 ] || break
    done
    [ "$agree" -eq 0 ] || fail "$peer does not agree"
    compared=$((compared + 1))
}
need python3 python3

agrees openmp peer-openblas --op gemm --variant vendor --dtype f32,f64 --size 512,1024 --rounds 24
agrees openmp peer-stream --suite stream --op copy,scale,add,triad,dot --variant naive --dtype f64 \
    --size 16Mi --rounds 60
agrees cuda peer-cuda --op gemm --variant vendor --dtype f32,f64 --size 1024,4096,8192 --rounds 10
agrees cuda peer-cuda --op copy --variant device --size 256Mi,1Gi --rounds 10
agrees opencl peer-clblast --op gemm --variant vendor --dtype f32 --size 1024 --rounds 10
[ "$compared" -gt 0 ] || skip "no peer can run here"
