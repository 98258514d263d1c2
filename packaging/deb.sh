#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh [BUILD [CMAKE-OPTION...]]: builds isomer for Debian in the folder BUILD (build/deb), makes the packages
# there with CPack, and prints their paths. Needs cmake, ninja-build, gcc, libxxhash-dev, libjansson-dev, dpkg-dev
# and file. An engine of MPI gets a package if its development files (libopenmpi-dev, libmpich-dev) are
# installed.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source/build/deb}
[ $# -eq 0 ] || shift
for tool in dpkg-shlibdeps:dpkg-dev file:file; do
    command -v "${tool%:*}" >/dev/null || {
        echo "deb.sh: ${tool%:*} is not here: install ${tool#*:}" >&2
        exit 1
    }
done
umask 022
libraries=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# The helper program lies in the architecture's folder, so that packages of two architectures can be
# installed side by side. The paths of the system need no RUNPATH.
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_INSTALL_LIBDIR="$libraries" -DCMAKE_INSTALL_LIBEXECDIR="$libraries" \
    -DCMAKE_SKIP_INSTALL_RPATH=ON -DISOMER_TESTS=OFF -DISOMER_STATIC=ON "$@"
cmake --build "$build"
rm -rf "$build/packages"
(cd "$build" && cpack -G DEB -B "$build/packages")
rm -rf "$build/packages/_CPack_Packages"
ls "$build"/packages/*.deb
