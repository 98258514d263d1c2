# SPDX-License-Identifier: Apache-2.0
# google.sh FORMS: results in the form of Google Benchmark's JSON have the values of the document, its
# own compare.py reads them, and a file of its own is read.
. "$ISOMER_TEST_COMMON"
need python3 python3
export PYTHONDONTWRITEBYTECODE=1
here=$source_dir/tests/record
forms=$1
cd "$scratch" || exit

python3 "$here/document.py" 1 >a.json
python3 "$here/document.py" 2 >b.json
"$tool" report a.json --export a.google || fail "report --export exits with $?"
"$tool" report b.json --export - >b.google || fail "report --export - exits with $?"
python3 "$here/google.py" a.json a.google || fail "what was exported: see above"
"$tool" report a.json -o page.html --export again.google || fail "a page and --export: $?"
cmp a.google again.google || fail "with a page another file is exported"
[ -s page.html ] || fail "no page beside --export"

refused() { # refused CODE WORD ARGUMENTS...
    wanted=$1 word=$2 code=0
    shift 2
    "$tool" report "$@" >out 2>err || code=$?
    [ "$code" -eq "$wanted" ] || fail "report $*: exit code $code: $(cat err)"
    grep -q -- "$word" err || fail "report $*: $(cat err)"
}
refused 2 'one results file' a.json b.json --export x
refused 2 'is one of the results' a.json --export a.json
refused 2 'about the page' a.json --export x --title T
refused 2 'for the page and for' a.json --export x -o x
refused 6 'none/x' a.json --export none/x
[ ! -e x ] || fail "a refused command wrote a file"

ISOMER_MEMORY_LIMIT=256M "$tool" bench --backend openmp --op reduce --dtype f32 --size 64 --variant tiled \
    --no-roofs --rounds 6 --budget 600 --json run.json --export run.google >out 2>err ||
    fail "bench --export exits with $?: $(cat err)"
python3 "$here/google.py" run.json run.google || fail "what bench exported: see above"

# google.json was written by a program that uses Google Benchmark.
python3 "$here/google_read.py" "$forms" "$here/google.json" || fail "what was read: see above"
for file in "$here/google.json" a.google; do
    whose='Google Benchmark'
    [ "$file" != a.google ] || whose='isomer .*, exported'
    "$tool" report "$file" -o page.html >out 2>&1 || fail "report of $file: $(cat out)"
    ! grep -q '[^a-z]nan ' page.html || fail "the page of $file has a rate that is no number"
    grep -q "$whose" page.html || fail "the page does not say whose file it is"
    "$tool" compare "$file" "$file" >out 2>&1 || fail "compare of $file: $(cat out)"
    grep -q "$whose" out || fail "compare does not say whose file it is"
    "$tool" report "$file" --export out || fail "$file read and exported: $?"
done
code=0
"$tool" compare a.json a.google --device-a cuda:0 --device-b other:0 --force >out 2>err || code=$?
[ "$code" -eq 5 ] || fail "a results file and its export: exit code $code"
grep -q 'names of an exported file' err || fail "$(cat err)"
"$forms" damage "$here/google.json" 150 || fail "damage at random: exit code $?"

script=/usr/share/benchmark/compare.py
for python in python3 /usr/bin/python3; do
    "$python" -c 'import scipy' 2>/dev/null && break
    python=
done
if [ -f "$script" ] && [ -n "$python" ]; then
    theirs() {
        "$python" "$script" --no-color "$@" >out 2>err || fail "compare.py $*: $(cat err)"
        [ ! -s err ] || fail "compare.py $* complains: $(cat err)"
    }
    theirs benchmarks a.google b.google
    grep -q 'U Test, Repetitions: 6 vs 6' out || fail "compare.py makes no U test of our rounds"
    theirs --no-utest benchmarks a.google b.google
    ! grep -q pvalue out || fail "--no-utest has p-values"
    theirs benchmarks run.google run.google
    grep -q '^OVERALL_GEOMEAN ' out || fail "compare.py has no mean of our results"
    theirs filters a.google cuda:0 openmp:0
    grep -q 'cuda:0 vs. openmp:0' out || fail "compare.py does not compare our devices"
else
    say "compare.py is not here: install libbenchmark-tools and python3-scipy"
fi
