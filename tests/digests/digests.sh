# SPDX-License-Identifier: Apache-2.0
# digests.sh FAST_MATH_LIBRARY SUBNORMALS STATES_LIBRARY REFERENCE_FOLDER PLAIN: all of these give the
# digests of the plain run, which conformance.openmp wrote to the file PLAIN: thread counts, instruction sets, inline streams, another implementation,
# a process without subnormal numbers, and calls in every rounding mode, with traps, and with x87
# registers in single precision.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/digests/list.sh"
fast_math=$(preloadable "$1")
subnormals=$2
states=$(preloadable "$3")
reference=$4
plain=$5

"$subnormals" || fail "this process has no subnormal numbers even without the library"
if LD_PRELOAD=$fast_math "$subnormals"; then
    fail "the library does not turn subnormal numbers off: this test would prove nothing"
fi

[ -s "$plain" ] || fail "$plain is not here: conformance.openmp writes it"
digests_of "$plain" >"$scratch/plain"
[ "$(wc -l <"$scratch/plain")" -gt 3000 ] || fail "only $(wc -l <"$scratch/plain") digests in $plain"
say "plain: $(wc -l <"$scratch/plain") digests"

# "instruction set  avx512 (the best of this processor; available: generic, avx2, avx512)"
ISOMER_BACKEND=openmp "$tool" info --all >"$scratch/info" || fail "isomer info fails"
tr '\n' ' ' <"$scratch/info" | sed -n 's/.*instruction set[^;]*; *available: *\([a-z0-9, ]*\)).*/\1/p' |
    tr ',' '\n' | tr -d ' ' >"$scratch/available"
grep -qx generic "$scratch/available" || fail "isomer info does not list the instruction sets"
# The plain run uses the best instruction set.
best=$(sed -n 's/.*instruction set  *\([a-z0-9]*\).*/\1/p' "$scratch/info" | head -n 1)
[ -n "$best" ] || fail "isomer info does not say which instruction set is the best"

# after STATE COMMAND...: the digests of that command in a process that has loaded a -ffast-math
# library and calls isomer in that floating-point state.
after() {
    state=$1
    shift
    rm -f "$scratch/calls"
    digests "$scratch/other" env LD_PRELOAD="$fast_math $states" FP_STATE="$state" FP_STATE_CALLS="$scratch/calls" "$@"
    [ "$(cat "$scratch/calls")" -gt 1000 ] || fail "only $(cat "$scratch/calls") calls were made in the state $state"
}

# The lines of the plain run whose cases are in $scratch/other.
part_of_plain() {
    awk 'NR == FNR { has[$1] = 1; next } $1 in has' "$scratch/other" "$scratch/plain" >"$scratch/part"
    [ "$(wc -l <"$scratch/part")" -gt 300 ] || fail "only $(wc -l <"$scratch/part") cases"
}

# run WHAT STATE [SETTING=VALUE | --OPTION]...: a run in that state, with those settings and options, against
# the plain one.
run() {
    what=$1
    state=$2
    shift 2
    option=
    for argument; do # options go to the tool
        shift
        case $argument in --*) option=$argument ;; *) set -- "$@" "$argument" ;; esac
    done
    # shellcheck disable=SC2086 # several words
    after "$state" "$@" "$tool" verify --backend openmp ${option:+"$option"} $some
    part_of_plain
    same "after a -ffast-math library, $what, $state $option $some" "$scratch/part" "$scratch/other"
}

# What is tried, in as few runs as possible, because each costs seconds: if the digests differ, the
# line names all of it.
some=
set -- "upward,flush,traps ISOMER_NUM_THREADS=1" "zero,single ISOMER_NUM_THREADS=3" \
    "downward,flush,traps,single --inline"
for isa in generic neon sve256 sve512 avx2 avx512 avx512vnni; do
    if [ "$isa" = "$best" ]; then
        say "instruction set $isa: the plain run"
    elif grep -qx $isa "$scratch/available"; then
        # shellcheck disable=SC2086 # several words
        run "instruction set $isa" ${1:-upward,flush,traps} ISOMER_CPU_ISA=$isa
        [ $# = 0 ] || shift
    else
        say "instruction set $isa: not on this processor"
    fi
done
some="--dtype f32,i32" # the states that are left
for left; do
    # shellcheck disable=SC2086 # several words
    run "the best instruction set" $left
done

# A GPU backend prepares its arguments in the calling thread.
after downward,flush,traps,single ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" "$tool" verify --backend cuda \
    --op map --variant naive --dtype f32,f64
grep -E '^map/naive/(f32|f64)[-/]' "$scratch/plain" >"$scratch/part"
same "the stand-in for CUDA, downward, with traps" "$scratch/part" "$scratch/other"

# The tool's own reference checks the plain run; that plug-in is a second one.
digests "$scratch/other" env ISOMER_BACKEND_PATH="$reference" "$tool" verify --backend reference --dtype f64,bf16,i64,e1,e16
part_of_plain
same "the reference plug-in" "$scratch/part" "$scratch/other"
