# SPDX-License-Identifier: Apache-2.0
# files.sh: result files are well formed, complete or absent, and unwritable ones are refused before
# the work.
. "$ISOMER_TEST_COMMON"
unset ISOMER_REQUIRE

is_json() {
    if have python3; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" || fail "$1 is no JSON"
    else
        say "python3 is not here: JSON is not parsed"
    fi
}
is_xml() {
    if have xmllint; then
        xmllint --noout "$1" || fail "$1 is no XML"
    elif have python3; then
        python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$1" ||
            fail "$1 is no XML"
    else
        say "neither xmllint nor python3 is here: XML is not parsed"
    fi
}

cd "$scratch" || exit
"$tool" info --json info.json >out || fail "info --json exits with $?"
is_json info.json
"$tool" info --json - >info2.json 2>err || fail "info --json - exits with $?"
is_json info2.json
grep -q Devices err || fail "with JSON on stdout the text is not on stderr"

"$tool" verify --backend openmp --op stream,gemm --dtype f32 --bitwise --json v.json \
    --junit v.xml >out || fail "verify with files exits with $?"
"$tool" verify --backend openmp --op limits,stream --json - >v2.json 2>err ||
    fail "verify --json - exits with $?"
is_json v.json
is_json v2.json
is_xml v.xml
grep -q '"schema": "isomer-results/1"' v.json || fail "the JSON does not name its schema"
for key in run devices results id op variant dtype shape backend device library status verified \
    digest seconds; do
    grep -q "\"$key\":" v.json || fail "the JSON has no \"$key\""
done
for left in *.json.* *.xml.*; do
    [ ! -e "$left" ] || fail "a temporary file was left: $left"
done

# A file that cannot be written is found before anything runs, and nothing is left behind or lost.
code=0
"$tool" verify --backend openmp --op stream --json "$scratch/none/v.json" >out 2>err || code=$?
[ "$code" -eq 6 ] || fail "a folder that is not there: exit code $code"
grep -q "$scratch/none/v.json" err || fail "the message does not name the file"
[ ! -s out ] || fail "cases were run before the file was tried"
code=0
"$tool" verify --backend openmp --op stream --junit "$scratch" >out 2>err || code=$?
[ "$code" -eq 6 ] || fail "a folder for a file: exit code $code"
code=0
"$tool" info --json "$scratch/none/i.json" >out 2>err || code=$?
[ "$code" -eq 6 ] || fail "info into a folder that is not there: exit code $code"
code=0
"$tool" verify --json - --junit - >out 2>err || code=$?
[ "$code" -eq 2 ] || fail "JSON and XML both on stdout: exit code $code"
echo before >keep.json
code=0
"$tool" verify --backend openmp,openmp:99 --op stream --json keep.json >out 2>err || code=$?
[ "$code" -ne 0 ] || fail "a device that is not there is no error"
[ "$(cat keep.json)" = before ] || fail "a run that fails changes the file"

# A link stays; its target is written, with the temporary file beside the target.
mkdir place links
echo before >place/there.json
ln place/there.json place/other.json
ln -s ../place/there.json links/near
ln -s "$scratch/links/near" links/far
"$tool" info --json links/far >out || fail "info through links exits with $?"
still_links() {
    for link in "$@"; do
        [ -L "$link" ] || fail "the link $link was replaced by a file"
    done
}
still_links links/far links/near
grep -q '"devices"' place/there.json || fail "what the link leads to was not written"
is_json place/there.json
[ "$(cat place/other.json)" = before ] || fail "the file was written in place through a link"
ln -s ../place/new.json links/dangling
"$tool" info --json links/dangling >out || fail "info through a dangling link exits with $?"
still_links links/dangling
is_json place/new.json
(cd links && ln -s ../place/here.json bare && "$tool" info --json bare) >out ||
    fail "info through a link here exits with $?"
still_links links/bare
is_json place/here.json
# The same for a run, which replaces its file repeatedly, and for a page.
ln -s ../place/run.json links/run
ln -s ../place/page.html links/page
"$tool" bench --backend openmp --op stream --dtype f32 --size 4Ki --rounds 2 --budget 600 --no-roofs \
    --json links/run --report links/page >out 2>err || fail "bench through links: $(cat err)"
still_links links/run links/page
is_json place/run.json
[ -s place/page.html ] || fail "the page is not where its link leads"

# refused WORDS LINK: exit code 6 with the words, and the link stays.
refused() {
    code=0
    "$tool" info --json "$2" >out 2>err || code=$?
    [ "$code" -eq 6 ] || fail "$2: exit code $code"
    grep -q "$1" err || { cat err; fail "$2: the message does not say '$1'"; }
    still_links "$2"
}
ln -s loop links/loop
ln -s ../none/new.json links/lost
ln -s ../place links/folder
refused 'links/loop: Too many levels' links/loop
refused 'links/lost: No such file' links/lost
refused 'links/folder: Is a directory' links/folder
[ -z "$(find place links -name '*.??????')" ] || fail "left over: $(ls place links)"

# Devices, pipes and open files are written in place, through links too.
ln -s /dev/null links/null
"$tool" info --json links/null >out || fail "info into /dev/null by a link exits with $?"
still_links links/null
[ -c /dev/null ] || fail "a device was replaced"
mkfifo pipe
ln -s ../pipe links/pipe
cat pipe >piped.json &
"$tool" info --json links/pipe >out || fail "info into a pipe exits with $?"
wait $!
is_json piped.json
[ -p pipe ] || fail "a pipe was replaced"
if [ -e /proc/self/fd/1 ]; then
    ln -s /proc/self/fd/1 links/stdout
    ln -s /proc/self/fd/7 links/seven
    {
        echo first
        "$tool" info --json links/stdout || echo "it exits with $?"
        echo last
    } >both
    still_links links/stdout links/seven
    [ "$(head -n 1 both) $(tail -n 1 both)" = 'first last' ] || fail "the output is not whole"
    if grep 'it exits with' both; then fail "info into its output by a link"; fi
    for word in Devices '"devices"'; do
        grep -q "$word" both || fail "the output has no $word"
    done
    "$tool" info --json links/seven 7>seven.json >out || fail "info into /proc/self/fd/7: $?"
    is_json seven.json
fi
if [ -c /dev/full ]; then
    code=0
    "$tool" verify --backend openmp --op stream --json /dev/full >out 2>err || code=$?
    [ "$code" -eq 6 ] || fail "a full device: exit code $code"
fi
