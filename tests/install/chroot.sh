# SPDX-License-Identifier: Apache-2.0
# chroot.sh: the same binaries, in a minimal Debian with only the OpenMP runtime added, verify the
# CPU backend and report why every other one is unavailable.
. "$ISOMER_TEST_COMMON"
need debootstrap debootstrap
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
suite=bookworm
[ ! -r /etc/os-release ] || suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p; s/^URIs: *//p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)

# The root folder is made once and stays in the build folder.
root=$build_dir/rebuild/chroot
if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=libgomp1 "$suite" "$root" ${mirror:+"$mirror"} \
        >"$scratch/debootstrap.log" 2>&1 || {
        tail -n 3 "$scratch/debootstrap.log"
        rm -rf "$root"
        skip "debootstrap could not make a root: no network?"
    }
    touch "$root/ready"
fi
for name in libOpenCL libcuda libamdhip64 libopenblas libclblast; do
    [ -z "$(find "$root/usr" -name "$name*")" ] || fail "$name is in the chroot"
done
mkdir -p "$root/opt/isomer"
cp "$tool" "$(readlink -f "$library")" "$root/opt/isomer/"
ln -sf "$(basename "$(readlink -f "$library")")" "$root/opt/isomer/libisomer.so.0"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf "$scratch"' EXIT
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LD_LIBRARY_PATH=/opt/isomer \
        "/opt/isomer/$(basename "$tool")" "$@"
}
inside info --all >"$scratch/info" || fail "isomer info fails in the chroot"
cat "$scratch/info"
for library in libcuda.so.1 libamdhip64.so libOpenCL.so.1; do
    grep -q "$library" "$scratch/info" || fail "isomer info does not name $library"
done
inside verify --suite quick || fail "isomer verify fails in the chroot"
for backend in cuda hip opencl; do
    code=0
    inside verify --backend $backend >"$scratch/out" 2>&1 || code=$?
    [ $code = 3 ] || fail "verify --backend $backend exits with $code in the chroot, not 3"
    grep -q tried "$scratch/out" || fail "verify --backend $backend does not say what was tried"
done
