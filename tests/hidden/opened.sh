# SPDX-License-Identifier: Apache-2.0
# opened.sh: choosing one backend opens no file of another's list, shown by the dynamic linker's own
# trace of what this process tried to open; and all backends are opened side by side in one process.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE

# Whether the backend is there or not, its own libraries are what is looked for.
names_of() {
    case $1 in
    cuda) echo 'libcuda\.|nvrtc|cublas|nvidia-ml' ;;
    hip) echo 'amdhip|hiprtc|rocblas|hipblas|rocm_smi' ;;
    opencl) echo 'OpenCL\.so|clblast' ;;
    openmp) echo 'openblas|libblis|libmkl' ;;
    esac
}

# traced BACKEND: what was opened, one name a line. A vendor's own loader may open what it likes, so only
# what is asked for in the name of libisomer counts.
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

# Side by side: every backend that is there, in one process.
ISOMER_CACHE_DIR=$scratch/cache "$tool" verify --backend all --op transpose --dtype e4 >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    fail "all backends together fail"
}
tail -n 1 "$scratch/out"
