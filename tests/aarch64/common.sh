# SPDX-License-Identifier: Apache-2.0
# common.sh: builds isomer for aarch64 and runs it under qemu-user.
. "$source_dir/tests/rebuild/rebuild.sh"
. "$source_dir/tests/digests/list.sh"

cross=aarch64-linux-gnu-gcc
qemu="qemu-aarch64"
have $qemu || qemu="qemu-aarch64-static"
need $cross gcc-aarch64-linux-gnu
need $qemu qemu-user
[ -f /usr/aarch64-linux-gnu/include/stdio.h ] || skip "no C library for aarch64: install libc6-dev-arm64-cross"
[ "$($cross -dumpversion | cut -d. -f1)" -ge 12 ] || skip "$cross is older than 12, which isomer needs"
roots=$build_dir/aarch64
[ -f "$roots/complete" ] || skip "no jansson and xxhash for aarch64: get them with cmake/aarch64-packages.sh $roots"
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu

# cross_build NAME OPTIONS...: builds it in $rebuilt, without a warning.
cross_build() {
    rebuild_name=aarch64-$1
    shift
    rebuild aarch64 -DISOMER_WERROR=ON -DISOMER_TESTS=OFF -DISOMER_AARCH64_ROOT="$roots" "$@"
    emulated=$rebuilt/bench/isomer
    file=$(od -An -tx1 -j18 -N2 "$emulated" | tr -d ' \n')
    [ "$file" = b700 ] || fail "$emulated is not a program for aarch64: its machine is $file"
}

# isa NAME CPU: with this processor the kernels of this instruction set are chosen.
isa() {
    ISOMER_BACKEND=openmp "$qemu" -cpu "$2" "$emulated" info --all >"$scratch/info" ||
        fail "isomer info fails with -cpu $2"
    tr -s ' \n' '  ' <"$scratch/info" >"$scratch/line"
    grep -qF " aarch64 $1," "$scratch/line" || {
        cat "$scratch/info"
        fail "the architecture is not \"aarch64 $1\" with -cpu $2"
    }
    grep -qF "instruction set $1 (the best of this processor" "$scratch/line" ||
        fail "the instruction set is not $1 with -cpu $2"
    say "-cpu $2: $1"
}

# plant FILE: a library in $scratch/planted in whose NEON kernels of this file fma rounds twice.
plant() {
    object=$(cd "$rebuilt" && find . -name "$1.c.o" -path '*isomer_kernels_neon*' | sed 's|^\./||')
    line=$(grep -E "\"command\":.*isomer_kernels_neon.*/kernels/$1\.c\"" "$rebuilt/compile_commands.json")
    compile=$(printf '%s\n' "$line" | sed 's/^ *"command": "//; s/",*$//; s/\\"/"/g')
    if [ -f "$rebuilt/CMakeFiles/isomer.dir/link.txt" ]; then
        link=$(cat "$rebuilt/CMakeFiles/isomer.dir/link.txt")
    else
        link=$(ninja -C "$rebuilt" -t commands isomer | grep -e ' -shared ' | sed 's/^: && //; s/ && :$//')
    fi
    rm -rf "$scratch/planted"
    mkdir "$scratch/planted"
    file=$(cd "$rebuilt/lib" && echo libisomer.so.*.*)
    name=${file%.*.*}
    (
        cd "$rebuilt"
        eval "$compile -include '$source_dir/tests/aarch64/planted.h' -o '$scratch/planted/kernels.o'"
        eval "$(printf '%s\n' "$link" |
            sed "s|$object|$scratch/planted/kernels.o|; s|-o [^ ]*libisomer[^ ]*|-o $scratch/planted/$name|")"
    ) >"$scratch/plant.log" 2>&1 || {
        cat "$scratch/plant.log"
        fail "the planted build of $1.c"
    }
    [ -f "$scratch/planted/$name" ] || fail "no planted library was linked"
}

# kernels_program FOLDER CC LIBRARIES: a program with kernels that this machine's tool and this compiler
# embed.
kernels_program() {
    mkdir "$1" "$1/more_first"
    for embedded in "first 2.0f ." "second 2.0f ." "first 3.0f more_first --name more_first"; do
        # shellcheck disable=SC2086 # the text, its gain, the folder and options
        set -- "$1" "$2" "$3" $embedded
        text=$4 gain=$5 into=$1/$6 folder=$1 compiler=$2 libraries=$3
        shift 6
        "$tool" kernel embed "$source_dir/tests/install/kernels/$text.isk" --output "$into" --cc "$compiler" \
            --define "GAIN=$gain" --define 'TERM=(x[at] * 0.1f)' "$@" 2>"$scratch/log" || {
            cat "$scratch/log"
            fail "$text.isk is not embedded by $compiler"
        }
        set -- "$folder" "$compiler" "$libraries"
    done
    "$2" -I "$1" -I "$source_dir/include" -o "$1/use" "$source_dir/tests/install/kernels/use.c" "$1"/*.o "$1"/*/*.o \
        -L "$3" -Wl,-rpath,"$3" -lisomer -lm || fail "$1 does not link"
}

# kernels_run CPU SET...: embedded kernels give the digests of this machine's program. Needs
# kernels_program for both.
kernels_run() {
    cpu=$1
    shift
    for set; do
        ISOMER_BACKEND=openmp "$qemu" -cpu "$cpu" -E ISOMER_CPU_ISA="$set" -E ISOMER_LOG=debug "$scratch/arm-kernels/use" \
            >"$scratch/arm.out" 2>"$scratch/arm.err" || { cat "$scratch/arm.err"; fail "the kernels fail on aarch64, $set"; }
        diff "$scratch/here.out" "$scratch/arm.out" || fail "aarch64, $set: embedded kernels give other bits"
        wanted=$set
        [ "$set" != neon ] || wanted=generic # which is the same
        grep -q "embedded kernels for $wanted" "$scratch/arm.err" || fail "$set: other functions were taken"
    done
}
kernels_both() {
    kernels_program "$scratch/here-kernels" "$cc" "$(dirname "$library")"
    kernels_program "$scratch/arm-kernels" "$cross" "$rebuilt/lib"
    ISOMER_BACKEND=openmp "$scratch/here-kernels/use" >"$scratch/here.out" || fail "embedded kernels fail"
}
