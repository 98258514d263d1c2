#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# old_glibc.sh FOLDER - builds the library and the tool for wheels in FOLDER/build, with this machine's
# compiler against the C library of Debian 11 (glibc 2.31), which debootstrap puts into FOLDER/root.
# Afterwards: python3 python/build_wheel.py FOLDER/build
# Needs root, debootstrap, gcc 12, cmake and ninja.
set -eu
[ $# = 1 ] || { echo "usage: old_glibc.sh FOLDER" >&2; exit 2; }
source_dir=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
root=$folder/root
suite=bullseye
if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p; s/^URIs: *//p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
    debootstrap --variant=minbase --include=libc6-dev,libgomp1 $suite "$root" ${mirror:+"$mirror"} \
        >"$folder/debootstrap.log" 2>&1 || {
        tail -n 3 "$folder/debootstrap.log" >&2
        exit 1
    }
    # Links that begin at the root would lead to this machine's own files.
    find "$root" -type l -lname '/*' 2>/dev/null | while read -r link; do
        ln -sfn "$root$(readlink "$link")" "$link"
    done
    touch "$root/ready"
fi
# Headers and a static library that do not depend on the C library's version: this machine's.
mkdir -p "$folder/headers"
for header in xxhash.h xxh3.h jansson.h; do
    [ ! -e "/usr/include/$header" ] || cp "/usr/include/$header" "$folder/headers"
done
cp /usr/include/*/jansson_config.h "$folder/headers" 2>/dev/null ||
    cp /usr/include/jansson_config.h "$folder/headers" 2>/dev/null || true
jansson=$(find /usr/lib -name libjansson.a | head -n 1)
# The compiler looks into its own system's folders before the root's, unless they are named.
libraries=$root/usr/lib/$(uname -m)-linux-gnu
ln -sf libgomp.so.1 "$libraries/libgomp.so"
flags="-B$libraries -L$libraries -L$root/lib/$(uname -m)-linux-gnu"
cmake -S "$source_dir" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DISOMER_TESTS=OFF \
    -DISOMER_OPENMPI=OFF -DISOMER_MPICH=OFF \
    -DCMAKE_SYSROOT="$root" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_AR=/usr/bin/ar \
    -DCMAKE_RANLIB=/usr/bin/ranlib -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_SHARED_LINKER_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$flags" \
    -DXXHASH_INCLUDE_DIR="$folder/headers" -DJANSSON_INCLUDE_DIR="$folder/headers" \
    -DJANSSON_STATIC_LIBRARY="$jansson" -DISOMER_WHEEL_OPENMP="$libraries/libgomp.so.1" >"$folder/cmake.log"
cmake --build "$folder/build"
