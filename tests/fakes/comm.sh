# SPDX-License-Identifier: Apache-2.0
# comm.sh PROGRAM BACKEND [FOLDER]: the backend's engine over the stand-ins has right results, keeps to
# the time that joining may take, ends what waits when it is aborted, and reports failures.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
folder=${3:-$backend}
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/$folder" ISOMER_CACHE_DIR=off FAKE_DEVICES=4
# The leak checker may crash while a stand-in's thread ends.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
case $backend in
cuda) engine=nccl name=NCCL ;;
*) engine=rccl name=RCCL ;;
esac

# run CASE [NAME=VALUE...]: the program's output is in `out`.
run() {
    what=$1
    shift
    env "$@" timeout 600 "$program" "$backend" "$what" >"$scratch/out" 2>"$scratch/err" || {
        cat "$scratch/out" "$scratch/err"
        fail "$what $*"
    }
    # The stand-ins report misuse there.
    [ ! -s "$scratch/err" ] || { cat "$scratch/err"; fail "$what $*: the stand-ins complain"; }
}
# told TEXT [COUNT]: so many lines have this text; without COUNT at least one.
told() {
    count=$(grep -cF "$1" "$scratch/out") || true
    if [ "$count" -lt 1 ] || [ "$count" != "${2:-$count}" ]; then
        cat "$scratch/out"
        fail "$count times '$1'"
    fi
}

run calls
run threads
run processes
run leave
[ "$folder" = "$backend" ] || exit 0

run supports
told "label: $name 2.28.9"
told "UNSUPPORTED: engine $engine: $name has no xor over ranks: it has sum, product, min, max and mean; use ordered sums"
told "UNSUPPORTED: engine $engine: there is no mean of i32"
told "UNSUPPORTED: engine $engine: $name has no norm2 over ranks"
told "UNSUPPORTED: engine $engine: op is 99"
told "UNSUPPORTED: engine $engine: dtype is 77"
run open FAKE_COMM_VERSION=2804
told "UNAVAILABLE: engine $engine: $name was found but cannot be used; tried:" 3
told "(this is $name 2.8.4, but the oldest usable version is 2.10)" 3
run late
told "TIMEOUT: engine $engine: not all ranks joined within 0.3 s: start them all, or raise the timeout" 2
run stuck "FAKE_COMM_STUCK=$scratch/stuck"
told "TIMEOUT: " 1
run same
told "BACKEND: ncclCommInitRank gives ncclInvalidUsage (5): Duplicate GPU detected"

run fault
told "OK: " 3
run fault FAKE_COMM_ERROR=6
told "BACKEND: ncclCommGetAsyncError gives ncclRemoteError (6): found by the stand-in; another rank failed"
run fault FAKE_COMM_FAIL=3
told "BACKEND: ncclAllReduce gives ncclInternalError (3): refused by the stand-in"
told "BACKEND: ncclAllGather gives ncclInternalError (3): refused by the stand-in"
run fault FAKE_COMM_FAIL=42
told "BACKEND: ncclAllReduce gives an unknown result (42): refused by the stand-in"
run fault FAKE_COMM_LOST=1
told "DEVICE_LOST: ncclAllReduce gives ncclUnhandledCudaError (1), and "
run abort
told "UNAVAILABLE: engine $engine: the communicator of rank 2 was aborted: destroy it" 3
run abort FAKE_COMM_CONNECT=1
told "UNAVAILABLE: engine $engine: the communicator of rank 2 was aborted: destroy it" 3
run threads FAKE_COMM_CONNECT=1
run leave FAKE_DELAY=200
