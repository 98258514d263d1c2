# SPDX-License-Identifier: Apache-2.0
# intel.sh CONFORMANCE OPTIONS...: kernels of the language with Intel's OpenCL driver for CPUs. No
# random ones: its compiler crashes for one in forty.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/drivers/intel.sh"
export ISOMER_CACHE_DIR=off
"$@" >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    fail "some kernel differs"
}
says "$scratch/out" 'agree with the model, 0 differ, 0 left out'
tail -n 2 "$scratch/out"
