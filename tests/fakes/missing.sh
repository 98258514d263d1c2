# SPDX-License-Identifier: Apache-2.0
# missing.sh PROGRAM BACKEND [FOLDER]: each function of a vendor's libraries is missing in turn; the
# stand-ins are in the folder of this name.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
folder=${3:-$backend}
if [ "$backend" != opencl ]; then
    need c++ g++
    export FAKES="$build_dir/tests/fakes/$folder/"
fi
export ISOMER_CUDA_PATH="$build_dir/tests/fakes/$folder" ISOMER_ROCM_PATH="$build_dir/tests/fakes/$folder"
export ISOMER_CACHE_DIR="$scratch/cache"
mkdir -m 700 "$scratch/cache"
code=0
"$program" "$backend" || code=$?
[ "$code" != 77 ] || ! required "$backend" || fail "$backend is required and not here"
exit "$code"
