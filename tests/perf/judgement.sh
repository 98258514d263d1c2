# SPDX-License-Identifier: Apache-2.0
# judgement.sh BACKEND SLOWER: the verdicts of --against. Ten runs (two on a GPU) of the tool
# against itself: at most 2 % of the cases may be called FASTER or SLOWER. Ten runs (five on a GPU)
# against itself with SLOWER preloaded, which makes it 5 % slower: a product must be found in each,
# a stream kernel in all but one (on a GPU, in each).
. "$ISOMER_TEST_COMMON"
backend=$1
slower=$(preloadable "$2")
"$tool" info --backend "$backend" >/dev/null 2>"$scratch/why" || skip "$(cat "$scratch/why")"

cat >"$scratch/slower" <<END
#!/bin/sh
SLOWER_PART=\$PLANTED_PART LD_PRELOAD=$slower exec "$tool" "\$@"
END
chmod +x "$scratch/slower"
# With shared cores, 36 pairs of a product find 5 % in six runs of ten.
runs=10 self_runs=10 self_pairs=10 product_pairs=150 stream_pairs=48 product=1024 stream=beyond-cache missed=1
product_part=32 stream_part=20 # one in so many of the work: see slower.c
if [ "$backend" != openmp ]; then
    # A GPU is quiet, and its processes start slowly: smaller sizes, fewer pairs.
    runs=5 self_runs=2 product_pairs=10 stream_pairs=10 product=2048 stream=32Mi missed=0
    product_part=80 stream_part=18
fi

# verdicts FILE: the number of each.
verdicts() {
    for verdict in SAME AMBIGUOUS FASTER SLOWER; do
        printf '%s %s ' "$verdict" "$(grep -c "\"verdict\": \"$verdict\"" "$1" || true)"
    done
}
measure() { # measure FILE PAIRS OPTIONS...
    file=$1 pairs=$2
    shift 2
    "$tool" bench --backend "$backend" --rounds "$pairs" --budget 600 --json "$file" "$@" \
        >"$scratch/out" 2>"$scratch/err" || {
        cat "$scratch/out" "$scratch/err"
        fail "bench $* ends with $?"
    }
}

# A sample of everything, short enough that ten runs of ten pairs end: a quarter of a second per
# visit.
cat >"$scratch/self-suite.json" <<'END'
{
  "schema": "isomer-suite/1",
  "cases": [
    {"op": "gemm", "variant": ["naive", "tiled"], "dtype": ["f32", "f64"], "size": 256},
    {"op": "gemm", "variant": ["tiled", "vendor"], "dtype": "f32", "size": 640},
    {"op": "gemm", "variant": "tiled", "dtype": "f32", "m": 64, "n": 64, "k": 16384},
    {"op": "triad", "dtype": ["f32", "f64"], "size": ["256Ki", "8Mi"]},
    {"op": "stream", "kind": "copy", "dtype": "f64", "size": "4Mi"},
    {"op": "reduce", "kind": ["sum", "max"], "axis": ["all", "0"], "rows": 2048, "cols": 1024},
    {"op": "transpose", "variant": "tiled", "size": [512, 2048]},
    {"op": "transfer", "kind": "write", "variant": "pageable", "size": "8Mi"}
  ]
}
END
cases=0 called=0
for run in $(seq "$self_runs"); do
    measure "$scratch/self.json" "$self_pairs" --self-check --suite "$scratch/self-suite.json"
    # shellcheck disable=SC2046 # eight words
    set -- $(verdicts "$scratch/self.json")
    say "self-check $run: $*"
    cases=$((cases + $2 + $4 + $6 + $8))
    called=$((called + $6 + $8))
done
say "self-checks: $called of $cases cases called FASTER or SLOWER"

found() { # found NAME PAIRS OPTIONS...: in how many runs the planted slowness is found
    name=$1 among=$2 count=0
    shift 2
    for run in $(seq "$runs"); do
        measure "$scratch/planted.json" "$among" --against "$scratch/slower" "$@"
        say "$name $run: $(verdicts "$scratch/planted.json")" \
            "$(sed -n 's/.*"ratio": \([0-9.]*\).*/ratio \1/p' "$scratch/planted.json" | cut -c1-12)"
        if grep -q '"verdict": "SLOWER"' "$scratch/planted.json"; then
            count=$((count + 1))
        fi
    done
    say "$name: found in $count of $runs"
}
export PLANTED_PART=$product_part
found product "$product_pairs" --op gemm --variant tiled --dtype f32 --size "$product"
products=$count
PLANTED_PART=$stream_part
found stream "$stream_pairs" --op triad --variant tiled --dtype f64 --size "$stream"
streams=$count

[ $((called * 50)) -lt "$cases" ] || fail "$called of $cases cases are called different from themselves"
[ "$products" -eq "$runs" ] || fail "a product that is 5 % slower is found in $products of $runs runs"
[ "$streams" -ge $((runs - missed)) ] ||
    fail "a stream kernel that is 5 % slower is found in $streams of $runs runs"
