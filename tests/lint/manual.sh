# SPDX-License-Identifier: Apache-2.0
# The manual page is well formed, and names every command and option that the tool's help names.
. "$ISOMER_TEST_COMMON"
page=$source_dir/docs/man/isomer.1
[ -f "$page" ] || fail "$page is missing"

for section in NAME SYNOPSIS DESCRIPTION ENVIRONMENT; do
    grep -qE "^\.S[Hh] \"?$section" "$page" || fail "the manual page has no section $section"
done
for command in info verify; do
    "$tool" "$command" --help >"$scratch/help" 2>&1 || fail "isomer $command --help fails"
    grep -oE -- '--[a-z][a-z-]+' "$scratch/help" | sort -u >"$scratch/options"
    [ -s "$scratch/options" ] || fail "isomer $command --help names no options"
    # Hyphens are written \- there.
    sed 's/\\-/-/g' "$page" >"$scratch/page"
    while read -r option; do
        grep -qF -- "$option" "$scratch/page" || fail "the manual page does not mention $option"
    done <"$scratch/options"
done
if have man; then
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
        >/dev/null 2>"$scratch/warnings" || fail "man does not render the page"
    if [ -s "$scratch/warnings" ]; then
        cat "$scratch/warnings"
        fail "man warns about the page"
    fi
fi
