# SPDX-License-Identifier: Apache-2.0
# Completion of isomer for bash. The tool itself lists its commands and options, so they are
# those of the installed version.

# The commands of isomer, or those of one of its commands.
_isomer_commands() {
    "$@" 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'
}

_isomer_options() {
    "$1" "$2" --help 2>/dev/null |
        grep -oE '^ +-[a-z-]+(, --?[a-z-]+)*' | tr -d ',' | tr -s ' ' '\n'
}

# The words on the line after an option in a command's help.
_isomer_words() {
    "$1" "$2" --help 2>/dev/null | sed -n "/^ *$3 /{n;s/,//g;p;}"
}

# The values of an option of a command of a tool. FREE: any text; JSON: also a suite in a file; nothing: a file.
_isomer_values() {
    local reductions="sum product min max mean dot asum norm2 argmin argmax xor amax argamax"
    local maps="copy scale add multiply triad chain subtract divide abs negate axpby fma relu exp tanh convert"
    local calls="barrier broadcast all_reduce reduce_scatter all_gather all_to_all send ring"
    case $1,$2 in
    *,--backend) echo all auto cuda hip opencl openmp ;;
    *,--available | *,--require | *,--against-backend | *,--device-[ab]) echo cuda hip opencl openmp ;;
    verify,--suite) echo quick full ;;
    bench,--suite) echo quick full stream gemm transfer labs JSON ;;
    bench,--lab) echo A B C D E {A,C,D}{1..5} B1 B2 C6 E{1..6} ;;
    bench,--lab-sizes) echo usual small full ;;
    reveal,--op) echo gemm gemv sum dot reduce ;;
    tune,--op) echo gemm gemv ;;
    bench,--op) echo all_reduce reduce_scatter all_gather broadcast all_to_all send_receive send barrier "$(_isomer_words "$3" "$1" --op)" "$reductions" "$maps" write read ;;
    verify,--op) echo "$(_isomer_words "$3" "$1" --op)" "$reductions" "$maps" "$calls" ;;
    *,--op) echo "$(_isomer_words "$3" "$1" --op)" "$reductions" "$maps" ;;
    verify,--variant) echo naive tiled vendor partials fixed write read copy between fill ordered move ;;
    reveal,--variant) echo naive tiled vendor partials ;;
    errors,--variant) echo naive tiled fixed vendor tf32 model ;;
    *,--input) echo uniform normal rows spread10 spread20 spread40 large graded10 graded20 graded40 hidden ;;
    bench,--variant) echo naive tiled vendor partials fixed auto pageable pinned device ordered ;;
    *,--engine) echo threads openmpi mpich nccl rccl ;;
    *,--variant) echo naive tiled vendor partials fixed auto pageable pinned device ;;
    *,--axis) echo 0 1 all ;;
    *,--layout) echo nn nt tn tt n t ;;
    *,--level) _isomer_words "$3" "$1" --level ;;
    reveal,--dtype | errors,--dtype | tune,--dtype) echo f16 bf16 f32 f64 ;;
    bench,--dtype) echo "$(_isomer_words "$3" "$1" --dtype)" tf32 e1 e2 e4 e8 e16 ;;
    *,--dtype) echo "$(_isomer_words "$3" "$1" --dtype)" e1 e2 e4 e8 e16 ;;
    *,--math) echo strict tf32 ;;
    kernel,--only) echo declarations compile chips judge address oclgrind results launch try ;;
    *,--size | *,--ranks | *,--budget | *,--rounds | *,--jobs | *,--energy-seconds | \
    *,--seed | *,--fail-on | *,--timeout | *,--least-effect | \
        *,--count | *,--memory | *,--case | *,--library | *,--title | *,--device | *,--machine | *,--last | *,--within | *,--define | *,--kernel | *,--seconds | kernel,--cflags | kernel,--name | kernel,--sets)
        echo FREE
        ;;
    esac
}

_isomer() {
    local tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} head='' values
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_isomer_commands "$tool" help)" -- "$word")
        return
    fi
    if [ "$command" = history ] && [ "$COMP_CWORD" -eq 2 ] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "add show list remove" -- "$word")
        return
    fi
    if [ "$command" = kernel ] && [ "$COMP_CWORD" -eq 2 ] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_isomer_commands "$tool" kernel --help)" -- "$word")
        return
    fi
    # bash has --option=value as three words.
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    values=$(_isomer_values "$command" "$before" "$tool")
    if [ "$values" = FREE ]; then
        return
    elif [ -n "$values" ]; then
        # In a list, the text before the last comma stays.
        case $word in *,*) head=${word%,*}, ;; esac
        mapfile -t COMPREPLY < <(compgen -P "$head" -W "${values% JSON}" -- "${word##*,}")
        if [ "$values" != "${values% JSON}" ]; then
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '!*.json' -- "$word")
        fi
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_isomer_options "$tool" "$command")" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
    fi
}

complete -F _isomer isomer
