# SPDX-License-Identifier: Apache-2.0
# traps.sh - what a caller could plant to make a program run it. To be sourced.

# trap NAME FILE...: a library under these names, which creates $marks/NAME when it is loaded.
marks=$scratch/marks
mkdir "$marks"
trap_at() {
    name=$1
    shift
    "$cc" -shared -fPIC -DMARK="\"$marks/$name\"" -o "$scratch/trap.so" "$source_dir/tests/trust/trap.c"
    for file; do
        mkdir -p "${file%/*}"
        cp "$scratch/trap.so" "$file"
    done
}

# vendors_traps NAME FOLDER: traps with the names of all libraries that the backends search for.
vendors_traps() {
    trap_at "$1" "$2/libcuda.so.1" "$2/libamdhip64.so.5" "$2/libamdhip64.so.6" "$2/libamdhip64.so.7" \
        "$2/libOpenCL.so.1" "$2/libclblast.so.1" "$2/libopenblas.so.0" "$2/libnvrtc.so.12"
}

sprung() { [ -e "$marks/$1" ]; }
reset_traps() { rm -f "$marks"/*; }
