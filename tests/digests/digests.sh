# SPDX-License-Identifier: Apache-2.0
# digests.sh FAST_MATH_LIBRARY SUBNORMALS REFERENCE_FOLDER: thread counts, instruction sets, inline streams, another
# implementation and a process without subnormal numbers all give the digests of the plain run.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/digests/list.sh"
fast_math=$1
subnormals=$2
reference=$3

verify() {
    file=$1
    shift
    digests "$file" "$@" "$tool" verify --backend openmp
}

"$subnormals" || fail "this process has no subnormal numbers even without the library"
if LD_PRELOAD=$fast_math "$subnormals"; then
    fail "the library does not turn subnormal numbers off: this test would prove nothing"
fi

verify "$scratch/plain" env
say "plain: $(wc -l <"$scratch/plain") digests"

# "instruction set  avx512 (the best of this processor; available: generic, avx2, avx512)"
ISOMER_BACKEND=openmp "$tool" info >"$scratch/info" || fail "isomer info fails"
tr '\n' ' ' <"$scratch/info" | sed -n 's/.*instruction set[^;]*; *available: *\([a-z0-9, ]*\)).*/\1/p' |
    tr ',' '\n' | tr -d ' ' >"$scratch/available"
grep -qx generic "$scratch/available" || fail "isomer info does not list the instruction sets"
# The plain run is the best one's.
best=$(sed -n 's/.*instruction set  *\([a-z0-9]*\).*/\1/p' "$scratch/info" | head -n 1)
[ -n "$best" ] || fail "isomer info does not say which instruction set is the best"
# Several things at once that may not matter, since each run costs seconds: a file that differs names them.
set -- 1 3 # numbers of threads that are still to be tried
for isa in generic neon avx2 avx512; do
    if [ "$isa" = "$best" ]; then
        say "instruction set $isa: the plain run"
    elif grep -qx $isa "$scratch/available"; then
        verify "$scratch/other" env LD_PRELOAD="$fast_math" ISOMER_CPU_ISA=$isa ${1:+ISOMER_NUM_THREADS="$1"}
        same "after a -ffast-math library, instruction set $isa${1:+, threads: $1}" "$scratch/plain" "$scratch/other"
        [ $# = 0 ] || shift
    else
        say "instruction set $isa: not on this processor"
    fi
done
for threads; do
    verify "$scratch/other" env LD_PRELOAD="$fast_math" ISOMER_NUM_THREADS="$threads"
    same "after a -ffast-math library, threads: $threads" "$scratch/plain" "$scratch/other"
done

verify "$scratch/other" env LD_PRELOAD="$fast_math"
same "after a -ffast-math library" "$scratch/plain" "$scratch/other"
digests "$scratch/other" env LD_PRELOAD="$fast_math" "$tool" verify --backend openmp --inline
same "after a -ffast-math library, inline streams" "$scratch/plain" "$scratch/other"

digests "$scratch/other" env ISOMER_BACKEND_PATH="$reference" "$tool" verify --backend reference
same "the reference plug-in" "$scratch/plain" "$scratch/other"
