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

# matrix_units: the programs for gfx90a that use them, with A along k and B across it. Each has their
# instructions for its type.
matrix_units() {
    make_list wave64+64
    all=$list
    list=$scratch/units
    mkdir "$list"
    cp "$all"/*.text "$list"
    grep -E '^unit_wave|^gemm_waves.*ISO_DTYPE=[34] .*ISO_KA=1 -DISO_KB=0' "$all/list" >"$list/list"
    output=$scratch/gfx90a-units
    compile_all hiprtc - gfx90a "$list" "$output" 0 1 || fail "gfx90a: matrix units: a program does not compile"
    examine "$list" "$output" 1 >"$output/result" || failed="$failed gfx90a/units"
    for object in "$output"/*.bin; do
        number=${object##*/}
        options=$(sed -n "$((${number%.bin} + 1))p" "$list/list")
        case $options in *ISO_USE_F64*) type=f64 ;; *) type=f32 ;; esac
        objdump_of "$object" | grep -q "v_mfma_${type}_16x16x4" || {
            say "FAIL: no v_mfma_$type in $options"
            failed="$failed gfx90a/units"
        }
    done
    grep '^FAIL' "$output/result" || true
    say "gfx90a, matrix units: $(grep -v '^FAIL' "$output/result" | paste -sd ';')"
}

# byte_units ARCHITECTURE: products on int8 matrix units. Their sums must stay in registers.
byte_units() {
    make_list wave64+64
    units=$scratch/byte_units
    mkdir -p "$units"
    cp "$list/fixed_matrix.text" "$units"
    grep '^fixed_matrix' "$list/list" >"$units/list" || fail "the list has no products on int8 matrix units"
    output=$scratch/$1-byte-units
    compile_all hiprtc - "$1" "$units" "$output" 0 1 || fail "$1: fixed_matrix does not compile"
    examine "$units" "$output" 1 >"$output/result" || failed="$failed $1/byte-units"
    grep '^FAIL' "$output/result" || true
    found=$(objdump_of "$output/0.bin" | grep -c 'v_mfma_i32_32x32x8i8')
    [ "$found" -gt 0 ] || failed="$failed $1/no-matrix-unit"
    say "$1, int8 matrix units: $found instructions of the unit; $(grep -v '^FAIL' "$output/result" | paste -sd ';')"
}

failed=
byte_units gfx90a
if [ "$2" = full ]; then
    byte_units gfx908
    for class in wave64 small; do one gfx906 "$class" 0 1; done
    for class in wave64+64 small; do one gfx90a "$class" 0 1; done
    for class in wave32 small; do one gfx1030 "$class" 0 1; done
else
    # A quarter of a minute of one core: different parts for different chips. `full` compiles all programs for
    # all chips.
    one gfx906 wave64 0 40
    one gfx1030 wave32 1 40
    one gfx90a wave64 2 80
    matrix_units
fi
[ -z "$failed" ] || fail "see above:$failed"
