#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of isomer_add_portability_test run this. The tool reads the lists of backends.
#
#   isomer-portability.sh run TOOL BACKEND REQUIRED OUTPUT PROGRAM [ARGUMENT...]
#   isomer-portability.sh same TOLERANCE OUTPUT...
set -fu

fail() {
    printf 'FAIL: %s\n' "$*"
    exit 1
}

# skip NAME REASON. ctest does not show the output of a skipped test, but it shows labels: the reason
# becomes a label, cut to one line.
skip() {
    brief=$(printf '%s' "$2" | tr '\n;<>&' '     ' | tr -s ' ' |
        sed 's/^iso_[a-z_]*: //; s/ tried: .*//' | cut -c1-80)
    printf '<CTestLabel>skipped %s: %s</CTestLabel>\n' "$1" "$brief"
    printf 'SKIP: %s\n' "$2"
    exit 77
}

run() {
    tool=$1 backend=$2 list=$3 output=$4
    shift 4
    name=${output%.outputs/*}
    name=${name##*/}.$backend
    mkdir -p "$(dirname "$output")" && rm -f "$output" || exit 1
    need=$("$tool" info --available "$backend" ${list:+--require "$list"} 2>"$output.reason")
    code=$?
    reason=$(sed 's/^isomer: //' "$output.reason")
    rm -f "$output.reason"
    case $code in
    0) ;;
    3) fail "$backend is required and not available: $reason" ;;
    77) skip "$name" "$reason" ;;
    *) fail "$tool info --available $backend ends with $code: $reason" ;;
    esac
    # Through tee, so that the output is visible even if a time limit ends the program.
    rm -f "$output.code"
    { ISOMER_BACKEND=$backend "$@"; echo "$?" >"$output.code"; } | tee "$output.part"
    code=$(cat "$output.code") || exit 1
    rm -f "$output.code"
    if [ "$code" -eq 0 ]; then
        mv "$output.part" "$output"
        exit
    fi
    if [ "$code" -eq 77 ] && [ "$need" = required ]; then
        rm -f "$output.part"
        fail "$backend is required and the program skipped it"
    elif [ "$code" -eq 77 ]; then
        said=$(tail -n 1 "$output.part")
        rm -f "$output.part"
        skip "$name" "the program skipped it${said:+: $said}"
    fi
    rm -f "$output.part"
    exit "$code"
}

# Compares two outputs: only numbers may differ, each within the tolerance of the greater one. A
# digit that belongs to a word is text.
near() {
    LC_ALL=C awk -v tolerance="$1" '
        function bad(line, why) {
            printf "line %d: %s\n< %s\n> %s\n", NR, why, line, $0
            failed = 1
            exit 1
        }
        # The next number of `rest`: what is before it in `before`, it in `number`; 0: none.
        function next_number(    at, from) {
            for (at = 1; at <= length(rest); at++) {
                from = substr(rest, at)
                if (from !~ /^[-+]?[.]?[0-9]/ || (at > 1 && substr(rest, at - 1, 1) ~ /[A-Za-z0-9_.]/))
                    continue
                before = substr(rest, 1, at - 1)
                match(from, /^[-+]?[0-9]*[.]?[0-9]*/)
                number = substr(from, 1, RLENGTH)
                rest = substr(from, RLENGTH + 1)
                if (match(rest, /^[eE][-+]?[0-9]+/)) {
                    number = number substr(rest, 1, RLENGTH)
                    rest = substr(rest, RLENGTH + 1)
                }
                return 1
            }
            before = rest
            return 0
        }
        function size(x) { return x < 0 ? -x : x }
        function compare(one, two,    a, b, text_a, text_b, more_a, more_b, left_a, left_b, most) {
            left_a = one
            left_b = two
            do {
                rest = left_a; more_a = next_number(); left_a = rest; text_a = before; a = number
                rest = left_b; more_b = next_number(); left_b = rest; text_b = before; b = number
                if (text_a != text_b || more_a != more_b)
                    bad(one, "other text")
                most = size(a + 0) > size(b + 0) ? size(a + 0) : size(b + 0)
                if (more_a && (a "") != (b "") && !(size(a - b) <= tolerance * most))
                    bad(one, a " and " b " are further apart than " tolerance)
            } while (more_a)
        }
        {
            if ((getline line < first) <= 0)
                bad("", "only one has it")
            compare(line, $0)
        }
        END {
            if (failed)
                exit 1
            if ((getline line < first) > 0) {
                printf "line %d: only one has it\n< %s\n", NR + 1, line
                exit 1
            }
        }' first="$2" "$3"
}

same() {
    tolerance=$1 first='' count=0
    shift
    for file; do
        [ -f "$file" ] || continue
        count=$((count + 1))
        if [ -z "$first" ]; then
            first=$file
        elif [ "$tolerance" = 0 ]; then
            diff "$first" "$file" ||
                fail "${first##*/} (<) and ${file##*/} (>) print different things"
        else
            near "$tolerance" "$first" "$file" ||
                fail "${first##*/} (<) and ${file##*/} (>) print different things"
        fi
    done
    if [ "$count" -lt 2 ]; then
        name=${1%.outputs/*}
        skip "${name##*/}.same" \
            "the program ran on fewer than two backends ($count): nothing to compare"
    fi
    if [ "$tolerance" = 0 ]; then
        printf '%s backends print the same\n' "$count"
    else
        printf '%s backends print the same, numbers within %s\n' "$count" "$tolerance"
    fi
}

job=$1
shift
case $job in
run) run "$@" ;;
same) same "$@" ;;
*)
    printf 'isomer-portability.sh: unknown job %s\n' "$job" >&2
    exit 2
    ;;
esac
