# SPDX-License-Identifier: Apache-2.0
# bounds.sh: the error bounds of docs/bits.md are those of the suite: each formula of the page
# is evaluated for cases of one result, with inputs made as the page says, and compared with the
# bound that `isomer verify` used.
. "$ISOMER_TEST_COMMON"
need python3 python3

"$tool" verify --backend openmp --op gemm,reduce --variant naive,tiled,partials --dtype f16,bf16,f32,f64 \
    --json "$scratch/json" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail "isomer verify fails"
}
python3 "$source_dir/tests/lint/bounds.py" "$source_dir/docs/bits.md" "$scratch/json" || fail "see above"
