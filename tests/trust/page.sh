# SPDX-License-Identifier: Apache-2.0
# page.sh: each line of the tables in docs/security.md names tests, and they exist.
. "$ISOMER_TEST_COMMON"
page=$source_dir/docs/security.md
ctest --test-dir "$build_dir" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort >"$scratch/tests"
[ -s "$scratch/tests" ] || fail "ctest lists no tests"

# bare FILE: the lines without a test, and the tests that do not exist.
bare() {
    grep '^|' "$1" | grep -vE '^\|(---|.*\| test \|$)' | while IFS= read -r line; do
        # shellcheck disable=SC2016
        names=$(printf '%s\n' "$line" | sed 's/ *|$//; s/.*|//' | grep -oE '`[a-z0-9.-]+`' | tr -d '`')
        [ -n "$names" ] || echo "no test: $line"
        for name in $names; do
            grep -qxF "$name" "$scratch/tests" || echo "no such test: $name"
        done
    done
}
bare "$page" >"$scratch/bare"
if [ -s "$scratch/bare" ]; then
    cat "$scratch/bare"
    fail "docs/security.md has rules without a test"
fi
# shellcheck disable=SC2016
printf '| rule | test |\n|---|---|\n| a | |\n| b | `trust.page` |\n| c | `trust.none` |\n' >"$scratch/planted.md"
[ "$(bare "$scratch/planted.md" | wc -l)" = 2 ] || fail "a rule without a test goes unnoticed"
[ "$(grep -c '^|' "$page")" -gt 30 ] || fail "docs/security.md has too few rules"
