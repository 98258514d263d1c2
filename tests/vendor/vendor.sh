# SPDX-License-Identifier: Apache-2.0
# vendor.sh PROGRAM SPEC NAMES [LIBRARY]: TEST_BLAS is the value of ISOMER_BLAS, TEST_FAKES the folder of
# stand-ins to use.
. "$ISOMER_TEST_COMMON"
export ISOMER_CACHE_DIR="$scratch/cache" FAKE_BYTES=wraps
[ -z "${TEST_BLAS:-}" ] || export ISOMER_BLAS="$TEST_BLAS"
if [ -n "${TEST_FAKES:-}" ]; then
    need c++ g++
    export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ISOMER_ROCM_PATH="$build_dir/tests/fakes/$TEST_FAKES"
    # The leak checker cannot walk the storage of threads in kernels that were unloaded.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
fi
exec "$@"
