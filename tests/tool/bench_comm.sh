# SPDX-License-Identifier: Apache-2.0
# bench_comm.sh PLUGINS ENGINES: `isomer bench --comm` on ranks of one process, and under mpirun if it and the
# plug-in in the folder PLUGINS are here: what it measures, files, the report, and wrong results, options and
# files. ENGINES has engines for tests.
. "$ISOMER_TEST_COMMON"
need python3 python3
plugins=$1 engines=$2
# This process may have been started by mpirun itself.
unset OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
export ISOMER_NUM_THREADS=1 ISOMER_CACHE_DIR=off
cd "$scratch" || exit
bench() { # bench CODE OPTIONS...
    code=$1
    shift
    expect "$code" bench --backend openmp --rounds 3 --budget 600 "$@"
}

# Options that do not go together, or are wrong.
bench 2 --world
says err "--comm"
bench 2 --ranks 2 --suite quick
says err "--suite"
bench 2 --ranks 2 --op all_redcue
says err all_redcue all_reduce
bench 2 --ranks 2 --variant partials
bench 2 --ranks 2 --dtype e4
bench 2 --ranks 0
bench 2 --ranks 2 --world
bench 2 --ranks 2 --size 64x64
says err 64x64
bench 2 --ranks 2 --size 256 --op gemm,send
bench 2 --ranks 2 --op gemm --dtype f16
bench 2 --ranks 2 --memory much
bench 6 --ranks 2 --beside nowhere.jsonl
says err nowhere.jsonl
echo '{"op": "all_reduce", "bytes": 8, "ranks": 2, "algbw": 1, "busbw": 1}' >wrong.jsonl
bench 5 --ranks 2 --beside wrong.jsonl
says err wrong.jsonl "line 1" time_us

# Every call, on two and three ranks, with another program's figures beside ours.
cat >peer.jsonl <<'END'
{"op": "all_reduce", "bytes": 4096, "ranks": 2, "mode": "group", "time_us": 12.5, "algbw": 0.327, "busbw": 0.327}

{"op": "send_recv", "bytes": 4096, "ranks": 3, "time_us": 7, "algbw": 0.6, "busbw": 0.6}
END
bench 0 --ranks 2,3 --size 8,4Ki,100000 --beside peer.jsonl --json calls.json --csv calls.csv --report calls.html
says out "all_reduce of f32 over 2 ranks by threads" "beside" "12.5 us" "latency" "barrier over 3 ranks"
python3 - <<'END' || fail "see above"
import csv, json
root = json.load(open("calls.json"))
entries, fits = root["comm"], root["comm_fits"]
assert root["run"]["suite"] == "comm" and root["run"]["complete"] and len(root["devices"]) == 1
ours = [e for e in entries if e["by"] == "isomer"]
assert len(entries) == len(ours) + 2
for e in ours:
    assert e["status"] == "ok" and e["verified"] and 0 < len(e["times"]["samples"]) <= 3, e
    assert len(e["devices"]) == e["ranks"] and e["engine"] == "threads", e
    r, share = e["ranks"], (e["ranks"] - 1) / e["ranks"]
    bus = {"all_reduce": 2 * share, "reduce_scatter": share, "all_gather": share, "all_to_all": share}.get(e["op"], 1)
    if e["bytes"]:
        assert abs(e["algbw"] * e["times"]["median"] / e["bytes"] - 1) < 1e-9, e
        assert abs(e["busbw"] - bus * e["algbw"]) <= 1e-9 * e["busbw"], e
def has(op, **members):
    found = [e for e in ours if e["op"] == op and all(e.get(k) == v for k, v in members.items())]
    assert found, (op, members)
    return found
for ranks in 2, 3:
    for op in "all_reduce", "reduce_scatter":
        # Sums of the data are exact, so all ways have one result.
        for size in {e["bytes"] for e in has(op, ranks=ranks)}:
            digests = {e["verified"]["digest"] for v in ("vendor", "ordered", "fixed") for place in (False, True)
                       for e in has(op, ranks=ranks, variant=v, in_place=place, bytes=size)}
            assert len(digests) == 1, (op, ranks, size, digests)
    for op in "all_gather", "broadcast":
        assert len(has(op, ranks=ranks, in_place=True)) == len(has(op, ranks=ranks, in_place=False)) == 3
    assert len(has("all_to_all", ranks=ranks)) == len(has("send_receive", ranks=ranks)) == 3
    assert len(has("barrier", ranks=ranks)) == 1
    for source in range(ranks):
        for target in set(range(ranks)) - {source}:
            for op in "send", "copy":
                assert len(has(op, ranks=ranks, **{"from": source, "to": target})) >= 2
assert {f["op"] for f in fits} == {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "send_receive",
                                  "send"}
series = "op", "variant", "dtype", "ranks", "in_place", "by"
for f in fits:
    assert f["points"] == 3 and f["latency"] >= 0 and (f["algbw"] is None or f["algbw"] > 0), f
    # No line near it has a smaller sum of squares of relative errors.
    points = [(e["bytes"], e["times"]["median"]) for e in ours if all(e[k] == f[k] for k in series)
              and (e.get("from"), e.get("to")) == (f.get("from"), f.get("to"))]
    def misfit(a, b):
        return sum(((a + b * x) / t - 1) ** 2 for x, t in points)
    a, b = f["latency"], 1 / f["algbw"] if f["algbw"] else 0
    for da, db in (0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01):
        assert misfit(a * (1 + da), b * (1 + db)) >= misfit(a, b) * (1 - 1e-9), (f, points)
lines = list(csv.DictReader(open("calls.csv", newline="")))
assert len(lines) == len(entries) and float(lines[0]["median"]) == entries[0]["times"]["median"]
page = open("calls.html").read()
for word in "Communicators", "Bandwidth between devices", "bus bandwidth against size", "Latency and bandwidth":
    assert word in page, word
END
expect 0 report calls.json -o again.html --figures figures
[ -s figures/comm-all_reduce-f32-3-2col.svg ] || fail "the curves are no figure"

# Other types, and one rank. fixed sums no integers.
bench 0 --ranks 1,3 --size 512 --op all_reduce,all_to_all --dtype f16,bf16,f64,i32 --json types.json
python3 - <<'END' || fail "see above"
import json
entries = json.load(open("types.json"))["comm"]
assert {e["dtype"] for e in entries if e["variant"] == "fixed"} == {"f16", "bf16", "f64"}
assert {e["dtype"] for e in entries if e["variant"] == "vendor"} == {"f16", "bf16", "f64", "i32"}
assert all(e["status"] == "ok" for e in entries), [e for e in entries if e["status"] != "ok"]
END

# Types that products do not have leave them out, unless they are named.
bench 0 --ranks 2 --dtype f16 --budget 4 --json halves.json
python3 - <<'END' || fail "see above"
import json
entries = json.load(open("halves.json"))["comm"]
assert entries and all(e["op"] != "gemm" for e in entries), entries
END

# Products: the bits do not depend on the ranks, or on where the parts are. Each number of ranks has them once.
bench 0 --op gemm --ranks 1,3 --size 256 --json products.json --report products.html
bench 0 --op gemm --ranks 2 --size 256 --variant tiled --dtype f64 --memory 4Mi --json host.json
says out "GFLOP/s" strong
python3 - <<'END' || fail "see above"
import json
entries = json.load(open("products.json"))["comm"]
host = json.load(open("host.json"))["comm"]
assert all(e["status"] == "ok" and e["gflops"] > 0 and e["efficiency"] > 0 for e in entries + host), entries + host
for dtype in "f32", "f64":
    for variant in "tiled", "vendor", "fixed":
        mine = [e for e in entries if e["dtype"] == dtype and e["variant"] == variant and e["n"] == 256]
        assert [e["ranks"] for e in mine] == [1, 2, 3] and mine[0]["efficiency"] == 1, mine
        assert variant == "vendor" or len({e["verified"]["digest"] for e in mine}) == 1, mine
tiled = {e["verified"]["digest"] for e in entries + host if (e["variant"], e["dtype"], e["n"]) == ("tiled", "f64", 256)}
assert len(tiled) == 1 and all(e["memory"] == 4 << 20 and e["times"]["clock"] == "host" for e in host), tiled
END

# What does not fit the memory is left out, with the reason.
ISOMER_MEMORY_LIMIT=1M bench 0 --ranks 2 --size 64,2Mi --op broadcast --json small.json
grep -q 'the memory of a rank has no room' small.json || fail "no reason"

# The schema accepts the files, and readers name what is wrong in them.
if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 - "$source_dir/docs/schema/isomer-results-1.json" calls.json types.json products.json host.json small.json <<'END' ||
import json, jsonschema, sys
check = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for path in sys.argv[2:]:
    for error in check.iter_errors(json.load(open(path))):
        print(path, jsonschema.exceptions.best_match([error]).message[:300])
        sys.exit(1)
END
        fail "the schema refuses a file"
fi
cat >faults <<'END'
e['op'] = 'all_redcue'|comm[0].op is "all_redcue"
del e['bytes']|comm[0].bytes is missing
e['times']['median'] = 0|comm[0].times.median is 0
e['times']['samples'] = []|comm[0].times.samples
e['verified'] = None|comm[0].verified is null
e['times'] = None|comm[0].times is null
e['status'] = 'failed'|comm[0].reason is empty
e['status'] = e['reason'] = 'failed'|comm[0].times has figures
e['ranks'] = 0|comm[0].ranks
f['latency'] = 'long'|comm_fits[0].latency is a text
END
python3 - <<'END'
import json
for number, line in enumerate(open("faults"), 1):
    root = json.load(open("calls.json"))
    exec(line.split("|")[0], {"e": root["comm"][0], "f": root["comm_fits"][0]})
    json.dump(root, open(f"fault{number}.json", "w"))
END
number=0
while IFS='|' read -r _ words; do
    number=$((number + 1))
    expect 5 report fault$number.json -o bad.html
    says err "$words"
done <faults

# A wrong result has no number, and the exit code is 1. Each check finds what is wrong: before the
# samples, and only behind them.
wrong() { # wrong FAULT CODE OPTIONS...: comm_wrong.c explains the faults.
    fault=$1 wanted=$2 code=0
    shift 2
    LD_PRELOAD=$wrong ISOMER_TEST_WRONG=$fault "$tool" bench --backend openmp --rounds 3 --budget 600 \
        --json wrong.json "$@" >out 2>err || code=$?
    [ "$code" -eq "$wanted" ] || fail "$fault: $*: exit code $code instead of $wanted: $(cat out err)"
}
# red OP WORDS: of the last run, the entries of OP, and only those, have failed with these words. Rank 1 is
# the one that gets something wrong, so what it sends arrives.
red() {
    python3 - "$@" <<'END' || fail "$fault: see above"
import json, sys
entries = json.load(open("wrong.json"))["comm"]
assert any(e["op"] == sys.argv[1] for e in entries), entries
for e in entries:
    wrong = e["op"] == sys.argv[1] and (e["op"] != "send" or e["to"] == 1)
    assert e["status"] == ("failed" if wrong else "ok") and (e["times"] is None) == wrong, e
    assert not wrong or (sys.argv[2] in e["reason"] and e["algbw"] is None and e["busbw"] is None), e
END
}
# products WORDS...: how the products of the last run ended: "ok", or what their reason says.
products() {
    python3 - "$@" <<'END' || fail "$fault: see above"
import json, sys
entries = [e for e in json.load(open("wrong.json"))["comm"] if e["scaling"] == "strong"]
assert len(entries) == len(sys.argv) - 1, entries
for e, words in zip(entries, sys.argv[1:]):
    good = words == "ok"
    assert e["status"] == ("ok" if good else "failed") and (good or words in e["reason"]), (e, words)
    assert (e["times"] is None) != good and (e["gflops"] is None) != good, e
END
}
if [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
    "$cc" -shared -fPIC -O1 -I"$source_dir/include" "$source_dir/tests/tool/comm_wrong.c" -o wrong.so -ldl ||
        fail "the library with wrong results does not compile"
    wrong=$(preloadable "$scratch/wrong.so")
    # Each call, beside one that is right. What one rank receives is a part of send and of send_receive.
    for call in all_reduce reduce_scatter all_gather broadcast all_to_all send send_receive; do
        case $call in
        send | send_receive) what=receive ;;
        *) what=$call ;;
        esac
        for first in 1 2; do
            wrong "$what $first 1000000" 1 --ranks 2 --size 4Ki --op "$call,barrier" --variant vendor
            red "$call" "expected exactly"
        done
    done
    # The check behind the samples is of timed calls, also in place.
    export ISOMER_TEST_TIMED=1
    for call in all_gather broadcast; do
        wrong "$call 1 1000000" 1 --ranks 2 --size 4Ki --op "$call,barrier"
        red "$call" "expected exactly"
    done
    unset ISOMER_TEST_TIMED
    # The first copy is found though what send left there is the same, and so is the last one.
    for calls in "1 1" "2 1000000"; do
        wrong "copy $calls" 1 --ranks 2 --size 4Ki --op send,copy
        red copy "expected exactly"
    done
    # A product that is far off; one with other bits behind the samples than before them, which only a
    # vendor's library may have; and one with other bits on two ranks than on one.
    product="--ranks 2 --size 256 --op gemm --dtype f32"
    for variant in tiled vendor; do
        # shellcheck disable=SC2086 # several options
        wrong "matrix 1 1000000" 1 $product --variant $variant
        products "off by" "off by"
    done
    # shellcheck disable=SC2086
    wrong "matrix 2 2" 1 $product --variant vendor
    products "off by" ok
    # shellcheck disable=SC2086
    wrong "bit 2 2" 0 $product --variant vendor
    products ok ok
    # shellcheck disable=SC2086
    wrong "bit 2 2" 1 $product --variant tiled
    products "other bits behind the measurement" ok
    # shellcheck disable=SC2086
    wrong "bit 3 1000000" 1 $product --variant tiled
    products ok "its bits must not depend on them"
    # In a world of one process each step fails in turn that tells all ranks something.
    if [ -d "$engines" ]; then
        for options in "--op all_reduce --size 8 --variant vendor" "--op gemm --size 256 --variant tiled --dtype f32"; do
            step=0 code=1
            while [ "$code" -ne 0 ] && [ "$step" -lt 200 ]; do
                step=$((step + 1)) code=0
                rm -f step.json
                # shellcheck disable=SC2086 # several options
                LD_PRELOAD=$wrong ISOMER_TEST_WRONG="share $step 1000000" ISOMER_BACKEND_PATH=$engines "$tool" bench \
                    --comm --world --backend openmp --engine engine-none --rounds 1 --budget 600 $options \
                    --json step.json >out 2>err || code=$?
                python3 - "$code" <<'END' || fail "step $step: see above: $(cat err)"
import json, os, sys
code = int(sys.argv[1])
entries = json.load(open("step.json"))["comm"] if os.path.exists("step.json") else []
assert code in (0, 1), code
assert all(e["status"] in ("error", "skipped") or e["status"] == "ok" and e["times"] for e in entries), entries
assert code == 1 or entries and all(e["status"] == "ok" for e in entries), entries
END
                [ "$code" -eq 0 ] || says err "comm is zero"
            done
            if [ "$code" -ne 0 ] || [ "$step" -le 10 ]; then
                fail "$options: $step steps, the last with $code"
            fi
        done
        say "a step that fails is no success"
    fi
    say "wrong results have no numbers"
fi

# One rank in each process, whose first one alone shows and writes.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_btl_vader_single_copy_mechanism=none TMPDIR="$scratch" ISOMER_BACKEND_PATH="$plugins"
for mpi in openmpi mpich; do
    if [ ! -e "$plugins/isomer-$mpi.so" ] || ! have "mpirun.$mpi"; then
        say "mpirun.$mpi or its plug-in is not here"
        continue
    fi
    code=0
    timeout -k 5 600 "mpirun.$mpi" -np 3 "$tool" bench --comm --backend openmp --rounds 3 --budget 600 --size 8,4Ki \
        --op all_reduce,send_receive,send --json "$mpi.json" >out 2>err || code=$?
    [ "$code" = 0 ] || fail "mpirun.$mpi ends with $code: $(cat out err)"
    [ "$(grep -c 'all_reduce of f32 over 3 ranks' out)" = 1 ] || fail "not one process shows: $(cat out)"
    python3 - "$mpi" calls.json <<'END' || fail "see above"
import json, sys
mine, threads = (json.load(open(p))["comm"] for p in (sys.argv[1] + ".json", sys.argv[2]))
for e in mine:
    assert e["status"] == "ok" and e["engine"] == sys.argv[1] and e["ranks"] == 3, e
    for other in threads:
        if all(other.get(k) == e.get(k) for k in ("op", "variant", "ranks", "bytes", "in_place", "from", "to")):
            assert other["by"] != "isomer" or other["verified"]["digest"] == e["verified"]["digest"], (e, other)
END
    # A signal to one of the others stops all of them, and what is there is kept.
    # shellcheck disable=SC2016 # the processes expand it
    timeout -k 5 600 "mpirun.$mpi" -np 2 sh -c 'echo $$ >"pid.${OMPI_COMM_WORLD_RANK-$PMI_RANK}"; exec "$@"' sh \
        "$tool" bench --comm --backend openmp --budget 600 --timeout 600 --op all_reduce --json stop.json >out 2>err &
    pid=$! tries=0 code=0
    until grep -q '"status": "ok"' stop.json 2>/dev/null || [ "$tries" -ge 6000 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -TERM "$(cat pid.1)"
    wait "$pid" || code=$?
    [ "$code" = 130 ] || fail "mpirun.$mpi, interrupted, ends with $code: $(cat out err)"
    says err "interrupted: results are kept"
    says stop.json '"complete": false' interrupted '"status": "ok"'
    lacks stop.json '"status": "error"'
    rm stop.json pid.?
    say "ranks under mpirun.$mpi"
done
