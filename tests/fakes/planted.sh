# SPDX-License-Identifier: Apache-2.0
# planted.sh PROGRAM: the fakes detect each fault planted in or around a kernel, and report none for
# the same kernel without the fault, in both orders.
. "$ISOMER_TEST_COMMON"
need c++ g++
program=$1
fakes=$build_dir/tests/fakes
texts=$source_dir/kernels/dialect.h
planted=$source_dir/tests/fakes/planted/reverse.cl

# run COUNT WORD...: the program's output, on one line; its messages are in $scratch/err.
run() {
    count=$1
    shift
    "$program" "$fakes/cuda" "$texts" "$planted" 4 128 "$count" "$@" -DISO_THREADS=128 \
        2>"$scratch/err" || :
}
same() { [ "$2" = "$3" ] || { cat "$scratch/err"; fail "$1: '$2', not '$3'"; }; }
other() { [ "$2" != "$3" ] || fail "$1 was not seen: '$2'"; }
stops() {
    case $2 in
    "error "*" $3") ;;
    *) fail "$1 was not seen: '$2'" ;;
    esac
    grep -q "$4" "$scratch/err" || { cat "$scratch/err"; fail "$1: no message with '$4'"; }
    say "$1: $2"
    sed 's/^/    /' "$scratch/err"
}

good=$(run 512)
case $good in
"result "[0-9]*) ;;
*) cat "$scratch/err"; fail "the sound kernel: $good" ;;
esac
near=$(run 512 -DNEIGHBOUR)
reduced=$(run 512 -DSHUFFLE)
same "the sound kernel, last to first" "$(FAKE_ORDER=reverse run 512)" "$good"
same "a neighbour, last to first" "$(FAKE_ORDER=reverse run 512 -DNEIGHBOUR)" "$near"
same "a shuffle, last to first" "$(FAKE_ORDER=reverse run 512 -DSHUFFLE)" "$reduced"
same "work begun late" "$(FAKE_DELAY=2000 run 512)" "$good"

other "a missing barrier" "$(run 512 -DNO_BARRIER)" "$good"
first=$(run 512 -DONE_ORDER)
same "a missing barrier, first to last" "$first" "$near"
other "a missing barrier, last to first" "$(FAKE_ORDER=reverse run 512 -DONE_ORDER)" "$near"
stops "a barrier in a divergent branch" "$(run 512 -DDIVERGENT)" 719 "divergent barrier"
stops "two barriers for two halves" "$(run 512 -DLINES)" 719 "divergent barrier"
stops "a shuffle of half a warp" "$(run 512 -DHALF_SHUFFLE)" 719 "shuffle"
stops "a write behind the end" "$(run 512 -DBEYOND)" 700 "no memory"
stops "a write behind the end, before the next page" "$(run 500 -DSLACK)" 700 "behind the end"
stops "a write far behind the end" "$(run 512 -DFAR)" 700 "no memory"
other "a wrong order of arguments" "$(run 512 -DSWAPPED)" "$good"
other "a stream that is not waited for" "$(FAKE_DELAY=20000 run 512 no-wait)" "$good"

# The address sanitizer also sees errors inside a mapping. It must be first in the process.
case $("$program" 2>&1 || :) in
*AddressSanitizer*) sanitizer= ;;
*) sanitizer=$(c++ -print-file-name=libasan.so) ;;
esac
if [ -n "$sanitizer" ] && [ -f "$sanitizer" ]; then
    sanitized() { LD_PRELOAD=$sanitizer ASAN_OPTIONS=detect_leaks=0 FAKE_ASAN=1 run "$@"; }
    same "the sound kernel, sanitized" "$(sanitized 512)" "$good"
    other "a read behind shared memory" "$(sanitized 512 -DBEYOND_SHARED)" "$(run 512 -DBEYOND_SHARED)"
    sanitized 512 -DBEYOND_SHARED
    grep -q "global-buffer-overflow" "$scratch/err" ||
        { cat "$scratch/err"; fail "a read behind shared memory was not seen"; }
else
    say "SKIP: the address sanitizer's library is not here"
fi
