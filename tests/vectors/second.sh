# SPDX-License-Identifier: Apache-2.0
# second.sh COUNT: bits.py, which was written from docs/bits.md alone by someone who had not seen
# this project's code, gives the results of COUNT vectors. A wrong digest and a wrong element are found.
. "$ISOMER_TEST_COMMON"
count=$1
# Packages of the system are the system's Python's, which need not be the first on PATH.
python=
for found in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$found" -c 'import numpy, xxhash' 2>/dev/null; then python=$found; fi
done
if [ -z "$python" ]; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "numpy and xxhash are required: install python3-numpy python3-xxhash"
    skip "no Python with numpy and xxhash is here: install python3-numpy python3-xxhash"
fi
export PYTHONDONTWRITEBYTECODE=1
cd "$scratch" || exit

expect 0 vectors --out vectors.jsonl --count "$count"
"$python" "$source_dir/tests/vectors/bits.py" vectors.jsonl >said 2>&1 || {
    tail -30 said
    fail "the second implementation gives other results"
}
tail -1 said
says said "$count vectors" " 0 differences"

# planted NAME EXPRESSION CASE: sed changes one case of the file, and bits.py must name it.
planted() {
    sed "$2" vectors.jsonl | sed -n "1p;/\"case\":\"$(echo "$3" | sed 's|/|.|')\"/p" >planted.jsonl
    code=0
    "$python" "$source_dir/tests/vectors/bits.py" planted.jsonl >said 2>&1 || code=$?
    [ "$code" -eq 1 ] || { cat said; fail "$1: exit code $code"; }
    says said "$3"
}
planted "a wrong digest" 's/"digest":"../"digest":"zz/' products/7
planted "a wrong element" 's/"result":\["[0-9a-f]/"result":["5/' fixed/3
