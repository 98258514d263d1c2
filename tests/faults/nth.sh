# SPDX-License-Identifier: Apache-2.0
# nth.sh PROGRAM SPEC STRIDE [WHICH]: allocations of libisomer that fail on that backend. cuda and
# hip are the fakes.
. "$ISOMER_TEST_COMMON"
program=$1
shift
fakes=$build_dir/tests/fakes
case $1 in
cuda) need c++ g++; export ISOMER_CUDA_PATH="$fakes/cuda" ;;
hip) need c++ g++; export ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CUDA_PATH="$fakes/cuda" ;;
esac
# Each process lists all backends. OpenCL is hidden: its platforms start slowly and have a test of
# their own.
if [ "$1" != opencl ]; then
    mkdir "$scratch/vendors"
    export OCL_ICD_VENDORS="$scratch/vendors"
fi
mkdir -p "$build_dir/tests/cache/nth"
chmod 700 "$build_dir/tests/cache/nth"
export ISOMER_BACKEND_PATH="$build_dir/tests/plugins/reference" ISOMER_MEMORY_LIMIT=64M \
    ISOMER_TRACE=/dev/null ISOMER_TILES=small ISOMER_NUM_THREADS=1 \
    ISOMER_CACHE_DIR="$build_dir/tests/cache/nth"
"$program" "$@" || fail "$*"
