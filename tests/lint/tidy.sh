# SPDX-License-Identifier: Apache-2.0
# tidy.sh: clang-tidy, with the checks of .clang-tidy, over the files of the library and the tool
# that this build compiles, except the kernels (which are compiled for several instruction sets).
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
need clang-tidy clang-tidy

[ -f "$build_dir/compile_commands.json" ] || fail "no compile_commands.json in $build_dir"
cd "$source_dir"
sources 'core/*.c' 'backends/*.c' 'bench/*.c' | grep -v '/kernels/' >"$scratch/files"
[ -s "$scratch/files" ] || fail "no files to check"
xargs -P 2 -n 4 clang-tidy --quiet -p "$build_dir" <"$scratch/files" >"$scratch/log" 2>/dev/null || {
    cat "$scratch/log"
    fail "see the messages above"
}
say "$(wc -l <"$scratch/files") files"
