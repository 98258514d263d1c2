# SPDX-License-Identifier: Apache-2.0
# samples.sh: every C program of the pages for newcomers compiles without a warning and prints what
# the page says, and every call in their tables compiles.
. "$ISOMER_TEST_COMMON"
need python3 python3

pages="$source_dir/docs/first-steps.md $source_dir/docs/coming-from-cuda.md $source_dir/docs/coming-from-hipblas.md
    $source_dir/docs/coming-from-cupy.md"
# shellcheck disable=SC2086
python3 "$source_dir/tests/lint/samples.py" "$scratch" $pages || fail "see above"

compile() { "$cc" -std=c11 -Wall -Wextra -Werror -Wno-unused-variable -I "$source_dir/include" "$@"; }

compile -fsyntax-only "$scratch/calls.c" || fail "a call in a table does not compile"
sed 's/iso_buffer_destroy(buffer)/iso_buffer_destroy(stream)/' "$scratch/calls.c" >"$scratch/planted.c"
if compile -fsyntax-only "$scratch/planted.c" 2>/dev/null; then
    fail "a wrong call in a table is not found"
fi

LD_LIBRARY_PATH=$(dirname "$library")
export LD_LIBRARY_PATH ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off
for program in "$scratch"/*-*.c; do
    name=${program##*/}
    compile -o "$scratch/program" "$program" -L "$LD_LIBRARY_PATH" -lisomer || fail "$name does not compile"
    "$scratch/program" >"$scratch/out" || fail "$name fails"
    printed=${program%.c}.txt
    [ -f "$printed" ] || fail "the page does not say what $name prints"
    diff "$printed" "$scratch/out" || fail "$name prints something else (>) than its page says (<)"
    say "$name"
done
