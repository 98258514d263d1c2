# SPDX-License-Identifier: Apache-2.0
# source.sh: the source archive has every tracked file and no other, the same bytes each time, and
# knows its version and its commit without git. packages.debian builds it where git is missing.
. "$ISOMER_TEST_COMMON"
need git git
commit=$(git -C "$source_dir" rev-parse --verify -q HEAD) || skip "the source is no checkout"

for time in one two; do
    sh "$source_dir/packaging/source.sh" "$scratch/$time" >"$scratch/sum" 2>"$scratch/err" || {
        cat "$scratch/err"
        fail "packaging/source.sh"
    }
    [ $time = two ] || sleep 1 # a time of the clock would differ
done
archive=$(echo "$scratch"/one/isomer-*.tar.gz)
cmp "$archive" "$scratch/two/${archive##*/}" || fail "two archives of one commit differ"

tar -xzf "$archive" -C "$scratch"
home=$scratch/$(basename "$archive" .tar.gz)
git -C "$source_dir" ls-tree -r --name-only HEAD | sort >"$scratch/tracked"
(cd "$home" && find . ! -type d | sed 's|^\./||' | sort) | diff "$scratch/tracked" - ||
    fail "the tracked files (<) and those of the archive (>) differ"
version=$(sed -n 's/.*ISO_VERSION_STRING "\(.*\)".*/\1/p' "$home/include/isomer/base.h")
[ "${home##*/}" = "isomer-$version" ] || fail "the folder is ${home##*/}, and the version $version"

# A git that is asked leaves a mark.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "$*" >>"%s"\nexit 1\n' "$scratch/asked" >"$scratch/bin/git"
chmod +x "$scratch/bin/git"
PATH="$scratch/bin:$PATH" cmake -DSOURCE="$home" -DTO="$scratch/commit.h" -P "$home/bench/record/commit.cmake"
grep -qx "#define RECORD_COMMIT \"$commit\"" "$scratch/commit.h" || fail "the archive does not know its commit"
[ ! -e "$scratch/asked" ] || { cat "$scratch/asked"; fail "the archive asks git"; }
say "$(wc -l <"$scratch/tracked") files, $(wc -c <"$archive") bytes"
