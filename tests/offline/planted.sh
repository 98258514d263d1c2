# SPDX-License-Identifier: Apache-2.0
# planted.sh PROGRAMS: the checks of this folder find planted faults: a source that does not
# compile, an array in scratch memory, too much local memory, a missing kernel, a group without a
# bound, subnormal numbers that are flushed, and sums that are narrowed in the same instruction.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
find_llvm

# plant NAME KERNELS [OPTION]: a list of one program, whose source comes from stdin.
plant() {
    mkdir "$scratch/$1"
    cat >"$scratch/$1/$1.text"
    printf '%s\t-DISO_THREADS=64%s\t%s\n' "$1" "${3:+ $3}" "$2" >"$scratch/$1/list"
}

plant good good <<'END'
extern "C" __global__ void __launch_bounds__(64) good(float *x) { x[threadIdx.x] *= 2.0f; }
END
plant syntax syntax <<'END'
extern "C" __global__ void __launch_bounds__(64) syntax(float *x) { x[threadIdx.x] = ; }
END
plant array array <<'END'
extern "C" __global__ void __launch_bounds__(64) array(float *x, int *at)
{
    float own[512];
    for (int i = 0; i < 512; i++) { own[at[i]] = x[i]; }
    x[threadIdx.x] = own[at[threadIdx.x]];
}
END
plant missing "present missing" <<'END'
extern "C" __global__ void __launch_bounds__(64) present(float *x) { x[threadIdx.x] *= 2.0f; }
END
plant unbounded unbounded <<'END'
extern "C" __global__ void unbounded(float *x) { x[threadIdx.x] *= 2.0f; }
END
plant empty empty <<'END'
__device__ float nothing(float x) { return x; }
END
plant narrowed narrowed -DISO_DTYPE=1 <<'END'
extern "C" __global__ void __launch_bounds__(64) narrowed(const float *x, _Float16 *y)
{
    const int i = threadIdx.x;
    y[i] = (_Float16)fmaf(x[i], x[i + 64], x[i + 128]);
}
END
plant apart apart -DISO_DTYPE=1 <<'END'
extern "C" __global__ void __launch_bounds__(64) apart(const float *x, _Float16 *y)
{
    const int i = threadIdx.x;
    float sum = fmaf(x[i], x[i + 64], x[i + 128]);
    asm volatile("" : "+v"(sum));
    y[i] = (_Float16)sum;
}
END

# remark STACK SHARED: what NVIDIA's assembler would say about the kernel `good`; checked as the whole list.
remark() {
    printf "object 0\nptxas info    : Compiling entry function '%s' for 'sm_90'\n" "${3:-good}"
    printf 'ptxas         .     %d bytes stack frame, %d bytes spill stores, 0 bytes spill loads\n' "$1" "$1"
    printf 'ptxas info    : Used 32 registers, used 1 barriers, %d bytes smem\nend 0\n' "$2"
}
remarked() {
    awk -v list="$scratch/good/list" -v whole=1 -f "$here/programs.awk" -f "$here/ptxas.awk" "$scratch/remarks" >"$scratch/log"
}
remark 640 49152 >"$scratch/remarks"
remarked || { cat "$scratch/log"; fail "a kernel within the limits is not good for NVIDIA"; }
for fault in "641 0" "0 49153" "0 0 other"; do
    # shellcheck disable=SC2086 # words
    remark $fault >"$scratch/remarks"
    if remarked; then fail "these remarks of NVIDIA's assembler are taken for good: $fault"; fi
    say "found: $(grep -m1 FAIL "$scratch/log")"
done
remark 8 0 fixed_matrix >"$scratch/remarks"
if remarked || ! grep -q '^FAIL: fixed_matrix.*: 8 bytes of local memory' "$scratch/log"; then
    fail "local memory of fixed_matrix is not found"
fi
remark 0 0 | grep -v 'stack frame' >"$scratch/remarks"
if remarked; then fail "a kernel that was not measured is taken for good"; fi

code=0
compile_all hiprtc - gfx906 "$scratch/good" "$scratch/good.out" 0 1 || code=$?
[ "$code" != 77 ] || absent "hipRTC is not here: install libamdhip64-5 (or -dev) or newer"
[ "$code" = 0 ] || fail "the good program does not compile"
examine "$scratch/good" "$scratch/good.out" 1 || fail "the good program is not good"

if compile_all hiprtc - gfx906 "$scratch/syntax" "$scratch/syntax.out" 0 1 >"$scratch/log"; then
    fail "a text with a syntax error compiles"
fi
grep -q "expected expression" "$scratch/log" || fail "the compiler's log is not shown"

# caught NAME WORDS: examining it fails with these words.
caught() {
    compile_all hiprtc - gfx906 "$scratch/$1" "$scratch/$1.out" 0 1 || fail "$1 does not compile"
    if examine "$scratch/$1" "$scratch/$1.out" 1 >"$scratch/log" 2>&1; then
        fail "$1 is taken for good"
    fi
    grep -q "$2" "$scratch/log" || { cat "$scratch/log"; fail "$1: not told: $2"; }
    say "found: $(grep -m1 FAIL "$scratch/log")"
}
caught array "bytes of scratch memory"
caught missing "no program has kernel missing"
caught unbounded "it is compiled for groups"
caught empty "no kernel in"
caught narrowed "1 v_fma_mixlo_f16 in narrowed"
compile_all hiprtc - gfx906 "$scratch/apart" "$scratch/apart.out" 0 1 || fail "apart does not compile"
examine "$scratch/apart" "$scratch/apart.out" 1 || fail "a sum that is narrowed apart is not good"
# Instructions that no disassembler can read do not pass either.
for listing in "object 0" ""; do
    if printf '%s\n' "$listing" | awk -v list="$scratch/apart/list" -v whole=1 -v wanted=1 -f "$here/narrow.awk" >"$scratch/log"; then
        fail "no instructions are taken for good"
    fi
done

# A product of bf16 that a newer chip takes as an fma is found, and an fma passes.
bf16_mix() { printf 'object 0\n v_fma_mix_f32_bf16 v0, v1, v2, %s op_sel_hi:[1,1,0]\n s_endpgm\n' "$1"; }
mixed() { bf16_mix "$1" | awk -v list="$scratch/apart/list" -v whole=1 -v wanted=1 -f "$here/narrow.awk" >"$scratch/log"; }
mixed v3 || fail "an fma of bf16 is taken for a product"
if mixed 0; then fail "a product of bf16 is taken for an fma"; fi

# Compilers refuse too much local memory themselves, so the note is edited.
sed 's/\(group_segment_fixed_size:\) .*/\1 65540/' "$scratch/good.out/notes" >"$scratch/notes"
if awk -v list="$scratch/good/list" -v whole=1 -f "$here/programs.awk" -f "$here/metadata.awk" "$scratch/notes" >"$scratch/log"; then
    fail "65540 bytes of local memory are taken for good"
fi
# A kernel's initial modes are in its descriptor: another byte there is found too.
"$programs/read" --flush "$scratch/good.out/0.bin" "$scratch/flushed.bin"
if "$programs/read" "$scratch/flushed.bin" >"$scratch/log"; then
    fail "a kernel that flushes subnormal numbers is taken for good"
fi
say "found: $(grep -m1 FAIL "$scratch/log")"
