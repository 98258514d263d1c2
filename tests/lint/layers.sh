# SPDX-License-Identifier: Apache-2.0
# layers.sh: dependencies between the parts go one way: program -> public headers -> core -> (table)
# -> backend.
. "$ISOMER_TEST_COMMON"
cd "$source_dir"

tab=$(printf '\t')
# none FOLDERS PATTERN WHY: no line of code there matches; comments do not count.
none() {
    # shellcheck disable=SC2086
    find $1 -path bench/peers -prune -o -name '*.[ch]' -print >"$scratch/files"
    [ -s "$scratch/files" ] || fail "no C files in $1"
    # The text, a tab and its place: the pattern is for the text.
    # shellcheck disable=SC2016 # awk's own variable
    xargs awk '{ sub("/[*].*[*]/", ""); sub("/[*].*", ""); sub("^ *[*].*", ""); print $0 "\t" FILENAME ":" FNR }' \
        <"$scratch/files" | grep -E -- "($2).*$tab" >"$scratch/found" || true
    if [ -s "$scratch/found" ]; then
        cat "$scratch/found"
        fail "$3"
    fi
}
none "core" '#include *[<"](\.\./)*(backends/(cuda|hip|opencl|openmp)|openmp)/' \
    "core includes a backend's header"
none "common" '#include *[<"](\.\./)*(core|backends|bench)/' "common includes the header of a folder above it"
none "backends" '#include *[<"](\.\./)*core/' "a backend includes core's headers"
# Some tests look into a backend: tests/blas at a function that no machine reliably needs;
# tests/abi, tests/fakes and tests/oclgrind at the lists of a vendor's functions; tests/fakes and
# tests/hostile also at the CPU's sensors; tests/offline at the list of kernels, at compilers'
# options, and at the sums that fixed products allow. tests/kernels reads declarations alone.
programs="bench examples"
for folder in tests/*/; do
    case $folder in
    tests/abi/ | tests/blas/ | tests/fakes/ | tests/hostile/ | tests/kernels/ | tests/offline/ | tests/oclgrind/) ;;
    *) programs="$programs $folder" ;;
    esac
done
none "$programs" '#include *[<"](\.\./)*(core|backends)/' \
    "a program includes an internal header"
none "core backends" '(^|[^a-zA-Z_>])(abort|exit|_exit|assert) *\(' "the library aborts or exits"
# Only one file decides which environment variables count.
if grep -nE '(^|[^a-z])getenv *\(' core/*.c | grep -v '^core/environment\.c:'; then
    fail "core reads the environment outside core/environment.c"
fi
none "backends" 'getenv *\( *"[A-Z_]*(PATH|HOME|DIR)"' \
    "a backend reads a variable that names a path by itself: the host's path() judges it"
vendors='openblas|cblas|\bmkl|blis_|cublas|nvrtc|cudart|hiprtc|rocblas|clblast|libamdhip|libcuda|cusparse|rocsparse'
# The peers are what isomer is compared with: they call vendors' libraries directly.
none "core bench include backends/loader backends/trial" "$vendors" "a vendor's name outside its backend's folder"
