# SPDX-License-Identifier: Apache-2.0
# file.sh: `isomer vectors`: the file is the same each time, a shorter one has cases of a longer one,
# the default file covers what docs/bits.md defines, each line conforms to the schema, and a file is
# whole or absent.
. "$ISOMER_TEST_COMMON"
cd "$scratch" || exit
export LC_ALL=C

expect 0 vectors --out whole.jsonl
says out maps sums products fixed
[ "$(wc -l <whole.jsonl)" -eq 101001 ] || fail "the default file has $(wc -l <whole.jsonl) lines"
[ "$(wc -c <whole.jsonl)" -lt 40000000 ] || fail "the default file has $(wc -c <whole.jsonl) bytes"

# Places: each member is there.
for member in offset gap batch member apart 'on":0' 'on":1'; do
    grep -q "\"place\":.*\"$member" whole.jsonl || fail "no place has $member"
done

# The bytes depend on the seed alone.
expect 0 vectors --out one.jsonl --count 400
head -1 one.jsonl | grep -qF '{"format":"isomer-vectors/1","bits":"1.0","seed":"1","count":400,' ||
    fail "the first line is $(head -1 one.jsonl)"
expect 0 vectors --count 400 --seed 1 --out -
cmp out one.jsonl || fail "standard output has other bytes"
says err maps
sed 1d one.jsonl | sort >one
sed 1d whole.jsonl | sort | comm -13 - one >other
[ ! -s other ] || fail "a short file has other cases: $(head -3 other)"
expect 0 vectors --out other.jsonl --count 400 --seed 2
sed 1d other.jsonl | sort | comm -12 - one >same
[ ! -s same ] || fail "two seeds give the same case: $(head -3 same)"
expect 0 vectors --out part.jsonl --count 90 --level sums,fixed
[ "$(grep -c '"level":"sums"' part.jsonl) $(grep -c '"level":"fixed"' part.jsonl)" = "50 40" ] ||
    fail "--level sums,fixed: $(cut -c1-30 part.jsonl | sort | uniq -c | sort -n | tail -3)"
expect 0 vectors --out least.jsonl --count 1
[ "$(wc -l <least.jsonl)" -eq 2 ] || fail "--count 1 gives $(wc -l <least.jsonl) lines"

# What cannot be done, and files that are whole or absent.
expect 2 vectors
says err "--out is missing"
expect 2 vectors --out none.jsonl --level sum
says err 'did you mean "sums"?' "It must be one of maps, sums, products, fixed"
for bad in "--count 0" "--count x" "--count -1" "--count 5x" "--seed -1" "--seed 18446744073709551616" "--level ,"; do
    # shellcheck disable=SC2086 # two words
    expect 2 vectors --out none.jsonl $bad
    says err "${bad%% *}"
done
expect 2 vectors --out none.jsonl --level sums --level maps
expect 2 vectors none.jsonl
expect 6 vectors --out none/v.jsonl
says err "none/v.jsonl"
[ ! -e none.jsonl ] || fail "a command that fails writes a file"
if [ -c /dev/full ]; then
    expect 6 vectors --out /dev/full
    says err "cannot write /dev/full"
fi
echo before >kept.jsonl
"$tool" vectors --out kept.jsonl --count 1000000000 >out 2>err &
pid=$!
tries=0
until [ -n "$(find . -name 'kept.jsonl.*' -size +0)" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 6000 ] || fail "no temporary file after ten minutes: $(cat err)"
    sleep 0.1
done
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
[ "$code" -eq 143 ] || fail "after SIGTERM: exit code $code"
[ "$(cat kept.jsonl)" = before ] || fail "a run that was stopped changed the file"
[ -z "$(find . -name '*.jsonl.*')" ] || fail "left over: $(find . -name '*.jsonl.*')"

need python3 python3
export PYTHONDONTWRITEBYTECODE=1
python3 "$source_dir/tests/vectors/cover.py" whole.jsonl || fail "see above"
if ! python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "python3's jsonschema is required: install python3-jsonschema"
    skip "python3's jsonschema is not here: install python3-jsonschema"
fi
python3 "$source_dir/tests/vectors/schema.py" "$source_dir/docs/schema/isomer-vectors-1.json" one.jsonl ||
    fail "see above"
