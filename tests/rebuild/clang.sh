# SPDX-License-Identifier: Apache-2.0
# The library and the tool built by clang without a warning, and their digests against this build's.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"
. "$source_dir/tests/digests/list.sh"
need clang clang
if ! clang -fopenmp -x c - -o "$scratch/try" 2>/dev/null <"$source_dir/tests/digests/subnormals.c"; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "clang has no OpenMP here"
    skip "clang has no OpenMP here: install libomp-dev"
fi

rebuild clang -DISOMER_WERROR=ON -DISOMER_TESTS=OFF
digests "$scratch/here" "$tool" verify --backend openmp
digests "$scratch/clang" "$rebuilt/bench/isomer" verify --backend openmp
same "clang's build" "$scratch/here" "$scratch/clang"
