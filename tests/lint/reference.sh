# SPDX-License-Identifier: Apache-2.0
# reference.sh: the site of the reference is made without a warning; what is public and has no words,
# and a link that leads nowhere, fail. The manual pages of section 3 pass mandoc and man, and every
# function of the library has one.
. "$ISOMER_TEST_COMMON"
need python3 python3
programs=$source_dir/docs/reference

# man_pages HEADERS FOLDER
man_pages() { python3 -B "$programs/manual.py" "$1" "$2" 0.0.0; }
# site SOURCE FOLDER: makes the site of a tree, with the pages that the build has.
site() {
    mkdir -p "$2"
    sed -n 's/^set(ISOMER_PAGES//; /^first-steps\|^ first-steps/,/)/p' "$source_dir/cmake/Reference.cmake" >"$2/list"
    names=$(tr -d ')' <"$2/list")
    pages=$(for name in $names; do printf 'docs/%s.md ' "$name"; done)
    backends=$(cd "$1" && ls docs/backends/*.md)
    # shellcheck disable=SC2086
    python3 -B "$programs/site.py" "$1" "$2/in" $pages $backends docs/ci/README.md >"$2/log" || return 1
    sed -e "s|@FOLDER@|$2|g" -e "s|@PROJECT_SOURCE_DIR@|$source_dir|g" -e "s|@ISOMER_VERSION@|0.0.0|g" \
        "$programs/Doxyfile.in" >"$2/Doxyfile"
    doxygen "$2/Doxyfile" >>"$2/log" 2>&1
}

headers=$source_dir/include/isomer
python3 -B "$programs/headers.py" "$headers" || fail "the names above are public and have no words in the headers"

# A copy of the headers in which words are missing.
planted=$scratch/planted
mkdir -p "$planted/include"
cp -r "$headers" "$planted/include"
sed -i -e 's|^\(    int64_t batch;\) .*|\1|' \
    -e 's|^ISO_API iso_status iso_prepare|\nISO_API iso_status iso_planted(iso_stream stream);\n\n&|' \
    -e 's|^/. How the device would run|#define ISO_PLANTED 1\n\n&|' "$planted/include/isomer/op.h"
sed -i 's|^\(    ISO_I32 = 5,\).*|\1|' "$planted/include/isomer/types.h"
lacks="batch iso_planted ISO_PLANTED ISO_I32"
python3 -B "$programs/headers.py" "$planted/include/isomer" >"$scratch/names" && fail "missing words are not found"
for name in $lacks; do
    grep -q "$name" "$scratch/names" || fail "headers.py does not see that $name has no words"
done

man_pages "$headers" "$scratch/man/man3" || fail "no manual pages are made"
cd "$scratch/man/man3"
nm -D --defined-only "$library" | sed -n 's/.* T \(iso_[a-z0-9_]*\).*/\1/p' >"$scratch/functions"
[ "$(wc -l <"$scratch/functions")" -gt 90 ] || fail "the library exports too few functions"
while read -r name; do
    [ -f "$name.3" ] || fail "there is no manual page of $name"
done <"$scratch/functions"
for page in *.3; do
    target=$(sed -n 's/^\.so //p' "$page")
    [ -z "$target" ] || [ -f "../$target" ] || fail "$page stands for $target, which does not exist"
done
grep -L '^\.so ' -- *.3 >"$scratch/pages"
for words in 'iso_status iso_gemm(iso_stream stream, const iso_gemm_args \*args);' 'int64_t m, n, k' '^\.B INVALID' \
    '^\.B UNSUPPORTED' '^\.BR iso_dtype (3)' '^\.BR isomer\\-op (3)'; do
    grep -q "$words" iso_gemm.3 || { cat iso_gemm.3; fail "iso_gemm.3 does not have \"$words\""; }
done
grep -q '^\.so man3/iso_gemm.3' iso_gemm_args.3 || fail "iso_gemm_args.3 does not lead to iso_gemm.3"
grep -q '^\.so man3/iso_write.3' iso_copy.3 || fail "iso_copy.3 does not lead to iso_write.3"
if have mandoc; then
    # The pages have no date: the same headers make the same pages.
    xargs mandoc -T lint -W warning <"$scratch/pages" >"$scratch/lint" 2>&1 || true
    grep -v 'missing date' "$scratch/lint" >"$scratch/warnings" || true
    [ ! -s "$scratch/warnings" ] || { cat "$scratch/warnings"; fail "mandoc warns"; }
    sed 's/^\.PP/.NOSUCH/' iso_gemm.3 >"$scratch/planted.3"
    mandoc -T lint -W warning "$scratch/planted.3" | grep -q NOSUCH || fail "a warning of mandoc's is not seen"
else
    say "mandoc is not here: the manual pages are not checked by it"
fi
if have man; then
    for page in iso_gemm iso_launch isomer-kernel isomer-backend; do
        LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z $page.3 >/dev/null 2>"$scratch/warnings" ||
            fail "man does not render $page.3"
        [ ! -s "$scratch/warnings" ] || { cat "$scratch/warnings"; fail "man warns about $page.3"; }
    done
fi
cd "$source_dir"
cmake --install "$build_dir" --prefix "$scratch/prefix" --component development >"$scratch/log" || {
    cat "$scratch/log"
    fail "cmake --install --component development"
}
[ -f "$scratch/prefix/share/man/man3/iso_gemm.3" ] || fail "the manual pages are not installed"

have doxygen || {
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "doxygen is required and not here: install doxygen"
    skip "doxygen is not here, so the site is not made: install doxygen"
}
site "$source_dir" "$scratch/site" || { cat "$scratch/site/log"; fail "the site is not made, or with warnings"; }
for page in index group__header__op group__header__kernel page_coming_from_cuda page_troubleshooting; do
    [ -f "$scratch/site/html/$page.html" ] || fail "the site has no $page.html"
done
grep -q 'First steps' "$scratch/site/html/index.html" || fail "the main page is not docs/first-steps.md"

cp -r "$source_dir/docs" "$planted"
mkdir "$planted/bench" "$planted/tests"
for name in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md examples bench/results; do
    ln -s "$source_dir/$name" "$planted/$name"
done
site "$planted" "$scratch/without" && fail "the site is made although words are missing"
for name in $lacks; do
    grep -q "$name" "$scratch/without/log" || { cat "$scratch/without/log"; fail "the site does not need words for $name"; }
done
printf '\n[a](nowhere.md) [b](bits.md#nowhere)\n' >>"$planted/docs/graphs.md"
site "$planted" "$scratch/broken" && fail "the site is made although links are broken"
for link in 'nowhere.md leads nowhere' 'bits.md#nowhere leads to no heading'; do
    grep -q "$link" "$scratch/broken/log" || { cat "$scratch/broken/log"; fail "not found: $link"; }
done
