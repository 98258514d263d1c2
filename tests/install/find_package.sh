# SPDX-License-Identifier: Apache-2.0
# find_package.sh: an outside CMake project uses the installed copy through find_package(Isomer), at
# its installed place and after the prefix was moved.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/install/prefix.sh"

consume() { # prefix, build folder
    cp -R "$source_dir/tests/install/consumer" "$scratch/consumer-$2"
    cp "$source_dir/examples/multiply.c" "$scratch/consumer-$2/"
    {
        cmake -S "$scratch/consumer-$2" -B "$scratch/$2" -G "$ISOMER_TEST_GENERATOR" \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$1" &&
            cmake --build "$scratch/$2"
    } >"$scratch/build.log" 2>&1 || {
        cat "$scratch/build.log"
        fail "the outside project does not build with $1"
    }
    uses_installed "$scratch/$2/multiply" "$1"
    multiplies "$scratch/$2/multiply"
}

install_here
tool_runs "$prefix"
consume "$prefix" first-build
for file in share/doc/isomer/LICENSE share/doc/isomer/docs/backends/openmp.md \
    include/isomer/isomer.h include/isomer/backend.h share/man/man1/isomer.1 \
    share/man/man1/isomer-bench.1 share/man/man5/isomer-results.5 \
    share/bash-completion/completions/isomer share/zsh/site-functions/_isomer \
    share/fish/vendor_completions.d/isomer.fish share/doc/isomer/docs/ci/README.md \
    share/doc/isomer/docs/ci/github.yml; do
    [ -f "$prefix/$file" ] || fail "$file is not installed"
done
for file in "$source_dir"/docs/man/*.1 "$source_dir"/docs/man/*.5 "$source_dir"/docs/schema/*.json \
    "$source_dir"/cmake/IsomerKernels.cmake "$source_dir"/cmake/IsomerPortability.cmake "$source_dir"/cmake/isomer-portability.sh; do
    find "$prefix/share/man" "$prefix/share/isomer" "$prefix"/lib* -name "${file##*/}" |
        grep -q . || fail "${file##*/} is not installed"
done

move_prefix
tool_runs "$moved"
consume "$moved" second-build
if grep -rlF "$source_dir" "$moved" --include='*.cmake' --include='*.pc' --include='*.h'; then
    fail "the installed files above name the source folder"
fi
