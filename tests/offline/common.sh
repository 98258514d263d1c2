# SPDX-License-Identifier: Apache-2.0
# common.sh - functions that the scripts of this folder share. $programs is the folder of list,
# compile and read.

# A tool that CI must have.
absent() {
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$*"
    skip "$*"
}

# compile_all COMPILER LIBRARY ARCHITECTURE LIST OUTPUT FIRST STEP: compiles every STEP-th program
# from FIRST on, in two processes. 77: no compiler.
compile_all() {
    mkdir -p "$5"
    "$programs/compile" "$1" "$2" "$3" "$4" "$5" "$6" $(($7 * 2)) >"$5/said.0" 2>&1 &
    first=$!
    other=0
    "$programs/compile" "$1" "$2" "$3" "$4" "$5" $(($6 + $7)) $(($7 * 2)) >"$5/said.1" 2>&1 || other=$?
    code=0
    wait "$first" || code=$?
    [ "$code" != 0 ] || code=$other
    if [ "$code" != 0 ]; then cat "$5/said.0" "$5/said.1"; fi
    return "$code"
}

# notes OUTPUT: prints the metadata of its code objects.
notes() {
    for object in "$1"/*.bin; do
        number=${object##*/}
        printf 'object %s\n' "${number%.bin}"
        readelf_of "$object"
    done
}

# whole_list CLASS: the argument for examine; some kernels are only made for class wave32.
whole_list() {
    if [ "$1" = wave32 ]; then echo 1; else echo 2; fi
}

# halves LIST: the numbers of the programs of f16 and bf16.
halves() { awk -F'\t' '$2 ~ /-DISO_DTYPE=[12]( |$)/ { print NR - 1 }' "$1/list"; }

# disassembled LIST OUTPUT: prints their instructions.
disassembled() {
    for number in $(halves "$1"); do
        [ -e "$2/$number.bin" ] || continue
        printf 'object %s\n' "$number"
        objdump_of "$2/$number.bin" || return 1
    done
}

# In a chroot these are other ones.
objdump_of() { "$objdump" -d "$1"; }
readelf_of() { "$readelf" --notes "$1"; }

# examine LIST OUTPUT WHOLE: checks the output of AMD's compiler. WHOLE: 0 a part of the list, 1 all
# of it, 2 all of it, for a class that does not need every kernel.
examine() {
    examined=0
    notes "$2" >"$2/notes" || return 1
    disassembled "$1" "$2" >"$2/instructions" || return 1
    awk -v list="$1/list" -v whole="$3" -v wanted="$(halves "$1" | wc -l)" -f "$here/narrow.awk" \
        "$2/instructions" || examined=1
    awk -v list="$1/list" -v whole="$3" -f "$here/programs.awk" -f "$here/metadata.awk" "$2/notes" || examined=1
    "$programs/read" "$2"/*.bin || examined=1
    return "$examined"
}

# find_llvm: finds an LLVM of any version that supports AMD's notes and instructions.
find_llvm() {
    for version in '' -19 -17 -15 -14 none; do
        readelf=llvm-readelf$version
        objdump=llvm-objdump$version
        if have "$readelf" && have "$objdump"; then return 0; fi
    done
    absent "llvm-readelf and llvm-objdump are not here: install llvm"
}

# remarks OUTPUT: prints the remarks of NVIDIA's assembler on each program.
remarks() {
    for log in "$1"/[0-9]*.log; do
        number=${log##*/}
        printf 'object %s\n' "${number%.log}"
        cat "$log"
        printf 'end %s\n' "${number%.log}"
    done
}

# compiled BACKEND ARCHITECTURE COMPILER PROGRAMS LIST RESULT: notes for compiled_write how many
# programs of the list were compiled, and what the checks in the file RESULT said.
compiled() {
    printf '    {"backend": "%s", "architecture": "%s", "compiler": "%s", "programs": %d, "of": %d, "failed": %d,\n     "note": "%s"}\n' \
        "$1" "$2" "$3" "$4" "$(wc -l <"$5/list")" "$(grep -c '^FAIL' "$6")" \
        "$(grep -v '^FAIL' "$6" | paste -sd ';' | sed 's/;/; /g; s/[\\"]//g')" >>"$scratch/compiled"
}

# compiled_write BACKEND COMPILERS TEST: writes those notes as a document (docs/testing.md) to the
# file that ISOMER_COMPILED names.
compiled_write() {
    [ -n "${ISOMER_COMPILED:-}" ] || return 0
    {
        printf '{"schema": "isomer-compiled/1",\n "time": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
        printf ' "compiler": "%s",\n' "$2"
        # shellcheck disable=SC2016 # the command's own variable
        printf ' "command": "ISOMER_COMPILED=$PWD/bench/results/compiled-%s.json ctest --test-dir build/release -R %s",\n' \
            "$1" "$3"
        printf ' "architectures": [\n'
        sed '/"note":/s/}$/},/; $s/,$//' "$scratch/compiled"
        printf ' ]}\n'
    } >"$ISOMER_COMPILED"
}

# make_list CLASS: the programs of a class of devices, made once, in the folder $list.
make_list() {
    list=$scratch/$1
    [ -d "$list" ] || {
        mkdir "$list"
        "$programs/list" "$1" "$list" || fail "no list of programs for $1"
    }
}
