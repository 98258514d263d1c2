# SPDX-License-Identifier: Apache-2.0
# chroot.sh PROGRAMS: the same as hip.sh for more chips, by newer versions of hipRTC: in temporary
# chroots of newer Debians, made by debootstrap. It needs root and the network, and is skipped by name
# without. ISOMER_CHROOTS may name a folder where the chroots are kept for the next run.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
find_llvm
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
have debootstrap || skip "debootstrap is not here: install debootstrap"
mirror=${ISOMER_DEBIAN_MIRROR:-http://deb.debian.org/debian}

for class in wave64 wave64+64 wave64+32 wave32; do
    mkdir "$scratch/$class"
    "$programs/list" "$class" "$scratch/$class" || fail "no list of programs for $class"
done

failed=
compilers=
objdump_of() { chroot "$root" llvm-objdump -d "${1#"$root"}"; }
readelf_of() { chroot "$root" llvm-readelf --notes "${1#"$root"}"; }

in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@" >>"$scratch/apt.log" 2>&1; }

# install RELEASE: makes the chroot. Debian keeps the newest versions in `experimental`, which is
# added to `sid`; a copy of that list may be older than it allows itself to be.
install() {
    base=$1
    [ "$base" != experimental ] || base=sid
    debootstrap --variant=minbase "$base" "$root" "$mirror" >"$scratch/apt.log" 2>&1 || return 1
    set -- -y --no-install-recommends
    if [ "$release" = experimental ]; then
        printf 'deb %s experimental main\n' "$mirror" >"$root/etc/apt/sources.list.d/experimental.list"
        in_root apt-get -o Acquire::Check-Valid-Until=false update || return 1
        set -- "$@" -t experimental
    fi
    in_root apt-get -o Acquire::Check-Valid-Until=false install "$@" libamdhip64-dev llvm || return 1
    : >"$root/ready"
}

# one ARCHITECTURE CLASS FIRST STEP
one() {
    output=$root/out-$1
    rm -rf "$output" "$root/list-$2"
    cp -r "$scratch/$2" "$root/list-$2"
    mkdir "$output"
    started=$(date +%s)
    code=0
    chroot "$root" /compile hiprtc - "$1" "/list-$2" "/out-$1" "$3" "$4" >"$scratch/log" 2>&1 || code=$?
    if [ "$code" != 0 ]; then
        cat "$scratch/log"
        fail "$release, $1: exit code $code"
    fi
    whole=0
    [ "$4" != 1 ] || whole=$(whole_list "$2")
    examine "$scratch/$2" "$output" "$whole" >"$scratch/result" || failed="$failed $release/$1"
    say "$version, $1 ($2), $(($(date +%s) - started)) s: $(grep -v '^FAIL' "$scratch/result" | paste -sd ';')"
    grep '^FAIL' "$scratch/result" || true
    compiled hip "$1" "$version" "$(find "$output" -name '*.bin' | wc -l)" "$scratch/$2" "$scratch/result"
    rm -rf "$output"
}

# try RELEASE ARCHITECTURE/CLASS/FIRST/STEP...: compiles every STEP-th program from FIRST on.
try() {
    release=$1
    shift
    root=${ISOMER_CHROOTS:-$scratch}/$release
    if [ ! -e "$root/ready" ]; then
        mkdir -p "$root"
        if ! install "$release"; then
            tail -n 3 "$scratch/apt.log"
            say "SKIP: no chroot of $release with libamdhip64-dev and llvm from $mirror"
            return
        fi
    fi
    cp "$programs/compile" "$root/compile"
    version=$(find "$root/usr/lib" -name 'libamdhip64.so.*.*.*' | sed -n '1s/.*\.so\.\([0-9]*\.[0-9]*\)\..*/hipRTC \1/p')
    compilers="$compilers${compilers:+, }$version"
    for chip; do
        # shellcheck disable=SC2046 # four words
        one $(printf '%s' "$chip" | tr / ' ')
    done
}
# All programs for four chips, and a sixth, each time another one, for the others.
try experimental gfx1250/wave32/0/6 gfx1251/wave32/1/6 gfx906/wave64/2/6 gfx90a/wave64+64/3/6 gfx1030/wave32/4/6
try sid gfx1101/wave32/5/6 gfx1102/wave32/0/6 gfx1103/wave32/1/6 gfx1150/wave32/2/6 gfx1151/wave32/3/6 \
    gfx1200/wave32/4/6 gfx950/wave64+32/0/1 gfx1201/wave32/0/1
try trixie gfx908/wave64+32/5/6 gfx1010/wave32/0/6 gfx942/wave64+64/0/1 gfx1100/wave32/0/1
[ -n "$compilers" ] || skip "no newer hipRTC could be had"
compiled_write hip "$compilers" offline.hip.newer
[ -z "$failed" ] || fail "see above:$failed"
