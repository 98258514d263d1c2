# SPDX-License-Identifier: Apache-2.0
# products.sh: the digest that tables of measured choices have covers the kernel texts that products
# are made of, and no other text.
. "$ISOMER_TEST_COMMON"
cd "$source_dir"

grep -hoE 'kernel_text_[a-z0-9_]+' backends/simt/gem*.c backends/simt/fixed_*.c | sed 's/^kernel_text_//' |
    sort -u >"$scratch/used"
[ "$(wc -l <"$scratch/used")" -ge 15 ] || fail "products have only $(wc -l <"$scratch/used") texts"
sed -n 's,.*/kernels/\([a-z0-9_]*\)\.[a-z]*$,\1,p' "$build_dir/backends/simt/simt_kernels.files" | sort >"$scratch/covered"
diff "$scratch/used" "$scratch/covered" ||
    fail "the texts of products (<) are not those of the digest (>): see backends/simt/CMakeLists.txt"
say "$(wc -l <"$scratch/used") texts"

# A table that is shipped is of these kernels: others would not be used.
for backend in simt openmp; do
    sed -n 's/.*"\([0-9a-f]*\)".*/\1/p' "$build_dir/backends/$backend/"*_kernels.h
done >"$scratch/digests"
[ "$(wc -l <"$scratch/digests")" = 2 ] || fail "not one digest for each: $(cat "$scratch/digests")"
for table in tuned/*.tuned; do
    [ -f "$table" ] || continue
    digest=$(sed -n '3s/.* kernels \([0-9a-f]*\)$/\1/p' "$table")
    grep -qx "$digest" "$scratch/digests" ||
        fail "$table was measured with other kernels ($digest): measure it again (tuned/README.md), or remove it"
done
