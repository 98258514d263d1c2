# SPDX-License-Identifier: Apache-2.0
# labs.sh PROGRAM BACKEND: a lab's program with small sizes on that backend, or on its stand-in. The
# program checks its own results.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
export ISOMER_BACKEND="$backend" ISOMER_CACHE_DIR=off

run() {
    code=0
    timeout 250 "$program" --small >"$scratch/out" 2>&1 || code=$?
    cat "$scratch/out"
    [ "$code" -eq 0 ] || fail "$program exits with $code"
    grep -q "^Device $backend:" "$scratch/out" || fail "$program does not name its device"
}

case $backend in
cuda | hip)
    have c++ || skip "c++ is not here: install g++"
    fakes=$build_dir/tests/fakes
    export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip"
    # The leak checker cannot walk the storage of threads in kernels that were unloaded.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    ;;
opencl)
    "$tool" info --backend opencl >/dev/null 2>"$scratch/why" || {
        ! required opencl || fail "$(cat "$scratch/why")"
        skip "$(cat "$scratch/why")"
    }
    ;;
esac
run
code=0
"$program" --smal >"$scratch/out" 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "an unknown option ends with $code"
says "$scratch/out" "usage: $program [--small]"
