# SPDX-License-Identifier: Apache-2.0
# recipes.sh: the recipes of packaging name this version, and options that CMake knows; packaging/README.md names each
# file. Spack's, conda's and vcpkg's own programs are not needed.
. "$ISOMER_TEST_COMMON"
need python3 python3
cd "$source_dir/packaging"
version=$(sed -n 's/.*ISO_VERSION_STRING "\(.*\)".*/\1/p' ../include/isomer/base.h)

python3 -c 'import ast; ast.parse(open("spack/packages/isomer/package.py").read())' || fail "package.py is no Python"
python3 -c 'import json; json.load(open("vcpkg/isomer/vcpkg.json"))' || fail "vcpkg.json is no JSON"
grep -q "version(\"$version\"" spack/packages/isomer/package.py || fail "package.py has not the version $version"
grep -q "\"version-string\": \"$version\"" vcpkg/isomer/vcpkg.json || fail "vcpkg.json has not the version $version"
# PEP 440 writes 0.2.0-dev so.
grep -q "^  version: $(echo "$version" | sed 's/-dev$/.dev0/')\$" conda/recipe.yaml || fail "recipe.yaml has not the version $version"
for file in spack/packages/isomer/package.py conda/recipe.yaml; do
    grep -q "isomer-$version.tar.gz" $file || fail "$file does not take isomer-$version.tar.gz"
done
grep -q "^isomer (@version@) " deb/changelog || fail "deb/changelog has no entry of this version"

cat ../CMakeLists.txt ../cmake/*.cmake ../backends/*/CMakeLists.txt packages.cmake |
    sed -nE 's/^ *(option|set)\((ISOMER_[A-Z_]+) .*/\2/p' | sort -u >"$scratch/known"
unknown() { grep -ohE 'ISOMER_[A-Z_]+' "$@" | sort -u | comm -13 "$scratch/known" -; }
set -- spack/packages/isomer/package.py conda/recipe.yaml vcpkg/isomer/portfile.cmake deb.sh
[ -z "$(unknown "$@")" ] || fail "no options of CMake: $(unknown "$@")"
echo '-DISOMER_TOOLS=OFF' >"$scratch/planted"
[ "$(unknown "$scratch/planted")" = ISOMER_TOOLS ] || fail "an option that does not exist is not found"

find . -type f ! -name README.md | sed 's|^\./||' | while read -r file; do
    case $file in *.lintian-overrides) file=deb/PACKAGE.lintian-overrides ;; esac
    grep -qF "\`$file\`" README.md || fail "packaging/README.md does not name $file"
done
