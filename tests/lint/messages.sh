# SPDX-License-Identifier: Apache-2.0
# messages.sh PROVOKE: docs/troubleshooting.md quotes the real messages. Most are provoked, by the
# program PROVOKE and by the tool over stand-ins for drivers; all are looked for in the sources.
. "$ISOMER_TEST_COMMON"
need python3 python3
provoke=$1
page=$source_dir/docs/troubleshooting.md
fakes=$build_dir/tests/fakes
out=$scratch/provoked
mkdir "$out" "$scratch/empty"
export ISOMER_CACHE_DIR=off

# made HEADING COMMAND...: what the command prints is the message of that heading.
made() {
    heading=$1
    shift
    "$@" >"$out/$heading" 2>&1 || true
}
# mistake HEADING NAME [VARIABLE=VALUE]...
mistake() {
    heading=$1 name=$2
    shift 2
    made "$heading" env "$@" "$provoke" "$name"
}
with_backend() { # HEADING VALUE [VARIABLE=VALUE]...
    heading=$1 value=$2
    shift 2
    made "$heading" env "$@" ISOMER_BACKEND="$value" "$tool" verify --op map
}

mistake a-struct-was-not-initialised uninitialised
mistake a-handle-is-zero zero-handle
mistake a-stale-handle stale-handle
mistake operands-overlap overlap
mistake leading-dimension leading-dimension
mistake outside-of-the-buffer outside
mistake misaligned misaligned
mistake mismatch mismatch
mistake the-memory-limit memory-limit
mistake keep-and-variant-disagree keep-and-variant
mistake the-type-of-c type-of-c
mistake a-fraction-with-i8 fraction
mistake no-triangle no-triangle
mistake products-of-a-group-overlap group
mistake a-time-limit time-limit ISOMER_BACKEND=cuda ISOMER_CUDA_PATH="$fakes/cuda" FAKE_DELAY=200
mistake no-c-compiler-for-kernels no-compiler
mistake a-word-that-is-not-in-the-language refused-kernel
mistake after-fork-a-handle forked-handle
mistake the-device-is-lost lost ISOMER_BACKEND=cuda ISOMER_CUDA_PATH="$fakes/cuda" FAKE_LOST=1
case $("$cc" --version) in
*Free\ Software*) mistake a-kernel-does-not-compile compile-log ISOMER_CC="$(command -v "$cc")" LC_ALL=C.UTF-8 ;;
esac
if "$tool" info --available openmp >/dev/null && "$tool" info --backend openmp | grep -q OpenBLAS; then
    mistake a-vendors-library-does-not-have-it unsupported-vendor
fi
if "$tool" info --available opencl >/dev/null 2>&1; then
    mistake after-fork-the-driver forked-driver
    mistake too-little-stack stack
    made no-opencl-driver env OCL_ICD_VENDORS="$scratch/empty" ISOMER_BACKEND=opencl "$tool" verify --op map
fi

with_backend unknown-backend nonesuch
with_backend isomer_backend-is-empty ''
with_backend a-blank-in-a-list 'hip openmp'
with_backend no-device-of-that-number openmp:7
with_backend no-device-of-that-name openmp:gpu
with_backend cuda-driver-too-old cuda ISOMER_CUDA_PATH="$fakes/cuda" FAKE_DRIVER_VERSION=10020
with_backend no-device cuda ISOMER_CUDA_PATH="$fakes/cuda" FAKE_DEVICES=0
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    with_backend no-cuda-driver cuda
fi
made a-setting-without-sense env ISOMER_MATH=fast ISOMER_BACKEND=openmp "$tool" verify --op map
mkdir "$scratch/open" "$scratch/folder"
chmod 777 "$scratch/open"
touch "$scratch/open/isomer-mine.so"
echo damaged >"$scratch/folder/isomer-mine.so"
with_backend a-plug-in-folder-is-ignored mine ISOMER_BACKEND_PATH="$scratch/open"
with_backend a-plug-in-path-is-not-absolute mine ISOMER_BACKEND_PATH=plug
with_backend a-plug-in-cannot-be-loaded mine ISOMER_BACKEND_PATH="$scratch/folder"
made the-cache-is-not-used env ISOMER_CACHE_DIR="$scratch/open" "$tool" info --all

# code CODE HEADING COMMAND...: the tool's message and its exit code.
code() {
    wanted=$1 heading=$2 got=0
    shift 2
    "$tool" "$@" >"$out/$heading" 2>&1 || got=$?
    [ "$got" -eq "$wanted" ] || fail "$*: exit code $got instead of $wanted: $(cat "$out/$heading")"
    grep -q "^| $wanted |.*(#$heading)" "$page" || fail "the page does not say that $wanted goes with $heading"
}
export ISOMER_BACKEND_PATH="$build_dir/tests/plugins/mutants"
code 1 verification-failed verify --backend mutant1 --op gemm --variant tiled --dtype f32
unset ISOMER_BACKEND_PATH
code 2 unknown-option bench --suit quick
code 4 nothing-was-run verify --backend openmp --op transpose --variant vendor --dtype e1
code 5 not-a-results-file compare "$source_dir/README.md" "$source_dir/README.md"
code 6 a-file verify --backend openmp --op map --variant tiled --dtype f32 --json "$scratch/nowhere/x.json"
export ISOMER_CUDA_PATH="$fakes/cuda" FAKE_DEVICES=0
code 3 required-and-not-there verify --require cuda

python3 "$source_dir/tests/lint/messages.py" "$source_dir" "$page" "$out" || fail "see above"

# A message that was changed is found, whether it is provoked or not.
mkdir "$scratch/none"
sed 's/is a buffer that was destroyed/is a buffer which is gone now/; s/cannot be changed: …; set/cannot be altered: …; now set/' "$page" >"$scratch/planted.md"
if python3 "$source_dir/tests/lint/messages.py" "$source_dir" "$scratch/planted.md" "$scratch/none" >"$scratch/found"; then
    fail "changed messages are not found"
fi
for words in 'which is gone now' 'cannot be altered'; do
    grep -q "$words" "$scratch/found" || {
        cat "$scratch/found"
        fail "a changed message is not found: $words"
    }
done
