# SPDX-License-Identifier: Apache-2.0
# mutants.sh PROGRAM FOLDER: the default vectors find every bug planted in the arithmetic of the
# reference plug-in. They have no offsets, no gaps, no batches and no operation in place, so they do
# not find the bugs listed here.
. "$ISOMER_TEST_COMMON"
program=$1
export ISOMER_BACKEND_PATH="$2"
hidden=" 8 14 15 16 19 22 30 32 43 46 51 68 "
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
    case $code$hidden in
    0*" $number "*) say "hidden mutant $number" ;;
    1*" $number "*) wrong="$wrong $number (found, though it is listed as hidden)" ;;
    1*)
        says said " differ"
        say "found  mutant $number: $(tail -n 1 said)"
        ;;
    *) wrong="$wrong $number (exit code $code)" ;;
    esac
done <list
[ "$tried" -ge 60 ] || fail "only $tried mutants were tried"
[ -z "$wrong" ] || fail "mutants:$wrong"
