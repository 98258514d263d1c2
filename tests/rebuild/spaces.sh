# SPDX-License-Identifier: Apache-2.0
# spaces.sh: configures, builds and tests a copy of the tree whose path has spaces, except for slow
# tests that pass paths to other programs in the same way as the others.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
copy="$scratch/a path with spaces/isomer"
mkdir -p "$copy"
sources '*' '.*' >"$scratch/files"
tar -c -C "$source_dir" -T "$scratch/files" | tar -x -C "$copy"
[ -f "$copy/CMakePresets.json" ] || fail "the tree was not copied"
(
    cd "$copy"
    cmake --preset release -G "$ISOMER_TEST_GENERATOR" -DISOMER_TESTS=ON -DISOMER_WERROR=ON
    cmake --build build/release --parallel "${JOBS:-$(nproc)}"
) >"$scratch/build.log" 2>&1 || {
    tail -n 40 "$scratch/build.log"
    fail "the copy does not build"
}
ctest --test-dir "$copy/build/release" --output-on-failure --no-tests=error --parallel "${JOBS:-$(nproc)}" \
    --label-exclude '^full$' \
    --exclude-regex '^(build|sanitize|fakes.verify|conformance.opencl|drivers.rounding|oclgrind|offline.hip|offline.nvrtc|lint.cppcheck)' ||
    fail "a test fails in a path with spaces"
