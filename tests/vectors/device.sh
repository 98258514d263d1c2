# SPDX-License-Identifier: Apache-2.0
# device.sh PROGRAM COUNT: the CPU backend gives the results of COUNT vectors. A wrong digest and a
# wrong element in the file are found.
. "$ISOMER_TEST_COMMON"
program=$1
cd "$scratch" || exit
for seed in 1 2; do
    expect 0 vectors --out vectors.jsonl --count "$2" --seed "$seed"
    "$program" openmp vectors.jsonl >said 2>&1 || { head -20 said; fail "the results differ with seed $seed"; }
    says said "$2 vectors" " 0 differ"
    cat said
done

# planted NAME EXPRESSION: sed changes one case of the file; the program must say which.
planted() {
    sed "$2" vectors.jsonl >planted.jsonl
    ! cmp -s vectors.jsonl planted.jsonl || fail "$1: nothing was planted"
    code=0
    "$program" openmp planted.jsonl >said 2>&1 || code=$?
    [ "$code" -eq 1 ] || fail "$1: exit code $code"
    says said "$3"
}
planted "a wrong digest" '/"case":"products\/7"/s/"digest":"../"digest":"zz/' "products/7 as tiled differs"
planted "a wrong element" '/"case":"maps\/1"/s/"result":\["../"result":["zz/' "maps/1 as tiled differs"
planted "a result too long" '/"case":"fixed\/3"/s/"result":\["/"result":["0","/' "fixed/3 as fixed differs"
planted "a lost line" '/"case":"sums\/5"/d' "another count"
