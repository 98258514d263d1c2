# SPDX-License-Identifier: Apache-2.0
# hardened.sh HELPER fortified|plain: the hardening by linker and compiler is present in the
# library, the tool and the helper program.
. "$ISOMER_TEST_COMMON"
need readelf binutils
need objdump binutils
helper=$1
fortified=$2

# Whether the system's own parts of every program are marked for control-flow enforcement: the
# linker marks a file only if all of its parts are.
marked() { readelf -nW "$1" 2>/dev/null | grep -q 'x86 feature:.*IBT.*SHSTK'; }
start=$("$cc" -print-file-name=Scrt1.o)
printf 'int main(void) { return 0; }\n' >"$scratch/try.c"
protects=no
if "$cc" -fcf-protection=full -c -o "$scratch/try.o" "$scratch/try.c" 2>/dev/null; then
    protects=yes
fi

for file in "$library" "$tool" "$helper"; do
    readelf -hldW "$file" >"$scratch/elf"
    grep -q 'Type: *DYN' "$scratch/elf" || fail "$file is not position-independent"
    grep -q GNU_RELRO "$scratch/elf" || fail "$file has no GNU_RELRO"
    grep -qE 'FLAGS(_1)?\).*(BIND_NOW|NOW)' "$scratch/elf" || fail "$file is bound lazily"
    if grep GNU_STACK "$scratch/elf" | grep -q E; then
        fail "$file has a stack that can be executed"
    fi
    readelf --dyn-syms -W "$file" >"$scratch/symbols"
    grep -q __stack_chk_fail "$scratch/symbols" || fail "$file has no stack protector"
    if [ "$fortified" = fortified ]; then
        grep -qE '__[a-z]+_chk(@|$)' "$scratch/symbols" || fail "$file was built without _FORTIFY_SOURCE"
    fi
    [ $protects = yes ] || continue
    # Each function that may be an indirect target begins with the instruction for it.
    objdump -d --no-show-raw-insn "$file" >"$scratch/code"
    awk '/^[0-9a-f]+ <(iso_[a-z0-9_]*|main)(@@.*)?>:$/ { name = $2; getline
            count++
            if ($0 !~ /endbr(64|32)/) print name, $0 }
        END { if (!count) print "no function was read" }' "$scratch/code" >"$scratch/open"
    [ ! -s "$scratch/open" ] || fail "$file: $(head -n 3 "$scratch/open")"
    if marked "$start" && ! marked "$file"; then
        fail "$file is not marked for control-flow enforcement, and $start is"
    fi
done

# Every object of the library, including the kernels of each instruction set.
if [ $protects = yes ]; then
    find "$build_dir" -path "$build_dir/rebuild" -prune -o -path "$build_dir/tests" -prune -o \
        -name '*.c.o' ! -path '*/peer-*' -print >"$scratch/objects"
    [ -s "$scratch/objects" ] || fail "no object file was found"
    while read -r object; do
        marked "$object" || fail "$object was built without -fcf-protection"
    done <"$scratch/objects"
    say "$(wc -l <"$scratch/objects") objects with -fcf-protection"
fi
