# SPDX-License-Identifier: Apache-2.0
# errors.sh: the errors that `isomer errors` gives are those that fractions give, for products computed
# by the second implementation of docs/bits.md; its tables, files and figures.
. "$ISOMER_TEST_COMMON"
cd "$scratch" || exit
export PYTHONDONTWRITEBYTECODE=1

expect 0 errors --backend openmp --variant naive,tiled,fixed,vendor,model --size 3x2x1,4x3x21 --seed 7 --json e.json
says out '4x3x21' 'f32, largest error of 12 elements, divided by the sum of the magnitudes of their terms' \
    'K times the largest magnitudes of row and column' 'f16 has no numbers of the sizes of this input'
python=
for found in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$found" -c 'import numpy, xxhash' 2>/dev/null; then python=$found; fi
done
if [ -n "$python" ]; then
    "$python" "$source_dir/tests/errors/second.py" "$source_dir/tests/vectors" e.json || fail "see above"
    # A wrong number is found.
    sed '0,/"median":/s/"median": *[^,}]*/"median": 0.25/' e.json >wrong.json
    ! cmp -s e.json wrong.json || fail "nothing was changed"
    ! "$python" "$source_dir/tests/errors/second.py" "$source_dir/tests/vectors" wrong.json >said ||
        fail "a wrong median is not found"
else
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "numpy and xxhash are required: install python3-numpy python3-xxhash"
    say "no Python with numpy and xxhash is here: the errors are not computed again"
fi

# The example of clause 7: (1e10, x) times the column (0, y) is 0, so all of the result is lost.
expect 0 errors --backend openmp --variant fixed,tiled --dtype f32 --input hidden --size 1x1x2
grep -qE '^ +hidden +0\.0e\+00 +1\.0e\+00$|^ +hidden +[0-9]\.[0-9]e-0[89] +1\.0e\+00$' out || fail "hidden: $(cat out)"
# Another seed makes other operands, the same one the same.
for seed in 1 1 2; do
    expect 0 errors --backend openmp --variant fixed --dtype f64 --input uniform --size 4x4x9 --seed $seed
    mv out "seed$seed.$(find . -name "seed$seed.*" | wc -l)"
done
cmp seed1.0 seed1.1 || fail "the same seed gives other errors"
! cmp -s seed1.0 seed2.0 || fail "another seed gives the same errors"

expect 2 errors --size 5x5
says err '"5x5" is not a size' 'MxNxK'
expect 2 errors --size 5x0x5
expect 2 errors --size 65536x65536x1
expect 2 errors --input unifrm
says err 'did you mean "uniform"'
expect 2 errors --input ,
says err 'the list "," has no entry'
expect 2 errors --variant partials
expect 2 errors --dtype i32
expect 2 errors --seed -1
expect 2 errors --seed 18446744073709551615
# A device that does not exist is noticed before anything is measured.
expect 2 errors --backend openmp:0,openmp:7 --size 4x4x4 --json missing.json
[ ! -e missing.json ] || fail "there is a file"
[ ! -s out ] || fail "something was measured: $(cat out)"
expect 4 errors --backend openmp --variant tf32 --dtype f32 --size 4x4x4
says out 'f32 tf32: not measured: '
expect 6 errors --backend openmp --size 4x4x4 --json /nowhere/e.json

# TF32 by a vendor's library, which only a stand-in has here.
if [ -e "$build_dir/tests/fakes/cuda" ]; then
    export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ISOMER_CACHE_DIR=off
    expect 0 errors --backend cuda --variant tf32,model --dtype f32 --input uniform --size 4x4x9 --json fake.json
    unset ISOMER_CUDA_PATH ISOMER_CACHE_DIR
    says fake.json '"variant": "vendor"' '"math": "tf32"' '"flags": [ "fake" ]' '"variant": "model"'
    says out cuBLAS tf32 model
fi

# No times: its figures are all that a report has of it.
fonts_leak
expect 0 report e.json --figures figures --data figures
for name in errors-f16 errors-bf16 errors-f32 errors-f64 errors-f32-terms; do
    [ -s "figures/$name-2col.svg" ] || fail "no figure $name"
    [ -s "figures/$name.csv" ] || fail "no data of $name"
done
grep -q '^errors-f32,.*,measured,openmp:0,fixed,uniform,' figures/errors-f32.csv ||
    fail "no point: $(head -3 figures/errors-f32.csv)"
grep -q '^errors-f32,.*,tiled in f64,hidden,' figures/errors-f32.csv || fail "no f64 beside f32"
expect 5 report e.json -o page.html
says err 'isomer errors' '--figures'
expect 5 history add e.json --dir db
expect 4 compare e.json e.json
says err 'no case has times'
sed 's/"of_terms":/"of_term":/' e.json >broken.json
expect 5 report broken.json --figures figures
says err 'errors.of_terms is missing'

# The pictures of docs/performance.md are what the tool makes of the files.
for pair in errors-wide-h200:errors-f32 errors-xeon-207:errors-f32-terms; do
    file=${pair%:*}.json
    name=${pair#*:}
    "$tool" report "$source_dir/bench/results/$file" --figures "shown.$name" 2>err || fail "$(cat err)"
    cmp "shown.$name/$name-2col.svg" "$source_dir/docs/$name.svg" ||
        fail "docs/$name.svg is not the figure of $file: isomer report makes it"
done
