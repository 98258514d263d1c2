# SPDX-License-Identifier: Apache-2.0
# digests FILE TOOL ARGUMENTS...: runs the quick suite with --bitwise and writes a line "case
# digest" to FILE for each case that has a digest.
digests() {
    digests_file=$1
    shift
    digests_code=0
    "$@" --suite quick --bitwise --json "$scratch/json" >"$scratch/log" 2>&1 || digests_code=$?
    if [ "$digests_code" -ne 0 ]; then
        cat "$scratch/log"
        fail "exit code $digests_code of: $*"
    fi
    digests_of "$scratch/json" >"$digests_file"
    rm -f "$scratch/json"
    [ -s "$digests_file" ] || fail "no digests from: $*"
}

# digests_of JSON: those lines of a file that verify wrote.
digests_of() {
    grep -oE '"(id|digest)": *"[^"]*"' "$1" |
        awk -F'"' '$2 == "id" { id = $4 } $2 == "digest" && id != "" { print id, $4 }'
}

# same NAME FILE FILE: the second file has the same digests as the first.
same() {
    diff "$2" "$3" >"$scratch/diff" || {
        head -n 20 "$scratch/diff"
        fail "$1: other digests (of $(grep -c '^[<>]' "$scratch/diff") lines, the first are above)"
    }
    say "$1: the same $(wc -l <"$3") digests"
}
