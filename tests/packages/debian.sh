# SPDX-License-Identifier: Apache-2.0
# debian.sh RELEASE: Debian's packages of the checked-out commit. They are built from the source archive in one
# minimal root of that release, which has no git, and lintian finds no fault. In another minimal root they
# are installed, used, and removed without a trace. Takes root, debootstrap and a mirror of Debian.
. "$ISOMER_TEST_COMMON"
release=$1
need debootstrap debootstrap
need git git
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
git -C "$source_dir" rev-parse --verify -q HEAD >/dev/null || skip "the source is no checkout"
mirror=${ISOMER_DEBIAN_MIRROR:-$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p; s/^URIs: *//p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1)}
[ -n "$mirror" ] || skip "apt of this system names no mirror, and ISOMER_DEBIAN_MIRROR none"
home=${ISOMER_CHROOTS:-$build_dir/rebuild}/packages/$release
mkdir -p "$home/ccache"
started=$(date +%s)
took() { say "== $1: $(($(date +%s) - started)) s" && started=$(date +%s); }

mounted=
cleanup() {
    for folder in $mounted; do umount "$folder"; done
    rm -rf "$scratch" "$home/build" "$home/use"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
inside() { # ROOT COMMAND...
    root=$1
    shift
    chroot "$home/$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/ccache "$@"
}
quiet() { # COMMAND...: its output is shown if it fails
    "$@" >"$scratch/log" 2>&1 || {
        tail -n 40 "$scratch/log"
        fail "$*"
    }
}

# The minimal root is made once and stays. Like the system, it reaches the mirror by apt's settings.
if [ ! -e "$home/base/ready" ]; then
    rm -rf "$home/base"
    debootstrap --variant=minbase "$release" "$home/base" "$mirror" >"$scratch/log" 2>&1 || {
        tail -n 3 "$scratch/log"
        rm -rf "$home/base"
        skip "debootstrap could not make a root of $release: no network, or no such release at the mirror"
    }
    apt-config dump | grep -E '^(Acquire::(http|https|Check|Retries)|APT::Architecture)' \
        >"$home/base/etc/apt/apt.conf.d/90system" || true
    touch "$home/base/ready"
    took "minimal root of $release"
fi
for root in build use; do
    rm -rf "${home:?}/$root"
    cp -a "$home/base" "$home/$root"
    cp /etc/resolv.conf /etc/hosts "$home/$root/etc/" 2>/dev/null || true
    mount -t proc proc "$home/$root/proc"
    mounted="$home/$root/proc $mounted"
    inside $root apt-get -q update >"$scratch/log" 2>&1 || {
        tail -n 3 "$scratch/log"
        skip "apt-get update fails in the root of $release: no network?"
    }
done
mkdir "$home/build/ccache"
mount --bind "$home/ccache" "$home/build/ccache"
mounted="$home/build/ccache $mounted"

quiet inside build apt-get -qy --no-install-recommends install gcc libc6-dev cmake ninja-build ccache dpkg-dev file \
    libxxhash-dev libjansson-dev libopenmpi-dev libmpich-dev python3
took "build dependencies"
inside build sh -c 'command -v git' && fail "git is in the root"
quiet sh "$source_dir/packaging/source.sh" "$home/build/src"
quiet inside build sh -c 'cd /src && tar -xzf isomer-*.tar.gz && mv isomer-*/ isomer'
quiet inside build sh /src/isomer/packaging/deb.sh /src/build -DCMAKE_C_COMPILER_LAUNCHER=ccache -DISOMER_WERROR=ON
took "build"
(cd "$home/build/src/build/packages" && ls -s --block-size=1 -- *.deb)
cp "$home"/build/src/build/packages/*.deb "$home/use/"
mkdir -p "$home/packages"
cp "$home"/use/*.deb "$home/packages/"

quiet inside build apt-get -qy --no-install-recommends install lintian
inside build lintian --version
inside build sh -c 'lintian --allow-root --fail-on error,warning --show-overrides /src/build/packages/*.deb' \
    >"$scratch/lintian" 2>&1 || {
    cat "$scratch/lintian"
    fail "lintian has complaints"
}
cat "$scratch/lintian"
say "no error and no warning of lintian"
took lintian
. "$source_dir/tests/packages/installed.sh"
took "installation and use"
