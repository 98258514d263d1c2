# SPDX-License-Identifier: Apache-2.0
# simulator.sh [COMMAND]: each operation, in types that find a fault of a kernel, on the GPU that
# COMMAND simulates for the program that follows it, with the digests of the CPU. It is one of
# CMake's ISOMER_SIMULATOR.
. "$ISOMER_TEST_COMMON"
command=${1:-}
[ -n "$command" ] || skip "ISOMER_SIMULATOR is not set: docs/testing.md"
mkdir -p "$build_dir/tests/cache/isomer"
chmod 700 "$build_dir/tests/cache/isomer"
export ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer" ISOMER_TILES=small
unset ISOMER_REQUIRE # what else has to be there is another test's

# simulated ARGUMENTS...: runs the tool on the simulator.
simulated() {
    code=0
    # shellcheck disable=SC2086 # the command is words
    $command "$tool" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    cat "$scratch/out" "$scratch/err"
    [ "$code" = 0 ] || fail "$command isomer $*: exit code $code"
}

simulated info --all --backend hip
says "$scratch/out" SIMULATED
simulated verify --backend hip,openmp --bitwise --op order
simulated verify --backend hip,openmp --bitwise --dtype f16,e1 --variant naive,tiled,partials
