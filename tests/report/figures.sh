# SPDX-License-Identifier: Apache-2.0
# figures.sh: --figures and --data write what the results say, for a small file whose values are
# known, and files that are valid whatever the document contains.
. "$ISOMER_TEST_COMMON"
here=$1
need python3 python3
cd "$scratch"
fonts_leak

report() { "$tool" report "$@" 2>err || { cat err; fail "isomer report $*"; }; }

python3 "$here/figures.py" document >small.json
report small.json --figures figures --data data
python3 "$here/figures.py" small data || fail "the data is not as computed by hand"
python3 "$here/figures.py" svg figures || fail "an SVG"

# The decimal point does not depend on the locale.
if locale -a 2>/dev/null | grep -qi '^de_DE.utf-\?8$'; then
    LC_ALL=de_DE.UTF-8 report small.json --figures german --data german
    for name in data/*.csv figures/*.svg; do
        cmp -s "$name" "german/${name##*/}" || fail "$name depends on the locale"
    done
fi

# Texts that would be markup or formulas if they were not escaped.
python3 "$here/document.py" --evil >evil.json
report evil.json --figures evil --data evil
python3 "$here/figures.py" svg evil || fail "an SVG with strange texts"

# Two documents: their devices are told apart.
report small.json evil.json --data both
python3 "$here/figures.py" devices both 3 || fail "the devices of two documents"

# A library that is not cairo stands for a missing one.
mkdir bad
echo 'no library' >bad/libcairo.so.2
LD_LIBRARY_PATH="$scratch/bad" report small.json --figures without
grep -q 'install libcairo2' err || fail "the missing library is not named: $(cat err)"
[ -s without/rate-gemm-1col.svg ] || fail "no SVG without cairo"
[ -z "$(find without -name '*.pdf')" ] || fail "a PDF without cairo"

# Many results: the figures stay small, because only what can be seen is drawn.
python3 "$here/figures.py" many >many.json
report many.json --figures many
[ "$(wc -c <many/rate-gemm-2col.svg)" -lt 150000 ] ||
    fail "many results make $(wc -c <many/rate-gemm-2col.svg) bytes"
