# SPDX-License-Identifier: Apache-2.0
# pkgconfig.sh: the same as find_package.sh through pkg-config, in C and in C++.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"
need pkg-config pkg-config

consume() { # prefix
    PKG_CONFIG_PATH=$(dirname "$(find "$1" -name isomer.pc)")
    export PKG_CONFIG_PATH
    pkg-config --exists --print-errors 'isomer >= 0.2' || fail "pkg-config does not find isomer"
    flags="$(pkg-config --cflags --libs isomer) -Wl,-rpath,$(pkg-config --variable=libdir isomer)"
    # shellcheck disable=SC2086
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$scratch/multiply" \
        "$source_dir/examples/multiply.c" $flags || fail "the example does not compile"
    multiplies "$scratch/multiply"
    if have g++; then
        printf '#include <isomer/isomer.h>\n#include <cstdio>\nint main() { std::puts(iso_version()); }\n' \
            >"$scratch/version.cpp"
        # shellcheck disable=SC2086
        g++ -std=c++17 -Wall -Wextra -Werror -o "$scratch/version" "$scratch/version.cpp" $flags ||
            fail "a C++ program does not compile"
        [ "$("$scratch/version")" = "$(pkg-config --modversion isomer)" ] ||
            fail "the library's version is not the package's"
    fi
}

install_here
consume "$prefix"
move_prefix
consume "$moved"
