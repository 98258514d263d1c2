# SPDX-License-Identifier: Apache-2.0
# file.sh FILE: result files during a run, after a kill, and on a full disk.
. "$ISOMER_TEST_COMMON"
mkdir "$scratch/all" "$scratch/full"
"$1" all "$scratch/all" >"$scratch/out" || fail "$(cat "$scratch/out")"
# Mounting a disk needs root. Without it, only a limit on file length is tested, as above.
if mount -t tmpfs -o size=1m tmpfs "$scratch/full" 2>/dev/null; then
    code=0
    "$1" full "$scratch/full" >"$scratch/out" || code=$?
    umount "$scratch/full"
    [ "$code" -eq 0 ] || fail "on a full disk: $(cat "$scratch/out")"
else
    say "no file system can be mounted here: a full disk was not tried"
fi
