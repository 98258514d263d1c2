# SPDX-License-Identifier: Apache-2.0
# documents.sh: the documents of the installed copy have no dead link, no missing path, and no
# record of the tree's making.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
need python3 python3

install_here
python3 "$source_dir/tests/install/documents.py" "$source_dir" "$prefix" || fail "see above"
# The check itself detects planted mistakes.
page=$prefix/share/doc/isomer/README.md
cat >>"$page" <<'END'
See [this](docs/nowhere.md).

Read `tests/common.sh`.
END
if python3 "$source_dir/tests/install/documents.py" "$source_dir" "$prefix" >"$scratch/found"; then
    fail "a dead link is not seen"
fi
for fault in 'docs/nowhere.md is dead' 'tests/common.sh is not installed'; do
    grep -q "$fault" "$scratch/found" || {
        cat "$scratch/found"
        fail "not found: $fault"
    }
done
