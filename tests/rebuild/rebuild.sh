# SPDX-License-Identifier: Apache-2.0
# rebuild PRESET OPTIONS...: builds the project with a preset in a separate folder, $rebuilt, which is
# named after the preset or $rebuild_name. Later runs build only what changed. Prints the time it took.
. "$source_dir/tests/trust/loose.sh"
jobs=${JOBS:-$(nproc)}
rebuild() {
    preset=$1
    rebuilt=$build_dir/rebuild/${rebuild_name:-$preset}
    shift
    start=$(date +%s)
    (
        cd "$source_dir"
        CMAKE_GENERATOR=$ISOMER_TEST_GENERATOR
        [ ! -f "$rebuilt/CMakeCache.txt" ] || unset CMAKE_GENERATOR
        [ -z "${CMAKE_GENERATOR:-}" ] || export CMAKE_GENERATOR
        cmake --preset "$preset" -B "$rebuilt" "$@"
        # What PoCL and the stand-ins' compiler make does not depend on how the project is built.
        mkdir -p "$rebuilt/tests/cache" "$build_dir/tests/cache/fakes"
        for shared in pocl fakes; do
            [ -e "$rebuilt/tests/cache/$shared" ] ||
                ln -s "$build_dir/tests/cache/$shared" "$rebuilt/tests/cache/$shared"
        done
        cmake --build "$rebuilt" --parallel "$jobs"
    ) >"$scratch/build.log" 2>&1 || {
        grep -v '^\[' "$scratch/build.log" | tail -n 60
        fail "the $preset build"
    }
    say "build $preset: $(($(date +%s) - start)) s"
    loose_runpaths "$rebuilt" >"$scratch/loose"
    [ -s "$scratch/elf" ] || fail "no program was built in $rebuilt"
    [ ! -s "$scratch/loose" ] || {
        cat "$scratch/loose"
        fail "these of $rebuilt look for libraries in the working directory"
    }
}

# run_tests ARGUMENTS...: ctest in $rebuilt.
run_tests() {
    ctest --test-dir "$rebuilt" --output-on-failure --no-tests=error --parallel "$jobs" "$@" || {
        cat "$reports"/* 2>/dev/null || true
        fail "the tests of $rebuilt"
    }
}

# Reports of sanitizers go to files, because a test that expects a failure would accept one. The
# message that an enormous allocation was refused is not a report: tests request such allocations.
# Nor is a crash of AMD's compiler in the process that exists to try it for a chip: releases before 6
# crash for chips that they do not know.
reports=$scratch/reports
mkdir "$reports"
no_reports() {
    for report in "$reports"/*; do
        [ -e "$report" ] || continue
        grep -vqE '^==[0-9]+==WARNING: AddressSanitizer failed to allocate|^$' "$report" || continue
        ! { grep -q ' in hip_try ' "$report" && grep -q ' in amd_comgr_do_action ' "$report"; } || continue
        cat "$reports"/*
        fail "the reports above"
    done
}

# reported PATTERN PROGRAM ARGUMENTS...: this planted fault is found.
reported() {
    pattern=$1
    shift
    if "$@" >"$scratch/planted.log" 2>&1; then
        cat "$scratch/planted.log" "$reports"/* || true
        fail "the planted fault went unnoticed: $*"
    fi
    cat "$scratch/planted.log" "$reports"/* 2>/dev/null | grep -qE "$pattern" || {
        cat "$scratch/planted.log" "$reports"/* || true
        fail "no report like '$pattern' of: $*"
    }
    rm -f "$reports"/*
}
