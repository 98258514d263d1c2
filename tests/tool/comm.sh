# SPDX-License-Identifier: Apache-2.0
# comm.sh ENGINES: `isomer verify --comm` passes on the CPU device, on PoCL and with a second engine,
# with the same digests, and finds each bug that is planted in the engines of the folder ENGINES.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
ISOMER_BACKEND_PATH=$1
export ISOMER_BACKEND_PATH
cd "$scratch" || exit

comm() { # comm CODE OPTIONS...
    wanted=$1
    shift
    expect "$wanted" verify --comm "$@"
}
digest() { sed -n 's/^ *digest \([0-9a-f]*\) of [0-9]* cases$/\1/p' out; }
fixed() { sed -n 's/^ *digest \([0-9a-f]*\) of [0-9]* fixed.*/\1/p' out; }

# The CPU device has everything.
comm 0 --backend openmp --ranks 1,3 --bitwise --json comm.json --junit comm.xml
says out "openmp:0 threads, isomer" "1 rank 3 ranks" "passed, 0 failed, in"
lacks out unsupported
ours=$(digest) ours_fixed=$(fixed)
if [ -z "$ours" ] || [ -z "$ours_fixed" ]; then
    fail "there are no digests"
fi
says comm.json '"engine": "threads"' "\"digest_of_fixed\": \"$ours_fixed\"" \
    "\"digest_of_all\": \"$ours\"" '"call": "all_reduce"' '"way": "streams"'
says comm.xml 'classname="comm.ordered.f32"'

# A plain engine, so that the core makes the ordered sums: the same bits.
comm 0 --backend openmp --ranks 3 --variant ordered,fixed --bitwise
sums="$(digest) $(fixed)"
comm 0 --backend openmp --ranks 3 --engine engine-none --bitwise
says out "engine-none: this engine has no sum of f16"
[ "$(digest) $(fixed)" = "$sums" ] || fail "engines have other digests"
[ "$(fixed)" = "$ours_fixed" ] || fail "3 ranks have another digest of fixed sums"

# A world of one process. `fixed` sums do not depend on the number of ranks; `ordered` ones do.
comm 0 --backend openmp --engine engine-none --world --op all_reduce --dtype f64 --bitwise
world=$(digest) world_fixed=$(fixed)
for ranks in 1 2 3 5; do
    comm 0 --backend openmp --ranks $ranks --op all_reduce --dtype f64 --bitwise
    [ "$(fixed)" = "$world_fixed" ] || fail "$ranks ranks have another digest of fixed sums"
    if [ $ranks -eq 1 ]; then
        [ "$(digest)" = "$world" ] || fail "a world has another digest"
    else
        [ "$(digest)" != "$world" ] || fail "$ranks ranks have the digest of one"
    fi
done

# OpenCL, alone and mixed with the CPU device: what it has, with the same bits.
if "$tool" info --available opencl >available 2>&1; then
    comm 0 --backend openmp --ranks 3 --variant ordered --bitwise
    ordered=$(digest)
    comm 0 --backend opencl --ranks 3 --variant ordered --bitwise
    lacks out unsupported
    [ "$(digest)" = "$ordered" ] || fail "opencl has another digest"
    comm 0 --backend opencl --ranks 3 --variant move
    lacks out unsupported
    comm 0 --backend opencl,openmp --ranks 3 --op all_reduce,ring --dtype f32
    says out "opencl:0, openmp:0 threads"
else
    say "without OpenCL: $(cat available)"
fi

# fails_soon COMMAND: it exits with 1. A rank that does not wait may come late by chance, so on a
# loaded machine one run may miss it.
fails_soon() {
    for _ in 1 2 3 4 5 6 7 8; do
        code=0
        sh -c "$1" >out 2>err || code=$?
        [ "$code" -eq 0 ] || break
    done
    [ "$code" -eq 1 ] || fail "$1: exit code $code instead of 1"
}
# caught FAULT OPTIONS...: the planted bug is found, again by the command that repeats it, and not
# in a sound engine.
caught() {
    fault=$1
    shift
    fails_soon "'$tool' verify --comm --backend openmp --ranks 3 --engine engine-$fault --fail-fast $*"
    id=$(sed -n 's/.*--case \([^ ]*\).*/\1/p' out | head -n 1)
    again=$(sed -n 's/^ *repeat with: //p' out | head -n 1)
    fails_soon "$again"
    comm 0 --backend openmp --engine threads --case "$id"
    say "caught $fault: $id"
}
caught order --variant ordered --op sum
caught skip
caught skip --op all_gather
caught skip --variant ordered
caught stale --op all_to_all
caught stale --case "'comm/move/broadcast/*/again/*'"
caught nowait --op all_reduce --variant vendor
caught nowait --op barrier

# What makes no sense.
comm 2 --ranks 0
comm 2 --ranks 2 --invariance
comm 2 --inline
comm 2 --op gemm
comm 2 --world --ranks 2
comm 3 --backend openmp --engine none-such
says err 'there is no engine "none-such"'
comm 4 --backend openmp --engine engine-none --ranks 2 --op xor --variant vendor
says err "no case ran"
expect 2 verify --backend openmp --ranks 2
says err "--ranks is an option of --comm"
