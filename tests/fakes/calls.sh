# SPDX-License-Identifier: Apache-2.0
# calls.sh PROGRAM FAKE BACKEND: calls of the host in the order of a stream, over a fake.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
fake=$2
backend=$3
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/$fake"
export ISOMER_CACHE_DIR="$scratch/cache"
mkdir -m 700 "$scratch/cache"
# The leak checker cannot walk the storage of threads in kernels that were unloaded.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# happens ARGUMENT NAME=VALUE...
happens() {
    how=$1
    shift
    say "-- $how $*"
    # shellcheck disable=SC2086 # none or one
    env "$@" "$program" "$backend" $how || fail "$how"
}

happens "" FAKE_DELAY=0
happens "" FAKE_DELAY=200
happens lost FAKE_LOST=1
happens exit FAKE_DELAY=0
happens refused FAKE_WAIT=0
