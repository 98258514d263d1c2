#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the tests of isomer_add_portability_test run.
#
#   isomer-portability.sh run TOOL BACKEND REQUIRED OUTPUT PROGRAM [ARGUMENT...]
#   isomer-portability.sh same OUTPUT...
set -fu

# required SPEC LIST: whether the list or ISOMER_REQUIRE names it, its backend, or a device of it.
required() {
    IFS=,
    for entry in $2 ${ISOMER_REQUIRE:-}; do
        case $entry in
        "$1" | "${1%%:*}" | "$1":*)
            unset IFS
            return 0
            ;;
        esac
    done
    unset IFS
    return 1
}

# Whether that backend or device can be opened: 0, or the tool's exit code with the reason. What
# else is required is not the question here.
ask() {
    reason=$(unset ISOMER_REQUIRE && "$tool" info --backend "$1" 2>&1 >/dev/null)
}

# missing SPEC LIST
missing() {
    if required "$1" "$2"; then
        printf 'FAIL: %s is required and not available: %s\n' "$1" "$reason"
        exit 1
    fi
    printf 'SKIP: %s\n' "$reason"
    exit 77
}

run() {
    tool=$1 backend=$2 list=$3 output=$4
    shift 4
    mkdir -p "$(dirname "$output")" && rm -f "$output" || exit 1
    ask "$backend"
    code=$?
    [ "$code" -ne 3 ] || missing "$backend" "$list"
    if [ "$code" -eq 2 ] && [ "$backend" != "${backend%%:*}" ]; then
        # A device that this machine's backend does not have is missing, too; what no backend is
        # called is a mistake.
        said=$reason
        if ask "${backend%%:*}"; then
            reason=$said
            missing "$backend" "$list"
        fi
        reason=$said
    fi
    if [ "$code" -ne 0 ]; then
        printf 'FAIL: %s info --backend %s ends with %s: %s\n' "$tool" "$backend" "$code" "$reason"
        exit 1
    fi
    # Through tee, so that what it printed is seen also where a time limit ends it.
    rm -f "$output.code"
    { ISOMER_BACKEND=$backend "$@"; echo "$?" >"$output.code"; } | tee "$output.part"
    code=$(cat "$output.code") || exit 1
    rm -f "$output.code"
    if [ "$code" -eq 0 ]; then
        mv "$output.part" "$output"
        exit
    fi
    rm -f "$output.part"
    if [ "$code" -eq 77 ] && required "$backend" "$list"; then
        printf 'FAIL: %s is required and the program skipped it\n' "$backend"
        exit 1
    fi
    exit "$code"
}

same() {
    first='' count=0
    for file; do
        [ -f "$file" ] || continue
        count=$((count + 1))
        if [ -z "$first" ]; then
            first=$file
        elif ! diff "$first" "$file"; then
            printf 'FAIL: %s (<) and %s (>) print different things\n' "${first##*/}" "${file##*/}"
            exit 1
        fi
    done
    if [ "$count" -lt 2 ]; then
        printf 'SKIP: the program ran on fewer than two backends (%s): nothing to compare\n' "$count"
        exit 77
    fi
    printf '%s backends print the same\n' "$count"
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
