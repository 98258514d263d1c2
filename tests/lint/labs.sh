# SPDX-License-Identifier: Apache-2.0
# labs.sh: every command in docs/labs.md runs, one after another, on the installed copy and on the
# CPU; programs get --small, and kernels are embedded for one instruction set. wrap.py is left out,
# by name, without NumPy, and mpirun without an engine for it.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
need make make
need pkg-config pkg-config
need python3 python3
install_here
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name isomer.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libisomer.so.0)")
# The build and install.kernels embed kernels for every instruction set, which takes long here.
mkdir "$scratch/bin"
cat >"$scratch/bin/isomer" <<END
#!/bin/sh
[ "\$1 \$2" != "kernel embed" ] || set -- "\$@" --sets generic
exec "$prefix/bin/isomer" "\$@"
END
chmod +x "$scratch/bin/isomer"
PATH=$scratch/bin:$PATH
export PKG_CONFIG_PATH LD_LIBRARY_PATH PATH CC="$cc" MAKEFLAGS=-j2
export ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off

page=$source_dir/docs/labs.md
awk '$0 == "```sh" { on = 1; next } /^```/ { on = 0 } on' "$page" |
    sed -E '/(\.\/[a-z_]+( --ranks [0-9]+| --world)?|wrap\.py)$/s/$/ --small/' >"$scratch/commands"
grep -q '^\./a_matrix --small$' "$scratch/commands" || fail "the page does not run ./a_matrix"
if ! python3 -c 'import numpy' 2>/dev/null; then
    say "NumPy is not here: wrap.py is not tried"
    sed -i '/wrap\.py/d' "$scratch/commands"
fi
# The plain mpirun is Open MPI's or another's.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_btl_vader_single_copy_mechanism=none TMPDIR="$scratch"
case $(mpirun --version 2>&1) in
*OpenRTE* | *"Open MPI"*) engine=openmpi ;;
*HYDRA*) engine=mpich ;;
*) engine=none ;;
esac
if [ -z "$(find "$prefix" -name "isomer-$engine.so")" ]; then
    say "mpirun is not here, or this build has no engine for it: it is not tried"
    sed -i '/^mpirun/d' "$scratch/commands"
fi
mkdir "$scratch/run"
cd "$scratch/run"
sh -eux "$scratch/commands" >"$scratch/out" 2>&1 </dev/null || {
    cat "$scratch/out"
    fail "a command of docs/labs.md fails"
}
grep '^+' "$scratch/out"
python3 -c 'import json; assert json.load(open("labs/trace.json"))' || fail "the time line is no JSON"

# Every program is on the page, and what the page says of their length is true.
grep -l '^int main(' "$source_dir"/examples/labs/*.c >"$scratch/programs"
while read -r program; do
    name=$(basename "$program" .c)
    grep -q "$name" "$page" || fail "docs/labs.md does not name $name"
    [ "$(wc -l <"$program")" -lt 200 ] || fail "$program has 200 lines or more"
done <"$scratch/programs"
