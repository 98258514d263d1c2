# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share. $programs is the folder of list, compile and read.

# A tool that CI has to have.
absent() {
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$*"
    skip "$*"
}

# compile_all COMPILER LIBRARY ARCHITECTURE LIST OUTPUT FIRST STEP: every STEP-th program from FIRST on, by
# two processes. 77: no compiler.
compile_all() {
    mkdir -p "$5"
    "$programs/compile" "$1" "$2" "$3" "$4" "$5" "$6" $(($7 * 2)) >"$5/log.0" 2>&1 &
    first=$!
    other=0
    "$programs/compile" "$1" "$2" "$3" "$4" "$5" $(($6 + $7)) $(($7 * 2)) >"$5/log.1" 2>&1 || other=$?
    code=0
    wait "$first" || code=$?
    [ "$code" != 0 ] || code=$other
    if [ "$code" != 0 ]; then cat "$5/log.0" "$5/log.1"; fi
    return "$code"
}

# notes OUTPUT: the metadata of its code objects.
notes() {
    for object in "$1"/*.bin; do
        number=${object##*/}
        printf 'object %s\n' "${number%.bin}"
        "$readelf" --notes "$object"
    done
}

# whole_list CLASS: for examine; some kernels are made for class wave32 alone.
whole_list() {
    if [ "$1" = wave32 ]; then echo 1; else echo 2; fi
}

# examine LIST OUTPUT WHOLE: what AMD's compiler made of it. WHOLE: 0 a part of the list, 1 all of it, 2 all
# of it, for a class that does not need every kernel.
examine() {
    notes "$2" >"$2/notes" || return 1
    awk -v list="$1/list" -v whole="$3" -f "$here/metadata.awk" "$2/notes" && "$programs/read" "$2"/*.bin
}

# find_readelf: an LLVM of any version that knows AMD's notes.
find_readelf() {
    for readelf in llvm-readelf llvm-readelf-19 llvm-readelf-17 llvm-readelf-15 llvm-readelf-14 none; do
        if have "$readelf"; then return 0; fi
    done
    absent "llvm-readelf is not here: install llvm"
}
