# SPDX-License-Identifier: Apache-2.0
# Results in files: well formed, whole or not at all, and refused before the work.
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
grep -q Backends err || fail "with JSON on stdout the text is not on stderr"

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

# What cannot be written is known before anything is run, and nothing is left or lost.
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
if [ -c /dev/full ]; then
    code=0
    "$tool" verify --backend openmp --op stream --json /dev/full >out 2>err || code=$?
    [ "$code" -eq 6 ] || fail "a full device: exit code $code"
fi
