# SPDX-License-Identifier: Apache-2.0
# intel.sh: for scripts that source it. Makes Intel's OpenCL driver for CPUs, which quickstart puts
# into build/intel-opencl, the only one that is seen; or skips the test.
intel=$source_dir/build/intel-opencl/lib/libintelocl.so
if [ ! -e "$intel" ]; then
    [ "$(uname -m)" = x86_64 ] || skip "Intel's OpenCL driver is for x86-64"
    why=$(cat "$source_dir/build/intel-opencl.reason" 2>/dev/null) || why="\`./quickstart test\` installs it"
    case $why in
    "PyPI cannot be reached"*) ;;
    *) [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "Intel's OpenCL driver is required and not here: $why" ;;
    esac
    skip "Intel's OpenCL driver is not here: $why"
fi
mkdir "$scratch/vendors"
say "$intel" >"$scratch/vendors/intel.icd"
export OCL_ICD_VENDORS="$scratch/vendors"
unset OCL_ICD_FILENAMES OPENCL_LAYERS
