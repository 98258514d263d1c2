# SPDX-License-Identifier: Apache-2.0
# float.sh PROGRAM BACKEND: a caller that enables floating-point traps, rounds downwards or flushes
# subnormals before a driver is first opened gets the same bits as any other, without a crash.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
export ISOMER_CACHE_DIR="$scratch/cache"
mkdir -m 700 "$scratch/cache"

"$program" "$backend" plain >"$scratch/plain" || {
    code=$?
    cat "$scratch/plain"
    [ $code != 77 ] || skip "$backend is not available here"
    fail "$backend without anything special: exit code $code"
}
cat "$scratch/plain"
for how in traps downward flush; do
    code=0
    "$program" "$backend" $how >"$scratch/$how" 2>"$scratch/err" || code=$?
    [ $code = 0 ] || { cat "$scratch/$how" "$scratch/err"; fail "$backend, $how: exit code $code"; }
    cmp "$scratch/plain" "$scratch/$how" || {
        diff "$scratch/plain" "$scratch/$how" || true
        fail "$backend, $how: other bits"
    }
done
