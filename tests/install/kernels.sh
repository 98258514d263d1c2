# SPDX-License-Identifier: Apache-2.0
# kernels.sh: outside projects with kernels of their own, compiled by isomer_add_kernels or by make: C,
# C++, shared and static libraries, gcc and clang, whatever options the targets have. They run without
# a compiler, give the bits of a text that is compiled at run time, and are built again when a text
# changes.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
export ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off
install_here

# bare PROGRAM...: runs it where no compiler is found.
bare() { env -i ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off ${isa:+ISOMER_CPU_ISA=$isa} PATH=/nonexistent "$@"; }
project() { # SOURCE BUILD OPTION...
    source=$1 folder=$2
    shift 2
    cmake -S "$source" -B "$folder" -G "$ISOMER_TEST_GENERATOR" -DCMAKE_PREFIX_PATH="$prefix" "$@" \
        >"$scratch/log" 2>&1
}
build() { cmake --build "$1" >"$scratch/log" 2>&1; }
builds() { build "$1" || { cat "$scratch/log"; fail "$1 does not build"; }; }
configures() { project "$@" || { cat "$scratch/log"; fail "$2 does not configure"; }; }
isa=

# The example.
cp -R "$source_dir/examples/kernels" "$scratch/example"
configures "$scratch/example" "$scratch/example-build" -DCMAKE_C_COMPILER="$cc"
builds "$scratch/example-build"
bare "$scratch/example-build/kernels" >"$scratch/said" || fail "the example fails"
[ "$(cat "$scratch/said")" = "1.0 500.5 25075000.0" ] || { cat "$scratch/said"; fail "the example is wrong"; }

# The same by make.
make_here() {
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name isomer.pc)") \
        make -C "$scratch/example" ISOMER="$prefix/bin/isomer" CC="$cc" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "make fails"
    }
}
if have make && have pkg-config; then
    make_here
    LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libisomer.so.0)")
    env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" ISOMER_BACKEND=openmp "$scratch/example/kernels" >"$scratch/made"
    unset LD_LIBRARY_PATH
    cmp "$scratch/made" "$scratch/said" || fail "by make, the example prints something else"
    make_here
    grep -q "up to date" "$scratch/log" || { cat "$scratch/log"; fail "make does work again for nothing"; }
    sleep 1
    touch "$scratch/example/first.isk"
    make_here
    grep -q "kernel embed first.isk" "$scratch/log" || fail "make does not see that the text changed"
else
    say "make or pkg-config is not here: the Makefile is not tried"
fi

# Every kind of target and compiler gives the same bits, with each instruction set.
cp -R "$source_dir/tests/install/kernels" "$scratch/project"
cp "$scratch/project/use.c" "$scratch/project/use.cpp"
kinds='cpp c'
try() { # BUILD OPTION...
    where=$scratch/$1
    shift
    configures "$scratch/project" "$where" "$@"
    builds "$where"
    for isa in '' generic avx2 avx512; do
        if [ -n "$isa" ] && ! ISOMER_CPU_ISA=$isa "$tool" info --backend openmp >"$scratch/info" 2>&1; then
            continue
        fi
        for program in $kinds; do
            bare "$where/$program" >"$scratch/out" || fail "$where/$program fails with the set ${isa:-auto}"
            [ -e "$scratch/expected" ] || cp "$scratch/out" "$scratch/expected"
            sort -u "$scratch/out" | diff "$scratch/expected" - || fail "$where/$program, ${isa:-auto}: other bits"
        done
    done
    isa=
}
have g++ && cxx=g++ || cxx=
if [ -n "$cxx" ]; then
    try gcc -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER=g++
    kinds=cpp
    try only -DCPP_ONLY=ON -DCMAKE_CXX_COMPILER=g++
fi
if have clang++; then
    kinds='cpp c'
    try clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
fi
[ -e "$scratch/expected" ] || skip "there is no C++ compiler"

# The bits of a text compiled at run time.
sed 's/args.embedded = table/args.text = table->text, args.macros = table->macros, args.macro_count = table->macro_count/' \
    "$scratch/project/use.c" >"$scratch/project/use.cpp"
builds "$where"
ISOMER_CC=$(command -v "$cc") "$where/cpp" >"$scratch/out" || fail "the text is not compiled at run time"
diff "$scratch/expected" "$scratch/out" || fail "the text compiled at run time gives other bits"
cp "$scratch/project/use.c" "$scratch/project/use.cpp"

# A text that changes is compiled again, and only then.
builds "$where"
bare "$where/cpp" | diff "$scratch/expected" - || fail "the kernels changed"
builds "$where"
grep -q "Compiling the kernels" "$scratch/log" && fail "kernels are compiled again for nothing"
sleep 1
sed 's/x\[at\], 7.0f/x[at], 8.0f/' "$source_dir/tests/install/kernels/second.isk" >"$scratch/project/second.isk"
builds "$where"
! bare "$where/cpp" | cmp -s "$scratch/expected" - || fail "a change of the text changes nothing"

# A text with a mistake: the build fails with its line, and works again after it.
sed 's/7.0f/seven/' "$source_dir/tests/install/kernels/second.isk" >"$scratch/project/second.isk"
build "$where" && fail "a text that does not compile is built"
grep -q 'second.isk:8:.*seven' "$scratch/log" || { cat "$scratch/log"; fail "the message lacks the text's line"; }
cp "$source_dir/tests/install/kernels/second.isk" "$scratch/project/second.isk"
builds "$where"
bare "$where/cpp" | diff "$scratch/expected" - || fail "the kernels stay wrong"

# refused ARGUMENTS MESSAGE: fails at configuration, with this message.
refused() {
    if project "$scratch/project" "$where" -DMISTAKE="$1"; then
        fail "isomer_add_kernels accepts $1"
    fi
    says "$scratch/log" "$2"
}
refused 'TARGET;cpp' 'needs TARGET and FILES'
refused 'TARGET;none;FILES;first.isk' 'there is no target none'
refused 'TARGET;cpp;NAME;both;FILES;first.isk;second.isk' 'NAME both is for one file, and FILES has 2'
refused 'TARGET;cpp;DEFINES;A=1;FILES;main.c' 'unknown arguments: DEFINES;A=1'
refused 'TARGET;cpp;FILES;none.isk' 'there is no file'
if project "$scratch/project" "$scratch/cross" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_CXX_COMPILER=g++; then
    fail "a build for another processor does without ISOMER_HOST_TOOL"
fi
says "$scratch/log" "set ISOMER_HOST_TOOL"
