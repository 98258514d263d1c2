# SPDX-License-Identifier: Apache-2.0
# mutants.sh PROGRAM FOLDER: the default vectors find every bug planted in the products, reductions,
# maps and transposes of the reference plug-in.
. "$ISOMER_TEST_COMMON"
program=$1
export ISOMER_BACKEND_PATH="$2"
cd "$scratch" || exit
expect 0 vectors --out products.jsonl --level products --count 40000
expect 0 vectors --out fixed.jsonl --level fixed --count 20000
expect 0 vectors --out sums.jsonl --level sums --count 25000
expect 0 vectors --out maps.jsonl --level maps --count 15000

grep '^[0-9]' "$source_dir/tests/plugins/mutants.txt" | tr -d ' ' | cut -d'|' -f1,3 >list
tried=0 wrong=''
while IFS='|' read -r number kind; do
    case $kind in
    gemm) level=products ;;
    fixed) level=fixed ;;
    reduce) level=sums ;;
    map | transpose) level=maps ;;
    *) continue ;;
    esac
    tried=$((tried + 1)) code=0
    "$program" "mutant$number" "$level.jsonl" >said 2>&1 || code=$?
    case $code in
    1)
        says said " differ"
        say "found  mutant $number: $(tail -n 1 said)"
        ;;
    *) wrong="$wrong $number (exit code $code)" ;;
    esac
done <list
[ "$tried" -ge 60 ] || fail "only $tried mutants were tried"
[ -z "$wrong" ] || fail "mutants:$wrong"
