# SPDX-License-Identifier: Apache-2.0
# fuzz.sh PROGRAM [SECONDS SEED]: runs the files of corpus/ through every reader, and mutations of
# them for SECONDS each.
. "$ISOMER_TEST_COMMON"
program=$1 seconds=${2:-0} seed=${3:-1}
corpus=$source_dir/tests/hostile/corpus
unset ISOMER_REQUIRE ISOMER_CUDA_PATH ISOMER_ROCM_PATH CUDA_PATH
TMPDIR=$scratch FUZZ_KEEP=$scratch/kept
export TMPDIR FUZZ_KEEP FUZZ_TARGET
for folder in "$corpus"/*/; do
    FUZZ_TARGET=$(basename "$folder")
    if [ "$seconds" = 0 ]; then
        set -- replay "$folder"*
    else
        set -- mutate "$seconds" "$seed" "$folder"*
    fi
    code=0
    "$program" "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq 0 ] || {
        tail -n 60 "$scratch/out"
        say "the input, after 8 bytes of its length:"
        head -c 2000 "$FUZZ_KEEP" | od -c | head -n 80
        fail "$FUZZ_TARGET ends with $code"
    }
    say "$FUZZ_TARGET: $(tail -n 1 "$scratch/out")"
done
