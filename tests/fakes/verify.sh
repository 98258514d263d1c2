# SPDX-License-Identifier: Apache-2.0
# verify.sh FAKE BACKEND WORD...: isomer verify over a fake, with the same digests as the CPU
# backend. The words are added to the command.
. "$ISOMER_TEST_COMMON"
need c++ g++
fake=$1
backend=$2
shift 2
fakes=$build_dir/tests/fakes
# Kept between runs; each fake's binaries are its own.
cache=$fakes/cache
mkdir -p "$cache"
chmod 700 "$cache"
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_CACHE_DIR="$cache" ISOMER_REQUIRE="$backend"
if [ "$backend" = hip ]; then
    export ISOMER_ROCM_PATH="$fakes/$fake"
fi

# The leak checker cannot walk the storage of threads in kernels that were unloaded.
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

code=0
"$tool" verify --backend "$backend,openmp" --bitwise --json "$scratch/json" "$@" \
    >"$scratch/out" 2>"$scratch/err" || code=$?
cat "$scratch/out" "$scratch/err"
[ "$code" = 0 ] || fail "isomer verify exited with $code"
grep -q "test fake\|test stand-in" "$scratch/out" || fail "the report does not say that it is a fake"
grep -q "test fake\|test stand-in" "$scratch/json" || fail "the file does not say that it is a fake"
