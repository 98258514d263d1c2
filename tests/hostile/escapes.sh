# SPDX-License-Identifier: Apache-2.0
# escapes.sh PLUGINS FAKES: what a terminal obeys, planted wherever texts come from.
. "$ISOMER_TEST_COMMON"
need python3 python3
unset ISOMER_REQUIRE
mkdir "$scratch/work"
python3 "$source_dir/tests/hostile/escapes.py" "$tool" "$scratch/work" "$1" "$2"
