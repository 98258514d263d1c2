# SPDX-License-Identifier: Apache-2.0
# Every C file is as .clang-format has it.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
need clang-format clang-format
# Its versions differ in small things; the tree is as this one has it.
version=$(clang-format --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
[ "$version" = 14 ] || skip "formatted by clang-format 14; this is clang-format $version"

sources '*.c' '*.h' >"$scratch/files"
[ -s "$scratch/files" ] || fail "no files to check"
cd "$source_dir"
xargs clang-format --dry-run -Werror <"$scratch/files" ||
    fail "run: clang-format -i on the files above"
say "$(wc -l <"$scratch/files") files"
