# SPDX-License-Identifier: Apache-2.0
# nvrtc.sh PROGRAMS quick|full: compiles the programs of the CUDA backend by the real NVRTC, which
# needs no device, and reads from the assembler's remarks what the kernels use. `full` compiles all
# programs for one chip of each generation, and a sixth for each other chip from sm_75 on that this
# NVRTC knows. ISOMER_NVRTC may name another NVRTC.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
nvrtc=${ISOMER_NVRTC:--}

known=$("$programs/compile" nvrtc "$nvrtc") || {
    ! required cuda || fail "NVRTC is required and not here"
    skip "NVRTC is not here: install CUDA's libnvrtc 11.2 or newer"
}
compiler="NVRTC ${known%% *}"
failed=

# class_of ARCHITECTURE: the class of its devices, with the rows of its f64 matrix unit, or 0, if the
# backend uses its int8 units (backends/cuda/device.c).
class_of() {
    case $1 in
    sm_80) echo warp32+8 ;;
    sm_90) echo warp32+16 ;; # by an NVRTC that does not know it as sm_90a
    sm_90a) echo warp32+90 ;;
    sm_100) echo warp32+16 ;;
    sm_75) echo warp32 ;;
    *) echo warp32+0 ;;
    esac
}

# one ARCHITECTURE CLASS FIRST STEP
one() {
    make_list "$2"
    output=$scratch/$1-$2
    whole=0
    [ "$4" != 1 ] || whole=2
    case $4$2 in 1warp32*) whole=1 ;; esac
    started=$(date +%s)
    compile_all nvrtc "$nvrtc" "$1" "$list" "$output" "$3" "$4" || fail "$1 ($2) does not compile"
    remarks "$output" >"$output/remarks"
    awk -v list="$list/list" -v whole="$whole" -f "$here/programs.awk" -f "$here/ptxas.awk" "$output/remarks" >"$output/result" ||
        failed="$failed $1/$2"
    grep '^FAIL' "$output/result" || true
    say "$1 ($2), $(($(date +%s) - started)) s: $(grep -v '^FAIL' "$output/result")"
    made=$(find "$output" -name '*.bin' | wc -l)
    rm -f "$output"/*.bin "$output"/*.log
    if [ "$2" != small ]; then compiled cuda "$1" "$compiler" "$made" "$list" "$output/result"; fi
}

# matrix_units ARCHITECTURE ROWS: the programs that use them, with A along k and B across it.
matrix_units() {
    make_list "warp32+$2"
    all=$list
    list=$scratch/units-$2
    mkdir "$list"
    cp "$all"/*.text "$list"
    grep -E '^unit_f64|^fixed_matrix|^gemm_(matrix|split).*ISO_KA=1 -DISO_KB=0' "$all/list" | grep -v "${3:-none}" >"$list/list"
    output=$scratch/$1-units
    compile_all nvrtc "$nvrtc" "$1" "$list" "$output" 0 1 || fail "$1: matrix units: a program does not compile"
    remarks "$output" >"$output/remarks"
    awk -v list="$list/list" -v whole=1 -f "$here/programs.awk" -f "$here/ptxas.awk" "$output/remarks" >"$output/result" ||
        failed="$failed $1/units"
    grep '^FAIL' "$output/result" || true
    grep -q 'fixed_matrix' "$list/list" || fail "the list has no products on int8 matrix units"
    say "$1, matrix units: $(grep -v '^FAIL' "$output/result")"
}

# The backend compiles for the one chip if NVRTC can (backends/cuda/driver_program.c).
hopper=sm_90a
case $known in 11.*) hopper=sm_90 ;; esac

if [ "$2" = full ]; then
    part=0
    for architecture in ${known#* }; do
        [ "$architecture" != sm_90 ] || architecture=$hopper
        case $architecture in
        sm_75 | sm_80 | "$hopper" | sm_100 | sm_120) one "$architecture" "$(class_of "$architecture")" 0 1 ;;
        sm_[3-6]? | sm_70 | sm_72) ;;
        *) part=$((part + 1)) && one "$architecture" "$(class_of "$architecture")" $((part % 6)) 6 ;;
        esac
    done
    one "$hopper" small 0 1
    compiled_write cuda "$compiler" "offline.nvrtc.full"
else
    # A quarter of a minute of one core. The sample has the norm of f64, whose constants not every version of
    # NVRTC can read.
    class=$(class_of "$hopper")
    make_list "$class"
    norm=$(grep -n -m1 '^reduce.*ISO_DTYPE=4 -DISO_OP=8 ' "$list/list" | cut -d: -f1)
    [ -n "$norm" ] || fail "the list has no norm2 of f64"
    one "$hopper" "$class" $(((norm - 1) % 48)) 48
    # Products on matrix units, in one layout of each tile, and the test of the units.
    matrix_units "$hopper" "${class#*+}"
    matrix_units sm_100 16 ISO_CONTINUES
    matrix_units sm_80 8 ISO_CONTINUES
fi
[ -z "$failed" ] || fail "see above:$failed"
