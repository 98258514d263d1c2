# SPDX-License-Identifier: Apache-2.0
# Compiles the programs of the CUDA backend by the real NVRTC, which needs no device. A register that spills
# is seen by ptxas alone, where there is a toolkit; here it is that each program compiles to a cubin.
#
#   nvrtc.sh PROGRAMS quick|full
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
programs=$1
. "$here/common.sh"

architectures=sm_90
[ "$2" = quick ] || architectures="sm_75 sm_80 sm_90 sm_100"
step=1
[ "$2" != quick ] || step=3 # about 25 s of one core
classes=warp32
[ "$2" = quick ] || classes="warp32 small"
for class in $classes; do
    mkdir "$scratch/$class"
    "$programs/list" "$class" "$scratch/$class" || fail "no list of programs for $class"
    for architecture in $architectures; do
        started=$(date +%s)
        output=$scratch/$architecture-$class
        code=0
        compile_all nvrtc - "$architecture" "$scratch/$class" "$output" 0 "$step" || code=$?
        if [ "$code" = 77 ]; then
            case ,${ISOMER_REQUIRE:-}, in
            *,cuda,*) fail "NVRTC is required and not here" ;;
            esac
            skip "NVRTC is not here: install CUDA's libnvrtc 12 or newer"
        fi
        [ "$code" = 0 ] || fail "$architecture ($class): exit code $code"
        made=$(find "$output" -name '*.bin' | wc -l)
        [ "$made" = $((($(wc -l <"$scratch/$class/list") + step - 1) / step)) ] || fail "$architecture ($class): $made programs"
        say "$architecture ($class), $(($(date +%s) - started)) s: $made programs"
    done
done
