# SPDX-License-Identifier: Apache-2.0
# labs_kernels.sh verify|check: the kernels of the labs and of their exercises have the results of
# their references on the CPU, or: the judge finds nothing in them.
. "$ISOMER_TEST_COMMON"
export ISOMER_CC="$cc" ISOMER_CACHE_DIR=off
case $1 in
verify) set -- verify --backend openmp ;;
check) set -- check --backend openmp --only judge ;;
esac
cd "$source_dir/examples/labs"
for description in *.json; do
    text=${description%.json}.isk
    say "$text"
    "$tool" kernel "$@" "$text" >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "kernel $* $text"
    }
done
