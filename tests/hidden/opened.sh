# SPDX-License-Identifier: Apache-2.0
# opened.sh: choosing one backend opens no library of another's list, as shown by the dynamic
# linker's trace of what this process tried to open; and all backends can be open in one process.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE

# The backend searches its own libraries whether or not it is available.
names_of() {
    case $1 in
    cuda) echo 'libcuda\.|nvrtc|cublas|cusparse|nvidia-ml' ;;
    hip) echo 'amdhip|hiprtc|rocblas|hipblas|rocsparse|rocm_smi' ;;
    opencl) echo 'OpenCL\.so|clblast' ;;
    openmp) echo 'openblas|libblis|libmkl' ;;
    esac
}

# traced BACKEND: prints what was opened, one name a line. A vendor's loader may open anything, so
# only requests by libisomer count.
traced() {
    rm -f "$scratch"/trace*
    LD_DEBUG=files LD_DEBUG_OUTPUT=$scratch/trace ISOMER_CACHE_DIR=$scratch/cache \
        "$tool" verify --backend "$1" --op transpose >"$scratch/out" 2>&1 || true
    cat "$scratch"/trace* | grep 'dynamically loaded by .*libisomer' |
        sed -n 's/.*file=\([^ ;]*\).*/\1/p' | sort -u >"$scratch/opened"
}

mkdir -m 700 "$scratch/cache"
for backend in cuda hip opencl openmp; do
    traced $backend
    say "$backend opened: $(tr '\n' ' ' <"$scratch/opened")"
    grep -qE "$(names_of $backend)" "$scratch/opened" ||
        fail "the trace for $backend shows none of its own files: it would prove nothing"
    for other in cuda hip opencl openmp; do
        [ $other = $backend ] && continue
        if grep -E "$(names_of $other)" "$scratch/opened"; then
            fail "--backend $backend opened the above, which are on $other's list"
        fi
    done
done

# Together: every available backend in one process.
ISOMER_CACHE_DIR=$scratch/cache "$tool" verify --backend all --op transpose --dtype e4 >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    fail "all backends together fail"
}
tail -n 1 "$scratch/out"
