# SPDX-License-Identifier: Apache-2.0
# mutants.sh FOLDER SOUND KIND NUMBER...: the suite finds each of these mutants in FOLDER;
# `mutants.txt` lists the planted bugs and the cases that can find them. The exit code must be 1, a
# failed check: any other means that the mutant did not run, or crashed. The reference plug-in,
# which is in SOUND and has no planted bug, must pass the case that failed. Mutants of the kind
# `invariance` pass the suite and fail with --invariance.
. "$ISOMER_TEST_COMMON"
ISOMER_BACKEND_PATH=$1:$2
export ISOMER_BACKEND_PATH
kind=$3
shift 3
invariance=
[ "$kind" != invariance ] || invariance=--invariance
table=$source_dir/tests/plugins/mutants.txt

missed=
# try NUMBER WHAT OPTIONS
try() {
    code=0
    # shellcheck disable=SC2086
    if [ -n "$invariance" ] && ! "$tool" verify --backend "mutant$1" $3 >"$scratch/out" 2>&1; then
        say "MISSED  mutant $1, which $2: $3: found without --invariance too"
        missed="$missed $1"
    fi
    # shellcheck disable=SC2086
    "$tool" verify --backend "mutant$1" $invariance $3 --suite quick --fail-fast >"$scratch/out" 2>&1 || code=$?
    case_id=$(sed -n 's/.*--case \([^ ]*\).*/\1/p' "$scratch/out" | head -n 1)
    if [ "$code" -ne 1 ] || [ -z "$case_id" ]; then
        say "MISSED  mutant $1, which $2: $3: exit code $code"
        tail -n 20 "$scratch/out"
        missed="$missed $1"
    elif ! "$tool" verify --backend reference $invariance --case "$case_id" >"$scratch/out" 2>&1; then
        say "MISSED  mutant $1, which $2: a sound plug-in fails $case_id as well"
        tail -n 20 "$scratch/out"
        missed="$missed $1"
    else
        say "caught  mutant $1, which $2: $case_id"
    fi
}

for number; do
    what=$(sed -n "s/^$number *|.*| *//p" "$table")
    options=$(sed -n "s/^$number *|.*| *\(--op .*\) *|.*/\1/p" "$table")
    # Types separated by "/": the bug is found in each of them.
    case $options in
    */*)
        types=${options##*--dtype }
        for type in $(printf '%s' "$types" | tr / ' '); do
            try "$number" "$what" "${options%--dtype *} --dtype $type"
        done
        ;;
    *) try "$number" "$what" "$options" ;;
    esac
done
[ -z "$missed" ] || fail "the suite does not find these mutants of $kind:$missed"
