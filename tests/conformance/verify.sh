# SPDX-License-Identifier: Apache-2.0
# verify.sh BACKEND SUITE [OPTIONS...]: isomer verify; an unavailable backend is a skip unless it is
# required. Built kernels are cached in the build folder.
. "$ISOMER_TEST_COMMON"
backend=$1
suite=$2
shift 2
mkdir -p "$build_dir/tests/cache/isomer"
chmod 700 "$build_dir/tests/cache/isomer"
export ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer"

must=0
! required "$backend" || must=1
unset ISOMER_REQUIRE # what else has to be there is another test's
code=0
"$tool" verify --backend "$backend" --suite "$suite" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
cat "$scratch/out" "$scratch/err"
case $code in
0) ;;
3)
    [ "$must" = 0 ] || fail "ISOMER_REQUIRE names $backend, which is not available"
    [ "$backend" != opencl ] || [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] ||
        fail "OpenCL is required and not here: install ocl-icd-libopencl1 and pocl-opencl-icd"
    skip "$backend is not available here"
    ;;
4) fail "nothing was run" ;;
*) fail "isomer verify exited with $code" ;;
esac
