# SPDX-License-Identifier: Apache-2.0
# invariance.sh MUTANTS REFERENCE FAULT: isomer verify --invariance: its list, its options, its table, and
# what it says about a change. Mutant 91 adds in another order from the 65th member of a batch on.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
export ISOMER_BACKEND_PATH="$1:$2"
cd "$scratch"

# The list does not depend on the seed, and its ids are unique and safe in a shell.
"$tool" verify --invariance --list >list || fail "--list exits with $?"
"$tool" verify --invariance --list --seed 7 >seed
cmp -s list seed || fail "the list depends on the seed"
"$tool" verify --invariance --list --suite full >whole
count=$(grep -vc '/vendor/' list)
say "$count cases without vendors', $(grep -vc '/vendor/' whole) in the full suite"
[ "$count" -ge 5000 ] || fail "only $count cases"
for suite in list whole; do
    [ -z "$(sort $suite | uniq -d)" ] || fail "ids are not unique in $suite"
    ! grep -qvE '^[a-z0-9/.+,=-]+$' $suite || fail "ids of $suite need quotes in a shell"
done
sort list >a
sort whole >b
[ -z "$(comm -23 a b)" ] || fail "the full suite lacks quick cases"
# Batches of 1 to 257 members, and every number of rows and of columns up to 257.
for kind in batch rows columns; do
    case $kind in
    batch) size='s/.*\/batch\([0-9]*\).*/\1/p' least=257 ;;
    rows) size='s/.*\/in\/m\([0-9]*\)n.*/\1/p' least=256 ;;
    *) size='s/.*\/in\/m[0-9]*n\([0-9]*\)-.*/\1/p' least=256 ;;
    esac
    sizes=$(grep "^gemm/tiled/[^/]*/$kind/" list | sed -n "$size" | sort -u | wc -l)
    [ "$sizes" -eq $least ] || fail "$kind: $sizes sizes"
done

# Options.
expect 2 verify --invariance --bitwise --backend openmp
says err 'leave out --bitwise'
expect 4 verify --invariance --op transpose --backend openmp
says err 'verify --invariance --list'
expect 0 verify --invariance --backend openmp --case "$(grep '^gemm/tiled/f32/threads/' list | tail -n 1)"
says out '1 passed, 0 failed' 'threads' '0/1'
expect 0 verify --invariance --backend openmp --op gemm --variant naive --dtype f64 --case '*/isa/*' --inline --seed 3
says out 'isa' 'passed, 0 failed'
lacks out 'batch'
ISOMER_NUM_THREADS=2 "$tool" verify --invariance --backend openmp --case 'gemm/tiled/f32/threads/*/in/threads=3' \
    >out || fail "with a setting of the user's"
says out '0/5'

# A change: the table counts it, and the message has the element, both values, and a command.
expect 1 verify --invariance --backend mutant91 --op gemm --variant naive --case '*/f32/[brt]*' \
    --json json --junit xml
changed=$(sed -n 's/^  batch  *\([0-9]*\)\/[0-9]*$/\1/p' out)
failed=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p' out)
if [ "${changed:-0}" -le 10 ] || [ "$changed" != "$failed" ]; then
    cat out
    fail "$changed changed, $failed failed"
fi
says out ' rows 0/64 ' ' not on this device: threads, tiles'
grep -qE 'element \[0, [0-9]+\] is .* \(0x[0-9a-f]*\) in this company, .* \(0x[0-9a-f]*\) alone' out ||
    fail "no element with both values"
grep -q '"invariance": true' json || fail "the file does not say what it is"
[ "$(grep -c '"status": "failed"' json)" = "$failed" ] || fail "the JSON does not hold the failures"
[ "$(grep -c '<failure message=' xml)" = "$failed" ] || fail "the XML does not hold the failures"
command=$(sed -n 's/^ *repeat with: //p' out | head -n 1)
say "repeating: $command"
unset ISOMER_BACKEND_PATH
code=0
sh -c "$command" >again 2>&1 || code=$?
[ "$code" -eq 1 ] || fail "the command that repeats it exits with $code"
says again '0 passed, 1 failed'
grep -F "$(grep -m 1 'in this company' out)" again || fail "the repeated case says something else"

# A device that does not open with a setting: these cases are errors, and the others are kept.
code=0
ISOMER_BACKEND_PATH=$3 ISOMER_FAULT=no-small-tiles "$tool" verify --invariance --backend fault --op gemm \
    --variant naive --dtype f32 --case '*/f32/[rt]*' --json json >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "a setting with which the device does not open: exit code $code: $(cat out err)"
says out ' rows 0/64 ' ' tiles 0/0!5 ' 'does not open with ISOMER_TILES=small: ' 'faultOpen'
[ "$(grep -c '"status": "error"' json)" = 5 ] || fail "the JSON does not hold the errors"

# What a vendor's library changes is no failure.
code=0
"$tool" verify --invariance --backend openmp --variant vendor --dtype f32 --case '*/f32/[rs]*' >out 2>err || code=$?
if [ "$code" = 4 ]; then
    say "no BLAS library is here: vendors' products are not tried"
else
    cat out
    [ "$code" = 0 ] || fail "vendors' products: exit code $code"
    says out 'vendor (' 'bits changed in'
fi
