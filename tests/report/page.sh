# SPDX-License-Identifier: Apache-2.0
# page.sh: the page is complete, and harmless whatever the document contains.
. "$ISOMER_TEST_COMMON"
here=$1
need python3 python3
cd "$scratch"

document() { python3 "$here/document.py" "$@"; }
report() { "$tool" report "$@" 2>err || { cat err; fail "isomer report $*"; }; }
check() { python3 "$here/check.py" "$@" || fail "$*"; }

document >a.json
report a.json -o a.html --title 'A <title> & more'
[ ! -s err ] || fail "it complains: $(cat err)"
check a.html a.json
grep -q '<title>A &lt;title&gt; &amp; more</title>' a.html || fail "the title is not there"
[ "$(find . -name '*.isomer*' -o -name 'a.html.*' | wc -l)" = 0 ] || fail "files are left over"

# The sentences are right, and the colours can be read.
python3 "$here/answers.py" >answers.json
report answers.json -o answers.html
python3 "$here/answers.py" answers.html || fail "the sentences"
python3 "$here/contrast.py" "$here/../../bench/report/page.css" || fail "the colours"

# Without products the first sentence is about other work, and no sentence is said twice.
report "$here/../../bench/results/bench-gemv-h200.json" -o gemv.html
grep -q '<li>The NVIDIA H200 (.*reading and writing' gemv.html || fail "the first sentence"
[ "$(grep -c '^<li>.*fastest at <b>products with a vector' gemv.html)" = 1 ] || fail "products with a vector"

# Another program's benchmark may have no size, and a rate in FLOP/s only.
report "$here/../record/google.json" -o google.html
grep -q '<td>–<td class="d0">other:0<td><td>1.00 ms<td>±0.0 %<td>2.00 GFLOP/s' google.html ||
    fail "another program's benchmark: $(grep other:0 google.html)"

# Texts that would be markup or a format if they were not escaped.
document --evil --fake >evil.json
report evil.json -o evil.html
[ ! -s err ] || fail "it complains: $(cat err)"
check evil.html evil.json
grep -q '<b>FAKE: ' evil.html || fail "fakes are not marked"

# Several files, two of them of the same name.
mkdir other
document --seed 2 --interrupted >other/a.json
report a.json other/a.json -o both.html
check both.html a.json other/a.json
grep -q 'a (2): cuda:0' both.html || fail "files of the same name are not told apart"
grep -q '<b>Interrupted:</b> a (2)' both.html || fail "the interrupted run is not marked"
grep -q '<b>Interrupted:</b> a was' both.html && fail "the whole run is marked as interrupted"

# Many rows make no large page, and the time does not grow with their square. The limit is five
# seconds for 100,000 rows on an idle machine.
document --sizes 1000 --samples 1 >many.json
begin=$(date +%s)
report many.json -o many.html
took=$(($(date +%s) - begin))
check many.html many.json
[ "$took" -le 20 ] || fail "8,000 rows took $took s"
report "$here/../../bench/results/bench-full-h200.json" -o full.html
[ "$(wc -c <full.html)" -le 600000 ] || fail "the full suite has $(wc -c <full.html) bytes"
