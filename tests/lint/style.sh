# SPDX-License-Identifier: Apache-2.0
# What clang-format leaves open: the form of includes, which headers a folder shares, comparisons with NULL or with the
# name of an operation, the banners of sections, the length of functions and the name in an opening comment. Each
# rule is first tried on a planted file.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
need python3 python3
sources '*.c' '*.h' '*.cl' '*.cu' >"$scratch/files"
cd "$source_dir"
cat >"$scratch/planted.c" <<'END'
#include "nowhere.h"
#include <core/op.h>
#include "bench/verify/internal.h"
/* ---- a banner that is broken --------------------------------------------------------------------
 */
if (pointer == NULL) {
END
{
    echo "{"
    seq 71
    echo "}"
} >>"$scratch/planted.c"
mkdir "$scratch/bench"
echo 'if (strcmp(op, "gemm") == 0) {' >"$scratch/bench/planted.c"
if python3 tests/lint/style.py "$scratch/planted.c" >"$scratch/found" ||
    (cd "$scratch" && python3 "$source_dir/tests/lint/style.py" bench/planted.c) >>"$scratch/found" ||
    [ "$(wc -l <"$scratch/found")" != 9 ]; then
    cat "$scratch/found"
    fail "the rules do not find what was planted"
fi
xargs python3 tests/lint/style.py <"$scratch/files" || fail "see above"
say "$(wc -l <"$scratch/files") files"
