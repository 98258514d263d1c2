# SPDX-License-Identifier: Apache-2.0
# reserved.sh: every public struct with a reserved field is in the test of those fields. backend.h
# and engine.h are for plug-ins: the core passes zero there.
. "$ISOMER_TEST_COMMON"
cd "$source_dir"

for header in include/isomer/*.h; do
    case $header in
    */backend.h | */engine.h) ;;
    *)
        awk '/^typedef struct/ { has = 0 } / reserved;/ { has = 1 } /^} iso_/ && has { gsub(/[};]/, ""); print $1; has = 0 }' "$header"
        ;;
    esac
done | sort >"$scratch/structs"
[ "$(wc -l <"$scratch/structs")" -ge 10 ] || fail "only $(wc -l <"$scratch/structs") structs with a reserved field"
sed -n 's/.*RESERVED \(iso_[a-z_]*\).*/\1/p' tests/unit/core_structs.c | sort >"$scratch/tested"
diff "$scratch/structs" "$scratch/tested" ||
    fail "the structs with a reserved field (<) are not those of tests/unit/core_structs.c (>)"
say "$(wc -l <"$scratch/structs") structs"
