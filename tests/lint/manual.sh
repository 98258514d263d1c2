# SPDX-License-Identifier: Apache-2.0
# manual.sh: every command has a manual page, which names exactly the options of its help; isomer(1)
# has every command and every exit code; man renders all pages without a warning.
. "$ISOMER_TEST_COMMON"
pages=$source_dir/docs/man

# plain PAGE: its text, with \- replaced by hyphens.
plain() { sed 's/\\-/-/g' "$1"; }

# lacks PAGE HELP: prints each option of the help that the page does not mention, or vice versa.
lacks() {
    grep -oE '^ +-[a-z-]+(, --?[a-z-]+)*' "$2" | tr -d ',' | tr -s ' ' '\n' | grep . |
        sort -u >"$scratch/options"
    plain "$1" | awk 'tag { print $2 } { tag = $0 == ".TP" }' | grep -oE '^--?[a-z][a-z-]*' |
        sort -u >"$scratch/described"
    comm -23 "$scratch/options" "$scratch/described" | sed 's/^/does not describe /'
    comm -13 "$scratch/options" "$scratch/described" | sed 's/^/describes what is none: /'
}

# render PAGE: man's messages go to the file warnings.
render() {
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" \
        >/dev/null 2>"$scratch/warnings"
}

check_page() { # PAGE SECTION...
    page=$1
    shift
    [ -f "$page" ] || fail "$page is missing"
    for section in NAME "$@"; do
        grep -qE "^\.S[HS] $section\$" "$page" || fail "$page has no section $section"
    done
    have man || return 0
    render "$page" || fail "man does not render $page"
    [ ! -s "$scratch/warnings" ] || { cat "$scratch/warnings"; fail "man warns about $page"; }
}

"$tool" help >"$scratch/help" || fail "isomer help fails"
sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' "$scratch/help" >"$scratch/commands"
[ "$(wc -l <"$scratch/commands")" -ge 6 ] || fail "the help names too few commands"
check_page "$pages/isomer.1" SYNOPSIS DESCRIPTION 'EXIT STATUS' ENVIRONMENT EXAMPLES 'SEE ALSO'
while read -r command; do
    grep -qx "\.B $command" "$pages/isomer.1" || fail "isomer.1 does not list $command"
    [ "$command" != help ] || continue
    page=$pages/isomer-$command.1
    check_page "$page" SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'
    plain "$pages/isomer.1" | grep -q "^\.BR isomer-$command (1)" ||
        fail "isomer.1 does not refer to isomer-$command(1)"
    "$tool" "$command" --help >"$scratch/$command" 2>&1 || fail "isomer $command --help fails"
    grep -q -- --help "$scratch/$command" || fail "isomer $command --help names no options"
    lacks "$page" "$scratch/$command" >"$scratch/lacks"
    [ ! -s "$scratch/lacks" ] || { cat "$scratch/lacks"; fail "see above: $page"; }
done <"$scratch/commands"
check_page "$pages/isomer-results.5" DESCRIPTION run devices results pairs

# "... 0 done, 1 a check failed ..." in the help.
sed -n '/^Exit codes:/,$p' "$scratch/help" | grep -oE '[0-9]+' >"$scratch/codes"
[ "$(wc -l <"$scratch/codes")" -ge 8 ] || fail "the help names too few exit codes"
while read -r code; do
    grep -qx "\.B $code" "$pages/isomer.1" || fail "isomer.1 does not explain the exit code $code"
done <"$scratch/codes"

for page in "$pages"/*; do
    name=${page##*/}
    case $name in
    isomer.1 | isomer-results.5) continue ;;
    esac
    name=${name#isomer-}
    grep -qx "${name%.1}" "$scratch/commands" || fail "$page is about no command"
done

# A missing option, an extra one and an unknown macro are found.
sed '/^\.BI .*suite/,/^\.TP/d' "$pages/isomer-bench.1" >"$scratch/planted.1"
lacks "$scratch/planted.1" "$scratch/bench" | grep -qx 'does not describe --suite' ||
    fail "an option that a page does not describe is not found"
{ cat "$pages/isomer-bench.1" && printf '.TP\n.B \\-\\-no\\-such\n'; } >"$scratch/planted.1"
lacks "$scratch/planted.1" "$scratch/bench" | grep -qx 'describes what is none: --no-such' ||
    fail "a described option that does not exist is not found"
if have man; then
    { cat "$pages/isomer.1" && echo '.NOSUCH x'; } >"$scratch/planted.1"
    render "$scratch/planted.1"
    grep -q NOSUCH "$scratch/warnings" || fail "a warning of man's is not seen"
fi
