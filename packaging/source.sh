#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# source.sh [FOLDER]: makes the source archive of the checked-out commit, isomer-VERSION.tar.gz in the folder
# (build/dist), and prints its SHA-256 and path. It has every file that git tracks, and git is not needed to build it. The same
# commit gives the same bytes.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$source/build/dist}
if [ "$(git -C "$source" rev-parse --show-cdup 2>/dev/null || echo none)" ]; then
    echo "source.sh: $source is no checkout of git: start it in one" >&2
    exit 1
fi
[ -z "$(git -C "$source" status --porcelain --untracked-files=no)" ] ||
    echo "source.sh: changes that are not committed are left out" >&2
version=$(git -C "$source" show HEAD:include/isomer/base.h |
    sed -n 's/.*ISO_VERSION_STRING "\(.*\)".*/\1/p')
mkdir -p "$folder"
archive=$folder/isomer-$version.tar.gz
# Not the caller's settings: they may change modes and how files are compressed.
git -C "$source" -c tar.umask=0022 -c core.autocrlf=false archive --format=tar \
    --prefix="isomer-$version/" HEAD | gzip -9n >"$archive"
sha256sum "$archive"
