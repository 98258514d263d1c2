#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the tests of isomer_add_portability_test run.
#
#   isomer-portability.sh run TOOL BACKEND REQUIRED OUTPUT PROGRAM [ARGUMENT...]
#   isomer-portability.sh same FOLDER
set -u

job=$1
shift

required() {
    case ",$2,${ISOMER_REQUIRE:-}," in
    *",$1,"*) return 0 ;;
    esac
    return 1
}

run() {
    tool=$1 backend=$2 list=$3 output=$4
    shift 4
    mkdir -p "$(dirname "$output")" || exit 1
    rm -f "$output"
    reason=$("$tool" info --backend "$backend" 2>&1 >/dev/null)
    code=$?
    if [ "$code" -eq 3 ] && ! required "$backend" "$list"; then
        printf 'SKIP: %s\n' "$reason"
        exit 77
    elif [ "$code" -eq 3 ]; then
        printf 'FAIL: %s is required and not available: %s\n' "$backend" "$reason"
        exit 1
    elif [ "$code" -ne 0 ]; then
        printf 'FAIL: %s info --backend %s ends with %s: %s\n' "$tool" "$backend" "$code" "$reason"
        exit 1
    fi
    ISOMER_BACKEND=$backend "$@" >"$output.part"
    code=$?
    cat "$output.part"
    if [ "$code" -eq 0 ]; then
        mv "$output.part" "$output"
        exit 0
    fi
    rm -f "$output.part"
    if [ "$code" -eq 77 ] && required "$backend" "$list"; then
        printf 'FAIL: %s is required and the program skipped it\n' "$backend"
        exit 1
    fi
    exit "$code"
}

same() {
    first= count=0
    for file in "$1"/*; do
        [ -f "$file" ] || continue
        case $file in *.part) continue ;; esac
        count=$((count + 1))
        if [ -z "$first" ]; then
            first=$file
        elif ! diff "$first" "$file"; then
            printf 'FAIL: %s and %s print different things (above)\n' "${first##*/}" "${file##*/}"
            exit 1
        fi
    done
    if [ "$count" -lt 2 ]; then
        printf 'SKIP: %s backends ran: nothing to compare\n' "$count"
        exit 77
    fi
    printf '%s backends print the same\n' "$count"
}

case $job in
run) run "$@" ;;
same) same "$@" ;;
*)
    printf 'isomer-portability.sh: unknown job %s\n' "$job" >&2
    exit 2
    ;;
esac
