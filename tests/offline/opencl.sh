# SPDX-License-Identifier: Apache-2.0
# opencl.sh PROGRAMS: compiles the programs of f16 by clang for AMD's chips in OpenCL C, without a
# driver: no conversion of halves is merged with the operation beside it (narrow.awk says why).
# halves.cl has vload_half and vstore_half_rte as in AMD's own library. Compiled to SPIR-V, which
# AMD's compilers may also read, they narrow with integer operations.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
need clang clang

mkdir "$scratch/list"
"$programs/list" wave64 "$scratch/list" || fail "no list of programs"
awk -F'\t' '$2 ~ /-DISO_DTYPE=1( |$)/ && ($1 == "map" || $1 == "gemm_naive") { print $1 "\t" $2 }
    $2 ~ /-DISO_DTYPE=1 .*-DISO_THREADS=64|-DISO_THREADS=64 .*-DISO_DTYPE=1 / && $1 == "gemm_tiled" { print $1 "\t" $2 }' \
    "$scratch/list/list" >"$scratch/wanted"
wanted=$(wc -l <"$scratch/wanted")
[ "$wanted" -ge 4 ] || fail "only $wanted programs of f16 in the list"

# build TARGET OUTPUT TEXT OPTIONS...
build() {
    target=$1
    output=$2
    text=$3
    shift 3
    # shellcheck disable=SC2086
    clang -x cl -target $target -nogpulib -Xclang -finclude-default-header -cl-std=CL1.2 -O3 -w \
        -include "$here/halves.cl" "$@" -S -o "$output" "$text" >"$scratch/log" 2>&1 && return
    if grep -q 'unknown target\|No available targets' "$scratch/log"; then
        absent "this clang has no $target"
    fi
    cat "$scratch/log"
    fail "$text ($*) does not compile for $target"
}

# folds FILE: the number of conversions merged with another operation.
folds() { grep -cE '^[[:space:]]*v_(fma|mad)_mix' "$1" || true; }

# each FOLDER: compiles every program, from the sources in the folder.
each() {
    found=0
    while IFS='	' read -r name options; do
        [ -e "$1/$name.text" ] || continue
        # shellcheck disable=SC2086
        build "amdgcn-amd-amdhsa -mcpu=gfx90a" "$scratch/out.s" "$1/$name.text" $options
        grep -q s_endpgm "$scratch/out.s" || fail "$name ($options): no kernel"
        folded=$(folds "$scratch/out.s")
        [ "$folded" = 0 ] || say "$folded in $1/$name.text ($options)"
        found=$((found + folded))
    done <"$scratch/wanted"
}
each "$scratch/list"
[ "$found" = 0 ] || fail "$found conversions of halves are taken together with a product or a sum"

# The same without ISO_APART: then some are merged.
mkdir "$scratch/planted"
sed 's/^#define ISO_APART(f) *__asm__.*/#define ISO_APART(f) ((void)0)/' "$scratch/list/gemm_naive.text" \
    >"$scratch/planted/gemm_naive.text"
each "$scratch/planted"
[ "$found" != 0 ] || fail "conversions that are not set apart are not found"

while IFS='	' read -r name options; do
    # shellcheck disable=SC2086
    build spir64-unknown-unknown "$scratch/out.ll" "$scratch/list/$name.text" $options -emit-llvm
    grep -q 'define.*spir_kernel' "$scratch/out.ll" || fail "$name ($options): no kernel in SPIR"
    if grep -E 'fptrunc float|vstore_half' "$scratch/out.ll"; then
        fail "$name ($options) narrows by a conversion in SPIR"
    fi
done <"$scratch/wanted"

# Products on matrix units: the inline assembly is for NVIDIA's compiler, which is made from clang.
units=0
for rows in 8 16; do
    mkdir "$scratch/units$rows"
    "$programs/list" "warp32+$rows" "$scratch/units$rows" || fail "no list of programs"
    {
        grep '^unit_f64' "$scratch/units$rows/list"
        grep '^gemm_matrix.*ISO_KA=1 -DISO_KB=0' "$scratch/units$rows/list" | grep -v -m1 ISO_ADDED
        grep '^fixed_matrix' "$scratch/units$rows/list" | grep -v ISO_ADDED
    } | sed 's/ -DISO_KEPT=1//' | cut -f1,2 >"$scratch/wanted.units"
    while IFS='	' read -r name options; do
        # shellcheck disable=SC2086
        build "nvptx64-nvidia-nvcl -Xclang -target-cpu -Xclang sm_80" "$scratch/out.s" \
            "$scratch/units$rows/$name.text" $options
        case $name in
        fixed_matrix) instruction='mma.sync.aligned.m16n8k32.*s8' ;;
        *) instruction="mma.sync.aligned.m${rows}n8.*f64" ;;
        esac
        grep -q "$instruction" "$scratch/out.s" || fail "$name ($options): no instruction of a matrix unit"
        units=$((units + 1))
    done <"$scratch/wanted.units"
done
[ "$units" = 6 ] || fail "$units programs on matrix units, not 6"
say "$wanted programs for gfx90a and SPIR, $units for sm_80"
