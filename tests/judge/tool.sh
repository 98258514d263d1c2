# SPDX-License-Identifier: Apache-2.0
# tool.sh: the other checks of `isomer kernel check`: devices, the address sanitizer, oclgrind, and
# what is missing.
. "$ISOMER_TEST_COMMON"
need gcc gcc
cd "$scratch"
page=$source_dir/tests/judge/page
check() {
    wanted=$1
    shift
    expect "$wanted" kernel check "$@" --cc gcc
}

# The CPU backend compiles with the same compiler, and has the judge's bits.
check 0 "$source_dir/tests/judge/right.isk" --only compile,judge,results --backend openmp \
    --require compile,judge,results --json report.json
says out "openmp:0 ok" "runs have the judge's bits" "0 findings"
python3 - report.json <<'END'
import json
import sys
report = json.load(open(sys.argv[1], encoding="utf-8"))
assert report["schema"] == "isomer-kernel-check/1" and not report["findings"], report
assert {row["verdict"] for row in report["checks"]} == {"ok"}, report
END

# follows FILE...: reports follow their schema.
follows() {
    python3 - "$source_dir/docs/schema/isomer-kernel-check-1.json" "$@" <<'END'
import json
import sys
try:
    import jsonschema
except ImportError:
    sys.exit(print("python3-jsonschema is not here: the reports are not held against their schema"))
schema, *reports = [json.load(open(name, encoding="utf-8")) for name in sys.argv[1:]]
jsonschema.Draft202012Validator.check_schema(schema)
for report in reports:
    jsonschema.validate(report, schema)
END
}
follows report.json

# A mistake is one finding for all compilers, and nothing runs.
check 1 "$page/syntax.isk" --backend openmp --json syntax.report
follows syntax.report
says out "syntax.isk:7: it does not compile for openmp:0" "judge all NOT CHECKED the text does not compile"
check 1 "$page/bounds.isk" --only judge,results --backend openmp
says out "an access out of bounds: x[150]"
lacks out "judge's bits"
check 1 "$page/bounds.isk" --only address
says out "bounds.isk:7: kernel steps: the address sanitizer reports heap-buffer-overflow"
check 1 "$page/bounds.isk" --only judge,address
lacks out "sanitizer reports"
check 0 "$source_dir/tests/judge/right.isk" --only address --require address

# A check that needs another makes it, and lists only what it finds; what is left out is said.
check 0 "$source_dir/tests/judge/right.isk" --only results --backend openmp --require results
says out "results openmp:0 ok 12 of 12 runs have the judge's bits" "0 findings; 1 check ok"
lacks out "both orders"
check 1 "$page/bounds.isk" --only results,compile --backend openmp
says out "results openmp:0 NOT CHECKED nothing was compared; 1 left out: a mistake in the kernel" \
    "an access out of bounds: x[150]"
ISOMER_CC=gcc expect 0 kernel check "$page/../right.isk" --only declarations,results --backend openmp
says out "results openmp:0 NOT CHECKED" 'ISOMER_CC: "gcc" is not an absolute path'
check 3 "$page/race.isk" --only declarations --require results
says err "--require results: it was not checked: --only leaves it out"
check 4 "$page/race.isk" --only chips --backend opencl
says out "chips all NOT CHECKED --backend or --kernel leaves nothing to check"
check 2 "$page/race.isk" --only declarations --kernel smoth
says err 'has no kernel "smoth": it has smooth'

# The message of the C compiler is shown, and others refuse the same line.
check 1 "$page/syntax.isk" --only compile,chips
says out "syntax.isk:7: it does not compile for openmp:0" "In function 'scale'"
check 1 "$page/syntax.isk" --only chips
says out "syntax.isk:7: it does not compile for openmp:generic" "refuse the same line"

# A kernel that does not end is reported as that alone, and is not run again.
cat >ends.isk <<'END'
ISO_KERNEL(endless, 64, 1, 1)(ISO_OUT(i32) y ISO_EXTENT(64 * n), ISO_SHARED(i32, 64) part, i64 n)
{
    ISO_REGION(i)
    {
        y[i] = part[i];
        while (y[i] >= 0) {
            y[i] = 2;
        }
    }
}
ISO_KERNEL(few, 64, 1, 1)(ISO_OUT(i32) y ISO_EXTENT(1), ISO_SHARED(i32, ISO_AT_LAUNCH) part, ISO_OWN(i32) sum)
{
    ISO_REGION(i)
    {
        iso_mine(sum) = i;
    }
    ISO_GROUP_SUM(part, sum);
    ISO_REGION(i)
    {
        y[i] = part[0];
    }
}
ISO_KERNEL(copy, 64, 1, 1)(ISO_IN(i32) from ISO_EXTENT(8 * rows), ISO_OUT(i32) to ISO_EXTENT(8 * rows), i64 rows)
{
    ISO_REGION(i)
    {
        const i64 at = iso_x(i);
        if (at < 8 * rows) {
            to[at] = from[at];
        }
    }
}
END
cat >ends.json <<'END'
{"schema": "isomer-kernels/1", "kernels": [
  {"kernel": "endless", "groups": [1], "sizes": [{"n": 1}, {"n": 2}]},
  {"kernel": "few", "groups": [1], "elements": {"part": 32}, "sizes": [{}]},
  {"kernel": "copy", "items": ["8 * rows"], "inputs": {"from": "ints"}, "sizes": [{"rows": 3}, {"rows": 20}]}]}
END
check 1 ends.isk --only judge,address --seconds 2
says out "judge endless n=2 NOT CHECKED it does not end with another size" ": kernel endless: the kernel does not end" \
    "y[1], and y has 1 element " "ISO_GROUP_SUM needs an element for each item of the group" \
    "address ends.isk FOUND 3 runs; left out, as they have a mistake: endless"
grep -qE '^ends\.isk:[67]: kernel endless: ' out || fail "not the line of the loop or its body"
lacks out "kernel endless: part[0] is read before it is set" "1 elements"

# The reference is judged too, and must write what the kernel writes.
cat >plain.isk <<'END'
ISO_KERNEL(copy_plain, 1, 1, 1)(ISO_IN(i32) from ISO_EXTENT(8 * rows), ISO_OUT(i32) to ISO_EXTENT(8 * rows), i64 rows)
{
    ISO_REGION(i)
    {
        for (i32 k = 0; k < 8; k++) {
            to[8 * iso_group_x() + k] = from[8 * iso_group_x() + k + STEP];
        }
    }
}
END
# refers GROUPS STEP: describes ends.isk with that reference.
refers() {
    sed "s/STEP/$2/" plain.isk >near.isk
    cat >refers.json <<END
{"schema": "isomer-kernels/1", "kernels": [
  {"kernel": "copy", "items": ["8 * rows"], "inputs": {"from": "ints"}, "sizes": [{"rows": 3}, {"rows": 20}],
   "reference": {"kernel": "copy_plain", "text": "near.isk", "groups": ["$1"]}}]}
END
}
refers rows 0
check 0 ends.isk --with refers.json --only judge
says out "judge copy_plain rows=3 ok both orders" "the reference of copy" "4 checks ok"
refers "rows - 1" 0
check 1 ends.isk --with refers.json --only judge
says out "near.isk:1: kernel copy_plain: the reference copy_plain never writes to[16]" \
    "kernel copy, which it is compared with, does"
refers rows 1
check 1 ends.isk --with refers.json --only judge --json refers.report
says out "near.isk:6: kernel copy_plain: an access out of bounds: from[24], and from has 24 elements" "1 finding;"
follows refers.report
python3 -c 'import json; assert json.load(open("refers.report"))["findings"][0]["text"].endswith("near.isk")'

# Chips need no device; a compiler that is not here is no pass.
check 0 "$page/race.isk" --only chips --backend openmp --require chips
says out "chips openmp ok generic"
check 1 "$page/syntax.isk" --only chips --backend openmp
says out "FOUND generic" "syntax.isk:7: it does not compile for openmp:generic"
ISOMER_ROCM_PATH=$scratch/none check 0 "$page/race.isk" --only declarations,chips --backend hip
says out "chips hip"

# A declaration that is wrong.
sed 's/ISO_REGION(i)/ISO_REGION(i, j)/' "$page/race.isk" >region.isk
check 1 region.isk
says out "region.isk:3: ISO_REGION has"

# Missing things are no pass.
cp "$page/race.isk" alone.isk
check 0 alone.isk --only declarations,judge
says out "judge all NOT CHECKED no description" "1 check ok" "1 not made, which is no pass"
check 3 alone.isk --only declarations,judge --require judge
says err "--require judge: it was not checked: no description"
check 3 alone.isk --only declarations --require nothing
says err "nothing has that name"
expect 4 kernel check "$page/race.isk" --only judge --cc /nowhere/cc
says out "no C compiler"
PATH=$scratch/none expect 4 kernel check "$page/race.isk" --only judge --cc "$(command -v gcc)"
expect 0 kernel check "$page/race.isk" --only declarations --kernel smooth
expect 2 kernel check "$page/race.isk" --only jude
says err '"jude" is not known'
expect 2 kernel check "$page/race.isk" --only declarations --backend opnmp
says err '"opnmp" is not known' 'did you mean "openmp"'
check 0 "$page/race.isk" --only declarations --backend all
expect 6 kernel check none.isk

# oclgrind, if it is here.
check 0 "$source_dir/tests/judge/right.isk" --only oclgrind,declarations
if grep -q "it is not installed" out; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "oclgrind is required and not here"
    skip "oclgrind is not here"
fi
says out "oclgrind right.isk ok"
check 1 "$page/race.isk" --only oclgrind
says out "race.isk:7: kernel smooth: oclgrind reports: Read-write data race at global memory"
check 1 ends.isk --only judge,oclgrind --seconds 2
says out "oclgrind ends.isk ok 1 kernel; left out, as they have a mistake: endless, few"
check 0 "$page/../right.isk" --only declarations,oclgrind --backend openmp,cuda
says out "oclgrind all NOT CHECKED --backend or --kernel leaves nothing to check"
check 0 "$page/../right.isk" --backend openmp
lacks out "oclgrind"
sed -e '1i #define ONES(a) __builtin_popcountll(a)' -e 's/STEP/ONES((u64)rows) * 0/' plain.isk >pop.isk
cat >pop.json <<'END'
{"schema": "isomer-kernels/1", "kernels": [
  {"kernel": "copy_plain", "groups": ["rows"], "inputs": {"from": "ints"}, "sizes": [{"rows": 3}]}]}
END
check 0 pop.isk --only declarations,oclgrind
lacks out "launch opencl:0" "C compiler: */usr"
