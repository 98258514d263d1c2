# SPDX-License-Identifier: Apache-2.0
# clang.sh: clang builds the library and the tool without a warning on a machine without any header,
# library or toolkit of a GPU vendor and without OpenCL: those of this machine are hidden in a mount
# namespace of this test. And the digests are the same as this build's.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"
. "$source_dir/tests/digests/list.sh"
need clang clang
if ! clang -fopenmp -x c - -o "$scratch/try" 2>/dev/null <"$source_dir/tests/digests/subnormals.c"; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "clang has no OpenMP here"
    skip "clang has no OpenMP here: install libomp-dev"
fi

if [ $# = 0 ]; then
    need unshare util-linux
    for way in "unshare --mount" "unshare --mount --map-root-user"; do
        # shellcheck disable=SC2086
        $way true 2>/dev/null || continue
        rm -rf "$scratch" # the one inside makes its own
        trap - EXIT
        # shellcheck disable=SC2086
        exec $way sh "$0" inside
    done
    set -- open
fi

if [ "$1" = inside ]; then
    mkdir "$scratch/empty"
    covered=
    trap 'for place in $covered; do umount "$place"; done; rm -rf "$scratch"' EXIT
    for thing in /usr/include/CL /usr/include/hip /usr/include/cuda* /usr/local/cuda* /opt/rocm* \
        /usr/lib/cuda /usr/local/nvidia; do
        if [ -d "$thing" ]; then
            thing=$(readlink -f "$thing")
            mount --bind "$scratch/empty" "$thing"
            covered="$thing $covered"
        fi
    done
    for thing in /usr/include/clblast* /usr/lib/*/libOpenCL* /usr/lib/*/libamdhip64* /usr/lib/*/libhiprtc* \
        /usr/lib/*/libclblast* /usr/lib/*/libcuda*; do
        if [ -f "$thing" ]; then
            mount --bind /dev/null "$thing"
            covered="$thing $covered"
        fi
    done
    for header in CL/cl.h hip/hip_runtime_api.h cuda.h cuda_runtime.h; do
        if echo "#include <$header>" | clang -E -x c - >/dev/null 2>&1; then
            fail "$header can still be included: this test would prove nothing"
        fi
    done
    say "covered: $covered"
fi

rm -rf "$build_dir/rebuild/clang" # what was built before proves nothing
rebuild clang -DISOMER_WERROR=ON -DISOMER_TESTS=OFF
digests "$scratch/here" "$tool" verify --backend openmp
digests "$scratch/clang" "$rebuilt/bench/isomer" verify --backend openmp
same "clang's build" "$scratch/here" "$scratch/clang"
[ "$1" = inside ] || skip "clang's build is sound, but this user may not make a mount namespace to hide vendors' packages in"
