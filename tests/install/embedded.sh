# SPDX-License-Identifier: Apache-2.0
# embedded.sh [full]: isomer inside another project, by add_subdirectory and by FetchContent: the
# library, the tool and isomer_add_portability_test. The source is an archive made by git, not a
# checkout, and its path has spaces. Checks the tests that are added; `full` builds the project and
# runs them.
. "$ISOMER_TEST_COMMON"
need git git
unset ISOMER_REQUIRE

home="$scratch/a path with spaces"
mkdir -p "$home/isomer"
git -C "$source_dir" rev-parse --verify -q HEAD >"$scratch/commit" || skip "the source is no checkout"
(cd "$source_dir" && git archive HEAD) | tar -x -C "$home/isomer" || fail "git archive"

# The archive knows its commit; the files of the checkout contain none.
commit=$(cat "$scratch/commit")
cmake -DSOURCE="$home/isomer" -DTO="$scratch/archive.h" -P "$home/isomer/bench/record/commit.cmake"
grep -qx "#define RECORD_COMMIT \"$commit\"" "$scratch/archive.h" || {
    cat "$scratch/archive.h"
    fail "the archive does not know its commit, $commit"
}
mkdir "$scratch/bare"
cmake -DSOURCE="$scratch/bare" -DTO="$scratch/none.h" -P "$source_dir/bench/record/commit.cmake"
grep -qx '#define RECORD_COMMIT ""' "$scratch/none.h" || fail "a folder that is neither has a commit"

cp -R "$source_dir/tests/install/portability" "$home/project"
cp "$source_dir/examples/multiply.c" "$home/project/"
configure() { # FOLDER OPTION...
    folder=$1
    shift
    cmake -S "$home/project" -B "$home/$folder" -G "$ISOMER_TEST_GENERATOR" -DCMAKE_C_COMPILER="$cc" "$@" \
        >"$scratch/log" 2>&1
}
for way in SUBDIRECTORY FETCHED; do
    configure "$way" "-D$way=$home/isomer" || {
        cat "$scratch/log"
        fail "$way: the project does not configure"
    }
    ctest --test-dir "$home/$way" -N >"$scratch/list"
    for name in product.openmp product.same needed.cuda sees.openmp; do
        grep -q ": $name\$" "$scratch/list" || fail "$way: no test $name"
    done
    if grep -q 'unit\.core' "$scratch/list"; then
        fail "$way: isomer's own tests are among the project's"
    fi
    ctest --test-dir "$home/$way" -N -V -R '^product.openmp$' >"$scratch/list"
    grep -qF "\"$home/isomer/cmake/isomer-portability.sh\" \"run\" \"$home/$way/" "$scratch/list" || {
        cat "$scratch/list"
        fail "$way: the test does not run the tool that is built here"
    }
    [ -z "$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$home/$way/CMakeCache.txt")" ] ||
        fail "$way: isomer sets the build type of the project"
done
# isomer_add_kernels, with the tool that is built here.
cp "$home/isomer/tests/install/kernels/use.c" "$home/isomer/tests/install/kernels/use.cpp"
cmake -S "$home/isomer/tests/install/kernels" -B "$home/kernels" -G "$ISOMER_TEST_GENERATOR" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_BUILD_TYPE=Release -DISOMER_SOURCE="$home/isomer" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail "a project with kernels does not configure"
}
if configure without "-DSUBDIRECTORY=$home/isomer" -DISOMER_TOOL=OFF; then
    fail "isomer_add_portability_test does without the tool"
fi
tr -s ' \n' ' ' <"$scratch/log" | grep -q 'needs the isomer tool, and it was not found or is not built' || {
    cat "$scratch/log"
    fail "no message that the tool is needed"
}
[ "${1:-}" = full ] || exit 0

for way in SUBDIRECTORY FETCHED; do
    cmake --build "$home/$way" >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log"
        fail "$way: the project does not build"
    }
    tool_here=$(find "$home/$way" -name isomer -type f -perm -u+x | head -n 1)
    "$tool_here" --version >"$scratch/version" || fail "$way: the tool does not run"
    grep -qx "commit $commit" "$scratch/version" || {
        cat "$scratch/version"
        fail "$way: the tool does not know its commit"
    }
    ctest --test-dir "$home/$way" --output-on-failure -R '^(product|sees|alone)[.]' >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "$way: the tests fail"
    }
    grep -q 'product.same .* Passed' "$scratch/out" || { cat "$scratch/out"; fail "$way: product.same does not pass"; }
    cmake --install "$home/$way" --prefix "$home/prefix $way" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$way: install"; }
    "$home/prefix $way/bin/isomer" --version >"$scratch/version" || fail "$way: the installed tool does not run"
done

cmake --build "$home/kernels" --target cpp c >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log"
    fail "a project with kernels does not build"
}
ISOMER_BACKEND=openmp "$home/kernels/c" >"$scratch/out" || fail "embedded kernels fail"
ISOMER_BACKEND=openmp "$home/kernels/cpp" | cat - "$scratch/out" | sort -u >"$scratch/all"
[ "$(wc -l <"$scratch/all")" -eq 1 ] || { cat "$scratch/all"; fail "embedded kernels differ from target to target"; }
