# SPDX-License-Identifier: Apache-2.0
# robust.sh PROGRAM BACKEND: failures that a program may meet when it uses a device, over its fake.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
backend=$2
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip"
export ISOMER_CACHE_DIR="$scratch/cache"
mkdir -m 700 "$scratch/cache"

# happens HOW NAME=VALUE...
happens() {
    how=$1
    shift
    say "-- $how $*"
    env "$@" "$program" "$backend" "$how" || fail "$how"
}

happens compile FAKE_COMPILE=gemm
happens threads
happens threads FAKE_DELAY=300 FAKE_ORDER=reverse
happens refused FAKE_REFUSE=1
happens leave
happens leave FAKE_DELAY=1000
happens lost FAKE_LOST=3
happens graph FAKE_LOST=3
happens memory FAKE_MEMORY=1048576
happens all

say "-- two processes with one cache"
rm -rf "$scratch/cache"
mkdir -m 700 "$scratch/cache"
"$program" "$backend" threads &
first=$!
"$program" "$backend" threads || fail "the second of two processes"
wait "$first" || fail "the first of two processes"

say "-- a cache with rubbish in it"
for file in "$scratch"/cache/*; do
    printf 'rubbish' >"$file"
done
happens threads

# absent TEXT NAME=VALUE...: verify ends with 3 and reports why.
absent() {
    text=$1
    shift
    code=0
    env "$@" "$tool" verify --backend "$backend" --op limits >"$scratch/out" 2>&1 || code=$?
    cat "$scratch/out"
    [ "$code" = 3 ] || fail "$*: exit code $code, not 3"
    tr '\n' ' ' <"$scratch/out" | grep -q "$text" || fail "$*: no '$text' in the message"
}
absent "no device" FAKE_DEVICES=0
absent "SYSTEM_DRIVER_MISMATCH" FAKE_INIT=803
if [ "$backend" = cuda ]; then
    absent "CUDA_VISIBLE_DEVICES" CUDA_VISIBLE_DEVICES=
    absent "CUDA 10.2, but the oldest usable version is CUDA 11.0" FAKE_DRIVER_VERSION=10020
    say "-- a driver older than the compiler"
    env FAKE_DRIVER_VERSION=12020 "$tool" info --all >"$scratch/out"
    tr -s '\n ' ' ' <"$scratch/out" | grep -q "driver 12.2" ||
        { cat "$scratch/out"; fail "the driver's version is not in the reason"; }
else
    absent "no device" HIP_VISIBLE_DEVICES=
    absent "ROCm 5.1, but the oldest usable version is ROCm 5.2" FAKE_DRIVER_VERSION=50120531
    absent "ROCm 4.5, but the oldest usable version is ROCm 5.2" FAKE_DRIVER_VERSION=40520412
    absent "ROCm before 4.0 (312), but" FAKE_DRIVER_VERSION=312
fi
