# SPDX-License-Identifier: Apache-2.0
# shell.sh: every shell script parses in the plainest shell available (those for bash and zsh in
# theirs, if installed), and shellcheck, if installed, has no complaints.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"

sources '*.sh' quickstart run .ci/run >"$scratch/files"
[ -s "$scratch/files" ] || fail "no files to check"
cd "$source_dir"
while read -r file; do
    sh -n "$file" || fail "$file does not parse"
done <"$scratch/files"
# A path with spaces stays whole; and the check detects one that does not.
xargs awk -f tests/lint/spaces.awk <"$scratch/files" || fail "put the above in quotes: a path may have spaces"
cat >"$scratch/planted" <<'END'
cp "$tool" "$(dirname "$tool")"
cp $tool "$(dirname $tool)"
END
if awk -f tests/lint/spaces.awk "$scratch/planted" >"$scratch/found" || [ "$(wc -l <"$scratch/found")" != 2 ]; then
    fail "paths that are not in quotes are not found: $(cat "$scratch/found")"
fi
# Preloaded libraries may have such a path too.
while read -r file; do
    if grep -qE 'LD_PRELOAD="?[$]' "$file" && ! grep -qE 'preloadable|print-file-name' "$file"; then
        fail "$file: a library for LD_PRELOAD goes through preloadable of tests/common.sh"
    fi
done <"$scratch/files"
sources '*.bash' >"$scratch/bash"
[ -s "$scratch/bash" ] || fail "no files for bash"
if have bash; then
    while read -r file; do
        bash -n "$file" || fail "$file does not parse"
    done <"$scratch/bash"
fi
if have zsh; then
    zsh -n completions/_isomer || fail "completions/_isomer does not parse"
fi
if have shellcheck; then
    xargs shellcheck --shell=bash <"$scratch/bash" || fail "see the messages above"
    # The common file, whose path is only known at run time, sets variables and `set -e`.
    xargs shellcheck --shell=sh --exclude=SC1090,SC1091,SC2154,SC2034,SC2164 <"$scratch/files" ||
        fail "see the messages above"
fi
say "$(cat "$scratch/files" "$scratch/bash" | wc -l) scripts"
