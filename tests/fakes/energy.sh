# SPDX-License-Identifier: Apache-2.0
# energy.sh POWERCAP: the figures of `bench --energy` over counters of known power; and what it says
# where there is no counter. POWERCAP is preloaded and shows made-up counters of the processors; ""
# if nothing can be preloaded.
. "$ISOMER_TEST_COMMON"
need python3 python3
powercap=$(preloadable "${1:-}")
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip" ISOMER_CACHE_DIR="$scratch/cache"
cd "$scratch" || exit

# bench NAME VARIABLES... -- OPTIONS...: sets `code`.
bench() {
    name=$1
    shift
    set_these=
    while [ "$1" != -- ]; do
        set_these="$set_these $1"
        shift
    done
    shift
    code=0
    # shellcheck disable=SC2086 # settings are words
    env $set_these "$tool" bench --rounds 2 --budget 600 --no-roofs --json "$name.json" "$@" >out 2>err || code=$?
}

# look NAME EXPRESSION
look() {
    python3 "$source_dir/tests/fakes/energy.py" "$1.json" "$2" || {
        cat out err
        fail "$1: not so: $2"
    }
}

short="--energy --energy-seconds 0.5"
small="--op add,sum --dtype f32 --size 4Ki --variant tiled"
for backend in cuda hip; do
    case $backend in
    cuda) scope=board absent=3 ;;
    hip) scope=device absent=2 ;;
    esac
    say "-- $backend: a device of 100 W"
    # shellcheck disable=SC2086 # options are words
    bench "$backend" FAKE_POWER=100000 -- --backend "$backend" $small $short
    [ "$code" = 0 ] || { cat err; fail "it ends with $code"; }
    look "$backend" 'len(rows) == len(all_rows) == 2 and run["energy"] and run["phases"]["energy"] > 1.5'
    look "$backend" 'near(idle["watts"], 100, 0.2) and idle["seconds"] >= 0.5 and idle["reason"] is None'
    look "$backend" "all(near(r['watts'], 100, 0.2) and r['seconds'] >= 0.5 and r['source'].endswith(': $scope') for r in rows)"
    grep -q 'energy: 2 cases of 0.5 s, after 0.7 s at rest: about 2 s' err || fail "it does not say how long it takes"

    say "-- $backend: one that takes more while it works"
    # shellcheck disable=SC2086
    bench busy FAKE_POWER=100000 FAKE_POWER_BUSY=900000 -- --backend "$backend" $small $short
    look busy 'all(r["watts"] > idle["watts"] + 20 for r in rows)'

    say "-- $backend: no counter, and one that stands still"
    # shellcheck disable=SC2086
    bench none "FAKE_SENSORS_ENERGY=$absent" -- --backend "$backend" $small $short
    [ "$code" = 0 ] || fail "a device without a counter: it ends with $code"
    grep -q '^isomer: energy: not measured: .* reports no energy of this device' err || fail "it does not say why: $(cat err)"
    look none 'rows and idle["watts"] is None and all("reports no energy of this device" in x["reason"] for x in rows + [idle])'
    # shellcheck disable=SC2086
    bench still FAKE_ENERGY=5000 -- --backend "$backend" --op add --dtype f32 --size 4Ki --variant tiled $short
    look still 'rows and all(x["reason"] == "not measured: the counter did not move on" for x in rows + [idle])'
done

say "-- not asked for, asked for wrongly, and interrupted"
# shellcheck disable=SC2086
bench plain -- --backend cuda $small
look plain 'not rows and idle is None and "energy" not in run and "energy" not in run["phases"]'
for wrong in "--energy --self-check" "--energy --against /bin/true" \
    "--energy --against-backend opencl" "--energy-seconds 3"; do
    code=0
    # shellcheck disable=SC2086
    "$tool" bench $wrong >out 2>err || code=$?
    if [ "$code" != 2 ] || ! grep -q -e '--energy' err; then
        fail "$wrong: exit code $code, $(cat err)"
    fi
done
(
    # shellcheck disable=SC2086
    exec "$tool" bench --rounds 2 --no-roofs --backend cuda $small --energy --energy-seconds 60 \
        --json stopped.json >out 2>err
) &
bench_pid=$!
for _ in $(seq 6000); do
    ! grep -q '^isomer: energy: ' err 2>/dev/null || break
    sleep 0.1
done
kill -TERM "$bench_pid" 2>/dev/null || fail "it ended before the phase of energy: $(cat err)"
code=0
wait "$bench_pid" || code=$?
[ "$code" = 130 ] || fail "an interruption ends with $code"
look stopped 'all(r["status"] == "ok" for r in all_rows) and all("interrupted" in x["reason"] for x in rows + [idle])'

say "-- the usual cases: without --op"
cat >suite.json <<'END'
{"schema": "isomer-suite/1", "cases": [
  {"op": "gemm", "variant": ["naive", "tiled"], "dtype": ["f32", "f16"], "size": [32, 64], "cache": ["hot", "cold"]}]}
END
bench usual FAKE_POWER=100000 -- --backend cuda --suite suite.json --energy --energy-seconds 0.2
[ "$code" = 0 ] || { cat err; fail "it ends with $code"; }
look usual '[r["id"] for r in rows] == ["gemm/tiled/f32/64x64x64/nn/strict/uniform/hot"] and len(all_rows) > 4'

if [ -n "$powercap" ]; then
    say "-- processors of 50 W, and none"
    zone="$scratch/sys/class/powercap/intel-rapl:0"
    mkdir -p "$zone"
    echo package-0 >"$zone/name"
    # shellcheck disable=SC2086
    bench cpu "LD_PRELOAD=$powercap" "FAKE_SYS=$scratch" FAKE_WATTS=50 -- --backend openmp $small $short
    look cpu 'rows and all(near(x["watts"], 50, 0.2) and x["source"] == "/proc, /sys: 1 package" for x in rows + [idle])'
    rm -r "$scratch/sys"
    # shellcheck disable=SC2086
    bench cpu "LD_PRELOAD=$powercap" "FAKE_SYS=$scratch" -- --backend openmp $small $short
    look cpu 'rows and all("shows no energy counter of the processors" in x["reason"] for x in rows + [idle])'
fi
