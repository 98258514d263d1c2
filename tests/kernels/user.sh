# SPDX-License-Identifier: Apache-2.0
# user.sh CUDA HIP [full]: a first user's kernels pass on every device that is here, on each
# instruction set of this CPU and on 1 to 4 threads, and have the same digest. The folders have the
# stand-ins. The quick tier takes each set with another number of threads.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\n' >leaks # what PoCL keeps until the process ends
export LSAN_OPTIONS="suppressions=$scratch/leaks:print_suppressions=0"
export ISOMER_CC="$cc" ISOMER_CUDA_PATH="$1" ISOMER_ROCM_PATH="$2" ISOMER_CACHE_DIR="$build_dir/tests/cache/kernels"
: >digests
# verified DEVICES: all cases pass; their digests are added to the file.
verified() {
    expect 0 kernel verify "$source_dir/tests/kernels/user.isk" --backend "$1" --bitwise
    says out " 0 failed" "of 15 cases"
    sed -n 's/^  digest \([0-9a-f]*\) of 15 cases$/\1/p' out >>digests
}
devices=openmp
for backend in cuda hip opencl; do
    "$tool" info --available "$backend" >/dev/null 2>&1 && devices=$devices,$backend
done
verified "$devices"
runs=$(echo "$devices" | tr ',' '\n' | wc -l) threads=0
for set in generic avx2 avx512 avx512vnni sve256 sve512; do
    ISOMER_CPU_ISA=$set "$tool" info --available openmp >/dev/null 2>&1 || continue
    threads=$((threads % 4 + 1)) counts=$threads
    [ "${3:-quick}" != full ] || counts="1 2 3 4"
    for count in $counts; do
        export ISOMER_CPU_ISA="$set" ISOMER_NUM_THREADS="$count"
        verified openmp
        runs=$((runs + 1))
    done
    unset ISOMER_CPU_ISA ISOMER_NUM_THREADS
done
[ "$runs" -gt 1 ] || fail "only one run"
[ "$(wc -l <digests)" = "$runs" ] || fail "$(wc -l <digests) digests of $runs devices and runs"
[ "$(sort -u digests | wc -l)" = 1 ] || fail "the digests differ: $(sort digests | uniq -c)"
say "$runs devices and runs: $(head -n 1 digests)"
