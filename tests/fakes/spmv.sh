# SPDX-License-Identifier: Apache-2.0
# spmv.sh PROGRAM BACKEND: products of sparse matrices by the vendor's library have right results, go
# to the right library, and its refusals and statuses are reported.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR=off
# The leak checker may crash while a stand-in's thread ends (seen once in 450 runs, which had no leak).
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
case $backend in
cuda)
    label='cuSPARSE 12.6.3: cusparseSpMV,'
    title=cuSPARSE call=cusparseSpMV
    memory='2 CUSPARSE_STATUS_ALLOC_FAILED' other='10 CUSPARSE_STATUS_NOT_SUPPORTED'
    products='cuBLAS (0) and cuBLASLt (1)' grown=cusparseSpMV_bufferSize
    ;;
*)
    label='rocSPARSE 3.2.1: rocsparse_spmv,'
    title=rocSPARSE call=rocsparse_spmv
    memory='5 rocsparse_status_memory_error' other='2 rocsparse_status_not_implemented'
    products='rocBLAS (0) and hipBLASLt (1)' grown='rocsparse_spmv for the size'
    ;;
esac

# run HOW [NAME=VALUE...]: the program's output is in `out`.
run() {
    how=$1
    shift
    env "$@" "$program" "$backend" "$how" >"$scratch/out" 2>"$scratch/err" || {
        cat "$scratch/out" "$scratch/err"
        fail "$how $*"
    }
}
# told TEXT: a line of it has this text.
told() { grep -qF "$1" "$scratch/out" || { cat "$scratch/out"; fail "no '$1'"; }; }

run all
cat "$scratch/out"
[ "$(grep -cF "$label" "$scratch/out")" = 13 ] || fail "not all are by $label"
run all FAKE_DELAY=200
run refusals
[ "$(grep -c '^UNSUPPORTED: iso_supports: ' "$scratch/out")" = 3 ] || { cat "$scratch/out"; fail "not all are refused"; }
told "spmv: variant vendor: the matrix has 3 entries, but $title accepts at most rows * columns (2 * 1): use tiled"
told "spmv: variant vendor: there is no library 1, only $title (0)"
told "gemm: variant vendor: there is no library 2, only $products"

run once
told "OK: "
run once FAKE_SPARSE="${memory%% *}"
told "NO_MEMORY: iso_spmv: $backend: $call gives ${memory#* } (${memory%% *})"
run once FAKE_SPARSE="${other%% *}"
told "BACKEND: iso_spmv: $backend: $call gives ${other#* } (${other%% *})"
run once FAKE_SPARSE=4711
told "BACKEND: iso_spmv: $backend: $call gives "
run once FAKE_SPARSE=grow
told "BACKEND: iso_spmv: $backend: $grown asks for "

case $backend in
cuda)
    # The file's name does not tell CUDA 12 from 13, but the version does.
    run once FAKE_DRIVER_VERSION=12080
    told "(driver 12.8 and sm_90 support at most CUDA 12)"
    run once FAKE_DRIVER_VERSION=12080 FAKE_CUSPARSE_MINOR=5
    told "OK: "
    ;;
hip)
    ISOMER_ROCM_PATH=$fakes/hip_5 run once
    told "UNSUPPORTED: iso_spmv: hip: variant vendor: rocSPARSE "
    told "the runtime is HIP 5, but rocSPARSE is used only with HIP 6 or newer"
    # Over the stand-in of cuSPARSE.
    ISOMER_ROCM_PATH=$fakes/hip_over_cuda run all
    told "rocSPARSE 12.6.3: rocsparse_spmv,"
    ;;
esac
