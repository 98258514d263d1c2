# SPDX-License-Identifier: Apache-2.0
# bench.sh: `isomer kernel bench`: its document is valid, and the other commands read it. A kernel
# that is wrong gets no number.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\n' >leaks # what PoCL keeps until the process ends
export LSAN_OPTIONS="suppressions=$scratch/leaks:print_suppressions=0"
export ISOMER_CC="$cc" ISOMER_CACHE_DIR="$build_dir/tests/cache/kernels"
cat >poly.isk <<'END'
ISO_KERNEL(poly, 256, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        const i64 at = iso_x(i);
        if (at < n) {
            f32 v = x[at];
            for (i32 k = 0; k < STEPS; k++) {
                v = iso_fma_f32(v, a, 0.25f);
            }
            y[at] = v;
        }
    }
}
ISO_KERNEL(add, 256, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            y[iso_x(i)] += x[iso_x(i)];
        }
    }
}
ISO_KERNEL(add_plain, 1, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        y[iso_x(i)] = x[iso_x(i)] + y[iso_x(i)] + WRONG;
    }
}
END
cat >poly.json <<'END'
{"schema": "isomer-kernels/1", "macros": {"STEPS": "64", "WRONG": "0.0f"}, "kernels": [
 {"kernel": "poly", "items": ["n"], "arguments": {"a": 0.5}, "flops": "2 * STEPS * n",
  "sizes": [{"n": 10}], "bench": [{"n": 100000}, {"n": 100000, "a": 0.25}]},
 {"kernel": "add", "items": ["n"], "flops": "n", "sizes": [{"n": 10}], "bench": [{"n": 100000}],
  "reference": {"kernel": "add_plain", "items": ["n"]}}]}
END
expect 0 kernel bench poly.isk --backend openmp --list
says out kernel/poly/f32/100000/hot kernel/poly/f32/100000/a=0.25/hot kernel/add/f32/100000/hot
expect 0 kernel bench poly.isk --backend openmp --rounds 2 --json a.json --csv a.csv --markdown a.md --report a.html
says out "Kernels that compute GFLOP/s" "Kernels GB/s" "a=0.25" "fma f32"
# The roofs are a line, and their tables are shown on request. A missing percentage is explained.
says out "measured in this run: read" "No percent for add f32: arrays of" "are under four times the last-level cache" \
    "Use a size with at least"
grep -q "No percent for poly" out && fail "poly has a percentage"
grep -Eq "^(Reductions|Transfers|Chained|Reading)" out && fail "tables of roofs"
expect 0 kernel bench poly.isk --backend openmp --rounds 1 --budget 60 --kernel add --roofs
says out "Chained multiply-adds GFLOP/s" "Reading and writing GB/s" "No percent for add"
says a.csv kernel/add/f32/100000/hot
says a.md poly
says a.html "poly f32" 'id="roofline"'
# Another version of the text, and other options of it.
sed 's/STEPS; k++/STEPS \/ 2; k++/' poly.isk >faster.isk
expect 0 kernel bench faster.isk --with poly.json --backend openmp --rounds 2 --no-roofs --json b.json
says out "suite faster.isk"
expect 0 compare a.json b.json
says out "poly/f32/100000" "add/f32/100000"
expect 0 compare --op kernel a.json b.json
expect 0 report a.json b.json -o ab.html
if [ -n "${ISOMER_CC:-}" ] && "$tool" info --available opencl >/dev/null 2>&1; then
    expect 0 kernel bench poly.isk --kernel add --backend openmp --against-backend opencl --rounds 8 --no-roofs
fi

# ---- no number without a check ---------------------------------------------------------------------
expect 1 kernel bench poly.isk --define WRONG=0.5f --backend openmp --rounds 1 --no-roofs --kernel add --json w.json
says w.json '"status": "failed"' '"times": null'
says out "the reference add_plain on openmp:0"
expect 4 kernel bench poly.isk --backend openmp --case none
expect 2 kernel bench poly.isk --suite quick
says err "--suite"
(ISOMER_CC='' && expect 4 kernel bench poly.isk --backend openmp --rounds 1 --no-roofs)
expect 6 kernel bench none.isk

# ---- the schema ------------------------------------------------------------------------------------
need python3 python3
if ! python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "python3's jsonschema is required: install python3-jsonschema"
    skip "python3's jsonschema is not here: install python3-jsonschema"
fi
expect 0 kernel verify poly.isk --kernel add --backend openmp --json v.json
python3 - "$source_dir" <<'END' || fail "the schemas"
import json, sys
import jsonschema
source = sys.argv[1]
def validator(name):
    return jsonschema.Draft202012Validator(json.load(open(f"{source}/docs/schema/{name}-1.json")))
results, kernels = validator("isomer-results"), validator("isomer-kernels")
for path in ("a.json", "b.json", "w.json", "v.json"):
    results.validate(json.load(open(path)))
for path in ("poly.json", f"{source}/examples/kernels/first.json"):
    kernels.validate(json.load(open(path)))
document = json.load(open("a.json"))
rows = {r["id"]: r for r in document["results"] if r["op"] == "kernel"}
assert len(rows) == 3, rows
for r in rows.values():
    assert r["status"] == "ok" and r["verified"]["checks"] >= 2 and r["times"]["calls"] >= 1, r
assert rows["kernel/add/f32/100000/hot"]["verified"]["method"] == "reference"
assert rows["kernel/poly/f32/100000/hot"]["work"] == {"flops": 12800000.0, "bytes_read": 400000.0, "bytes_written": 400000.0}
assert rows["kernel/poly/f32/100000/hot"]["roof"]["name"] == "fma f32"
assert document["run"]["kernels"]["macros"]["STEPS"] == "64"
assert document["run"]["arguments"][:3] == ["isomer", "kernel", "bench"] or document["run"]["arguments"][1:3] == ["kernel", "bench"]
other = json.load(open("b.json"))
assert document["run"]["kernels"]["digest"] != other["run"]["kernels"]["digest"]
END
