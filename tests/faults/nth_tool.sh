# SPDX-License-Identifier: Apache-2.0
# nth_tool.sh STARVE_LIBRARY SAMPLES: allocations of the tool and of libisomer that fail, each alone
# or with all later ones, in each command: SAMPLES of them, evenly spread. The command ends with 0,
# 1 (a case could not run), 4 (none could) or 70, with a message. It never crashes and leaves no
# partial file, and a file written with exit code 0 is the same as without failures.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
starve=$(preloadable "$1")
samples=$2
work=$scratch/work
mkdir "$scratch/vendors" "$scratch/cache"
chmod 700 "$scratch/cache"
# OpenCL's platforms and the CUDA fakes have tests of their own.
export OCL_ICD_VENDORS="$scratch/vendors" ISOMER_CACHE_DIR="$scratch/cache" ISOMER_NUM_THREADS=1
results=$source_dir/bench/results/bench-quick-epyc.json

# run HOW COMMAND...: runs it in an empty folder; its exit code is in $code.
run() {
    how=$1
    shift
    rm -rf "$work"
    mkdir "$work"
    code=0
    (cd "$work" && exec timeout 120 env LD_PRELOAD="$starve" ISOMER_TEST_STARVE="$how" \
        ISOMER_TEST_STARVE_LOG="$scratch/log" "$tool" "$@") >"$scratch/out" 2>"$scratch/err" || code=$?
}

bad() {
    cat "$scratch/err"
    fail "allocation $how of \`isomer $*\`: $why"
}

# Keeps what is the same in each run: no times, no sensor readings.
steady() { grep -vE '"?(sensors|memory_free|now|[a-z_]*mhz|busy_percent|temperature[a-z_]*|"load"|seconds|began|time)|free;| in [0-9.]+ m?s' "$1" || true; }

# judge COMMAND...
judge() {
    why=''
    case $code in
    0 | 1) ;;
    4) grep -q NO_MEMORY "$scratch/out" || why="ends with 4 and no word of memory" ;;
    70) grep -q '^isomer: ..*' "$scratch/err" || why="ends with 70 and no message" ;;
    *) why="ends with $code" ;;
    esac
    [ -z "$why" ] || bad "$@"
    # Measured results are kept, as a complete document.
    if [ "$code" = 70 ]; then
        for file in "$work"/* "$work"/.[!.]*; do
            [ -e "$file" ] || continue
            file=${file##*/}
            case $1,$file in
            bench,bench.json | reveal,reveal.json)
                "$tool" compare "$work/$file" "$work/$file" >"$scratch/kept" 2>&1 && continue ;;
            esac
            why="leaves $file"
            bad "$@"
        done
    fi
    if [ "$code" = 0 ] && [ "$1" = info ]; then
        steady "$scratch/out" >"$scratch/steady"
        cmp -s "$scratch/whole" "$scratch/steady" || {
            diff "$scratch/whole" "$scratch/steady" || true
            why="ends with 0 and tells something else"
            bad "$@"
        }
    fi
    if [ "$code" = 0 ] && [ "$1" = vectors ]; then
        cmp "$scratch/vectors.jsonl" "$work/vectors.jsonl" || {
            why="ends with 0 and writes another file"
            bad "$@"
        }
    fi
}

# tries WHICH COMMAND...: WHICH failures are tried: "one", "all" (from it on), or both.
tries() {
    which=$1
    shift
    run 0 "$@"
    [ "$code" = 0 ] || { cat "$scratch/out" "$scratch/err"; fail "isomer $* ends with $code"; }
    steady "$scratch/out" >"$scratch/whole"
    [ "$1" != vectors ] || cp "$work/vectors.jsonl" "$scratch/vectors.jsonl"
    count=$(sed -n 's/^allocations \([0-9]*\) refused 0$/\1/p' "$scratch/log")
    [ "${count:-0}" -gt 20 ] || fail "isomer $*: ${count:-no} allocations: nothing would be tried"
    # After its start a run measures, which takes seconds each time.
    [ "$1" != bench ] || [ "$samples" -ge 100 ] || [ "$count" -lt 1000 ] || count=$((count / 20))
    step=$((count / samples + 1))
    : >"$scratch/codes"
    n=$((step / 2 + 1))
    while [ "$n" -le "$count" ]; do
        for how in "$n" "$n+"; do
            case $which,$how in one,*+ | all,*[0-9]) continue ;; esac
            run "$how" "$@"
            judge "$@"
            grep -q 'refused 0$' "$scratch/log" && [ "$code" = 0 ] && [ "$n" -lt $((count / 2)) ] && {
                why="nothing was refused"
                bad "$@"
            }
            echo "$code" >>"$scratch/codes"
        done
        n=$((n + step))
    done
    say "$(sort "$scratch/codes" | uniq -c | tr -s ' \n' ' '): isomer $*, $count allocations"
}

each() {
    tries both info --json info.json
    tries both verify --backend openmp --op sum,transfer --dtype f32 --json verify.json --junit verify.xml
    # The whole command takes seconds; with everything failing it ends at once.
    tries all bench --backend openmp --op copy --dtype f32 --size 4Ki --rounds 3 --json bench.json
}
each
tries both reveal --backend openmp --variant tiled --dtype f32 --size 4x4x40 --json reveal.json
tries both errors --backend openmp --dtype f32 --size 4x4x9 --input uniform --json errors.json
tries both vectors --count 20 --out vectors.jsonl
tries both compare "$results" "$results" --json compare.json
tries all report "$results" --output page.html
[ "$samples" -lt 100 ] || tries one report "$results" --output page.html
# Only the library's: the tool is told, and has to tell.
export ISOMER_TEST_STARVE_LIBRARY=1
each
