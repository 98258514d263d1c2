# SPDX-License-Identifier: Apache-2.0
# The quick tier under the sanitizers for addresses, leaks and undefined behaviour, but for the
# mutants, which are wrong on purpose.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"

# The sanitizer takes what lies before a library's thread-local block for its size where the block happens to
# begin 16 bytes into a page, and crashes when it looks for leaks (gcc 12): it does not follow those blocks.
# Stack frames stay on the stack: where gcc 12 moves them off it, to find uses after a return, they are
# aligned to 32 bytes, and the stores of 64-byte vectors in them fault. Enormous allocations are refused
# here as they are elsewhere. Suppressions name foreign code only.
export ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0:exitcode=86:log_path=$reports/asan"
export UBSAN_OPTIONS="print_stacktrace=1:exitcode=86"
export LSAN_OPTIONS="suppressions='$source_dir/tests/rebuild/leaks.supp':print_suppressions=0"

"$cc" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
    -o "$scratch/planted" "$source_dir/tests/rebuild/planted.c" || fail "planted.c does not compile"
reported 'heap-buffer-overflow' "$scratch/planted" overflow-heap
reported 'detected memory leaks' "$scratch/planted" leak
reported 'signed integer overflow' "$scratch/planted" overflow-int

rebuild asan
run_tests --label-exclude '^(full|mutants)$'
no_reports
