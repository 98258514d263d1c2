# SPDX-License-Identifier: Apache-2.0
# isomer_add_portability_test in an outside project: what runs, what is skipped and why, what fails.
# The CPU backend is always there; a backend that nobody has is called nowhere.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
unset ISOMER_REQUIRE

install_here
cp -R "$source_dir/tests/install/portability" "$scratch/project"
cp "$source_dir/examples/multiply.c" "$scratch/project/"
configure() {
    cmake -S "$scratch/project" -B "$scratch/build" -G "$ISOMER_TEST_GENERATOR" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/build.log" 2>&1
}
{ configure && cmake --build "$scratch/build" >>"$scratch/build.log" 2>&1; } || {
    cat "$scratch/build.log"
    fail "the outside project does not build"
}

# ran NAME RESULT: how ctest judged that test.
run() {
    code=0
    ctest --test-dir "$scratch/build" -V >"$scratch/out" 2>&1 || code=$?
    [ "$code" -ne 0 ] || fail "ctest passes although tests fail"
}
ran() {
    grep -E "Test +#[0-9]+: $1 " "$scratch/out" | grep -q "$2" || {
        cat "$scratch/out"
        fail "$1 is not judged $2"
    }
}
run
ran product.openmp Passed
ran product.openmp_0 Passed
ran product.nowhere Skipped
grep -q 'SKIP: .*nowhere' "$scratch/out" || fail "the skip does not say why"
ran product.same Passed
ran needed.openmp Passed
ran needed.nowhere Failed
grep -q 'FAIL: nowhere is required' "$scratch/out" || fail "a missing backend is not named"
ran differs.openmp Passed
ran differs.same Failed
ran wrong.openmp Failed
ran skips.openmp Skipped
ran sees.openmp Passed

# What ISOMER_REQUIRE names may neither be missing nor skip.
export ISOMER_REQUIRE=openmp,nowhere
run
ran product.openmp Passed
ran product.nowhere Failed
ran skips.openmp Failed

echo 'isomer_add_portability_test(NAME x COMMAND multiply BACKEND openmp)' \
    >>"$scratch/project/CMakeLists.txt"
if configure; then
    fail "an unknown argument is accepted"
fi
grep -q 'unknown arguments: BACKEND' "$scratch/build.log" || fail "the unknown argument is not named"
