# SPDX-License-Identifier: Apache-2.0
# ends.sh BACKEND: `isomer kernel verify` and `bench` end if a kernel does not: at a limit, after a
# signal, and at once after two.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\n' >leaks # what PoCL keeps until the process ends
export LSAN_OPTIONS="suppressions=$scratch/leaks:print_suppressions=0"
export ISOMER_CC="$cc" ISOMER_CACHE_DIR="$build_dir/tests/cache/kernels"
backend=$1
"$tool" info --available "$backend" >/dev/null 2>&1 || skip "$backend is not here"
cat >loop.isk <<'END'
ISO_KERNEL(same, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            y[iso_x(i)] = x[iso_x(i)];
        }
    }
}
ISO_KERNEL(loop, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        for (i64 k = 0; k < n; k += (i64)(x[0] > 5.0f)) {
            y[0] = x[0] + (f32)k;
        }
    }
}
END
cat >loop.json <<'END'
{"schema": "isomer-kernels/1", "kernels": [
 {"kernel": "same", "items": ["n"], "sizes": [{"n": 10}], "reference": {"kernel": "same", "items": ["n"]}},
 {"kernel": "loop", "items": ["n"], "sizes": [{"n": 7}], "bench": [{"n": 7}],
  "reference": {"kernel": "same", "items": ["n"]}}]}
END
kept() {
    says loop.out.json '"complete": false' '"interrupted"' '"id": "kernel/same/f32/10"'
    says loop.xml 'name="kernel/same/f32/10"'
    [ "$(find . -name 'loop.out.json*' | wc -l)" -eq 1 ] || fail "a temporary file stays"
}
files="--json loop.out.json --junit loop.xml"
# shellcheck disable=SC2086 # words
expect 1 kernel verify loop.isk --backend "$backend" --seconds 4 $files
says out "FAILED kernel/loop/f32/7 on $backend:0" "does not end within 4 seconds: look for a loop" "1 passed, 1 failed" --seconds
kept
# used: the time that the process has computed, in ticks; nothing once it has ended.
used() { cut -d ' ' -f 3,14 "/proc/$pid/stat" 2>/dev/null | sed -n 's/^[^Z] //p'; }
second=$(getconf CLK_TCK)
# begin COMMAND...: starts the tool, and returns once the loop runs, after a second of a processor.
begin() {
    "$tool" kernel "$@" >out 2>err &
    pid=$! tries=0
    while now=$(used) && [ "${now:-$second}" -lt "$second" ] && [ $tries -lt 6000 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    if [ -z "$now" ] || [ $tries -ge 6000 ]; then
        fail "$*: the loop does not run: $(cat out err)"
    fi
}
# One signal: it ends some seconds later. `timeout` sends it twice at once, as here.
# shellcheck disable=SC2086 # words
begin verify loop.isk --backend "$backend" $files
kill -TERM $pid $pid
wait $pid && code=0 || code=$?
[ "$code" -eq 130 ] || fail "one signal: $code"
says err "kernel/loop/f32/7 on $backend:0 does not end: stopped"
says out "1 passed, 0 failed" "was interrupted"
kept
for command in verify bench; do
    # A second signal: at once.
    files="--json loop.out.json --junit loop.xml"
    [ $command = verify ] || files="--no-roofs"
    # shellcheck disable=SC2086 # words
    begin $command loop.isk --kernel loop --backend "$backend" $files
    kill -TERM $pid
    sleep 1.2
    # Without the second signal the loop would run for four seconds more. It stops at once, however long
    # that takes on a loaded machine.
    before=$(used)
    last=$before code=0
    kill -TERM $pid
    while now=$(used) && [ -n "$now" ]; do
        last=$now
        sleep 0.1
    done
    wait $pid || code=$?
    [ "$code" -eq 130 ] || fail "$command, two signals: $code, $(cat out err)"
    [ $((last - before)) -le $((2 * second)) ] || fail "$command, two signals: it ends late"
    says err "on $backend:0 does not end: stopped"
done
expect 1 kernel bench loop.isk --kernel loop --backend openmp --seconds 1 --no-roofs
says err "kernel/loop/f32/7/hot on openmp:0 does not end within 1 second"
expect 2 kernel verify loop.isk --seconds 0
