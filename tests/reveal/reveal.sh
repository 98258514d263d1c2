# SPDX-License-Identifier: Apache-2.0
# reveal.sh: `isomer reveal` names the orders that docs/bits.md defines, and those of the CPU's BLAS
# library; `isomer compare` says which changed; the transcript in docs/reveal.md is what the tool prints.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE OPENBLAS_CORETYPE
export ISOMER_NUM_THREADS=2
cd "$scratch" || exit

# named LINE...: the output has these lines, after the first two words and the size.
named() {
    for text; do says out "$text"; done
}

# Clause 4: segments of 1024. A last segment of one term differs from a longer chain only by a rounding.
expect 0 reveal --backend openmp --variant naive,tiled --dtype f16,f32 --size 64x8x2100
named 'f16 gemm 64x8x2100 tiled, isomer' \
    '3 segments (2 of 1024, 1 of 52 terms), each one ascending chain, added in order'
[ "$(grep -c 'by fma in f32' out)" -eq 2 ] || fail "no fma: $(cat out)"
expect 0 reveal --backend openmp --variant tiled --dtype f64 --size 64x4x1025,64x4x1024 --tree
named '2 segments (1 of 1024, 1 of 1 terms)' 'one ascending chain of 1024 terms' '(0-1023+1024)'

# Clause 5: blocks of 4096, 128 lanes, folds.
expect 0 reveal --backend openmp --op reduce --variant tiled --dtype f32 --size 9000
[ "$(tr -s ' \n' '  ' <out | grep -oF '3 blocks (2 of 4096, 1 of 808 terms), folded in halves; in a block 128 chains of every 128th of 4096 terms, folded in halves' | wc -l)" -eq 2 ] ||
    fail "not clause 5: $(cat out)"

# TF32 is a permission. Where there is none, the product is strict, and its roundings are known.
expect 0 reveal --backend openmp --variant tiled --dtype f32 --size 4x4x40 --math tf32 --json tf32.json
says out ', strict (' 'by fma in f32'
says tf32.json '"math": "tf32", "math_used": "strict", "math_reason": "'
expect 2 reveal --op gemv,sum --math tf32
says err 'only gemm has math modes'

# An operation that no size fits has its usual one.
expect 0 reveal --backend openmp --variant tiled --dtype f32 --op gemm,sum --size 4x4x40
says out 'f32 gemm 4x4x40' 'f32 sum 10000'

# What cannot be: a size of no operation, a word that is not known, no time, nothing supported.
expect 2 reveal --size 5x5
says err 'no operation that was asked for has 2 numbers'
expect 2 reveal --size 5x0x5
expect 2 reveal --op gemn
says err 'did you mean "gemm"'
expect 2 reveal --dtype i32
for budget in 0 nan 1e7 5s; do
    expect 2 reveal --budget $budget
    says err 'above 0 and at most 1000000'
done
expect 4 reveal --backend openmp --variant tiled --dtype f32 --size 2x2x20000 --budget 0.0001
says out 'not finished: no time'
says err 'no case was finished'
expect 4 reveal --backend openmp --variant tiled --dtype f32 --library Nowhere
says err 'no library has "Nowhere" in its name'
expect 4 reveal --backend openmp --op sum --variant vendor --dtype f16
says out 'unsupported: '

# What is missing ends a run before it begins, and what one case lacks does not end it.
ISOMER_CUDA_PATH=/none expect 3 reveal --backend openmp,cuda --variant tiled --dtype f32 --size 4x4x40
[ ! -s out ] || fail "a case ran before a missing device was noticed: $(cat out)"
expect 1 reveal --backend openmp --variant tiled --dtype f32 --size 4194304x4194304x4,4x4x40 --json lacking.json
says out 'error: ' 'one ascending chain of 40 terms'
says lacking.json '"status": "error"' '"status": "ok"' '"complete": true'

# A process that is killed leaves the results that it had.
"$tool" reveal --backend openmp --variant tiled --dtype f32 --size 4x4x40,64x64x200000 --json killed.json >out 2>err &
pid=$!
tries=0
until [ -s killed.json ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 6000 ] || fail "no file after ten minutes: $(cat out err)"
    sleep 0.1
done
kill -KILL "$pid"
wait "$pid" || true
says killed.json '"complete": false' 'one ascending chain of 40 terms'

# `compare` names the cases that only one of two files has, whichever it is, also one without an order.
expect 0 reveal --backend openmp --variant tiled --dtype f32,f64 --size 4x4x40 --json two.json
grep -v '"id": "gemm/tiled/f64/' two.json | sed 's|\("id": "gemm/tiled/f32/.*\),$|\1|' >one.json
expect 0 compare one.json two.json --fail-on 5
says out 'openmp:0 gemm/tiled/f64/4x4x40/strict, isomer ' ': not compared: one.json lacks the case' \
    'same order: one ascending chain of 40 terms' '1 order compared, 0 changed, 0 lost, 1 new'
expect 1 compare two.json one.json --fail-on 5
says out ' gemm/tiled/f64/' ': not compared: one.json lacks the case' '1 order compared, 0 changed, 1 lost, 0 new'
sed '/"id": "gemm\/tiled\/f64\//s/"status": "ok", "reason": [^,]*, "order": .*, "questions"/"status": "skipped", "reason": "no time", "order": null, "questions"/' \
    two.json >none.json
for files in 'one.json none.json' 'none.json one.json'; do
    # shellcheck disable=SC2086 # two names
    expect 0 compare $files --fail-on 5
    says out ': not compared: one.json lacks the case' '1 order compared, 0 changed, 0 lost, 0 new'
done
expect 0 compare none.json two.json
says out ': not compared: none.json has no order for it: no time' ', 0 lost, 1 new'

# A library's orders, by the core that it is told to use.
if ! "$tool" info --backend openmp | grep -q OpenBLAS || [ "$(uname -m)" != x86_64 ]; then
    say "no OpenBLAS for x86-64 here: its orders are not looked at"
    exit 0
fi
if ! grep -qw avx2 /proc/cpuinfo || ! grep -qw fma /proc/cpuinfo; then
    say "this processor cannot run OpenBLAS's kernels for Haswell"
    exit 0
fi
for core in Prescott Haswell; do
    OPENBLAS_CORETYPE=$core "$tool" reveal --backend openmp --dtype f32,f64 --size 64x64x1000 \
        --json $core.json >out 2>err || fail "$core: $(cat out err)"
    grep -q 'random numbers' out || fail "$core: nothing was checked: $(cat out)"
done
expect 0 compare Haswell.json Haswell.json
says out ': same order: ' '2 orders compared, 0 changed'
expect 1 compare Prescott.json Haswell.json --fail-on 5
says out '(Prescott) -> ' ': the order changed: was ' ', is ' 'products and sums rounded in f64), is' '2 orders compared, 2 changed'
expect 0 compare Prescott.json Haswell.json
sed 's/"status": "ok", "reason": [^,]*, "order": .*, "questions"/"status": "failed", "reason": "two answers", "order": null, "questions"/' \
    Haswell.json >failed.json
expect 1 compare Haswell.json failed.json --fail-on 5
says out 'is no tree of additions' '2 orders compared, 2 changed'
grep -v '"id": "gemm/vendor/f64/' Haswell.json | sed 's|\("id": "gemm/vendor/f32/.*\),$|\1|' >lost.json
expect 1 compare Haswell.json lost.json --fail-on 5
says out 'lost.json lacks the case' '1 order compared, 0 changed, 1 lost'
expect 0 compare lost.json Haswell.json --fail-on 5
expect 2 compare Haswell.json
says err 'between two files of'
expect 5 report Haswell.json -o page.html
says err 'isomer reveal'
expect 5 history add Haswell.json --dir db
sed 's/"digest":/"digist":/' Haswell.json >broken.json
expect 5 compare Haswell.json broken.json
says err 'order.digest is missing'

# transcript N: the N-th block of docs/reveal.md that begins with a command, and what the command prints.
transcript() {
    awk -v wanted="$1" '/^    \$ / { n++ } n == wanted && /^    / { print substr($0, 5); next } n == wanted { exit }' \
        "$source_dir/docs/reveal.md" >shown
    sed -n '1s/^\$ //p' shown >line
    [ -s line ] || fail "docs/reveal.md has no transcript $1"
    sed 1d shown >wanted
    PATH=$(dirname "$tool"):$PATH sh line >printed 2>err || fail "$(cat line): $(cat err)"
    # Another machine, version or release of the library has another name.
    for file in wanted printed; do
        sed -E 's/^(openmp:0) .*/\1 CPU/' $file | tr -s ' \n' '  ' |
            sed -E 's/isomer [0-9][^:]*:/isomer:/' >$file.plain
    done
    cmp -s wanted.plain printed.plain || diff wanted printed || fail "docs/reveal.md (<) and the tool (>) differ"
}
transcript 1
if "$tool" info --backend openmp | grep -q 'OpenBLAS 0\.3\.21'; then
    ! grep -qw avx512f /proc/cpuinfo || transcript 2
    transcript 3
else
    say "another OpenBLAS than in docs/reveal.md: two transcripts are not compared"
fi
