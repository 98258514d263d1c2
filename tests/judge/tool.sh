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
assert report["schema"] == "isomer-kernel-check-1" and not report["findings"], report
assert {row["verdict"] for row in report["checks"]} == {"ok"}, report
END

# A mistake is one finding for all compilers, and nothing runs.
check 1 "$page/syntax.isk" --backend openmp
says out "syntax.isk:7: it does not compile for openmp:0" "judge all NOT CHECKED the text does not compile"
check 1 "$page/bounds.isk" --only judge,results --backend openmp
says out "an access out of bounds: x[150]"
lacks out "judge's bits"
check 1 "$page/bounds.isk" --only address
says out "bounds.isk:7: kernel steps: the address sanitizer reports heap-buffer-overflow"
check 1 "$page/bounds.isk" --only judge,address
lacks out "sanitizer reports"
check 0 "$source_dir/tests/judge/right.isk" --only address --require address

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
