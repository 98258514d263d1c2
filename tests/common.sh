# SPDX-License-Identifier: Apache-2.0
# common.sh - functions that the test scripts share. ctest passes the paths as ISOMER_TEST_...
set -eu

source_dir=$ISOMER_TEST_SOURCE
build_dir=$ISOMER_TEST_BUILD
library=$ISOMER_TEST_LIBRARY
tool=${ISOMER_TEST_TOOL:-}
cc=$ISOMER_TEST_CC

# ISOMER_ variables of the caller's environment must not affect a test.
unset ISOMER_BACKEND ISOMER_MEMORY_LIMIT ISOMER_MATH ISOMER_KEEP ISOMER_BLAS ISOMER_CC ISOMER_NUM_THREADS ISOMER_CPU_ISA \
    ISOMER_CACHE_DIR ISOMER_TILES ISOMER_BACKEND_PATH ISOMER_LOG ISOMER_TRACE \
    ISOMER_OPENCL_FORCE ISOMER_TRIAL_SECONDS ISOMER_COMM ISOMER_COMM_TIMEOUT
# A table that the user made must not affect a test either.
export ISOMER_TUNED=off

# Tests share what PoCL compiled, and leave nothing in the home folder.
export POCL_CACHE_DIR="${POCL_CACHE_DIR:-$build_dir/tests/cache/pocl}"
mkdir -p "$POCL_CACHE_DIR"

fail() { printf 'FAIL: %s\n' "$*"; exit 1; }
skip() { printf 'SKIP: %s\n' "$*"; exit 77; }
say() { printf '%s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# need TOOL PACKAGE: skips the test, by name, if a tool is missing. In CI, where
# ISOMER_REQUIRE_TOOLS is set, it fails.
need() {
    have "$1" && return
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "$1 is required and not here: install $2"
    skip "$1 is not here: install $2"
}

# preloadable LIBRARY: a path of it for LD_PRELOAD, in which spaces and colons separate libraries.
preloadable() {
    case $1 in
    *[\ :]*)
        ln -sf "$1" "$scratch/${1##*/}"
        printf '%s' "$scratch/${1##*/}"
        ;;
    *) printf '%s' "$1" ;;
    esac
}

# required BACKEND: whether ISOMER_REQUIRE names it, as the tool parses that. An invalid list fails
# the test.
required() {
    [ -n "${ISOMER_REQUIRE:-}" ] || return 1
    [ -n "$tool" ] || fail "ISOMER_REQUIRE is set, and this build has no tool to read it with"
    code=0
    need=$("$tool" info --available "$1" 2>"$scratch/need") || code=$?
    case $code in
    0) [ "$need" = required ] ;;
    3) return 0 ;;
    77) return 1 ;;
    *) fail "$(cat "$scratch/need")" ;;
    esac
}

# expect CODE ARGUMENTS...: runs the tool, which must end with this code; its output is in the files
# out and err.
expect() {
    wanted=$1 code=0
    shift
    "$tool" "$@" >out 2>err || code=$?
    [ "$code" -eq "$wanted" ] || {
        cat out err
        fail "$*: exit code $code instead of $wanted"
    }
}

# stopped SIGNAL CONDITION...: the tool, whose process is $pid, gets the signal once the condition
# holds, and ends as an interrupted run that kept its results.
stopped() {
    signal=$1 tries=0 code=0
    shift
    while ! "$@" && kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 12000 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -"$signal" "$pid"
    wait "$pid" || code=$?
    [ "$code" -eq 130 ] || fail "interrupted: exit code $code"
    says err "interrupted: results are kept"
}

# says FILE TEXT...: the file has each text; line ends and indents count as spaces.
says() {
    file=$1
    shift
    for text; do
        tr -s ' \n' '  ' <"$file" | grep -qF -- "$text" || {
            cat "$file"
            fail "$file does not say \"$text\""
        }
    done
}

# lacks FILE TEXT: the file has no line with this text.
lacks() {
    ! grep -qF -- "$2" "$1" || {
        cat "$1"
        fail "$1 says \"$2\""
    }
}

# fonts_leak: the leak sanitizer does not report what fontconfig keeps until the process ends.
fonts_leak() {
    echo 'leak:libfontconfig' >"$scratch/leaks"
    export LSAN_OPTIONS="suppressions=$scratch/leaks:print_suppressions=0"
}

# A folder that is removed when the script ends.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/isomer-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
