# SPDX-License-Identifier: Apache-2.0
# symbols.sh: the library exports exactly what the headers declare, with the version ISOMER_0.
. "$ISOMER_TEST_COMMON"
need nm binutils
need readelf binutils

nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$scratch/exported"
[ -s "$scratch/exported" ] || fail "$library exports nothing"
if grep -v '^iso_[a-z0-9_]*@@ISOMER_0$' "$scratch/exported"; then
    fail "exported without the version ISOMER_0, or not iso_*: see above"
fi

# Declarations may span several lines: the name precedes the first parenthesis.
cat "$source_dir"/include/isomer/*.h | tr '\n' ' ' | sed 's/ISO_API/\nISO_API/g' |
    sed -n 's/^ISO_API [^(;]*[ *]\(iso_[a-z0-9_]*\)(.*/\1@@ISOMER_0/p' | sort -u >"$scratch/declared"
diff "$scratch/declared" "$scratch/exported" ||
    fail "declared (<) and exported (>) differ"

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libisomer.so.0 ] || fail "the SONAME is '$soname', not libisomer.so.0"
say "$(wc -l <"$scratch/exported") symbols"
