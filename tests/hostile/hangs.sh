# SPDX-License-Identifier: Apache-2.0
# hangs.sh: endless input, limits on files, and closed outputs.
. "$ISOMER_TEST_COMMON"
need python3 python3
unset ISOMER_REQUIRE
mkdir "$scratch/work"
python3 "$source_dir/tests/hostile/hangs.py" "$tool" "$scratch/work"
