# SPDX-License-Identifier: Apache-2.0
# intel.sh quick|full: isomer verify with Intel's OpenCL driver for CPUs, compared with the digests
# of the CPU backend.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/drivers/intel.sh"
unset ISOMER_REQUIRE # other tests check it
mkdir -p "$build_dir/tests/cache/isomer"
chmod 700 "$build_dir/tests/cache/isomer"
export ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer"

"$tool" info --all >"$scratch/info"
grep -E '^ +driver +Intel\(R\) OpenCL' "$scratch/info" || {
    cat "$scratch/info"
    fail "isomer does not use Intel's driver: is ocl-icd-libopencl1 installed?"
}
[ "$(grep -cE '^  opencl:[0-9]' "$scratch/info")" = 1 ] || fail "there are other OpenCL devices"

# check DIGESTS OPTIONS...: all cases pass, and at least so many digests are equal.
check() {
    least=$1 code=0
    shift
    "$tool" verify --backend openmp,opencl --suite quick --bitwise "$@" >"$scratch/out" 2>&1 || code=$?
    cat "$scratch/out"
    [ "$code" = 0 ] || fail "isomer verify exited with $code"
    equal=$(sed -n 's/^  digest \([0-9a-f]*\) of \([0-9]*\) cases$/\2 \1/p' "$scratch/out" |
        sort | uniq -d)
    [ "${equal%% *}" -ge "$least" ] 2>/dev/null || fail "${equal%% *} equal digests, not $least"
}

if [ "$1" = full ]; then
    check 5000
else
    # The driver's compiler takes seconds for some programs.
    check 1000 --op transpose,sum,argmin,gemm,gemv,map --dtype e4,f32 --variant naive,tiled
    check 100 --op transfer,stream,limits \
        --variant between,copy,fill,read,write,event,lifetime,order,memory
fi
