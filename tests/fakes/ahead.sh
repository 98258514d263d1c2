# SPDX-License-Identifier: Apache-2.0
# ahead.sh: the processes in which `bench` compiles ahead: the run uses their kernels, reports how
# long that took, and survives their deaths; an interruption ends them too.
. "$ISOMER_TEST_COMMON"
need python3 python3
fakes=$build_dir/tests/fakes
export ISOMER_CUDA_PATH="$fakes/cuda"

# bench NAME OPTIONS...: starts with an empty cache.
bench() {
    name=$1
    shift
    ISOMER_CACHE_DIR="$scratch/$name" "$tool" bench --backend cuda --no-roofs --budget 600 --rounds 2 --op add,sum \
        --dtype f32 --size 4Ki --variant tiled --json "$scratch/$name.json" "$@" >"$scratch/out" 2>"$scratch/err"
}

# look NAME PYTHON: checks an expression over the file's run, its rows and the number of cached
# kernels.
look() {
    kept=$(find "$scratch/$1" -type f | wc -l)
    python3 - "$scratch/$1.json" "$kept" "$2" <<'END' || fail "$1: not so: $2"
import json, sys
root = json.load(open(sys.argv[1]))
phases, rows, kept = root["run"]["phases"], root["results"], int(sys.argv[2])
ok = len(rows) > 0 and all(row["status"] == "ok" for row in rows)
sys.exit(not eval(sys.argv[3]))
END
}
bench alone --jobs 1 || fail "it ends with $?: $(cat "$scratch/err")"
look alone 'ok and kept > 0 and phases["compiling"] == 0 and all(r["times"]["prepare"] > 1e7 for r in rows)'
bench crew --jobs 2 || fail "it ends with $?: $(cat "$scratch/err")"
look crew 'ok and kept > 0 and phases["compiling"] > 0 and all(r["times"]["prepare"] > 1e7 for r in rows)'
# Both processes compiled: what they report as prepared took the time of both.
look crew '2e9 * phases["compiling"] >= sum(r["times"]["prepare"] for r in rows)'

# One turn of --against has no such processes.
bench turn --rounds 1 --jobs 2 || fail "it ends with $?"
look turn 'ok and phases["compiling"] == 0'

for text in 0 1.5 9 many; do
    code=0
    bench wrong --jobs "$text" || code=$?
    [ "$code" -eq 2 ] || fail "--jobs $text ends with $code"
    grep -q -- "--jobs" "$scratch/err" || fail "--jobs $text is not named: $(cat "$scratch/err")"
done

have pgrep || {
    say "left out: pgrep is not here, so that the processes cannot be found: install procps"
    exit 0
}

# begin NAME: starts a run, and waits for its two processes and for the first kernel, because a
# signal before the measuring begins ends the run at once. On a loaded machine this shell may see
# them too late, and so it has many tries.
begin() {
    for _ in $(seq 30); do
        rm -rf "${scratch:?}/$1"
        bench "$1" --jobs 2 &
        run=$! own='' beside=''
        while kill -0 "$run" 2>/dev/null; do
            own=$(pgrep -P "$run" -x isomer || true)
            [ -z "$own" ] || beside=$(pgrep -P "$own" -x isomer || true)
            [ "$(echo "$beside" | wc -w)" -lt 2 ] || [ -z "$(find "$scratch/$1" -type f 2>/dev/null)" ] || return 0
            sleep 0.02
        done
        wait "$run" || fail "$1: it ends with $?: $(cat "$scratch/err")"
    done
    fail "$1: there are no two processes beside the run"
}

# If they are killed only their work is lost: the run compiles by itself.
begin killed
# shellcheck disable=SC2086 # two numbers
kill -KILL $beside || say "they had ended before"
wait "$run" || fail "it ends with $? when they are killed: $(cat "$scratch/err")"
look killed ok

# A run that had ended when the signal came is made again.
code=0
for _ in $(seq 30); do
    begin stopped
    kill -TERM "$own" || say "it had ended before"
    wait "$run" || code=$?
    [ "$code" -eq 0 ] || break
done
[ "$code" -eq 130 ] || fail "interrupted it ends with $code: $(cat "$scratch/err")"
for process in $beside; do
    # It may have ended, but not been waited for by the process that takes orphans.
    for _ in $(seq 600); do
        kill -0 "$process" 2>/dev/null || break
        sleep 0.1
    done
    ! kill -0 "$process" 2>/dev/null || fail "process $process is still there"
done
