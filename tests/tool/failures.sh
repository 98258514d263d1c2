# SPDX-License-Identifier: Apache-2.0
# failures.sh MUTANTS REFERENCE: the report on a device with wrong results: the case, the position,
# the numbers, and a command that repeats it. Mutant 13 does not use fma in products, so that its
# bits differ.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE
ISOMER_BACKEND_PATH=$1:$2
export ISOMER_BACKEND_PATH

code=0
"$tool" verify --backend openmp,mutant13 --op gemm --dtype f32 --variant naive,tiled --fail-fast \
    --json "$scratch/json" --junit "$scratch/xml" >"$scratch/out" 2>"$scratch/err" || code=$?
cat "$scratch/out"
[ "$code" -eq 1 ] || fail "exit code $code of a device that is wrong"
grep -q '^FAILED gemm/.* on mutant13:0$' "$scratch/out" || fail "no FAILED line"
grep -qE 'element \[.*\] is .*, expected' "$scratch/out" || fail "no element, value and expectation"
grep -q '"status": "failed"' "$scratch/json" || fail "the JSON holds no failure"
grep -q '<failure message=' "$scratch/xml" || fail "the XML holds no failure"

command=$(sed -n 's/^ *repeat with: //p' "$scratch/out")
say "repeating: $command"
unset ISOMER_BACKEND_PATH
code=0
sh -c "$command" >"$scratch/again" 2>&1 || code=$?
[ "$code" -eq 1 ] || fail "the command that repeats it exits with $code"
grep -q '^0 passed, 1 failed' "$scratch/again" || fail "the command does not repeat the one case"

ISOMER_BACKEND_PATH=$2 "$tool" verify --backend openmp,reference --op gemm,transpose --dtype f32,e4 \
    --bitwise >"$scratch/out" || fail "openmp and the reference differ"
[ "$(sed -n 's/^ *digest \(.*\)/\1/p' "$scratch/out" | sort -u | wc -l)" -eq 1 ] ||
    fail "two devices that are right have two digests"
