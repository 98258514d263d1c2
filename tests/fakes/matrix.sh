# SPDX-License-Identifier: Apache-2.0
# matrix.sh PROGRAM cuda|hip f64|f32|f16 quick|full: products on a stand-in's matrix units have the CPU's bits, and
# a unit with another arithmetic is not used, which `info` and `iso_describe` report.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
backend=$2
type=$3
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR="$scratch/cache"
case $backend-$type in
cuda-f64) tested=unit_f64 tiles="32x32x16 64x64x16" ;;
hip-f64) tested=unit_wave tiles="32x32x16 64x64x8 128x64x8" ;;
hip-f32 | hip-f16) tested=unit_wave tiles="32x32x16 64x64x16 128x128x16" ;;
esac
# The leak checker cannot walk the storage of threads in kernels that were unloaded.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

# property WANTED: the property of the device begins with this text.
property() {
    "$tool" info --backend "$backend" --all >"$scratch/info" 2>"$scratch/err" || fail "info: $(cat "$scratch/err")"
    grep "$type matrix units  *$1" "$scratch/info" ||
        fail "the property is not '$1': $(grep "matrix units" "$scratch/info")"
}
# verify WORD...: the digests of some products are the CPU's.
verify() {
    "$tool" verify --backend "$backend,openmp" --bitwise --suite quick --op gemm --variant tiled --dtype "$type" \
        >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "verify $*"; }
    grep digest "$scratch/out" | sort -u >"$scratch/digest.$1"
    [ "$(wc -l <"$scratch/digest.$1")" = 1 ] || fail "no digest: $(cat "$scratch/out")"
}

# products WORD...: runs the program.
products() { "$program" "$backend" "$type" "$@" >"$scratch/products"; }

if [ "$4" = full ]; then
    products || { cat "$scratch/products"; fail "the products"; }
    cat "$scratch/products"
    for tile in $tiles "32x32x16 segments apart"; do
        [ "$(grep -c "^gemm_matrix_$type $tile:" "$scratch/products")" -ge 4 ] || fail "no products with tile $tile"
    done
    if [ "$backend" = cuda ]; then
        for tile in 128x64x16 128x128x16 "128x128x16 last tiles apart"; do
            [ "$(grep -c "^gemm_split_f64 $tile:" "$scratch/products")" -ge 4 ] || fail "no products split, with tile $tile"
        done
        # NVRTC 11 does not compile for one chip alone.
        mkdir "$scratch/old"
        cp -P "$fakes"/cuda/* "$scratch/old"
        mv "$scratch/old/libnvrtc.so.13" "$scratch/old/libnvrtc.so.11.2"
        ISOMER_CUDA_PATH="$scratch/old" products quick || { cat "$scratch/products"; fail "NVRTC 11"; }
        if grep gemm_split "$scratch/products"; then fail "a product is split with NVRTC 11"; fi
        # Other chips have no gates. Where launches add no shared memory, another tile is the largest.
        FAKE_CHIP=100 products || { cat "$scratch/products"; fail "no gates"; }
        for tile in 64x128x16 128x128x16; do
            [ "$(grep -c "^gemm_matrix_f64 $tile:" "$scratch/products")" -ge 4 ] || fail "no products with tile $tile"
        done
        FAKE_SHARED_MOST=0 products || { cat "$scratch/products"; fail "no memory added"; }
        grep -q "^gemm_matrix_f64 128x128x8:" "$scratch/products" || fail "no products with tile 128x128x8"
    fi
    # Plain tiles have the same bits.
    ISOMER_TILES=plain products || { cat "$scratch/products"; fail "plain tiles"; }
    if grep -e gemm_matrix -e gemm_split "$scratch/products"; then fail "ISOMER_TILES=plain uses matrix units"; fi
    exit 0
fi

property "not tried yet"
products quick || { cat "$scratch/products"; fail "the products"; }
cat "$scratch/products"
grep -q "^gemm_matrix_$type " "$scratch/products" || fail "no product on matrix units"
[ "$backend" = hip ] || grep -q "^gemm_split_$type " "$scratch/products" || fail "no product was split"
property "used"
verify unit
ISOMER_TILES=plain property "not used: ISOMER_TILES is plain"
ISOMER_TILES=plain verify plain
cmp "$scratch/digest.unit" "$scratch/digest.plain" || fail "the digests differ"

# A unit that adds the terms in descending order, one that flushes subnormal numbers, one that adds
# (+0) (+0); and a compiler that does not know the instructions. The second process finds the verdict.
for fault in 1 2 3 compile; do
    export ISOMER_CACHE_DIR="$scratch/cache.$fault"
    if [ "$fault" = compile ]; then export FAKE_COMPILE="$tested"; else export FAKE_UNIT=$fault; fi
    products quick || { cat "$scratch/products"; fail "fault $fault: wrong bits"; }
    if grep -e gemm_matrix -e gemm_split "$scratch/products"; then fail "fault $fault: the unit is used"; fi
    unset FAKE_UNIT FAKE_COMPILE
    if [ "$fault" = compile ]; then
        property "not used: its test does not compile"
    else
        property "not used: 4 of its terms at a time gave"
    fi
    ISOMER_LOG=debug products quick 2>"$scratch/err" || fail "fault $fault: the second process"
    if grep "$tested" "$scratch/err"; then fail "fault $fault: the verdict was not kept"; fi
    if grep -e gemm_matrix -e gemm_split "$scratch/products"; then fail "fault $fault: the unit is used later"; fi
done
