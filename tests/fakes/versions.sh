# SPDX-License-Identifier: Apache-2.0
# versions.sh: how `isomer info` shows versions that a vendor's library reports in unusual forms.
. "$ISOMER_TEST_COMMON"
export ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip" ISOMER_CACHE_DIR=off

# written GIVEN TEXT: a rocBLAS that reports GIVEN is shown as TEXT, followed by its path.
written() {
    FAKE_ROCBLAS_VERSION=$1 "$tool" info --all --backend hip >"$scratch/out" 2>&1 || {
        cat "$scratch/out"
        fail "info with a rocBLAS of version '$1'"
    }
    sed -n 's/^ *rocBLAS  *\(rocBLAS.*\),.*/\1/p' "$scratch/out" >"$scratch/line"
    [ "$(cat "$scratch/line")" = "$2" ] || {
        cat "$scratch/out"
        fail "version '$1' is written '$(cat "$scratch/line")', not '$2'"
    }
}
written "4.4.0" "rocBLAS 4.4.0"
written "4.4.1." "rocBLAS 4.4.1"
written "4.2.4.7cc47d4d-dirty" "rocBLAS 4.2.4.7cc47d4d-dirty"
written "4.2.4.-" "rocBLAS 4.2.4"
written "" "rocBLAS"
written "$(printf '%0100d' 4)" "rocBLAS"
