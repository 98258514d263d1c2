# SPDX-License-Identifier: Apache-2.0
# asan.sh [tool]: the library's quick tier under the sanitizers for addresses, leaks and undefined
# behaviour, except the mutants, which are wrong on purpose, tests that take long and examples. With
# `tool`, which takes three times as long: all of these, and the tool.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/rebuild/rebuild.sh"

# If a library's thread-local block begins 16 bytes into a page, the leak checker of gcc 12 reads
# what precedes it as its size and crashes: it is told not to follow those blocks. Stack frames stay
# on the stack: gcc 12 can move them off it, to find uses after a return, but aligns them to 32
# bytes there, and stores of 64-byte vectors in them fault. Enormous allocations are refused here as
# they are elsewhere. Suppressions name only foreign code.
export ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=0:intercept_tls_get_addr=0:exitcode=86:log_path=$reports/asan"
export UBSAN_OPTIONS="print_stacktrace=1:exitcode=86"
export LSAN_OPTIONS="suppressions='$source_dir/tests/rebuild/leaks.supp':print_suppressions=0"

"$cc" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
    -o "$scratch/planted" "$source_dir/tests/rebuild/planted.c" || fail "planted.c does not compile"
reported 'heap-buffer-overflow' "$scratch/planted" overflow-heap
reported 'detected memory leaks' "$scratch/planted" leak
reported 'signed integer overflow' "$scratch/planted" overflow-int

# Kernels that the build compiles are not sanitized: one instruction set saves time.
if [ "${1:-}" = tool ]; then
    rebuild_name=asan-tool
    rebuild asan -DISOMER_KERNEL_SETS=generic
    except='full|mutants'
else
    rebuild asan -DISOMER_TOOL=OFF "-DCMAKE_C_FLAGS_DEBUG=-O0 -g1"
    except='full|mutants|slow|examples'
fi
# A test of fork() hung here once, and not in 350 runs by hand: one that runs out of time tries once
# more.
run_tests --repeat after-timeout:2 --label-exclude "^($except)\$"
no_reports
