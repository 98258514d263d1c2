# SPDX-License-Identifier: Apache-2.0
# invariance.sh BACKEND LEAST [OPTIONS...]: isomer verify --invariance finds no changed bit in at
# least so many cases. An unavailable backend is a skip unless it is required.
. "$ISOMER_TEST_COMMON"
backend=$1
least=$2
shift 2
# The stand-ins of tests/fakes keep what they built in their own folder.
cache=$build_dir/tests/cache/isomer
if [ -n "${ISOMER_CUDA_PATH:-}${ISOMER_ROCM_PATH:-}" ]; then
    need c++ g++
    cache=$build_dir/tests/fakes/cache
    export ISOMER_REQUIRE="$backend"
fi
mkdir -p "$cache"
chmod 700 "$cache"
export ISOMER_CACHE_DIR="$cache"

must=0
! required "$backend" || must=1
unset ISOMER_REQUIRE # what else has to be there is another test's
code=0
"$tool" verify --invariance --backend "$backend" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
cat "$scratch/out" "$scratch/err"
if [ "$code" = 3 ]; then
    [ "$must" = 0 ] || fail "$backend is required and not available"
    skip "$backend is not available here"
fi
[ "$code" = 0 ] || fail "isomer verify exited with $code"
passed=$(sed -n 's/^\([0-9]*\) passed, 0 failed.*/\1/p' "$scratch/out")
[ "${passed:-0}" -ge "$least" ] || fail "only ${passed:-no} cases"
