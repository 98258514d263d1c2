# SPDX-License-Identifier: Apache-2.0
# initialisers.sh: each ISO_..._INIT macro of the public headers compiles in C++17 and C11 without a
# warning, with each installed compiler: as initialiser of a local, of a constant, of a member and,
# in C++, as a value. The program checks what the macro set.
. "$ISOMER_TEST_COMMON"
need g++ g++

sed -n 's/^#define  *\(ISO_[A-Z0-9_]*_INIT\)\( .*\)\{0,1\}$/\1/p' "$source_dir"/include/isomer/*.h >"$scratch/macros"
count=$(wc -l <"$scratch/macros")
[ "$count" -ge 16 ] || fail "only $count macros in the headers"
{
    for header in "$source_dir"/include/isomer/*.h; do
        say "#include <isomer/${header##*/}>"
    done
    say '#include <string.h>'
    while read -r macro; do
        type=$(printf '%s' "${macro%_INIT}" | tr '[:upper:]' '[:lower:]')
        cat <<END
static const $type global_$type = $macro;
struct of_$type { $type member; };
static int wrong_$type(void)
{
    $type local = $macro;
    const struct of_$type inside = {$macro};
    unsigned char zeros[sizeof local] = {0};
    int wrong = local.size != sizeof local || global_$type.size != sizeof local ||
                inside.member.size != sizeof local;
#ifdef __cplusplus
    memset(static_cast<void *>(&local), 255, sizeof local);
    local = $macro;
    wrong = wrong || local.size != sizeof local;
#endif
    local.size = 0;
    END_OF_$type
    return wrong || memcmp(&local, zeros, sizeof local) != 0;
}
END
    done <"$scratch/macros"
    say 'int main(void)'
    say '{'
    say '    return 0'
    while read -r macro; do
        say "        || wrong_$(printf '%s' "${macro%_INIT}" | tr '[:upper:]' '[:lower:]')()"
    done <"$scratch/macros"
    say '        ;'
    say '}'
} >"$scratch/draft"
# What a macro sets besides the size.
sed -e 's/^    END_OF_iso_gemm_args$/    wrong = wrong || local.alpha != 1 || local.batch != 1; local.alpha = 0; local.batch = 0;/' \
    -e 's/^    END_OF_iso_gemv_args$/    wrong = wrong || local.alpha != 1 || local.batch != 1; local.alpha = 0; local.batch = 0;/' \
    -e 's/^    END_OF_iso_syrk_args$/    wrong = wrong || local.alpha != 1 || local.batch != 1; local.alpha = 0; local.batch = 0;/' \
    -e 's/^    END_OF_iso_trsm_args$/    wrong = wrong || local.alpha != 1 || local.batch != 1; local.alpha = 0; local.batch = 0;/' \
    -e 's/^    END_OF_iso_spmv_args$/    wrong = wrong || local.alpha != 1; local.alpha = 0;/' \
    -e 's/^    END_OF_iso_gemm_grid_args$/    wrong = wrong || local.alpha != 1; local.alpha = 0;/' \
    -e 's/^    END_OF_iso_reduce_args$/    wrong = wrong || local.rows != 1; local.rows = 0;/' \
    -e 's/^    END_OF_iso_map_args$/    wrong = wrong || local.alpha != 1; local.alpha = 0;/' \
    -e '/^    END_OF_/d' "$scratch/draft" >"$scratch/program.c"
cp "$scratch/program.c" "$scratch/program.cpp"

tried=0
build() { # compiler standard file
    have "$1" || return 0
    "$1" "-std=$2" -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$source_dir/include" -o "$scratch/program" \
        "$scratch/$3" || fail "$1 -std=$2 warns"
    "$scratch/program" || fail "$1 -std=$2: a macro does not set what it should"
    tried=$((tried + 1))
}
build g++ c++17 program.cpp
build g++ c++11 program.cpp
build clang++ c++17 program.cpp
build "$cc" c11 program.c
build clang c11 program.c
say "$count macros, $tried programs"
