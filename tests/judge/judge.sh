# SPDX-License-Identifier: Apache-2.0
# judge.sh COMPILER: the judge finds each planted fault on its line, and nothing in right kernels.
. "$ISOMER_TEST_COMMON"
compiler=$1
need "$compiler" "$compiler"
need python3 python3
need addr2line binutils

# finds CODE NAME: checks a text of this folder and compares the findings with its marks.
finds() {
    expect "$1" kernel check "$source_dir/tests/judge/$2.isk" --only declarations,judge \
        --require judge --cc "$compiler" --seconds 2 --json "$scratch/$2.json"
    python3 "$source_dir/tests/judge/marks.py" "$source_dir/tests/judge/$2.isk" "$scratch/$2.json" ||
        fail "the findings of $2.isk with $compiler are wrong: see above"
}
finds 1 wrong
finds 0 right
expect 0 kernel check "$source_dir/examples/kernels/first.isk" --only declarations,judge --require judge \
    --cc "$compiler"
says out "0 findings"
