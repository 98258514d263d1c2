# SPDX-License-Identifier: Apache-2.0
# schema.sh FORMS: files that the tool writes conform to the published schema, according to an
# independent validator.
. "$ISOMER_TEST_COMMON"
need python3 python3
if ! python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "python3's jsonschema is required: install python3-jsonschema"
    skip "python3's jsonschema is not here: install python3-jsonschema"
fi
forms=$1
export ISOMER_CACHE_DIR=off PYTHONDONTWRITEBYTECODE=1
cd "$scratch" || exit
"$tool" verify --backend openmp --op transfer,map,transpose,argmin --variant tiled --dtype f32,e4 \
    --bitwise --json verify.json >out || fail "verify exits with $?"
"$tool" verify --backend openmp --op gemm,sum --dtype f32,i32 --variant vendor,naive --json plain.json >out ||
    fail "verify exits with $?"
# --brief: the counts of the whole file, and no case that passed.
expect 0 verify --backend openmp --op gemm,sum --dtype f32,i32 --variant vendor,naive --json brief.json --brief
python3 - plain.json brief.json <<'END' || fail "--brief"
import json, sys
whole, brief = (json.load(open(path)) for path in sys.argv[1:])
summary = brief["devices"][0]["summary"]
results = whole["results"]
def count(status, op=None):
    return sum(r["status"] == status and op in (None, r["op"]) for r in results)
assert brief["results"] == [] and len(results) > 100 and summary == whole["devices"][0]["summary"]
assert summary["passed"] == count("ok") > 0 and summary["failed"] == summary["errors"] == 0
assert summary["unsupported"] == count("unsupported") == sum(r["cases"] for r in summary["reasons"])
assert [o["passed"] for o in summary["operations"] if (o["op"], o["variant"]) == ("gemm", "naive")] == [
    sum(r["status"] == "ok" and r["op"] == "gemm" and r["variant"] == "naive" for r in results)]
assert brief["devices"][0]["tier"] == "hardware"
END
expect 2 verify --backend openmp --brief
expect 0 verify --backend openmp --invariance --case 'gemm/*/f32/[ts]*/*' --json same.json
expect 0 reveal --backend openmp --op gemm,sum --variant tiled --dtype f16,f32 --size 8x8x40,30 --json reveal.json
expect 0 errors --backend openmp --size 4x3x9 --json errors.json
set -- verify.json plain.json brief.json same.json reveal.json errors.json
# Files of interrupted runs, as tests/tool/stop.sh finds them.
for file in same reveal errors; do
    sed 's/"complete": true/"complete": false/; s/"flags": \[\]/"flags": ["interrupted"]/' $file.json >$file-cut.json
    cmp -s $file.json $file-cut.json && fail "$file.json: nothing was changed"
    set -- "$@" $file-cut.json
done
if "$tool" help | grep -q '^  bench '; then
    # Only one small size of each operation: with a sanitizer, more would be slow. The limit keeps the
    # roofs' arrays small, which otherwise grow with the last-level cache.
    ISOMER_MEMORY_LIMIT=256M "$tool" bench --backend openmp --size 64 --variant tiled --rounds 2 --budget 600 --energy \
        --energy-seconds 0.1 --json bench.json >out 2>err || fail "bench exits with $?: $(cat err)"
    set -- "$@" bench.json
fi
python3 "$source_dir/tests/record/schema.py" "$source_dir/docs/schema/isomer-results-1.json" \
    "$forms" "$@"
