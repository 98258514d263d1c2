# SPDX-License-Identifier: Apache-2.0
# rounding.sh FAULTY: a difference in rounding, planted in the texts that Intel's compiler gets
# (tests/drivers/icd.c), is a difference of bits for `isomer verify --bitwise`; without the plant
# the same cases pass.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/drivers/intel.sh"
faulty=$1
say "$faulty" >"$scratch/vendors/intel.icd"
# The wrapped driver is not a known one; it needs no trial here.
export FAULT_DRIVER="$intel" ISOMER_OPENCL_FORCE=1 ISOMER_CACHE_DIR=off
unset ISOMER_REQUIRE

# verify FAULT OPERATION: the exit code is $code, the output $scratch/out.
verify() {
    code=0
    FAULT=$1 "$tool" verify --backend openmp,opencl --bitwise --op "$2" --dtype f32 --variant naive \
        --json "$scratch/results.json" >"$scratch/out" 2>&1 || code=$?
}

for operation in gemm triad; do
    verify '' $operation
    [ "$code" = 0 ] || { cat "$scratch/out"; fail "$operation without the plant: exit code $code, not 0"; }
    grep -q '"driver": "Faulty Platform' "$scratch/results.json" || fail "the planted driver was not used"
    verify rounding $operation
    [ "$code" = 1 ] || { cat "$scratch/out"; fail "$operation rounded twice: exit code $code, not 1"; }
    grep -q '^FAILED' "$scratch/out" || fail "$operation: no case is named"
    tail -n 1 "$scratch/out"
done
