#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# aarch64-packages.sh FOLDER: unpacks Debian's libraries for aarch64 that cmake/aarch64.cmake needs
# into FOLDER. apt works on lists of its own below FOLDER, so the system keeps its list of
# architectures, its packages and its lists. Needs no root rights.
set -eu
[ $# = 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
[ ! -e "$1/complete" ] || exit 0
mkdir -p "$1/apt/state" "$1/apt/lists/partial" "$1/apt/archives/partial" "$1/apt/packages"
cd "$1"
folder=$(pwd)
: >apt/status
apt() {
    apt-get -qq -o Dir::State="$folder/apt/state" -o Dir::State::Lists="$folder/apt/lists" \
        -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" \
        -o Dir::Cache::archives="$folder/apt/archives" -o Debug::NoLocking=1 \
        -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
        -o Acquire::Languages=none "$@"
}
apt update
(
    cd apt/packages
    apt download libjansson-dev libxxhash-dev
)
for package in apt/packages/*.deb; do
    dpkg-deb -x "$package" .
done
rm -rf apt
: >complete
