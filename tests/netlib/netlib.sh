# SPDX-License-Identifier: Apache-2.0
# netlib.sh LIBRARY BACKEND VARIANT [FOLDER]: Netlib's level-3 testers pass for gemm, syrk and trsm
# of that backend. LIBRARY is blas.c as a library.
# netlib.sh LIBRARY BACKEND faults [FOLDER]: each fault planted in blas.c fails, and so does a tester
# that runs nothing.
# FOLDER, or else ISOMER_NETLIB, has the testers: built (xblat3s and so on), or the sources of LAPACK
# or of the testers alone, which gfortran builds. Without it those of Debian's libblas-test are used.
. "$ISOMER_TEST_COMMON"
shim=$1 backend=$2 variant=$3 folder=${ISOMER_NETLIB:-${4:-}}
export ISOMER_BACKEND="$backend" ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer"
mkdir -p "$ISOMER_CACHE_DIR"
chmod 700 "$ISOMER_CACHE_DIR"

absent() { # WHAT TO-DO
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$1 is required and not here: $2"
    skip "$1 is not here: $2"
}

# tester S|D|C|Z: $program is the tester of this type, built if need be, and $width the width of
# names in its input.
tester() {
    small=$(echo "$1" | tr SDCZ sdcz)
    program=
    if [ -z "$folder" ]; then
        for program in /usr/lib/*/blas/"xblat3$small"; do :; done
        [ -x "$program" ] || absent "$program" \
            "install libblas-test, or set ISOMER_NETLIB to a folder with LAPACK's sources"
    elif [ -x "$folder/xblat3$small" ]; then
        program=$folder/xblat3$small
    else
        source=$folder/${small}blat3.f
        [ -f "$source" ] || source=$folder/BLAS/TESTING/${small}blat3.f
        [ -f "$source" ] || fail "$folder has neither xblat3$small nor ${small}blat3.f"
        have gfortran || absent gfortran "install gfortran"
        program=$scratch/xblat3$small
        [ -x "$program" ] || gfortran -w -O1 -o "$program" "$source" "$scratch/libblas.so.3" ||
            fail "gfortran does not build $source"
    fi
    width=$(grep -ao 'A[0-9]*, L2' "$program" | sed -n '1s/A\([0-9]*\).*/\1/p')
    [ -n "$width" ] || fail "$program does not say how wide names in its input are"
}

# input S|D|C|Z SIZES T|F: what the tester reads: the three routines with these orders, or none; the
# other values are those that come with the tester.
input() {
    case $1 in
    S | D) alphas='0.0 1.0 0.7' betas='0.0 1.0 1.3' ;;
    C | Z) alphas='(0.0,0.0) (1.0,0.0) (0.7,-0.9)' betas='(0.0,0.0) (1.0,0.0) (1.3,-1.1)' ;;
    esac
    # Files and units, no snapshot; go on after a failure; test error exits; the limit of ratios.
    printf "'%s'\n" summary
    printf '%s\n' 6 "'snapshot'" -1 F F T 16.0
    # shellcheck disable=SC2086 # words are counted
    printf '%s\n' "$(set -- $2 && echo $#)" "$2" 3 "$alphas" 3 "$betas"
    for routine in GEMM SYRK TRSM; do
        printf "%-${width}s %s\n" "$1$routine" "$3"
    done
}

# passed S|D|C|Z SIZES [T|F]: whether the tester passes for the three routines and tests no other,
# and the library was called as often as it says. $why is the reason if not.
passed() {
    tester "$1"
    rm -f summary
    input "$1" "$2" "${3:-T}" >asked
    LD_LIBRARY_PATH="$scratch" timeout 3000 "$program" <asked >out 2>err || {
        why="it exits with $?: $(cat out err)"
        return 1
    }
    why=$(judge "$1")
    [ -z "$why" ]
}

# judge S|D|C|Z: says what is wrong with the summary, or nothing.
judge() {
    [ "$(grep -c 'END OF TESTS' summary)" = 1 ] || echo "it did not reach its end"
    grep -E '\*\*\*|FAILED THE|SUSPECT|ABANDONED' summary || :
    for routine in GEMM SYRK TRSM; do
        for part in 'THE TESTS OF ERROR-EXITS$' 'THE COMPUTATIONAL TESTS ( *[1-9][0-9]* CALLS)$'; do
            [ "$(grep -c "^ $1$routine  *PASSED $part" summary)" = 1 ] ||
                echo "$1$routine has not PASSED $part"
        done
    done
    [ "$(grep -c ' PASSED THE ' summary)" = 6 ] || echo "not three routines have passed"
    said=$(sed -n 's/.*PASSED THE COMPUTATIONAL.*( *\([0-9]*\) CALLS).*/\1/p' summary | awk '{ n += $1 } END { print n + 0 }')
    made=$(sed -n 's/^netlib: \([0-9]*\) calls, .*/\1/p' err)
    [ "$said" = "${made:-0}" ] || echo "the tester counts $said calls, the library ${made:-0}"
}

cd "$scratch"
[ -f "$shim" ] || fail "$shim is not built"
ln -s "$shim" libblas.so.3
(unset ISOMER_REQUIRE && "$tool" info --backend "$backend") >about 2>&1 || {
    ! required "$backend" || fail "$(cat about)"
    skip "$(cat about)"
}
tester S

if [ "$variant" = faults ]; then
    for planted in conj:C conj:Z triangle:S triangle:Z unit:D unit:C beta:S beta:Z info:D info:C; do
        export NETLIB_VARIANT=tiled NETLIB_FAULT="${planted%:*}"
        ! passed "${planted#*:}" '0 1 3' || fail "the fault $planted is not seen"
        says summary "END OF TESTS"
        say "$planted: $(echo "$why" | head -n 1)"
    done
    unset NETLIB_FAULT
    passed C '0 1 3' || fail "without a fault: $why"
    ! passed C '0 1 3' F || fail "a tester that runs nothing passes"
    say "nothing: $why"
    exit 0
fi
[ "$variant" != vendor ] || grep -qE 'BLAS|BLIS|MKL|CLBlast' about ||
    absent "a BLAS library for $backend" "install libopenblas0-openmp and libclblast1"
export NETLIB_VARIANT="$variant"
for type in S D C Z; do
    # The testers' own orders, and some at the edges of the library's blocks.
    for orders in '0 1 2 3 5 9' '1 33 64 65'; do
        passed "$type" "$orders" || {
            cat summary
            fail "$program with orders $orders: $why"
        }
        grep ' PASSED THE COMPUTATIONAL ' summary
        tail -n 1 err
    done
done
