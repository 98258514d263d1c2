# SPDX-License-Identifier: Apache-2.0
# same.sh PROGRAM BACKEND TEXT [WORDS...]: the program says the text on that backend, or on its
# stand-in. With each further argument, which has the program's words, it says what it says on the CPU.
. "$ISOMER_TEST_COMMON"
program=$1 backend=$2 text=$3
shift 3
mkdir -p "$build_dir/tests/cache/isomer"
chmod 700 "$build_dir/tests/cache/isomer"
export ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer"
cd "$scratch"

# on BACKEND [WORDS]: runs the program; the file out has what it prints.
on() {
    code=0
    # shellcheck disable=SC2086 # several words
    ISOMER_BACKEND=$1 timeout 600 "$program" ${2:-} >out 2>&1 || code=$?
    [ "$code" -eq 0 ] || fail "$program ${2:-} exits with $code on $1: $(cat out)"
}

case $backend in
cuda | hip)
    have c++ || skip "c++ is not here: install g++"
    export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip"
    # The leak checker cannot walk the storage of threads in kernels that were unloaded.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    ;;
opencl)
    "$tool" info --backend opencl >/dev/null 2>why || {
        ! required opencl || fail "$(cat why)"
        skip "$(cat why)"
    }
    ;;
esac
on "$backend"
cat out
says out "$text"
for words; do
    on openmp "$words"
    mv out wanted
    on "$backend" "$words"
    cat out
    cmp out wanted || fail "on openmp it says: $(cat wanted)"
done
