# SPDX-License-Identifier: Apache-2.0
# kernel.sh: `isomer kernel`: its commands, the text that compilers get, macros, and messages.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
cat >first.isk <<'END'
ISO_KERNEL(twice, SIDE, 1, 1)(ISO_INOUT(f32) x ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        x[i] = GAIN * x[i];
    }
}
END

expect 2 kernel
says err "kernel needs one of" "text"
expect 2 kernel texts
says err 'did you mean "text"?'
expect 0 kernel --help
says out "text FILE" --define --out "embed FILE" --cflags
expect 0 kernel text --help
says out "Usage: isomer kernel text FILE" --define
expect 2 kernel text
says err "takes one file, and 0 were given"
expect 2 kernel text first.isk first.isk
says err "takes one file, and 2 were given"

expect 0 kernel text first.isk --define SIDE=64 --define=GAIN=2.0f
says out "#define SIDE 64" "#define GAIN 2.0f" '#line 1 "first.isk"' iso_kernel_twice
cp out first
expect 0 kernel text --define SIDE=64 first.isk --define GAIN=2.0f --out given
cmp first given || fail "--out changes the text"
expect 0 kernel text first.isk --define SIDE=64 --define GAIN
says out "#define GAIN 1"

expect 1 kernel text first.isk
says err "first.isk:1:" SIDE
expect 1 kernel text first.isk --define SIDE=2000
says err "first.isk:1:" 2000
expect 2 kernel text first.isk --define 2=3
says err "--define 2=3: a macro's name"
expect 2 kernel text first.isk --define
says err "--define needs a value"
expect 2 kernel text first.isk --defin SIDE=1
says err "did you mean --define?"
expect 6 kernel text none.isk
says err "cannot read none.isk"
printf 'a\0b' >zero.isk
expect 1 kernel text zero.isk
says err "byte 0 at 1"
expect 6 kernel text first.isk --define SIDE=64 --define GAIN=2 --out none/given
