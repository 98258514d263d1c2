# SPDX-License-Identifier: Apache-2.0
# ldd.sh: the library and the tool link the C library and one OpenMP runtime, and no vendor library.
. "$ISOMER_TEST_COMMON"
need ldd libc-bin

allowed='^(linux-vdso|linux-gate|ld-linux.*|libc|libm|libdl|librt|libpthread|libgcc_s|libatomic'
allowed="$allowed"'|libgomp|libomp|libisomer)(\.so|-|$)'
for file in "$library" "$tool"; do
    ldd "$file" >"$scratch/ldd" || fail "ldd $file"
    if grep 'not found' "$scratch/ldd"; then
        fail "$file: a library is missing"
    fi
    awk '{ n = split($1, path, "/"); print path[n] }' "$scratch/ldd" >"$scratch/names"
    if grep -Ev "$allowed" "$scratch/names"; then
        fail "$file links the libraries above"
    fi
    runtimes=$(grep -cE '^lib(gomp|omp|iomp5)\.so' "$scratch/names" || true)
    [ "$runtimes" -le 1 ] || fail "$file links $runtimes OpenMP runtimes"
done
