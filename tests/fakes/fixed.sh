# SPDX-License-Identifier: Apache-2.0
# fixed.sh PROGRAM BACKEND: fixed products have the CPU's bits whether the vendor's library multiplies
# their bytes or not, and whether they are computed in blocks. Faults of the library are seen.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
backend=$2
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR="$scratch/cache"
export ISOMER_LOG=warn
case $backend in
cuda) library=cuBLAS file=libcublas.so.13 ;;
*) library=rocBLAS file=librocblas.so.4 ;;
esac
# The leak checker cannot walk the storage of threads in kernels that were unloaded.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

# run NAME all|few|deep COUNT: all products are equal, and COUNT are by the library.
run() {
    "$program" "$backend" "$2" >"$scratch/out" 2>"$scratch/err" || {
        cat "$scratch/out" "$scratch/err"
        fail "$1"
    }
    by=$(grep -c ", $library " "$scratch/out" || true)
    say "$1: $(grep -c ": equal" "$scratch/out") products, $by by $library"
    case $3 in
    "$by" | any) ;;
    *) cat "$scratch/out"; fail "$1: not $3 products by $library" ;;
    esac
}
# refusals COUNT: so many devices have said that the own kernel is used instead.
refusals() {
    [ "$(grep -c "own kernel computes" "$scratch/err")" = "$1" ] || { cat "$scratch/err"; fail "not $1 refusals"; }
}

run "by the library" all 19 # not those of 5 x 6 x 7
refusals 0
run "more steps than a sum holds" deep 1
FAKE_MEMORY=50000000 run "in blocks" all 19
FAKE_BYTES=refuse run "refused" few 7
refusals 7
ISOMER_TILES=own run "own kernels" few 0
ISOMER_TILES=plain run "plain kernels" few 0

# Without the stand-in for the library. There may be a real one, which has no device.
mkdir "$scratch/without"
for each in "$fakes/$backend"/*; do
    case $each in */"$file") ;; *) ln -s "$each" "$scratch/without/" ;; esac
done
ISOMER_CUDA_PATH=$scratch/without ISOMER_ROCM_PATH=$scratch/without run "no library" few any

if FAKE_BYTES=wrong "$program" "$backend" few >"$scratch/out" 2>"$scratch/err"; then fail "a wrong sum is not seen"; fi
[ "$(grep -c "OTHER BITS" "$scratch/out")" = 7 ] || { cat "$scratch/out"; fail "not all wrong sums are seen"; }
