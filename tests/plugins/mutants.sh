# SPDX-License-Identifier: Apache-2.0
# mutants.sh FOLDER SOUND KIND NUMBER...: the suite finds each of these mutants, which lie in FOLDER;
# `mutants.txt` says what is planted in which, and which cases can show it. The exit code must be 1,
# which means that a check failed: with any other the mutant was not run, or crashed. And the
# reference plug-in, which lies in SOUND and has no such bug, must pass the case that failed.
. "$ISOMER_TEST_COMMON"
ISOMER_BACKEND_PATH=$1:$2
export ISOMER_BACKEND_PATH
kind=$3
shift 3
table=$source_dir/tests/plugins/mutants.txt

missed=
for number; do
    what=$(sed -n "s/^$number *|.*| *//p" "$table")
    options=$(sed -n "s/^$number *|.*| *\(--op .*\) *|.*/\1/p" "$table")
    code=0
    # shellcheck disable=SC2086
    "$tool" verify --backend "mutant$number" $options --suite quick --fail-fast \
        >"$scratch/out" 2>&1 || code=$?
    case_id=$(sed -n 's/.*--case \([^ ]*\).*/\1/p' "$scratch/out" | head -n 1)
    if [ "$code" -ne 1 ] || [ -z "$case_id" ]; then
        say "MISSED  mutant $number, which $what: exit code $code"
        tail -n 20 "$scratch/out"
        missed="$missed $number"
    elif ! "$tool" verify --backend reference --case "$case_id" >"$scratch/out" 2>&1; then
        say "MISSED  mutant $number, which $what: a sound plug-in fails $case_id as well"
        tail -n 20 "$scratch/out"
        missed="$missed $number"
    else
        say "caught  mutant $number, which $what: $case_id"
    fi
done
[ -z "$missed" ] || fail "the suite does not find these mutants of $kind:$missed"
