# SPDX-License-Identifier: Apache-2.0
# lu.sh PROGRAM BACKEND: the LU example on that backend, for orders and panels that do not divide
# each other, and for panels of one column and of all. The program itself checks its residual.
. "$ISOMER_TEST_COMMON"
program=$1
backend=$2
mkdir -p "$build_dir/tests/cache/isomer"
chmod 700 "$build_dir/tests/cache/isomer"
export ISOMER_CACHE_DIR="$build_dir/tests/cache/isomer" ISOMER_BACKEND="$backend"

factor() { # WORDS...
    code=0
    timeout 250 "$program" "$@" >"$scratch/out" 2>&1 || code=$?
    cat "$scratch/out"
    [ "$code" -eq 0 ] || fail "lu $* exits with $code"
    grep -q "^$backend:.* is [0-9.e+-]*\$" "$scratch/out" || fail "lu $* prints no residual"
}
factor_all() {
    factor 1
    factor 2 1
    factor 33 32
    factor 64 64
    factor 100 24
}

why=
ran=
if (unset ISOMER_REQUIRE && "$tool" info --backend "$backend" >/dev/null 2>"$scratch/why"); then
    factor_all
    ran=yes
else
    why=$(cat "$scratch/why")
    case ",${ISOMER_REQUIRE:-}," in
    *,"$backend",*) fail "ISOMER_REQUIRE names $backend, which is not available: $why" ;;
    esac
    [ "$backend" != opencl ] || [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] ||
        fail "OpenCL is required and not here: install ocl-icd-libopencl1 and pocl-opencl-icd"
fi
if { [ "$backend" = cuda ] || [ "$backend" = hip ]; } && have c++; then
    fakes=$build_dir/tests/fakes
    export ISOMER_CUDA_PATH="$fakes/cuda" ISOMER_ROCM_PATH="$fakes/hip"
    # The leak checker cannot walk the storage of threads in kernels that were unloaded.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    factor_all
    grep -q 'test fake\|test stand-in' "$scratch/out" || fail "the stand-in is not used"
    ran=yes
fi
[ -n "$ran" ] || skip "$backend is not available here: $why"

# refuses CODE TEXT WORDS...: wrong arguments are reported, with another exit code than a wrong
# result.
refuses() {
    wanted=$1
    text=$2
    shift 2
    code=0
    "$program" "$@" >"$scratch/out" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "lu $* exits with $code"
    grep -q "$text" "$scratch/out" || fail "lu $* does not say: $text"
}
refuses 2 '^usage: lu' 0
refuses 2 '^usage: lu' 5 0
refuses 2 '^usage: lu' x
refuses 2 '^usage: lu' 1 2 3
refuses 2 '^usage: lu' 30001
ISOMER_BACKEND=nowhere
refuses 1 'nowhere' 4
