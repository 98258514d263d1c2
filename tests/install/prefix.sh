# SPDX-License-Identifier: Apache-2.0
# prefix.sh: installs the build into $prefix, and moves it to $moved: nothing may depend on the
# first path.
prefix=$scratch/first/prefix
moved=$scratch/second/prefix

install_here() {
    cmake --install "$build_dir" --prefix "$prefix" >"$scratch/install.log" 2>&1 || {
        cat "$scratch/install.log"
        fail "cmake --install"
    }
}

move_prefix() {
    mkdir -p "$(dirname "$moved")"
    mv "$prefix" "$moved"
}

# uses_installed PROGRAM PREFIX: it runs with the library of that prefix.
uses_installed() {
    ldd "$1" | grep -q "libisomer.so.0 => $2/" || {
        ldd "$1"
        fail "$1 does not use the library in $2"
    }
}

# multiplies PROGRAM: the example's product is right on the CPU backend, and an unknown backend is
# reported as an error.
multiplies() {
    ISOMER_BACKEND=openmp "$1" >"$scratch/product" || fail "$1 fails"
    printf '58 64\n139 154\n' | diff - "$scratch/product" || fail "$1: a wrong product"
    if ISOMER_BACKEND=nonesuch "$1" >/dev/null 2>"$scratch/err"; then
        fail "$1 accepts an unknown backend"
    fi
    grep -q nonesuch "$scratch/err" || fail "$1: the message does not name the unknown backend"
}

# tool_runs PREFIX: the installed tool finds its library and a device.
tool_runs() {
    env -u LD_LIBRARY_PATH ISOMER_BACKEND=openmp "$1/bin/isomer" info >"$scratch/info" || {
        cat "$scratch/info"
        fail "$1/bin/isomer info fails"
    }
    uses_installed "$1/bin/isomer" "$1"
}
