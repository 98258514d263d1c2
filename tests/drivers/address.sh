# SPDX-License-Identifier: Apache-2.0
# address.sh quick|full: with little address space, the failures of a vendor's library without
# memory (it hangs, it ends the process) happen in a separate process: every command ends, and
# reports why something is missing.
. "$ISOMER_TEST_COMMON"
need prlimit util-linux
export ISOMER_CACHE_DIR=off

# ends MB CODES COMMAND...: within the deadline, with one of these exit codes; its output is in $scratch/out.
ends() {
    megabytes=$1
    codes=$2
    shift 2
    code=0
    timeout -s KILL 240 prlimit --as=$((megabytes << 20)) "$tool" "$@" >"$scratch/out" 2>&1 || code=$?
    case " $codes " in
    *" $code "*) ;;
    *)
        cat "$scratch/out"
        fail "$* with $megabytes MB ends with $code, not one of: $codes"
        ;;
    esac
    tr -s '\n ' ' ' <"$scratch/out" >"$scratch/line"
    say "$megabytes MB: $*: $code"
}

# info MB: the CPU backend is listed, with a reason if it has no BLAS library.
info() {
    ends "$1" 0 info --all
    grep -q 'openmp ok' "$scratch/line" || { cat "$scratch/out"; fail "$1 MB: openmp is not ok"; }
    if grep -q 'BLAS none' "$scratch/line"; then
        grep -qE 'BLAS remark .*(address space is limited to|failed to map|annot allocate)' \
            "$scratch/line" || { cat "$scratch/out"; fail "$1 MB: no reason why there is no BLAS"; }
    fi
}

# verify MB: cases without a vendor's library pass; the vendor's variant passes, is unsupported, or
# has no memory for some case.
verify() {
    ends "$1" 0 verify --backend openmp --op gemm --dtype f32 --case 'gemm/tiled/f32/nn/*'
    ends "$1" "0 1 4 70" verify --backend openmp --op gemm --dtype f32 --variant vendor
}

if [ "$1" = quick ]; then
    info 240
    # Enough to open the library with two threads, but not for the memory of its first product.
    ends 550 "0 1 4 70" verify --backend openmp --op gemm --dtype f32 --variant vendor
else
    info 40
    for megabytes in 80 120 160 200 240 260 280 300 360 400 500 550 600 700; do
        info "$megabytes"
        verify "$megabytes"
        ends "$megabytes" "0 1 3 4" bench --backend openmp --op gemm --dtype f32 --size 64 \
            --budget 1 --no-roofs
    done
fi
