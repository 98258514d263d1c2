# SPDX-License-Identifier: Apache-2.0
# page.sh: the outputs of the judge in docs/kernels.md are what the tool prints, with gcc 12.
. "$ISOMER_TEST_COMMON"
need gcc gcc
need python3 python3
need addr2line binutils
[ "$(gcc -dumpversion | cut -d. -f1)" = 12 ] || skip "gcc here is not 12, whose messages the page has"
python3 "$source_dir/tests/judge/page.py" "$source_dir/docs/kernels.md" "$tool" "$source_dir/tests/judge/page" gcc ||
    fail "docs/kernels.md is not what the tool prints"
