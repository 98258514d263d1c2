# SPDX-License-Identifier: Apache-2.0
# runpath.sh: no program, library or plug-in of the build tree or of an installation searches for
# libraries in the working directory: each is read, and the tool and the helper program are started
# among planted libraries.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/trust/loose.sh"
need readelf binutils
helper=$1

# A library with an empty element is found, which tests the check itself.
printf 'int planted;\n' >"$scratch/planted.c"
for loose in ':' '/usr/lib::/lib' 'lib' '/usr/lib:.' "\$ORIGINAL/x"; do
    rm -f "$scratch"/libplanted.so
    "$cc" -shared -fPIC -o "$scratch/libplanted.so" "$scratch/planted.c" "-Wl,-rpath,$loose"
    [ -n "$(loose_runpaths "$scratch")" ] || fail "\"$loose\" in an RPATH goes unnoticed"
done
rm "$scratch/libplanted.so"

loose_runpaths "$build_dir" >"$scratch/loose"
for file in "$library" "$tool" "$helper"; do
    grep -qxF "$(readlink -f "$file")" "$scratch/elf" || fail "$file was not read"
done
say "$(wc -l <"$scratch/elf") files of the build tree"
cmake --install "$build_dir" --prefix "$scratch/prefix" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail "cmake --install"
}
loose_runpaths "$scratch/prefix" >>"$scratch/loose"
say "$(wc -l <"$scratch/elf") files of the installation"
[ "$(wc -l <"$scratch/elf")" -ge 3 ] || fail "an installation has a library, a tool and a helper program"
if [ -s "$scratch/loose" ]; then
    cat "$scratch/loose"
    fail "these look for libraries in the working directory"
fi

# A library that the loader loads from the working directory leaves a mark.
mkdir "$scratch/here"
cat >"$scratch/planted.c" <<END
#include <stdio.h>
__attribute__((constructor)) static void loaded(void)
{
    fclose(fopen("$scratch/mark", "w"));
}
END
"$cc" -shared -fPIC -o "$scratch/here/planted" "$scratch/planted.c"
for name in libm.so.6 libc.so.6 libgomp.so.1 libomp.so.5 libdl.so.2 libisomer.so.0; do
    ln "$scratch/here/planted" "$scratch/here/$name"
done
cd "$scratch/here"
env LD_LIBRARY_PATH="$scratch/here" "$tool" info >/dev/null 2>&1 &&
    fail "the planted libraries do not harm where they are loaded: this test would prove nothing"
rm -f "$scratch/mark"
for program in "$tool" "$(find "$scratch/prefix" -name isomer -path '*/bin/*')"; do
    "$program" info --backend openmp >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "$program fails in a folder with planted libraries"
    }
done
for program in "$helper" "$(find "$scratch/prefix" -name "${helper##*/}")"; do
    code=0
    "$program" >"$scratch/out" 2>&1 || code=$?
    [ $code = 2 ] || {
        cat "$scratch/out"
        fail "$program ends with $code in a folder with planted libraries, not with 2 for its usage"
    }
done
[ ! -e "$scratch/mark" ] || fail "a library of the working directory was loaded"
