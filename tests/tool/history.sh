# SPDX-License-Identifier: Apache-2.0
# history.sh: `isomer history`: runs are added once, each case is followed over time, a planted change
# is found at its run and fails the gate, and a missing library or a strange file is reported.
. "$ISOMER_TEST_COMMON"

# run DAY DRIVER COMMIT FACTOR [FAKE]: a results file with two cases; FACTOR multiplies the f32 product.
run() {
    awk -v day="$1" -v driver="$2" -v commit="$3" -v factor="$4" -v fake="${5:-false}" '
        function noise() { return (rand() + rand() + rand() - 1.5) * 0.01 }
        function row(variant, dtype, median, status,    id, rounds, i, t) {
            id = "gemm/" variant "/" dtype "/512x512x512/nn/strict/uniform/hot"
            printf "%s{\"id\":\"%s\",\"op\":\"gemm\",\"kind\":null,\"variant\":\"%s\",\"dtype\":\"%s\",",
                comma, id, variant, dtype
            printf "\"shape\":{\"m\":512,\"n\":512,\"k\":512,\"batch\":1},\"size\":512,\"layout\":{},"
            printf "\"math\":\"strict\",\"fill\":\"uniform\",\"cache\":\"hot\",\"backend\":\"cuda\","
            printf "\"device\":\"cuda:0\",\"library\":\"isomer 0.2.0\",\"kernel\":\"k\",\"status\":\"%s\",", status
            median *= 1 + noise()
            if (status == "ok") {
                for (i = 1; i <= 6; i++) {
                    t = 1000 * median * (1 + noise())
                    rounds = rounds (i > 1 ? "," : "") "[" t "]"
                }
                printf "\"reason\":null,\"verified\":{\"method\":\"bound\",\"error\":0,\"bound\":1},"
                printf "\"work\":{\"flops\":1,\"bytes_read\":1,\"bytes_written\":1},"
                printf "\"times\":{\"clock\":\"host\",\"median\":%s,\"low\":%s,\"high\":%s,", 1000 * median,
                    999 * median, 1001 * median
                printf "\"confidence\":0.95,\"min\":1,\"max\":2,\"mean\":1,\"deviation\":1,\"converged\":true,"
                printf "\"samples\":[%s],\"calls\":1},\"rates\":{\"gbps\":null,\"gflops\":null},", rounds
            } else
                printf "\"reason\":\"no\",\"verified\":null,\"work\":{\"flops\":1,\"bytes_read\":1,\"bytes_written\":1},\"times\":null,\"rates\":null,"
            printf "\"roof\":null,\"parts\":null,\"clocks\":null,\"flags\":[]}"
            comma = ",\n"
        }
        BEGIN {
            srand(day)
            printf "{\"schema\":\"isomer-results/1\",\"run\":{\"command\":\"bench\",\"version\":\"0.2.0\","
            printf "\"time\":\"2026-11-%02dT03:00:00Z\",\"seed\":1,\"math\":\"strict\",\"arguments\":[\"isomer\",\"bench\"],", day
            printf "\"host\":{\"name\":\"node1\",\"system\":\"Linux\",\"release\":\"6.1\"},\"build\":{\"commit\":\"%s\"}},\n", commit
            printf "\"devices\":[{\"spec\":\"cuda:0\",\"backend\":\"cuda\",\"name\":\"a GPU\",\"driver\":\"driver 13\",\"telemetry\":{\"source\":\"sensors %s\"},", driver
            printf "\"properties\":{\"compiler\":\"%s, /usr/lib/%s\",\"threads\":\"2\"},\"fake\":%s}],\n",
                day < 19 ? "13.0" : "13.1", day, fake
            printf "\"results\":[\n"
            row("tiled", "f32", factor, "ok")
            row("tiled", "f64", 2, "ok")
            row("vendor", "f64", 2, "unsupported")
            printf "\n]}\n"
        }' </dev/null
}

follow() { # follow CODE ARGUMENTS...: runs history in the folder h
    wanted=$1
    shift
    expect "$wanted" history "$@" --dir h
}

cd "$scratch" || exit
code=0
"$tool" history list --dir none >out 2>err || code=$?
if [ "$code" -eq 3 ]; then
    says err libsqlite3.so.0 "apt-get install libsqlite3-0"
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$(cat err)"
    skip "libsqlite3.so.0 is not here: install libsqlite3-0"
fi
[ "$code" -eq 4 ] || fail "no history: exit code $code"
# A machine without the library; a sanitizer's runtime would have to be loaded before this one.
if ! grep -q __asan_init "$tool"; then
    "$cc" -std=gnu11 -shared -fPIC -DHIDDEN='"sqlite3"' -o hide.so "$source_dir/tests/hidden/hide.c" -ldl ||
        fail "hide.so cannot be built"
    code=0
    LD_PRELOAD=$(preloadable "$scratch/hide.so") "$tool" history list --dir h >out 2>hidden || code=$?
    [ "$code" -eq 3 ] || fail "without libsqlite3.so.0: exit code $code"
    says hidden libsqlite3.so.0 "apt-get install libsqlite3-0"
fi
says err "there is no history in none" "isomer history add"
[ ! -e none ] || fail "looking made a folder"

# Ten runs, the f32 product 6 % slower from the seventh on, with a new driver.
for day in 1 2 3 4 5 6; do
    run $day 580.159 abcdef0123456789 1 >$day.json
done
for day in 7 8 9 10; do
    run $day 585.02 abcdef0123456789 1.06 >$day.json
done
follow 0 add 1.json 2.json 3.json
says out "1.json: added 2 results to h/history.db"
follow 4 show --fail-on 5
says out "3 runs; 7 more are needed to find a change"
says err "nothing was judged: ten runs are needed, there are 3"

# Many at once, each of which also adds one that is there.
for day in 4 5 6 7 8 9 10; do
    "$tool" history add $day.json 1.json --dir h >out.$day 2>&1 || : >failed &
done
wait
[ ! -e failed ] || { cat out.*; fail "adding at the same time fails"; }
says out.4 "1.json: already in the history, as the run of 2026-11-01T03:00:00Z on node1"
follow 0 list
[ "$(grep -c node1 out)" -eq 10 ] || { cat out; fail "not ten runs"; }
says out "cuda:0 driver 13, sensors 580.159" abcdef0123

follow 0 show
says out "gemm/tiled/f32/512x512x512/nn/strict/uniform/hot" "cuda:0 (a GPU) of node1, 10 runs" "2026-11-01 to 2026-11-10"
tr -s '\n ' ' ' <out >line
grep -qE 'with run [0-9]+ of 2026-11-07 03:00, driver' line || { cat out; fail "the run is not named"; }
says line ", driver driver 13, sensors 580.159 -> driver 13, sensors 585.02, same commit"
[ "$(grep -c became out)" -eq 1 ] || fail "not one change"
grep -qE 'became [4-8]\.[0-9] % slower \([0-9.]+ to [0-9.]+, 9[0-9.]+ %\)' line || { cat out; fail "no interval"; }
follow 1 show --fail-on 3
says out "Gate of 3 %: 1 of 2 cases are slower"
[ "$(grep -c became out)" -eq 1 ] || { cat out; fail "a change is listed twice"; }
follow 0 show --fail-on 9
follow 0 show --fail-on 3 --within 3
follow 0 show --fail-on 3 --dtype f64
lacks out f32
follow 0 show --case 'gemm/*/f64/*' --device cuda --machine node1 --op gemm
lacks out f32
follow 0 show --last 5
says out "5 more are needed"
lacks out became
follow 4 show --op gemv
follow 4 show --device openmp

if have python3; then
    follow 1 show --fail-on 3 --json h.json --csv h.csv
    python3 - <<'END' || fail "the files: see above"
import csv, json
root = json.load(open("h.json"))
assert root["schema"] == "isomer-history/1" and root["test"] == "E-divisive", root
f32, f64 = root["series"]
assert [len(s["runs"]) for s in (f32, f64)] == [10, 10] and f64["changes"] == []
(change,) = f32["changes"]
assert change["run"] == f32["runs"][6]["run"] and f32["runs"][6]["driver"].endswith("585.02"), change
assert change["fails"] and change["low"] < 1.06 < change["high"] and change["p"] <= .05, change
rows = list(csv.DictReader(open("h.csv", newline="")))
assert len(rows) == 20 and [r["changed"] for r in rows].index("true") == 6, rows
assert float(rows[0]["median_ns"]) == f32["runs"][0]["median"], rows[0]
END
else
    say "python3 is not here: the files are not parsed"
fi
follow 1 show --fail-on 3 --json -
says err "Gate of 3 %"

# A run that stands out alone, and one less.
run 11 585.02 abcdef0123456789 1.06 >11.json
run 12 585.02 fedcba9876543210 1.2 >12.json
for day in 13 14 15 16 17 18; do
    run $day 585.02 abcdef0123456789 1.06 >$day.json
done
follow 0 add 11.json 13.json 14.json 15.json 16.json 17.json
run 19 585.02 fedcba9876543210 1.2 >19.json
follow 0 add 19.json
follow 1 show --fail-on 5
tr -s '\n ' ' ' <out >line
grep -qE 'slower in the newest run alone, [0-9]+ of 2026-11-19 03:00' line || { cat out; fail "the run is not named"; }
says line "2026-11-19 03:00, same driver, commit abcdef0123 -> fedcba9876, compiler 13.0 -> 13.1"
lacks line threads
last=$("$tool" history list --dir h | awk '/2026-11-19/ { print $1 }')
follow 0 remove "$last"
follow 0 show --fail-on 5 --within 3
follow 2 remove "$last"
says err "there is no run" "isomer history list"

# Runs of one day; a run beside other work; uncommitted changes.
for minute in 10 20; do
    sed "s/03:00:00Z/03:$minute:00Z/; s/abcdef0123456789/abcdef0123456789-dirty/
         s/\"seed\":1/\"noise\":0.31,\"flags\":[\"noisy-host\"],\"seed\":1/" 1.json >day$minute.json
done
"$tool" history add day10.json day20.json --dir day >out 2>err || fail "$(cat out err)"
says err "day10.json: other work used 31 % of the processors"
"$tool" history list --dir day >out
says out abcdef0123-dirty
"$tool" history show --dir day >out
says out "2026-11-01 03:10 to 2026-11-01 03:20"
"$tool" history remove 1 2 --dir day >out || fail "two runs cannot be removed at once"
says out "removed run 1" "removed run 2"

# What is refused.
run 20 585.02 abc 1 true >fake.json
follow 5 add fake.json
says err "a stand-in or a simulator" "--force"
follow 0 add fake.json --force
sed 's/"status":"ok"/"status":"error"/; s/"reason":null/"reason":"lost"/
     s/"times":{.*"calls":1},"rates":{[^}]*}/"times":null,"rates":null/; s/-11T/-21T/' 11.json >bad.json
follow 4 add bad.json
follow 5 add h.csv
follow 6 add missing.json

follow 2
says err "isomer help history"
code=0
"$tool" history list --dir 1.json >out 2>err || code=$?
[ "$code" -eq 6 ] || fail "--dir with a file: exit code $code"
says err "1.json is a file, not a folder"
follow 2 add
follow 2 show 1.json
follow 2 forget 1
says err 'it must be one of add, show, list, remove'
follow 2 show --op gemn
follow 2 show --last none
mkdir other
printf 'no database, but long enough to be looked at by whoever opens it' >other/history.db
code=0
"$tool" history list --dir other >out 2>err || code=$?
[ "$code" -eq 5 ] || { cat err; fail "a file that is no database: exit code $code"; }
says err "other/history.db cannot be used"
cp -r h newer
if have sqlite3; then
    sqlite3 newer/history.db 'PRAGMA user_version = 7'
    code=0
    "$tool" history list --dir newer >out 2>err || code=$?
    [ "$code" -eq 5 ] || fail "a newer history: exit code $code"
    says err "use a newer isomer"
    [ "$(sqlite3 h/history.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] ||
        fail "the database is not whole"
fi

# The usual folder.
export XDG_DATA_HOME="$scratch/data" HOME="$scratch/home"
"$tool" history add 1.json >out || fail "history add exits with $?"
[ -f data/isomer/history.db ] || fail "XDG_DATA_HOME has no history"
XDG_DATA_HOME=relative "$tool" history add 1.json >out || fail "history add exits with $?"
[ -f home/.local/share/isomer/history.db ] || fail "HOME has no history"
