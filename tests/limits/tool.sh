# SPDX-License-Identifier: Apache-2.0
# tool.sh PROGRAM quick|full: the tool and the library under limits of the system.
. "$ISOMER_TEST_COMMON"
need python3 python3
chmod 755 "$scratch"
python3 "$source_dir/tests/limits/tool.py" "$tool" "$1" "$scratch" "$2" || fail "see above"
