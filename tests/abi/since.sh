# SPDX-License-Identifier: Apache-2.0
# since.sh: the oldest supported CUDA is right. NVIDIA's cudaTypedefs.h has a type for each function
# of the driver and each version that changed it (PFN_cuStreamGetCtx_v9020). The first of them is
# exported as cuStreamGetCtx, the next as cuStreamGetCtx_v2. Each required function is in the oldest
# supported version, at least one came with it, and each optional one came later.
. "$ISOMER_TEST_COMMON"
header=
for folder in "${CUDA_PATH:-/usr/local/cuda}/include" /usr/local/cuda/include /usr/include; do
    [ -n "$header" ] || [ ! -e "$folder/cudaTypedefs.h" ] || header=$folder/cudaTypedefs.h
done
[ -n "$header" ] || skip "cudaTypedefs.h is not here: install CUDA's toolkit (cuda-cudart-dev)"
oldest=$(sed -n 's/.*CUDA_VERSION_LEAST = \([0-9]*\).*/\1/p' "$source_dir/backends/cuda/library.h")
[ -n "$oldest" ] || fail "backends/cuda/library.h has no CUDA_VERSION_LEAST"

cat >"$scratch/names.c" <<'END'
#include "backends/cuda/symbols.h"
#include <stdio.h>
#define REQUIRED(result, name, parameters) puts("required " #name);
#define OPTIONAL(result, name, parameters) puts("optional " #name);
int main(void)
{
    CUDA_DRIVER_SYMBOLS(REQUIRED, OPTIONAL)
    return 0;
}
END
"$cc" -I"$source_dir" -o "$scratch/names" "$scratch/names.c" || fail "symbols.h does not compile"
"$scratch/names" >"$scratch/names.list"

newest=0
while read -r kind name; do
    base=${name%_v[0-9]}
    number=1
    [ "$base" = "$name" ] || number=${name##*_v}
    version=$(grep -oE "PFN_${base}_v[0-9]+\b" "$header" | sed 's/.*_v//' | sort -nu | sed -n "${number}p")
    [ -n "$version" ] || fail "$header has no $name"
    [ "$kind" = required ] || [ "$version" -gt "$oldest" ] ||
        fail "$name is optional, and CUDA $version has it already"
    [ "$kind" = optional ] || [ "$version" -le "$oldest" ] ||
        fail "$name is required, and came with CUDA $version, after $oldest"
    [ "$kind" = optional ] || [ "$version" -lt "$newest" ] || newest=$version
done <"$scratch/names.list"
[ "$newest" = "$oldest" ] ||
    fail "every required function is in CUDA $newest, so $oldest is not the oldest usable version"
say "$(wc -l <"$scratch/names.list") functions; the newest required one came with CUDA $newest"
