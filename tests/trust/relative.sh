# SPDX-License-Identifier: Apache-2.0
# relative.sh: a relative path in a variable that names a folder or a library is refused with a text
# that names the variable, its value, the rule and what to do. The same path made absolute is
# accepted.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/trust/traps.sh"
unset CUDA_PATH ROCM_PATH
export ISOMER_CACHE_DIR=off ISOMER_LOG=warn

mkdir "$scratch/here"
cd "$scratch/here"

# refused VARIABLE VALUE EXIT: VALUE is a path below the working directory with a trap.
refused() {
    for prefix in "" "./" "../here/"; do
        reset_traps
        code=0
        env "$1=$prefix$2" "$tool" info --all >"$scratch/out" 2>"$scratch/err" || code=$?
        [ $code = 0 ] || fail "isomer info ends with $code with $1=$prefix$2"
        if sprung "$1"; then
            fail "$1=$prefix$2 loaded a library of the working directory"
        fi
        tr -s ' \n' '  ' <"$scratch/out" >"$scratch/one"
        cat "$scratch/one" "$scratch/err" >"$scratch/both"
        grep -qF "\"$prefix$2\" is not an absolute path" "$scratch/both" || {
            cat "$scratch/out" "$scratch/err"
            fail "nothing says that $1=$prefix$2 is not absolute"
        }
        grep -q "$1" "$scratch/both" || fail "the message does not name $1"
        grep -qF "give the whole path" "$scratch/both" || fail "the message for $1 does not say what to do"
    done
    reset_traps
    env "$1=$PWD/$2" "$tool" info --all >"$scratch/out" 2>"$scratch/err" || true
    sprung "$1" || {
        cat "$scratch/out"
        fail "$1=$PWD/$2 loads nothing: this test would prove nothing"
    }
}

vendors_traps ISOMER_CUDA_PATH "$PWD/cuda"
vendors_traps CUDA_PATH "$PWD/toolkit/lib64"
vendors_traps ISOMER_ROCM_PATH "$PWD/hip"
vendors_traps ROCM_PATH "$PWD/rocm/lib"
trap_at ISOMER_BLAS "$PWD/blas/libopenblas.so.0"
trap_at ISOMER_BACKEND_PATH "$PWD/plugins/isomer-trap.so"
refused ISOMER_CUDA_PATH cuda
refused CUDA_PATH toolkit
refused ISOMER_ROCM_PATH hip
refused ROCM_PATH rocm
refused ISOMER_BLAS blas/libopenblas.so.0
refused ISOMER_BACKEND_PATH plugins

# A named library is not skipped: what needs it fails.
code=0
ISOMER_BLAS=blas/libopenblas.so.0 "$tool" verify --backend openmp --op transpose >"$scratch/out" 2>&1 || code=$?
[ $code = 2 ] || [ $code = 3 ] || fail "verify ends with $code for a relative ISOMER_BLAS"
grep -qF 'ISOMER_BLAS is "blas/libopenblas.so.0", which is not an absolute path' "$scratch/out" || {
    cat "$scratch/out"
    fail "opening a device does not say that ISOMER_BLAS is relative"
}

# The cache's folder must be absolute too; a trace may be written to a relative path.
ISOMER_CACHE_DIR=cache "$tool" info --all --backend openmp >"$scratch/out" 2>&1
grep -q 'not an absolute path' "$scratch/out" || fail "a relative ISOMER_CACHE_DIR is not refused"
[ ! -e cache ] || fail "a relative ISOMER_CACHE_DIR was made"
ISOMER_CACHE_DIR=off ISOMER_TRACE=trace.json "$tool" verify --backend openmp --op transpose --dtype e4 >/dev/null 2>&1
[ -s trace.json ] || fail "a relative ISOMER_TRACE is not written"

# The library was loaded by a relative path, and the folder changed: its own plug-ins are still
# those beside it, not those at that path now.
mkdir "$scratch/first" "$scratch/second"
cp "$library" "$scratch/first/libisomer.so.0"
cp "$library" "$scratch/second/libisomer.so.0"
trap_at LEFT "$scratch/second/isomer/isomer-trap.so"
"$cc" -std=gnu11 -o "$scratch/left" "$source_dir/tests/trust/left.c" -ldl
cd "$scratch/first"
reset_traps
"$scratch/left" ./libisomer.so.0 "$scratch/second" first || fail "a plug-in that is none was opened"
sprung LEFT || fail "the library's own folder springs no trap: this test would prove nothing"
reset_traps
"$scratch/left" ./libisomer.so.0 "$scratch/second" || fail "a plug-in that is none was opened"
if sprung LEFT; then
    fail "a plug-in was loaded from where the library's relative path leads now"
fi
