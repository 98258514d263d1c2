# SPDX-License-Identifier: Apache-2.0
# aarch64.sh: isomer is built for aarch64 without a warning and gives the digests of this machine's
# build under qemu-user, in one type of each operation. A planted difference in rounding is found.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/aarch64/common.sh"

# All but the kernels is compiled without optimisation here, to save time; full.sh compiles it as it
# is released.
cross_build quick -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DISOMER_CPU_SETS=neon -DISOMER_KERNEL_SETS=generic
isa neon cortex-a57
says "$scratch/info" "CPU emulated by qemu-aarch64" "SIMULATED"

# This machine's build is recognised too under an emulator of its own processor, and not without one.
ISOMER_BACKEND=openmp "$tool" info >"$scratch/info" || fail "isomer info fails"
lacks "$scratch/info" "emulated by qemu"
if have qemu-x86_64 && [ "$(uname -m)" = x86_64 ]; then
    ISOMER_BACKEND=openmp QEMU_LD_PREFIX='' qemu-x86_64 "$tool" info --all >"$scratch/info" ||
        fail "isomer info fails under qemu-x86_64"
    says "$scratch/info" "CPU emulated by qemu-x86_64" "SIMULATED"
fi

# Reductions of each kind, small products by vectors and one order of products,
# because the checks compute slowly here: two of those that are left out took longer than all others.
some() {
    digests "$scratch/some" "$@" verify --backend openmp --dtype f32 --op transpose,sum,norm2,argmin,map
    digests "$scratch/vectors" "$@" verify --backend openmp --case 'gemv/*/f32/?/m@(?|??|???)k*/batch@(?|?-*)/*'
    digests "$scratch/products" "$@" verify --backend openmp --case 'gemm/tiled/f32/nt/*'
    cat "$scratch/some" "$scratch/vectors" "$scratch/products"
}
some "$tool" >"$scratch/here"
some "$qemu" "$emulated" >"$scratch/arm"
same "aarch64, neon" "$scratch/here" "$scratch/arm"

# Kernels that this machine embeds for aarch64.
kernels_both
kernels_run cortex-a57 neon

# So does the plain model.
"$tool" vectors --count 500 --out "$scratch/here.jsonl" >"$scratch/log" || fail "isomer vectors fails"
"$qemu" "$emulated" vectors --count 500 --out "$scratch/arm.jsonl" >"$scratch/log" || fail "isomer vectors fails under qemu"
cmp "$scratch/here.jsonl" "$scratch/arm.jsonl" || fail "the vectors differ"

# With the planted library the same run fails, and lacks digests of just triad's cases.
plant map
code=0
"$qemu" -E LD_LIBRARY_PATH="$scratch/planted" "$emulated" verify --backend openmp --suite quick --bitwise --dtype f32 \
    --op triad,scale --json "$scratch/json" >"$scratch/log" 2>&1 || code=$?
says "$scratch/log" "FAILED map/tiled/f32/triad/"
[ "$code" = 1 ] || fail "verify exits with $code instead of 1 over the planted difference"
digests_of "$scratch/json" >"$scratch/planted.digests"
grep -E '^map/[a-z]*/f32/(triad|scale)/' "$scratch/here" >"$scratch/part" || fail "no such cases"
# A case that fails has no digest.
diff "$scratch/part" "$scratch/planted.digests" | sed -n 's/^[<>] //p' >"$scratch/other"
[ -s "$scratch/other" ] || fail "the planted difference in rounding gives the same digests"
! grep -v '^map/tiled/f32/triad/' "$scratch/other" || fail "the digests above differ, where nothing is planted"
say "planted: $(wc -l <"$scratch/other") of $(wc -l <"$scratch/part") digests are lost"
