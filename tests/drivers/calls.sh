# SPDX-License-Identifier: Apache-2.0
# calls.sh PROGRAM FAULTY: what calls of the library ask of an OpenCL driver (tests/drivers/calls.c): of
# one that is not known, and of one whose failures are for good.
. "$ISOMER_TEST_COMMON"
program=$1
faulty=$2
real=$(cat /etc/OpenCL/vendors/pocl.icd 2>/dev/null) || skip "PoCL is not here: install pocl-opencl-icd"
mkdir "$scratch/empty" "$scratch/list"
if OCL_ICD_VENDORS="$scratch/empty" "$tool" info --all | grep -qE '^  opencl +ok'; then
    skip "the OpenCL loader here does not follow OCL_ICD_VENDORS: install ocl-icd-libopencl1"
fi
printf '%s\n' "$faulty" >"$scratch/list/faulty.icd"
export OCL_ICD_VENDORS="$scratch/list" FAULT_DRIVER="$real" ISOMER_OPENCL_FORCE=1 ISOMER_CACHE_DIR=off FAULT=
"$program" "$faulty" events || fail "each launch has an event"
FAULT_PLATFORM="NVIDIA CUDA" "$program" "$faulty" none || fail "launches have no events"
