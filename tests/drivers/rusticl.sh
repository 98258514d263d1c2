# SPDX-License-Identifier: Apache-2.0
# rusticl.sh RELEASE: the OpenCL drivers of Mesa in a Debian of this release, over its renderer for
# CPUs: rusticl, and Clover beside it. Whatever they do, isomer ends in order, and the CPU backend
# works. A driver that is used has the CPU backend's digests; one that is refused has them, where it
# is known to end in order, in the operations that are right.
. "$ISOMER_TEST_COMMON"
release=$1
have debootstrap || skip "debootstrap is not here: install debootstrap"
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
mirror=${ISOMER_DEBIAN_MIRROR:-http://deb.debian.org/debian}

# The root folder is made once and stays in the build folder.
root=$build_dir/rebuild/mesa-$release
if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    { debootstrap --variant=minbase "$release" "$root" "$mirror" &&
        chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends ocl-icd-libopencl1 mesa-opencl-icd libgomp1; } \
        >"$scratch/log" 2>&1 || {
        tail -n 3 "$scratch/log"
        rm -rf "$root"
        skip "no chroot of $release with mesa-opencl-icd from $mirror"
    }
    touch "$root/ready"
fi
rm -rf "$root/opt/isomer"
mkdir -p "$root/opt/isomer/bench" "$root/opt/isomer/lib" "$root/opt/isomer/clover"
mkdir -m 700 "$root/opt/isomer/cache"
cp "$tool" "$root/opt/isomer/bench/isomer"
cp "$(readlink -f "$library")" "$root/opt/isomer/lib/libisomer.so.0"
cp "$(dirname "$library")/isomer-try" "$root/opt/isomer/lib/"
cp "$root/etc/OpenCL/vendors/mesa.icd" "$root/opt/isomer/clover/"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf "$scratch"' EXIT

# inside CODE NAME=VALUE... COMMAND...: the tool ends with this code and in time.
inside() {
    wanted=$1 code=0
    shift
    timeout -s KILL 300 chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root \
        ISOMER_CACHE_DIR=/opt/isomer/cache "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" = "$wanted" ] || { cat "$scratch/out"; fail "$*: exit code $code, not $wanted"; }
}
isomer=/opt/isomer/bench/isomer
chroot "$root" "$isomer" --version >"$scratch/version" 2>&1 ||
    skip "these binaries do not run in $release: $(head -n 1 "$scratch/version")"
chroot "$root" dpkg-query -W mesa-opencl-icd

# state: shows what `info --all` said about OpenCL. The CPU backend must be there.
state() {
    sed -n '/^  opencl  /,/^  openmp  /p' "$scratch/out"
    grep -qE '^  openmp +ok' "$scratch/out" || { cat "$scratch/out"; fail "the CPU backend is not there"; }
}
say "-- without RUSTICL_ENABLE"
inside 0 "$isomer" info --all
state
say "-- Clover"
inside 0 LP_CL=1 OCL_ICD_VENDORS=/opt/isomer/clover "$isomer" info --all
state
say "-- rusticl"
inside 0 RUSTICL_ENABLE=llvmpipe "$isomer" info --all
state
cp "$scratch/out" "$scratch/rusticl"
inside 0 RUSTICL_ENABLE=llvmpipe "$isomer" verify --op transpose --dtype e4 --variant naive
tail -n 1 "$scratch/out"

if grep -qE '^  opencl +ok' "$scratch/rusticl"; then
    inside 0 RUSTICL_ENABLE=llvmpipe "$isomer" verify --backend openmp,opencl --bitwise
    tail -n 1 "$scratch/out"
elif tr -s '\n ' ' ' <"$scratch/rusticl" | grep -qE 'opencl broken .*(tried|queried .*) in a separate process, but'; then
    inside 3 RUSTICL_ENABLE=llvmpipe "$isomer" verify --backend opencl --op transpose
    # Mesa 22.3 may crash or hang where it is used all the same; Mesa 25 gives wrong tiled sums.
    [ "$release" != bookworm ] || exit 0
    say "-- rusticl, although it is refused"
    for part in "transfer,transpose,map,stream,limits" "reduce --variant naive,partials"; do
        # shellcheck disable=SC2086 # words
        inside 0 RUSTICL_ENABLE=llvmpipe ISOMER_OPENCL_FORCE=1 "$isomer" verify --backend openmp,opencl \
            --bitwise --op $part
        tail -n 1 "$scratch/out"
    done
else
    fail "rusticl has no device and is not refused either"
fi
