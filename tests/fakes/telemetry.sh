# SPDX-License-Identifier: Apache-2.0
# telemetry.sh PROGRAM BACKEND HIDE: each field of a device's sensors over their fake, how their
# errors are reported, and the message if the library is missing. HIDE is preloaded and hides the
# machine's own sensor libraries; "" if nothing can be preloaded.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
hide=$(preloadable "${3:-}")
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR=off

# said SPEC NAME=VALUE... -- LINE...: the program prints each of these lines exactly.
said() {
    spec=$1
    shift
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # settings are words
    env $settings "$program" "$spec" >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "$settings: the program failed"
    }
    for line; do
        grep -qxF -- "$line" "$scratch/out" || {
            cat "$scratch/out"
            fail "$spec$settings: the line '$line' is missing"
        }
    done
}

# refused TEXT NAME=VALUE...: the last status, and a text that contains this.
refused() {
    text=$1
    shift
    said "$backend" "$@" --
    grep -qF -- "$text" "$scratch/out" || {
        cat "$scratch/out"
        fail "$*: no '$text' in the message"
    }
}

case $backend in
cuda) partition="MIG off" source="NVML 12.0.fake" throttle="throttle 0" lost=15 name=NVML_ERROR_GPU_IS_LOST
    absent=3 library=libnvidia-ml.so.1 first=NVML_ERROR_DRIVER_NOT_LOADED first_code=9
    started=nvmlInit asked=nvmlDeviceGetPowerUsage
    scope=board counter=nvmlDeviceGetTotalEnergyConsumption ;;
hip) partition="SPX, NPS1" source="ROCm SMI 7.0.99" throttle="throttle -1" lost=16 name=RSMI_STATUS_BUSY
    absent=2 library=librocm_smi64.so.7 first=RSMI_STATUS_INIT_ERROR first_code=8
    started=rsmi_init asked=rsmi_dev_power_ave_get
    scope=device counter=rsmi_dev_energy_count_get ;;
esac

said "$backend" -- "status OK" "clock 1500" "clock_max 1980" "memory_clock 2600" "$throttle" "ecc 1" \
    "power 123.5" "cap 700" "temperature 40" "busy 7" "partition $partition" "source $source"
said "$backend" FAKE_CLOCK=345 FAKE_CLOCK_MAX=2100 FAKE_MEMORY_CLOCK=1313 FAKE_POWER=1500 \
    FAKE_POWER_CAP=250000 FAKE_TEMPERATURE=83 FAKE_BUSY=100 FAKE_ECC=0 -- "clock 345" \
    "clock_max 2100" "memory_clock 1313" "power 1.5" "cap 250" "temperature 83" "busy 100" "ecc 0"

say "-- the counter of energy"
said "$backend" FAKE_ENERGY=1234567890123 -- "energy 1234567890" "scope $scope" "reason "
said "$backend" "FAKE_SENSORS_ENERGY=$absent" -- "status OK" "energy -1" "scope " \
    "reason $counter reports no energy of this device" "power 123.5"
refused "$counter gives $name ($lost)" "FAKE_SENSORS_ENERGY=$lost"
[ "$backend" = cuda ] || said hip FAKE_ENERGY_OLD=1 -- "energy -1" \
    "reason $counter reports no energy of this device"

say "-- the second of two devices, wherever the library has it"
said "$backend:0" FAKE_DEVICES=2 -- "temperature 40"
said "$backend:1" FAKE_DEVICES=2 -- "temperature 41"

say "-- errors"
said "$backend" "FAKE_SENSORS_POWER=$absent" -- "status OK" "power -1" "cap 700" "temperature 40"
refused "$asked gives $name ($lost): an error of the test's" "FAKE_SENSORS_POWER=$lost"
grep -qx "status BACKEND" "$scratch/out" || fail "an error of the sensors is not BACKEND"
refused "gives $name ($lost)" "FAKE_SENSORS_ERROR=$lost"
refused "$started gives $first ($first_code)" "FAKE_SENSORS_INIT=$first_code"
grep -qx "status BACKEND" "$scratch/out" || fail "a library that does not start is not BACKEND"

if [ "$backend" = cuda ]; then
    say "-- throttling, and slices"
    for pair in 1:0 4:1 32:2 64:2 8:4 128:4 16:4 2:4 72:6 5:1; do
        said cuda "FAKE_THROTTLE=${pair%:*}" -- "throttle ${pair#*:}"
    done
    said cuda FAKE_MIG=1 -- "status OK" "partition MIG 1g.18gb" "clock 1500" "power 123.5" "busy -1"
fi

if [ "$backend" = hip ]; then
    say "-- throttling, as each version of a chip's table tells it"
    # power is bit 0, a current limit 16, heat 32 and 44, the quality of the silicon 57
    for case in 1:0:0 1:5:4 2:8:4 3:0:0 3:1:1 3:65536:4 3:4294967296:2 3:17592186044416:2 3:144115188075855872:4 \
        3:4295032833:7 4:1:-1 5:1:-1 103:1:-1; do
        rest=${case#*:}
        said hip "FAKE_METRICS=${case%%:*}" "FAKE_THROTTLE=${rest%:*}" -- "throttle ${rest#*:}"
    done
    for case in 6:0:0 6:1:1 7:4294967296:2 6:8589934592:2 6:17179869184:2 6:34359738368:2 9:4294967297:3; do
        rest=${case#*:}
        said hip "FAKE_METRICS=${case%%:*}" "FAKE_THROTTLE=${rest%:*}" READINGS=2 -- "throttle ${rest#*:}"
        said hip "FAKE_METRICS=${case%%:*}" "FAKE_THROTTLE=${rest%:*}" -- "throttle -1"
    done
fi

say "-- a library with the required functions alone"
mkdir "$scratch/few"
ln -s "$fakes/$backend"/lib* "$scratch/few"
ln -sf "$fakes/${backend}_few/$library" "$scratch/few"
said "$backend" "ISOMER_CUDA_PATH=$scratch/few" "ISOMER_ROCM_PATH=$scratch/few" -- "status OK" \
    "power -1" "cap -1" "temperature -1" "busy -1" "ecc -1" "partition " "energy -1"
grep -q "^reason .* has no $counter\$" "$scratch/out" || fail "no reason without $counter"
if [ "$backend" = hip ]; then
    say "-- ... and the clocks in the old struct"
    for line in "clock 1500" "clock_max 1980" "memory_clock 2600"; do
        grep -qx "$line" "$scratch/out" || fail "clocks in the old struct are not read: no '$line'"
    done
fi

if [ -n "$hide" ]; then
    say "-- no library"
    rm "$scratch/few/$library"
    refused "$library (" "LD_PRELOAD=$hide" \
        "ISOMER_CUDA_PATH=$scratch/few" "ISOMER_ROCM_PATH=$scratch/few"
    grep -qx "status UNSUPPORTED" "$scratch/out" || fail "a missing library is not UNSUPPORTED"
    grep -q "$scratch/few/$library" "$scratch/out" || fail "the text has not every path"
fi

if [ -n "$tool" ]; then
    say "-- isomer info"
    FAKE_DEVICES=1 "$tool" info --all --json "$scratch/info.json" >"$scratch/out"
    tr -s '\n ' ' ' <"$scratch/out" >"$scratch/line"
    grep -qF "now 1500 of 1980 MHz, memory 2600 MHz; 123.5 of 700 W; 40 °C; 7 % busy; ECC on; $partition" \
        "$scratch/line" || { cat "$scratch/out"; fail "isomer info does not show the sensors"; }
    grep -q '"power_cap_watts": 700.0' "$scratch/info.json" ||
        fail "the JSON of isomer info has no sensors"
fi
