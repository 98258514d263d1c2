# SPDX-License-Identifier: Apache-2.0
# completions.sh: completion in each shell offers every command, and every option that a command's
# help names; values, also for the last element of a list and after a "="; and files where they
# belong.
. "$ISOMER_TEST_COMMON"
need bash bash
need zsh zsh
need fish fish
cd "$scratch"
mkdir bin work
ln -s "$tool" bin/isomer
PATH=$scratch/bin:$PATH
export HOME="$scratch" XDG_CONFIG_HOME="$scratch/config" XDG_DATA_HOME="$scratch/data"
completions=$source_dir/completions
: >work/results.json

"$tool" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | sort >commands
[ "$(wc -l <commands)" -ge 6 ] || fail "the help names too few commands"

# ask WORDS...: what each shell offers for the last word, sorted, in bash.out, fish.out, zsh.out.
cat >ask.bash <<'END2'
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_isomer 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
END2
cat >ask.zsh <<'END2'
source_file=$1; shift
words=("$@") CURRENT=$#
compadd() { [[ $1 == -a ]] && print -l -- ${(P)2}; }
compset() { true; }
_describe() { print -l -- ${(P)2%%:*}; }
_values() { shift 3; print -l -- $@; }
_files() { print -l -- *; }
_message() { true; }
source $source_file
END2
ask() {
    line=$(printf '%s ' "$@")
    (
        cd work
        bash ../ask.bash "$completions/isomer.bash" "$@" | grep . | sort >../bash.out
        fish -c "source '$completions/isomer.fish'; complete -C '${line% }'" 2>../fish.err |
            cut -f1 | sort >../fish.out
        zsh -f ../ask.zsh "$completions/_isomer" "$@" 2>../zsh.err | sort >../zsh.out
    )
    for shell in fish zsh; do
        [ ! -s "$shell.err" ] || { cat "$shell.err"; fail "$shell complains about: $line"; }
    done
}
# offered FILE: each shell offers every line of the file.
offered() {
    for shell in bash zsh fish; do
        comm -23 "$1" "$shell.out" >missing
        [ ! -s missing ] || { cat missing; fail "$shell does not offer the above for: $line"; }
    done
}
# offered_alone WORD...: each shell offers exactly these.
offered_alone() {
    for word; do printf '%s\n' "$word"; done | sort >words
    for shell in bash zsh fish; do
        diff words "$shell.out" || fail "$shell offers what is marked > instead for: $line"
    done
}

ask isomer ''
offered commands
while read -r command; do
    [ "$command" != help ] || continue
    "$tool" "$command" --help | grep -oE '^ +-[a-z-]+(, --?[a-z-]+)*' | tr -d ', ' | sort -u >options
    [ -s options ] || fail "isomer $command --help names no options"
    ask isomer "$command" -
    offered options
done <commands

ask isomer verify --suite ''
offered_alone full quick
ask isomer bench --suite ''
offered_alone full gemm labs quick results.json stream transfer
ask isomer bench --lab-sizes ''
offered_alone full small usual
ask isomer bench --lab ''
offered_alone A A1 A2 A3 A4 A5 B B1 B2 C C1 C2 C3 C4 C5 C6 D D1 D2 D3 D4 D5 E E1 E2 E3 E4 E5 E6
ask isomer bench --axis ''
offered_alone 0 1 all
for place in 'bench --json' 'report -o' 'compare' 'vectors --out' 'kernel text' 'kernel text --out' 'kernel embed --output' 'kernel embed --cc'; do
    # shellcheck disable=SC2086 # two words
    ask isomer $place ''
    offered_alone results.json
done
ask isomer history ''
offered_alone add list remove show
ask isomer kernel ''
"$tool" kernel --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >subcommands
# shellcheck disable=SC2046 # a word for each line
offered_alone $(cat subcommands)
ask isomer kernel embed --define ''
offered_alone
ask isomer reveal --op ''
offered_alone dot gemm gemv reduce sum
ask isomer reveal --variant ''
offered_alone naive partials tiled vendor
ask isomer reveal --dtype ''
offered_alone bf16 f16 f32 f64
ask isomer tune --op ''
offered_alone gemm gemv
ask isomer tune --dtype ''
offered_alone bf16 f16 f32 f64
ask isomer tune --layout ''
offered_alone n nn nt t tn tt
ask isomer tune --size ''
offered_alone
ask isomer errors --variant ''
offered_alone fixed model naive tf32 tiled vendor
ask isomer errors --dtype ''
offered_alone bf16 f16 f32 f64
ask isomer errors --input ''
"$tool" errors --help | grep -A2 -e --input | tr -cs 'a-z0-9-' '\n' | grep -xE '[a-z]+[0-9]+|uniform|normal|rows|large|hidden' >inputs
[ "$(wc -l <inputs)" -eq 11 ] || fail "the help of errors does not name 11 inputs"
# shellcheck disable=SC2046 # a word for each line
offered_alone $(cat inputs)
ask isomer bench --seed ''
offered_alone
ask isomer vectors --level ''
offered_alone fixed maps products sums
ask isomer vectors --count ''
offered_alone

# The line itself, in a terminal: the typed text, and what a tab makes of it.
cat >complete.zsh <<'END2'
zmodload zsh/zpty
zpty shell 'zsh -fi'
zpty -w shell "source ./start.zsh"
zpty -r shell out '*READY:*'
while read -r line; do
    zpty -w -n shell "$line"$'\t\n'
    zpty -r shell out '*GOT:*:*'
    out=${out##*GOT:}
    print -r -- ${out%%:*}
done
zpty -d shell
END2
cat >work/start.zsh <<END2
PS1=
fpath=("$completions" \$fpath)
autoload -U compinit && compinit -u -D
isomer() {
    if [[ \$1 == help || \$2 == --help ]]; then
        command isomer "\$@"
    else
        print -r -- "GOT:\$*:"
    fi
}
print READY:
END2
completes() { # LINE WANTED
    printf '%s\n' "$1" >>typed
    printf '%s\n' "$2" >>wanted
}
completes 'isomer ver' 'verify'
completes 'isomer verify --bitw' 'verify --bitwise'
completes 'isomer bench --suite=fu' 'bench --suite=full'
completes 'isomer bench --backend cuda,openm' 'bench --backend cuda,openmp'
completes 'isomer report -o res' 'report -o results.json'
(cd work && zsh -f ../complete.zsh <../typed) >zsh.out
diff wanted zsh.out || fail "zsh completes to what is marked > instead"
while read -r line; do
    fish -c "source '$completions/isomer.fish'; cd work; complete -C '$line'" | cut -f1
done <typed >fish.out
printf '%s\n' verify --bitwise --suite=full cuda,openmp results.json | diff - fish.out ||
    fail "fish completes to what is marked > instead"
{
    bash ask.bash "$completions/isomer.bash" isomer bench --suite = fu
    bash ask.bash "$completions/isomer.bash" isomer bench --backend cuda,openm
} >bash.out
printf '%s\n' full cuda,openmp | diff - bash.out || fail "bash completes to what is marked > instead"
