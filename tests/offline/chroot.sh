# SPDX-License-Identifier: Apache-2.0
# chroot.sh PROGRAMS: the same as hip.sh for chips that only newer versions of hipRTC know: in a
# temporary chroot of a newer Debian, made by debootstrap. It needs root and the network, and is
# skipped by name without.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"
find_llvm
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
have debootstrap || skip "debootstrap is not here: install debootstrap"
mirror=${ISOMER_DEBIAN_MIRROR:-http://deb.debian.org/debian}

for class in wave64 wave32; do
    mkdir "$scratch/$class"
    "$programs/list" "$class" "$scratch/$class" || fail "no list of programs for $class"
done

failed=
done_any=
objdump_of() { chroot "$root" llvm-objdump -d "${1#"$root"}"; }

# try RELEASE ARCHITECTURE/CLASS...
try() {
    release=$1
    shift
    root=$scratch/$release
    mkdir "$root"
    if ! debootstrap --variant=minbase "$release" "$root" "$mirror" >"$scratch/$release.log" 2>&1; then
        tail -n 3 "$scratch/$release.log"
        say "SKIP: no chroot of $release from $mirror"
        return
    fi
    if ! chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        libamdhip64-dev llvm >>"$scratch/$release.log" 2>&1; then
        tail -n 3 "$scratch/$release.log"
        say "SKIP: $release gives no libamdhip64-dev and llvm"
        return
    fi
    cp "$programs/compile" "$root/compile"
    for pair; do
        class=${pair#*/}
        cp -r "$scratch/$class" "$root/list-$class"
        mkdir "$root/out-${pair%/*}"
        code=0
        chroot "$root" /compile hiprtc - "${pair%/*}" "/list-$class" "/out-${pair%/*}" 0 1 \
            >"$scratch/log" 2>&1 || code=$?
        if [ "$code" != 0 ]; then
            cat "$scratch/log"
            fail "$release, $pair: exit code $code"
        fi
        done_any=1
        examine "$scratch/$class" "$root/out-${pair%/*}" "$(whole_list "$class")" >"$scratch/result" ||
            failed="$failed $pair"
        say "$release, $pair: $(grep -v '^FAIL' "$scratch/result" | paste -sd ';')"
        grep '^FAIL' "$scratch/result" || true
    done
}
try trixie gfx942/wave64 gfx1100/wave32
try sid gfx950/wave64 gfx1201/wave32
[ -n "$done_any" ] || skip "no newer hipRTC could be had"
[ -z "$failed" ] || fail "see above:$failed"
