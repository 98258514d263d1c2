# SPDX-License-Identifier: Apache-2.0
# The library and the tool built where no header, library or toolkit of a GPU vendor and no OpenCL is
# to be seen: whatever this machine has of them is covered in a mount namespace of this test's own.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"

if [ "${1:-}" != inside ]; then
    need unshare util-linux
    for way in "unshare --mount" "unshare --mount --map-root-user"; do
        # shellcheck disable=SC2086
        $way true 2>/dev/null || continue
        trap - EXIT # the one inside has the folder
        # shellcheck disable=SC2086
        exec $way sh "$0" inside
    done
    skip "this user may not make a mount namespace"
fi

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
    if echo "#include <$header>" | "$cc" -E -x c - >/dev/null 2>&1; then
        fail "$header can still be included: this test would prove nothing"
    fi
done
say "covered: $covered"

rm -rf "$build_dir/rebuild/bare"
start=$(date +%s)
(
    cd "$source_dir"
    cmake -S . -B "$build_dir/rebuild/bare" -G "$ISOMER_TEST_GENERATOR" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_BUILD_TYPE=Release -DISOMER_TESTS=OFF -DISOMER_WERROR=ON &&
        cmake --build "$build_dir/rebuild/bare" --parallel "$jobs"
) >"$scratch/build.log" 2>&1 || {
    tail -n 40 "$scratch/build.log"
    fail "the build without any vendor's package"
}
say "built in $(($(date +%s) - start)) s"
"$build_dir/rebuild/bare/bench/isomer" verify --backend openmp --op transpose | tail -n 1
