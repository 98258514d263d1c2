# SPDX-License-Identifier: Apache-2.0
# against.sh: `isomer bench --against`: a program that does not work, an interruption, and (with
# "full") pairs.
. "$ISOMER_TEST_COMMON"
full=${1:-}

cd "$scratch" || exit
# program NAME TEXT: a script that identifies itself as isomer, and runs TEXT otherwise.
# shellcheck disable=SC2016
program() {
    printf '#!/bin/sh\n[ "$1" != --version ] || { echo "isomer 9.9"; exit; }\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
against() { # against CODE ARGUMENTS...
    wanted=$1
    shift
    expect "$wanted" bench --backend openmp --op gemm --size 64 --dtype f32 "$@"
}

# These faults are found before anything is measured.
against 2 --against "$scratch/none"
says err "$scratch/none" "No such file"
printf 'not a program' >text
chmod +x text
against 2 --against ./text
says err "Exec format"
printf '#!/bin/sh\necho hello\n' >stranger
chmod +x stranger
against 5 --against ./stranger
says err "./stranger is not isomer"
program silent ':'
against 5 --against ./silent
says err "printed no results"
program talks 'echo "results follow"'
against 5 --against ./talks
says err "not JSON"
program half 'printf "{\"schema\": \"isomer-results/1\", "; echo oops >&2'
against 5 --against ./half
says err "not JSON" oops
# shellcheck disable=SC2016
program dies 'kill -SEGV $$'
against 5 --against ./dies
says err "signal 11"
program old 'echo "isomer: unknown command" >&2; exit 2'
against 2 --against ./old
says err "exit code 2" "unknown command"
program gets 'echo "$@" >got; exit 9'
against 5 --against ./gets --fail-on 5 --rounds=3 --seed 7
[ "$(cat got)" = "bench --backend openmp --op gemm --size 64 --dtype f32 --seed 7 --no-roofs --budget 40 --rounds 1 --json -" ] ||
    fail "the program got: $(cat got)"
against 6 --against ./dies --json none/x.json

# A program that fails its case in every third process fails the gate. (1e1 pairs are ten.)
export REAL="$tool"
printf '%s\n' '/^  {"id"/{' 's/"status": "ok"/"status": "STATUS"/' 's/"reason": null/"reason": "lost it"/' \
    's/"times": {[^}]*}/"times": null/' 's/"rates": .*, "roof"/"rates": null, "roof"/' '}' >lose
# shellcheck disable=SC2016
program flaky 'n=$(($(cat n) + 1)); echo $n >n
[ $((n % 3)) = 0 ] || exec "$REAL" "$@"
"$REAL" "$@" | sed -f lose | sed "s/STATUS/$STATUS/"; exit 1'
for STATUS in error unsupported; do
    export STATUS
    echo 0 >n
    against 1 --variant tiled --against ./flaky --rounds 1e1 --fail-on 900 --json flaky.json
    grep -q "B no result in 3 of 10 pairs: lost it" out ||
        fail "the table does not say in how many pairs B lost its case: $(cat out)"
    grep -q "1 of [0-9]* cases fail" out || fail "the gate does not count what was lost: $(cat out)"
    grep -q '"lost": 3' flaky.json || fail "the file does not say that a case was lost"
    code=0
    "$tool" compare flaky.json --fail-on 900 >out || code=$?
    [ "$code" -eq 1 ] || fail "compare on the pairs of a program that loses cases: exit code $code"
done
# An error gives exit code 1 even without a gate.
STATUS=error
echo 1 >n
against 1 --variant tiled --against ./flaky --rounds 2

# Killed: the pairs measured so far are in the file.
# shellcheck disable=SC2016
program stops 'n=$(($(cat n) + 1)); echo $n >n
[ $n -gt 1 ] || exec "$REAL" "$@"
echo $$ >sleeper; exec sleep 600'
echo 0 >n
"$tool" bench --backend openmp --op gemm --size 64 --dtype f32 --variant tiled --against ./stops \
    --json killed.json >out 2>err &
killed=$!
tries=0
until [ -s sleeper ]; do
    tries=$((tries + 1))
    [ $tries -lt 6000 ] || fail "the second pair is not reached: $(cat err)"
    sleep 0.1
done
kill -KILL $killed
wait $killed || :
kill "$(cat sleeper)" || :
grep -q '"complete": false' killed.json || fail "killed after a pair: nothing of it was kept"
"$tool" compare killed.json >out || fail "the file of a killed run cannot be read"
rm -f killed.json.* sleeper # a killed program cannot remove these

# Interrupted: no process of the program remains, and no file.
# shellcheck disable=SC2016
program hangs 'sleep 600 & echo $! >sleeper; wait'
"$tool" bench --backend openmp --against ./hangs --json left.json >out 2>err &
pid=$! tries=0 code=0
until [ -s sleeper ]; do
    tries=$((tries + 1))
    [ $tries -lt 6000 ] || fail "the program is not started: $(cat err)"
    sleep 0.1
done
kill -TERM $pid
wait $pid || code=$?
[ "$code" -eq 130 ] || fail "interrupted: exit code $code"
sleeper=$(cat sleeper)
if [ -d "/proc/$sleeper" ] && ! grep -q '^State:.*Z' "/proc/$sleeper/status" 2>/dev/null; then
    fail "what the program started is still there"
fi
[ ! -e left.json ] || fail "a file without results"
for left in *.json.*; do
    [ ! -e "$left" ] || fail "a temporary file was left: $left"
done
[ "$full" = full ] || exit 0

against 0 --self-check --rounds 8 --json pairs.json
grep -q "8 pairs" out || fail "the table does not say how many pairs were made"
"$tool" compare pairs.json >out || fail "compare on pairs: exit code $?"
"$tool" report pairs.json -o pairs.html || fail "report on pairs: exit code $?"
need python3 python3
python3 - <<'END' || fail "the pairs are wrong"
import json
d = json.load(open("pairs.json"))
assert d["run"]["command"] == "against" and d["run"]["rounds"] == 8 and d["run"]["complete"]
pairs = [p for p in d["pairs"] if p["ratio"] is not None]
assert pairs and all(len(p["pairs"]) == 8 for p in pairs)
ok = [r for r in d["results"] if r["status"] == "ok"]
assert len(ok) == len(pairs) and all(len(r["times"]["samples"]) == 8 for r in ok)
assert not any("few-rounds" in r["flags"] for r in ok)
END
# An interruption keeps the few pairs measured so far.
code=0
timeout -s INT --preserve-status 40 "$tool" bench --self-check --backend openmp --op gemm --size 64 \
    --dtype f32 --budget 1000 --json kept.json >out 2>err || code=$?
[ "$code" -eq 130 ] || fail "interrupted after some pairs: exit code $code"
grep -q '"complete": false' kept.json || fail "the kept file says that it is complete"
