# SPDX-License-Identifier: Apache-2.0
# hip.sh PROGRAMS quick|full: compiles the programs of the HIP backend by the real hipRTC, which
# needs no device, and reads from the code objects what the kernels use.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
find_llvm

# one ARCHITECTURE CLASS FIRST STEP
one() {
    make_list "$2"
    output=$scratch/$1-$2
    whole=0
    [ "$4" != 1 ] || whole=$(whole_list "$2")
    started=$(date +%s)
    code=0
    compile_all hiprtc - "$1" "$list" "$output" "$3" "$4" || code=$?
    [ "$code" != 77 ] || absent "hipRTC is not here: install libamdhip64-5 (or -dev) or newer"
    [ "$code" = 0 ] || fail "$1 ($2): exit code $code"
    examine "$list" "$output" "$whole" >"$output/result" || failed="$failed $1/$2"
    say "$1 ($2), $(($(date +%s) - started)) s: $(grep -v '^FAIL' "$output/result" | paste -sd ';')"
    grep '^FAIL' "$output/result" || true
}

failed=
if [ "$2" = full ]; then
    for class in wave64 small; do
        for architecture in gfx906 gfx90a; do one "$architecture" "$class" 0 1; done
    done
    for class in wave32 small; do one gfx1030 "$class" 0 1; done
else
    # A minute of one core: different parts for different chips. `full` compiles all programs for
    # all chips.
    one gfx906 wave64 0 6
    one gfx1030 wave32 1 6
    one gfx90a wave64 2 18
fi
[ -z "$failed" ] || fail "see above:$failed"
