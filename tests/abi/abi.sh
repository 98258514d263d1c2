# SPDX-License-Identifier: Apache-2.0
# abi.sh NAME: compiles the symbol lists of a backend (or of its sensor library, cairo or SQLite) against
# the vendor's headers, then checks that a planted wrong parameter does not compile.
. "$ISOMER_TEST_COMMON"
backend=$1
file=$source_dir/tests/abi/$backend.c

# No headers: skips with a reason, or fails if they are required.
absent() {
    case $backend in
    cuda) ! required cuda || fail "ISOMER_REQUIRE names cuda, and $1" ;;
    *) [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$1" ;;
    esac
    skip "$1"
}

# Prints the first folder of a list that holds a header.
folder_with() {
    header=$1
    shift
    for folder; do
        if [ -f "$folder/$header" ]; then
            printf '%s' "$folder"
            return
        fi
    done
    return 1
}

# A header on the compiler's default path.
finds() { printf '#include <%s>\n' "$1" | "$cc" -E -x c - >/dev/null 2>&1; }

flags=
case $backend in
cuda)
    include=$(folder_with cuda.h "${CUDA_PATH:-/nowhere}/include" /usr/local/cuda/include \
        /usr/local/cuda-*/include /usr/include) ||
        absent "no CUDA toolkit is in CUDA_PATH, /usr/local/cuda*, /usr/include"
    for header in nvrtc.h cublas_v2.h cublasLt.h; do
        [ -f "$include/$header" ] || absent "$include has cuda.h and no $header"
    done
    flags="-isystem $include"
    [ ! -f "$include/cusparse.h" ] || flags="$flags -DABI_CUSPARSE"
    [ ! -f "$include/nccl.h" ] || flags="$flags -DABI_NCCL"
    say "CUDA: $include, version $(sed -n 's/^#define CUDA_VERSION  *//p' "$include/cuda.h")"
    ;;
hip)
    include=$(folder_with hip/hip_runtime_api.h "${ROCM_PATH:-/nowhere}/include" \
        /opt/rocm/include /usr/include) ||
        absent "hip/hip_runtime_api.h is not here: install libamdhip64-dev"
    flags="-isystem $include"
    [ ! -f "$include/rocblas/rocblas.h" ] || flags="$flags -DABI_ROCBLAS"
    [ ! -f "$include/hipblaslt/hipblaslt.h" ] || flags="$flags -DABI_HIPBLASLT"
    # Before rocSPARSE 3.0 (ROCm 6.0), whose functions are others, the library is not used.
    sparse=$include/rocsparse/rocsparse-version.h
    if [ -f "$sparse" ] &&
        [ "$(sed -n 's/^#define ROCSPARSE_VERSION_MAJOR  *//p' "$sparse")" -ge 3 ]; then
        flags="$flags -DABI_ROCSPARSE"
    fi
    # Not every version of this header is C.
    printf '#define __HIP_PLATFORM_AMD__ 1\n#include <rccl/rccl.h>\n' >"$scratch/rccl.c"
    if "$cc" -std=c11 -fsyntax-only -isystem "$include" "$scratch/rccl.c" >"$scratch/log" 2>&1; then
        flags="$flags -DABI_RCCL"
    fi
    say "HIP: $include $flags"
    ;;
nvml)
    # Not every toolkit has this header, so no backend's test requires it.
    include=$(folder_with nvml.h "${CUDA_PATH:-/nowhere}/include" /usr/local/cuda/include \
        /usr/local/cuda-*/include /usr/include) ||
        skip "nvml.h is in none of CUDA_PATH, /usr/local/cuda*, /usr/include"
    flags="-isystem $include"
    say "NVML: $include, version $(sed -n 's/^#define NVML_API_VERSION  *//p' "$include/nvml.h")"
    ;;
rocm_smi)
    include=$(folder_with rocm_smi/rocm_smi.h "${ROCM_PATH:-/nowhere}/include" \
        /opt/rocm/include /usr/include) ||
        absent "rocm_smi/rocm_smi.h is not here: install librocm-smi-dev"
    flags="-isystem $include"
    say "ROCm SMI: $include"
    ;;
cairo)
    include=$(folder_with cairo-pdf.h /usr/include/cairo /usr/local/include/cairo) ||
        absent "cairo-pdf.h is not here: install libcairo2-dev"
    flags="-isystem $include"
    say "cairo: $include"
    ;;
sqlite)
    finds sqlite3.h || absent "sqlite3.h is not here: install libsqlite3-dev"
    say "SQLite: the compiler's own headers"
    ;;
opencl)
    finds CL/cl.h || absent "CL/cl.h is not here: install opencl-headers"
    if finds clblast_c.h; then
        flags=-DABI_CLBLAST
    elif [ -n "${ISOMER_REQUIRE_TOOLS:-}" ]; then
        fail "clblast_c.h is not here: install libclblast-dev"
    fi
    say "OpenCL: the compiler's own headers $flags"
    ;;
esac

compiles() {
    # shellcheck disable=SC2086 # flags are words
    "$cc" -std=c11 -fsyntax-only -I"$source_dir" -I"$source_dir/include" $flags "$@" "$file" \
        >"$scratch/log" 2>&1
}

if ! compiles; then
    cat "$scratch/log"
    fail "$backend.c: a symbol or a number is not as the vendor's headers have it"
fi
if compiles -DABI_PLANT; then
    fail "$backend.c compiles with a planted wrong parameter: this test sees nothing"
fi
if ! grep -q 'conflicting types\|static assertion' "$scratch/log"; then
    cat "$scratch/log"
    fail "$backend.c with a planted wrong parameter fails for another reason"
fi
say "$backend: every symbol is as declared, and a planted wrong parameter is seen"
