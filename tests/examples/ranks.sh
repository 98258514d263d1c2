# SPDX-License-Identifier: Apache-2.0
# ranks.sh PROGRAM WHERE RANKS [PLUGIN]: lab D over ranks with small sizes, once for each number of the
# list RANKS. WHERE is a backend, or its stand-in, and ranks are threads; or it is an MPI, whose
# plug-in is PLUGIN, and they are processes. The program compares its results with one device's.
. "$ISOMER_TEST_COMMON"
program=$1 where=$2 ranks=$3 plugin=${4:-}
export ISOMER_CACHE_DIR=off

# run COMMAND...: it must agree.
run() {
    code=0
    timeout -k 5 120 "$@" >"$scratch/out" 2>&1 || code=$?
    cat "$scratch/out"
    [ "$code" -eq 0 ] || fail "$* ends with $code"
    says "$scratch/out" "Every rank has the bits of one device."
}

# refused CODE TEXT OPTIONS...: with this text.
refused() {
    wanted=$1 text=$2 code=0
    shift 2
    "$program" "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "$*: exit code $code instead of $wanted"
    says "$scratch/out" "$text"
}

case $where in
openmpi | mpich)
    need "mpirun.$where" "$where-bin"
    [ -n "$plugin" ] || skip "the engine $where was not built: install lib$where-dev"
    # As root, in a container, with more processes than processors, and with files in $scratch.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$scratch" \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
        ISOMER_BACKEND=openmp ISOMER_BACKEND_PATH="${plugin%/*}"
    for count in $ranks; do
        run "mpirun.$where" -np "$count" "$program" --small --world
        says "$scratch/out" "engine $where"
    done
    exit 0
    ;;
cuda | hip)
    have c++ || skip "c++ is not here: install g++"
    export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip" \
        FAKE_DEVICES=4
    # The leak checker cannot walk the storage of threads in kernels that were unloaded.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    ;;
opencl)
    "$tool" info --backend opencl >/dev/null 2>"$scratch/why" || {
        ! required opencl || fail "$(cat "$scratch/why")"
        skip "$(cat "$scratch/why")"
    }
    ;;
esac
export ISOMER_BACKEND="$where"
for count in $ranks; do
    run "$program" --small --ranks "$count"
done
[ "$where" = openmp ] || exit 0
# Blocks and strips of other sizes, and blocks without rows.
run "$program" --small --size 61 --ranks 4
run "$program" --small --size 12 --ranks 7
for wrong in --smal --ranks "--ranks 0" "--ranks 65" "--size x"; do
    # shellcheck disable=SC2086 # an option and its value
    refused 2 "usage: $program [--small]" $wrong
done
case $program in
*diffuse_ranks) refused 1 "A field of 7 rows cannot be cut into 8 strips" --small --size 7 --ranks 8 ;;
esac
