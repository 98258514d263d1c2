# SPDX-License-Identifier: Apache-2.0
# escapes.sh PLUGINS FAKES: control sequences of a terminal, planted wherever texts come from.
. "$ISOMER_TEST_COMMON"
need python3 python3
unset ISOMER_REQUIRE
mkdir "$scratch/work"
python3 "$source_dir/tests/hostile/escapes.py" "$tool" "$scratch/work" "$1" "$2"
