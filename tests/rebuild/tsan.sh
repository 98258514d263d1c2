# SPDX-License-Identifier: Apache-2.0
# tsan.sh: the concurrent parts under the thread sanitizer: clang, its OpenMP runtime, and the
# runtime's Archer, which reports OpenMP's own ordering to the sanitizer. A planted race must be
# found, and a program ordered only by OpenMP must be clean.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"
need clang clang

compile() {
    clang -g -O1 -fopenmp -fsanitize=thread -o "$scratch/planted" "$source_dir/tests/rebuild/planted.c"
}
compile 2>"$scratch/err" || {
    cat "$scratch/err"
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "clang has no OpenMP or no thread sanitizer here"
    skip "clang has no OpenMP or no thread sanitizer here: install libomp-dev and libclang-rt-dev"
}
runtime=$(ldd "$scratch/planted" | awk '/libomp/ { print $3 }')
archer=$(dirname "$(readlink -f "$runtime")")/libarcher.so
[ -f "$archer" ] || fail "Archer is not beside $runtime: install libomp-dev of clang's version"

export OMP_TOOL_LIBRARIES="$archer"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=86:log_path=$reports/tsan"
# The sanitizer's shadow memory has fixed addresses, which a randomised address space may occupy.
fixed=
if have setarch && setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed="setarch $(uname -m) -R"
fi

# shellcheck disable=SC2086
{
    reported 'data race' $fixed "$scratch/planted" race
    $fixed "$scratch/planted" ordered || fail "a program in order is reported: Archer is not at work"
    no_reports
    reported 'data race' env OMP_TOOL=disabled $fixed "$scratch/planted" ordered
}

rebuild tsan -DISOMER_WERROR=ON -DISOMER_TOOL=OFF "-DCMAKE_C_FLAGS_DEBUG=-O0 -g1"
# shellcheck disable=SC2086
$fixed ctest --test-dir "$rebuilt" --output-on-failure --no-tests=error --parallel "$jobs" -L '^concurrency$' \
    --label-exclude '^full$' || {
    cat "$reports"/* 2>/dev/null || true
    fail "the tests of $rebuilt"
}
# The team's own ordering must not depend on what a runtime reports to the sanitizer.
# shellcheck disable=SC2086
for what in threads graph "exit close"; do
    env OMP_TOOL=disabled $fixed "$rebuilt/tests/concurrency/"isomer_concurrency_$what >"$scratch/out" 2>&1 || {
        cat "$scratch/out" "$reports"/* 2>/dev/null || true
        fail "$what, without Archer"
    }
done
no_reports
