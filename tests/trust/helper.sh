# SPDX-License-Identifier: Apache-2.0
# helper.sh FAKES: the program isomer-try is started only from the library's own installation, and
# not if other users could have replaced it. The HIP backend over its fake uses it.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/trust/traps.sh"
prefix=$scratch/prefix
cmake --install "$build_dir" --prefix "$prefix" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail "cmake --install"
}
helper=$(find "$prefix" -name isomer-try)
[ -n "$helper" ] || fail "isomer-try is not installed"
export ISOMER_ROCM_PATH="$1/hip" ISOMER_CACHE_DIR=off

# A program in its place leaves a mark, and prints nothing.
printf '#!/bin/sh\n: >%s\n' "$scratch/mark" >"$helper"
chmod 755 "$helper"

# tried WORDS: requests the helper's verdict on the compiler.
tried() {
    rm -f "$scratch/mark"
    "$prefix/bin/isomer" verify --backend hip --op transpose --dtype e4 --variant tiled >"$scratch/out" 2>&1 || true
    tr -s ' \n' '  ' <"$scratch/out" >"$scratch/one"
}
tried
[ -e "$scratch/mark" ] || {
    cat "$scratch/out"
    fail "the helper program is not started: this test would prove nothing"
}
refused() {
    tried
    [ ! -e "$scratch/mark" ] || fail "the helper program is started where $1 can be written to by others"
    grep -qE "is not started: [^ ]*${1#"$prefix"} can be written to by others" "$scratch/one" || {
        cat "$scratch/out"
        fail "nothing says that $1 can be written to by others"
    }
}
for open in "$helper" "${helper%/*}"; do
    chmod o+w "$open"
    refused "$open"
    chmod o-w "$open"
done
tried
[ -e "$scratch/mark" ] || fail "the helper program is refused for good"

# No other place is searched.
rm -r "${helper%/*}"
mkdir "$scratch/here"
printf '#!/bin/sh\n: >%s\n' "$scratch/mark" >"$scratch/here/isomer-try"
chmod 755 "$scratch/here/isomer-try"
cd "$scratch/here"
rm -f "$scratch/mark"
PATH=$scratch/here:$PATH "$prefix/bin/isomer" verify --backend hip --op transpose --dtype e4 --variant tiled >"$scratch/out" 2>&1 || true
[ ! -e "$scratch/mark" ] || fail "isomer-try of the working directory or of PATH is started"
tr -s ' \n' '  ' <"$scratch/out" | grep -q "isomer-try, which would try it, is neither beside the library nor at" || {
    cat "$scratch/out"
    fail "nothing says that isomer-try is missing"
}

# A folder above the library is not checked when it leads to the library; as a folder of plug-ins it
# is refused if other users can add files.
trap_at ABOVE "$prefix/isomer-trap.so"
above() {
    reset_traps
    ISOMER_BACKEND_PATH=$prefix "$prefix/bin/isomer" info >"$scratch/out" 2>&1 || true
}
above
sprung ABOVE || fail "a folder above the library springs no trap: this test would prove nothing"
chmod 1777 "$prefix"
above
if sprung ABOVE; then
    fail "a plug-in was opened in a folder above the library that others can add to"
fi
tr -s ' \n' '  ' <"$scratch/out" | grep -qF "\"$prefix\" is ignored: $prefix can be written to by others" || {
    cat "$scratch/out"
    fail "nothing says that $prefix can be written to by others"
}
