# SPDX-License-Identifier: Apache-2.0
# page.sh: the page is complete, and harmless whatever the document contains, with and without
# gnuplot.
. "$ISOMER_TEST_COMMON"
here=$1
need python3 python3
need gnuplot gnuplot-nox
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

# Texts that would be markup, gnuplot code or a format if they were not escaped.
document --evil --fake >evil.json
report evil.json -o evil.html
[ ! -s err ] || fail "it complains: $(cat err)"
check evil.html evil.json
grep -q '<b>FAKE devices</b>' evil.html || fail "fakes are not marked"

# Several files, two of them of the same name.
mkdir other
document --seed 2 --interrupted >other/a.json
report a.json other/a.json -o both.html
check both.html a.json other/a.json
grep -q 'a (2): cuda:0' both.html || fail "files of the same name are not told apart"
grep -q '<b>Interrupted:</b> a (2)' both.html || fail "the interrupted run is not marked"
grep -q '<b>Interrupted:</b> a was' both.html && fail "the whole run is marked as interrupted"

# Many rows with all their samples.
document --sizes 48 --samples 20 >many.json
PATH=/nowhere report many.json -o many.html
check many.html many.json --no-plots
grep -q 'gnuplot is not on PATH' err || fail "nothing is said of the missing gnuplot"
grep -q 'gnuplot was not at hand' many.html || fail "the page does not say why it has no plots"
rows=$(grep -c '<tr id="r' many.html)
[ "$rows" -ge 390 ] || fail "only $rows rows"
[ "$(wc -c <many.html)" -lt 3000000 ] || fail "many.html has $(wc -c <many.html) bytes"
