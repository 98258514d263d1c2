# SPDX-License-Identifier: Apache-2.0
# page.sh - see page.py.
. "$ISOMER_TEST_COMMON"
need python3 python3
python3 "$source_dir/tests/kernels/page.py" "$source_dir" || fail "see above"
