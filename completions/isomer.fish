# SPDX-License-Identifier: Apache-2.0
# Completion of isomer for fish. The tool itself lists its commands and options, so they are
# those of the installed version.

# The commands of isomer, or those of one of its commands.
function __isomer_commands
    isomer $argv 2>/dev/null | string match -rg '^  ([a-z]+)  +(.*)' | while read -l name
        read -l text
        printf '%s\t%s\n' $name $text
    end
end

function __isomer_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

# Asked once, because every rule below needs it.
function __isomer_options
    set -l command (__isomer_command)
    if test "$__isomer_asked" != "$command"
        set -g __isomer_found (isomer $command --help 2>/dev/null |
            string match -r '^ +-[a-z-]+(?:, --?[a-z-]+)*' | string split -n ' ' | string trim -c ',')
        set -g __isomer_asked $command
    end
    printf '%s\n' $__isomer_found
end

# Whether the command has that option.
function __isomer_has
    contains -- $argv[1] (__isomer_options)
end

function __isomer_suites
    printf '%s\n' quick full
    test (__isomer_command) = bench; and printf '%s\n' stream gemm transfer labs *.json
end

# The words on the line after an option in the help.
function __isomer_listed
    isomer (__isomer_command) --help 2>/dev/null | sed -n "/^ *$argv[1] /{n;s/,//g;p;}" |
        string split -n ' '
end

function __isomer_operations
    set -l single sum product min max mean dot asum norm2 argmin argmax xor amax argamax \
        copy scale add multiply triad chain subtract divide abs negate axpby fma relu exp tanh convert
    if test (__isomer_command) = reveal
        printf '%s\n' gemm gemv sum dot reduce
        return
    end
    if test (__isomer_command) = tune
        printf '%s\n' gemm gemv
        return
    end
    __isomer_listed --op
    switch (__isomer_command)
        case verify
            printf '%s\n' $single barrier broadcast all_reduce reduce_scatter all_gather \
                all_to_all send ring
        case compare
            printf '%s\n' $single
        case bench
            printf '%s\n' write read $single \
                all_reduce reduce_scatter all_gather broadcast all_to_all send_receive send barrier
    end
end

function __isomer_variants
    switch (__isomer_command)
        case verify
            printf '%s\n' naive tiled vendor partials fixed write read copy between fill \
                ordered move
        case reveal
            printf '%s\n' naive tiled vendor partials
        case errors
            printf '%s\n' naive tiled fixed vendor tf32 model
        case bench
            printf '%s\n' naive tiled vendor partials fixed auto pageable pinned device ordered
        case '*'
            printf '%s\n' naive tiled vendor partials fixed auto pageable pinned device
    end
end

function __isomer_types
    if contains (__isomer_command) reveal errors tune
        printf '%s\n' f16 bf16 f32 f64
        return
    end
    __isomer_listed --dtype
    printf '%s\n' e1 e2 e4 e8 e16
    test (__isomer_command) = bench; and echo tf32
end

function __isomer_words
    printf '%s\n' $argv
end

complete -c isomer -n 'test (count (commandline -opc)) -eq 1' -f -a '(__isomer_commands help)'
complete -c isomer -n 'string match -q -- "-*" (commandline -ct)' -a '(__isomer_options)'
complete -c isomer -f -a 'add show list remove' \
    -n 'test (count (commandline -opc)) -eq 2; and test (commandline -opc)[2] = history'
complete -c isomer -f -a '(__isomer_commands kernel --help)' \
    -n 'test (count (commandline -opc)) -eq 2; and test (commandline -opc)[2] = kernel'
complete -c isomer -n '__isomer_has --backend' -l backend -x \
    -a '(__fish_complete_list , "__isomer_words all auto cuda hip opencl openmp")'
complete -c isomer -n '__isomer_has --engine' -l engine -x -a 'threads nccl rccl openmpi mpich'
complete -c isomer -n '__isomer_has --axis' -l axis -x \
    -a '(__fish_complete_list , "__isomer_words 0 1 all")'
complete -c isomer -n '__isomer_has --layout' -l layout -x \
    -a '(__fish_complete_list , "__isomer_words nn nt tn tt n t")'
complete -c isomer -n '__isomer_has --level' -l level -x \
    -a '(__fish_complete_list , "__isomer_listed --level")'
complete -c isomer -n '__isomer_has --against-backend' -l against-backend -x \
    -a 'cuda hip opencl openmp'
complete -c isomer -n '__isomer_has --require' -l require -x \
    -a '(__fish_complete_list , "__isomer_words cuda hip opencl openmp")'
complete -c isomer -n '__isomer_has --available' -l available -x -a 'cuda hip opencl openmp'
for side in a b
    complete -c isomer -n "__isomer_has --device-$side" -l device-$side -x \
        -a 'cuda hip opencl openmp'
end
complete -c isomer -n '__isomer_has --suite' -l suite -x -a '(__isomer_suites)'
complete -c isomer -n '__isomer_has --lab' -l lab -x -a 'A B C D E (printf "%s\n" {A,C,D}(seq 5) B1 B2 C6 E(seq 6))'
complete -c isomer -n '__isomer_has --lab-sizes' -l lab-sizes -x -a 'usual small full'
complete -c isomer -n '__isomer_has --beside' -l beside -r
complete -c isomer -n '__isomer_has --op' -l op -x -a '(__fish_complete_list , __isomer_operations)'
complete -c isomer -n '__isomer_has --variant' -l variant -x \
    -a '(__fish_complete_list , __isomer_variants)'
complete -c isomer -n '__isomer_has --dtype' -l dtype -x \
    -a '(__fish_complete_list , __isomer_types)'
complete -c isomer -n '__isomer_has --input' -l input -x \
    -a '(__fish_complete_list , "__isomer_words uniform normal rows spread10 spread20 spread40 large graded10 graded20 graded40 hidden")'
complete -c isomer -n '__isomer_has --only' -l only -x \
    -a '(__fish_complete_list , "__isomer_words declarations compile chips judge address oclgrind results launch try")'
complete -c isomer -n '__isomer_has --math' -l math -x -a 'strict tf32'
for option in size budget rounds jobs energy-seconds seed fail-on timeout least-effect case library title device machine last within count ranks memory define kernel seconds cflags name sets
    complete -c isomer -n "__isomer_has --$option" -l $option -x
end
for option in json csv markdown junit report data export dir against out output cc
    complete -c isomer -n "__isomer_has --$option" -l $option -r -F
end
complete -c isomer -n '__isomer_has -o' -s o -r -F
