# SPDX-License-Identifier: Apache-2.0
# peers.sh BACKEND FOLDER: isomer's figures against programs that call the libraries directly, in
# alternation: the median of the pairs' ratios must be within 3 %. On a shared machine the median of
# 60 pairs of a stream kernel was itself seen anywhere from 0.92 to 1.04: if one is off, as many
# pairs are added, twice at most, and the median of all counts. Peers without a library or device
# here are skipped by name.
. "$ISOMER_TEST_COMMON"
backend=$1
peers=$2
compared=0

# agrees PEER OPTIONS...: every case that both have.
agrees() {
    peer=$1
    shift
    if ! "$peers/$peer" --size 64 --dtype f32 >/dev/null 2>"$scratch/why"; then
        say "left out: $peer: $(tr '\n' ' ' <"$scratch/why")"
        return
    fi
    rm -f "$scratch"/pairs.*
    for try in 1 2 3; do
        code=0
        "$tool" bench --backend "$backend" --against "$peers/$peer" --budget 600 \
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
"$tool" info --backend "$backend" >/dev/null 2>"$scratch/why" || skip "$(head -n 1 "$scratch/why")"

case $backend in
openmp)
    agrees peer-openblas --op gemm --variant vendor --dtype f32,f64 --size 512,1024 --rounds 24
    # One kernel at a time: the closer in time the two of a pair are, the less can happen between
    # them.
    for kind in copy scale add triad dot; do
        agrees peer-stream --suite stream --op $kind --variant naive --dtype f64 --size 16Mi --rounds 60
    done
    ;;
cuda)
    agrees peer-cuda --op gemm --variant vendor --dtype f32,f64 --size 1024,4096,8192 --rounds 10
    agrees peer-cuda --op copy --variant device --size 256Mi,1Gi --rounds 10
    ;;
opencl)
    agrees peer-clblast --op gemm --variant vendor --dtype f32 --size 1024 --rounds 24
    ;;
esac
[ "$compared" -gt 0 ] || skip "no peer can run here"
