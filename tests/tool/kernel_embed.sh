# SPDX-License-Identifier: Apache-2.0
# kernel_embed.sh: `isomer kernel embed`: an object and a header, whole or not at all; messages with
# the text's own lines; the compiler's choice and its target.
. "$ISOMER_TEST_COMMON"
need nm binutils
cd "$scratch"
cat >good.isk <<'END'
ISO_KERNEL(twice, SIDE, 1, 1)(ISO_INOUT(f32) x ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            x[iso_x(i)] = 2.0f * x[iso_x(i)];
        }
    }
}
END
unset CC
export PATH

# nothing FOLDER: no file was left.
nothing() { [ -z "$(ls -A "$1")" ] || fail "$1 has $(ls -A "$1")"; }

mkdir made
expect 0 kernel embed good.isk --define SIDE=64 --output made --cc "$cc"
[ ! -s err ] || { cat err; fail "a good text gives messages"; }
[ "$(cd made && echo *)" = "good.isk.h good.isk.o" ] || fail "made has $(ls made)"
grep -qx 'extern const iso_embedded good_isk;' made/good.isk.h || fail "the header has no table"
nm made/good.isk.o >symbols
grep -q ' [DR] good_isk$' symbols || { cat symbols; fail "the object has no table"; }
grep ' [TDRBC] ' symbols | grep -v ' good_isk' && fail "the object has other global names, see above"
cp made/good.isk.o first.o

if have clang; then
    mkdir by-clang
    expect 0 kernel embed good.isk --define SIDE=64 --output by-clang --cc clang
    [ ! -s err ] || { cat err; fail "a good text gives messages with clang"; }
fi

# The same again gives the same bytes; other macros, other ones.
expect 0 kernel embed good.isk --define=SIDE=64 --output made --cc "$cc"
cmp first.o made/good.isk.o || fail "the object differs from run to run"
expect 0 kernel embed good.isk --define SIDE=32 --output made --cc "$cc"
! cmp -s first.o made/good.isk.o || fail "a macro changes nothing"

# Sets, names and the compiler's flags.
expect 0 kernel embed good.isk --define SIDE=64 --output made --cc "$cc" --sets generic --name mine \
    --cflags "-ffast-math  -g"
nm made/good.isk.o >symbols
grep -q ' mine_generic$' symbols || fail "--name and --sets are not used"
lacks symbols avx
CC="$cc -O1" expect 0 kernel embed good.isk --define SIDE=64
rm good.isk.h good.isk.o
expect 2 kernel embed good.isk --define SIDE=64 --output made --cc "$cc" --sets mmx
says err 'sets: "mmx" is not known' generic

# What is wrong with a text: the file and the line, and the old files stay.
before=$(ls -l made)
sed 's/2.0f/two/' good.isk >bad.isk
expect 1 kernel embed bad.isk --define SIDE=64 --output made --cc "$cc"
says err bad.isk:6: two "with bad.isk"
sed 's/2.0f \*/twice_of/' good.isk >bad.isk
expect 1 kernel embed bad.isk --define SIDE=64 --output made --cc "$cc"
says err bad.isk:6: twice_of
sed 's/f32/float/' good.isk >bad.isk
expect 1 kernel embed bad.isk --define SIDE=64 --output made --cc "$cc"
says err bad.isk:1: float
expect 1 kernel embed good.isk --output made --cc "$cc"
says err good.isk:1: SIDE
[ "$(ls -l made)" = "$before" ] || fail "a text that is wrong changes the output"
printf 'float helper(float x) { return x; }\n' | cat - good.isk >bad.isk
expect 1 kernel embed bad.isk --define SIDE=64 --output made --cc "$cc"
says err helper

# Names that C does not take.
for name in 3d.isk 'a b.isk' 'a+b.isk' 'quote".isk'; do
    cp good.isk "$name"
    expect 2 kernel embed "$name" --define SIDE=64 --cc "$cc"
    says err "gives no name in C" "--name"
done
expect 0 kernel embed 3d.isk --define SIDE=64 --cc "$cc" --name three --output made
[ -s made/3d.isk.o ] || fail "--name does not help"
expect 2 kernel embed good.isk --define SIDE=64 --cc "$cc" --name three.isk
says err "another one"
cp good.isk 'back\slash.isk'
expect 2 kernel embed 'back\slash.isk' --name good --cc "$cc"
says err backslash

# Compilers that are none, and folders that take nothing.
mkdir none
expect 3 kernel embed good.isk --define SIDE=64 --output none --cc "$scratch/no-such-cc"
says err no-such-cc "does not start"
CC=/no/such/cc expect 3 kernel embed good.isk --define SIDE=64 --output none
printf '#!/bin/sh\necho "no licence \033[31m" >&2\nexit 4\n' >odd-cc
chmod +x odd-cc
expect 1 kernel embed good.isk --define SIDE=64 --output none --cc ./odd-cc
says err "./odd-cc -dumpmachine fails" "no licence" 'x1b'
expect 6 kernel embed good.isk --define SIDE=64 --output none/deeper --cc "$cc"
says err none/deeper
if [ "$(id -u)" != 0 ]; then
    chmod 500 none
    expect 6 kernel embed good.isk --define SIDE=64 --output none --cc "$cc"
    chmod 700 none
fi
mkdir none/good.isk.o
expect 6 kernel embed good.isk --define SIDE=64 --output none --cc "$cc"
rmdir none/good.isk.o
nothing none

# A compiler that knows a set's flags not: the set is left out.
printf '#!/bin/sh\ncase " $* " in *" -mavx512f "*) echo "unknown -mavx512f" >&2; exit 1 ;; esac\nexec %s "$@"\n' \
    "'$cc'" >old-cc
chmod +x old-cc
if "$cc" -dumpmachine | grep -q '^x86_64'; then
    expect 0 kernel embed good.isk --define SIDE=64 --output made --cc ./old-cc
    says err "avx512, which is left out"
    nm made/good.isk.o >symbols
    grep -q good_isk_avx2 symbols || fail "avx2 is missing"
    lacks symbols avx512
    expect 1 kernel embed good.isk --define SIDE=64 --output none --cc ./old-cc --sets avx512
    says err "avx512: leave it out of --sets"
    nothing none
fi

# Interrupted: nothing is left, also not of the compiler.
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $1 in -dumpmachine) echo x86_64-linux ;; *) touch started; exec sleep 60 ;; esac\n' >slow-cc
chmod +x slow-cc
"$tool" kernel embed good.isk --define SIDE=64 --output none --cc ./slow-cc >slow 2>err &
tool_id=$!
tries=0
while [ ! -e started ] && [ "$tries" -lt 6000 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
[ -e started ] || fail "the compiler was not started"
kill -TERM "$tool_id"
code=0
wait "$tool_id" || code=$?
[ "$code" = 130 ] || fail "interrupted, it exits with $code"
says err interrupted
nothing none

# Other targets: the compiler says which.
for cross in aarch64-linux-gnu-gcc clang; do
    have "$cross" || continue
    flags=
    [ "$cross" != clang ] || flags=--target=aarch64-linux-gnu
    have aarch64-linux-gnu-ld || continue
    expect 0 kernel embed good.isk --define SIDE=64 --output made --cc "$cross" ${flags:+--cflags "$flags"}
    nm made/good.isk.o >symbols
    grep -q good_isk_generic symbols || fail "$cross: no functions for aarch64"
    lacks symbols avx2
done
