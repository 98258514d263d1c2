# SPDX-License-Identifier: Apache-2.0
# format.sh: every C, OpenCL C and CUDA file is formatted as .clang-format says.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
# Versions of clang-format differ in small things; the tree uses version 19.
format=clang-format-19
have "$format" || format=clang-format
need "$format" clang-format-19
version=$("$format" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
[ "$version" = 19 ] || skip "formatted by clang-format 19; this is clang-format $version"

sources '*.c' '*.h' '*.cl' '*.cu' >"$scratch/files"
[ -s "$scratch/files" ] || fail "no files to check"
cd "$source_dir"
xargs "$format" --dry-run -Werror <"$scratch/files" ||
    fail "run: $format -i on the files above"
say "$(wc -l <"$scratch/files") files"
