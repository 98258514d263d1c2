# SPDX-License-Identifier: Apache-2.0
# verify.sh FOLDER: how `isomer verify` reports a faulty plug-in, which is in FOLDER.
. "$ISOMER_TEST_COMMON"
ISOMER_BACKEND_PATH=$1
export ISOMER_BACKEND_PATH

# expect CODE WORD FAULT arguments...: the exit code, and a word of the output.
expect() {
    expected=$1 word=$2 fault=$3
    shift 3
    code=0
    ISOMER_FAULT=$fault "$tool" verify --backend fault --suite quick "$@" >"$scratch/out" 2>&1 ||
        code=$?
    if [ "$code" -ne "$expected" ]; then
        tail -n 30 "$scratch/out"
        fail "with $fault, isomer verify $* exited with $code, not with $expected"
    fi
    grep -q -e "$word" "$scratch/out" || {
        tail -n 30 "$scratch/out"
        fail "with $fault, isomer verify $* does not say \"$word\""
    }
    say "$fault $*: exit code $code, says \"$word\""
}

expect 0 'no products here' no-gemm --op gemm,transfer
expect 4 'no products here' no-gemm --op gemm
expect 3 faultInit probe-fails
expect 3 faultDeviceCount no-device
for operation in gemm transpose reduce; do
    expect 1 -- wrong-result --op "$operation" --fail-fast
    expect 1 faultSync late-error --op "$operation" --fail-fast
    expect 1 GONE device-lost --op "$operation" --fail-fast
    expect 1 faultLaunch execute-fails --op "$operation" --fail-fast
    expect 1 'second thoughts' unsupported --op "$operation" --fail-fast
done
