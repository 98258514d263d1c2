# SPDX-License-Identifier: Apache-2.0
# peers.sh FOLDER: isomer's figures against programs that call the libraries by themselves, turn by turn:
# each within 3 %, which its interval has to allow: on a machine that is shared, the median of 40 pairs of
# streams was itself seen anywhere from 0.96 to 1.04. What has no library or device here is left out by name.
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
    "$tool" bench --backend "$name" --against "$peers/$peer" --budget 600 --json "$scratch/json" "$@" \
        >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "bench --against $peer ends with $?"
    }
    python3 - "$scratch/json" <<'END' || fail "$peer does not agree"
import json, sys
pairs = [p for p in json.load(open(sys.argv[1]))["pairs"] if p["ratio"] is not None]
wrong = 0
for p in pairs:
    off = p["low"] > 1.03 or p["high"] < 0.97
    wrong += off
    print(f"{p['id']:60} {p['ratio']:.4f} ({p['low']:.4f} to {p['high']:.4f}), {len(p['pairs'])} pairs"
          + (" OFF" if off else ""))
sys.exit(wrong > 0 or not pairs)
END
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
