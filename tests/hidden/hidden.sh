# SPDX-License-Identifier: Apache-2.0
# hidden.sh HIDE_LIBRARY: with every vendor library hidden, the tool starts, reports what is missing
# and why, and the CPU backend passes the suite without its vendor variants, in the types that use a
# vendor's products and in others.
. "$ISOMER_TEST_COMMON"
hide=$(preloadable "$1")
log=$scratch/refused

hidden() {
    env -i PATH=/usr/bin:/bin HOME="$scratch" LD_PRELOAD="$hide" ISOMER_TEST_HIDDEN_LOG="$log" \
        ${LSAN_OPTIONS:+LSAN_OPTIONS="$LSAN_OPTIONS"} "$@"
}

hidden "$tool" info --all >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    fail "isomer info fails where no vendor library is"
}
[ -s "$log" ] || fail "nothing was refused: this test would prove nothing"
say "refused: $(sort -u "$log" | tr '\n' ' ')"
for backend in cuda hip opencl openmp; do
    grep -q "$backend" "$scratch/out" || fail "isomer info does not mention $backend"
done

types=f32,bf16,i64,e4
hidden "$tool" verify --backend openmp --suite quick --dtype $types >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    fail "isomer verify fails where no vendor library is"
}
code=0
hidden "$tool" verify --backend openmp --suite quick --dtype $types --variant vendor >"$scratch/out" 2>&1 || code=$?
case $code in
2) ;; # the tool has no such option
0 | 4) ;;
*) cat "$scratch/out"; fail "exit code $code for vendor variants that are not there" ;;
esac
