# SPDX-License-Identifier: Apache-2.0
# alone.sh: each public header compiles alone, in strict C11 and in C++17, with each installed
# compiler.
. "$ISOMER_TEST_COMMON"
need g++ g++

compiled=0
compile() { # compiler language standard
    have "$1" || return 0
    for header in "$source_dir"/include/isomer/*.h; do
        name=isomer/${header##*/}
        # Included twice, to test the include guard.
        printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
            "$1" -x "$2" "-std=$3" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
                -fsyntax-only -I "$source_dir/include" - ||
            fail "$name does not compile alone as $3 with $1"
        compiled=$((compiled + 1))
    done
}
for compiler in "$cc" gcc clang; do
    compile "$compiler" c c11
done
for compiler in g++ clang++; do
    compile "$compiler" c++ c++17
done
say "$compiled compilations"
[ "$compiled" -gt 0 ] || fail "nothing was compiled"
