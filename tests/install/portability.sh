# SPDX-License-Identifier: Apache-2.0
# portability.sh: isomer_add_portability_test in an outside project: what runs, what is skipped and
# why, what fails. The CPU backend is always available, and CUDA is given no device.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
unset ISOMER_REQUIRE
export CUDA_VISIBLE_DEVICES=-1

install_here
cp -R "$source_dir/tests/install/portability" "$scratch/project"
cp "$source_dir/examples/multiply.c" "$scratch/project/"
configure() {
    cmake -S "$scratch/project" -B "$scratch/build" -G "$ISOMER_TEST_GENERATOR" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$scratch/build.log" 2>&1
}
{ configure && cmake --build "$scratch/build" >>"$scratch/build.log" 2>&1; } || {
    cat "$scratch/build.log"
    fail "the outside project does not build"
}

run() { # ctest's arguments
    code=0
    ctest --test-dir "$scratch/build" -V "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -ne 0 ] || fail "ctest passes although tests fail"
}
# ran NAME RESULT [SAYING]: ctest's result of that test, and its output.
ran() {
    grep -E "Test +#[0-9]+: $1 " "$scratch/out" | grep -q "$2" || {
        cat "$scratch/out"
        fail "$1 is not judged $2"
    }
    number=$(sed -n "s/.*Test *#\([0-9]*\): $1 .*/\1/p" "$scratch/out")
    [ $# -lt 3 ] || grep "^$number: " "$scratch/out" | grep -q "$3" || {
        grep "^$number: " "$scratch/out"
        fail "$1 does not say: $3"
    }
}
run
ran product.openmp Passed '139 154'
ran product.openmp_0 Passed
ran product.openmp_99 Skipped 'SKIP: .*openmp:99'
ran product.cuda Skipped 'SKIP: .*cuda is not available'
ran skips.openmp_0 Skipped 'SKIP: the program skipped it: nothing to do here'
ran product.same Passed '2 backends print the same'
ran needed.openmp Passed
ran needed.cuda Failed 'FAIL: cuda is required and not available: '
ran typo.nowhere Failed 'nowhere.*is not a known backend'
ran alone.openmp Passed
ran alone.same Skipped 'SKIP: .*fewer than two'
ran differs.openmp Passed
ran differs.same Failed 'FAIL: openmp (<) and openmp_0 (>) print different things'
ran wrong.openmp Failed before
ran late.openmp Timeout before
ran skips.openmp_0 Skipped
ran sees.openmp Passed
ctest --test-dir "$scratch/build" -N -L own | grep -q '^Total Tests: 5$' || fail "LABELS do not label"

# Numbers that differ slightly, and by more; and text that differs.
ran close.same Passed 'numbers within 1e-3'
ran apart.same Failed '1.01 and 1.02 are further apart than 1e-3'
ran worded.same Failed 'other text'

# The reason for a skip is visible without a flag.
ctest --test-dir "$scratch/build" -R '^product' >"$scratch/out" 2>&1 || fail "product fails"
for reason in 'skipped product.cuda: cuda is not available' 'skipped product.openmp:99: '; do
    grep -q "^$reason" "$scratch/out" || { cat "$scratch/out"; fail "ctest does not show: $reason"; }
done

# An unknown backend or an invalid list is always an error, even if it is not required.
for list in bogus CUDA 'cuda openmp' 'openmp,cudaa' 'openmp:0 cuda' auto 'openmp,,cuda' 'openmp;cuda'; do
    export ISOMER_REQUIRE="$list"
    run -R '^product.cuda$'
    ran product.cuda Failed 'ISOMER_REQUIRE "'"$list"
done
export ISOMER_REQUIRE=CUDA
run -R '^product.cuda$'
ran product.cuda Failed 'did you mean "cuda"'
export ISOMER_REQUIRE='openmp, cuda'
run -R '^product.(cuda|openmp)$'
ran product.openmp Passed
ran product.cuda Failed 'FAIL: cuda is required and not available: '

# Backends in ISOMER_REQUIRE must be available and must not skip.
export ISOMER_REQUIRE=openmp,cuda
run -E late
ran product.openmp Passed
ran product.openmp_99 Failed 'FAIL: openmp:99 is required'
ran product.cuda Failed 'FAIL: cuda is required'
ran skips.openmp_0 Failed 'FAIL: openmp:0 is required and the program skipped it'

# The commands in docs/ci/README.md do what it says.
awk '$0 == "```cmake" { on = 1; next } /^```/ { on = 0 } on' "$source_dir/docs/ci/README.md" \
    >"$scratch/project/shown.cmake"
[ -s "$scratch/project/shown.cmake" ] || fail "docs/ci/README.md shows no CMake"
configure -DSHOWN=shown.cmake || { cat "$scratch/build.log"; fail "what docs/ci/README.md shows fails"; }
ctest --test-dir "$scratch/build" -N -R '^solver' >"$scratch/out"
for name in openmp cuda hip opencl same; do
    grep -q ": solver.$name\$" "$scratch/out" || fail "docs/ci/README.md: no test solver.$name"
done

# refused ARGUMENTS MESSAGE: fails at configuration, with this message.
refused() {
    if configure -DMISTAKE="$1"; then
        fail "isomer_add_portability_test accepts $1"
    fi
    tr -s ' \n' ' ' <"$scratch/build.log" | grep -qF "$2" || {
        cat "$scratch/build.log"
        fail "no such message: $2"
    }
}
refused 'BACKEND;openmp' 'unknown arguments: BACKEND;openmp'
refused 'BACKENDS;openmp,cuda' 'not "openmp,cuda"'
refused 'TOLERANCE;1e-3' 'TOLERANCE belongs to SAME_OUTPUT'
refused 'SAME_OUTPUT;TOLERANCE;1' 'not "1"'
refused 'TIMEOUT' 'arguments without a value: TIMEOUT'
