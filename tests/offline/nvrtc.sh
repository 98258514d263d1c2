# SPDX-License-Identifier: Apache-2.0
# nvrtc.sh PROGRAMS quick|full: compiles the programs of the CUDA backend by the real NVRTC, which
# needs no device. Only ptxas, which needs a toolkit, reports spilled registers; this test only
# checks that each program compiles to a cubin.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"

architectures=sm_90
[ "$2" = quick ] || architectures="sm_75 sm_80 sm_90 sm_100"
step=1
[ "$2" != quick ] || step=6 # about half a minute of one core
classes=warp32
[ "$2" = quick ] || classes="warp32 small"
for class in $classes; do
    mkdir "$scratch/$class"
    "$programs/list" "$class" "$scratch/$class" || fail "no list of programs for $class"
    # The sample has the norm of f64, whose constants not every version of NVRTC can read.
    norm=$(grep -n -m1 '^reduce.*ISO_DTYPE=4 -DISO_OP=8 ' "$scratch/$class/list" | cut -d: -f1)
    [ -n "$norm" ] || fail "$class: the list has no norm2 of f64"
    part=$(((norm - 1) % step))
    for architecture in $architectures; do
        started=$(date +%s)
        output=$scratch/$architecture-$class
        code=0
        compile_all nvrtc - "$architecture" "$scratch/$class" "$output" "$part" "$step" || code=$?
        if [ "$code" = 77 ]; then
            ! required cuda || fail "NVRTC is required and not here"
            skip "NVRTC is not here: install CUDA's libnvrtc 12 or newer"
        fi
        [ "$code" = 0 ] || fail "$architecture ($class): exit code $code"
        made=$(find "$output" -name '*.bin' | wc -l)
        wanted=$((($(wc -l <"$scratch/$class/list") - part + step - 1) / step))
        [ "$made" = "$wanted" ] || fail "$architecture ($class): $made programs"
        say "$architecture ($class), $(($(date +%s) - started)) s: $made programs"
    done
done
