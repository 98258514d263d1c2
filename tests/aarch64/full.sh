# SPDX-License-Identifier: Apache-2.0
# full.sh: the quick suite of isomer for aarch64, built as it is released, under qemu-user: the
# digests are this machine's with each instruction set.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/aarch64/common.sh"

cross_build full
isa neon cortex-a57

digests "$scratch/here" "$tool" verify --backend openmp
for set in neon generic; do
    digests "$scratch/arm" "$qemu" -cpu max,sve=off -E ISOMER_CPU_ISA=$set "$emulated" verify --backend openmp
    same "aarch64, $set" "$scratch/here" "$scratch/arm"
done
