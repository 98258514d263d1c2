# SPDX-License-Identifier: Apache-2.0
# opencl.sh FAULTY quick|full: an OpenCL driver that crashes, hangs or gives wrong bits
# (tests/drivers/icd.c). FAULTY is that driver, over PoCL.
. "$ISOMER_TEST_COMMON"
faulty=$1
tier=$2
real=$(cat /etc/OpenCL/vendors/pocl.icd 2>/dev/null) || skip "PoCL is not here: install pocl-opencl-icd"
mkdir "$scratch/empty"
if OCL_ICD_VENDORS="$scratch/empty" "$tool" info --all | grep -qE '^  opencl +ok'; then
    skip "the OpenCL loader here does not follow OCL_ICD_VENDORS: install ocl-icd-libopencl1"
fi
mkdir "$scratch/list"
printf '%s\n' "$faulty" >"$scratch/list/faulty.icd"
export OCL_ICD_VENDORS="$scratch/list" FAULT_DRIVER="$real" FAULT_COUNT="$scratch/count"
# One cache for all verdicts avoids compiling again: each verdict has a version of its own.
export ISOMER_CACHE_DIR="$scratch/cache"
mkdir -m 700 "$scratch/cache"
seconds=20

# run CODE NAME=VALUE... -- COMMAND...: ends with this exit code, within a time limit; $scratch/line
# is its output.
run() {
    wanted=$1
    shift
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    : >"$scratch/count"
    code=0
    # shellcheck disable=SC2086 # settings are words
    env $settings timeout -s KILL 250 "$tool" "$@" >"$scratch/out" 2>&1 || code=$?
    tr -s '\n ' ' ' <"$scratch/out" >"$scratch/line"
    if LC_ALL=C grep -q "$(printf '\033')" "$scratch/out"; then
        fail "$settings $*: a control character in what it said"
    fi
    [ "$code" = "$wanted" ] || { cat "$scratch/out"; fail "$settings $*: exit code $code, not $wanted"; }
}

# says TEXT...: the output has each of them (extended regular expressions).
says() {
    for text; do
        grep -qE -- "$text" "$scratch/line" || { cat "$scratch/out"; fail "no '$text' in what it said"; }
    done
}

processes() { wc -l <"$scratch/count"; }

# broken VERSION FAULT TEXT...: info lists the device as broken with this text; the driver ran in a
# separate process, which is not started a second time; and opening the device by name is an error.
broken() {
    version=$1
    fault=$2
    shift 2
    say "-- $fault"
    # The program that lists the devices is run once for each file.
    cp "$faulty" "$scratch/faulty-$version.so"
    printf '%s\n' "$scratch/faulty-$version.so" >"$scratch/list/faulty.icd"
    run 0 "FAULT=$fault" "FAULT_VERSION=$version" ISOMER_TRIAL_SECONDS=$seconds -- info --all
    says 'opencl broken' "$@" 'ISOMER_OPENCL_FORCE=1' 'openmp ok'
    first=$(processes)
    run 0 "FAULT=$fault" "FAULT_VERSION=$version" ISOMER_TRIAL_SECONDS=$seconds -- info --all
    says 'opencl broken' "$@"
    [ "$(processes)" -lt "$first" ] || fail "$fault: the verdict was not kept: $first processes, then $(processes)"
    run 3 "FAULT=$fault" "FAULT_VERSION=$version" ISOMER_TRIAL_SECONDS=$seconds -- \
        verify --backend opencl:0 --op transpose
    says 'opencl' "$@" 'ISOMER_OPENCL_FORCE=1'
}

# Without a fault: an unknown driver is tried once and used.
run 0 FAULT= -- info --all
says 'opencl ok' 'opencl:0 Faulty Device'
first=$(processes)
[ "$first" -gt 1 ] || fail "the unknown driver was not tried"
run 0 FAULT= -- info --all
[ "$(processes)" = 1 ] || fail "the trial of a sound driver was not kept: $(processes) processes"
run 0 FAULT= -- verify --backend opencl:0 --op transpose --dtype e4 --variant naive

broken 2 launch 'device 0 \(Faulty Device, driver 2\) is not used' 'signal 11' 'in a transpose of 70 x 53'
broken 3 bits 'wrong bits'
broken 4 launch-hang 'did not end within 20 seconds in a transpose of 70 x 53'
broken 5 start 'queried for their devices' 'signal 11' 'in listing' faulty-5.so

printf '%s\n' "$faulty" >"$scratch/list/faulty.icd"

# Ctrl-C goes to a whole process group. A program that goes on after it must not get a verdict of "ended by
# signal 2" instead, which would be kept. Jobs in the background ignore SIGINT, as the tool does here.
say "-- launch-hang, interrupted"
cp "$faulty" "$scratch/faulty-40.so"
printf '%s\n' "$scratch/faulty-40.so" >"$scratch/list/faulty.icd"
: >"$scratch/count"
FAULT=launch-hang FAULT_VERSION=40 ISOMER_TRIAL_SECONDS=20 setsid "$tool" info --all >"$scratch/out" 2>&1 &
pid=$! tries=0
until [ "$(processes)" -gt 1 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 6000 ] || fail "no trial after ten minutes"
    sleep 0.1
done
sleep 1
kill -s INT -- "-$pid"
wait "$pid" || fail "interrupted: exit code $?"
tr -s '\n ' ' ' <"$scratch/out" >"$scratch/line"
says 'opencl broken' 'did not end within 20 seconds in a transpose of 70 x 53'
printf '%s\n' "$faulty" >"$scratch/list/faulty.icd"

# A newer driver is tried again; so is one whose verdict cannot be read.
run 0 FAULT= FAULT_VERSION=6 -- info --all
says 'opencl ok'
for file in "$scratch"/cache/*; do
    grep -qa 'trial' "$file" && printf 'rubbish' >"$file"
done
run 0 FAULT= FAULT_VERSION=6 -- info --all
says 'opencl ok'
[ "$(processes)" -gt 1 ] || fail "verdicts that cannot be read were believed"

# Forced: no trial; the user takes the risk.
run 0 FAULT=launch FAULT_VERSION=2 ISOMER_OPENCL_FORCE=1 -- info --all
says 'opencl ok'
[ "$(processes)" = 1 ] || fail "forced, and tried"

# No device is named: the broken one is skipped, and auto uses the next backend.
run 0 FAULT=launch FAULT_VERSION=2 -- verify --op transpose --dtype e4 --variant naive --backend all
says 'opencl is left out \(broken\)' 'signal 11'
run 0 FAULT=launch FAULT_VERSION=2 ISOMER_BACKEND=opencl,openmp -- verify --op transpose --dtype e4 --variant naive
run 3 FAULT=launch FAULT_VERSION=2 -- verify --op transpose --backend opencl
says 'no device that can be used' 'signal 11'
run 3 FAULT=launch FAULT_VERSION=2 ISOMER_REQUIRE=opencl -- verify --op transpose --backend openmp

# As JSON.
run 0 FAULT=launch FAULT_VERSION=2 -- info --all --json "$scratch/info.json"
tr -s '\n ' ' ' <"$scratch/info.json" >"$scratch/line"
says '"state": "broken"' '"problem": "device 0 \(Faulty Device'

if [ "$tier" = full ]; then
    broken 7 start-hang 'did not end within 20 seconds in listing'
    broken 8 list 'signal 11' 'in listing'
    broken 9 end 'signal 11' 'at its end'
fi

# Without the program that tries it, an unknown driver is not used, and PoCL is.
mkdir -p "$scratch/alone"
cp -P "$(dirname "$library")"/libisomer.so* "$scratch/alone"
run 0 "LD_LIBRARY_PATH=$scratch/alone" FAULT=launch FAULT_VERSION=10 -- info --all
says 'opencl broken' 'isomer-try' 'install isomer completely'
unset OCL_ICD_VENDORS
run 0 "LD_LIBRARY_PATH=$scratch/alone" -- info --all
says 'opencl ok'
