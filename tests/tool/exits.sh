# SPDX-License-Identifier: Apache-2.0
# exits.sh: exit codes, their messages, and the stream that they are written to.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE

# exits CODE COMMAND...: runs it, with its output in $scratch/out and $scratch/err.
exits() {
    wanted=$1
    shift
    code=0
    "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] && return
    cat "$scratch/out" "$scratch/err"
    fail "exit code $code, not $wanted: $*"
}
says() { grep -qF -- "$1" "$scratch/err" || { cat "$scratch/err"; fail "no \"$1\" in: $2"; }; }

# has_no BACKEND: whether the backend is unavailable, so that requesting it must fail.
has_no() {
    code=0
    "$tool" verify --backend "$1" --case stream/event/elapsed >/dev/null 2>&1 || code=$?
    [ "$code" -eq 3 ]
}

exits 0 "$tool" help
grep -q verify "$scratch/out" || fail "help does not name verify"
exits 0 "$tool" --version
grep -qE '^isomer [0-9]+\.[0-9]+\.[0-9]+(-dev)?$' "$scratch/out" || fail "--version is no version"
exits 0 "$tool" -V
grep -qE '^isomer [0-9]' "$scratch/out" || fail "-V is no version"
exits 0 "$tool" bench -V
exits 0 "$tool" -h
exits 2 "$tool" help bnch
says '"bench"' "help of a misspelt command"
exits 2 "$tool" help bench verify
for command in info verify bench compare report history tune vectors kernel; do
    exits 0 "$tool" "$command" --help
    mv "$scratch/out" "$scratch/help"
    grep -q "^Usage: isomer $command" "$scratch/help" || fail "no usage of $command"
    for way in "help $command" "$command -h"; do
        # shellcheck disable=SC2086 # two words
        exits 0 "$tool" $way
        cmp "$scratch/out" "$scratch/help" || fail "isomer $way is not isomer $command --help"
    done
done
exits 0 "$tool" info --backend openmp
[ "$(wc -l <"$scratch/out")" -le 10 ] || fail "info is not short by default"
grep -q "openmp:0 .*core" "$scratch/out" || fail "info does not name the processor"
grep -q -- --all "$scratch/out" || fail "info does not say how to get more"
exits 0 env ISOMER_TILES=small "$tool" info --backend openmp
grep -q "ISOMER_TILES  *small" "$scratch/out" || fail "info does not say what was set"
exits 0 "$tool" info --all --backend openmp
grep -q "instruction set" "$scratch/out" || fail "info --all lacks properties"
grep -q "ISOMER_BLAS  *not set" "$scratch/out" || fail "info --all lacks settings"
exits 0 "$tool" info
[ ! -s "$scratch/err" ] || fail "info writes to stderr"
LC_ALL=C.UTF-8 grep -E '^.{101}' "$scratch/out" | grep -v '/' && fail "lines of info are over 100 columns"

exits 2 "$tool"
exits 2 "$tool" verfiy
says '"verify"' "a misspelt command"
exits 2 "$tool" xyzzy
says 'info, verify, bench' "an unknown command"
exits 2 "$tool" verify --bitwize
says --bitwise "a misspelt option"
exits 2 "$tool" verify --op
says 'needs a value' "an option without its value"
exits 2 "$tool" verify --op=
exits 2 "$tool" verify --bitwise=yes
exits 2 "$tool" verify stray
exits 2 "$tool" verify --op gem
says '"gemm"' "a misspelt operation"
grep -q stream "$scratch/err" && fail "an older word is offered"
exits 2 "$tool" bench --op gem
says '"gemm"' "a misspelt operation of bench"
exits 2 "$tool" compare --op triadd none.json none.json
says '"triad"' "a misspelt map of compare"
exits 2 "$tool" verify --variant tilde
says '"tiled"' "a misspelt variant"
exits 2 "$tool" verify --dtype f31
exits 2 "$tool" verify --suite all
exits 2 "$tool" verify --seed -1
exits 2 "$tool" verify --seed 9223372036854775808
says 'from 0 to 9223372036854775807' "a seed that a file cannot hold"
for list in --op --variant --dtype; do
    exits 2 "$tool" verify "$list" ,
    says "$list: the list \",\" has no entry" "a list of nothing"
done
exits 2 "$tool" verify --case no/such/case
says --list "an unknown case"

exits 2 "$tool" verify --backend openmpp --op stream
says '"openmp"' "a misspelt backend"
grep -q iso_ "$scratch/err" && fail "a message names a function of the library"
exits 2 "$tool" bench --backend openmp:7
says 'isomer: "openmp:7" has an index' "a device that is not there"
exits 2 env ISOMER_BACKEND=cudaa "$tool" verify --op stream
says '"cuda"' "a misspelt ISOMER_BACKEND"
exits 2 env ISOMER_BACKEND= "$tool" verify --op stream
says ISOMER_BACKEND "an empty ISOMER_BACKEND"
exits 2 "$tool" verify --backend ,
exits 0 env ISOMER_BACKEND=cudaa "$tool" verify --backend openmp --op stream
exits 0 env ISOMER_BACKEND=openmp "$tool" verify --op stream

if has_no cuda; then
    exits 3 env ISOMER_BACKEND=cuda "$tool" verify --op stream
    says libcuda.so.1 "ISOMER_BACKEND=cuda"
    exits 3 "$tool" verify --backend openmp,cuda --op stream
    says libcuda.so.1 "--backend openmp,cuda"
    exits 3 "$tool" verify --backend openmp --require cuda --op stream
    says '--require' "--require cuda"
    exits 3 env ISOMER_REQUIRE=openmp,cuda "$tool" verify --backend openmp --op stream
    says ISOMER_REQUIRE "ISOMER_REQUIRE=openmp,cuda"
else
    say "cuda is here: its absence is not tried"
fi
exits 0 env ISOMER_REQUIRE=openmp "$tool" verify --backend openmp --op stream

exits 4 "$tool" verify --op none
exits 4 "$tool" verify --backend openmp --op gemm --dtype e16
exits 4 "$tool" verify --backend openmp --op sum --variant vendor --dtype i32
exits 4 "$tool" verify --list --op none
