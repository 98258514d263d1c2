# SPDX-License-Identifier: Apache-2.0
# stop.sh: commands that a signal stops. verify, reveal and errors stop at the next case, keep what they
# have, and mark it; vectors leaves no file. (bench.sh and against.sh have bench's tests.)
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
export ISOMER_NUM_THREADS=1
cd "$scratch"
need python3 python3

# stopped SIGNAL CODE ARGUMENTS...: runs the tool in the folder `at`. Once its first file is there and it has
# computed for a quarter of a second, however long that takes, it gets the signal. It has to end with this
# code. The shell lets jobs in the background ignore SIGINT, so a program restores that.
stopped() {
    signal=$1 wanted=$2 tries=0 code=0
    shift 2
    rm -rf at
    mkdir at
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.chdir("at")
os.execv(sys.argv[1], sys.argv[1:])' "$tool" "$@" >out 2>err &
    pid=$!
    while used=$(cut -d ' ' -f 14 "/proc/$pid/stat") || fail "$*: it ended at once: $(cat out err)"; do
        if [ -n "$(ls -A at)" ] && [ "$used" -ge $(($(getconf CLK_TCK) / 4)) ]; then
            break
        fi
        tries=$((tries + 1))
        [ "$tries" -lt 6000 ] || fail "$*: it does not compute: $(cat out err)"
        sleep 0.1
    done
    kill "-$signal" "$pid"
    wait "$pid" || code=$?
    [ "$code" -eq "$wanted" ] || fail "$*: exit code $code instead of $wanted: $(cat out err)"
}

marked() {
    says err 'interrupted: results are kept'
    says "$1" '"complete": false'
    tr -d ' \n' <"$1" | grep -q '"flags":\["interrupted"\]' || fail "no flag: $(head -c 3000 "$1")"
    [ "$(find at -type f | wc -l)" = "$2" ] || fail "other files: $(ls -A at)"
}

# With the full list each of these runs takes a quarter of a minute or longer.
for signal in INT TERM; do
    stopped $signal 130 verify --backend openmp --suite full --op gemm --json v.json --junit v.xml
    marked at/v.json 2
    says out 'The run was interrupted: the other cases were not run.' ' 0 failed'
    passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' out)
    [ "${passed:-0}" -gt 0 ] || fail "nothing was judged: $(cat out)"
    [ "$(grep -c '"status": "ok"' at/v.json)" = "$passed" ] || fail "the file does not hold the results"
    [ "$(grep -c '<testcase ' at/v.xml)" -ge "$passed" ] || fail "the XML does not hold the results"
    says at/v.xml '<system-err>interrupted: '
done
stopped INT 130 verify --backend openmp --suite full --invariance --json v.json
marked at/v.json 1
says out 'The run was interrupted: ' ' 0 failed'
grep -q 'not on this device' out && fail "what was not run is not missing on this device"

stopped INT 130 reveal --backend openmp --variant tiled --dtype f32 --size 4x4x40,64x64x200000 --budget 1000 --json r.json
marked at/r.json 1
# How far the second came depends on the machine, and the reason tells it.
says at/r.json '"status": "ok"' '"reason": "interrupted'
stopped TERM 130 errors --backend openmp --dtype f32 --size 4x4x9,256x256x4000 --json e.json
marked at/e.json 1
says at/e.json '"status": "ok"'

# No results: the signal ends the process.
stopped TERM 143 vectors --count 100000000 --out v.jsonl
[ -z "$(ls -A at)" ] || fail "vectors leaves $(ls -A at)"

# A run that ends by itself says that it is complete.
expect 0 verify --backend openmp --op gemm --dtype f32 --case 'gemm/naive/f32/nn/*' --json whole.json
says whole.json '"complete": true'
lacks whole.json interrupted
