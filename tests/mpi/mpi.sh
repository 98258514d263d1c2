# SPDX-License-Identifier: Apache-2.0
# mpi.sh NAME PLUGIN SMALL OTHER JOB PROGRAM: the engine NAME under its launcher. SMALL is the same
# plug-in with a small limit of counts, OTHER the plug-in of the other MPI; paths are empty where
# that MPI is missing. JOB and PROGRAM are the programs of this folder.
. "$ISOMER_TEST_COMMON"
name=$1 plugin=$2 small=$3 other=$4 job=$5 program=$6
launcher=mpirun.$name
if [ "$name" = openmpi ]; then
    need "$launcher" "openmpi-bin libopenmpi-dev"
    second=mpich
else
    need "$launcher" "mpich libmpich-dev"
    second=openmpi
fi
if [ -z "$plugin" ]; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "the engine $name was not built: install lib$name-dev"
    skip "the engine $name was not built: install lib$name-dev"
fi

# As root, in a container, with more processes than processors, and with their files in $scratch.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
TMPDIR=$scratch
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_btl_vader_single_copy_mechanism TMPDIR

# start RANKS PLUGIN MODES: a job; its exit code is in $code, its output in the file out.
start() {
    code=0
    rm -rf "$scratch/shared"
    mkdir "$scratch/shared"
    timeout -k 5 900 "$launcher" -np "$1" "$job" "$2" "$3" "$scratch/shared" >"$scratch/out" 2>&1 ||
        code=$?
    [ "$code" != 124 ] || {
        cat "$scratch/out"
        fail "$3 with $1 ranks hangs"
    }
}

# all_passed RANKS WHAT: each process has passed.
all_passed() {
    [ "$(grep -o passed "$scratch/out" | wc -l)" = "$1" ] || {
        cat "$scratch/out"
        fail "$2 with $1 ranks: exit code $code"
    }
}

for part in 1:operations,groups,subgroups 2:groups,subgroups 3:operations,threads 4:short,groups,threads,subgroups; do
    start "${part%%:*}" "$plugin" "${part#*:}"
    all_passed "${part%%:*}" "${part#*:}"
    [ "$code" = 0 ] || fail "a job that passes ends with $code"
done
start 3 "$small" short
all_passed 3 "counts above the limit"

# After a failure MPI may not be finalised, and launchers report that: only the processes count.
for mode in timeout absent interrupted mistakes counts; do
    start 3 "$plugin" "$mode"
    all_passed 3 "$mode"
done

# A process that is killed ends the job.
start 3 "$plugin" killed
[ "$code" != 0 ] || fail "a job with a killed process ends with 0"
lacks "$scratch/out" passed

# Without a launcher, and with the other MPI's.
"$job" "$plugin" "not-started:was not started by" "$scratch" >"$scratch/out" 2>&1 || code=$?
all_passed 1 "no launcher"
if have "mpirun.$second"; then
    timeout -k 5 900 "mpirun.$second" -np 1 "$job" "$plugin" "not-started:was started by the launcher of" \
        "$scratch" >"$scratch/out" 2>&1 || true
    all_passed 1 "the launcher of $second"
fi

# try LEVEL WORD PLUGIN: in a program that uses MPI itself.
try() {
    code=0
    timeout -k 5 900 "$launcher" -np 2 "$program" "$3" "$1" "$2" >"$scratch/out" 2>&1 || code=$?
    all_passed 2 "a program that initialises MPI with level $1"
}
try 3 "" "$plugin"
try 2 "" "$plugin"
try 1 "MPI grants thread level 1" "$plugin"
[ -z "$other" ] || try 3 "the MPI that this process has loaded is" "$other"
say "$(nproc) processors"
