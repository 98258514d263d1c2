# SPDX-License-Identifier: Apache-2.0
# fixed_matrix.sh PROGRAM BACKEND: fixed products on the stand-in's int8 matrix units have the CPU's bits, and
# a unit that computes something else is not used, which `info` and `iso_describe` report.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
backend=$2
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR="$scratch/cache" ISOMER_TILES=own
# The leak checker cannot walk the storage of threads in kernels that were unloaded.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

# property WANTED: the property of the device begins with this text.
property() {
    "$tool" info --backend "$backend" --all >"$scratch/info" 2>"$scratch/err" || fail "info: $(cat "$scratch/err")"
    grep "int8 matrix units  *$1" "$scratch/info" ||
        fail "the property is not '$1': $(grep "matrix units" "$scratch/info")"
}
# products SIZES WANTED: how many products use the units.
products() {
    "$program" "$backend" f64 "$1" >"$scratch/products" || { cat "$scratch/products"; fail "the products"; }
    [ "$(grep -c "int8 matrix units" "$scratch/products")" = "$2" ] ||
        { cat "$scratch/products"; fail "not $2 products use the units"; }
}

property "not tried yet"
products fixed 16
cat "$scratch/products"
property "used"
if [ "$backend" = cuda ]; then # launches that add no shared memory: the small tile alone
    FAKE_SHARED_MOST=0 ISOMER_CACHE_DIR="$scratch/cache.declared" products first 4
fi
ISOMER_TILES=plain property "not used: ISOMER_TILES is plain"
ISOMER_TILES=plain products first 0
# The vendor's library goes first.
ISOMER_TILES=auto products first 0

# A unit for which B's bytes have no sign, one whose sums saturate, one with other columns; and a
# compiler that does not know the instructions. The second process finds the verdict.
for fault in 4 5 6 compile; do
    export ISOMER_CACHE_DIR="$scratch/cache.$fault"
    if [ "$fault" = compile ]; then export FAKE_COMPILE=fixed_matrix; else export FAKE_UNIT=$fault; fi
    products first 0
    unset FAKE_UNIT FAKE_COMPILE
    if [ "$fault" = compile ]; then
        property "not used: its test does not compile"
    else
        property "not used: tile 0 of its test gave"
    fi
    ISOMER_LOG=debug "$program" "$backend" f64 first >"$scratch/products" 2>"$scratch/err" || fail "fault $fault: the second process"
    if grep fixed_matrix "$scratch/err"; then fail "fault $fault: the verdict was not kept"; fi
    if grep "int8 matrix units" "$scratch/products"; then fail "fault $fault: the unit is used later"; fi
done
