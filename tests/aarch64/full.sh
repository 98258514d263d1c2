# SPDX-License-Identifier: Apache-2.0
# full.sh: the quick suite of isomer for aarch64, built as it is released, under qemu-user: the
# digests are this machine's with each instruction set.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/aarch64/common.sh"

cross_build full
isa neon cortex-a57
isa neon max,sve-default-vector-length=16
isa sve256 max,sve-default-vector-length=32
isa sve512 a64fx

digests "$scratch/here" "$tool" verify --backend openmp
for run in neon:16 generic:16 sve256:32 sve512:64; do
    digests "$scratch/arm" "$qemu" -cpu "max,sve-default-vector-length=${run#*:}" -E ISOMER_CPU_ISA="${run%:*}" \
        "$emulated" verify --backend openmp
    same "aarch64, ${run%:*}" "$scratch/here" "$scratch/arm"
done

kernels_both
for run in neon:16 generic:16 sve256:32 sve512:64; do
    kernels_run "max,sve-default-vector-length=${run#*:}" "${run%:*}"
done
