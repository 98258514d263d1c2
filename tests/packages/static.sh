# SPDX-License-Identifier: Apache-2.0
# static.sh LIBRARY: programs that link libisomer.a, through find_package and through pkg-config: they need no
# libisomer.so, have every built-in backend, and get no name but iso_*.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
. "$source_dir/tests/packages/outside.sh"
need nm binutils
need pkg-config pkg-config
need make make

nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort >"$scratch/names"
nm -D --defined-only "$library" | sed -n 's/.* \(iso_.*\)@@.*/\1/p' | sort | diff - "$scratch/names" ||
    fail "names of the shared (<) and the static (>) library differ"

install_here
move_prefix
outside "$moved" "$(dirname "$(find "$moved" -name isomer.pc)")"
# A package that has the static library alone.
find "$moved" -name 'libisomer.so*' -delete
find "$moved" -name 'IsomerTargets*' -delete
outside "$moved" "$(dirname "$(find "$moved" -name isomer.pc)")" alone
