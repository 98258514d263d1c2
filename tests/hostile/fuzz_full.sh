# SPDX-License-Identifier: Apache-2.0
# fuzz_full.sh SECONDS: every reader under the sanitizers for addresses and undefined behaviour, for
# SECONDS each: with libFuzzer, or if clang has none with seeded mutations of the corpus. The corpus
# grows in build/release/fuzz/corpus; findings are added to tests/hostile/corpus once they are
# fixed.
. "$ISOMER_TEST_COMMON"
seconds=$1
fuzz=$build_dir/fuzz
corpus=$source_dir/tests/hostile/corpus
export ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0:exitcode=86"
export UBSAN_OPTIONS="print_stacktrace=1:exitcode=86"
export LSAN_OPTIONS="suppressions=$source_dir/tests/rebuild/leaks.supp:print_suppressions=0"
mkdir -p "$fuzz"

printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }\n' >"$scratch/try.c"
set -- -DISOMER_SANITIZE=address,undefined -DISOMER_REBUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug \
    '-DCMAKE_C_FLAGS_DEBUG=-O1 -g'
if clang -fsanitize=fuzzer,address -o "$scratch/try" "$scratch/try.c" 2>"$scratch/log"; then
    with=libFuzzer
    set -- "$@" -DCMAKE_C_COMPILER=clang -DISOMER_FUZZ=ON
else
    with=changes
fi
(
    cmake -S "$source_dir" -B "$fuzz/$with" -G "$ISOMER_TEST_GENERATOR" "$@"
    cmake --build "$fuzz/$with" --parallel "$(nproc)" --target isomer_fuzz
) >"$scratch/log" 2>&1 || {
    tail -n 40 "$scratch/log"
    fail "the build for fuzzing"
}
program=$fuzz/$with/tests/hostile/isomer_fuzz
say "$with, $seconds s for each reader"
[ "$with" = libFuzzer ] || exec sh "$source_dir/tests/hostile/fuzz.sh" "$program" "$seconds" "$(date +%s)"

TMPDIR=$scratch
export TMPDIR FUZZ_TARGET
cd "$scratch"
for folder in "$corpus"/*/; do
    FUZZ_TARGET=$(basename "$folder")
    mkdir -p "$fuzz/corpus/$FUZZ_TARGET"
    "$program" -max_total_time="$seconds" -max_len=16384 -timeout=60 -rss_limit_mb=4096 \
        "$fuzz/corpus/$FUZZ_TARGET" "$folder" >"$scratch/out" 2>&1 || {
        tail -n 60 "$scratch/out"
        for found in crash-* leak-* timeout-* oom-*; do
            [ ! -e "$found" ] || { cp "$found" "$fuzz/" && say "the input: $fuzz/$found"; }
        done
        fail "$FUZZ_TARGET"
    }
    say "$FUZZ_TARGET: $(grep -a 'Done' "$scratch/out")"
done
