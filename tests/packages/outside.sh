# SPDX-License-Identifier: Apache-2.0
# outside.sh: builds the project in tests/packages/outside with an installed copy, and runs its programs.

# checked PROGRAM: it has every backend, and its product is right.
checked() {
    multiplies "$1"
    "$(dirname "$1")/$(basename "$1" | sed s/multiply/backends/)" >"$scratch/backends" || {
        cat "$scratch/backends"
        fail "a built-in backend is missing"
    }
    grep -qx 'openmp: opened' "$scratch/backends" || { cat "$scratch/backends"; fail "$1: no CPU"; }
    [ "$(grep -cE '^(cuda|hip|opencl|openmp): ' "$scratch/backends")" = 4 ] || fail "$1: not four backends"
    case $1 in
    *_static)
        if readelf -d "$1" | grep -q 'NEEDED.*libisomer'; then fail "$1 needs libisomer.so"; fi
        ;;
    esac
}

# outside PREFIX PKGCONFIG [alone]: with CMake and with make. `alone`: there is no shared
# library, and CMake takes the static one.
outside() {
    rm -rf "$scratch/outside"
    cp -R "$source_dir/tests/packages/outside" "$scratch/outside"
    cp "$source_dir/examples/multiply.c" "$scratch/outside/"
    {
        cmake -S "$scratch/outside" -B "$scratch/outside/build" -G "$ISOMER_TEST_GENERATOR" \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$1" &&
            cmake --build "$scratch/outside/build"
    } >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "the outside project does not build"
    }
    checked "$scratch/outside/build/multiply"
    checked "$scratch/outside/build/multiply_static"
    [ "${3:-}" != alone ] || return 0
    PKG_CONFIG_PATH=$2 LD_LIBRARY_PATH=$(dirname "$2") make -C "$scratch/outside" CC="$cc" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "the outside Makefile fails"
    }
    (
        LD_LIBRARY_PATH=$(dirname "$2")
        export LD_LIBRARY_PATH
        checked "$scratch/outside/multiply"
    ) || exit 1
    checked "$scratch/outside/multiply_static"
}
