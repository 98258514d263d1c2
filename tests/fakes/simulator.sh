# SPDX-License-Identifier: Apache-2.0
# simulator.sh KFD: a simulator is recognised by its library, which is preloaded, and without that
# by the driver's files, which KFD replaces. A device of the same name with firmware is a real one.
. "$ISOMER_TEST_COMMON"
kfd=$(preloadable "$1")
export ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip" ISOMER_CACHE_DIR=off FAKE_DEVICES=2
cd "$scratch"

# node NUMBER SIMDS PLACE FIRMWARE COPY_FIRMWARE: what the driver says about a device.
node() {
    mkdir -p "topology/nodes/$1"
    cat >"topology/nodes/$1/properties" <<END
cpu_cores_count $(($2 ? 0 : 16))
simd_count $2
wave_front_size $(($2 ? 64 : 0))
location_id $3
domain 0
END
    [ "$2" = 0 ] || cat >>"topology/nodes/$1/properties" <<END
fw_version $4
capability 756558384
sdma_fw_version $5
unique_id 0
END
}

# devices WORD...: what each device is: simulated or real.
devices() {
    python3 -c 'import json, sys
for device in json.load(open("json"))["devices"]:
    print("simulated" if "simulated" in device["features"] else "real")' >words
    [ "$(tr '\n' ' ' <words)" = "$* " ] || { cat out words; fail "expected the devices $*"; }
}

say "-- neither sign"
expect 0 info --backend hip:0,hip:1 --json json
devices real real

say "-- the library"
ln -s "$kfd" librocjitsu.so
LD_PRELOAD=$scratch/librocjitsu.so expect 0 info --backend hip:0,hip:1 --json json
devices simulated simulated

say "-- the driver's files alone"
node 0 0 0
node 1 1216 0 0 0
node 2 1216 8 177 24
export LD_PRELOAD="$kfd" FAKE_KFD="$scratch/topology"
expect 0 info --backend hip:0,hip:1 --json json
devices simulated real
node 1 1216 0 177 24
node 2 1216 8 0 0
expect 0 info --backend hip:0,hip:1 --json json
devices real simulated

say "-- real devices: with firmware, not in the files, or of which the files say too little"
node 2 1216 8 177 24
expect 0 info --backend hip:0,hip:1 --json json
devices real real
node 2 1216 16 0 0
expect 0 info --backend hip:0,hip:1 --json json
devices real real
printf 'simd_count 1216\nlocation_id 0\n' >topology/nodes/1/properties
expect 0 info --backend hip:0,hip:1 --json json
devices real real
