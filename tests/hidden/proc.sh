# SPDX-License-Identifier: Apache-2.0
# proc.sh HIDE_LIBRARY: without /proc the size of the machine's memory is unknown, not 0; a limit
# that is a share of it is refused with the reason; everything else works.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
hide=$(preloadable "$1")
log=$scratch/refused

# hidden CODE COMMAND...: runs it with its output in $scratch/out and $scratch/err.
hidden() {
    wanted=$1
    shift
    code=0
    env LD_PRELOAD="$hide" ISOMER_TEST_HIDDEN_LOG="$log" ISOMER_CACHE_DIR=off OMP_NUM_THREADS=2 \
        "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] && return
    cat "$scratch/out" "$scratch/err"
    fail "exit code $code, not $wanted: $*"
}
says() { grep -qF -- "$1" "$scratch/$2" || { cat "$scratch/$2"; fail "no \"$1\": $3"; }; }

hidden 0 "$tool" info --all --backend openmp --json "$scratch/json"
grep -q '^/proc/meminfo$' "$log" || fail "/proc/meminfo was not asked for: this test would prove nothing"
grep -qE '^    memory +unknown' "$scratch/out" || { cat "$scratch/out"; fail "memory is not unknown"; }
grep -q '"memory_total": null' "$scratch/json" || fail "memory_total is not null"

hidden 2 env ISOMER_MEMORY_LIMIT=50% "$tool" verify --backend openmp --op stream
says 'ISOMER_MEMORY_LIMIT is "50%"' err "a share of an unknown memory"
says 'does not report the memory size' err "the reason"
hidden 0 env ISOMER_MEMORY_LIMIT=64M "$tool" verify --backend openmp --op stream

hidden 0 "$tool" verify --backend openmp --op transfer,sum,gemm --dtype f32
tail -n 1 "$scratch/out"
hidden 0 "$tool" bench --backend openmp --op copy --dtype f32 --size 64Ki --budget 1 \
    --json "$scratch/json"
grep -q '"memory_total": null' "$scratch/json" || fail "the results' memory_total is not null"
hidden 0 "$tool" report "$scratch/json" --output "$scratch/page.html"
# Other devices are listed, none with a memory size of 0.
hidden 0 "$tool" info --all
! grep -qE '^    memory +(-|0 B)' "$scratch/out" || { cat "$scratch/out"; fail "a memory of nothing"; }
