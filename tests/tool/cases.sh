# SPDX-License-Identifier: Apache-2.0
# cases.sh: the list of cases is stable, unique and safe in a shell; and one case is selected by its
# id.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE

"$tool" verify --list >"$scratch/quick" || fail "--list exits with $?"
"$tool" verify --list --suite full >"$scratch/full" || fail "--list --suite full exits with $?"
"$tool" verify --list --seed 7 >"$scratch/seed" || fail "--list --seed exits with $?"
count=$(wc -l <"$scratch/quick")
say "$count cases, $(wc -l <"$scratch/full") in the full suite"
if [ "$count" -lt 3000 ] || [ "$count" -gt 13000 ]; then
    fail "the quick suite has $count cases"
fi
cmp -s "$scratch/quick" "$scratch/seed" || fail "the list depends on the seed"
for list in quick full; do
    [ -z "$(sort "$scratch/$list" | uniq -d)" ] || fail "ids are not unique in $list"
    ! grep -qvE '^[a-z0-9/.+,=-]+$' "$scratch/$list" || fail "ids of $list need quotes in a shell"
done
sort "$scratch/quick" >"$scratch/a"
sort "$scratch/full" >"$scratch/b"
[ -z "$(comm -23 "$scratch/a" "$scratch/b")" ] || fail "the full suite lacks quick cases"

# One case of each operation, and one case that only the full suite has.
for op in transfer transpose reduce gemm map stream limits; do
    id=$(grep "^$op/" "$scratch/quick" | grep -v /vendor/ | tail -n 1)
    "$tool" verify --backend openmp --case "$id" >"$scratch/out" || fail "case $id"
    grep -q '^1 passed, 0 failed' "$scratch/out" || fail "--case $id did not run one case"
done
id=$(comm -13 "$scratch/a" "$scratch/b" | grep '^transpose/tiled' | head -n 1)
"$tool" verify --backend openmp --case "$id" >"$scratch/out" || fail "case $id of the full suite"

# A pattern selects from the suite, and combines with other filters.
"$tool" verify --list --case 'gemm/naive/*/nt/*/batch3/*' >"$scratch/some"
grep '^gemm/naive/[^/]*/nt/.*/batch3/' "$scratch/quick" | diff - "$scratch/some" >"$scratch/out" || {
    cat "$scratch/out"
    fail "--case with a pattern chooses others than grep"
}
"$tool" verify --list --suite full --case 'gemm/naive/f3?/nt/*/batch3/*' >"$scratch/more"
[ "$(wc -l <"$scratch/more")" -gt "$(grep -c /f32/ "$scratch/some")" ] || fail "a pattern sees only the quick suite"
"$tool" verify --list --case 'gemm/naive/*/nt/*/batch3/*' --dtype f64 >"$scratch/more"
grep /f64/ "$scratch/some" | diff - "$scratch/more" || fail "--dtype does not hold beside a pattern"
code=0
"$tool" verify --backend openmp --case 'gemm/naive/*/zz/*' >"$scratch/out" 2>"$scratch/err" || code=$?
if [ "$code" != 4 ] || ! grep -qF 'gemm/naive/*/zz/*' "$scratch/err"; then
    fail "a pattern that no case has: exit code $code, $(cat "$scratch/err")"
fi

# Filters.
"$tool" verify --list --op sum,transfer --dtype f32 --variant tiled >"$scratch/some"
! grep -qv '^reduce/tiled/f32/sum/' "$scratch/some" || fail "filters let other cases through"
[ -s "$scratch/some" ] || fail "filters let nothing through"
"$tool" verify --list --op triad --dtype f64 --variant naive >"$scratch/some"
! grep -qv '^map/naive/f64/triad/' "$scratch/some" || fail "filters let other maps through"
[ -s "$scratch/some" ] || fail "filters let no map through"

# The cases of bench: by id from all suites, along an axis, and by type.
list() { "$tool" bench --backend openmp --list --no-roofs "$@" >"$scratch/some" || fail "bench --list $*: $?"; }
chosen() { # chosen PATTERN COUNT: at least this many cases, and all match.
    ! grep -qvE "$1" "$scratch/some" || { cat "$scratch/some"; fail "a case does not match $1"; }
    [ "$(wc -l <"$scratch/some")" -ge "$2" ] || { cat "$scratch/some"; fail "too few cases match $1"; }
}
list --case 'gemm/*/f32/1024x1024x1024/nn/strict/*'
chosen '^gemm/[a-z]+/f32/1024x1024x1024/nn/strict/' 3
grep -q cold "$scratch/some" || fail "--case misses the cases of the suite gemm"
list --case 'gemm/*' --suite quick --dtype f64 --variant tiled
chosen '^gemm/tiled/f64/' 2
list --op reduce --size 10000x7000 --axis 0,1 --dtype f32 --variant tiled
chosen '^reduce/[a-z]+/tiled/f32/10000x7000/axis[01]/' 4
list --op sum --size 100x70 --axis all --variant tiled
chosen '^reduce/sum/tiled/f[0-9]+/7000/all/' 2
list --axis 1 --suite quick
chosen '^reduce/[a-z]+/[a-z]+/f[0-9]+/[0-9]+x[0-9]+/axis1/' 4
list --op gemm --dtype f32 --size 64
chosen '^gemm/[a-z]+/f32/.*/strict/' 3
list --op gemm --dtype tf32 --suite full
chosen '^gemm/vendor/f32/.*/tf32/' 2
list --op map,gemm,transpose --variant auto --size 64
chosen '^(stream/[a-z]+|gemm|transpose)/auto/' 4
cp "$scratch/some" "$scratch/more"
list --op stream,gemm,transpose --variant auto --size 64
cmp "$scratch/some" "$scratch/more" || fail "the older word stream means other cases than map"
# What is refused says what is needed, and suggests only near words.
refused() { # refused TEXT ARGUMENTS...
    text=$1 code=0
    shift
    "$tool" bench --list "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" = 2 ] || fail "bench $*: exit code $code: $(cat "$scratch/err")"
    grep -qF -- "$text" "$scratch/err" || fail "bench $*: $(cat "$scratch/err")"
}
refused 'MxNxK for a product' --op gemm --size 256x256
refused '--op is given twice; give one list: --op reduce,gemm' --op reduce --op gemm
refused 'did you mean "gemm"' --op gemn
for words in '--op foo' '--axis 2' '--foo'; do
    # shellcheck disable=SC2086
    ! "$tool" bench --list $words 2>&1 | grep -q 'did you mean' || fail "$words: a suggestion that is not near"
done
code=0
"$tool" bench --list --backend cpu >"$scratch/out" 2>"$scratch/err" || code=$?
grep -q 'openmp is the CPU' "$scratch/err" || fail "$code: $(cat "$scratch/err")"
# Without wildcards a part of an id is enough, and an id works although no suite has its size.
list --case gemm/tiled
chosen '^gemm/tiled/' 10
for id in reduce/sum/tiled/f32/4096/all/uniform/hot reduce/max/auto/f64/100x200/axis1/uniform/hot \
    gemm/naive/f64/60x70x80/tn/strict/uniform/cold transpose/tiled/e8/30x40/uniform/hot \
    stream/add/tiled/f32/12345/uniform/hot transfer/read/pinned/5000/uniform/hot; do
    list --case "$id"
    [ "$(cat "$scratch/some")" = "$id" ] || { cat "$scratch/some"; fail "--case $id chooses others"; }
done
code=0
"$tool" bench --backend openmp --list --case 'gemm/*/zz' >"$scratch/out" 2>"$scratch/err" || code=$?
[ "$code" = 4 ] || fail "bench --case without a match: exit code $code"
grep -qF "any suite matches --case gemm/*/zz" "$scratch/err" || fail "$(cat "$scratch/err")"

# Other inputs, and inline streams.
"$tool" verify --backend openmp --op gemm --dtype f32 --variant tiled --bitwise >"$scratch/one"
"$tool" verify --backend openmp --op gemm --dtype f32 --variant tiled --bitwise --seed 2 \
    >"$scratch/two"
"$tool" verify --backend openmp --op gemm --dtype f32 --variant tiled --bitwise --inline \
    >"$scratch/three"
digest() { sed -n 's/^ *digest \([0-9a-f]\{32\}\) of.*/\1/p' "$1"; }
[ -n "$(digest "$scratch/one")" ] || fail "--bitwise prints no digest"
[ "$(digest "$scratch/one")" != "$(digest "$scratch/two")" ] || fail "--seed changes nothing"
[ "$(digest "$scratch/one")" = "$(digest "$scratch/three")" ] || fail "--inline changes the digest"
