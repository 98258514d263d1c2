# SPDX-License-Identifier: Apache-2.0
# soak.sh asan|tsan: ten minutes of random calls under that sanitizer, with another seed and number
# of threads every half minute. A failure prints the round's seed, which repeats it: isomer_soak 0
# SEED.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"

export ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0:exitcode=86:log_path=$reports/asan"
export UBSAN_OPTIONS="print_stacktrace=1:exitcode=86"
export LSAN_OPTIONS="suppressions=$source_dir/tests/rebuild/leaks.supp:print_suppressions=0"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=86:log_path=$reports/tsan"
fixed=
if [ "$1" = tsan ]; then
    need clang clang
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || clang -fopenmp -fsanitize=thread -x c -o "$scratch/try" - <<END
int main(void) { return 0; }
END
    clang -fopenmp -x c -o "$scratch/try" - <<END || skip "clang has no OpenMP here: install libomp-dev"
int main(void) { return 0; }
END
    runtime=$(ldd "$scratch/try" | awk '/libomp/ { print $3 }')
    OMP_TOOL_LIBRARIES=$(dirname "$(readlink -f "$runtime")")/libarcher.so
    export OMP_TOOL_LIBRARIES
    if have setarch && setarch "$(uname -m)" -R true 2>/dev/null; then
        fixed="setarch $(uname -m) -R"
    fi
    rebuild tsan -DISOMER_WERROR=ON -DISOMER_TOOL=OFF
else
    rebuild asan
fi

turn=0
while [ "$turn" -lt 20 ]; do
    turn=$((turn + 1))
    # shellcheck disable=SC2086
    ISOMER_NUM_THREADS=$((turn % 5 + 1)) $fixed "$rebuilt/tests/soak/isomer_soak" 30 >"$scratch/out" 2>&1 || {
        cat "$scratch/out" "$reports"/* 2>/dev/null || true
        fail "turn $turn"
    }
    paste -sd ' ' "$scratch/out"
    no_reports
done
