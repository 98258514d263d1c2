# SPDX-License-Identifier: Apache-2.0
# bad.sh: bad input, and bad places for output.
. "$ISOMER_TEST_COMMON"
here=$1
need python3 python3
cd "$scratch"
fonts_leak

# expect CODE WORDS arguments...: the exit code, and the words on stderr.
expect() {
    code=$1 words=$2
    shift 2
    "$tool" report "$@" >out 2>err && got=0 || got=$?
    [ "$got" = "$code" ] || { cat err; fail "report $*: exit code $got, not $code"; }
    grep -q -e "$words" err || { cat err; fail "report $*: not a word of '$words'"; }
}

python3 "$here/document.py" --sizes 1 >a.json
expect 2 'no results file' -o x.html
expect 2 'o is missing' a.json
expect 2 'o is missing' a.json --title x --data data
expect 2 'did you mean --title' a.json -o x.html --titel x
expect 2 'needs a value' a.json -o
expect 2 'would be overwritten' a.json -o a.json
python3 "$here/document.py" --verify >verify.json
expect 5 'isomer verify' verify.json -o x.html
head -c 2000 a.json >short.json
expect 5 short.json short.json -o x.html
expect 6 nothing.json nothing.json -o x.html
[ ! -e x.html ] || fail "a page without results"

mkdir tmp
expect 6 'a.json/x.html' a.json -o a.json/x.html
expect 6 ' tmp' a.json -o tmp
echo before >x.html
expect 6 'a.json/data' a.json -o x.html --data a.json/data
[ "$(cat x.html)" = before ] || fail "x.html was changed"

expect 6 'a.json/data' a.json -o x.html --figures a.json/data

# The same for a folder in which no file can be created; root can create files
# anywhere but in /proc.
locked=$scratch/locked
mkdir -m 555 locked
[ "$(id -u)" != 0 ] || locked=/proc
expect 6 "in the folder $locked for --data" a.json -o x.html --data "$locked"
expect 6 "in the folder $locked for --figures" a.json -o x.html --figures "$locked"
[ "$(cat x.html)" = before ] || fail "x.html was changed"

python3 "$here/document.py" --none >none.json

# A file that cannot be written prevents neither the others nor the page.
stuck() {
    mkdir -p "$1/$2"
    expect 6 "$1/$2: " a.json -o stuck.html --figures figures --data data
    python3 "$here/check.py" stuck.html a.json || fail "no page, for want of $2"
    for name in data/overview.csv data/cases-gemm.csv figures/overview-1col.svg \
        figures/cases-gemm-2col.svg; do
        [ "$name" = "$1/$2" ] || [ -s "$name" ] || fail "no $name, for want of $1/$2"
    done
    [ -z "$(find . -name '*.??????' ! -name '*.html' -path './[df]*')" ] ||
        fail "left over: $(ls -a data figures)"
    rm -r data figures
}
stuck data cases-gemm.csv
stuck data overview.csv
stuck figures cases-gemm-2col.svg

# Each file is replaced by a new one: a process that has the old one open still reads all of it.
mkdir data
echo old >data/overview.csv
ln data/overview.csv data/old
"$tool" report a.json --data data || fail "--data alone"
[ "$(cat data/old)" = old ] || fail "overview.csv is written in place"
[ "$(head -c 3 data/overview.csv)" != old ] || fail "overview.csv is not written"
expect 4 'no result is ok' none.json --data none

# If no result is ok, the page has the reasons, and the exit code is 4.
expect 4 'no result is ok' none.json -o none.html
python3 "$here/check.py" none.html none.json || fail "none.html"
"$tool" report a.json -o - 2>err >out.html || fail "-o -"
python3 "$here/check.py" out.html a.json || fail "the page on standard output"
